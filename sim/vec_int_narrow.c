// SPDX-License-Identifier: MIT
// 16-bit, packed 16-bit and dot-product integer instructions.  Those that VOP3 gave op_sel in GFX9
// keep the other half of their register (KS_F_D16); the older ones make the upper half zero.
#include "vec_table.h"

/* What the clamp bit does: an exact value to 16 bits. */
static inline uint32_t fit_u16(bool clamp, int64_t v)
{
    return (uint32_t)(clamp ? (v < 0 ? 0 : v > 0xffff ? 0xffff : v) : v) & 0xffffu;
}
static inline int32_t fit_i16(bool clamp, int32_t v)
{
    return clamp ? max_i(min_i(v, 32767), -32768) : v;
}
static inline uint32_t fit_u32(bool clamp, uint64_t v)
{
    return clamp && v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
}
static inline int32_t fit_i32(bool clamp, int64_t v)
{
    if (!clamp) return (int32_t)v;
    return v < INT32_MIN ? INT32_MIN : v > INT32_MAX ? INT32_MAX : (int32_t)v;
}
/* Sums of products of the fields of a word. */
static inline int64_t dot_i(uint32_t a, uint32_t b, unsigned bits)
{
    int64_t sum = 0;
    for (unsigned s = 0; s < 32; s += bits) {
        int32_t x = (int32_t)(a >> s << (32 - bits)) >> (32 - bits);
        int32_t y = (int32_t)(b >> s << (32 - bits)) >> (32 - bits);
        sum += x * y;
    }
    return sum;
}
static inline uint64_t dot_u(uint32_t a, uint32_t b, unsigned bits)
{
    uint64_t sum = 0;
    for (unsigned s = 0; s < 32; s += bits)
        sum += (a >> s & ((1u << bits) - 1)) * (b >> s & ((1u << bits) - 1));
    return sum;
}
static inline uint32_t sat_u8(int32_t v)
{
    return (uint32_t)max_i(min_i(v, 255), 0);
}

/* D.lo is the chosen half of S0, D.hi that of S1: the caller has put those first. */
static void v_pk_mov_b32(ks_lanes *k)
{
    uint32_t high[KS_LANES];
    memcpy(high, k->s[1], sizeof(high));
    memmove(k->d[0], k->s[0], sizeof(high));
    memcpy(k->d[0] + KS_LANES, high, sizeof(high));
}

