// SPDX-License-Identifier: MIT
// The helpers of IEEE division: v_div_scale_* brings operands to where Newton's steps lose nothing,
// v_div_fmas_* takes the scale back within the last rounding, v_div_fixup_* sees to zeros and such.
// Where the ISA's text would not give the IEEE quotient that hardware gives: a large denominator of
// a tiny quotient is scaled down, not up; v_div_fmas multiplies by 2^64 or 2^-64 as its quotient is
// above or below 2, not by 2^32; v_div_fixup takes a NaN of two numbers for overflow.
#include "vec_numeric.h"

#ifdef __SIZEOF_FLOAT128__
typedef __float128 quad;
#else
typedef long double quad; /* 113 bits where there is no __float128 */
#endif

/* What V_DIV_SCALE does. */
typedef struct scale {
    bool vcc;
    int32_t by[2]; /* powers of 2: the denominator's, the numerator's */
} scale;
#define NOT_A_NUMBER INT32_MIN
static inline int32_t scale_by(const scale *s, bool denominator, bool numerator)
{
    return denominator ? s->by[0] : numerator ? s->by[1] : s->by[0] == s->by[1] ? s->by[0] : 0;
}

/* e1, e2: biased exponents of denominator and numerator; tiny: their quotient is not above the
   least normal number; inverse: the denominator's reciprocal is below it; far: quotients that are
   near overflow; low: numerators whose remainders would lose bits. */
static inline scale scale_of(int32_t e1, int32_t e2, bool zero, bool tiny, bool inverse,
                             int32_t far, int32_t step, int32_t low)
{
    if (zero) return (scale){false, {NOT_A_NUMBER, NOT_A_NUMBER}};
    if (e2 - e1 >= far) return (scale){true, {step, 0}};
    if (e1 == 0) return (scale){false, {step, step}};
    if (inverse) return tiny ? (scale){true, {-step, 0}} : (scale){false, {-step, -step}};
    if (tiny) return (scale){true, {0, step}};
    if (e2 <= low) return (scale){false, {step, step}};
    return (scale){false, {0, 0}};
}
static inline float div_scale_32(float a, float b, float c, uint32_t *vcc)
{
    int32_t e1 = (int32_t)(ks_bits32(b) >> 23 & 0xffu), e2 = (int32_t)(ks_bits32(c) >> 23 & 0xffu);
    bool tiny = fabs((double)c / (double)b) <= 0x1p-126, inverse = fabsf(b) > 0x1p126f && e1 < 255;
    scale s = scale_of(e1, e2, b == 0 || c == 0, tiny, inverse, 96, 64, 23);
    int32_t by = scale_by(&s, a == b, a == c);
    *vcc = s.vcc;
    return by == NOT_A_NUMBER ? ks_f32(0x7fc00000u) : ks_ldexp_32(a, by);
}
static inline double div_scale_64(double a, double b, double c, uint32_t *vcc)
{
    int32_t e1 = (int32_t)(ks_bits64(b) >> 52 & 0x7ffu);
    int32_t e2 = (int32_t)(ks_bits64(c) >> 52 & 0x7ffu);
    bool tiny = fabs(c / b) <= 0x1p-1022, inverse = fabs(b) > 0x1p1022 && e1 < 2047;
    scale s = scale_of(e1, e2, b == 0 || c == 0, tiny, inverse, 768, 128, 53);
    int32_t by = scale_by(&s, a == b, a == c);
    *vcc = s.vcc;
    return by == NOT_A_NUMBER ? ks_f64(0x7ff8000000000000ull) : by ? ldexp(a, by) : a;
}

/* a * b + c, scaled, rounded once. */
static inline float div_fmas_32(float a, float b, float c, bool vcc)
{
    if (!vcc) return fmaf(a, b, c);
    double p = (double)a * b, s = p + c; /* the product is exact */
    double v = s - p, e = (p - (s - v)) + (c - v); /* what the sum lost: into its last bit */
    uint64_t bits = ks_bits64(s);
    if (e != 0 && e == e && !(bits & 1u)) bits += (e > 0) == (s > 0) ? 1u : UINT64_MAX;
    return (float)(ks_f64(bits) * ((ks_bits32(c) >> 23 & 0xffu) > 127 ? 0x1p64 : 0x1p-64));
}
static inline double div_fmas_64(double a, double b, double c, bool vcc)
{
    if (!vcc) return fma(a, b, c);
    double by = (ks_bits64(c) >> 52 & 0x7ffu) > 1023 ? 0x1p128 : 0x1p-128;
    return (double)(((quad)a * (quad)b + (quad)c) * (quad)by);
}

