// SPDX-License-Identifier: MIT
// The double-precision reference against loops written out by hand, and its bounds: every f32
// evaluation lies within them, in whatever order it sums, and a result that is wrong by a little
// does not.
#define _GNU_SOURCE
#include <float.h>
#include <math.h>
#include "runtime_host_test.h"

static uint64_t seed = 0x9e3779b97f4a7c15ull;

static double uniform(void) /* -1 .. 1 */
{
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return (double)(int64_t)seed * 0x1p-63;
}

static void fill_f32(float *p, size_t n)
{
    for (size_t i = 0; i < n; i++) p[i] = (float)uniform();
}

static kiln_args arguments(const void *a, const void *b, const void *d, void *e)
{
    return (kiln_args){.struct_size = sizeof(kiln_args), .a = a, .b = {b}, .d = {d}, .e = e};
}

/* ---- values ---- */

static void test_axpby_layouts_and_strides(void **state)
{
    (void)state;
    enum { M = 37, N = 19, K = 53, BATCH = 3, LDA = 60, LDB = 21, LDE = 25, LDC = 20 };
    static float a[BATCH * M * LDA], b[K * LDB], c[BATCH * (M * LDC + 5)], e[BATCH * M * LDE];
    fill_f32(a, sizeof a / 4);
    fill_f32(b, sizeof b / 4);
    fill_f32(c, sizeof c / 4);
    for (size_t i = 0; i < sizeof e / 4; i++) e[i] = -77;
    const kiln_problem p = problem(
        "axpby f32,f32,f32 rrr m=37 n=19 k=53 batch=3 lda=60 ldb=21 lde=25 ldd.c=20 sd.c=745 "
        "sb=broadcast");
    kiln_args args = arguments(a, b, c, e);
    args.scalars[0] = 0.5f;
    args.scalars[1] = -3;
    assert_ok(kiln_reference(&p, &args));
    for (int batch = 0; batch < BATCH; batch++)
        for (int i = 0; i < M; i++) {
            for (int j = 0; j < N; j++) {
                double sum = 0;
                for (int k = 0; k < K; k++)
                    sum += (double)a[batch * M * LDA + i * LDA + k] * (double)b[k * LDB + j];
                const double x = 0.5 * sum - 3 * (double)c[batch * 745 + i * LDC + j];
                assert_true(fabs(x - (double)e[batch * M * LDE + i * LDE + j]) <=
                            0x1p-24 * fabs(x));
            }
            for (int j = N; j < LDE && (batch < BATCH - 1 || i < M - 1); j++)
                assert_true(e[batch * M * LDE + i * LDE + j] == -77); /* padding is left alone */
        }
}

static void test_two_products(void **state)
{
    (void)state;
    enum { M = 3, N = 9, K = 11 };
    static float a[M * K], gate[N * K], up[N * K], e[M * N];
    fill_f32(a, M * K);
    fill_f32(gate, N * K);
    fill_f32(up, N * K);
    const kiln_problem p = problem("swiglu f32,f32,f32 rcr m=3 n=9 k=11");
    kiln_args args = arguments(a, gate, NULL, e);
    args.b[1] = up;
    assert_ok(kiln_reference(&p, &args));
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double x = 0, y = 0;
            for (int k = 0; k < K; k++) {
                x += (double)a[i * K + k] * (double)gate[j * K + k];
                y += (double)a[i * K + k] * (double)up[j * K + k];
            }
            const double want = x / (1 + exp(-x)) * y;
            assert_true(fabs(want - (double)e[i * N + j]) <= 0x1p-23 * fabs(want));
        }
}

static uint16_t bf16(float x) /* exact ones only */
{
    uint32_t bits;
    memcpy(&bits, &x, 4);
    assert_int_equal(bits & 0xffff, 0);
    return (uint16_t)(bits >> 16);
}

