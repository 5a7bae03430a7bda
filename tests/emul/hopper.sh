#!/bin/bash
# SPDX-License-Identifier: MIT
# The kernels for Hopper on this CPU: their sources, compiled for it (tests/lib/hopper_cc.sh), run on an emulation of what
# they use of the machine (emulator.cc), against the reference.  Then with faults planted, which must be found.  Argument
# --full: all shapes, not the few of a quick run, and the corners that tests/gpu has for a GPU, too.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
case $BUILD in /*) ;; *) BUILD=$root/$BUILD ;; esac
out=$BUILD/tests/emul
cxx=${CXX:-g++}
command -v "$cxx" >/dev/null || { echo "1..0 # SKIP no $cxx"; exit 77; }
mkdir -p "$out/driver"

driver=$out/driver/libcuda.so.1
if ! [ -e "$driver" ] || [ -n "$(find tests/emul/*.cc tests/emul/*.h tests/unit/fake_driver.* -newer "$driver")" ]; then
    {
        ${CC:-gcc} -std=gnu11 -O1 -fPIC -Iabi -DAPI='__attribute__((visibility("default"), weak))' -c -o "$tmp/fake.o" tests/unit/fake_driver.c &&
            "$cxx" -std=c++17 -O3 -march=native -ffp-contract=off -g -U_FORTIFY_SOURCE -Wall -Wextra -fPIC -shared -Wl,-soname,libcuda.so.1 -o "$driver" tests/emul/*.cc "$tmp/fake.o" -ldl
    } >"$tmp/out" 2>&1
    result $? "the emulation compiles"
fi
# Kernels depend on their compiler, too; make knows the rest.
for old in kernels corners sound; do
    [ tests/lib/hopper_cc.sh -ot "$out/$old/gen/generated.stamp" ] || rm -rf "${out:?}/$old"
done

module() { # NAME FOLDER TEMPLATES [OP [VARIABLE=VALUE]]: its kernels, or of that op, into $out/NAME/lib
    make --no-print-directory -j"$(nproc)" -f mk/instances.mk DIR="$2" OUT="$out/$1/gen" LIB="$out/$1/lib" BUILD="$BUILD" TARGETS=sm_90a \
        SCHEDULES="$3" OPS="${4-}" KILN_HIPCC_sm_90a="sh tests/lib/hopper_cc.sh" "${@:5}" all >"$tmp/log" 2>&1
}
verify() { # NAME OPTION...
    LD_LIBRARY_PATH=$out/driver "$kiln" verify --modules "$out/$1/lib" --device nvidia --seed 1 "${@:2}"
}
every() { # NAME SCHEDULE OPTION...
    verify "$1" --all --schedule "$2" "${@:3}" >"$tmp/out" 2>&1 && grep -qE '^[1-9][0-9]* passed, 0 failed' "$tmp/out"
    local status=$?
    grep '^FAIL' "$tmp/out" >"$tmp/failed"
    result $status "$1, $2: $(tail -n 1 "$tmp/out")" "$tmp/failed"
}

module kernels tests/emul/instances templates
result $? "kernels compile" "$tmp/log"
shapes=(--quick)
[ "${1-}" != --full ] || shapes=()
for schedule in wgmma wgmma_decode mma; do every kernels $schedule "${shapes[@]}"; done
every kernels simt_decode "${shapes[@]}" --op emul_few_anywhere --op emul_few_gated
every kernels simt_decode --quick --op emul_split
# Lines that begin at multiples of what a lane loads at once, where K does not end at one.
for problem in 'emul_few_anywhere bf16,bf16,bf16 rcr m=3 n=9 k=77 lda=80 ldb=80' \
    'emul_few_gated bf16,f8e4m3,bf16 rcr m=5 n=30 k=527 lda=528 ldb=528 batch=2'; do
    verify kernels "$problem align=256" --schedule simt_decode >"$tmp/out" 2>&1
    result $? "elements behind the last chunk: $problem" "$tmp/out"
done
# One problem of lengths of their own: blocks are many, and threads here.
verify kernels --schedule simt_decode 'emul_paged f16,f8e4m3,f8e4m3,f16 heads=4 kv_heads=2 q=5 kv=700 window=650 pages=70 batch=3 align=16' \
    >"$tmp/out" 2>&1
result $? "keys in pages: $(tail -n 1 "$tmp/out")" "$tmp/out"
# More sequences than the first stage has threads.
verify kernels --schedule wgmma 'emul_sequences f16,f16,f16,f16 heads=2 kv_heads=1 q=700 kv=900 window=300 batch=300 align=16' \
    >"$tmp/out" 2>&1
result $? "many sequences: $(tail -n 1 "$tmp/out")" "$tmp/out"
# Values that are keys' first elements, in the same memory; a library beside which no modules for a GPU are.
mkdir "$tmp/lib" && cp "$BUILD/lib/libkiln.so.0" "$tmp/lib"
LD_LIBRARY_PATH=$out/driver:$tmp/lib KILN_DEVICE=nvidia KILN_MODULE_PATH=$out/kernels/lib "$BUILD/bin/mla_decode" 2 300 20 >"$tmp/out" 2>&1
result $? "examples/mla_decode.c: $(tail -n 1 "$tmp/out")" "$tmp/out"
bf=bf16,bf16,bf16,bf16
for problem in "mla $bf heads=70 kv_heads=1 q=3 kv=515 batch=2 ldv=576" \
    "emul_latent_paged $bf heads=20 kv_heads=1 q=7 kv=300 batch=3 pages=70 sk=9216 sv=9216 ldv=576"; do
    LD_LIBRARY_PATH=$out/driver KILN_DEVICE=nvidia KILN_MODULE_PATH=$out/kernels/lib \
        "$BUILD/tests/one_memory" "$problem align=256" wgmma >"$tmp/out" 2>&1
    result $? "values in keys' memory: $(tail -n 1 "$tmp/out")" "$tmp/out"
done
# Tensors of more than 2^32 bytes, of which only lines are touched.
far=33554432
for of in wgmma,emul_gemm,f16 wgmma_decode,emul_decode,bf16 mma,emul_gemm,f16; do
    IFS=, read -r schedule op type <<<"$of"
    problem="$op $type,$type,$type rcr m=70 n=72 k=72"
    LD_LIBRARY_PATH=$out/driver KILN_DEVICE=nvidia KILN_MODULE_PATH=$out/kernels/lib \
        "$BUILD/tests/far_apart" "$problem align=256" "$problem lda=$far ldb=$far lde=$far align=256" /$schedule >"$tmp/out" 2>&1
    status=$?
    if [ $status -eq 77 ]; then
        skip "far apart, $schedule" "no room for 16 GiB of addresses"
    else
        result $status "far apart, $schedule: $(tail -n 1 "$tmp/out")" "$tmp/out"
    fi
done
# Scales of which four times is no number, and weights that are multiplied by that where it is.
LD_LIBRARY_PATH=$out/driver KILN_DEVICE=nvidia KILN_MODULE_PATH=$out/kernels/lib \
    "$BUILD/tests/large_scales" 'emul_bits_128 bf16,u4,bf16 rcr m=3 n=70 k=640 align=256' >"$tmp/out" 2>&1
result $? "scales beside the largest numbers" "$tmp/out"
for op in emul_bits_two emul_two_bits; do
    LD_LIBRARY_PATH=$out/driver KILN_DEVICE=nvidia KILN_MODULE_PATH=$out/kernels/lib \
        "$BUILD/tests/large_scales" "$op bf16,u4,bf16 rcr m=3 n=70 k=640 align=256" >"$tmp/out" 2>&1
    result $? "of two products, one product's scales: $op" "$tmp/out"
done
every kernels simt --quick --op emul_two --op emul_two_operators
every kernels simt --quick --op emul_rows --op emul_rows_softmax --op emul_rows_alike --op emul_rows_sums --op emul_rows_blocks \
    --op emul_rows_long_blocks --op emul_rows_flat
# Rows that are one row, and not quite: three matrices of whole pieces, of odd ones; and a wider one.
for problem in 'rows=5 cols=264 batch=3' 'rows=7 cols=333 batch=2' 'rows=5 cols=333 ldup=340' 'rows=3 cols=264 batch=2 sx=1000'; do
    verify kernels "emul_rows_flat bf16 $problem" >"$tmp/out" 2>&1
    result $? "one row of all: $problem" "$tmp/out"
done
if [ "${1-}" = --full ]; then
    # What faults are planted in is sound without one.
    module sound tests/emul/faults templates
    result $? "what faults are planted in compiles" "$tmp/log"
    for schedule in wgmma wgmma_decode mma simt_decode; do every sound $schedule --quick; done
    every sound simt --quick --op emul_row_fault --op emul_sum_fault --op emul_flat_fault
    mkdir "$tmp/corners"
    cp tests/gpu/instances/wgmma*.lua tests/gpu/instances/mma.lua tests/gpu/instances/attention.lua tests/gpu/instances/rowwise.lua "$tmp/corners"
    module corners "$tmp/corners" templates
    result $? "corners compile" "$tmp/log"
    for schedule in wgmma wgmma_decode mma; do every corners $schedule --quick; done
    # Of rows few, in each tile that takes them: threads are dear here.
    mapfile -t rows < <("$kiln" list --modules "$out/corners/lib" --json | python3 -c '
import json, sys
for op in sorted({(r["op"], ",".join(r["types"].values())) for r in json.load(sys.stdin) if r["family"] == "rowwise"}):
    for sizes in "rows=3 cols=60", "rows=1 cols=333", "rows=1 cols=264 align=256 batch=2": print(*op, sizes)')
    verify corners --schedule simt "${rows[@]}" >"$tmp/out" 2>&1 && grep -qE '^[1-9][0-9]* passed, 0 failed' "$tmp/out"
    result $? "corners of rows: $(tail -n 1 "$tmp/out")"
fi
# Tiles that a cluster cuts along K: all of them; beside pairs; the last ones of an odd number along X, two and three to
# a cluster, beside pairs of a last wave and without one; by halves of four and eight blocks, some of them beyond X; along Y.
while read -r units instance problem; do
    KILN_EMULATOR_UNITS=$units verify kernels --instance "sm_90a/$instance" "$problem align=256" >"$tmp/out" 2>&1
    result $? "tiles cut along K by $units units: $problem" "$tmp/out"
done <<'EOF'
32 emul_two/bf16_bf16_bf16/rcr/wgmma_128x64x64_d3_c2_e1 emul_two bf16,bf16,bf16 rcr m=136 n=144 k=592 batch=2
40 emul_outputs_rows/bf16_bf16_bf16/rcr/wgmma_64x64x64_d4_c2_w1 emul_outputs_rows bf16,bf16,bf16 rcr m=104 n=328 k=592
40 emul_outputs_rows/bf16_bf16_bf16/rcc/wgmma_64x64x64_d4_c2_w1 emul_outputs_rows bf16,bf16,bf16 rcc m=520 n=72 k=592
40 emul_outputs_across/f16_f16_f32/rcr/wgmma_64x64x64_d3_c2_w1_e1_swap emul_outputs_across f16,f16,f32 rcr m=300 n=200 k=592
40 emul_outputs_across_wide/bf16_bf16_f8e4m3/rcr/wgmma_64x128x64_d4_c2_e1_swap emul_outputs_across_wide bf16,bf16,f8e4m3 rcr m=136 n=392 k=592
32 emul_swap/bf16_bf16_bf16/rcr/wgmma_48x128x64_d3_c2_e1_swap emul_swap bf16,bf16,bf16 rcr m=200 n=264 k=592
32 emul_swap/i8_i8_i8/rcc/wgmma_128x48x128_d3_c2_e1_swap emul_swap i8,i8,i8 rcc m=272 n=96 k=1168
8 emul_gemm/f16_f16_f16/rcr/wgmma_128x128x64_d3_c2 emul_gemm f16,f16,f16 rcr m=300 n=264 k=592
4 emul_gemm/f16_f16_f16/rrr/wgmma_128x128x64_d3_c2 emul_gemm f16,f16,f16 rrr m=600 n=264 k=520
2 emul_gemm/f16_f16_f16/rcr/wgmma_128x128x64_d3_c2 emul_gemm f16,f16,f16 rcr m=300 n=264 k=592
6 emul_gemm/f16_f16_f16/rcr/wgmma_128x128x64_d3_c2 emul_gemm f16,f16,f16 rcr m=100 n=1104 k=592
40 emul_shared/bf16_bf16_bf16/rcr/wgmma_64x128x64_d4_c4_w1_e1 emul_shared bf16,bf16,bf16 rcr m=400 n=200 k=592
40 emul_shared/bf16_bf16_bf16/rcr/wgmma_96x64x64_d4_c4_w1_e1_swap emul_shared bf16,bf16,bf16 rcr m=90 n=560 k=592
6 emul_shared/i8_i8_i8/rcc/wgmma_64x128x128_d4_c4_w1_e1 emul_shared i8,i8,i8 rcc m=104 n=600 k=1168
40 emul_shared/bf16_bf16_bf16/rcr/wgmma_128x64x64_d4_c8_w1_e1_swap emul_shared bf16,bf16,bf16 rcr m=100 n=560 k=592
40 emul_shared/i8_i8_i8/rcr/wgmma_128x64x128_d4_c8_w1_e1 emul_shared i8,i8,i8 rcr m=530 n=112 k=1168
32 emul_broad/bf16_bf16_bf16/rcr/wgmma_288x128x64_d3_c2_e1_swap emul_broad bf16,bf16,bf16 rcr m=300 n=264 k=592
8 emul_broad/i8_i8_i8/rcr/wgmma_128x288x128_d3_c2_e1 emul_broad i8,i8,i8 rcr m=136 n=592 k=1168
32 emul_share_x/bf16_bf16_bf16/rcr/wgmma_128x64x64_d4_c2x_e1 emul_share_x bf16,bf16,bf16 rcr m=136 n=200 k=592
4 emul_share_x/bf16_bf16_bf16/rcr/wgmma_64x128x64_d4_c2x_e1_swap emul_share_x bf16,bf16,bf16 rcr m=328 n=264 k=592
40 emul_share_x/i8_i8_i8/rcr/wgmma_64x32x128_d4_c4x_w1_e1 emul_share_x i8,i8,i8 rcr m=100 n=336 k=1168
6 emul_share_x_across/f16_f16_f32/crr/wgmma_64x64x64_d4_c2x_w1_e1 emul_share_x_across f16,f16,f32 crr m=104 n=328 k=592
40 emul_share_x_across/f16_f16_f32/crr/wgmma_64x64x64_d4_c4x_w1_e1_swap emul_share_x_across f16,f16,f32 crr m=520 n=72 k=592
EOF
# The same where values come with the tiles, and the last tile's K ends a step ahead of its half: from there on backwards.
for units in 6 32; do
    KILN_EMULATOR_UNITS=$units verify kernels 'emul_bits_widened_scaled f16,u4,f16 rcr m=60 n=504 k=1056 align=256' --schedule wgmma \
        >"$tmp/out" 2>&1
    result $? "tiles of 4-bit weights that are cut along K, $units units"
done
# No second block fits on a unit, however small a ring is.
KILN_EMULATOR_ALONE=1 verify kernels --all --quick --op emul_strips --schedule wgmma >"$tmp/out" 2>&1
result $? "one block to a unit: $(tail -n 1 "$tmp/out")" "$tmp/out"
# Few units: a block goes from one tile of attention to the next.
for op in emul_causal emul_attention emul_sequences emul_bounded; do
    KILN_EMULATOR_UNITS=2 verify kernels --all --quick --op $op --schedule wgmma >"$tmp/out" 2>&1
    result $? "tiles one after the other: $op" "$tmp/out"
done
# Copies of 8 bytes and of 4, which trials have too seldom; and tiles whose K many blocks share.
for problem in 'm=136 n=140 k=300 batch=2 align=8' 'm=138 n=142 k=302 batch=2 align=4' 'm=70 n=143 k=1001'; do
    KILN_EMULATOR_UNITS=24 verify kernels "emul_gather bf16,bf16,bf16 rcr $problem" --schedule wgmma >"$tmp/out" 2>&1
    result $? "any address: $problem" "$tmp/out"
done
# Tiles fewer than the units, which are cut into runs along K: more of them than tiles, as many as there may be; a full
# input, which the second stage reads.
for problem in 'emul_ways bf16,bf16,f32 rcr m=200 n=200 k=1100' 'emul_ways bf16,bf16,f32 rcr m=100 n=60 k=4500 batch=2' \
    'emul_place bf16,bf16,f32 rcc m=200 n=200 k=1100'; do
    KILN_EMULATOR_UNITS=33 verify kernels "$problem align=256" --schedule wgmma >"$tmp/out" 2>&1
    result $? "tiles cut into runs: $problem" "$tmp/out"
done
# Tensors that no map takes, by way of the workspace: long lines and short ones, many batches and one that all share, ends of
# lines and of matrices within words; inputs alone, outputs, too, of which some are only because their lines end within 16
# bytes.
realigned=('m=40 n=72 k=2101' 'm=40 n=72 k=2101 lda=2102 ldb=2103 lde=76' 'm=9 n=4500 k=40 align=2 lde=4501' 'm=37 n=5 k=3 batch=9'
    'm=20 n=24 k=70 batch=3 sb=broadcast lda=72 aligna=8' 'm=1 n=1 k=1' 'm=40 n=71 k=64 lde=72 align=16' 'm=3 n=3 k=8 lde=8 batch=2 align=16'
    'm=600 n=23 k=70 batch=2')
for problem in "${realigned[@]}"; do
    KILN_EMULATOR_UNITS=1 verify kernels "emul_gemm f16,f16,f16 rcr $problem" --schedule wgmma >"$tmp/out" 2>&1
    result $? "realigned: $problem" "$tmp/out"
done
# Whole rows of E where no map takes them: odd pitches and addresses, batches, less than a word.
for problem in 'bf16,bf16,f32 rcr m=70 n=131 k=40 lde=133' 'f16,f16,f16 rcr m=70 n=261 k=40 lde=263 batch=2 aligne=2' 'f16,f16,f16 rcr m=9 n=1 k=8' \
    'i8,i8,i8 rcr m=70 n=259 k=48 lde=261 aligne=1' 'i8,i8,i8 rcr m=70 n=258 k=48 lde=262 batch=3 aligne=2' 'i8,i8,i8 rcr m=3 n=2 k=16 lde=5'; do
    verify kernels "emul_whole_rows $problem" --schedule wgmma >"$tmp/out" 2>&1
    result $? "rows without a map: $problem" "$tmp/out"
done
# Groups of rows: more than lanes have at a time, more pieces of work than units, K of nothing.
for units in 1 7; do
    for problem in 'emul_groups bf16,bf16,bf16 rcr m=700 n=200 k=72 groups=300' 'emul_groups bf16,bf16,bf16 rrr m=523 n=264 k=200 groups=5' \
        'emul_groups bf16,bf16,bf16 rcr m=300 n=72 k=0 groups=3' 'emul_groups_inputs f16,f16,f16 rcr m=523 n=200 k=136 tokens=600 groups=140' \
        'emul_groups_gathered bf16,bf16,bf16 rcr m=300 n=136 k=328 tokens=40 groups=9'; do
        KILN_EMULATOR_UNITS=$units verify kernels "$problem align=256" --schedule wgmma >"$tmp/out" 2>&1
        result $? "groups of rows, $units units: $problem" "$tmp/out"
    done
done
# A device that is lost ends a run of many problems, which says where.
KILN_EMULATOR_LOST=1 LD_LIBRARY_PATH=$out/driver "$kiln" bench --modules "$out/kernels/lib" --device nvidia --seconds 0.01 --idle 0 \
    'emul_two bf16,bf16,bf16 rcr m=8 n=8 k=8' 'emul_two bf16,bf16,bf16 rcr m=16 n=8 k=8' >"$tmp/out" 2>&1
[ $? -eq 1 ] && grep -q '^kiln: the device is lost: .*716' "$tmp/out" &&
    grep -q "^0 of 2 problems were timed, then the device was lost: leave out 'emul_two .* m=8 n=8 k=8 align=256' to time" "$tmp/out"
result $? "bench stops where the device is lost" "$tmp/out"
KILN_EMULATOR_SEED=2 verify kernels --all --quick --op emul_two --schedule wgmma >"$tmp/out" 2>&1
result $? "with threads and copies in another order"

# fault OP NAME EXPRESSION [ARGUMENT...]: sed's expression makes one in wgmma's template or its parts; verify of that op of
# faults/ must find it, or with these arguments, and then in every instance.  The others' are in other schedules: mma's,
# simt_decode's, wgmma_decode's, rowwise's, attention's wgmma and its wgmma_decode with its second stage.
fault() { plant gemm wgmma "$@"; }
mma_fault() { plant gemm mma "$@"; }
few_fault() { plant gemm simt_decode "$@"; }
decode_fault() { plant gemm wgmma_decode "$@"; }
row_fault() { plant rowwise simt "$@"; }
attention_fault() { plant attention wgmma "$@"; }
keys_fault() { plant attention wgmma_decode "$@"; }
plant() { # FAMILY SCHEDULE OP NAME EXPRESSION [ARGUMENT...]
    local family=$1 schedule=$2 op=$3 name=$4
    rm -rf "$tmp/templates" "$out/fault"
    cp -r templates "$tmp/templates"
    find "$tmp/templates/$family" \( -name "$schedule*.tmpl" -o -name split.tmpl -o -name "late_*.tmpl" \) -exec sed -i -E "$5" {} +
    if diff -rq "templates/$family" "$tmp/templates/$family" >/dev/null; then
        result 1 "$name: the template has nothing to plant it in"
    elif module fault tests/emul/faults "$tmp/templates" "$op"; then
        if [ $# -gt 5 ]; then
            ! verify fault --schedule "$schedule" "${@:6}" >"$tmp/out" 2>&1 && grep -qE '^0 passed, [1-9][0-9]* failed' "$tmp/out"
        else
            ! verify fault --all --quick --schedule "$schedule" >"$tmp/out" 2>&1 && grep -q '^FAIL' "$tmp/out"
        fi
        result $? "found: $name"
    else
        result 1 "$name: the fault compiles" "$tmp/log"
    fi
}
fault emul_fault "halves of K that are never added up" 's/if \(p\.cut\) exchange\(.*/;/'
fault emul_fault "the first half of K in both blocks" 's/\(int\)\(rank \/ MATES\) \* steps/0/'
fault emul_fault "rows beyond X that are waited for" 's/(bytes = @\{maps_of\(X\)\} \* )@\{of_x\}/\1X_BYTES/'
fault emul_fault "rows beyond Y that are waited for" 's/\* @\{of_y\};/* Y_BYTES;/'
fault emul_fault "a last box that is as large as the others" 's/rest \+ p, first \+ p/first + p, first + p/'
fault emul_fault "a slot given back while its products go on" 's/(arrive_at(_if)?\(shared \+ EMPTY \+ )used \* 8/\1tiles.slot * 8/'
fault emul_fault "a block that reads its tile before it has come" 's/kiln_mbarrier_wait\(shared \+ FULL \+ tiles\.slot \* 8, tiles\.phase\);$/;/'
fault emul_fault "a strip written while the one before leaves" 's/kiln_tma_store_wait<E_DEPTH - 1>\(\)/kiln_tma_store_wait<E_DEPTH>()/'
fault emul_fault_shared "a slot filled that one of four blocks still reads" 's/GROUPS \* CLUSTER@/(GROUPS * CLUSTER - 1)@/'
fault emul_fault_shared "a share of Y that one of four blocks does not get" 's/\(1u << CLUSTER\) - 1;/(1u << CLUSTER) - 2;/'
fault emul_fault_shared "a share of Y for the blocks with the other half of K" 's/<< rank \/ MATES \* MATES/<< 0/' \
    'emul_fault_shared f16,f16,f16 rcr m=100 n=320 k=592 align=256'
