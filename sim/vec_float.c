// SPDX-License-Identifier: MIT
// Floating point arithmetic: add, multiply, fused and not, minimum to median, whole numbers and
// exponents, in f16, f32 and f64, packed and mixed.  Rounding follows the host's direction, which
// is MODE's; vec_lanes.c takes denormals away where MODE says so.  The sign and payload of a NaN
// made here are the host's: the ISA does not say them.
#include "vec_numeric.h"

#define K   KS_F_LITERAL_K
#define OLD KS_F_DST_IN
/* gfx9's own 16-bit instructions keep the upper half, those it has from gfx8 make it zero. */
#define KEEP KS_F_D16

#define ARITHMETIC_OPS(X1, X2, X3)                                                                 \
    X2(v_add_f32, VALU, 0, F32, F32, F32, a + b)                                                   \
    X2(v_sub_f32, VALU, 0, F32, F32, F32, a - b)                                                   \
    X2(v_subrev_f32, VALU, 0, F32, F32, F32, b - a)                                                \
    X2(v_mul_f32, VALU, 0, F32, F32, F32, a * b)                                                   \
    X2(v_mul_legacy_f32, VALU, 0, F32, F32, F32, a == 0 || b == 0 ? 0 : a * b)                     \
    X3(v_fma_f32, VALU, 0, F32, F32, F32, F32, fmaf(a, b, c))                                      \
    X3(v_fmac_f32, VALU, OLD, F32, F32, F32, F32, fmaf(a, b, c))                                   \
    X3(v_fmaak_f32, VALU, K, F32, F32, F32, F32, fmaf(a, b, c))                                    \
    X3(v_fmamk_f32, VALU, K, F32, F32, F32, F32, fmaf(a, b, c))                                    \
    X3(v_mad_f32, VALU, 0, F32, F32, F32, F32, ks_mad_32(a, b, c))                                 \
    X3(v_mac_f32, VALU, OLD, F32, F32, F32, F32, ks_mad_32(a, b, c))                               \
    X3(v_madak_f32, VALU, K, F32, F32, F32, F32, ks_mad_32(a, b, c))                               \
    X3(v_madmk_f32, VALU, K, F32, F32, F32, F32, ks_mad_32(a, b, c))                               \
    X3(v_mad_legacy_f32, VALU, 0, F32, F32, F32, F32,                                              \
       a == 0 || b == 0 ? ks_flush_32(c) + 0.0f : ks_mad_32(a, b, c))                              \
    X2(v_add_f16, VALU, 0, F16, F16, F16, a + b)                                                   \
    X2(v_sub_f16, VALU, 0, F16, F16, F16, a - b)                                                   \
    X2(v_subrev_f16, VALU, 0, F16, F16, F16, b - a)                                                \
    X2(v_mul_f16, VALU, 0, F16, F16, F16, a * b)                                                   \
    X3(v_fma_f16, VALU, KEEP, F16, F16, F16, F16, ks_fma_16(a, b, c))                              \
    X3(v_fma_legacy_f16, VALU, 0, F16, F16, F16, F16, ks_fma_16(a, b, c))                          \
    X3(v_mad_f16, VALU, KEEP, F16, F16, F16, F16, ks_mad_16(a, b, c))                              \
    X3(v_mad_legacy_f16, VALU, 0, F16, F16, F16, F16, ks_mad_16(a, b, c))                          \
    X3(v_mac_f16, VALU, OLD | KEEP, F16, F16, F16, F16, ks_mad_16(a, b, c))                        \
    X3(v_madak_f16, VALU, K | KEEP, F16, F16, F16, F16, ks_mad_16(a, b, c))                        \
    X3(v_madmk_f16, VALU, K | KEEP, F16, F16, F16, F16, ks_mad_16(a, b, c))                        \
    X2(v_add_f64, F64, 0, F64, F64, F64, a + b)                                                    \
    X2(v_mul_f64, F64, 0, F64, F64, F64, a * b)                                                    \
    X3(v_fma_f64, F64, 0, F64, F64, F64, F64, fma(a, b, c))                                        \
    X3(v_fmac_f64, F64, OLD, F64, F64, F64, F64, fma(a, b, c))                                     \
    X2(v_pk_add_f32, VALU, 0, V2F32, V2F32, V2F32, a + b)                                          \
    X2(v_pk_mul_f32, VALU, 0, V2F32, V2F32, V2F32, a * b)                                          \
    X3(v_pk_fma_f32, VALU, 0, V2F32, V2F32, V2F32, V2F32, fmaf(a, b, c))                           \
    X2(v_pk_add_f16, VALU, 0, V2F16, V2F16, V2F16, a + b)                                          \
    X2(v_pk_mul_f16, VALU, 0, V2F16, V2F16, V2F16, a * b)                                          \
    X3(v_pk_fma_f16, VALU, 0, V2F16, V2F16, V2F16, V2F16, ks_fma_16(a, b, c))                      \
    X3(v_pk_fmac_f16, VALU, OLD, V2F16, V2F16, V2F16, V2F16, ks_fma_16(a, b, c))                   \
    X3(v_fma_mix_f32, VALU, KS_F_MIX, F32, F32, F32, F32, fmaf(a, b, c))                           \
    X3(v_fma_mixlo_f16, VALU, KS_F_MIX | KEEP, F16, F32, F32, F32, fmaf(a, b, c))                  \
    X3(v_fma_mixhi_f16, VALU, KS_F_MIX | KS_F_D16_HI, F16, F32, F32, F32, fmaf(a, b, c))           \
    X3(v_dot2_f32_f16, VALU, 0, F32, RV2F16, RV2F16, F32, ks_dot2_16(a, b, c))                     \
    X3(v_dot2c_f32_f16, VALU, OLD, F32, RV2F16, RV2F16, F32, ks_dot2_16(a, b, c))

