#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The mfma schedule's promises that need no hardware: the main loop's share of the matrix unit's time by llvm-mca, no
# bank conflict and whole segments on the simulator, no scratch and no spills in any instance that was built.
# Lines of `share` go to docs/benchmarks/mfma.md: `tests/sim/mfma_share.sh --table` prints them alone.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh source=../lib/amd.sh source=../lib/mca.sh disable=SC2154,SC2015,SC2231
. "$(dirname "$0")/../lib/tap.sh"
. tests/lib/amd.sh
. tests/lib/mca.sh
amd_available gfx942 && amd_available gfx90a || { echo "no AMD compiler"; exit 77; }
if [ "${1-}" = --table ]; then
    table=1
    result() { :; }
fi

# The least share that a tile may have: 64x128 and 128x128, of which two share a unit, 256x128 with four waves, 256x256 with
# eight; scaled sums want eight for 256x128, too.  TYPE is A's, or A's and B's, with "scaled-" ahead.
least() { # TARGET TYPE LAYOUT TILE
    case "$1 $2 $3 $4" in
    gfx942\ scaled-f8*\ rcr\ *) echo 0.94 ;;
    gfx942\ scaled-f8*\ rrr\ 256x128*) echo 0.86 ;;
    gfx942\ scaled-f8*\ rrr\ *) echo 0.81 ;;
    gfx942\ scaled-f8*\ crr\ 256x128*) echo 0.72 ;;
    gfx942\ scaled-f8*\ crr\ *) echo 0.69 ;;
    gfx942\ scaled-bf16_i8\ *\ 256x128*) echo 0.87 ;;
    gfx942\ scaled-bf16_i8\ *) echo 0.83 ;;
    gfx942\ scaled-*\ 256x128*) echo 0.90 ;;
    gfx942\ scaled-*\ *) echo 0.87 ;;
    gfx942\ bf16_u4\ *\ 256x128*) echo 0.94 ;;
    gfx942\ bf16_u4\ *) echo 0.75 ;;
    gfx942\ f16_i4\ *\ 256x128*) echo 0.95 ;;
    gfx942\ f16_i4\ *) echo 0.86 ;;
    gfx90a\ *\ rcr\ *) echo 0.98 ;;
    gfx942\ bf16_i8\ rcr\ 64x128*) echo 0.66 ;;
    gfx942\ bf16_i8\ *\ 64x128*) echo 0.59 ;;
    gfx942\ *_*\ rcr\ 64x128*) echo 0.75 ;;
    gfx942\ *_*\ *\ 64x128*) echo 0.73 ;;
    gfx942\ *\ rcr\ 64x128*) echo 0.93 ;;
    gfx942\ *f16\ rrr\ 64x128*) echo 0.85 ;;
    gfx942\ *\ rrr\ 64x128*) echo 0.81 ;;
    gfx942\ f16\ crr\ 64x128*) echo 0.83 ;;
    gfx942\ *\ crr\ 64x128*) echo 0.64 ;;
    gfx942\ bf16_i8\ rcr\ 128x128*) echo 0.85 ;;
    gfx942\ bf16_i8\ *\ 128x128*) echo 0.76 ;;
    gfx942\ bf16_i8\ rrr\ 256x128*) echo 0.87 ;;
    gfx942\ *_*\ rcr\ 128x128*) echo 0.93 ;;
    gfx942\ *_*\ 128x128*) echo 0.87 ;;
    gfx942\ *_*\ r?r\ 256x128*) echo 0.91 ;;
    gfx942\ i8\ crr\ 128x128*) echo 0.89 ;;
    gfx942\ *\ crr\ 256x128*) echo 0.95 ;;
    gfx942\ *\ crr\ *) echo 0.94 ;;
    gfx942\ *\ rcr\ *) echo 0.98 ;;
    gfx942\ *\ rrr\ 128x128*) echo 0.94 ;;
    gfx942\ *\ rrr\ *) echo 0.98 ;;
    *) echo 0.90 ;;
    esac
}
"$gen" --templates templates --out "$tmp/gen" --target gfx942 --target gfx90a tests/sim/instances >"$tmp/out" 2>&1
result $? "generated"
cp -r templates/device/. abi/. "$tmp/gen/" # the sources name these headers without a folder
# What a schedule adds to its compiler's command (mk/instances.mk takes it from the same place).
flags_of() { # TARGET SOURCE
    local name=${2#"$tmp/gen/"}
    awk -v name="KILN_FLAGS_${name%.hip}.co" '$1 == name && $2 == ":=" { $1 = $2 = ""; print }' "$tmp/gen/$1/rules.mk"
}
for target in gfx942 gfx90a; do
    if [ -z "$mca" ]; then
        skip "$target: matrix unit's share" "no llvm-mca"
        continue
    fi
    for source in "$tmp"/gen/$target/*/*-mfma_*x*x*_w[24]x[24]{,_a1,_stream8,_a1_stream8,_a4_stream16}.hip; do
        [ -e "$source" ] || continue
        what=$(basename "$source" .hip)
        types=${what%%-*} layout=${what#*-} tile=${what##*mfma_}
        type=${types%%_*} layout=${layout%%-*}
        [[ $types == "$type"_"$type"_* ]] || type=${types%_*}
        [[ $source != */scaled*/* ]] || type=scaled-$type
        passes=8
        [ $target = gfx942 ] || passes=16
        kernel=$(sed -n 's/.*KERNEL(.*) \(kiln_[a-z0-9_]*\)(.*/\1/p' "$source" | head -n 1)
        share=
        # shellcheck disable=SC2046 # words
        amd_compile $target "$tmp/k.s" "$source" -S -I"$tmp/gen" $(flags_of $target "$source") 2>"$tmp/out" &&
            share=$(mca_share "$tmp/k.s" "$kernel" $target $passes)
        want=$(least $target "$type" "$layout" "$tile")
        [ -z "${table-}" ] || printf '%s,%s,%s,%s,%s\n' $target "$type" "$layout" "$tile" "$share"
        awk -v a="${share:-0}" -v b="$want" 'BEGIN { exit !(a >= b && a <= 1.005) }'
        result $? "$target $type $layout $tile: matrix unit's share ${share:-?}, at least $want"
    done
done

# The simulator's counts, of the modules that were built.
if [ -z "${table-}" ] && [ -x "$kiln" ] && [ -e "$BUILD/lib/libkilnsim.so" ] && folder=$(modules gfx942); then
    # Operands along K and turned round, of two bytes and of one, and widened.
    price() { "$kiln" report --cost --modules "$folder" --device sim:gfx942 --schedule mfma --csv "$@" 2>>"$tmp/out"; }
    : >"$tmp/out"
    price --op bias_relu >"$tmp/cost" && price --op a16w8_linear >>"$tmp/cost" && price --op gemm --dtype i8 >>"$tmp/cost"
    result $? "priced on the simulator"
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $1 != "instance" && $at["conflicts"] != 0 { print; bad = 1 } END { exit bad || NR < 30 }' "$tmp/cost" >"$tmp/out"
    result $? "no bank conflict in any of $(grep -c ^gfx942 "$tmp/cost") mfma instances"
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $1 ~ /bias_relu.*mfma_(128x128|64x128)x/ && $1 !~ /#2/ { n++; if ($at["segments"] != $at["needed"]) { print; bad = 1 } }
        END { exit bad || !n }' "$tmp/cost" >"$tmp/out"
    result $? "every segment that its large tiles touch is used whole"
fi
for target in gfx942 gfx90a; do
    [ -z "${table-}" ] && folder=$(modules $target) || continue
    "$kiln" report --modules "$folder" --target $target --csv >"$tmp/report" 2>"$tmp/out" &&
        awk -F, 'NR > 1 && ($6 != 0 || $7 != 0) { print; bad = 1 } END { exit bad || NR < 2 }' "$tmp/report" >"$tmp/out"
    result $? "$target: no scratch, no spilled vector register in any instance"
done
[ -n "${table-}" ] || finish