fault emul_fault_shared "sums sent to a block that has another tile" 's/rank \^ MATES/rank ^ 1/' \
    'emul_fault_shared f16,f16,f16 rcr m=100 n=320 k=592 align=256'
fault emul_fault_share_x "columns beyond Y that are waited for" 's/"\(%s > 0 \? %s : 0\)"\):format\(rows, bytes\)/"%s"):format(bytes)/'
fault emul_fault_share_x "a share of X that begins where the first one does" 's/row = part .*$/row = "0"/'
fault emul_fault_broad "rows beyond 256 that are the first ones" 's/format\(unit \/\/ 2 \* 8\) or/format(0) or/'
fault emul_fault_rows "a row's pieces where another row has them" 's/\(c \+ turn\) % 8/c/'
fault emul_fault_rows "rows at odd addresses in words that are not moved" 's/\(unsigned\)head \* 8/0/'
fault emul_fault_rows "elements ahead of a row's first word that are not its own" 's/lane < in_front \? lane :/lane < in_front ? lane + 1 :/'
fault emul_fault_rows "rows written while the ones before leave" 's/kiln_tma_store_wait<0>\(\)/kiln_tma_store_wait<1>()/'
fault emul_fault_op "an operator that makes something of what is behind K" 's/if \(@\{V and "ends" or "left < TILE_K"\}\)/if (false)/'
fault emul_fault_any "a tile handed over before it has come" 's/kiln_copy_wait<LAG>\(\)/kiln_copy_wait<LAG + 1>()/'
fault emul_fault_any "what is behind a line taken from its first word" 's/byte == inner - 16 \?/byte == inner ?/'
fault emul_fault_any "lines that begin within words left there" 's/^( *)if \(!loose\) return;/\1return;/'
fault emul_fault_any "a matrix's first bytes left out" 's/i >= first_byte \&\& i </i > first_byte \&\& i </'
fault emul_fault_block "a block of K that is left out" 's/^( *)promote\(total\[q\]\[i\], sum, (.*), part\);/\1if (k != p.begin + 1) promote(total[q][i], sum, \2, part);/'
fault emul_fault_block "a slot taken for filled that was not asked for" 's/filled = kiln_mbarrier_test\(.*\);/filled = 1;/'
fault emul_fault_block "a row scaled by another's value" 's/panel \* 64 \+ row \+ r \* 8/panel * 64 + row/'
fault emul_fault_block "values handed over before they have come" 's/kiln_copy_arrive\(shared/kiln_mbarrier_arrive(shared/'
fault emul_fault_apart "sums that the other product's warpgroup has not left yet" 's/^        kiln_barrier_of\(barrier, 256\);$/;/'
fault emul_fault_apart "sums of the half that is one's own" 's/product \? sum\[0\]\[0\]\[at\] : sum\[0\]\[0\]\[TILE_Y \/ 4 \+ at\]/product ? sum[0][0][TILE_Y \/ 4 + at] : sum[0][0][at]/'
fault emul_fault_apart "one product taken for the other" 's/product \? other : own, both/product ? own : other, both/'
fault emul_fault_apart "strips of one warpgroup's half of Y for both" 's/group \/ SIDES \* \(STRIPS \/ 2\)/0 * (STRIPS \/ 2)/'
fault emul_fault_apart "one product's values for both" 's/group \/ SIDES \* \(RUNS/0 * (RUNS/'
fault emul_fault_valued "one product's values for both" 's/\(q \* RUNS \+ half/(0 * RUNS + half/'
fault emul_fault_valued "values brought where the first product's are" 's/q == 1 and "" or " \+ " \.\. PRODUCT/""/'
fault emul_fault_f8 "128 products of 4096 left out, where sums have 14 bits" 's/^( *)multiply\(sum\[q\]/\1if (k != p.begin + 7) multiply(sum[q]/' \
    'emul_fault_f8 f8e4m3,f8e4m3,f32 rcr m=128 n=128 k=4096 align=256'
