// SPDX-License-Identifier: MIT
// kiln_math.h as it is on machines that have 2^x, minimum and maximum as instructions: these are
// played by the exact functions, and then by the worst that the machine promises.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "device_math.h"
#include "kiln_device.h"

#define KILN_FAST_RECIP 1
#define KILN_FAST_EXP2  1
#define KILN_FAST_MIN   1
static int exp2_off, recip_off; /* units in the last place */

static float off_by(float x, int ulps)
{
    for (; ulps > 0; ulps--) x = nextafterf(x, INFINITY);
    for (; ulps < 0; ulps++) x = nextafterf(x, -INFINITY);
    return x;
}

static float flushed(float x)
{
    return fabsf(x) < FLT_MIN ? copysignf(0, x) : x;
}

static float kiln_exp2_fast(float x)
{
    const float y = flushed((float)exp2((double)flushed(x)));
    return isfinite(y) && y > 0 ? off_by(y, exp2_off) : y;
}

static float kiln_recip_fast(float x)
{
    const float y = flushed(1 / x);
    return isfinite(y) && fabsf(y) > 0 ? off_by(y, recip_off) : y;
}

static float kiln_min_fast(float x, float y)
{
    return isnan(x) || isnan(y) ? NAN : fminf(x, y);
}

static float kiln_max_fast(float x, float y)
{
    return isnan(x) || isnan(y) ? NAN : fmaxf(x, y);
}

#include "kiln_math.h"

/* By how much may it be wrong where that is more than `allowed`? */
static double subnormal(double x)
{
    (void)x;
    return (double)FLT_MIN;
}

static double of_x(double x) /* 4 ulp of it */
{
    int e;
    frexp(x, &e);
    return x < 0 ? ldexp(4, e - 24) : 0;
}

/* What is e^x: 4 + 1.25 |x| ulp. */
static double of_exponent(double x, double value)
{
    const double ulps = 4 + 1.25 * fmin(fabs(x), 104);
    return (double)FLT_MIN + ulps * 0x1p-23 * fabs(value);
}

static double of_exp(double x)
{
    return of_exponent(x, exp(x));
}

static double of_sigmoid(double x)
{
    return of_exponent(fmin(x, 0), ref_sigmoid(x));
}

static double of_silu(double x) /* zero where e^x is subnormal */
{
    return of_exponent(fmin(x, 0), ref_silu(x)) + (x < -87.3 ? 89 : 1) * (double)FLT_MIN;
}

#define FUNCTIONS(X)                                                                               \
    X(exp, exp, of_exp)                                                                            \
    X(tanh, tanh, subnormal)                                                                       \
    X(sigmoid, ref_sigmoid, of_sigmoid)                                                            \
    X(silu, ref_silu, of_silu)                                                                     \
    X(gelu, ref_gelu, of_x)                                                                        \
    X(gelu_tanh, ref_gelu_tanh, of_x)                                                              \
    X(relu, ref_relu, subnormal)

#define X(name, ref, more)                                                                         \
    static float call_##name(float x)                                                              \
    {                                                                                              \
        return kiln_##name(x);                                                                     \
    }
FUNCTIONS(X)
#undef X
static const struct function {
    const char *name;
    float (*f)(float);
    double (*ref)(double), (*more)(double);
} functions[] = {
#define X(name, ref, more) {#name, call_##name, ref, more},
    FUNCTIONS(X)
#undef X
};

static void check(const struct function *f, float x)
{
    const float got = f->f(x);
    const double want = f->ref((double)x), error = fabs((double)got - want);
    if (ulps(got, want) <= 4 || error <= f->more((double)x)) return;
    /* With all at its worst, which no argument is known to be; an ulp as kiln_reference_bounds
     * takes it. */
    if ((exp2_off || recip_off) && error <= 5 * 0x1p-23 * fabs(want)) return;
    if (x == -INFINITY && got == 0) return; /* the limit, where the formula gives NaN */
    fail_msg("%s(%a) is %a, not %a: %g ulp; 2^x off by %d, 1/x by %d", f->name, (double)x,
             (double)got, want, ulps(got, want), exp2_off, recip_off);
}

static void test_functions(void **state)
{
    const float special[] = {0.0f, FLT_MIN, FLT_MAX, 0x1p-149f, INFINITY, NAN, 5.6f, 15, 16, 88.7f};
    enum {
        COUNT = sizeof special / sizeof *special,
        FUNCTIONS = sizeof functions / sizeof *functions
    };
    (void)state;
    for (size_t f = 0; f < FUNCTIONS; f++) {
        for (size_t i = 0; i < COUNT; i++)
            check(&functions[f], special[i]), check(&functions[f], -special[i]);
        for (uint64_t u = 0; u <= UINT32_MAX; u += 8191) /* over every exponent and sign */
            check(&functions[f], kiln_from_bits((uint32_t)u));
        for (int p = -(1 << 18); p <= 1 << 18; p++) /* where they bend */
            check(&functions[f], (float)p * (20.0f / 0x1p18f));
        for (int p = -(1 << 15); p <= 1 << 15; p++)
            check(&functions[f], (float)p * (110.0f / 0x1p15f));
    }
}

/* By its absolute error. */
static void check_tanh_absolute(float x)
{
    const float got = kiln_tanh_absolute(x);
    if (isnan(x) ? isnan(got) : fabs((double)got - tanh((double)x)) <= 0x1p-21) return;
    fail_msg("tanh_absolute(%a) is %a; 2^x off by %d, 1/x by %d", (double)x, (double)got, exp2_off,
             recip_off);
}

static void test_tanh_absolute(void **state)
{
    (void)state;
    for (exp2_off = -2; exp2_off <= 2; exp2_off += 2)
        for (recip_off = -1; recip_off <= 1; recip_off++) {
            for (uint64_t u = 0; u <= UINT32_MAX; u += 8191)
                check_tanh_absolute(kiln_from_bits((uint32_t)u));
            for (int p = -(1 << 18); p <= 1 << 18; p++)
                check_tanh_absolute((float)p * (20.0f / 0x1p18f));
        }
    exp2_off = recip_off = 0;
}

/* CUDA's guide: exp2f, which is the instruction, within 2 ulp; rcp.approx within 1. */
static void test_machine(void **state)
{
    for (exp2_off = -2; exp2_off <= 2; exp2_off += 2)
        for (recip_off = -1; recip_off <= 1; recip_off++) test_functions(state);
    exp2_off = recip_off = 0;
}

static void test_choices(void **state)
{
    const float v[] = {0, 1, -1, 2.5f, FLT_MAX, -FLT_MAX, INFINITY, -INFINITY, NAN};
    enum { COUNT = sizeof v / sizeof *v };
    (void)state;
    for (int i = 0; i < COUNT; i++)
        for (int j = 0; j < COUNT; j++) {
            const float lo = kiln_min(v[i], v[j]), hi = kiln_max(v[i], v[j]);
            const bool nan = isnan(v[i]) || isnan(v[j]);
            assert_int_equal(isnan(lo), nan);
            assert_int_equal(isnan(hi), nan);
            if (!nan) assert_true(lo == fminf(v[i], v[j]) && hi == fmaxf(v[i], v[j]));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_functions),
                                       cmocka_unit_test(test_machine),
                                       cmocka_unit_test(test_tanh_absolute),
                                       cmocka_unit_test(test_choices)};
    return cmocka_run_group_tests_name("device_math_fast", tests, NULL, NULL);
}
