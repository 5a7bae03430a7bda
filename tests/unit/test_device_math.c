// SPDX-License-Identifier: MIT
// The device headers on the host: every number format both ways against a plain definition (decode
// by ldexp, encode by searching the nearest representable value), every function of kiln_math.h
// within 4 ulp of libm in double precision.
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "device_math.h"
#include "kiln_math.h"
#include "kiln_types.h"

/* ---- number formats ---- */
typedef struct format {
    const char *name;
    int bits, mant, bias;
    enum { IEEE, OCP_E4M3, FNUZ } kind;
    bool saturates;
    float (*widen)(unsigned);
    unsigned (*narrow)(float);
} format;

#define WRAP(T)                                                                                    \
    static float widen_##T(unsigned v)                                                             \
    {                                                                                              \
        return kiln_##T##_to_f32((kiln_##T##_t)v);                                                 \
    }                                                                                              \
    static unsigned narrow_##T(float x)                                                            \
    {                                                                                              \
        return (unsigned)kiln_f32_to_##T(x);                                                       \
    }
WRAP(f16)
WRAP(bf16)
WRAP(f8e4m3)
WRAP(f8e5m2)
WRAP(f8e4m3fnuz)
WRAP(f8e5m2fnuz)

static const format formats[] = {
    {"f16", 16, 10, 15, IEEE, false, widen_f16, narrow_f16},
    {"bf16", 16, 7, 127, IEEE, false, widen_bf16, narrow_bf16},
    {"f8e4m3", 8, 3, 7, OCP_E4M3, true, widen_f8e4m3, narrow_f8e4m3},
    {"f8e5m2", 8, 2, 15, IEEE, true, widen_f8e5m2, narrow_f8e5m2},
    {"f8e4m3fnuz", 8, 3, 8, FNUZ, true, widen_f8e4m3fnuz, narrow_f8e4m3fnuz},
    {"f8e5m2fnuz", 8, 2, 16, FNUZ, true, widen_f8e5m2fnuz, narrow_f8e5m2fnuz},
};

/* The value of code v by the format's definition. */
static double decode(const format *f, unsigned v)
{
    unsigned sign = v >> (f->bits - 1), m = v & ((1u << (f->bits - 1)) - 1);
    int e = (int)(m >> f->mant), top = (1 << (f->bits - 1 - f->mant)) - 1;
    unsigned frac = m & ((1u << f->mant) - 1);
    double x;
    if (f->kind == FNUZ && v == 1u << (f->bits - 1)) return NAN;
    if (f->kind == OCP_E4M3 && m == 0x7f) return NAN;
    if (f->kind == IEEE && e == top) return frac ? NAN : sign ? -INFINITY : INFINITY;
    if (e == 0)
        x = ldexp(frac, 1 - f->bias - f->mant);
    else
        x = ldexp(1.0 + ldexp(frac, -f->mant), e - f->bias);
    return sign ? -x : x;
}

/* Largest code whose value is finite. */
static unsigned max_code(const format *f)
{
    unsigned v = (1u << (f->bits - 1)) - 1;
    while (!isfinite(decode(f, v))) v--;
    return v;
}

/* The code nearest to x, ties to the even one, by bisection over the positive finite codes. */
static unsigned encode(const format *f, float x)
{
    unsigned sign = 1u << (f->bits - 1), top = max_code(f), lo = 0, hi = top;
    double a = fabs((double)x);
    while (hi - lo > 1) {
        unsigned mid = (lo + hi) / 2;
        if (decode(f, mid) <= a)
            lo = mid;
        else
            hi = mid;
    }
    double below = decode(f, lo), above = decode(f, hi), limit = above + (above - below) / 2;
    unsigned v = a - below < above - a || (a - below == above - a && !(lo & 1)) ? lo : hi;
    if (a >= limit && !f->saturates) v = top + 1; /* a tie at the end goes to the even infinity */
    if (f->kind == FNUZ && v == 0) return 0;
    return !!signbit(x) ? v | sign : v;
}