few_fault emul_fault_few "sums that another lane keeps" 's/which \+= \(int\)upper \& n/which += 0/'
few_fault emul_fault_few "the last wave along K left out" 's/for \(int w = 1; w < waves; w\+\+\)/for (int w = 1; w + 1 < waves; w++)/' \
    'emul_fault_few bf16,bf16,f32 rcr m=3 n=20 k=1100'
few_fault emul_fault_few "elements behind the last chunk left out" 's/int k = begin \+ /int k = g.k + /' \
    'emul_fault_few bf16,bf16,f32 rcr m=3 n=20 k=77 lda=80 ldb=80 align=256'
fault emul_fault_groups "rows stored behind a group's last" 's/ > stop\) \{/ > stop + 64) {/'
fault emul_fault_groups "a strip written while one leaves that went before a cut one" 's/^( *)if \(thread == 0\) kiln_tma_store_commit\(\); .*/\1;/' \
    'emul_fault_groups bf16,bf16,bf16 rcr m=900 n=200 k=72 groups=3 tokens=300 align=256'
fault emul_fault_groups "numbers that are no rows of A taken for the first one's" 's/exists \? \(unsigned\)bytes : 0/(unsigned)bytes/'
fault emul_fault_groups "rows of A handed over before they have come" 's/kiln_copy_wait<LAG>\(\);/;/' \
    'emul_fault_groups bf16,bf16,bf16 rcr m=300 n=72 k=592 groups=3 tokens=300 align=256'
