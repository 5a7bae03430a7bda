// SPDX-License-Identifier: MIT
// The functions that kiln_expr.h names, for f32: the same polynomials with fused multiply-adds on
// every machine, without branches, so that loops vectorise and lanes stay together.  Within 4 ulp
// of the exact value everywhere, subnormal results and the far tails of gelu and silu included
// (tests/unit/test_device_math.c).  Where the machine has 2^x (KILN_FAST_EXP2: GPUs), for an
// epilogue or a row has few cycles there, what is built on e^x takes that: e^x, and sigmoid and
// silu left of 0, within 4 + 1.25 |x| ulp; subnormal results are zero; left of 0 the error of the
// two gelu is within 4 ulp of x, not of the result, and silu is zero where e^x is subnormal
// (tests/unit/test_device_math_fast.c).  NaN
// propagates.  At -infinity gelu, gelu_tanh and silu are what their formulas give, NaN (-infinity
// times 0), but for the gelu with the machine's 2^x: 0, and what host_lanes.h has in their place.
// The polynomials are minimax fits; each
// one's error is given beside it.
#ifndef KILN_MATH_H
#define KILN_MATH_H
#include "kiln_device.h"

#define KILN_INF kiln_from_bits(0x7f800000u)
#define KILN_NAN kiln_from_bits(0x7fc00000u)

/* ---- simple ones ---- */
static KILN_DEVICE float kiln_abs(float x)
{
    return kiln_from_bits(kiln_bits(x) & 0x7fffffffu);
}

// |x| with the sign of s.
static KILN_DEVICE float kiln_with_sign(float x, float s)
{
    return kiln_from_bits((kiln_bits(x) & 0x7fffffffu) | (kiln_bits(s) & 0x80000000u));
}

