#!/bin/bash
# SPDX-License-Identifier: MIT
# Rows of groups on the host and in AMD's kernels, on the simulator with all its checks: what no shipped op asks of them;
# planted faults, which must be found.  Argument --full: gfx90a, too, and all shapes.  TAP.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh disable=SC2154,SC2086,SC2015
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=../lib/amd.sh
. tests/lib/amd.sh
targets='host' shapes=--quick
if amd_available gfx942 && [ -e "$BUILD/lib/libkilnsim.so" ]; then targets='host gfx942'; fi
[ "${1-}" != --full ] || targets="${targets/gfx942/gfx942 gfx90a}" shapes=
make BUILD="$BUILD" instances TARGETS="$targets" INSTANCES=tests/sim/groups >"$tmp/out" 2>&1
result $? 'instances compile'
for target in $targets; do
    device=sim:$target
    [ "$target" != host ] || device=host
    "$kiln" verify --modules "$BUILD/modules/groups" --all $shapes --device "$device" --seed 1 >"$tmp/out" 2>&1
    result $? "$target: $(tail -n 1 "$tmp/out")"
done

# What a planted fault changes, by sed, in a file of templates/gemm/lib.
planted() { # target, file, what is changed, to what [, op]
    local device=sim:$1
    [ "$1" != host ] || device=host
    rm -rf "$tmp/templates" && cp -r templates "$tmp/templates"
    sed -i "s#$3#$4#" "$tmp/templates/gemm/lib/$2"
    ! diff -rq templates "$tmp/templates" >/dev/null; result $? "$2: the text '$3' is there"
    make -f mk/instances.mk DIR=tests/sim/groups OPS="${5-groups_faults}" OUT="$tmp/gen" LIB="$tmp/lib" BUILD="$BUILD" \
        SCHEDULES="$tmp/templates" TARGETS="$1" all >"$tmp/out" 2>&1
    result $? "$2 compiles with '$4'"
    ! "$kiln" verify --modules "$tmp/lib" --all --quick --device "$device" --seed 1 >"$tmp/out" 2>&1 &&
        grep -q '^FAIL' "$tmp/out"
    result $? "and verification sees it"
}
planted host host_groups.tmpl 'row < g->tokens' 'row <= g->tokens'
planted host ../host.c.tmpl 'row < g->tokens ? row' 'row <= g->tokens ? row' groups_blocks_gated
planted host host_groups.tmpl 'own.m = (int)(end - first)' 'own.m = (int)(end - first) - 1'
if [[ $targets == *gfx942* ]]; then
    planted gfx942 groups.tmpl '\*end < first || \*end > g.m' '*end < first'
    planted gfx942 groups.tmpl '(at / down) \* TILE_N' '(at % across) * TILE_N'
    planted gfx942 simt_gather.tmpl 'row < tokens' 'row <= tokens'
    planted gfx942 groups.tmpl '\*end_m = end\[i\]' '*end_m = g.m'
    planted gfx942 mfma_groups.tmpl ' || end.v\[i\] > (unsigned)g.m' ''
    planted gfx942 mfma_groups.tmpl 'job.end_m = end;' 'job.end_m = g.m;'
    planted gfx942 mfma_groups.tmpl 'at -= own;' 'at = 0;'
    planted gfx942 mfma_gather.tmpl ': size_of_a' ': 0'
    planted gfx942 mfma_block.tmpl '(unsigned)token < ' '(unsigned)token <= ' groups_blocks_gated
    planted gfx942 mfma_block.tmpl ' << i;' ';' groups_blocks_gated
    planted gfx942 groups.tmpl '(unsigned)row < ' '(unsigned)row <= ' groups_blocks_gated
    planted gfx942 mfma_out_four.tmpl ', job.end_m"' ', late.m"' groups_gated
    planted gfx942 mfma_four.tmpl ' < left_m ? at' ' < TILE_M ? at' groups_gated
fi
finish