/* a_op = 2x, b_op = (x - 3) * 0.3, both rounded to bf16 before the product; column-major E. */
static void test_element_functions(void **state)
{
    (void)state;
    enum { M = 5, N = 6, K = 7 };
    uint16_t a[M * K], zero = bf16(-1.5f);
    int8_t b[K * N];
    float scale[M], e[N * M];
    double wide_a[M * K];
    for (int i = 0; i < M * K; i++) {
        const float x = (float)(int)(uniform() * 16);
        a[i] = bf16(x);
        wide_a[i] = 2 * (double)x;
    }
    for (int i = 0; i < K * N; i++) b[i] = (int8_t)(uniform() * 127);
    fill_f32(scale, M);
    const kiln_problem p = problem("dequant bf16,i8,f32 rrc m=5 n=6 k=7");
    kiln_args args = arguments(a, b, scale, e);
    args.d[1] = &zero;
    assert_ok(kiln_reference(&p, &args));
    static double lo[M * N], hi[M * N];
    assert_ok(kiln_reference_bounds(&p, &args, lo, hi));
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0, f32_sum = 0;
            for (int k = 0; k < K; k++) {
                const double x = (b[k * N + j] - 3) * (double)0.3f;
                sum += wide_a[i * K + k] * kr_round_to(KILN_BF16, x);
                f32_sum += wide_a[i * K + k] * kr_round_to(KILN_BF16, (double)(float)x);
            }
            const double want = sum * (double)scale[i] - 1.5;
            assert_true(fabs(want - (double)e[j * M + i]) <= 0x1p-22 * (fabs(want) + 1));
            const double got = f32_sum * (double)scale[i] - 1.5;
            assert_true(lo[i * N + j] <= got && got <= hi[i * N + j]);
            assert_true(hi[i * N + j] - lo[i * N + j] < 1e-2 * (fabs(want) + 10));
        }
}

static void test_integers_wrap_round_and_saturate(void **state)
{
    (void)state;
    enum { K = 140000 };
    int8_t *a = malloc(K), *b = malloc(K), e;
    memset(a, -128, K);
    memset(b, -128, K);
    kiln_problem p = problem("linear_i8 i8,i8,i8 rcr m=1 n=1 k=140000");
    kiln_args args = arguments(a, b, NULL, &e);
    double lo, hi;
    args.scalars[0] = 1e-7f; /* 16384 * 140000 - 2^32 = -2001207296 */
    assert_ok(kiln_reference(&p, &args));
    assert_int_equal(e, -128);
    args.scalars[0] = 1e-8f;
    assert_ok(kiln_reference(&p, &args));
    assert_int_equal(e, -20);
    assert_ok(kiln_reference_bounds(&p, &args, &lo, &hi));
    assert_true(lo == -20 && hi == -20);
    p.k = 5;
    a[0] = 1, b[0] = 5;
    for (int i = 1; i < 5; i++) b[i] = 0;
    args.scalars[0] = 0.5f; /* 2.5 -> 2: ties to even, exactly known */
    assert_ok(kiln_reference(&p, &args));
    assert_int_equal(e, 2);
    assert_ok(kiln_reference_bounds(&p, &args, &lo, &hi));
    assert_true(lo == 2 && hi == 2);
    args.scalars[0] = NAN; /* 0 in an integer */
    assert_ok(kiln_reference(&p, &args));
    assert_int_equal(e, 0);
    assert_ok(kiln_reference_bounds(&p, &args, &lo, &hi));
    assert_true(lo == 0 && hi == 0);
    args.scalars[0] = INFINITY;
    assert_ok(kiln_reference(&p, &args));
    assert_int_equal(e, 127);
    free(a);
    free(b);
}

/* 127 * 127 * 1041 is odd and has 25 bits: f32 makes 16790288 of it. */
static void test_sums_of_integers_are_kept(void **state)
{
    (void)state;
    enum { K = 1041, SUM = 127 * 127 * K };
    int8_t ones[K];
    int32_t e;
    float f;
    double lo, hi;
    memset(ones, 127, K);
    kiln_problem p = problem("product i8,i8,i32 rcr m=1 n=1 k=1041");
    kiln_args args = arguments(ones, ones, NULL, &e);
    assert_ok(kiln_reference(&p, &args));
    assert_int_equal(e, SUM);
    assert_ok(kiln_reference_bounds(&p, &args, &lo, &hi));
    assert_true(lo == SUM && hi == SUM);
    p = problem("product i8,i8,f32 rcr m=1 n=1 k=1041");
    args.e = &f;
    assert_ok(kiln_reference(&p, &args));
    assert_true(f == (float)SUM);
    assert_ok(kiln_reference_bounds(&p, &args, &lo, &hi));
    assert_true(lo == (double)(float)SUM && hi == lo);
}