fault emul_fault_groups "rows of A that are not waited for" 's/\(brought or gathered\) and 3/brought and 3/'
fault emul_fault_groups "rows of A of the tile before" 's/\(unsigned\)\(\(const int \*\)g\.d\[(.*)\]\)\[at\]/(unsigned)((const int *)g.d[\1])[at % 64]/'
fault emul_fault_groups "groups behind those that lanes have first" 's/at \+= 32 \* EACH;/at = g.batch;/' \
    'emul_fault_groups bf16,bf16,bf16 rcr m=600 n=72 k=72 groups=300 tokens=300 align=256'
fault emul_fault_groups "a lane's second group left out" 's/left -= own, group\+\+/left -= own, group += 2/'
fault emul_fault_groups "pieces of work given anew before all have read them" 's/n \/ PIECES % 2 \^ 1/n \/ PIECES % 2/' \
    'emul_fault_groups bf16,bf16,bf16 rcr m=900 n=200 k=72 groups=3 tokens=300 align=256'
fault emul_fault_groups_blocks "what scales a token's blocks taken from the row of E" 's/ >= \(unsigned\)g\.tokens\) line = -1;/ >= (unsigned)g.tokens || line >= 0) line = row;/'
fault emul_fault_groups_blocks "blocks of numbers that are no tokens" 's/ >= \(unsigned\)g\.tokens\) line = -1;/ >= (unsigned)g.tokens) line = 0;/'
fault emul_fault_groups_half "the first group's scales for all" 's/named\("v", q\)\}\(g, p\.batch,/named("v", q)}(g, 0,/'
fault emul_fault_outputs "columns behind E's last in its last block" 's/if \(y0 \+ in_tile < g\.n\) of = /of = /'
fault emul_fault_outputs "a block of a lane's own columns" 's/of = kiln_over_lanes<.*/;/'
fault emul_fault_late "columns of Y that are another row's" 's/kiln_over_lanes<(.*), 8, 4>\(columns/kiln_over_lanes<\1, 4, 4>(columns/'
fault emul_fault_late "a row's sum that lacks two lanes" 's/kiln_over_lanes<(.*), 4>\(rows/kiln_over_lanes<\1, 2>(rows/'
fault emul_fault_late "halves of a tile that both blocks take for theirs" 's/return \("if \(p\.cut \&\& /return ("if (p.cut \&\& false \&\& /' \
    'emul_fault_late bf16,bf16,bf16 rcr m=64 n=128 k=2048 align=256'
