// SPDX-License-Identifier: MIT
// Transcendental instructions, cube map coordinates, the segments of 2/pi.  The hardware's results
// are within 1 ulp (f64: 2^29 ulp) of the true ones and their last bits are not documented: here
// they are those of a computation in f64, rounded once.  No libm: the same bits on every host.  f32
// forms take denormals as 0 and give 0 for them whatever MODE says.
#include "vec_numeric.h"

/* A polynomial from its highest term down; Taylor's series of 2^x, of atanh(s) * 2 / ln 2 in s * s
   and over s, of sin(2 pi t) / t and cos(2 pi t) in t * t. */
static inline double polynomial(double x, const double *c, int count)
{
    double r = c[0];
    for (int i = 1; i < count; i++) r = r * x + c[i];
    return r;
}
#define POLYNOMIAL(x, c) polynomial(x, c, sizeof(c) / sizeof(*(c)))
static const double exp2_series[] = {
    0x1.e8cac7351bb25p-32, 0x1.e4cf5158b8ecap-28, 0x1.b5253d395e7c4p-24, 0x1.62c0223a5c824p-20,
    0x1.ffcbfc588b0c7p-17, 0x1.430912f86c787p-13, 0x1.5d87fe78a6731p-10, 0x1.3b2ab6fba4e77p-7,
    0x1.c6b08d704a0c0p-5,  0x1.ebfbdff82c58fp-3,  0x1.62e42fefa39efp-1,  1.0,
};
static const double log2_series[] = {
    0x1.3703c1f4d0ffep-3, 0x1.5b9ac9b743f0dp-3, 0x1.89f3b1694cffep-3, 0x1.c68f568d31760p-3,
    0x1.0c9a84994022dp-2, 0x1.484b13d7c02a9p-2, 0x1.a61762a7aded9p-2, 0x1.2776c50ef9bfep-1,
    0x1.ec709dc3a03fdp-1, 0x1.71547652b82fep+1,
};
static const double sine_series[] = {
    -0x1.6fadb9f155744p-1, 0x1.e8f434d018d63p+1, -0x1.e3074fde8871fp+3, 0x1.50783487ee782p+5,
    -0x1.32d2cce62bd86p+6, 0x1.466bc6775aae2p+6, -0x1.4abbce625be53p+5, 0x1.921fb54442d18p+2,
};
static const double cosine_series[] = {
    0x1.20c62c2f2d7f5p-2,  -0x1.b6e24f44b128fp+0, 0x1.f9d38a3763cc3p+2,
    -0x1.a6d1f2a204a8cp+4, 0x1.e1f506891babbp+5,  -0x1.55d3c7e3cbffap+6,
    0x1.03c1f081b5ac4p+6,  -0x1.3bd3cc9be45dep+4, 1.0,
};

/* 2^a.  Beyond [-200, 200] there are only 0 and infinity. */
static inline double exp2_of(double a)
{
    double in = a != a ? 0 : a > 200 ? 200 : a < -200 ? -200 : a;
    int32_t n = (int32_t)(in + 1024.5) - 1024;
    return a != a ? a : POLYNOMIAL(in - n, exp2_series) * ks_power(n);
}
/* log2(a) = e + log2(m), m in [sqrt(1/2), sqrt(2)), by s = (m - 1) / (m + 1). */
static inline double log2_of(double a)
{
    uint64_t b = ks_bits64(a), fraction = b & 0xfffffffffffffull;
    bool low = fraction < 0x6a09e667f3bcdull;
    int32_t e = (int32_t)(b >> 52 & 0x7ffu) - (low ? 1023 : 1022);
    double m = ks_f64(fraction | (low ? 0x3ffull : 0x3feull) << 52), s = (m - 1) / (m + 1);
    double nan = ks_f64(0x7ff8000000000000ull);
    double special = a == 0 ? -HUGE_VAL : a < 0 ? nan : a; /* infinity, NaNs: themselves */
    return a > 0 && a <= DBL_MAX ? e + s * POLYNOMIAL(s * s, log2_series) : special;
}
/* sin(2 pi a), cos(2 pi a): by quarters of a turn.  Beyond 256 turns sin is 0 and cos is 1. */
static inline double sine_of(double a, bool cosine)
{
    bool inside = a >= -256 && a <= 256;
    double in = inside ? a : 0;
    int32_t quarter = (int32_t)(in * 4 + 1024.5), q = quarter + cosine;
    double t = in - (quarter - 1024) * 0.25; /* in [-1/8, 1/8] */
    double s = POLYNOMIAL(t * t, sine_series) * t, c = POLYNOMIAL(t * t, cosine_series);
    double v = (q & 1) ? c : s;
    v = (q & 2) ? 0 - v : v;
    double special = fabs(a) <= DBL_MAX ? (cosine ? 1.0 : 0.0) : a - a; /* infinities, NaNs: NaN */
    return inside ? (a == 0 && !cosine ? a : v) : special;
}