static void test_empty(void **state)
{
    (void)state;
    float bias[2] = {-1, 3}, e[4] = {9, 9, 9, 9};
    double lo[4], hi[4];
    kiln_problem p = problem("bias_relu f32,f32,f32 rcr m=2 n=2 k=0");
    kiln_args args = arguments(NULL, NULL, bias, e);
    assert_ok(kiln_reference(&p, &args)); /* K = 0: E = relu(bias) */
    assert_true(e[0] == 0 && e[1] == 3 && e[2] == 0 && e[3] == 3);
    assert_ok(kiln_reference_bounds(&p, &args, lo, hi));
    assert_true(lo[1] == 3 && hi[1] == 3 && lo[0] == 0 && hi[0] == 0);
    p.m = 0;
    args = arguments(NULL, NULL, NULL, NULL);
    assert_ok(kiln_reference(&p, &args));
    p = problem("bias_relu f32,f32,f32 rcr m=2 n=2 k=3");
    assert_error(kiln_reference(&p, &args), KILN_INVALID, "E is NULL");
    args.e = e;
    assert_error(kiln_reference(&p, &args), KILN_INVALID, "A is NULL");
    assert_status(kiln_reference(&p, NULL), KILN_INVALID);
    assert_status(kiln_reference(NULL, &args), KILN_INVALID);
    assert_status(kiln_reference_bounds(&p, &args, NULL, NULL), KILN_INVALID);
    p = problem("unheard_of f32,f32,f32 rcr m=2 n=2 k=3");
    assert_status(kiln_reference(&p, &args), KILN_NOT_FOUND);
}

/* ---- bounds ---- */

static int by_size(const void *x, const void *y)
{
    const float a = fabsf(*(const float *)x), b = fabsf(*(const float *)y);
    return (a > b) - (a < b);
}

/* f32 sums in four orders, one of them hostile: all within the bounds; a part in a thousand off:
 * not. */
static void test_sums_stay_within(void **state)
{
    (void)state;
    enum { M = 8, N = 8, K = 777 };
    static float a[M * K], b[N * K], bias[N], e[M * N];
    static double lo[M * N], hi[M * N];
    const kiln_problem p = problem("bias_relu f32,f32,f32 rcr m=8 n=8 k=777");
    const kiln_args args = arguments(a, b, bias, e);
    for (int round = 0; round < 10; round++) {
        fill_f32(a, M * K);
        fill_f32(b, N * K);
        fill_f32(bias, N);
        for (int j = 0; j < N; j++) bias[j] += 40; /* relu passes it */
        assert_ok(kiln_reference_bounds(&p, &args, lo, hi));
        for (int i = 0; i < M; i++)
            for (int j = 0; j < N; j++) {
                float term[K];
                for (int order = 0; order < 4; order++) {
                    for (int k = 0; k < K; k++) {
                        const int at = order == 1 ? K - 1 - k : order == 2 ? (k * 5) % K : k;
                        term[k] = a[i * K + at] * b[j * K + at];
                    }
                    if (order == 3) qsort(term, K, sizeof *term, by_size);
                    float sum = 0;
                    for (int k = 0; k < K; k++) sum += term[k];
                    const float got = sum + bias[j];
                    const int at = i * N + j;
                    if (!((double)got >= lo[at] && (double)got <= hi[at]))
                        fail_msg("%.9g is not in [%.9g, %.9g]", (double)got, lo[at], hi[at]);
                    assert_true((double)got * 1.001 > hi[at]);
                    assert_true((double)got * 0.999 < lo[at]);
                }
            }
    }
}

/* A sum in a matrix unit's short format: `step` products and the sum so far are aligned to the
 * largest of them, and what is below 13 bits of fraction cut off. */
typedef struct unit {
    int step, chain; /* products after which the sum goes to f32; 0: never */
} unit;

static double dropped(double x, double place)
{
    return trunc(x / place) * place;
}

static double place_of(double largest)
{
    int exponent;
    frexp(largest, &exponent);
    return ldexp(1, exponent - 14);
}

/* Products [first, end), without [gap, gap + 128). */
static double short_sum(unit u, const float *a, const float *b, int first, int end, int gap)
{
    float total = 0;
    double sum = 0;
    for (int k = first; k < end; k += u.step) {
        double largest = fabs(sum), term[64];
        for (int i = 0; i < u.step; i++) {
            const int at = k + i;
            term[i] = at >= gap && at < gap + 128 ? 0 : (double)a[at] * (double)b[at];
            largest = fmax(largest, fabs(term[i]));
        }
        if (largest > 0) {
            const double place = place_of(largest);
            sum = dropped(sum, place);
            for (int i = 0; i < u.step; i++) sum += dropped(term[i], place);
            if (sum != 0) sum = dropped(sum, place_of(fabs(sum)));
        }
        if (u.chain && (k + u.step - first) % u.chain == 0) total += (float)sum, sum = 0;
    }
    return (double)(total + (float)sum);
}

