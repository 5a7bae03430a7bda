// SPDX-License-Identifier: MIT
// Conversions: integers, f16, f32, f64, normalised integers, packed forms, fp8 and bf8.  Float to
// integer cuts towards 0, saturates and makes 0 of a NaN; what becomes a float is rounded as MODE
// says where the ISA does not say how.
#include "vec_numeric.h"

/* ---- To integers ---- */
/* From f64, which has every f32 and every bound: low <= a <= high, else the bound. */
#define DEFINE_TO_INTEGER(name, C, low, high)                                                      \
    static inline C name(double a)                                                                 \
    {                                                                                              \
        double v = a != a ? 0 : a < (low) ? (low) : a;                                             \
        return (C)(v > (high) ? (high) : v);                                                       \
    }
DEFINE_TO_INTEGER(to_i32, int32_t, -0x1p31, 0x1p31 - 1)
DEFINE_TO_INTEGER(to_u32, uint32_t, 0, 0x1p32 - 1)
DEFINE_TO_INTEGER(to_i16, int32_t, -32768.0, 32767.0)
DEFINE_TO_INTEGER(to_u16, uint32_t, 0, 65535.0)
static inline int32_t to_i32_32(float a)
{
    float v = a != a ? 0 : a < -0x1p31f ? -0x1p31f : a;
    int32_t r = (int32_t)(v >= 0x1p31f ? 0 : v);
    return v >= 0x1p31f ? INT32_MAX : r;
}

/* ---- Normalised integers: 1 becomes the greatest; rounded as MODE says ---- */
static inline uint32_t to_snorm(float a)
{
    double v = a != a ? 0 : a < -1 ? -1 : a > 1 ? 1 : a;
    return (uint32_t)lrint(v * 32767) & 0xffffu;
}
static inline uint32_t to_unorm(float a)
{
    double v = a != a ? 0 : a < 0 ? 0 : a > 1 ? 1 : a;
    return (uint32_t)lrint(v * 65535);
}

/* ---- Packed ---- */
/* To f16 towards 0: what is too large for it becomes the greatest number, infinity remains. */
static inline uint32_t to_f16_cut(float a)
{
    uint32_t b = ks_bits32(a), m = b & 0x7fffffffu, sign = b >> 16 & 0x8000u;
    uint32_t normal = (m - (112u << 23)) >> 13, e = m >> 23;
    uint32_t small = ((m & 0x7fffffu) | 0x800000u) >> (e < 102 ? 31u : 126u - (e > 112 ? 112u : e));
    uint32_t r = e < 113 ? small : normal > 0x7bffu ? 0x7bffu : normal;
    r = m >= 0x7f800000u ? 0x7c00u : r;
    r = m > 0x7f800000u ? 0x7e00u | (m >> 13 & 0x1ffu) : r;
    return sign | r;
}
/* Byte b of word c becomes a. */
static inline uint32_t insert_u8(float a, uint32_t b, uint32_t c)
{
    uint32_t shift = (b & 3u) * 8u;
    float v = a != a || a < 0 ? 0 : a > 255 ? 255 : a;
    return (c & ~(0xffu << shift)) | (uint32_t)lrintf(v) << shift;
}
/* op_sel chooses the part of the destination: its bit 3 the half for a pair, its bits 2 and 3 the
   byte for one number. */
static inline uint32_t insert_pair(uint32_t old, uint32_t low, uint32_t high, uint32_t op_sel)
{
    uint32_t shift = (op_sel & 8u) * 2u;
    return (old & ~(0xffffu << shift)) | (low | high << 8) << shift;
}
static inline uint32_t insert_byte(uint32_t old, uint32_t v, uint32_t op_sel)
{
    uint32_t shift = (op_sel >> 2 & 3u) * 8u;
    return (old & ~(0xffu << shift)) | v << shift;
}
static void v_cvt_pk_f32_fp8(ks_lanes *k)
{
    float *d = (float *)k->d[0];
    uint32_t s[KS_LANES];
    memcpy(s, k->s[0], sizeof(s));
    for (int i = 0; i < KS_LANES; i++) d[i] = ks_from_fp8(s[i]);
    for (int i = 0; i < KS_LANES; i++) d[KS_LANES + i] = ks_from_fp8(s[i] >> 8);
}
static void v_cvt_pk_f32_bf8(ks_lanes *k)
{
    float *d = (float *)k->d[0];
    uint32_t s[KS_LANES];
    memcpy(s, k->s[0], sizeof(s));
    for (int i = 0; i < KS_LANES; i++) d[i] = ks_from_bf8(s[i]);
    for (int i = 0; i < KS_LANES; i++) d[KS_LANES + i] = ks_from_bf8(s[i] >> 8);
}

#define OLD    KS_F_DST_IN
#define OVFL   ((mode & KS_MODE_FP16_OVFL) != 0)
#define OP_SEL k->inst->op_sel