fault emul_fault_late "parts of a row behind the first ones left out" 's/part \+= \(unsigned\)\(LATE_THREADS/part += 1000 * (unsigned)(LATE_THREADS/' \
    'emul_fault_late bf16,bf16,bf16 rcr m=600 n=8192 k=64 align=256'
fault emul_fault_late "rows behind E's last in a column" 's/if \(inside\) columns/columns/'
fault emul_fault_across "blocks read before all warps have written" 's/kiln_barrier_of\(@\{together\}\);/;/'
fault emul_fault_across "a block of one warp's columns" 's/w < @\{warps\}; w\+\+\)$/w < 1; w++)/'
decode_fault emul_fault_few_outputs "a cluster's blocks that begin within a row" 's/\(rows \+ \(int\)blocks - 1\) \/ blocks\) \* row_chunks;/(rows * row_chunks + (int)blocks - 1) \/ blocks);/'
fault emul_fault_groups_rows "rows of eight stored behind a group's last" 's/ \|\| x \+ 8 > stop//'
fault emul_fault_groups_rows "a cluster's second tile where the first one is" 's/rank \* @\{of_row\}/0/'
mma_fault emul_fault_mma "words that begin within words taken from their first byte" 's/return loose \?/return false ?/'
mma_fault emul_fault_mma "what is behind a line left out" 's/left <= 0 \|\| mine >= exist \?/true ?/'
mma_fault emul_fault_mma "a matrix's first bytes left out" 's/b >= ahead \&\& b < bytes/b > ahead \&\& b < bytes/'
mma_fault emul_fault_mma "a tile multiplied before it has come" 's/kiln_copy_wait<DEPTH - 2>\(\)/kiln_copy_wait<DEPTH - 1>()/'
mma_fault emul_fault_mma "the ends of a row of E taken for neighbours" 's/at >= 0 \&\& at \+ 4 <= length/at + 4 <= length/'
mma_fault emul_fault_words "what is behind K taken for a part of it" 's/of_k \? exists : inside\)/true)/'
mma_fault emul_fault_words "what is behind K taken for a part of it, within a word" 's/rest > 0 \? kiln_least\(rest, WORD\) : 0/rest > 0 ? WORD : 0/' \
    'emul_fault_words bf16,bf16,f32 rcr m=20 n=20 k=77 lda=80 ldb=80 align=256' \
    --instance sm_90a/emul_fault_words/bf16_bf16_f32/rcr/mma_64x64x64_w2x2_d3_b2_a4_s2
