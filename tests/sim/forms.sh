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
planted() { # file of templates/, what is changed, to what, op
    rm -rf "$tmp/templates" "$tmp/faults" && cp -r templates "$tmp/templates" && mkdir "$tmp/faults"
    cp "tests/sim/forms/${4#forms_}.lua" "$tmp/faults"
    sed -i "s|$2|$3|" "$tmp/templates/$1"
    ! diff -rq templates "$tmp/templates" >/dev/null; result $? "$1: the text '$2' is there"
    make -f mk/instances.mk DIR="$tmp/faults" OUT="$tmp/gen" LIB="$tmp/lib" BUILD="$BUILD" SCHEDULES="$tmp/templates" \
        TARGETS=host all >"$tmp/out" 2>&1
    result $? "$1 compiles with '$3'"
    ! "$kiln" verify --modules "$tmp/lib" --all --quick --device host --op "$4" --seed 1 >"$tmp/out" 2>&1
    result $? "and is seen by $4"
}
planted gemm/lib/host_outputs.tmpl 'for (long c = 0; c < cols; c++) r = @' 'for (long c = 1; c < cols; c++) r = @' forms_reduced
planted gemm/lib/host_outputs.tmpl 'for (long c = first; c < end; c++) r = @' 'for (long c = first; c < end - 1; c++) r = @' forms_blocks
planted gemm/host.c.tmpl '->d\[%d\], %s)"' '->d[%d], (%s) / 2 * 2)"' forms_halves_blocks
planted rowwise/host.c.tmpl 'return R.is_compensated(op, n) end' 'return false end' forms_sums
finish