/* As fp8 has them: four bits. */
static void fill_f8(float *p, size_t n, bool positive)
{
    for (size_t i = 0; i < n; i++) {
        const double x = kr_round_to(KILN_F8E4M3, uniform());
        p[i] = (float)(positive ? fabs(x) : x);
    }
}

enum { SHORT_N = 64, SHORT_K = 4096 };
static float short_a[SHORT_K], short_b[SHORT_N * SHORT_K], short_bias[SHORT_N];
static double short_lo[SHORT_N], short_hi[SHORT_N];

static void short_bounds(kiln_sums sums)
{
    float e[SHORT_N];
    const kiln_problem p = problem("bias_relu f32,f32,f32 rcr m=1 n=64 k=4096");
    kiln_args args = arguments(short_a, short_b, short_bias, e);
    args.sums = sums;
    assert_ok(kiln_reference_bounds(&p, &args, short_lo, short_hi));
}

static bool within(int j, double sum)
{
    const double got = (double)((float)sum + short_bias[j]);
    return got >= short_lo[j] && got <= short_hi[j];
}

/* All that such units may give is within the bounds for them, from either end of K or in two
 * halves; without 128 products, of signs as they come, at least every fifth sum is not. */
static void test_short_sums(void **state)
{
    (void)state;
    static const unit units[] = {{32, 0}, {32, 128}, {32, 512}, {16, 0}, {32, 1024}};
    for (int round = 0; round < 6; round++) {
        const bool positive = round % 3 == 2;
        fill_f8(short_a, SHORT_K, positive);
        fill_f8(short_b, (size_t)SHORT_N * SHORT_K, positive);
        for (int j = 0; j < SHORT_N; j++) short_bias[j] = 2000; /* relu passes it */
        for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
            const unit u = units[i];
            short_bounds((kiln_sums){.bits = 14, .step = u.step, .chain = u.chain});
            int seen = 0;
            for (int j = 0; j < SHORT_N; j++) {
                const float *b = short_b + (size_t)j * SHORT_K;
                const double whole = short_sum(u, short_a, b, 0, SHORT_K, SHORT_K),
                             halves = short_sum(u, short_a, b, 0, 2048, SHORT_K) +
                                      short_sum(u, short_a, b, 2048, SHORT_K, SHORT_K);
                if (!within(j, whole) || !within(j, halves))
                    fail_msg("unit %zu, round %d: %.9g and %.9g are not in [%.9g, %.9g]", i, round,
                             whole, halves, short_lo[j] - 2000, short_hi[j] - 2000);
                seen += !within(j, short_sum(u, short_a, b, 0, SHORT_K, 128 * (j % 32)));
            }
            if (!positive && seen < SHORT_N / 5)
                fail_msg("unit %zu, round %d: seen in %d of %d sums", i, round, seen, SHORT_N);
        }
    }
}

static void test_sums_say_nothing_of_f32(void **state)
{
    (void)state;
    static double lo[SHORT_N], hi[SHORT_N];
    fill_f32(short_a, SHORT_K);
    fill_f32(short_b, (size_t)SHORT_N * SHORT_K);
    short_bounds((kiln_sums){0});
    memcpy(lo, short_lo, sizeof lo), memcpy(hi, short_hi, sizeof hi);
    short_bounds((kiln_sums){.bits = 24, .step = 8, .chain = 64});
    assert_memory_equal(lo, short_lo, sizeof lo);
    assert_memory_equal(hi, short_hi, sizeof hi);
    short_bounds((kiln_sums){.bits = 14});
    for (int j = 0; j < SHORT_N; j++) assert_true(short_lo[j] < lo[j] && short_hi[j] > hi[j]);
}

static float cut_off(float x, int bits)
{
    int exponent;
    const float fraction = frexpf(x, &exponent);
    return ldexpf(truncf(ldexpf(fraction, bits)), exponent - bits);
}

/* Operands of which 11 bits count: within the bounds for that, some outside those of f32, and some
 * outside of both without 32 of 4096 products. */