mma_fault emul_fault_words "half of A's rows read twice" 's/x.name == "a" and low or high/x.name == "b" and low or high/'
mma_fault emul_fault_lines "what is behind K taken for a part of it" 's/ \& ~bytes_from\(rest - i \* 4\)//'
mma_fault emul_fault_lines "what is ahead of K taken for a part of it" 's/bytes_from\(ahead - i \* 4\) \& //'
mma_fault emul_fault_lines "a matrix's first elements left out" 's/return k >= 0 \&\& k </return k > 0 \&\& k </'
mma_fault emul_fault_lines "a matrix's last word taken for its first" 's/\(own \+ 16\)/(own)/'
mma_fault emul_fault_lines "A where lines of B begin at words" 's/\(WORD - ahead \/ /(WORD - 0 * ahead \/ /'
mma_fault emul_fault_lines "a tile of A written where another is read" 's/next = memory \+ \(i \+ 1\) %/next = memory + i %/'
mma_fault emul_fault_lines "lines of the step before" 's/step \+ DEPTH - STEPS\)/step + DEPTH - STEPS - 1)/'
mma_fault emul_fault_mma "sums of another block's part of K" 's/add\(r\);/add(rank);/'
decode_fault emul_fault_decode "B's panels where others would be" 's/B\.along_k and "PANEL" or "BOX_BYTES"/"PANEL"/'
decode_fault emul_fault_decode "K of B that goes on within a row of 128 bytes" 's/\(slab \* 4 \+ step\) \* \(16 \* 128\)/(slab * 4 + step) * 32/'
decode_fault emul_fault_decode "boxes of B that arrive at one place" 's/ \+ box \/ BOX \* BOX_BYTES//'
decode_fault emul_fault_decode "a last box that is as large as the others" 's/whole \? 0 : @\{maps \+ products\}/0/'
decode_fault emul_fault_decode "rows beyond A that are waited for" 's/whole \? TILE_M : g\.m - w\.m0/TILE_M/'
decode_fault emul_fault_decode_turned "boxes of A that arrive at one place" 's/AT_A \+ m \/ 64 \* A_BOX/AT_A/'
decode_fault emul_fault_decode_turned "A across K taken for along it" 's/format\(not turned_x, not turned_y\)/format(not turned_x, true)/'
decode_fault emul_fault_decode_block "a block scaled by another slot's values" 's/values \+ slot \* \(VALUES/values + 0 * (VALUES/'
decode_fault emul_fault_decode_bits "weights of 4 bits scaled by another run's values" 's/\(valued and "slab \* 2 \+ half" or "half"\)/"0"/'
decode_fault emul_fault_decode_bits "a box read before it has come" 's/kiln_mbarrier_wait\(full \+ slot \* 8, phase\);/;/'
decode_fault emul_fault_decode_bits "sums of one slab of K only" 's/r % SLABS \*/0 */'
decode_fault emul_fault_decode_bits "values of another four of a column" 's/half \^ column \/ 4 % 2/half/'
decode_fault emul_fault_decode_bits "weights of 4 bits scaled by the tile's before" 's/^( *)if \(left > 1\) ahead\.load.*/\1;/'
decode_fault emul_fault_decode_bits "rows multiplied before they are in order" 's/kiln_mbarrier_wait\(shared \+ ORDERED \+ slot_a \* 8, phase_a\);/;/'
decode_fault emul_fault_decode_bits "eight values used before they have come" 's/kiln_copy_wait<0>\(\);/;/'
decode_fault emul_fault_decode_two "strips of the second product taken for the first's" 's/"own\.product<panels>\(panel\)"/"0"/'
decode_fault emul_fault_decode_two "a strip that is alone taken for the first product's" 's/: strip % PRODUCTS/: 0/'
decode_fault emul_fault_decode_two "boxes of the first product alone" 's/1 \+ s\.product<strips>\(strip\)/1/'
decode_fault emul_fault_decode_two "eight values of the first product alone" 's/w\.batch, n, own\.product<panels>\(q \* EACH\)/w.batch, n, 0/'
decode_fault emul_fault_decode_two "one product scaled by the other's values" 's/\(products > 1 and ", p" or ""\)$/(products > 1 and ", 0" or "")/'
decode_fault emul_fault_decode_w4a8 "sums that stay 16 times what they are" 's/sum\[p\]\[panel\]\[i\] >>= 4;/;/'
decode_fault emul_fault_decode_w4a8 "A's 16-bit steps where it is bytes" 's/\(128 \/\/ types\.a\.bytes\)/64/'
decode_fault emul_fault_decode_bytes "bytes scaled by another slab's values" 's/"slab \* 2 \+ half"/"half"/'
attention_fault emul_fault_attention "values read before they have come" 's/kiln_mbarrier_wait\(shared \+ FULL \+ v_slot \* 8, v_phase\);/;/'
attention_fault emul_fault_attention "a block given back while its products go on" 's/EMPTY \+ v_slot \* 8/EMPTY + k_slot * 8/'
attention_fault emul_fault_attention "scores read while they are made" 's/kiln_wgmma_wait<1>\(\)/kiln_wgmma_wait<2>()/'
attention_fault emul_fault_attention "sums that stay as large as they were" 's/^            shrink_sums\(o, shrink\);/            ;/'
KILN_EMULATOR_UNITS=2 attention_fault emul_fault_attention "a tile whose queries are those of the one before" 's/q \+ n % 2 \* Q_BYTES/q/'
attention_fault emul_fault_attention "scores that have grown unseen" 's/ \|\| most\[0\] > limit \|\| most\[1\] > limit//'
attention_fault emul_fault_low "scores below 0 whose bits are in no order" 's/limit < 0 \|\| //'
attention_fault emul_fault_ragged "a row whose slope is that of the row 8 ahead" 's/\(float\)\(r \* 8\)/0.0f/'
attention_fault emul_fault_negative "a largest score of products with a negative factor" 's/if \(!\(x\.factor < 0\)\) return;/return;/'
attention_fault emul_fault_capped "a tanh that is off by 2^-16" 's/h\[0\] = b \* of_ab/h[0] = b * of_ab * 1.00002f/'
attention_fault emul_fault_capped "a reciprocal of others" 's/kiln_fma\(c, of_cd, of_cd\)/kiln_fma(c, of_ab, of_ab)/'
attention_fault emul_fault_capped "powers whose product is infinity" 's/x\.rate, 30\.0f/x.rate, 100.0f/'
attention_fault emul_fault_capped "unseen keys that share a reciprocal" 's/score = text \.\. .*/score = score/'
attention_fault emul_fault_capped "a score that falls where h grows" 's/x->factor < 0 \? rate/x->factor < 0 ? -rate/'
attention_fault emul_fault_bounded "a bounded weight that is off by 2^-16" 's/kiln_fma\(b, of_ab, ab_from\)/kiln_fma(b, of_ab * 1.00002f, ab_from)/'
attention_fault emul_fault_bounded "bounded powers whose product is infinity" 's/x->rate, 24\.0f/x->rate, 100.0f/'
attention_fault emul_fault_bounded "bounded weights of unseen keys" 's/if \(sees_all\(g, w, block, group\)\) \{/if (true) {/'
attention_fault emul_fault_bounded "a logarithm of weights that are further down" 's/x->shift - x->offset/x->shift/'
attention_fault emul_fault_ragged "values of the next sequence that stay" 's/if \(count >= KEYS\) return;/return;/'
attention_fault emul_fault_ragged "keys of the first sequence for each" 's/w\.s\.k_first \+ //'
attention_fault emul_fault_ragged "sequences that only those of their warp are behind" 's/^( *)before = of_warp\[i\] .*/\1;/' \
    'emul_fault_ragged f16,f16,f16,f32 heads=2 kv_heads=1 q=400 kv=500 batch=300 align=16'