static void check_narrow(const format *f, float x)
{
    unsigned got = f->narrow(x);
    if (isnan(x)) {
        if (!isnan(decode(f, got))) fail_msg("%s: NaN became %#x", f->name, got);
        return;
    }
    unsigned want = encode(f, x);
    if (got != want) fail_msg("%s: %a became %#x, not %#x", f->name, (double)x, got, want);
}

static void check_around(const format *f, float x)
{
    check_narrow(f, x);
    check_narrow(f, -x);
    check_narrow(f, nextafterf(x, INFINITY));
    check_narrow(f, nextafterf(x, 0));
}

static void test_formats(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const format *f = &formats[i];
        for (unsigned v = 0; v < 1u << f->bits; v++) {
            double want = decode(f, v);
            float got = f->widen(v);
            if (isnan(want) ? !isnan(got)
                            : (double)got != want || !!signbit(got) != !!signbit(want))
                fail_msg("%s: code %#x is %a, not %a", f->name, v, (double)got, want);
            if (!isnan(want) && !(f->saturates && isinf(want))) assert_int_equal(f->narrow(got), v);
        }
        for (unsigned v = 0; v < max_code(f);
             v++) { /* each value, and each tie between neighbours */
            check_around(f, (float)decode(f, v));
            check_around(f, (float)((decode(f, v) + decode(f, v + 1)) / 2));
        }
        check_around(f, (float)decode(f, max_code(f)));
        for (uint64_t u = 0; u <= UINT32_MAX; u += 4093 * SPARSE)
            check_narrow(f, kiln_from_bits((uint32_t)u));
        check_narrow(f, INFINITY);
        check_narrow(f, -INFINITY);
        check_narrow(f, NAN);
        check_narrow(f, kiln_from_bits(0x7f800001u));
        check_narrow(f, kiln_from_bits(0xffffffffu));
    }
}

static int32_t to_int(float x, double lo, double hi)
{
    double r = rint((double)x);
    return isnan(x) ? 0 : (int32_t)fmin(fmax(r, lo), hi);
}

static void check_ints(float x)
{
    int32_t i8 = kiln_f32_to_i8(x), i32 = kiln_f32_to_i32(x);
    if (i8 != to_int(x, -128, 127)) fail_msg("%a became i8 %d", (double)x, i8);
    int32_t u8 = kiln_f32_to_u8(x);
    if (u8 != to_int(x, 0, 255)) fail_msg("%a became u8 %d", (double)x, u8);
    if (i32 != to_int(x, INT32_MIN, INT32_MAX)) fail_msg("%a became i32 %d", (double)x, i32);
}

static void test_integers(void **state)
{
    (void)state;
    for (int v = -128; v < 128; v++) assert_true(kiln_i8_to_f32((kiln_i8_t)v) == (float)v);
    for (int v = 0; v < 256; v++) assert_true(kiln_u8_to_f32((kiln_u8_t)v) == (float)v);
    for (int64_t v = INT32_MIN; v <= INT32_MAX; v += 65521)
        assert_true(kiln_i32_to_f32((int32_t)v) == (float)v);
    for (int v = -4 * 140; v < 4 * 270; v++) check_ints((float)v / 4);
    for (uint64_t u = 0; u <= UINT32_MAX; u += 1021 * SPARSE)
        check_ints(kiln_from_bits((uint32_t)u));
    const float edges[] = {0x1p31f,        -0x1p31f, 0x1.fffffep30f, 0x1p23f, 0x1.000002p23f,
                           0x1.fffffep22f, INFINITY, -INFINITY,      NAN,     0x1p22f + 0.5f};
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
        check_ints(edges[i]), check_ints(-edges[i]);
}

/* ---- functions ---- */
static double ref_rsqrt(double x)
{
    return 1 / sqrt(x);
}

