#!/bin/bash
# SPDX-License-Identifier: MIT
# Host kernels on every instruction set this machine has, with few threads and with more than it has cores: the corners of
# the language in full; the default instances quickly, where there are vectors.  TAP.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

make BUILD="$BUILD" instances TARGETS=host INSTANCES=tests/host/corners >"$tmp/out" 2>&1; result $? 'corners compile'
export KILN_MODULE_PATH=$BUILD/modules/corners
ops=$(sed -n 's/^gemm "\(.*\)".*/\1/p' tests/host/corners/*.lua)
# Enough work for every thread: slabs shared, rows divided, whole batches to each thread, single rows, several blocks of k.
threaded=(
    "corner_blocks f32,f32,f32 rcr m=300 n=200 k=1000"
    "corner_blocks f32,f32,f32 rrr m=1100 n=40 k=300 batch=2"
    "corner_blocks i8,i8,i32 rrr m=65 n=130 k=700 batch=7 lda=710"
    "corner_blocks i8,i8,i32 rcr m=1 n=3001 k=901 batch=6"
    "corner_blocks f32,f32,f32 rrr m=1 n=3001 k=901"
    "corner_inputs bf16,i8,f16 rrc m=200 n=310 k=600 batch=6"
    "corner_inputs bf16,i8,f16 ccr m=310 n=290 k=700 batch=3"
    "corner_pair i8,i8,i8 rrc m=260 n=500 k=2100"
    "corner_blocks f32,f32,f32 rrr m=1500 n=70 k=9000"
    "corner_inputs bf16,i8,f16 rrc m=300 n=2500 k=5100"
    "corner_scaled i8,i8,f32 rrc m=300 n=170 k=900 batch=3"
    "corner_scaled_long f32,f32,f32 rcr m=210 n=330 k=2345"
    "corner_scaled_single i8,i8,f32 rcr m=33 n=40 k=77 batch=6"
    "corner_scaled_pair bf16,i8,bf16 rcc m=150 n=290 k=1000"
    "corner_unsigned u8,i8,u8 rcr m=260 n=330 k=2345"
    "corner_unsigned u8,u8,f32 crc m=210 n=300 k=1201 batch=3"
    "softmax f32 rows=700 cols=5000"
    "causal_softmax bf16 rows=5 cols=20000"
    "add_rmsnorm_quant bf16,f8e4m3 rows=300 cols=4100 batch=2"
    "silu_mul bf16 rows=3 cols=200001"
    "gelu_bias f16 rows=2000 cols=130"
    "quantise_block bf16,f8e4m3 rows=257 cols=8000 ldx=8005"
)
# Few rows, which pack nothing: as many as are one, two, four or eight at a time and an odd one; two products with either
# layout of E; element operations; columns and lengths that are no multiple of anything; more than one block of k; few keys
# that are seen.
few=(
    "corner_blocks f32,f32,f32 rcr m=3 n=1501 k=1901"
    "corner_blocks f32,f32,f32 rrr m=15 n=1001 k=333 lda=340 ldb=1003"
    "corner_blocks i8,i8,i32 rrr m=13 n=2001 k=701 batch=3 lda=710 align=1"
    "corner_blocks i8,i8,i32 rcr m=16 n=331 k=3907 align=1"
    "corner_blocks f32,f32,f32 rcr m=2 n=1 k=3 batch=5"
    "corner_inputs bf16,i8,f16 rrc m=701 n=5 k=1103"
    "corner_inputs f32,f8e5m2fnuz,i8 ccr m=9 n=331 k=1003"
    "corner_inputs i8,i8,f8e4m3fnuz rrc m=77 n=12 k=515 batch=4"
    "corner_element_ops i8,i8,i32 rcr m=7 n=129 k=2003"
    "corner_element_ops f16,f8e4m3,f32 rcr m=11 n=203 k=1003"
    "corner_element_ops f8e4m3fnuz,f8e5m2,bf16 crc m=301 n=6 k=1003"
    "corner_pair i8,i8,i8 rrc m=700 n=7 k=2100"
    "corner_pair bf16,f16,f8e5m2 crr m=10 n=613 k=709"
    "corner_unsigned u8,i8,u8 rcr m=7 n=129 k=2003"
    "corner_unsigned u8,i8,u8 crc m=77 n=12 k=515 batch=4"
    "corner_unsigned u8,u8,f32 rcr m=3 n=5 k=150001" # sums wrap
    "corner_sums i8,i8,f32 crr m=14 n=515 k=1203 acc=f32"
    "corner_hidden f32,f32,f32,f32 heads=2 kv_heads=1 q=5 kv=300"
)
for isa in avx512 avx2 plain; do
    export KILN_HOST_ISA=$isa
    for threads in 2 5; do
        "$kiln" verify --device host --threads $threads "${threaded[@]}" "${few[@]}" >"$tmp/out" 2>&1; result $? "$isa: $threads threads"
    done
    for op in $ops; do
        "$kiln" verify --all --device host --op "$op" >"$tmp/out" 2>&1; result $? "$isa: $op"
    done
    [ $isa = avx2 ] || continue # the run of all tests has avx512; plain code is the same for all types
    "$kiln" verify --all --device host --quick >"$tmp/out" 2>&1; result $? "$isa: all instances"
done

# A cost is of the machine that asks, with the instructions that its kernels use.
if grep -q avx2 /proc/cpuinfo && grep -q '^cpu MHz' /proc/cpuinfo; then
    cost() { KILN_HOST_ISA=$1 "$kiln" explain --device host "corner_blocks f32,f32,f32 rcr m=1024 n=1024 k=1024" | sed -n 's/.*cost \([0-9]*\).*/\1/p' | head -n 1; }
    wide=$(cost avx2) narrow=$(cost plain)
    [ "${wide:-0}" -gt 0 ] && [ "${narrow:-0}" -gt $((2 * wide)) ]; result $? "avx2: $wide us, plain: $narrow us"
fi
finish