static void test_products_of_fewer_bits(void **state)
{
    (void)state;
    int outside = 0, seen = 0;
    double sum[SHORT_N], less[SHORT_N];
    fill_f32(short_a, SHORT_K);
    fill_f32(short_b, (size_t)SHORT_N * SHORT_K);
    for (int j = 0; j < SHORT_N; j++) {
        short_bias[j] = 2000;
        sum[j] = less[j] = 0;
        for (int k = 0; k < SHORT_K; k++) {
            const double p =
                (double)cut_off(short_a[k], 11) * (double)cut_off(short_b[j * SHORT_K + k], 11);
            sum[j] += p;
            if (k < 1024 || k >= 1056) less[j] += p;
        }
    }
    short_bounds((kiln_sums){0});
    for (int j = 0; j < SHORT_N; j++) outside += !within(j, sum[j]);
    short_bounds((kiln_sums){.product_bits = 11});
    for (int j = 0; j < SHORT_N; j++) {
        assert_true(within(j, sum[j]));
        seen += !within(j, less[j]);
    }
    if (outside < SHORT_N / 8 || seen < SHORT_N / 8)
        fail_msg("%d of %d are outside of the bounds of f32, %d without 32 products", outside,
                 SHORT_N, seen);
}

static void test_nan_and_infinity(void **state)
{
    (void)state;
    enum { K = 4 };
    float a[2 * K] = {1, 2, 3, 4, 1, 1, 1, 1}, b[2 * K] = {1, 1, 1, 1, -1, -1, -1, -1},
                bias[2] = {0, 0}, e[4];
    double lo[4], hi[4];
    const kiln_problem p = problem("bias_relu f32,f32,f32 rcr m=2 n=2 k=4");
    const kiln_args args = arguments(a, b, bias, e);
    a[1] = NAN;
    assert_ok(kiln_reference(&p, &args));
    assert_ok(kiln_reference_bounds(&p, &args, lo, hi));
    assert_true(isnan(e[0]) && isnan(e[1]) && isnan(lo[0]) && isnan(hi[0]) &&
                isnan(lo[1])); /* relu lets it through */
    assert_true(e[2] == 4 && e[3] == 0 && lo[2] <= 4 && hi[2] >= 4);
    a[1] = INFINITY;
    assert_ok(kiln_reference(&p, &args));
    assert_ok(kiln_reference_bounds(&p, &args, lo, hi));
    assert_true(isinf(e[0]) && e[1] == 0 && lo[0] == INFINITY && hi[0] == INFINITY && lo[1] == 0 &&
                hi[1] == 0);
    b[1] = 0; /* inf * 0 */
    assert_ok(kiln_reference(&p, &args));
    assert_ok(kiln_reference_bounds(&p, &args, lo, hi));
    assert_true(isnan(e[0]) && isnan(lo[0]));
    a[1] = 1;
    bias[0] = NAN;
    assert_ok(kiln_reference_bounds(&p, &args, lo, hi));
    assert_true(isnan(lo[0]) && isnan(lo[2]) && !isnan(lo[1]));
    a[0] = a[1] = 3e38f; /* 6e38 overflows f32 */
    b[1] = 1;
    bias[0] = 0;
    assert_ok(kiln_reference_bounds(&p, &args, lo, hi));
    assert_true(hi[0] == INFINITY && lo[0] >= 3e38);
    assert_true(lo[1] == 0 && hi[1] == 0); /* relu(-inf) */
    a[1] = -3e38f;                         /* the sum is finite, a partial sum need not be */
    a[2] = 3e38f;
    assert_ok(kiln_reference_bounds(&p, &args, lo, hi));
    assert_true(hi[0] == INFINITY);
}

/* ---- functions on intervals ---- */

typedef struct function {
    kiln_xop op;
    int operands;
    float (*f)(float, float, float);
    float lo, hi;
    double ulps; /* that a point's bounds may be wide */
} function;

#define F(name, expression)                                                                        \
    static float name(float x, float y, float z)                                                   \
    {                                                                                              \
        (void)x, (void)y, (void)z;                                                                 \
        return expression;                                                                         \
    }
F(f_add, x + y)
F(f_sub, x - y)
F(f_mul, x *y)
F(f_div, x / y)
F(f_relu, x > 0 ? x : 0)
F(f_leaky, x > 0 ? x : x * y)
F(f_gelu, x / 2 * (1 + erff(x * 0.70710678f)))
F(f_gelu_tanh, x / 2 * (1 + tanhf(0.79788456f * (x + 0.044715f * x * x * x))))
F(f_silu, x / (1 + expf(-x)))
F(f_sigmoid, 1 / (1 + expf(-x)))
F(f_tanh, tanhf(x))
F(f_exp, expf(x))
F(f_log, logf(fabsf(x)))
F(f_sqrt, sqrtf(fabsf(x)))
F(f_rsqrt, 1 / sqrtf(fabsf(x)))
F(f_abs, fabsf(x))
F(f_min, fminf(x, y))
F(f_max, fmaxf(x, y))
F(f_clamp, fminf(fmaxf(x, y), z))
F(f_round, nearbyintf(x))
F(f_floor, floorf(x))
F(f_pow, powf(fabsf(x), y))
F(f_neg, -x)