#define UNARY(X)                                                                                   \
    X(exp, exp, 4)                                                                                 \
    X(log, log, 4)                                                                                 \
    X(tanh, tanh, 4)                                                                               \
    X(sigmoid, ref_sigmoid, 4) X(silu, ref_silu, 4) X(gelu, ref_gelu, 4)                           \
        X(gelu_tanh, ref_gelu_tanh, 4) X(sqrt, sqrt, 0.5) X(rsqrt, ref_rsqrt, 1)                   \
            X(relu, ref_relu, 0) X(abs, fabs, 0) X(round, rint, 0) X(floor, floor, 0)

static struct unary {
    const char *name;
    float (*f)(float);
    double (*ref)(double);
    double allowed;
} unary[];

#define X(name, ref, allowed)                                                                      \
    static float call_##name(float x)                                                              \
    {                                                                                              \
        return kiln_##name(x);                                                                     \
    }
UNARY(X)
#undef X
static struct unary unary[] = {
#define X(name, ref, allowed) {#name, call_##name, ref, allowed},
    UNARY(X)
#undef X
};

static void check_unary(const struct unary *u, float x, double *worst, float *at)
{
    double e = ulps(u->f(x), u->ref((double)x));
    if (e > *worst || isnan(e)) *worst = e, *at = x;
}

static void test_unary(void **state)
{
    (void)state;
    const float special[] = {0.0f,  FLT_MIN, FLT_MAX, 0x1p-149f, INFINITY, NAN,      1,
                             88.7f, 104,     15,      20,        0.625f,   0x1p-126f};
    for (size_t i = 0; i < sizeof unary / sizeof *unary; i++) {
        double worst = 0;
        float at = 0;
        for (size_t s = 0; s < sizeof special / sizeof *special; s++) {
            check_unary(&unary[i], special[s], &worst, &at);
            check_unary(&unary[i], -special[s], &worst, &at);
        }
        for (uint64_t u = 0; u <= UINT32_MAX;
             u += 1021 * SPARSE) /* 2^22 points over every exponent and sign */
            check_unary(&unary[i], kiln_from_bits((uint32_t)u), &worst, &at);
        for (int p = -(1 << 20); p <= 1 << 20;
             p += SPARSE) /* 2^21 where the interesting functions bend */
            check_unary(&unary[i], (float)p * (110.0f / 0x1p20f), &worst, &at);
        if (getenv("KILN_TEST_VERBOSE"))
            print_message("# %-10s %.3f ulp at %a (allowed %g)\n", unary[i].name, worst, (double)at,
                          unary[i].allowed);
        if (!(worst <= unary[i].allowed))
            fail_msg("%s: %g ulp at %a, %g allowed", unary[i].name, worst, (double)at,
                     unary[i].allowed);
    }
}

/* libm's pow, but NaN propagates from both sides. */
static double ref_pow(double x, double y)
{
    return isnan(x) || isnan(y) ? NAN : pow(x, y);
}

static uint32_t next_random(uint64_t *s)
{
    *s = *s * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*s >> 32);
}

