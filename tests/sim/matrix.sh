#!/bin/bash
# SPDX-License-Identifier: MIT
# Corners of the mfma schedule that no shipped op reaches, on the simulator with all its checks: gfx942's, which has every
# type; with argument --full gfx90a's, too.  TAP.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh disable=SC2154,SC2086
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=../lib/amd.sh
. tests/lib/amd.sh
amd_available gfx942 && [ -e "$BUILD/lib/libkilnsim.so" ] || { echo "1..0 # SKIP no AMD compiler or no simulator"; exit 77; }

targets=gfx942
[ "${1-}" != --full ] || targets="gfx942 gfx90a"
make BUILD="$BUILD" instances TARGETS="$targets" INSTANCES=tests/sim/matrix >"$tmp/out" 2>&1
result $? 'instances compile'
modules="--modules $BUILD/modules/matrix" # of one word each
for target in $targets; do
    for op in $(sed -n 's/^gemm "\(.*\)".*/\1/p' tests/sim/matrix/*.lua); do
        [ "$("$kiln" list $modules --op "$op" --target $target 2>/dev/null | grep -c mfma)" -gt 0 ] || continue
        "$kiln" verify $modules --all --quick --device sim:$target --op "$op" --seed 1 >"$tmp/out" 2>&1
        result $? "$target: $op"
    done
    # Tiles for any alignment: the matrix ends within a chunk of rows, of K, of both; K is whole tiles or less than one.
    for problem in 'f16,f16,f16 ccc m=131 n=133 k=96' 'i8,i8,i8 ccc m=15 n=17 k=128' 'f16,f16,f16 rrc m=131 n=3 k=129' \
        'i8,i8,i8 rcc m=129 n=9 k=193' 'f16,f16,f16 ccc m=132 n=250 k=31'; do
        "$kiln" verify $modules "matrix_columns $problem" --schedule mfma --device sim:$target --seed 1 >"$tmp/out" 2>&1
        result $? "$target: $problem, unaligned"
    done
    # Groups: more than a wave looks at together, two to a row or so; and one that has all rows.
    for problem in 'matrix_gathered bf16,bf16,bf16 rcr m=300 n=70 k=72 tokens=33 groups=600' \
        'matrix_groups f16,f16,f16 crc m=300 n=70 k=75 groups=257' 'matrix_groups f16,f16,f16 rcr m=300 n=70 k=75 groups=1'; do
        "$kiln" verify $modules "$problem" --schedule mfma --device sim:$target --seed 1 >"$tmp/out" 2>&1
        result $? "$target: $problem"
    done
    # Few units, so that there are more tiles than the device holds blocks, and fewer; batches in one row of work; K that is
    # worth sharing, and not; six tiles in 18 runs, as many for each, where the device holds 20, and eight in 20.
    for problem in '3 rcr m=300 n=500 k=4112' '3 crc m=304 n=272 k=3333 batch=3' '3 rcr m=65 n=127 k=6000' \
        '3 crc m=16 n=144 k=40' '5 rcr m=380 n=64 k=6000' '5 rcr m=500 n=64 k=6000'; do
        units=${problem%% *} problem=${problem#* }
        for instance in $("$kiln" list $modules --op matrix_stream --target $target | sed -n "s,^\(.*/i8_i8_i32/${problem%% *}/mfma_[^ ]*_stream[0-9]*\) .*,\1,p"); do
            KILN_SIM=units=$units "$kiln" verify $modules "matrix_stream i8,i8,i32 $problem align=16" --device sim:$target --instance "$instance" --seed 1 >"$tmp/out" 2>&1
            result $? "$target: ${instance##*_} $problem, $units units"
        done
    done
done
finish