/* a: the quotient, b: the denominator, c: the numerator, as bits. */
#define DEFINE_FIXUP(W, U, INFINITE, QUIET, DEFAULT, EXPONENT, LEAST, UNDERFLOW)                   \
    static inline U fixup_##W(U a, U b, U c)                                                       \
    {                                                                                              \
        const U top = (U)1 << (W - 1), infinite = INFINITE;                                        \
        U sign = (b ^ c) & top, q = a & ~top, d = b & ~top, n = c & ~top;                          \
        U r = q > infinite ? infinite : q;                                                         \
        r = (EXPONENT(n) - EXPONENT(d) < (LEAST)) ? UNDERFLOW(n, sign) & ~top : r;                 \
        r = d == infinite || n == 0 ? 0 : r;                                                       \
        r = d == 0 || n == infinite ? infinite : r;                                                \
        r |= sign;                                                                                 \
        r = (d == 0 && n == 0) || (d == infinite && n == infinite) ? (U)(DEFAULT) : r;             \
        r = d > infinite ? b | (U)(QUIET) : r;                                                     \
        return n > infinite ? c | (U)(QUIET) : r;                                                  \
    }
#define NO_EXPONENT(x) 0
#define EXPONENT_32(x) (int32_t)((x) >> 23)
#define EXPONENT_64(x) (int32_t)((x) >> 52)
/* What is too small for a denormal, rounded: a product that no compiler can know. */
#define LOST_16(n, sign) (sign)
#define LOST_32(n, sign) ks_bits32(0x1p-126f * ks_f32((sign) | 0x00800000u | ((n)&0x7fffffu)))
#define LOST_64(n, sign) ks_bits64(0x1p-1022 * ks_f64((sign) | 1ull << 52 | ((n)&0xfffffu)))
DEFINE_FIXUP(16, uint32_t, 0x7c00u, 0x200u, 0xfe00u, NO_EXPONENT, -1, LOST_16)
DEFINE_FIXUP(32, uint32_t, 0x7f800000u, 0x400000u, 0xffc00000u, EXPONENT_32, -150, LOST_32)
DEFINE_FIXUP(64, uint64_t, 0x7ff0000000000000ull, 1ull << 51, 0xfff8000000000000ull, EXPONENT_64,
             -1075, LOST_64)

#define FLOAT_DIVIDE_OPS(X1, X2, X3, X4, Y1, Y2, Y3, Z)                                            \
    Y3(v_div_scale_f32, VALU, 0, F32, MASK, F32, F32, F32, d = div_scale_32(a, b, c, &e))          \
    Y3(v_div_scale_f64, F64, 0, F64, MASK, F64, F64, F64, d = div_scale_64(a, b, c, &e))           \
    X4(v_div_fmas_f32, VALU, 0, F32, F32, F32, F32, MASK, div_fmas_32(a, b, c, x))                 \
    X4(v_div_fmas_f64, F64, 0, F64, F64, F64, F64, MASK, div_fmas_64(a, b, c, x))                  \
    X3(v_div_fixup_f32, VALU, 0, RF32, RF32, RF32, RF32, fixup_32(a, b, c))                        \
    X3(v_div_fixup_f64, F64, 0, RF64, RF64, RF64, RF64, fixup_64(a, b, c))                         \
    X3(v_div_fixup_f16, VALU, KS_F_D16, RF16, RF16, RF16, RF16, fixup_16(a, b, c))                 \
    X3(v_div_fixup_legacy_f16, VALU, 0, RF16, RF16, RF16, RF16, fixup_16(a, b, c))
KS_VEC_TABLE(float_divide, FLOAT_DIVIDE_OPS)
