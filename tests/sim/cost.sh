#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What a launch costs: counts that follow from the source, LDS conflicts and segments by stride, and the modelled matrix
# share of loops beside llvm-mca's for the same bodies.  llvm-mca prices one wave without barriers, branches and bank
# conflicts; docs/simulator.md says what else differs.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=../lib/amd.sh
. tests/lib/amd.sh
. tests/lib/mca.sh
lib=$BUILD/lib
kernels=tests/sim/kernels
[ -e "$lib/libkilnsim.so" ] || { echo "1..0 # SKIP no $lib/libkilnsim.so"; exit 77; }
amd_available gfx942 || { echo "1..0 # SKIP no AMD compiler"; exit 77; }
# the library may be built for the address sanitizer
san=()
nm -D "$lib/libkilnsim.so" 2>/dev/null | grep -q __asan_init && san=("-fsanitize=address,undefined")
${CC:-cc} -std=gnu11 -Wall -Wextra "${san[@]}" -Isim -o "$tmp/driver" $kernels/cost_driver.c -L"$lib" -lkilnsim \
    -Wl,-rpath,"$(realpath "$lib")" || exit 1

price() { # OBJECT KERNEL BLOCKS_X BLOCKS_Y THREADS NUMBER...: the cost in $tmp/out
    local object=$1 kernel=$2 x=$3 y=$4 threads=$5
    shift 5
    KILN_SIM=arch=$target${setting:+,$setting} timeout 60 "$tmp/driver" "$object" "$kernel" "$x" "$y" "$threads" 4194304 "$@" >"$tmp/out" 2>&1
}
value() { # NAME
    awk -v name="$1" '$1 == name { print $2 }' "$tmp/out"
}
is() { # NAME VALUE...: each as stated
    while [ $# -gt 0 ]; do
        if [ "$(value "$1")" != "$2" ]; then
            echo "$1 is $(value "$1"), not $2" >>"$tmp/out"
            return 1
        fi
        shift 2
    done
}
within() { # VALUE LEAST MOST
    awk -v v="$1" -v a="$2" -v b="$3" 'BEGIN { exit !(v >= a && v <= b) }'
}

compare() { # OBJECT ASSEMBLER KERNEL LEAST MOST NUMBER...: one wave a SIMD; the model's share in units of llvm-mca's
    local object=$1 assembler=$2 kernel=$3 least=$4 most=$5 theirs ours ratio
    shift 5
    : >"$tmp/out"
    theirs=$(mca_share "$assembler" "$kernel" $target "$passes")
    price "$object" "$kernel" 1 1 256 "$@"
    ours=$(value modelled_matrix_share)
    ratio=$(awk -v a="${ours:-0}" -v b="${theirs:-1}" 'BEGIN { printf "%.3f", a / b }')
    [ -n "$theirs" ] && within "$ratio" "$least" "$most"
    result $? "$target: $kernel: modelled share ${ours:-?}, llvm-mca's $theirs: ratio $ratio in $least to $most"
}

for target in gfx942 gfx90a; do
    loops=$tmp/loops.$target gemm=$tmp/gemm.$target passes=8 clock=2100 units=304
    [ $target = gfx942 ] || passes=16 clock=1700 units=104
    if ! amd_available $target || ! amd_compile $target "$loops.co" $kernels/cost.hip 2>"$tmp/out" ||
        ! amd_compile $target "$gemm.co" $kernels/gemm_f16.hip 2>"$tmp/out"; then
        result 1 "$target: compiles"
        continue
    fi
    # counts: three workgroups of four waves, 64 iterations of four
    price "$loops.co" matrix 3 1 256 64
    is kernel matrix target $target groups 3 waves 12 count_mfma $((3 * 4 * 256)) count_lds 0 count_barrier 0 \
        mfma_cycles $((3 * 4 * 256 * passes * 4)) clock_mhz $clock compute_units $units
    result $? "$target: counts by class, matrix cycles, the device's clock and units"
    price "$gemm.co" gemm_f16 2 2 256 256 256
    is groups 4 count_mfma $((4 * 4 * 8 * 16)) count_barrier $((4 * 4 * 8)) lds_ideal_cycles $((4 * 4 * 8 * 12 * 8)) \
        global_bytes $((4 * (256 * 256 * 2 + 128 * 128 * 4))) groups_per_cu 2 waves_per_simd 2
    result $? "$target: counts of a GEMM, two workgroups on a compute unit"
    # conflicts of b32 by stride (two halves, load and store), segments of 64 bytes by stride
    for stride in 1:4:48 2:8:64 4:16:96 32:128:288; do
        IFS=: read -r step cycles segments <<<"$stride"
        price "$loops.co" banks 1 1 64 "$step"
        is lds_cycles "$cycles" lds_ideal_cycles 4
        result $? "$target: LDS, $step words apart: $cycles cycles instead of 4"
        price "$loops.co" strided 1 1 256 "$step"
        is segments "$segments" segments_needed 48 global_bytes 3072
        result $? "$target: memory, $step words apart: $segments segments instead of 48"
    done
    # more waves hide more
    price "$gemm.co" gemm_f16 1 1 256 128 1024
    alone=$(value modelled_matrix_share)
    price "$gemm.co" gemm_f16 2 1 256 256 1024
    within "$(value modelled_matrix_share)" "$(awk -v a="$alone" 'BEGIN { print a * 1.1 }')" 1
    result $? "$target: two workgroups of a GEMM share a compute unit better than one: $(value modelled_matrix_share), $alone"
    # memory that is farther away: one trip more of each of its loads that nothing covers
    price "$gemm.co" gemm_f16 1 1 256 128 1024
    usual=$(value modelled_cycles)
    setting=latency=1260 price "$gemm.co" gemm_f16 1 1 256 128 1024
    within "$(value modelled_cycles)" $((${usual%.*} + 940)) $((${usual%.*} + 40 * 940))
    result $? "$target: with memory 940 cycles farther away: $(value modelled_cycles), $usual"
    if [ -z "$mca" ]; then
        skip "$target: beside llvm-mca" "no llvm-mca"
        continue
    fi
    amd_compile $target "$loops.s" $kernels/cost.hip -S 2>"$tmp/out"
    amd_compile $target "$gemm.s" $kernels/gemm_f16.hip -S 2>"$tmp/out"
    compare "$loops.co" "$loops.s" matrix 0.9 1.02 1024
    compare "$loops.co" "$loops.s" shared_matrix 0.5 1.02 1024
    compare "$gemm.co" "$gemm.s" gemm_f16 0.5 1.02 128 4096
done

# kiln report --cost
if [ -x "$kiln" ] && folder=$(modules gfx942) && command -v python3 >/dev/null; then
    report() {
        "$kiln" report --cost --modules "$folder" "$@" >"$tmp/out" 2>"$tmp/err"
    }
    report --device sim:gfx942 --op bias_relu --json && python3 - "$tmp/out" <<'EOF' >"$tmp/err" 2>&1
import json, sys
rows = json.load(open(sys.argv[1]))
assert rows
for r in rows:
    n = r["instructions"]
    assert r["target"] == "gfx942" and r["waves"] >= r["groups"] >= 1 and " m=" in r["problem"], r
    assert n["salu"] > 0 and n["valu"] > 0 and (n["mfma"] > 0) == (r["mfma_cycles"] > 0), r
    assert r["lds_cycles"] >= r["lds_ideal_cycles"] and r["segments"] >= r["segments_needed"] > 0, r
    assert r["groups_per_cu"] >= 1 and 1 <= r["waves_per_simd"] <= 8 and r["modelled_cycles"] > 0, r
    assert 0 <= r["modelled_matrix_share"] <= 1 and (r["modelled_matrix_share"] > 0) == (n["mfma"] > 0), r
    assert (r["modelled_tflops"] > 0) == ("#" not in r["instance"]), r
EOF
    result $? "kiln report --cost --json" "$tmp/err"
    # Matrix instructions do nothing but the problem's multiplications on whole tiles, and one for each of a wave's sums
    # that makes it zero, of 33 where four waves share K: the rate is the share of their type's peak that units are busy.
    #  swiglu: two products.  Where K is cut among blocks, runs end in whole groups of tiles.
    for op in bias_relu swiglu bmm_abe_i8 a16w8_linear; do
        report --device sim:gfx942 --op $op --schedule mfma --json && python3 - "$tmp/out" <<'EOF' >"$tmp/err" 2>&1
import json, sys
flops = {"f16": 2048, "bf16": 2048, "i8": 4096}  # of a compute unit in a cycle: AMD's CDNA3 white paper
rows = [r for r in json.load(open(sys.argv[1])) if "#" not in r["instance"]]
assert rows
for r in rows:
    assert (r["clock_mhz"], r["compute_units"]) == (2100, 304), r
    peak = flops[r["instance"].split("/")[2].split("_")[0]] * 2.1e9 * 304 / 1e12
    ratio = r["modelled_tflops"] / (r["modelled_matrix_share"] * peak)
    slack = 0.06 if "_stream" in r["instance"] else 0.035 if "x4_" in r["instance"] else 0.02
    assert abs(ratio - 1) <= slack, (ratio, r)
EOF
        result $? "$op: modelled TFLOP/s are the matrix share of the peak" "$tmp/err"
    done
    report --device sim:gfx942 --op bias_relu --csv &&
        grep -q '^instance,matrix,vector,.*,modelled cycles,modelled matrix share,modelled TFLOP/s$' "$tmp/out" &&
        grep -q '^gfx942/bias_relu/' "$tmp/out"
    result $? "kiln report --cost --csv"
    report --device host
    [ $? -eq 2 ] && grep -q 'not the simulator; give --device sim:gfx942' "$tmp/err"
    result $? "a device that is no simulator is refused" "$tmp/err"
else
    skip "kiln report --cost" "no kiln with a gfx942 module"
fi
finish
