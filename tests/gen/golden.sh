#!/bin/bash
# SPDX-License-Identifier: MIT
# Sources of a handful of instances, kept as they should be: tests/gen/golden.  A change of a template shows up here as
# a diff to look at; `tests/gen/golden.sh --update` takes the new text.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh disable=SC2016,SC2015
. "$(dirname "$0")/../lib/tap.sh"
golden=$root/tests/gen/golden

# target op types-layout-schedule_tile, or without a tile: the schedule's first; or schedule.number: what compiles together
list="
host   gemm              f32_f32_f32-rrr-host
host   bias_relu         bf16_bf16_bf16-rcr-host
host   linear_relu_abde_i8 i8_i8_i8-rcr-host
host   requantise        u8_i8_u8-rcr-host
host   swiglu            f16_f16_f16-rcr-host
host   gemm_a8w8_blockscale f8e4m3_f8e4m3_bf16-rcr-host
gfx942 gemm              f16_f16_f16-rrr-simt
gfx942 bias_relu         bf16_bf16_bf16-rcr-simt
gfx942 linear_relu_abde_i8 i8_i8_i8-rcr-simt
gfx942 swiglu            f16_f16_f16-rcr-simt
gfx942 a16w8_linear      bf16_i8_bf16-rcr-simt
gfx942 gemm_a8w8_blockscale f8e4m3fnuz_f8e4m3fnuz_bf16-crr-simt
gfx942 bias_relu         f16_f16_f16-rcr-mfma_128x128x32_w2x2_stream8
gfx942 gemm              i8_i8_i32-crr-mfma_64x128x64_w2x2_a4_stream16
gfx942 swiglu            bf16_bf16_bf16-rrr-mfma_32x16x128_w2x1x2_i16_a4_stream16
gfx942 a16w8_linear      bf16_i8_bf16-rcr-mfma_16x16x256_w1x1x4_i16_a4
gfx942 gemm_a8w8_blockscale f8e4m3fnuz_f8e4m3fnuz_bf16-rcr-mfma_128x128x64_w2x2_stream8
gfx942 linear_residual_ssq bf16_bf16_bf16-rcr-mfma_128x128x32_w2x2_stream8
sm_90a bias_relu         bf16_bf16_bf16-rcr-wgmma_128x128x64_d6_c2
sm_90a swiglu            f16_f16_f16-rrr-wgmma_128x128x64_d4_c2
sm_90a add_add           bf16_bf16_bf16-rcr-wgmma_320x128x64_d3_c2_swap
sm_90a a16w8_linear      bf16_i8_bf16-rcr-wgmma_128x128x64_d8_c2
sm_90a linear_relu_abde_i8 i8_i8_i8-rcr-wgmma_decode_64x96x128_w2_f0_a1
sm_90a bias_relu bf16_bf16_bf16-rrr-wgmma_decode_64x64x64_f0_a1
sm_90a bias_relu bf16_bf16_bf16-rrr-wgmma_192x64x64_d6_c4_w1_swap
sm_90a gemm bf16_bf16_bf16-rcr-wgmma_128x128x64_d5_c1_e1_stream_any
sm_90a gemm              bf16_bf16_bf16-rcr-wgmma_128x256x64_d4_c1_e0
sm_90a add_fastgelu      f16_f16_f16-rcr-wgmma_192x96x64_d5_c2x_w3
sm_90a bias_relu bf16_bf16_bf16-rcr-mma_32x32x128_w1x1x4_p2_d4_b3
sm_90a bias_relu bf16_bf16_bf16-rrr-mma_64x64x64_w2x2_d3_b2_a4
sm_90a bias_relu bf16_bf16_bf16-rcr-mma_16x128x128_w1x8_p2_d2_b3_lines
sm_90a multiply_multiply f8e4m3_f8e4m3_bf16-rcr-wgmma_decode_64x64x128_f0_a1_g2
sm_90a multiply_multiply f8e4m3_f8e4m3_bf16-rcr-wgmma_192x128x128_d5_c2_swap
sm_90a bias_relu bf16_bf16_bf16-rcr-simt_decode_4x4_t256
sm_90a swiglu bf16_bf16_bf16-rrr-simt_decode
gfx942 swiglu            mfma.1
sm_90a alibi_attention   wgmma.1
"
(cd "$root" && "$gen" --templates templates --out "$tmp/out" --target host --target gfx942 --target sm_90a instances) || exit 1
[ "${1-}" != --update ] || rm -rf "$golden"
while read -r target op what; do
    [ -n "$target" ] || continue
    for file in "$tmp/out/$target/$op/$what".* "$tmp/out/$target/$op/$what"_[0-9]*; do [ ! -e "$file" ] || break; done
    kept=$golden/$target-$op-$what.txt
    if [ "${1-}" = --update ]; then
        mkdir -p "$golden" && cp "$file" "$kept" || exit 1
    fi
    check "$target $op $what" diff -u "$kept" "$file"
done <<<"$list"
check "nothing else is kept" test "$(find "$golden" -type f | wc -l)" -eq "$n"
finish
