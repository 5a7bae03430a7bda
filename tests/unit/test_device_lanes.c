// SPDX-License-Identifier: MIT
// Vectors of f32 of row-wise host kernels, on every instruction set that this machine has:
// functions within 4 ulp of libm in double precision, results and casts bit for bit as kiln_types.h
// converts, numbers picked with NaN among them.
#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "device_math.h"
#pragma GCC diagnostic ignored "-Wunknown-pragmas" /* simd, where the compiler is not told of it   \
                                                    */
#pragma GCC diagnostic ignored "-Wconversion"
#include "host_rows.h"

static double ref_rsqrt(double x)
{
    return 1 / sqrt(x);
}

/* The smaller and larger of x and y, NaN if either is. */
static float ref_min(float x, float y)
{
    return x != x || y != y ? NAN : x < y ? x : y;
}
static float ref_max(float x, float y)
{
    return x != x || y != y ? NAN : x > y ? x : y;
}

enum { MOST = 64 }; /* numbers of four of the widest vectors */

#define FUNCTIONS(X)                                                                               \
    X(exp, exp, 4)                                                                                 \
    X(log, log, 4)                                                                                 \
    X(tanh, tanh, 4)                                                                               \
    X(sigmoid, ref_sigmoid, 4)                                                                     \
    X(silu, ref_silu, 4)                                                                           \
    X(gelu, ref_gelu, 4)                                                                           \
    X(gelu_tanh, ref_gelu_tanh, 4)                                                                 \
    X(sqrt, sqrt, 0.5)                                                                             \
    X(rsqrt, ref_rsqrt, 1)
#define ONES(X)  X(relu) X(abs) X(round) X(floor) X(cast_f32)
#define TYPES(X) X(bf16) X(f16) X(i8) X(u8) X(i32) X(f8e4m3) X(f8e5m2) X(f8e4m3fnuz) X(f8e5m2fnuz)

typedef struct lanes {
    const char *name;
    int isa, width;
#define X(name, ref, allowed) void (*name)(float[MOST]);
    FUNCTIONS(X)
#undef X
#define X(name) void (*name)(float[MOST]);
    ONES(X)
#undef X
#define X(T) void (*cast_##T)(float[MOST]);
    TYPES(X)
#undef X
#define X(T) void (*narrow_##T)(kiln_##T##_t *, const float *, int);
    TYPES(X)
#undef X
#define X(T) void (*widen_##T)(float[MOST], const kiln_##T##_t *);
    TYPES(X)
#undef X
    void (*min)(float[MOST], const float *), (*max)(float[MOST], const float *),
        (*pow)(float[MOST], const float *);
    float (*total)(const float *), (*least)(const float *, int), (*most)(const float *, int);
    float (*magnitude)(const float *);
    void (*columns)(float *, long long);
} lanes;