keys_fault emul_fault_pages "values behind the last key that stay" 's/if \(count >= KEYS\) return;/return;/'
keys_fault emul_fault_pages "keys of a page that is none" 's/^        mask_pieces\(there, s\);/        ;/'
keys_fault emul_fault_pages "pages of the block before" 's/const int page = kiln_of_lane\(now, at/const int page = kiln_of_lane(now, (at ? at - PIECES : 0)/'
keys_fault emul_fault_pages "pages of the 32 pieces before" 's/now = known_page\(&g, ahead\), at = 0/at = 0/'
keys_fault emul_fault_pages "pages read early for another sequence" 's/early\.batch == t\.batch \&\& early\.begin == begin/true/'
keys_fault emul_fault_pages "a sequence that is not the likely one" 's/^( *)if \(!likely\) t->batch = .*/\1;/'
keys_fault emul_fault_pages "another panel's elements" 's/map, 0, row, 0, head, matrix/map, 0, row, 1, head, matrix/'
keys_fault emul_fault_pages "values behind the last key cleared where panels lie apart" 's/key % PIECE \* 128 \+ piece/key * 128 + piece/'
keys_fault emul_fault_pages "parts of a row that other threads have left out" 's/for \(int i = 1; i < SHARES; i\+\+\) \{/for (int i = 2; i < SHARES; i++) {/'
keys_fault emul_fault_pages "a part's sums left in another's place" 's/partial\(g, tile, parts, w\.part, row/partial(g, tile, parts, 0, row/'
keys_fault emul_fault_latent "P that the other warpgroup does not wait for" 's/kiln_barrier_of\(P_THERE \+ 1 - team, TEAM\);/;/'
keys_fault emul_fault_latent "largest scores that the other warpgroup does not follow" 's/x->top\[r\] = top;/;/'
keys_fault emul_fault_latent "scores of the second warpgroup read while they are made" 's/kiln_wgmma_wait<1>\(\)/kiln_wgmma_wait<2>()/'
keys_fault emul_fault_latent "a block that goes on when the other one has ended" 's/lane, whether \&\& lane < CLUSTER/0, whether \&\& lane == 0/'
keys_fault emul_fault_fp8 "a largest score that two warps do not tell" 's/kiln_max_fast\(told\[row\], told\[ROWS \+ row\]\)/most[n]/'
keys_fault emul_fault_fp8 "sums that stay as large as they were" 's/x->sum\[n\] \*= shrink/;/'
keys_fault emul_fault_fp8 "values behind the last key that stay" 's/if \(count >= KEYS\) return;/return;/'
keys_fault emul_fault_fp8 "keys of a page that is none" 's/^        mask_pieces\(there, key, s\);/        ;/'
row_fault emul_row_fault "warps that read what others have not written yet" 's/^        kiln_barrier\(\);$/;/'
row_fault emul_row_fault "columns behind the row's end in its sum" 's/j \* APART < valid \? %s::two/true ? %s::two/'
row_fault emul_row_fault "a block that reads what others of its cluster have not sent yet" 's/kiln_mbarrier_wait_cluster\(.*/;/'
row_fault emul_sum_fault "a compensated sum without what it lost" 's/x = "kiln_total\(" \.\. x \.\. "\)"/x = x .. ".sum"/'
row_fault emul_sum_fault "what sums lost that stays in its wave" 's/"\.lost" \}\)\[i\]/".lost * 0" })[i]/'
row_fault emul_flat_fault "rows of a wider matrix taken for one row" 's/^    flat \&= .*/;/' \
    'emul_flat_fault bf16 rows=5 cols=333 ldup=340'
