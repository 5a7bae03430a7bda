#!/bin/bash
# SPDX-License-Identifier: MIT
# Every instance of Kiln that was built for the simulator's targets against the reference, with all its checks on.  Argument
# --full: all shapes (make check-sim) instead of a few.  Exit 77 where no module for them was built.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh disable=SC2154
. "$(dirname "$0")/../lib/tap.sh"
shapes=--quick
[ "${1-}" != --full ] || shapes=
declare -A path
for t in gfx942 gfx90a; do
    folder=$(modules $t) && path[$t]=$folder
done
[ ${#path[@]} -gt 0 ] || { echo "1..0 # SKIP no module for gfx942 or gfx90a"; exit 77; }
# The targets side by side, each on its share of the cores: problems here are too small for more.
threads=$(($(nproc) / ${#path[@]}))
[ "$threads" -gt 0 ] || threads=1
pids=
for t in "${!path[@]}"; do
    KILN_SIM="threads=$threads${KILN_SIM:+,$KILN_SIM}" "$kiln" verify --modules "${path[$t]}" --all $shapes --device "sim:$t" --seed 1 \
        >"$tmp/$t" 2>&1 &
    pids="$pids $!"
done
for p in $pids; do wait "$p" || failed=1; done
for t in "${!path[@]}"; do
    echo "# $t"
    grep -v '^ok ' "$tmp/$t" # lines of single instances would count as tests of their own beside the total
done
[ "$failed" -eq 0 ]