/* Functions of one instruction set, by way of memory: callers know nothing of its vectors. */
#define IN_PLACE(name, ...)                                                                        \
    static HOST_TARGET void HOST_(call_##name)(float x[MOST])                                      \
    {                                                                                              \
        for (int i = 0; i < MOST; i += 4 * HOST_VW) {                                              \
            HOST_(vf) e[4];                                                                        \
            memcpy(e, x + i, sizeof e);                                                            \
            __VA_ARGS__                                                                            \
            memcpy(x + i, e, sizeof e);                                                            \
        }                                                                                          \
    }
#define FUNCTION(name, ref, allowed) IN_PLACE(name, HOST_(name)(e);)
#define ONE(name)                    IN_PLACE(name, for (int v = 0; v < 4; v++) e[v] = HOST_(name)(e[v]);)
#define TYPE(T)                                                                                    \
    ONE(cast_##T)                                                                                  \
    static HOST_TARGET void HOST_(call_narrow_##T)(kiln_##T##_t * to, const float *from, int n)    \
    {                                                                                              \
        HOST_(narrow_##T)(to, from, n);                                                            \
    }                                                                                              \
    static HOST_TARGET void HOST_(call_widen_##T)(float x[MOST], const kiln_##T##_t *from)         \
    {                                                                                              \
        for (int i = 0; i < MOST; i += HOST_VW)                                                    \
            HOST_(store)(x + i, HOST_(widen)(from + i, KILN_##T));                                 \
    }
#define TWO(name)                                                                                  \
    static HOST_TARGET void HOST_(call_##name)(float x[MOST], const float *y)                      \
    {                                                                                              \
        for (int i = 0; i < MOST; i += HOST_VW)                                                    \
            HOST_(store)(x + i, HOST_(name)(HOST_(load)(x + i), HOST_(load)(y + i)));              \
    }
#define PICK(name, greatest)                                                                       \
    static HOST_TARGET float HOST_(call_##name)(const float *x, int n)                             \
    {                                                                                              \
        HOST_(pick) p[2] = {HOST_(pick_none)(greatest), HOST_(pick_none)(greatest)};               \
        for (int i = 0; i < n; i += HOST_VW)                                                       \
            HOST_(pick_one)(&p[i / HOST_VW % 2], HOST_(load)(x + i), greatest);                    \
        HOST_(pick_both)(&p[0], &p[1], greatest);                                                  \
        return HOST_(pick_value)(&p[0], greatest);                                                 \
    }
#define EVERYTHING                                                                                 \
    FUNCTIONS(FUNCTION)                                                                            \
    ONES(ONE)                                                                                      \
    TYPES(TYPE)                                                                                    \
    TWO(min)                                                                                       \
    TWO(max)                                                                                       \
    TWO(pow)                                                                                       \
    PICK(least, 0) PICK(most, 1) static HOST_TARGET float HOST_(call_total)(const float *x)        \
    {                                                                                              \
        return HOST_(total)(HOST_(load)(x));                                                       \
    }                                                                                              \
    static HOST_TARGET float HOST_(call_magnitude)(const float *x)                                 \
    {                                                                                              \
        HOST_(vu) o = {0};                                                                         \
        for (int i = 0; i < MOST; i += HOST_VW)                                                    \
            o = HOST_(larger)(o, (HOST_(vu))HOST_(abs)(HOST_(load)(x + i)));                       \
        return kiln_from_bits(HOST_(largest)(o));                                                  \
    }                                                                                              \
    static HOST_TARGET void HOST_(call_columns)(float *x, long long at)                            \
    {                                                                                              \
        HOST_(store)(x, HOST_(columns)(at));                                                       \
    }
#define NAME_FUNCTION(name, ref, allowed) .name = HOST_(call_##name),
#define NAME_ONE(name)                    .name = HOST_(call_##name),
#define NAME_TYPE(T)                                                                               \
    .cast_##T = HOST_(call_cast_##T), .narrow_##T = HOST_(call_narrow_##T),                        \
    .widen_##T = HOST_(call_widen_##T),
#define TABLE                                                                                      \
    FUNCTIONS(NAME_FUNCTION)                                                                       \
    ONES(NAME_ONE)                                                                                 \
    TYPES(NAME_TYPE)                                                                               \
    NAME_ONE(min)                                                                                  \
    NAME_ONE(max)                                                                                  \
    NAME_ONE(pow)                                                                                  \
    NAME_ONE(total)                                                                                \
    NAME_ONE(least)                                                                                \
    NAME_ONE(most) NAME_ONE(magnitude) NAME_ONE(columns).isa = HOST_ISA, .width = HOST_VW

#define KILN_bf16       KILN_BF16
#define KILN_f16        KILN_F16
#define KILN_i8         KILN_I8
#define KILN_u8         KILN_U8
#define KILN_i32        KILN_I32
#define KILN_f8e4m3     KILN_F8E4M3
#define KILN_f8e5m2     KILN_F8E5M2
#define KILN_f8e4m3fnuz KILN_F8E4M3FNUZ
#define KILN_f8e5m2fnuz KILN_F8E5M2FNUZ
#if defined(__x86_64__)
#define HOST_ISA 512
#include "host_width.h"
#include "host_lanes.h"
EVERYTHING
static const lanes HOST_(all) = {.name = "avx512", TABLE};
#include "host_width_end.h"
#define HOST_ISA 256
#include "host_width.h"
#include "host_lanes.h"
EVERYTHING
static const lanes HOST_(all) = {.name = "avx2", TABLE};
#include "host_width_end.h"
#endif
#define HOST_ISA 128
#include "host_width.h"
#include "host_lanes.h"
EVERYTHING
static const lanes HOST_(all) = {.name = "plain", TABLE};
#include "host_width_end.h"

static const lanes *const sets[] = {
#if defined(__x86_64__)
    &all_avx512,
    &all_avx2,
#endif
    &all_plain,
};
#define EACH_SET(l)                                                                                \
    for (size_t set = 0; set < sizeof sets / sizeof *sets; set++)                                  \
        for (const lanes *l = sets[set]; l && l->isa <= host_widest(); l = NULL)

/* ---- functions ---- */
typedef struct worst {
    double ulps;
    float at;
} worst;

static void check(const lanes *l, void (*f)(float[MOST]), double (*ref)(double), const float *x,
                  worst *w)
{
    float y[MOST];
    memcpy(y, x, sizeof y);
    f(y);
    for (int i = 0; i < MOST; i++) {
        /* The formula makes NaN of -infinity times 0, AVX-512 the limit. */
        if ((f == l->gelu || f == l->silu) && l->isa == 512 && x[i] == -INFINITY) {
            assert_true(y[i] == 0);
            continue;
        }
        const double e = ulps(y[i], ref((double)x[i]));
        if (e > w->ulps || isnan(e)) *w = (worst){e, x[i]};
    }
}

static void test_functions(void **state)
{
    (void)state;
    static const float special[MOST / 2] = {0,      FLT_MIN, FLT_MAX, 0x1p-149f, INFINITY,  NAN,
                                            1,      88.7f,   88.8f,   104,       15,        16,
                                            14.5f,  20,      60,      0.625f,    0x1p-126f, 87.4f,
                                            103.9f, 0x1p23f, 0x1p30f, 200,       0.3466f,   41.6f};
    EACH_SET(l)
    {
        const struct {
            const char *name;
            void (*f)(float[MOST]);
            double (*ref)(double);
            double allowed;
        } functions[] = {
#define X(fn, ref, allowed) {#fn, l->fn, ref, allowed},
            FUNCTIONS(X)
#undef X
        };
        for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
            worst w = {0, 0};
            float x[MOST];
            for (int s = 0; s < MOST; s++) x[s] = s % 2 ? -special[s / 2] : special[s / 2];
            check(l, functions[i].f, functions[i].ref, x, &w);
            for (uint64_t u = 0; u <= UINT32_MAX;
                 u += MOST * 2039 * SPARSE) { /* every exponent and sign */
                for (int s = 0; s < MOST; s++)
                    x[s] = kiln_from_bits((uint32_t)(u + (unsigned)s * 2039));
                check(l, functions[i].f, functions[i].ref, x, &w);
            }
            for (int p = -(1 << 19); p < 1 << 19; p += MOST * SPARSE) { /* where they bend */
                for (int s = 0; s < MOST; s++) x[s] = (float)(p + s) * (110.0f / 0x1p19f);
                check(l, functions[i].f, functions[i].ref, x, &w);
                for (int s = 0; s < MOST; s++) x[s] = (float)(p + s) * (15.0f / 0x1p19f);
                check(l, functions[i].f, functions[i].ref, x, &w);
            }
            if (getenv("KILN_TEST_VERBOSE"))
                print_message("# %-6s %-10s %.3f ulp at %a\n", l->name, functions[i].name, w.ulps,
                              (double)w.at);
            if (!(w.ulps <= functions[i].allowed))
                fail_msg("%s, %s: %g ulp at %a, %g allowed", l->name, functions[i].name, w.ulps,
                         (double)w.at, functions[i].allowed);
        }
    }
}

static bool same(float x, float y)
{
    return x != x || y != y ? x != x && y != y : kiln_bits(x) == kiln_bits(y);
}

/* ---- what is exact ---- */
static void expect_all(const lanes *l, const char *what, void (*f)(float[MOST]), float (*of)(float),
                       const float *x)
{
    float y[MOST];
    memcpy(y, x, sizeof y);
    f(y);
    for (int i = 0; i < MOST; i++)
        if (!same(y[i], of(x[i])))
            fail_msg("%s, %s(%a): %a, not %a", l->name, what, (double)x[i], (double)y[i],
                     (double)of(x[i]));
}

#define X(T)                                                                                       \
    static float as_##T(float x)                                                                   \
    {                                                                                              \
        return kiln_##T##_to_f32(kiln_f32_to_##T(x));                                              \
    }                                                                                              \
    static void narrow_##T(const lanes *l, const float *x)                                         \
    {                                                                                              \
        kiln_##T##_t y[MOST], want[MOST];                                                          \
        l->narrow_##T(y, x, MOST);                                                                 \
        for (int i = 0; i < MOST; i++) {                                                           \
            want[i] = kiln_f32_to_##T(x[i]);                                                       \
            /* which NaN it is does not matter */                                                  \
            if (y[i] != want[i] && !same(kiln_##T##_to_f32(y[i]), kiln_##T##_to_f32(want[i])))     \
                fail_msg("%s, " #T ": %a became %#x, not %#x", l->name, (double)x[i],              \
                         (unsigned)y[i] & 0xffffu, (unsigned)want[i] & 0xffffu);                   \
        }                                                                                          \
        float back[MOST];                                                                          \
        l->widen_##T(back, want);                                                                  \
        for (int i = 0; i < MOST; i++)                                                             \
            if (!same(back[i], kiln_##T##_to_f32(want[i])))                                        \
                fail_msg("%s, " #T " %#x is %a", l->name, (unsigned)want[i], (double)back[i]);     \
    }
TYPES(X)
#undef X
static float call_relu(float x)
{
    return kiln_relu(x);
}
static float call_abs(float x)
{
    return kiln_abs(x);
}
static float call_round(float x)
{
    return kiln_round(x);
}
static float call_floor(float x)
{
    return kiln_floor(x);
}
static float call_cast_f32(float x)
{
    return x;
}

static void exact(const lanes *l, const float *x)
{
#define X(T)                                                                                       \
    narrow_##T(l, x);                                                                              \
    expect_all(l, #T, l->cast_##T, as_##T, x);
    TYPES(X)
#undef X
#define X(name) expect_all(l, #name, l->name, call_##name, x);
    ONES(X)
#undef X
}

static void test_exact(void **state)
{
    (void)state;
    EACH_SET(l)
    {
        float x[MOST];
        for (uint64_t u = 0; u <= UINT32_MAX; u += MOST * 4093 * SPARSE) {
            for (int s = 0; s < MOST; s++)
                x[s] = kiln_from_bits((uint32_t)(u + (unsigned)s * 4093));
            exact(l, x);
        }
        /* Ties of every format, and their neighbours; not a NaN among them, which would take
         * another way. */
        for (uint32_t u = 0x33000000u; u < 0x48000000u; u += MOST / 4 << 16)
            for (unsigned low = 0; low < 2; low++) {
                for (int s = 0; s < MOST; s++) {
                    const uint32_t tie = u + ((unsigned)s / 4 << 16) + low * 0x8000u;
                    x[s] = kiln_from_bits(tie + (s & 1 ? s & 2 ? 1u : 0xffffffffu : 0u)) *
                           (s & 2 ? -1.0f : 1.0f);
                }
                exact(l, x);
            }
        /* One odd number among usual ones, in every place. */
        static const float odd[] = {NAN,     INFINITY,    -INFINITY, 0x1p-149f, -0x1.8p-127f, -0.0f,
                                    FLT_MAX, 0x1.fp-134f, 464,       465,       -128.5f};
        for (size_t o = 0; o < sizeof odd / sizeof *odd; o++)
            for (int at = 0; at < MOST; at++) {
                for (int s = 0; s < MOST; s++) x[s] = (float)(s * 7 - 200) * 0.37f;
                x[at] = odd[o];
                exact(l, x);
            }
    }
}

static void test_picks(void **state)
{
    (void)state;
    static const float odd[] = {NAN, -NAN, INFINITY, -INFINITY, 1000, -1000, 0x1p-149f};
    EACH_SET(l)
    {
        for (size_t o = 0; o < sizeof odd / sizeof *odd; o++)
            for (int at = 0; at < MOST; at++) {
                float x[MOST], y[MOST], lo[MOST], hi[MOST], most = -INFINITY, least = INFINITY,
                                                            most_of_all = 0;
                for (int s = 0; s < MOST; s++)
                    x[s] = (float)((s * 37 + 11) % 64) - 31, y[s] = (float)(s % 5) - 2;
                x[at] = odd[o], y[(at + 5) % MOST] = odd[o];
                for (int s = 0; s < MOST; s++) {
                    most = ref_max(most, x[s]), least = ref_min(least, x[s]);
                    most_of_all = ref_max(most_of_all, kiln_abs(x[s]));
                }
                if (!same(l->most(x, MOST), most) || !same(l->least(x, MOST), least))
                    fail_msg("%s: %a at %d of 64: %a, %a", l->name, (double)odd[o], at,
                             (double)l->most(x, MOST), (double)l->least(x, MOST));
                if (!same(l->magnitude(x), most_of_all))
                    fail_msg("%s: magnitude, %a at %d", l->name, (double)odd[o], at);
                memcpy(lo, x, sizeof lo), memcpy(hi, x, sizeof hi);
                l->min(lo, y), l->max(hi, y);
                for (int s = 0; s < MOST; s++)
                    if (!same(lo[s], ref_min(x[s], y[s])) || !same(hi[s], ref_max(x[s], y[s])))
                        fail_msg("%s: min, max of %a, %a: %a, %a", l->name, (double)x[s],
                                 (double)y[s], (double)lo[s], (double)hi[s]);
            }
        float x[MOST], y[MOST], sum = 0;
        for (int s = 0; s < MOST; s++) x[s] = (float)(s + 1), y[s] = (float)(s % 7) - 3;
        for (int s = 0; s < l->width; s++) sum += x[s];
        assert_true(l->total(x) == sum);
        l->pow(x, y);
        for (int s = 0; s < MOST; s++)
            assert_true(ulps(x[s], pow((double)(s + 1), (double)y[s])) <= 4);
        l->columns(x, 16777000);
        for (int s = 0; s < l->width; s++) assert_true(x[s] == (float)(16777000 + s));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_picks),
    };
    return cmocka_run_group_tests_name("device_lanes", tests, NULL, NULL);
}
