#!/bin/bash
# SPDX-License-Identifier: MIT
# Blocks of K and inputs of element operators as tests/host/corners/blocks.lua has them, on the simulator: kernels for
# gfx942 against the reference, and without a spilled register that goes to memory.  TAP.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh disable=SC2154
. "$(dirname "$0")/../lib/tap.sh"
grep -q "KILN_HIPCC_gfx942 := ." "$BUILD/toolchain.mk" 2>/dev/null || { echo "1..0 # SKIP nothing compiles gfx942"; exit 77; }
mkdir "$tmp/ops"
cp tests/host/corners/blocks.lua "$tmp/ops"
make --no-print-directory -f mk/instances.mk DIR="$tmp/ops" OUT="$tmp/gen" LIB="$tmp/lib" BUILD="$BUILD" TARGETS=gfx942 all \
    >"$tmp/out" 2>&1
result $? "they compile"
"$kiln" verify --all --quick --device sim:gfx942 --modules "$tmp/lib" --seed 1 >"$tmp/all" 2>&1
status=$?
grep -v '^ok' "$tmp/all" >"$tmp/out"
result $status "they are right"
"$kiln" report --modules "$tmp/lib" --target gfx942 --csv >"$tmp/report" 2>"$tmp/out" &&
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; if (!at["scratch"]) print "no column scratch" }
        NR > 1 && $at["scratch"] + 0 > 0' "$tmp/report" >"$tmp/out"
[ ! -s "$tmp/out" ]; result $? "nothing goes to scratch memory"
finish
