#!/bin/sh
# SPDX-License-Identifier: MIT
# built.sh START TIMES MODULE...: the last line of a build that compiled something: how many instances, seconds since START
# (`date +%s%N`), bytes of the modules, the three slowest compilations.  TIMES has a line for each: when it began, when it
# ended, in seconds, its name, and how many instances it was of.
set -u
start=$1 times=$2
shift 2
[ -s "$times" ] || exit 0
bytes=$(cat "$@" 2>/dev/null | wc -c)
awk '{ print $2 - $1, $3, $4 }' "$times" | sort -k1,1rn -k2 | awk -v ms=$((($(date +%s%N) - start) / 1000000)) -v bytes="$bytes" '
    { instances += $3 }
    NR <= 3 { slowest = slowest (NR > 1 ? ", " : "") sprintf("%s %.2f s", $2, $1) }
    END { printf "BUILT   %d instance%s in %.1f s, %d bytes of modules; slowest: %s\n", instances, instances == 1 ? "" : "s", ms / 1000, bytes, slowest }'
