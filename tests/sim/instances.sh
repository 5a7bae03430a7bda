#!/bin/bash
# SPDX-License-Identifier: MIT
# Every instance of Kiln for the simulator's targets against the reference, with all its checks on.  Argument --full: all
# shapes (make check-sim) instead of a few.  Exit 77 where no module for them was built.
set -u
cd "$(dirname "$0")/../.." || exit 2
BUILD=${BUILD:-build}
KILN_BIN=${KILN_BIN:-$PWD/$BUILD/bin/kiln}
shapes=--quick
[ "${1-}" != --full ] || shapes=
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
# A target's module is among the default ones, or was made for the tests (mk/tests.mk).
declare -A path
targets=
for t in gfx942 gfx90a; do
    if [ -e "$BUILD/lib/kiln/libkiln-$t.so" ]; then
        path[$t]=$BUILD/lib/kiln targets="$targets $t"
    elif [ -e "$BUILD/tests/$t/libkiln-$t.so" ]; then
        path[$t]=$BUILD/tests/$t targets="$targets $t"
    fi
done
[ -n "$targets" ] || { echo "1..0 # SKIP no module for gfx942 or gfx90a"; exit 77; }
# The targets side by side, each on its share of the cores: problems here are too small for more.
threads=$(($(nproc) / $(echo "$targets" | wc -w)))
[ "$threads" -gt 0 ] || threads=1
failed=0 pids=
for t in $targets; do
    KILN_SIM="threads=$threads${KILN_SIM:+,$KILN_SIM}" "$KILN_BIN" verify --modules "${path[$t]}" --all $shapes --device "sim:$t" --seed 1 \
        >"$out/$t" 2>&1 &
    pids="$pids $!"
done
for p in $pids; do wait "$p" || failed=1; done
for t in $targets; do
    echo "# $t"
    grep -v '^ok ' "$out/$t" # lines of single instances would count as tests of their own beside the total
done
exit $failed