static const function functions[] = {
    {KILN_X_ADD, 2, f_add, -10, 10, 8},     {KILN_X_SUB, 2, f_sub, -10, 10, 8},
    {KILN_X_MUL, 2, f_mul, -10, 10, 8},     {KILN_X_DIV, 2, f_div, -10, 10, 12},
    {KILN_X_RELU, 1, f_relu, -10, 10, 1},   {KILN_X_LEAKY_RELU, 2, f_leaky, -10, 10, 8},
    {KILN_X_GELU, 1, f_gelu, -12, 12, 64},  {KILN_X_GELU_TANH, 1, f_gelu_tanh, -12, 12, 64},
    {KILN_X_SILU, 1, f_silu, -90, 90, 260}, {KILN_X_SIGMOID, 1, f_sigmoid, -80, 80, 220},
    {KILN_X_SILU, 1, f_silu, -8, 8, 64},    {KILN_X_SIGMOID, 1, f_sigmoid, -8, 8, 32},
    {KILN_X_TANH, 1, f_tanh, -12, 12, 20},  {KILN_X_EXP, 1, f_exp, -80, 80, 220},
    {KILN_X_EXP, 1, f_exp, -8, 8, 32},      {KILN_X_LOG, 1, f_log, 1e-3f, 100, 30},
    {KILN_X_SQRT, 1, f_sqrt, 0, 100, 20},   {KILN_X_RSQRT, 1, f_rsqrt, 1e-3f, 100, 20},
    {KILN_X_ABS, 1, f_abs, -10, 10, 1},     {KILN_X_MIN, 2, f_min, -10, 10, 1},
    {KILN_X_MAX, 2, f_max, -10, 10, 1},     {KILN_X_CLAMP, 3, f_clamp, -10, 10, 1},
    {KILN_X_ROUND, 1, f_round, -10, 10, 1}, {KILN_X_POW, 2, f_pow, 0, 5, 20},
    {KILN_X_NEG, 1, f_neg, -10, 10, 1},     {KILN_X_FLOOR, 1, f_floor, -10, 10, 1},
};

static kr_interval on_interval(kiln_xop op, int operands, const kr_interval *x)
{
    /* Operands come in as accumulators: those are the leaves that may be intervals. */
    kiln_xnode node[4] = {0};
    kr_interval v[4];
    for (int i = 0; i < operands; i++)
        node[i] = (kiln_xnode){.op = KILN_X_ACC, .index = (uint8_t)i};
    node[operands] = (kiln_xnode){.op = (uint8_t)op};
    for (int i = 0; i < operands; i++) node[operands].arg[i] = (uint16_t)i;
    const kr_leaves leaf = {0};
    return kr_eval_interval(node, (uint32_t)operands + 1, x, &leaf, v);
}

static double on_point(kiln_xop op, int operands, const double *x)
{
    const kiln_xnode node = {.op = (uint8_t)op};
    return kr_apply(&node, x[0], operands > 1 ? x[1] : 0, operands > 2 ? x[2] : 0);
}

static void check_function(const function *f, double width)
{
    kr_interval box[3];
    double point[3] = {0};
    float sample[3] = {0};
    for (int i = 0; i < f->operands; i++) {
        const double x = f->lo + (f->hi - f->lo) * (uniform() + 1) / 2, w = width * (uniform() + 1);
        sample[i] = (float)x;
        point[i] = (double)sample[i];
        box[i] = (kr_interval){point[i] - w, point[i] + w, 0};
        if (f->lo >= 0 && box[i].lo < 0) box[i].lo = 0;
    }
    const kr_interval r = on_interval(f->op, f->operands, box);
    const double exact = on_point(f->op, f->operands, point);
    const double got = (double)f->f(sample[0], sample[1], sample[2]);
    if (!(r.nan < 2 && r.lo <= exact && exact <= r.hi && r.lo <= got && got <= r.hi))
        fail_msg("function %d at %.9g %.9g: %.9g and %.9g are not in [%.9g, %.9g]", (int)f->op,
                 point[0], point[1], exact, got, r.lo, r.hi);
    const double room = f->ulps * 0x1p-23 * fmax(fabs(exact), fabs(point[0]));
    if (width == 0 && !(r.hi - r.lo <= room + 1e-18))
        fail_msg("function %d at %.9g: [%.9g, %.9g] is wider than %.3g", (int)f->op, point[0], r.lo,
                 r.hi, room);
}