static void test_pow(void **state)
{
    (void)state;
    const float special[] = {
        0,       1,       2,       3,         0.5f,     1.5f, 0x1p23f, 0x1.000002p23f,
        0x1p24f, FLT_MAX, FLT_MIN, 0x1p-149f, INFINITY, NAN};
    enum { COUNT = sizeof special / sizeof *special };
    for (int i = 0; i < 4 * COUNT * COUNT; i++) {
        float x = special[i / 4 % COUNT] * (i & 1 ? -1.0f : 1.0f),
              y = special[i / 4 / COUNT] * (i & 2 ? -1.0f : 1.0f);
        double want = ref_pow((double)x, (double)y);
        float got = kiln_pow(x, y);
        if (ulps(got, want) > 4 || (want == 0 && !!signbit(got) != !!signbit(want)))
            fail_msg("pow(%a, %a) is %a, not %a", (double)x, (double)y, (double)got, want);
    }
    uint64_t seed = 1;
    double worst = 0;
    for (int i = 0; i < 1 << 22; i++) {
        float x = kiln_from_bits(next_random(&seed) & 0x7fffffffu); /* any positive one */
        if (isnan(x)) continue;
        double l = log2((double)x), power = (double)next_random(&seed) / 0x1p32 * 300 - 155;
        float y =
            (float)(i & 1 || l == 0 ? power / 20 : power / l); /* results from 0 to infinity */
        double e = ulps(kiln_pow(x, y), ref_pow((double)x, (double)y));
        if (e > worst) worst = e;
        if (!(e <= 4)) fail_msg("pow(%a, %a): %g ulp", (double)x, (double)y, e);
        float near_one = 1.0f + (float)((int32_t)next_random(&seed) >> 8) * 0x1p-26f;
        float big = (float)(power / log2((double)near_one));
        if (near_one != 1.0f &&
            !(ulps(kiln_pow(near_one, big), pow((double)near_one, (double)big)) <= 4))
            fail_msg("pow(%a, %a)", (double)near_one, (double)big);
    }
    if (getenv("KILN_TEST_VERBOSE")) print_message("# pow        %.3f ulp\n", worst);
}

static void test_choices(void **state)
{
    (void)state;
    const float v[] = {0, 1, -1, 2.5f, FLT_MAX, -FLT_MAX, 0x1p-149f, INFINITY, -INFINITY, NAN};
    enum { COUNT = sizeof v / sizeof *v };
    for (int i = 0; i < COUNT; i++) {
        for (int j = 0; j < COUNT; j++) {
            float x = v[i], y = v[j], lo = kiln_min(x, y), hi = kiln_max(x, y);
            bool nan = isnan(x) || isnan(y);
            assert_int_equal(isnan(lo), nan);
            assert_int_equal(isnan(hi), nan);
            if (!nan) assert_true(lo == fminf(x, y) && hi == fmaxf(x, y));
            float leaky = kiln_leaky_relu(x, y);
            if (x > 0) assert_true(leaky == x);
            if (x < 0) assert_true(ulps(leaky, (double)y * (double)x) <= 0.5);
            if (isnan(x)) assert_true(isnan(leaky));
            float c = kiln_clamp(x, -2, 3);
            if (isnan(x)) assert_true(isnan(c));
            if (!isnan(x)) assert_true(c == fminf(fmaxf(x, -2), 3));
        }
    }
    const float whole[] = {0, -0.0f, 0.5f, -0.5f, 1, -1, 0x1.fffffep22f, -0x1.fffffep22f};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        float x = kiln_floor(whole[i]), want = floorf(whole[i]);
        assert_true(x == want && !!signbit(x) == !!signbit(want));
    }
    assert_true(kiln_dot4_i8_i8(0x80808080u, 0x7f7f7f7fu, 5) == 5 - 4 * 128 * 127);
    assert_true(kiln_dot4_i8_i8(0x01020304u, 0xff01ff01u, 0x7fffffff) ==
                (int)(0x7fffffffu + (unsigned)(4 - 3 + 2 - 1)));
    assert_true(kiln_dot4_u8_i8(0xff800102u, 0x80ff7f01u, 5) == 5 - 255 * 128 - 128 + 127 + 2);
    assert_true(kiln_dot4_i8_u8(0x80ff7f01u, 0xff800102u, 5) == 5 - 255 * 128 - 128 + 127 + 2);
    assert_true(kiln_dot4_u8_u8(0xffffffffu, 0xffffff00u, 0x7fffffff) ==
                (int)(0x7fffffffu + 3u * 255 * 255));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formats), cmocka_unit_test(test_integers),
        cmocka_unit_test(test_unary),   cmocka_unit_test(test_pow),
        cmocka_unit_test(test_choices),
    };
    return cmocka_run_group_tests_name("device_math", tests, NULL, NULL);
}