static inline float exp_32(float a)
{
    return ks_flush_32((float)exp2_of(ks_flush_32(a)));
}
static inline float exp_16(float a) /* finite wherever a is, for MODE.FP16_OVFL */
{
    return ks_round_odd(exp2_of(a > 100 && a <= FLT_MAX ? 100 : a));
}
static inline float log_32(float a)
{
    return (float)log2_of(ks_flush_32(a));
}
static inline float rcp_32(float a)
{
    return ks_flush_32(1.0f / ks_flush_32(a));
}
static inline float rsq_32(float a)
{
    return (float)(1.0 / sqrt((double)ks_flush_32(a)));
}
static inline float sqrt_32(float a)
{
    return sqrtf(ks_flush_32(a));
}
#define TRANSCENDENTAL_OPS(X1)                                                                     \
    X1(v_exp_f32, TRANS, 0, F32, F32, exp_32(a))                                                   \
    X1(v_exp_legacy_f32, TRANS, 0, F32, F32, exp_32(a))                                            \
    X1(v_log_f32, TRANS, 0, F32, F32, log_32(a))                                                   \
    X1(v_log_legacy_f32, TRANS, 0, F32, F32, log_32(a))                                            \
    X1(v_rcp_f32, TRANS, 0, F32, F32, rcp_32(a))                                                   \
    X1(v_rcp_iflag_f32, TRANS, 0, F32, F32, rcp_32(a))                                             \
    X1(v_rsq_f32, TRANS, 0, F32, F32, rsq_32(a))                                                   \
    X1(v_sqrt_f32, TRANS, 0, F32, F32, sqrt_32(a))                                                 \
    X1(v_sin_f32, TRANS, 0, F32, F32, (float)sine_of(a, false))                                    \
    X1(v_cos_f32, TRANS, 0, F32, F32, (float)sine_of(a, true))                                     \
    X1(v_exp_f16, TRANS, 0, F16, F16, exp_16(a))                                                   \
    X1(v_log_f16, TRANS, 0, F16, F16, ks_round_odd(log2_of(a)))                                    \
    X1(v_rcp_f16, TRANS, 0, F16, F16, 1.0f / a)                                                    \
    X1(v_rsq_f16, TRANS, 0, F16, F16, ks_round_odd(1.0 / sqrt((double)a)))                         \
    X1(v_sqrt_f16, TRANS, 0, F16, F16, sqrtf(a))                                                   \
    X1(v_sin_f16, TRANS, 0, F16, F16, ks_round_odd(sine_of(a, false)))                             \
    X1(v_cos_f16, TRANS, 0, F16, F16, ks_round_odd(sine_of(a, true)))                              \
    X1(v_rcp_f64, TRANS, 0, F64, F64, 1.0 / a)                                                     \
    X1(v_rsq_f64, TRANS, 0, F64, F64, 1.0 / sqrt(a))                                               \
    X1(v_sqrt_f64, TRANS, 0, F64, F64, sqrt(a))

/* Faces of a cube: the coordinate of the greatest magnitude says which; z before y before x. */
#define Z_FACE (fabsf(c) >= fabsf(a) && fabsf(c) >= fabsf(b))
#define Y_FACE (fabsf(b) >= fabsf(a))
#define CUBE(X3, name, z, y, x_)                                                                   \
    X3(name, VALU, 0, F32, F32, F32, F32, Z_FACE ? (z) : Y_FACE ? (y) : (x_))
#define CUBE_OPS(X3)                                                                               \
    CUBE(X3, v_cubeid_f32, c < 0 ? 5.0f : 4.0f, b < 0 ? 3.0f : 2.0f, a < 0 ? 1.0f : 0.0f)          \
    CUBE(X3, v_cubesc_f32, c < 0 ? -a : a, a, a < 0 ? c : -c)                                      \
    CUBE(X3, v_cubetc_f32, -b, b < 0 ? -c : c, -b)                                                 \
    CUBE(X3, v_cubema_f32, 2.0f * c, 2.0f * b, 2.0f * a)

/* 2/pi's first 1216 bits, from 2^-1 down. */
static const uint64_t two_over_pi[19] = {
    0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull, 0xfe5163abdebbc561ull,
    0xb7246e3a424dd2e0ull, 0x06492eea09d1921cull, 0xfe1deb1cb129a73eull, 0xe88235f52ebb4484ull,
    0xe99c7026b45f7e41ull, 0x3991d639835339f4ull, 0x9c845f8bbdf9283bull, 0x1ff897ffde05980full,
    0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull, 0x4f463f669e5fea2dull, 0x7527bac7ebe5f17bull,
    0x3d0739f78a5292eaull, 0x6bfb5fb11f8d5d08ull, 0x56033046fc7b6babull,
};
/* V_TRIG_PREOP_F64: 53 bits of 2/pi, the segment that b counts from where a's exponent says that
   bits start to matter. */
static double trig_preop(double a, uint32_t b)
{
    int32_t expo = (int32_t)(ks_bits64(a) >> 52 & 0x7ffu);
    int32_t shift = (int32_t)(b & 31u) * 53 + (expo > 1077 ? expo - 1077 : 0);
    uint64_t bits = 0;
    for (int32_t i = shift; i < shift + 53; i++)
        bits = bits << 1 | (i <= 1200 ? two_over_pi[i / 64] >> (63 - i % 64) & 1u : 0u);
    int32_t by = -53 - shift + (expo >= 1968 ? 128 : 0);
    int32_t lost = by < -1074 ? -1074 - by : 0; /* rounds to 0 */
    return ldexp((double)(lost > 53 ? 0 : bits >> lost), by + lost);
}

#define FLOAT_MATH_OPS(X1, X2, X3, X4, Y1, Y2, Y3, Z)                                              \
    TRANSCENDENTAL_OPS(X1)                                                                         \
    CUBE_OPS(X3)                                                                                   \
    X2(v_trig_preop_f64, F64, 0, F64, F64, U32, trig_preop(a, b))
KS_VEC_TABLE(float_math, FLOAT_MATH_OPS)