static void test_functions(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        for (int n = 0; n < 20000; n++)
            check_function(&functions[i], n % 4 == 0 ? 0 : pow(10, -(n % 4)));
}

/* The least value of x * sigmoid(x) and its like lies between the ends. */
static void test_valleys(void **state)
{
    (void)state;
    static const kiln_xop op[] = {KILN_X_GELU, KILN_X_GELU_TANH, KILN_X_SILU};
    for (int o = 0; o < 3; o++) {
        const kr_interval wide = {-3, 1, 0};
        const kr_interval r = on_interval(op[o], 1, &wide);
        double least = 0;
        for (double x = -3; x <= 1; x += 1e-4) least = fmin(least, on_point(op[o], 1, &x));
        assert_true(r.lo <= least && r.lo > least - 1e-5);
        const double at_minus_infinity = -INFINITY, big = 1e30;
        assert_true(on_point(op[o], 1, &at_minus_infinity) == 0);
        assert_true(on_point(op[o], 1, &big) == big);
    }
}

static void test_special_operands(void **state)
{
    (void)state;
    const kr_interval nan = kr_point(NAN), one = kr_point(1), zero = kr_point(0),
                      inf = kr_point(INFINITY);
    const kr_interval across = {-1, 1, 0};
    static const kiln_xop passes[] = {
        KILN_X_NEG, KILN_X_RELU, KILN_X_GELU,  KILN_X_SILU, KILN_X_SIGMOID, KILN_X_TANH, KILN_X_EXP,
        KILN_X_LOG, KILN_X_SQRT, KILN_X_RSQRT, KILN_X_ABS,  KILN_X_ROUND,   KILN_X_FLOOR};
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
        const double x = NAN;
        assert_int_equal(on_interval(passes[i], 1, &nan).nan, 2);
        assert_true(isnan(on_point(passes[i], 1, &x)));
    }
    static const kiln_xop two[] = {KILN_X_ADD, KILN_X_SUB, KILN_X_MUL, KILN_X_DIV,
                                   KILN_X_POW, KILN_X_MIN, KILN_X_MAX};
    for (size_t i = 0; i < sizeof two / sizeof *two; i++)
        for (int side = 0; side < 2; side++) {
            const kr_interval x[2] = {side ? one : nan, side ? nan : one};
            const double y[2] = {side ? 1 : NAN, side ? NAN : 1};
            assert_int_equal(on_interval(two[i], 2, x).nan, 2);
            assert_true(isnan(on_point(two[i], 2, y)));
        }
    assert_int_equal(on_interval(KILN_X_MUL, 2, (kr_interval[]){zero, inf}).nan, 2);
    assert_int_equal(on_interval(KILN_X_SUB, 2, (kr_interval[]){inf, inf}).nan, 2);
    assert_int_equal(on_interval(KILN_X_DIV, 2, (kr_interval[]){zero, zero}).nan, 2);
    assert_int_equal(on_interval(KILN_X_DIV, 2, (kr_interval[]){one, across}).nan, 0);
    assert_int_equal(on_interval(KILN_X_DIV, 2, (kr_interval[]){across, across}).nan, 1);
    assert_int_equal(on_interval(KILN_X_LOG, 1, &across).nan, 1);
    assert_int_equal(on_interval(KILN_X_SQRT, 1, (kr_interval[]){{-2, -1, 0}}).nan, 2);
    /* A condition that is not decided gives either branch; one with NaN is false. */
    const kiln_xnode select[] = {{.op = KILN_X_ACC},
                                 {.op = KILN_X_CONST},
                                 {.op = KILN_X_GT, .arg = {0, 1}},
                                 {.op = KILN_X_CONST, .value = 5},
                                 {.op = KILN_X_CONST, .value = 9},
                                 {.op = KILN_X_SELECT, .arg = {2, 3, 4}}};
    const kr_leaves leaf = {0};
    kr_interval v[6];
    kr_interval r = kr_eval_interval(select, 6, &across, &leaf, v);
    assert_true(r.lo == 5 && r.hi == 9);
    r = kr_eval_interval(select, 6, &one, &leaf, v);
    assert_true(r.lo == 5 && r.hi == 5);
    r = kr_eval_interval(select, 6, &nan, &leaf, v);
    assert_true(r.lo == 9 && r.hi == 9);
    /* cast goes through the type's rounding. */
    const kiln_xnode cast[] = {{.op = KILN_X_ACC}, {.op = KILN_X_CAST, .index = KILN_I8}};
    r = kr_eval_interval(cast, 2, (kr_interval[]){{2.4, 300, 0}}, &leaf, v);
    assert_true(r.lo == 2 && r.hi == 127);
    r = kr_eval_interval(cast, 2, &nan, &leaf, v);
    assert_true(r.lo == 0 && r.hi == 0 && r.nan == 0);
}