/* Both halves of packed f16 with a function of bits. */
#define HALVES(f) f(a & 0xffffu, b & 0xffffu, KS_IEEE) | f(a >> 16, b >> 16, KS_IEEE) << 16
#define ORDER_OPS(X1, X2, X3)                                                                      \
    X2(v_min_f32, VALU, 0, RF32, RF32, RF32, ks_min_32(a, b, KS_IEEE))                             \
    X2(v_max_f32, VALU, 0, RF32, RF32, RF32, ks_max_32(a, b, KS_IEEE))                             \
    X3(v_min3_f32, VALU, 0, RF32, RF32, RF32, RF32, ks_min3_32(a, b, c, KS_IEEE))                  \
    X3(v_max3_f32, VALU, 0, RF32, RF32, RF32, RF32, ks_max3_32(a, b, c, KS_IEEE))                  \
    X3(v_med3_f32, VALU, 0, RF32, RF32, RF32, RF32, ks_med3_32(a, b, c, KS_IEEE))                  \
    X2(v_min_f16, VALU, 0, RF16, RF16, RF16, ks_min_16(a, b, KS_IEEE))                             \
    X2(v_max_f16, VALU, 0, RF16, RF16, RF16, ks_max_16(a, b, KS_IEEE))                             \
    X3(v_min3_f16, VALU, KEEP, RF16, RF16, RF16, RF16, ks_min3_16(a, b, c, KS_IEEE))               \
    X3(v_max3_f16, VALU, KEEP, RF16, RF16, RF16, RF16, ks_max3_16(a, b, c, KS_IEEE))               \
    X3(v_med3_f16, VALU, KEEP, RF16, RF16, RF16, RF16, ks_med3_16(a, b, c, KS_IEEE))               \
    X2(v_pk_min_f16, VALU, 0, RV2F16, RV2F16, RV2F16, HALVES(ks_min_16))                           \
    X2(v_pk_max_f16, VALU, 0, RV2F16, RV2F16, RV2F16, HALVES(ks_max_16))                           \
    X2(v_min_f64, F64, 0, RF64, RF64, RF64, ks_min_64(a, b, KS_IEEE))                              \
    X2(v_max_f64, F64, 0, RF64, RF64, RF64, ks_max_64(a, b, KS_IEEE))

#define WHOLE_OPS(X1, X2)                                                                          \
    X1(v_floor_f32, VALU, 0, F32, F32, floorf(a))                                                  \
    X1(v_ceil_f32, VALU, 0, F32, F32, ceilf(a))                                                    \
    X1(v_trunc_f32, VALU, 0, F32, F32, truncf(a))                                                  \
    X1(v_rndne_f32, VALU, 0, F32, F32, __builtin_roundevenf(a))                                    \
    X1(v_fract_f32, VALU, 0, F32, F32, ks_fract_32(a, 0x1.fffffep-1f))                             \
    X1(v_floor_f16, VALU, 0, F16, F16, floorf(a))                                                  \
    X1(v_ceil_f16, VALU, 0, F16, F16, ceilf(a))                                                    \
    X1(v_trunc_f16, VALU, 0, F16, F16, truncf(a))                                                  \
    X1(v_rndne_f16, VALU, 0, F16, F16, __builtin_roundevenf(a))                                    \
    X1(v_fract_f16, VALU, 0, F16, F16, ks_fract_32(a, 0x1.ffcp-1f))                                \
    X1(v_floor_f64, F64, 0, F64, F64, floor(a))                                                    \
    X1(v_ceil_f64, F64, 0, F64, F64, ceil(a))                                                      \
    X1(v_trunc_f64, F64, 0, F64, F64, trunc(a))                                                    \
    X1(v_rndne_f64, F64, 0, F64, F64, __builtin_roundeven(a))                                      \
    X1(v_fract_f64, F64, 0, F64, F64, ks_fract_64(a))                                              \
    X1(v_frexp_exp_i32_f32, VALU, 0, I32, F32, ks_frexp_exp_32(a))                                 \
    X1(v_frexp_mant_f32, VALU, 0, F32, F32, ks_frexp_mant_32(a))                                   \
    X1(v_frexp_exp_i16_f16, VALU, 0, I16, F16, ks_frexp_exp_32(a))                                 \
    X1(v_frexp_mant_f16, VALU, 0, F16, F16, ks_frexp_mant_32(a))                                   \
    X1(v_frexp_exp_i32_f64, F64, 0, I32, F64, ks_frexp_exp_64(a))                                  \
    X1(v_frexp_mant_f64, F64, 0, F64, F64, ks_frexp_mant_64(a))                                    \
    X2(v_ldexp_f32, VALU, 0, F32, F32, I32, ks_ldexp_32(a, b))                                     \
    X2(v_ldexp_f16, VALU, 0, F16, F16, I16, ks_ldexp_16(a, b))                                     \
    X2(v_ldexp_f64, F64, 0, F64, F64, I32, ldexp(a, b))

#define FLOAT_OPS(X1, X2, X3, X4, Y1, Y2, Y3, Z)                                                   \
    ARITHMETIC_OPS(X1, X2, X3)                                                                     \
    ORDER_OPS(X1, X2, X3)                                                                          \
    WHOLE_OPS(X1, X2)
KS_VEC_TABLE(float, FLOAT_OPS)