#define NARROW_OPS(X1, X2, X3, X4, Y1, Y2, Y3, Z)                                                 \
    X2(v_add_u16, VALU, 0, U16, U16, U16, fit_u16(clamp, (int64_t)a + b))                         \
    X2(v_sub_u16, VALU, 0, U16, U16, U16, fit_u16(clamp, (int64_t)a - b))                         \
    X2(v_subrev_u16, VALU, 0, U16, U16, U16, fit_u16(clamp, (int64_t)b - a))                      \
    X2(v_mul_lo_u16, VALU, 0, U16, U16, U16, a * b)                                               \
    X2(v_lshlrev_b16, VALU, 0, B16, U16, B16, b << (a & 15))                                      \
    X2(v_lshrrev_b16, VALU, 0, B16, U16, B16, b >> (a & 15))                                      \
    X2(v_ashrrev_i16, VALU, 0, I16, U16, I16, b >> (a & 15))                                      \
    X2(v_min_u16, VALU, 0, U16, U16, U16, min_u(a, b))                                            \
    X2(v_max_u16, VALU, 0, U16, U16, U16, max_u(a, b))                                            \
    X2(v_min_i16, VALU, 0, I16, I16, I16, min_i(a, b))                                            \
    X2(v_max_i16, VALU, 0, I16, I16, I16, max_i(a, b))                                            \
    X2(v_add_i16, VALU, KS_F_D16, I16, I16, I16, fit_i16(clamp, a + b))                           \
    X2(v_sub_i16, VALU, KS_F_D16, I16, I16, I16, fit_i16(clamp, a - b))                           \
    X3(v_min3_u16, VALU, KS_F_D16, U16, U16, U16, U16, min_u(min_u(a, b), c))                     \
    X3(v_max3_u16, VALU, KS_F_D16, U16, U16, U16, U16, max_u(max_u(a, b), c))                     \
    X3(v_med3_u16, VALU, KS_F_D16, U16, U16, U16, U16, max_u(min_u(a, b), min_u(max_u(a, b), c))) \
    X3(v_min3_i16, VALU, KS_F_D16, I16, I16, I16, I16, min_i(min_i(a, b), c))                     \
    X3(v_max3_i16, VALU, KS_F_D16, I16, I16, I16, I16, max_i(max_i(a, b), c))                     \
    X3(v_med3_i16, VALU, KS_F_D16, I16, I16, I16, I16, max_i(min_i(a, b), min_i(max_i(a, b), c))) \
    X3(v_mad_u16, VALU, KS_F_D16, U16, U16, U16, U16, fit_u16(clamp, (int64_t)a * b + c))         \
    X3(v_mad_i16, VALU, KS_F_D16, I16, I16, I16, I16, fit_i16(clamp, a * b + c))                  \
    X3(v_mad_legacy_u16, VALU, 0, U16, U16, U16, U16, fit_u16(clamp, (int64_t)a * b + c))         \
    X3(v_mad_legacy_i16, VALU, 0, I16, I16, I16, I16, fit_i16(clamp, a * b + c))                  \
    X3(v_mad_u32_u16, VALU, 0, U32, U16, U16, U32, fit_u32(clamp, (uint64_t)a * b + c))           \
    X3(v_mad_i32_i16, VALU, 0, I32, I16, I16, I32, fit_i32(clamp, (int64_t)a * b + c))            \
    X1(v_sat_pk_u8_i16, VALU, 0, B32, B32, sat_u8((int16_t)a) | sat_u8((int32_t)a >> 16) << 8)    \
    X2(v_pk_add_u16, VALU, 0, V2U16, V2U16, V2U16, fit_u16(clamp, (int64_t)a + b))                \
    X2(v_pk_sub_u16, VALU, 0, V2U16, V2U16, V2U16, fit_u16(clamp, (int64_t)a - b))                \
    X2(v_pk_add_i16, VALU, 0, V2I16, V2I16, V2I16, fit_i16(clamp, a + b))                         \
    X2(v_pk_sub_i16, VALU, 0, V2I16, V2I16, V2I16, fit_i16(clamp, a - b))                         \
    X2(v_pk_mul_lo_u16, VALU, 0, V2U16, V2U16, V2U16, a * b)                                      \
    X2(v_pk_lshlrev_b16, VALU, 0, V2U16, V2U16, V2U16, b << (a & 15))                             \
    X2(v_pk_lshrrev_b16, VALU, 0, V2U16, V2U16, V2U16, b >> (a & 15))                             \
    X2(v_pk_ashrrev_i16, VALU, 0, V2I16, V2I16, V2I16, b >> (a & 15))                             \
    X2(v_pk_min_u16, VALU, 0, V2U16, V2U16, V2U16, min_u(a, b))                                   \
    X2(v_pk_max_u16, VALU, 0, V2U16, V2U16, V2U16, max_u(a, b))                                   \
    X2(v_pk_min_i16, VALU, 0, V2I16, V2I16, V2I16, min_i(a, b))                                   \
    X2(v_pk_max_i16, VALU, 0, V2I16, V2I16, V2I16, max_i(a, b))                                   \
    X3(v_pk_mad_u16, VALU, 0, V2U16, V2U16, V2U16, V2U16, fit_u16(clamp, (int64_t)a * b + c))     \
    X3(v_pk_mad_i16, VALU, 0, V2I16, V2I16, V2I16, V2I16, fit_i16(clamp, a * b + c))              \
    Z(v_pk_mov_b32, VALU, KS_F_RAW, ({ KS_V2B32, 0 }), ({ KS_V2B32, 0 }, { KS_V2B32, 0 }))        \
    X3(v_dot2_i32_i16, VALU, 0, I32, RV2I16, RV2I16, I32, fit_i32(clamp, dot_i(a, b, 16) + c))    \
    X3(v_dot2_u32_u16, VALU, 0, U32, RV2U16, RV2U16, U32, fit_u32(clamp, dot_u(a, b, 16) + c))    \
    X3(v_dot4_i32_i8, VALU, 0, I32, B32, B32, I32, fit_i32(clamp, dot_i(a, b, 8) + c))            \
    X3(v_dot4_u32_u8, VALU, 0, U32, B32, B32, U32, fit_u32(clamp, dot_u(a, b, 8) + c))            \
    X3(v_dot8_i32_i4, VALU, 0, I32, B32, B32, I32, fit_i32(clamp, dot_i(a, b, 4) + c))            \
    X3(v_dot8_u32_u4, VALU, 0, U32, B32, B32, U32, fit_u32(clamp, dot_u(a, b, 4) + c))            \
    X3(v_dot2c_i32_i16, VALU, KS_F_DST_IN, I32, B32, B32, I32,                                    \
       fit_i32(clamp, dot_i(a, b, 16) + c))                                                       \
    X3(v_dot4c_i32_i8, VALU, KS_F_DST_IN, I32, B32, B32, I32, fit_i32(clamp, dot_i(a, b, 8) + c)) \
    X3(v_dot8c_i32_i4, VALU, KS_F_DST_IN, I32, B32, B32, I32, fit_i32(clamp, dot_i(a, b, 4) + c))

KS_VEC_TABLE(narrow, NARROW_OPS)