// x y, rounded whatever comes of it, on a GPU; a host keeps such products in memory.
static KILN_DEVICE float kiln_product(float x, float y)
{
#if defined(KILN_GPU_NVIDIA)
    float r;
    asm("mul.rn.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y));
    return r;
#else
#if defined(__clang__)
#pragma clang fp contract(off) reassociate(off)
#endif
    return x * y;
#endif
}

// x y or the number above it: x y less that, in one operation, is nothing above 0.
static KILN_DEVICE float kiln_product_above(float x, float y)
{
    float r;
#if defined(KILN_GPU_NVIDIA)
    asm("mul.rp.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y));
#else
    r = x * y;
    const unsigned bits = kiln_bits(r);
    if (kiln_fma(x, y, -r) > 0.0f) r = kiln_from_bits(r > 0.0f ? bits + 1 : r < 0.0f ? bits - 1 : 1);
#endif
    return r;
}

// e^(x - x): 1, of -infinity 0, of infinity and NaN NaN.  A compiler that fuses may make another number of x - x, where
// one of both is still a product.
static KILN_DEVICE float kiln_own_share(float x)
{
    return x == -KILN_INF ? 0.0f : x < KILN_INF ? 1.0f : KILN_NAN;
}

// NaN if either is.
#if defined(KILN_FAST_MIN)
static KILN_DEVICE float kiln_min(float x, float y)
{
    return kiln_min_fast(x, y);
}
static KILN_DEVICE float kiln_max(float x, float y)
{
    return kiln_max_fast(x, y);
}
static KILN_DEVICE float kiln_relu(float x)
{
    return kiln_max_fast(x, 0.0f);
}
#else
static KILN_DEVICE float kiln_min(float x, float y)
{
    return ((x < y) | (x != x)) ? x : y;
}
static KILN_DEVICE float kiln_max(float x, float y)
{
    return ((x > y) | (x != x)) ? x : y;
}
static KILN_DEVICE float kiln_relu(float x)
{
    return x < 0.0f ? 0.0f : x;
}
#endif

static KILN_DEVICE float kiln_clamp(float x, float lo, float hi)
{
    return kiln_min(kiln_max(x, lo), hi);
}

static KILN_DEVICE float kiln_leaky_relu(float x, float slope)
{
    float y = slope * x;
    return x > 0.0f ? x : y;
}

// Nearest even: 2^23 added to |x| < 2^23 leaves no fraction bits.
static KILN_DEVICE float kiln_round(float x)
{
    float a = kiln_abs(x);
    float r = (a + 8388608.0f) - 8388608.0f;
    return kiln_with_sign(a < 8388608.0f ? r : a, x);
}

// With x's sign where it is 0.
static KILN_DEVICE float kiln_floor(float x)
{
    float r = kiln_round(x);
    return r > x ? r - 1.0f : r;
}

// 1/x for finite x >= 1, within 1 ulp, without the slow path of a full division: the machine's
// approximation and one step of Newton's.
static KILN_DEVICE float kiln_recip(float x)
{
#if defined(KILN_FAST_RECIP)
    float r = kiln_recip_fast(x);
    return kiln_fma(r, kiln_fma(-x, r, 1.0f), r);
#else
    return 1.0f / x;
#endif
}

/* ---- roots ---- */
// A seed from the exponent's bits, then Newton's steps y += y/2 (1 - x y^2).
static KILN_DEVICE float kiln_rsqrt_normal(float x)
{
    float h = 0.5f * x;
    float y = kiln_from_bits(0x5f3759dfu - (kiln_bits(x) >> 1));
    y = y * kiln_fma(-h * y, y, 1.5f);
    y = y * kiln_fma(-h * y, y, 1.5f);
    y = y * kiln_fma(-h * y, y, 1.5f);
    return y;
}

static KILN_DEVICE float kiln_rsqrt(float x)
{
    float s = x * 281474976710656.0f; /* 2^48 */
    int tiny = x < 7.888609e-31f;     /* 2^-100 */
    float v = tiny ? s : x;
    float y = kiln_rsqrt_normal(v);
    float p = v * y;
    float e = kiln_fma(-p, y, 1.0f) - kiln_fma(v, y, -p) * y;
    float r = kiln_fma(0.5f * y, e, y);
    float scaled = r * 16777216.0f; /* 2^24 */
    r = tiny ? scaled : r;
    r = x == KILN_INF ? 0.0f : r;
    r = x == 0.0f ? kiln_with_sign(KILN_INF, x) : r;
    r = x < 0.0f ? KILN_NAN : r;
    return x != x ? x : r;
}

static KILN_DEVICE float kiln_sqrt(float x)
{
    float s = x * 281474976710656.0f;
    int tiny = x < 7.888609e-31f;
    float v = tiny ? s : x;
    float y = kiln_rsqrt_normal(v);
    float q = v * y;
    float r = kiln_fma(kiln_fma(-q, q, v), 0.5f * y, q);
    float scaled = r * 5.9604645e-8f; /* 2^-24 */
    r = tiny ? scaled : r;
    r = x == KILN_INF ? x : r;
    r = x < 0.0f ? KILN_NAN : r;
    return ((x == 0.0f) | (x != x)) ? x : r;
}

/* ---- e^x ---- */
// e^(x + lo) = p * s1 * s2 with p near 1 and two powers of two, so that a caller can multiply
// before the result becomes subnormal.  lo: a correction far below x.  |x| > 126 gives what +-126
// does (s1 * s2 = 0 or infinity).
typedef struct kiln_exp_parts {
    float p, s1, s2;
} kiln_exp_parts;

static KILN_DEVICE float kiln_power_of_two(int n)
{
    return kiln_from_bits(((unsigned)n + 127u) << 23);
}

// p = 2^-k e^x for |r| <= ln2/2, r = x - k ln2; (e^r - 1 - r) / r^2 within 2^-28.  On the host the
// same values by fewer instructions: comparisons that gcc cannot chain into branches, and powers of
// two from the bits of t, which has both biases in it.
static KILN_DEVICE kiln_exp_parts kiln_exp_split(float x, float lo)
{
    float c = x > 126.0f ? 126.0f : x;
#if defined(KILN_GPU_AMD) || defined(KILN_GPU_NVIDIA)
    c = c < -126.0f ? -126.0f : c;
    float t = kiln_fma(c, 1.44269502f, 12582912.0f); /* 1.5 * 2^23: rounds to an integer */
    float k = t - 12582912.0f;
    int n = (int)(kiln_bits(t) - 0x4b400000u);
#else
    c = x < -126.0f ? -126.0f : c;
    float t = kiln_fma(c, 1.44269502f, 12583166.0f); /* 1.5 * 2^23 + 2 * 127: rounds to an integer */
    float k = t - 12583166.0f;
    unsigned n = kiln_bits(t), half = n >> 1;
#endif
    float r = kiln_fma(k, -0.693145752f, c);
    r = r + kiln_fma(k, -1.42860677e-6f, lo);
    float q = 0.00138134090f;
    q = kiln_fma(q, r, 0.00836942345f);
    q = kiln_fma(q, r, 0.0416684523f);
    q = kiln_fma(q, r, 0.166665152f);
    q = kiln_fma(q, r, 0.499999940f);
    kiln_exp_parts e;
    e.p = kiln_fma(r * r, q, r) + 1.0f;
#if defined(KILN_GPU_AMD) || defined(KILN_GPU_NVIDIA)
    e.s1 = kiln_power_of_two(n >> 1);
    e.s2 = kiln_power_of_two(n - (n >> 1));
#else
    e.s1 = kiln_from_bits(half << 23);
    e.s2 = kiln_from_bits((n - half) << 23);
#endif
    return e;
}

#if defined(KILN_FAST_EXP2)
// The last place of x log2 e counts as often as x is large.
static KILN_DEVICE float kiln_exp(float x)
{
    return kiln_exp2_fast(x * 1.44269502f);
}
#else
static KILN_DEVICE float kiln_exp(float x)
{
    kiln_exp_parts e = kiln_exp_split(x, 0.0f);
    return e.p * e.s1 * e.s2;
}
#endif

/* ---- ln x ---- */
// k ln2 + ln(1 + f), sqrt(1/2) <= 1 + f < sqrt 2; (ln(1 + f) - f + f^2/2) / f^3 within 2^-30.
static KILN_DEVICE float kiln_log(float x)
{
    float scaled = x * 8388608.0f;
    int tiny = x < 1.17549435e-38f;
    unsigned u = kiln_bits(tiny ? scaled : x) - 0x3f3504f3u;
    int k = ((int)u >> 23) - (tiny ? 23 : 0);
    float f = kiln_from_bits((u & 0x7fffffu) + 0x3f3504f3u) - 1.0f;
    float n = (float)k, g = f * f;
    float q = 0.0674663782f;
    q = kiln_fma(q, f, -0.116756506f);
    q = kiln_fma(q, f, 0.118881628f);
    q = kiln_fma(q, f, -0.124055900f);
    q = kiln_fma(q, f, 0.142195523f);
    q = kiln_fma(q, f, -0.166679963f);
    q = kiln_fma(q, f, 0.200021192f);
    q = kiln_fma(q, f, -0.250000089f);
    q = kiln_fma(q, f, 0.333333135f);
    float y = kiln_fma(n, 1.42860677e-6f, g * f * q);
    y = kiln_fma(-0.5f, g, y);
    y = kiln_fma(n, 0.693145752f, f + y);
    y = x == KILN_INF ? x : y;
    y = x == 0.0f ? -KILN_INF : y;
    y = x < 0.0f ? KILN_NAN : y;
    return x != x ? x : y;
}

/* ---- sigmoids ---- */
// tanh x = x + x^3 q(x^2) for |x| < 5/8 (within 2^-27), else 1 - 2 / (e^2x + 1).
static KILN_DEVICE float kiln_tanh(float x)
{
    float a = kiln_abs(x), u = x * x;
    float q = -0.00570499804f;
    q = kiln_fma(q, u, 0.0206390992f);
    q = kiln_fma(q, u, -0.0537397191f);
    q = kiln_fma(q, u, 0.133314416f);
    q = kiln_fma(q, u, -0.333332807f);
    float small = kiln_fma(a * u, q, a);
#if defined(KILN_FAST_EXP2) /* to infinity, of which 1 is left */
    float large = kiln_fma(-2.0f, kiln_recip_fast(kiln_exp2_fast(2.88539004f * a) + 1.0f), 1.0f);
#else
    float e = kiln_exp(a < 40.0f ? 2.0f * a : 80.0f); /* 1 from 10 on */
    float large = kiln_fma(-2.0f, kiln_recip(e + 1.0f), 1.0f);
    large = a != a ? a : large;
#endif
    return kiln_with_sign(a < 0.625f ? small : large, x);
}

// tanh x where what counts is the absolute error: within 2^-21.
static KILN_DEVICE float kiln_tanh_absolute(float x)
{
#if defined(KILN_FAST_EXP2)
    return kiln_fma(-2.0f, kiln_recip_fast(kiln_exp2_fast(2.88539004f * x) + 1.0f), 1.0f);
#else
    return kiln_tanh(x);
#endif
}

#if defined(KILN_FAST_EXP2)
// 1 / (1 + e^-x); where e^-x is infinity, it is 0.
static KILN_DEVICE float kiln_sigmoid(float x)
{
    return kiln_recip_fast(1.0f + kiln_exp(-x));
}

static KILN_DEVICE float kiln_silu(float x)
{
    return x * kiln_sigmoid(x);
}

// x / (1 + e^-z), z = 2 sqrt(2/pi) (x + 0.044715 x^3).
static KILN_DEVICE float kiln_gelu_tanh(float x)
{
    float e = kiln_exp2_fast(x * kiln_fma(x * x, -0.102943240f, -2.30220819f));
    return x * kiln_recip_fast(1.0f + e); /* 0 for infinity */
}

// x Phi(x) = max(x, 0) - t Phi(-t), t = |x|.  Phi(-t) is 2^p(t) within 2^-26, p a minimax fit of
// log2 Phi(-t) on [0, 5.6] weighted by Phi(-t), which falls on behind it; at 16 2^p is zero.
static KILN_DEVICE float kiln_gelu(float x)
{
#if defined(KILN_FAST_MIN)
    float t = kiln_min_fast(kiln_abs(x), 16.0f);
#else
    float t = kiln_abs(x) < 16.0f ? kiln_abs(x) : 16.0f;
#endif
    float p = -2.83491272e-6f;
    p = kiln_fma(p, t, 3.937769e-5f);
    p = kiln_fma(p, t, -0.00018618023f);
    p = kiln_fma(p, t, -0.000136936374f);
    p = kiln_fma(p, t, 0.00706342002f);
    p = kiln_fma(p, t, -0.0524961799f);
    p = kiln_fma(p, t, -0.45920819f);
    p = kiln_fma(p, t, -1.15110517f);
    p = kiln_fma(p, t, -1.0f);
    return kiln_fma(-t, kiln_exp2_fast(p), kiln_relu(x)); /* NaN by the latter */
}
#else
// 1 / (1 + e^-x), as e^x / (1 + e^x) on the left, where e^-x would overflow.
static KILN_DEVICE float kiln_sigmoid(float x)
{
    float e = kiln_exp(-kiln_abs(x));
    return (x < 0.0f ? e : 1.0f) * kiln_recip(1.0f + e);
}

// x / (1 + e^-(z + lo)), z of x's sign: the scale comes last on the left, where the result may be
// subnormal.
static KILN_DEVICE float kiln_gate(float x, float z, float lo)
{
    float l = x < 0.0f ? lo : -lo;
    kiln_exp_parts e = kiln_exp_split(-kiln_abs(z), l);
    float m = e.p * e.s1;
    float r = kiln_recip(1.0f + m * e.s2);
    float left = x * m * r * e.s2;
    float y = x < 0.0f ? left : x * r;
    return x < -200.0f ? x * 0.0f : y;
}

static KILN_DEVICE float kiln_silu(float x)
{
    return kiln_gate(x, x, 0.0f);
}

// x / (1 + e^-z), z = 2 sqrt(2/pi) (x + 0.044715 x^3) in two floats: the left tail is e^z, |z| up
// to 100, so z's last place counts a hundredfold.
static KILN_DEVICE float kiln_gelu_tanh(float x)
{
    const float c1 = 1.59576917f, c1_lo = -4.53406805e-8f, c3 = 0.0713548139f,
                c3_lo = 2.39883247e-9f;
    float a = kiln_abs(x);
    float t = kiln_with_sign(a > 20.0f ? 20.0f : a, x);
    float s = t * t, s_lo = kiln_fma(t, t, -s);
    float p = c3 * s, p_lo = kiln_fma(c3, s, -p) + kiln_fma(c3, s_lo, c3_lo * s);
    float h = c1 + p, v = h - c1;
    float h_lo = ((c1 - (h - v)) + (p - v)) + (p_lo + c1_lo);
    float z = t * h, z_lo = kiln_fma(t, h_lo, kiln_fma(t, h, -z));
    return kiln_gate(x, z, z_lo);
}

// x * Phi(x).  Phi(-t) = e^(-t^2/2) Q(t), Q(t) = v q(v - 1/2), v = 4 / (4 + t), within 2^-26 for
// t <= 15; v, w and t^2 in two floats for the tail's sake.
static KILN_DEVICE float kiln_gelu(float x)
{
    float a = kiln_abs(x);
    float t = a > 15.0f ? 15.0f : a;
    float d = 4.0f + t, d_lo = t - (d - 4.0f), r = kiln_recip(d);
    float v = 4.0f * r, v_lo = (kiln_fma(-v, d, 4.0f) - v * d_lo) * r;
    float w = (v - 0.5f) + v_lo;
    float q = 0.017177036f;
    q = kiln_fma(q, w, 0.0111782672f);
    q = kiln_fma(q, w, -0.0501890518f);
    q = kiln_fma(q, w, -0.056163393f);
    q = kiln_fma(q, w, 0.0601920336f);
    q = kiln_fma(q, w, 0.241613954f);
    q = kiln_fma(q, w, 0.373047322f);
    q = kiln_fma(q, w, 0.387136906f);
    q = kiln_fma(q, w, 0.303948283f);
    q = kiln_fma(q, w, 0.188821286f);
    float u = q * v, u_lo = kiln_fma(q, v, -u) + q * v_lo;
    float s = t * t, s_lo = kiln_fma(t, t, -s);
    kiln_exp_parts e = kiln_exp_split(-0.5f * s, -0.5f * s_lo);
    float m = e.p * u, m_lo = kiln_fma(e.p, u, -m) + e.p * u_lo;
    float scale = e.s1 * e.s2;
    float right = kiln_fma(-x, m_lo * scale, kiln_fma(-x, m * scale, x));
    float left = kiln_fma(x, m, x * m_lo) * e.s1 * e.s2;
    float y = x < 0.0f ? left : right;
    y = x > 15.0f ? x : y;
    return x < -15.0f ? x * 0.0f : y;
}
#endif

/* ---- x^y = 2^(y log2 |x|), the logarithm in two floats ---- */
typedef struct kiln_two_floats {
    float hi, lo;
} kiln_two_floats;

// log2 of a positive finite x: ln(1 + f) = 2 atanh(s), s = f / (2 + f); (2 atanh(s) - 2s) / s^3
// within 2^-31.
static KILN_DEVICE kiln_two_floats kiln_log2_split(float x)
{
    float scaled = x * 8388608.0f;
    int tiny = x < 1.17549435e-38f;
    unsigned u = kiln_bits(tiny ? scaled : x) - 0x3f3504f3u;
    int k = ((int)u >> 23) - (tiny ? 23 : 0);
    float f = kiln_from_bits((u & 0x7fffffu) + 0x3f3504f3u) - 1.0f;
    float d = 2.0f + f, d_lo = f - (d - 2.0f);
    float r = kiln_recip(d);
    float s = f * r;
    float s_lo = (kiln_fma(-s, d, f) - s * d_lo) * r;
    float g = s * s;
    float q = 0.235825926f;
    q = kiln_fma(q, g, 0.285372883f);
    q = kiln_fma(q, g, 0.400003344f);
    q = kiln_fma(q, g, 0.666666627f);
    float w = s * g, w_lo = kiln_fma(s, g, -w) + s * kiln_fma(s, s, -g);
    float tail = w * q, tail_lo = kiln_fma(w, q, -tail);
    tail_lo += kiln_fma(w_lo, q, 2.0f * kiln_fma(s_lo, g, s_lo));
    float h = 2.0f * s + tail, h_lo = tail - (h - 2.0f * s) + tail_lo;
    const float c = 1.44269502f, c_lo = 1.92596303e-8f; /* log2 e */
    float p = h * c, p_lo = kiln_fma(h, c, -p) + kiln_fma(h, c_lo, h_lo * c);
    float n = (float)k;
    kiln_two_floats l;
    l.hi = n + p;
    l.lo = (p - (l.hi - n)) + p_lo;
    return l;
}

// 2^(x + lo); (2^r - 1) / r within 2^-28.
static KILN_DEVICE float kiln_exp2_sum(float x, float lo)
{
    float c = x > 200.0f ? 200.0f : x;
    c = c < -200.0f ? -200.0f : c;
    float t = c + 12582912.0f;
    float k = t - 12582912.0f;
    int n = (int)(kiln_bits(t) - 0x4b400000u);
    float r = (c - k) + lo;
    float q = 0.000155987873f;
    q = kiln_fma(q, r, 0.00134081859f);
    q = kiln_fma(q, r, 0.00961767416f);
    q = kiln_fma(q, r, 0.0555030629f);
    q = kiln_fma(q, r, 0.240226522f);
    q = kiln_fma(q, r, 0.693147242f);
    return kiln_fma(q, r, 1.0f) * kiln_power_of_two(n >> 1) * kiln_power_of_two(n - (n >> 1));
}

// As C's pow, but NaN propagates from either side, x^0 and 1^y included.
static KILN_DEVICE float kiln_pow(float x, float y)
{
    float a = kiln_abs(x), b = kiln_abs(y);
    kiln_two_floats l = kiln_log2_split(a);
    float hi = a == 0.0f ? -KILN_INF : a == KILN_INF ? a : l.hi;
    float p = y * hi;
    float p_lo = kiln_fma(y, l.lo, kiln_fma(y, hi, -p));
    float z = kiln_exp2_sum(p, kiln_abs(p) < 200.0f ? p_lo : 0.0f);
    z = ((y == 0.0f) | (a == 1.0f)) ? 1.0f : z;
    /* odd: 2^23 added to |y| < 2^23 shows the last integer bit; from 2^24 on every float is even */
    float whole = b < 8388608.0f ? b + 8388608.0f : b;
    int integer = kiln_round(b) == b;
    int odd = integer & (b < 16777216.0f) & (int)(kiln_bits(whole) & 1u);
    float flipped = odd ? -z : z;
    float fraction = ((a == 0.0f) | (a == KILN_INF)) ? z : KILN_NAN;
    float negative = integer ? flipped : fraction;
    z = kiln_bits(x) >> 31 ? negative : z;
    z = x != x ? x : z;
    return y != y ? y : z;
}
#endif