/* A condition of intervals: 1 surely true, 0 surely false, -1 open.  One of points is what the
 * reference says. */
static int holds(kiln_xop op, int operands, const kr_interval *x)
{
    const kr_interval r = on_interval(op, operands, x);
    assert_true((r.lo == 0 || r.lo == 1) && (r.hi == 0 || r.hi == 1) && r.lo <= r.hi && !r.nan);
    return r.lo == r.hi ? (int)r.lo : -1;
}

static void test_conditions(void **state)
{
    (void)state;
    const kr_interval two = kr_point(2), three = kr_point(3), nan = kr_point(NAN),
                      around = {1.999999, 2.000001, 0}, perhaps_nan = {2, 2, 1},
                      below = {-1, 1.5, 0}, yes = kr_point(1), no = kr_point(0), open = {0, 1, 0};
    const struct {
        kr_interval x, y;
        int equal;
    } pairs[] = {{two, two, 1},
                 {two, three, 0},
                 {two, around, -1},
                 {around, around, -1},
                 {two, below, 0},
                 {below, two, 0},
                 {nan, nan, 0},
                 {nan, two, 0},
                 {three, nan, 0},
                 {around, nan, 0},
                 {perhaps_nan, two, -1},
                 {perhaps_nan, three, 0},
                 {kr_point(0), kr_point(-0.0), 1},
                 {kr_point(INFINITY), kr_point(INFINITY), 1}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const kr_interval v[2] = {pairs[i].x, pairs[i].y};
        const int equal = pairs[i].equal;
        assert_int_equal(holds(KILN_X_EQ, 2, v), equal);
        assert_int_equal(holds(KILN_X_NE, 2, v), equal < 0 ? equal : !equal);
    }
    const kr_interval truth[] = {no, yes, open};
    for (int i = 0; i < 9; i++) {
        const kr_interval v[2] = {truth[i / 3], truth[i % 3]};
        const int x = i / 3 == 2 ? -1 : i / 3, y = i % 3 == 2 ? -1 : i % 3;
        assert_int_equal(holds(KILN_X_AND, 2, v), x == 0 || y == 0 ? 0 : x < 0 || y < 0 ? -1 : 1);
        assert_int_equal(holds(KILN_X_OR, 2, v), x == 1 || y == 1 ? 1 : x < 0 || y < 0 ? -1 : 0);
        assert_int_equal(holds(KILN_X_NOT, 1, v), x < 0 ? -1 : !x);
        if (x < 0 || y < 0) continue;
        assert_true(on_point(KILN_X_AND, 2, (double[]){x, y}) == (x && y));
        assert_true(on_point(KILN_X_OR, 2, (double[]){x, y}) == (x || y));
        assert_true(on_point(KILN_X_NOT, 1, (double[]){x}) == !x);
    }
    assert_true(on_point(KILN_X_EQ, 2, (double[]){2, 2}) == 1);
    assert_true(on_point(KILN_X_EQ, 2, (double[]){NAN, NAN}) == 0);
    assert_true(on_point(KILN_X_NE, 2, (double[]){NAN, NAN}) == 1);
    /* floor near a step covers both sides; behind it one. */
    const kr_interval step = on_interval(KILN_X_FLOOR, 1, &around);
    assert_true(step.lo == 1 && step.hi == 2);
    const kr_interval flat = on_interval(KILN_X_FLOOR, 1, (kr_interval[]){{-0.75, -0.25, 0}});
    assert_true(flat.lo == -1 && flat.hi == -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_axpby_layouts_and_strides),
        cmocka_unit_test(test_two_products),
        cmocka_unit_test(test_element_functions),
        cmocka_unit_test(test_integers_wrap_round_and_saturate),
        cmocka_unit_test(test_sums_of_integers_are_kept),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_sums_stay_within),
        cmocka_unit_test(test_short_sums),
        cmocka_unit_test(test_sums_say_nothing_of_f32),
        cmocka_unit_test(test_products_of_fewer_bits),
        cmocka_unit_test(test_nan_and_infinity),
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_valleys),
        cmocka_unit_test(test_special_operands),
        cmocka_unit_test(test_conditions),
    };
    return cmocka_run_group_tests(tests, open_host, close_host);
}
