#!/bin/sh
# SPDX-License-Identifier: MIT
# check.sh BUILD [MODULES]: verifies every instance of tests/gpu but gemm's portable ones on this machine's NVIDIA GPU, and that its
# kernels, which begin early, wait for what they read.  MODULES: the folder that holds its module; left out, build.sh makes it,
# or what an earlier one made is taken where nothing compiles it.  Exit 77 where there is no GPU or no module.
set -u
build=${1:?usage: check.sh BUILD [MODULES]}
modules=${2:-$build/gpu/lib}
if [ $# -lt 2 ] && grep -q '^KILN_TARGETS_AVAILABLE.* sm_90a' "$build/toolchain.mk" 2>/dev/null; then
    "$(dirname -- "$0")/build.sh" "$build" || exit 1
fi
if ! [ -e "$modules/libkiln-sm_90a.so" ]; then
    echo "nothing here compiles sm_90a" >&2
    exit 77
fi
for schedule in tma wgmma wgmma_decode mma; do
    "$build/bin/kiln" verify --modules "$modules" --all --schedule $schedule --device nvidia || exit $?
done
# shellcheck disable=SC2046
"$build/bin/kiln" verify --modules "$modules" --all $(sed -n 's/^rowwise "\(.*\)".*/--op=\1/p' "$(dirname -- "$0")/instances/rowwise.lua") \
    --device nvidia || exit $?
# Tensors by way of the workspace: lines that a warp copies 2 KiB at a time, and lines that end within 16 bytes.
"$build/bin/kiln" verify --modules "$modules" --device nvidia --schedule wgmma 'wgmma_gemm bf16,bf16,bf16 rcr m=520 n=2501 k=2101' \
    'wgmma_gemm f16,f16,f16 ccr m=2101 n=530 k=72' 'wgmma_bytes i8,i8,i8 rcr m=584 n=360 k=1304 lde=368 align=16' \
    'wgmma_bytes i8,i8,i8 rcr m=300 n=300 k=4107' || exit $?
# Tensors of more than 2^32 elements and bytes, by their strides.
apart() { # PROBLEM STRIDES
    KILN_DEVICE=nvidia KILN_MODULE_PATH="$modules" "$build/tests/far_apart" "$1 align=256" "$1 $2 align=256" && return
    [ $? -eq 77 ] && echo "$1 $2: more memory than there is"
}
far=67108864
for op in 'wgmma_gemm bf16,bf16,bf16' 'mma_gemm bf16,bf16,bf16' 'wgmma_bytes i8,i8,i8'; do
    apart "$op rcr m=70 n=72 k=144" "lda=$far ldb=$far lde=$far" || exit 1
    apart "$op rcr m=70 n=72 k=144 batch=3" 'sa=4294967296 sb=4294967296 se=4294967296' || exit 1
done
bf=bf16,bf16,bf16,bf16
for problem in "att_causal $bf heads=4 kv_heads=2 q=70" "att_few $bf heads=4 kv_heads=2 q=2 dim=128 dimv=128"; do
    apart "$problem kv=200 batch=3" 'sq=4294967296 sk=4294967296 sv=4294967296 so=4294967296' || exit 1
done
apart "att_few_paged32 $bf heads=4 kv_heads=2 q=2 kv=300 batch=2 pages=70 dim=128 dimv=128" "sk=$far sv=$far" || exit 1
# Values in keys' memory, in one piece, and in pages of which the rest is NaN.
for problem in "att_few_latent $bf heads=128 kv_heads=1 q=1 kv=3000 batch=5 dim=576 ldv=576" "att_few_latent $bf heads=70 kv_heads=1 q=3 kv=515 batch=2 dim=512" \
    "att_few_latent_paged16 $bf heads=20 kv_heads=1 q=3 kv=300 batch=3 pages=70 sk=9216 sv=9216 ldv=576" \
    "att_few_latent_paged64 $bf heads=130 kv_heads=1 q=7 kv=1300 batch=3 pages=90 sk=36864 sv=36864 ldv=576"; do
    KILN_DEVICE=nvidia KILN_MODULE_PATH="$modules" "$build/tests/one_memory" "$problem align=256" wgmma_decode || exit 1
done
KILN_DEVICE=nvidia KILN_MODULE_PATH="$modules" exec "$build/tests/launch_chain" 'tma_gemm f16,f16,f16 rcr m=512 n=512 k=512 align=256' tma