#define NUMBER_OPS(X1)                                                                             \
    X1(v_cvt_f32_f16, VALU, 0, F32, F16, a)                                                        \
    X1(v_cvt_f16_f32, VALU, 0, F16, F32, a)                                                        \
    X1(v_cvt_f32_f64, F64, 0, F32, F64, (float)a)                                                  \
    X1(v_cvt_f64_f32, F64, 0, F64, F32, a)                                                         \
    X1(v_cvt_f32_i32, VALU, 0, F32, I32, (float)a)                                                 \
    X1(v_cvt_f32_u32, VALU, 0, F32, U32, (float)a)                                                 \
    X1(v_cvt_f64_i32, F64, 0, F64, I32, a)                                                         \
    X1(v_cvt_f64_u32, F64, 0, F64, U32, a)                                                         \
    X1(v_cvt_f16_i16, VALU, 0, F16, I16, (float)a)                                                 \
    X1(v_cvt_f16_u16, VALU, 0, F16, U16, (float)a)                                                 \
    X1(v_cvt_i32_f32, VALU, 0, I32, F32, to_i32_32(a))                                             \
    X1(v_cvt_u32_f32, VALU, 0, U32, F32, to_u32(a))                                                \
    X1(v_cvt_i32_f64, F64, 0, I32, F64, to_i32(a))                                                 \
    X1(v_cvt_u32_f64, F64, 0, U32, F64, to_u32(a))                                                 \
    X1(v_cvt_i16_f16, VALU, 0, I16, F16, to_i16(a))                                                \
    X1(v_cvt_u16_f16, VALU, 0, U16, F16, to_u16(a))                                                \
    X1(v_cvt_rpi_i32_f32, VALU, 0, I32, F32, to_i32(floor((double)a + 0.5)))                       \
    X1(v_cvt_flr_i32_f32, VALU, 0, I32, F32, to_i32_32(floorf(a)))                                 \
    X1(v_cvt_norm_i16_f16, VALU, 0, B16, F16, to_snorm(a))                                         \
    X1(v_cvt_norm_u16_f16, VALU, 0, B16, F16, to_unorm(a))                                         \
    X1(v_cvt_f32_ubyte0, VALU, 0, F32, U32, (float)(int32_t)(a & 0xffu))                           \
    X1(v_cvt_f32_ubyte1, VALU, 0, F32, U32, (float)(int32_t)(a >> 8 & 0xffu))                      \
    X1(v_cvt_f32_ubyte2, VALU, 0, F32, U32, (float)(int32_t)(a >> 16 & 0xffu))                     \
    X1(v_cvt_f32_ubyte3, VALU, 0, F32, U32, (float)(int32_t)(a >> 24))                             \
    X1(v_cvt_off_f32_i4, VALU, 0, F32, U32, (float)((int32_t)(a << 28) >> 28) * 0.0625f)           \
    X1(v_cvt_f32_fp8, VALU, 0, F32, U32, ks_from_fp8(a))                                           \
    X1(v_cvt_f32_bf8, VALU, 0, F32, U32, ks_from_bf8(a))

#define PACKED_OPS(X2, X3, Z)                                                                      \
    X2(v_pack_b32_f16, VALU, 0, RV2F16, RF16, RF16, a | b << 16)                                   \
    X2(v_cvt_pkrtz_f16_f32, VALU, 0, RV2F16, F32, F32, to_f16_cut(a) | to_f16_cut(b) << 16)        \
    X2(v_cvt_pknorm_i16_f32, VALU, 0, B32, F32, F32, to_snorm(a) | to_snorm(b) << 16)              \
    X2(v_cvt_pknorm_u16_f32, VALU, 0, B32, F32, F32, to_unorm(a) | to_unorm(b) << 16)              \
    X2(v_cvt_pknorm_i16_f16, VALU, 0, B32, F16, F16, to_snorm(a) | to_snorm(b) << 16)              \
    X2(v_cvt_pknorm_u16_f16, VALU, 0, B32, F16, F16, to_unorm(a) | to_unorm(b) << 16)              \
    X3(v_cvt_pk_u8_f32, VALU, 0, B32, F32, U32, U32, insert_u8(a, b, c))                           \
    X3(v_cvt_pkaccum_u8_f32, VALU, OLD, B32, F32, U32, U32, insert_u8(a, b, c))                    \
    X3(v_cvt_pk_fp8_f32, VALU, OLD, B32, F32, F32, B32,                                            \
       insert_pair(c, ks_to_fp8(a, OVFL), ks_to_fp8(b, OVFL), OP_SEL))                             \
    X3(v_cvt_pk_bf8_f32, VALU, OLD, B32, F32, F32, B32,                                            \
       insert_pair(c, ks_to_bf8(a, OVFL), ks_to_bf8(b, OVFL), OP_SEL))                             \
    X3(v_cvt_sr_fp8_f32, VALU, OLD, B32, F32, U32, B32,                                            \
       insert_byte(c, ks_to_8_random(a, b, 3, 8, OVFL), OP_SEL))                                   \
    X3(v_cvt_sr_bf8_f32, VALU, OLD, B32, F32, U32, B32,                                            \
       insert_byte(c, ks_to_8_random(a, b, 2, 16, OVFL), OP_SEL))                                  \
    Z(v_cvt_pk_f32_fp8, VALU, 0, (KS_S(V2F32)), (KS_S(U32)))                                       \
    Z(v_cvt_pk_f32_bf8, VALU, 0, (KS_S(V2F32)), (KS_S(U32)))

#define CONVERT_OPS(X1, X2, X3, X4, Y1, Y2, Y3, Z) NUMBER_OPS(X1) PACKED_OPS(X2, X3, Z)
KS_VEC_TABLE(convert, CONVERT_OPS)
