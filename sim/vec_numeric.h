// SPDX-License-Identifier: MIT
// What rows of vec_float*.c and vec_convert.c are made of, one lane at a time and free of branches
// so that loops of them vectorise: minimum and maximum, classes, f16 rounded once, exponents, fp8.
#ifndef KS_VEC_NUMERIC_H
#define KS_VEC_NUMERIC_H
#include <float.h>
#include "vec_table.h"

enum { KS_IEEE_MODE = 1 << 9 };
#define KS_IEEE ((mode & KS_IEEE_MODE) != 0)

/* ---- Minimum, maximum, median, class: on bits, for f16, f32, f64 ---- */
/* V_MIN, V_MAX: a signalling NaN gives itself made quiet where MODE.IEEE is set; else a NaN gives
   the other operand; -0 is less than +0.  key: bits as an integer that is ordered as the numbers
   are. */
#define KS_DEFINE_ORDER(W, U, S, INFINITE, QUIET, NORMAL)                                          \
    static inline S ks_key_##W(U x)                                                                \
    {                                                                                              \
        S s = (S)(x << (8 * sizeof(U) - W));                                                       \
        return s ^ (S)((U)(s >> (8 * sizeof(U) - 1)) >> 1);                                        \
    }                                                                                              \
    static inline S ks_value_##W(U x) /* the same with -0 equal to 0 */                            \
    {                                                                                              \
        S key = ks_key_##W(x);                                                                     \
        return key == -1 ? 0 : key;                                                                \
    }                                                                                              \
    static inline bool ks_nan_##W(U x)                                                             \
    {                                                                                              \
        return (x & ~((U)1 << (W - 1))) > (U)(INFINITE);                                           \
    }                                                                                              \
    static inline U ks_pick_##W(U a, U b, bool first, bool ieee)                                   \
    {                                                                                              \
        bool na = ks_nan_##W(a), nb = ks_nan_##W(b);                                               \
        U r = first ? a : b;                                                                       \
        r = nb ? a : r;                                                                            \
        r = na ? b : r;                                                                            \
        r = (ieee & nb & !(b & (QUIET))) ? b | (U)(QUIET) : r;                                     \
        return (ieee & na & !(a & (QUIET))) ? a | (U)(QUIET) : r;                                  \
    }                                                                                              \
    static inline U ks_min_##W(U a, U b, bool ieee)                                                \
    {                                                                                              \
        return ks_pick_##W(a, b, ks_key_##W(a) <= ks_key_##W(b), ieee);                            \
    }                                                                                              \
    static inline U ks_max_##W(U a, U b, bool ieee)                                                \
    {                                                                                              \
        return ks_pick_##W(a, b, ks_key_##W(a) >= ks_key_##W(b), ieee);                            \
    }                                                                                              \
    static inline U ks_min3_##W(U a, U b, U c, bool ieee)                                          \
    {                                                                                              \
        return ks_min_##W(ks_min_##W(a, b, ieee), c, ieee);                                        \
    }                                                                                              \
    static inline U ks_max3_##W(U a, U b, U c, bool ieee)                                          \
    {                                                                                              \
        return ks_max_##W(ks_max_##W(a, b, ieee), c, ieee);                                        \
    }                                                                                              \
    /* V_MED3: the least number where one is not; else the greater of the two that the greatest    \
       leaves, the first of equal ones being it. */                                                \
    static inline U ks_med3_##W(U a, U b, U c, bool ieee)                                          \
    {                                                                                              \
        S top = ks_value_##W(ks_max3_##W(a, b, c, ieee));                                          \
        U r = ks_max_##W(a, top == ks_value_##W(b) ? c : b, ieee);                                 \
        r = top == ks_value_##W(a) ? ks_max_##W(b, c, ieee) : r;                                   \
        return (ks_nan_##W(a) | ks_nan_##W(b) | ks_nan_##W(c)) ? ks_min3_##W(a, b, c, ieee) : r;   \
    }                                                                                              \
    /* The bit of V_CMP_CLASS's mask that stands for x. */                                         \
    static inline uint32_t ks_class_##W(U x)                                                       \
    {                                                                                              \
        enum { SNAN, QNAN, NEG_INF, NEG, NEG_DENORMAL, NEG_ZERO, ZERO, DENORMAL, POSITIVE, INF };  \
        U m = x & ~((U)1 << (W - 1));                                                              \
        uint32_t minus = m == 0           ? NEG_ZERO                                               \
                         : m < (NORMAL)   ? NEG_DENORMAL                                           \
                         : m < (INFINITE) ? NEG                                                    \
                                          : NEG_INF;                                               \
        uint32_t number = (x >> (W - 1)) ? minus : INF + NEG_INF - minus;                          \
        return m > (INFINITE) ? ((x & (QUIET)) ? QNAN : SNAN) : number;                            \
    }
KS_DEFINE_ORDER(16, uint32_t, int32_t, 0x7c00u, 0x200u, 0x400u)
KS_DEFINE_ORDER(32, uint32_t, int32_t, 0x7f800000u, 0x400000u, 0x800000u)
KS_DEFINE_ORDER(64, uint64_t, int64_t, 0x7ff0000000000000ull, 1ull << 51, 1ull << 52)

/* ---- Denormals of instructions that never keep them ---- */
static inline float ks_flush_32(float f)
{
    uint32_t b = ks_bits32(f);
    return ks_f32((b & 0x7f800000u) ? b : b & 0x80000000u);
}
static inline float ks_flush_16(float f) /* a value that f16 has */
{
    uint32_t b = ks_bits32(f);
    return ks_f32((b & 0x7fffffffu) < 0x38800000u ? b & 0x80000000u : b);
}
static inline float ks_round_16(float f)
{
    return ks_f16_to_f32(ks_f32_to_f16(f));
}

/* ---- f16 ---- */
/* To f32 without rounding twice: f32 has 13 bits more than f16 needs, and its last one says that
   some were left. */
static inline float ks_round_odd(double d)
{
    uint64_t b = ks_bits64(d), rest = b & 0x1fffffffu;
    b -= rest;
    return (float)ks_f64(rest ? b | 0x20000000u : b);
}
/* Products of f16 are exact in f32, and their sums with an f16 in f64 but where they cannot be near
   the middle of two f16 anyway. */
static inline float ks_fma_16(float a, float b, float c)
{
    return ks_round_odd((double)(a * b) + (double)c);
}
/* V_MAD_F16, V_MAC_F16: two roundings, denormals are 0. */
static inline float ks_mad_16(float a, float b, float c)
{
    float p = ks_flush_16(ks_round_16(ks_flush_16(a) * ks_flush_16(b)));
    return ks_flush_16(ks_round_16(p + ks_flush_16(c)));
}
static inline float ks_mad_32(float a, float b, float c)
{
    return ks_flush_32(ks_flush_32(ks_flush_32(a) * ks_flush_32(b)) + ks_flush_32(c));
}
/* V_DOT2_F32_F16: the ISA's order of additions, the low halves first; each product is exact. */
static inline float ks_dot2_16(uint32_t a, uint32_t b, float c)
{
    float low = ks_f16_to_f32(a & 0xffffu) * ks_f16_to_f32(b & 0xffffu);
    float high = ks_f16_to_f32(a >> 16) * ks_f16_to_f32(b >> 16);
    return (c + low) + high;
}

/* ---- Whole numbers and exponents ---- */
/* V_FRACT: below 1 even where a - floor(a) rounds to it. */
static inline float ks_fract_32(float a, float below_one)
{
    float f = a - floorf(a);
    return f > below_one ? below_one : f;
}
static inline double ks_fract_64(double a)
{
    double f = a - floor(a);
    return f > 0x1.fffffffffffffp-1 ? 0x1.fffffffffffffp-1 : f;
}
/* V_FREXP_EXP, V_FREXP_MANT: C's frexp; of infinities and NaNs 0 and the (quiet) value itself. */
static inline float ks_normal_32(float a, int32_t *shift)
{
    bool tiny = (ks_bits32(a) & 0x7f800000u) == 0;
    *shift = tiny ? 25 : 0;
    return a * (tiny ? 0x1p25f : 1.0f);
}
static inline int32_t ks_frexp_exp_32(float a)
{
    int32_t shift;
    uint32_t m = ks_bits32(ks_normal_32(a, &shift)) & 0x7fffffffu;
    return m == 0 || m >= 0x7f800000u ? 0 : (int32_t)(m >> 23) - 126 - shift;
}
static inline float ks_frexp_mant_32(float a)
{
    int32_t shift;
    float n = ks_normal_32(a, &shift);
    uint32_t b = ks_bits32(n), m = b & 0x7fffffffu;
    return m == 0 || m >= 0x7f800000u ? n : ks_f32((b & 0x807fffffu) | 0x3f000000u);
}
static inline double ks_normal_64(double a, int32_t *shift)
{
    bool tiny = (ks_bits64(a) >> 52 & 0x7ffu) == 0;
    *shift = tiny ? 54 : 0;
    return a * (tiny ? 0x1p54 : 1.0);
}
static inline int32_t ks_frexp_exp_64(double a)
{
    int32_t shift;
    uint64_t m = ks_bits64(ks_normal_64(a, &shift)) & INT64_MAX;
    return m == 0 || m >= 0x7ffull << 52 ? 0 : (int32_t)(m >> 52) - 1022 - shift;
}
static inline double ks_frexp_mant_64(double a)
{
    int32_t shift;
    double n = ks_normal_64(a, &shift);
    uint64_t b = ks_bits64(n), m = b & INT64_MAX;
    return m == 0 || m >= 0x7ffull << 52 ? n : ks_f64((b & 0x800fffffffffffffull) | 0x3feull << 52);
}
static inline int32_t ks_limit(int32_t v, int32_t low, int32_t high)
{
    return v < low ? low : v > high ? high : v;
}
/* 2^n as f64, -1022 <= n <= 1023. */
static inline double ks_power(int32_t n)
{
    return ks_f64((uint64_t)(uint32_t)(n + 1023) << 52);
}
/* V_LDEXP: one rounding, of the product that f64 has exactly. */
static inline float ks_ldexp_32(float a, int32_t n)
{
    return (float)((double)a * ks_power(ks_limit(n, -400, 400)));
}
static inline float ks_ldexp_16(float a, int32_t n)
{
    return ks_round_odd((double)a * ks_power(ks_limit(n, -60, 60)));
}

/* ---- fp8 (e4m3, bias 8), bf8 (e5m2, bias 16) of gfx942: 0x80 is the NaN; no infinity ---- */
static inline float ks_from_fp8(uint32_t v)
{
    uint32_t m = v & 0x7fu, sign = (v & 0x80u) << 24;
    uint32_t normal = (m << 20) + ((127u - 8u) << 23), small = ks_bits32((float)m * 0x1p-10f);
    return ks_f32((v & 0xffu) == 0x80u ? 0x7fc00000u : sign | (m < 8 ? small : normal));
}
static inline float ks_from_bf8(uint32_t v)
{
    uint32_t m = v & 0x7fu, sign = (v & 0x80u) << 24;
    uint32_t normal = (m << 21) + ((127u - 16u) << 23), small = ks_bits32((float)m * 0x1p-17f);
    return ks_f32((v & 0xffu) == 0x80u ? 0x7fc00000u : sign | (m < 4 ? small : normal));
}
/* f32 to a format of `mantissa` bits: to nearest even, or (cut) to the lower magnitude.  What is
   too large is the NaN, or the greatest number where MODE.FP16_OVFL is set; infinities are the NaN
   in both. */
static inline uint32_t ks_to_8(uint32_t bits, unsigned mantissa, int32_t bias, bool cut,
                               bool saturate)
{
    uint32_t mag = bits & 0x7fffffffu, expo = mag >> 23;
    uint32_t full = (mag & 0x7fffffu) | (expo ? 0x800000u : 0u);
    int32_t e = (int32_t)expo - 127 + bias;
    int32_t lost = ks_limit(23 - (int32_t)mantissa + (e < 1 ? 1 - e : 0), 0, 31);
    uint32_t kept = full >> lost, rest = full & ((1u << lost) - 1u), half = 1u << (lost - 1);
    kept += cut ? 0u : (uint32_t)((rest > half) | ((rest == half) & (kept & 1u)));
    kept += e > 1 ? (uint32_t)(e - 1) << mantissa : 0u;
    bool special = mag >= 0x7f800000u;
    uint32_t r = kept > 0x7fu ? 0x7fu : kept;
    r = r ? r | (bits >> 24 & 0x80u) : 0u;
    return (special || (kept > 0x7fu && !saturate)) ? 0x80u : r;
}
static inline uint32_t ks_to_fp8(float f, bool saturate)
{
    return ks_to_8(ks_bits32(f), 3, 8, false, saturate);
}
static inline uint32_t ks_to_bf8(float f, bool saturate)
{
    return ks_to_8(ks_bits32(f), 2, 16, false, saturate);
}
/* Stochastic: the seed's upper bits are added below the last bit that is kept of a normal number,
   then it is cut. */
static inline uint32_t ks_to_8_random(float f, uint32_t seed, unsigned mantissa, int32_t bias,
                                      bool saturate)
{
    uint32_t bits = ks_bits32(f), mag = bits & 0x7fffffffu;
    uint32_t sum = mag + (seed >> (9u + mantissa));
    sum = mag >= 0x7f800000u ? mag : sum >= 0x7f800000u ? 0x7f7fffffu : sum;
    return ks_to_8((bits & 0x80000000u) | sum, mantissa, bias, true, saturate);
}
#endif
