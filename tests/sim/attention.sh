#!/bin/bash
# SPDX-License-Identifier: MIT
# Attention on AMD's matrix cores, on the simulator with all its checks: what no shipped op asks of it; on vector units,
# sequences that overlap; planted faults, which must be found; its share of the matrix unit's time, by the simulator's
# model, registers and banks.  Argument --full: gfx90a, too, and all shapes.  TAP.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh disable=SC2154,SC2086,SC2015
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=../lib/amd.sh
. tests/lib/amd.sh
amd_available gfx942 && [ -e "$BUILD/lib/libkilnsim.so" ] || { echo "1..0 # SKIP no AMD compiler or no simulator"; exit 77; }
targets=gfx942 shapes=--quick
[ "${1-}" != --full ] || targets="gfx942 gfx90a" shapes=
make BUILD="$BUILD" instances TARGETS="$targets" INSTANCES="tests/sim/attention tests/sim/attention_faults" >"$tmp/out" 2>&1
result $? 'instances compile'
modules="--modules $BUILD/modules/attention" # of one word each
for target in $targets; do
    for op in sim_attention sim_sinks sim_heads sim_full; do
        "$kiln" verify $modules --all $shapes --device sim:$target --op $op --schedule mfma --seed 1 >"$tmp/out" 2>&1
        result $? "$target: $op"
    done
    "$kiln" report --cost $modules --device sim:$target --op sim_full --schedule mfma --csv >"$tmp/cost" 2>"$tmp/err"
    result $? "$target: priced" "$tmp/err"
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { print $at["modelled matrix share"], $at["conflicts"]; bad = $at["modelled matrix share"] < 0.75 || $at["conflicts"] }
        END { exit bad || NR != 2 }' "$tmp/cost" >"$tmp/out"
    result $? "$target: matrix unit's share, and no bank conflict"
    "$kiln" report $modules --target $target --csv >"$tmp/report" 2>"$tmp/out" &&
        awk -F, 'NR > 1 && ($6 != 0 || $7 != 0) { print; bad = 1 } END { exit bad || NR < 2 }' "$tmp/report" >"$tmp/out"
    result $? "$target: no scratch, no spilled vector register"
done

# Sequences that overlap: seed 13 makes such arrays, as the last fault below shows.
"$kiln" verify --modules "$BUILD/modules/attention_faults" --all --quick --device sim:gfx942 --op sim_lengths --seed 13 >"$tmp/out" 2>&1
result $? 'gfx942: sim_lengths'

# What a planted fault changes, by sed, in a file of templates/attention.
planted() { # op, schedule, seed, file, what is changed, to what
    local verify=(--op "$1" --schedule "$2" --seed "$3")
    shift 3
    rm -rf "$tmp/templates" && cp -r templates "$tmp/templates"
    sed -i "s|$2|$3|" "$tmp/templates/attention/$1"
    ! diff -rq templates "$tmp/templates" >/dev/null; result $? "$1: the text '$2' is there"
    make -f mk/instances.mk DIR=tests/sim/attention_faults OPS="${verify[1]}" OUT="$tmp/gen" LIB="$tmp/lib" BUILD="$BUILD" \
        SCHEDULES="$tmp/templates" TARGETS=gfx942 all >"$tmp/out" 2>&1
    result $? "$1 compiles with '$3'"
    ! "$kiln" verify --modules "$tmp/lib" --all --quick --device sim:gfx942 "${verify[@]}" >"$tmp/out" 2>&1 &&
        grep -q '^FAIL' "$tmp/out"
    result $? "and verification sees it"
}
planted sim_faults mfma 1 lib/mfma_softmax.tmpl 'or "key > until"' 'or "key > until + 1"'
planted sim_faults mfma 1 mfma.hip.tmpl 'if (last) kiln_publish();' 'if (last) kiln_wave_order();'
planted sim_lengths simt 13 lib/find_batch.tmpl 'kiln_shared_least(found, b)' '*found = b'
finish