row_fault emul_row_fault "a block's columns that its neighbour has, too" 's/begin \+ span < cols \? begin \+ span : cols/cols/'
# In the copies: their header is compiled from a folder of its own.
realign_fault() { # NAME EXPRESSION PROBLEM
    rm -rf "$tmp/device" "$out/fault"
    cp -r templates/device "$tmp/device"
    sed -i -E "$2" "$tmp/device/kiln_realign_kernel.h"
    if cmp -s templates/device/kiln_realign_kernel.h "$tmp/device/kiln_realign_kernel.h"; then
        result 1 "$1: the header has nothing to plant it in"
    elif module fault tests/emul/faults templates emul_fault_realign "DEVICE=-Iabi -I$tmp/device"; then
        ! KILN_EMULATOR_UNITS=1 verify fault "emul_fault_realign bf16,bf16,bf16 rcr $3" --schedule wgmma >"$tmp/out" 2>&1 && grep -qE '^0 passed, [1-9][0-9]* failed' "$tmp/out"
        result $? "found: $1"
    else
        result 1 "$1: the fault compiles" "$tmp/log"
    fi
}
realign_fault "pieces shifted by whole words alone" 's/ >> 8 \* \(at \& 3\)/ >> 0/' 'm=40 n=24 k=71'
realign_fault "the ends of lines left out" 's/kiln_realign_store\(line.*/;/' 'm=40 n=23 k=64'
realign_fault "ends of lines that take more than is theirs" 's/bytes - ahead < 16 \? \(int\)\(bytes - ahead\) : 16/16/' 'm=40 n=23 k=64'
realign_fault "a long line's runs taken from its first" 's/run \* p\.columns \+ column/column/' 'm=40 n=72 k=2101'
realign_fault "batches that are the first" 's/batch \* p\.from_stride/0/' 'm=37 n=5 k=3 batch=9'
realign_fault "a piece taken for the next one" 's/high\[u\] = piece\[1\]/high[u] = piece[0]/' 'm=40 n=24 k=71'
realign_fault "a part that no block begins" 's/block < p\.first \? .* : block - p\.first/block + p.first/' 'm=20 n=24 k=71'
realign_fault "lines behind a matrix's last" 's/left > \(long long\)p\.rows \* \(args\.chunks - 1\)/true/' 'm=198 n=23 k=64'
rm -rf "$out/fault"
finish
