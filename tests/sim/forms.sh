#!/bin/bash
# SPDX-License-Identifier: MIT
# Forms of ops that no shipped one has, on the host and on the simulator with all its checks; kernels in which a fault was
# planted must fail.  TAP.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh disable=SC2154,SC2086
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=../lib/amd.sh
. tests/lib/amd.sh
targets=host
amd_available gfx942 && [ -e "$BUILD/lib/libkilnsim.so" ] && targets="host gfx942"

make BUILD="$BUILD" instances TARGETS="$targets" INSTANCES=tests/sim/forms >"$tmp/out" 2>&1
result $? 'instances compile'
for target in $targets; do
    device=sim:$target
    [ $target != host ] || device=host
    ops=$("$kiln" list --modules "$BUILD/modules/forms" --target $target 2>"$tmp/out" | sed -n "s|^$target/\([^/]*\)/.*|\1|p" | sort -u)
    [ -n "$ops" ]; result $? "$target: ops are listed"
    for op in $ops; do
        "$kiln" verify --modules "$BUILD/modules/forms" --all --quick --device $device --op "$op" --seed 1 >"$tmp/out" 2>&1
        result $? "$target: $op"
    done
done

# What a planted fault changes, by sed: each must be seen by the op that it is for.
planted() { # file of templates/, what is changed, to what, op [, target, file of the op where its name is another]
    local target=${5-host} device=host schedule=()
    [ "$target" = host ] || { device=sim:$target schedule=(--schedule mfma); }
    rm -rf "$tmp/templates" "$tmp/faults" "$tmp/gen" "${tmp:?}/lib" && cp -r templates "$tmp/templates" && mkdir "$tmp/faults"
    cp "tests/sim/forms/${6-${4#forms_}}.lua" "$tmp/faults"
    sed -i "s|$2|$3|" "$tmp/templates/$1"
    ! diff -rq templates "$tmp/templates" >/dev/null; result $? "$1: the text '$2' is there"
    make -f mk/instances.mk DIR="$tmp/faults" OPS="$4" OUT="$tmp/gen" LIB="$tmp/lib" BUILD="$BUILD" \
        SCHEDULES="$tmp/templates" TARGETS="$target" all >"$tmp/out" 2>&1
    result $? "$1 compiles with '$3'"
    ! "$kiln" verify --modules "$tmp/lib" --all --quick --device $device --op "$4" "${schedule[@]}" --seed 1 >"$tmp/out" 2>&1 &&
        grep -q '^FAIL' "$tmp/out"
    result $? "and is seen by $4"
}
planted gemm/lib/host_outputs.tmpl 'for (long c = 0; c < cols; c++) r = @' 'for (long c = 1; c < cols; c++) r = @' forms_reduced
planted gemm/lib/host_outputs.tmpl 'for (long c = first; c < end; c++) r = @' 'for (long c = first; c < end - 1; c++) r = @' forms_blocks
planted gemm/host.c.tmpl '->d\[%d\], %s)"' '->d[%d], (%s) / 2 * 2)"' forms_halves_blocks
planted rowwise/host.c.tmpl 'return R.is_compensated(op, n) end' 'return false end' forms_sums
if [[ $targets == *gfx942* ]]; then
    # Whole tiles and some that blocks share, in one launch.
    shared() { # units, op, types and layouts, sizes
        KILN_SIM=units=$1 "$kiln" verify --modules "$BUILD/modules/forms" --device sim:gfx942 --seed 1 \
            --instance "gfx942/$2/$(tr ", " "_/" <<<"$3")/mfma_128x128x32_w2x2_stream8" "$2 $3 $4 align=16" >"$tmp/out" 2>&1
        result $? "$2 $4, $1 units"
    }
    shared 4 forms_beside_small 'f16,f16,f16 rcr' 'm=300 n=380 k=16000'
    shared 8 forms_beside_reduced 'bf16,bf16,bf16 rcc' 'm=300 n=381 k=16000 batch=2'
    beside() { planted "gemm/lib/$1" "$2" "$3" "forms_beside_$4" gfx942 beside; }
    beside mfma_out_four.tmpl 'first_row = m1 + row_below(c \* ROWS_AT_ONCE)' 'first_row = m1' reduced
    beside mfma_out_four.tmpl 'm0 + m2, n0 + n2' 'm0 + m2, n0' small
    beside mfma_out_four.tmpl 'k = 1; k < WAVES_K' 'k = 2; k < WAVES_K' small
    beside mfma_four.tmpl 'n == 0 ? (m + row' 'n == 0 ? (row' small
    beside mfma_four.tmpl ', QUADS>(r)' ', QUADS / 2>(r)' small
    beside mfma_four.tmpl 'if (inside \&\& m + row_below' 'if (inside \&\& c + row_below' reduced
    beside mfma_four.lua 'min(t.threads // (t.n // 4), strip)' 't.threads // (t.n // 4)' small
    beside mfma_second.tmpl 'part < here' 'part + 1 < here' small
    beside late_outputs.tmpl 'part < @{parts}; part' 'part + 1 < @{parts}; part' small
    made() { planted "gemm/lib/$1" "$2" "$3" "forms_made_$4" gfx942 "${5-made}"; }
    made mfma_values.tmpl 'row_b(thread, i), g.n - 1' 'row_b(thread, i), g.n - 2' two
    made mfma_values.tmpl 'tile \* TILE_K + k_b(thread)' 'tile * TILE_K' bytes
    made mfma_made.tmpl '"128.0f"' '"127.0f"' bytes
    made mfma_made.tmpl 'd.name end, q - 1' 'd.name end, 0' product
    made mfma_rest.tmpl 'kiln_times<@{x.loads \* count}' 'kiln_times<@{x.loads * x.parts}' any
    made mfma_out.tmpl 'lane_groups} + j' 'lane_groups} + 3 - j' rows made_bytes
    made mfma_out_four.tmpl 'lane_groups} + j' 'lane_groups} + 3 - j' beside made_bytes
    made mfma_block.lua 'block.swapped)$' 'not block.swapped)' columns made_bytes
fi
finish
