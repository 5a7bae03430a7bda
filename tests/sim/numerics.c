// SPDX-License-Identifier: MIT
// Runs every kernel of kernels/numerics.hip through HIP's entry points and compares it, bit for bit
// (a NaN with any NaN), with the same expression compiled for the host: usage numerics OBJECT
// TARGET LEVEL.  Ends with `N passed, N failed`.
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "numerics_values.h"

typedef void *handle;
int hipInit(unsigned), hipMalloc(void **, size_t), hipFree(void *), hipDeviceSynchronize(void);
int hipMemcpy(void *, const void *, size_t, int), hipModuleLoad(handle *, const char *),
    hipModuleUnload(handle);
int hipModuleGetFunction(handle *, handle, const char *);
int hipModuleLaunchKernel(handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                          unsigned, handle, void **, void **);
const char *hipGetErrorString(int);
enum { TO_DEVICE = 1, TO_HOST = 2 };

/* ---- The cases: a function of the work-item t for each line, then a list of them ---- */
#define PASTE2(a, b) a##b
#define PASTE(a, b)  PASTE2(a, b)
#define HOST(R, values, ...)                                                                       \
    static u64 PASTE(case_, __LINE__)(unsigned at)                                                 \
    {                                                                                              \
        t = at;                                                                                    \
        values;                                                                                    \
        const R r = __VA_ARGS__;                                                                   \
        u64 bits = 0;                                                                              \
        memcpy(&bits, &r, sizeof r);                                                               \
        return bits;                                                                               \
    }
#define LOAD_A(A)                                                                                  \
    const A a = host_pools.v_##A[0][t];                                                            \
    (void)a
#define LOAD_B(B)                                                                                  \
    const B b = host_pools.v_##B[1][t];                                                            \
    (void)b
#define LOAD_C(C)                                                                                  \
    const C c = host_pools.v_##C[2][t];                                                            \
    (void)c
#define C1(R, A, ...)       HOST(R, LOAD_A(A), __VA_ARGS__)
#define C2(R, A, B, ...)    HOST(R, LOAD_A(A); LOAD_B(B), __VA_ARGS__)
#define C3(R, A, B, C, ...) HOST(R, LOAD_A(A); LOAD_B(B); LOAD_C(C), __VA_ARGS__)
#define G1                  C1
#define G2                  C2
#include "numerics_cases.h"
#undef C1
#undef C2
#undef C3
#undef G1
#undef G2

typedef enum kind {
#define X(T) KIND_##T,
    TYPES(X)
#undef X
        NONE
} kind;
static const struct {
    const char *name;
    size_t size, at; /* in pools */
} types[] = {
#define X(T) {#T, sizeof(T), offsetof(pools, v_##T)},
    TYPES(X)
#undef X
};
typedef struct test {
    int line;
    bool gfx942_only;
    const char *text;
    kind r, in[3];
    u64 (*host)(unsigned);
} test;
#define ROW(only, text, R, A, B, C)                                                                \
    {__LINE__, only, text, KIND_##R, {A, B, C}, PASTE(case_, __LINE__)},
#define C1(R, A, ...)       ROW(false, #__VA_ARGS__, R, KIND_##A, NONE, NONE)
#define C2(R, A, B, ...)    ROW(false, #__VA_ARGS__, R, KIND_##A, KIND_##B, NONE)
#define C3(R, A, B, C, ...) ROW(false, #__VA_ARGS__, R, KIND_##A, KIND_##B, KIND_##C)
#define G1(R, A, ...)       ROW(true, #__VA_ARGS__, R, KIND_##A, NONE, NONE)
#define G2(R, A, B, ...)    ROW(true, #__VA_ARGS__, R, KIND_##A, KIND_##B, NONE)
static const test tests[] = {
#include "numerics_cases.h"
};

/* ---- Inputs: every pair of a type's edges, then noise of every magnitude, near misses ---- */
pools host_pools;
static const u64 int_edges[] = {0,          1,          2,          3,          7,
                                10,         0x55,       0x7f,       0x80,       0xff,
                                0x100,      0x7fff,     0x8000,     0xffff,     0x10001,
                                0xffffff,   0x7fffffff, 0x80000000, 0xffffffff, 0x123456789abcdef,
                                1ull << 63, ~0ull >> 1, ~0ull};
static const u64 f16_edges[] = {0,      0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x8400, 0x1400,
                                0x3555, 0x37ff, 0x3800, 0x3bff, 0x3c00, 0xbc00, 0x3c01, 0x3e00,
                                0xc100, 0x5640, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00};
static const u64 f32_edges[] = {
    0,          0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x80800000,
    0x0c123456, 0x33800000, 0x3eaaaaab, 0x3f000000, 0x3f7fffff, 0x3f800000, 0xbf800000,
    0x3fc00001, 0x43808000, 0x477fe000, 0x477ff000, 0x4effffff, 0x4f000000, 0xcf800000,
    0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000};
static const u64 f64_edges[] = {0,
                                1ull << 63,
                                1,
                                (1ull << 63) + 1,
                                0x000fffffffffffff,
                                0x0010000000000000,
                                0x36a0000000000000,
                                0x3690000000000001,
                                0x3e50000000000000,
                                0x3fd5555555555555,
                                0x3fdfffffffffffff,
                                0x3fe0000000000000,
                                0x3fefffffffffffff,
                                0x3ff0000000000000,
                                0xbff0000000000000,
                                0x3ff8000000000001,
                                0x40effffe00000000,
                                0x41dfffffffc00000,
                                0x41e0000000000000,
                                0xc1f0000000000000,
                                0x43dfffffffffffff,
                                0x47efffffe0000000,
                                0x47effffff0000000,
                                0x7fefffffffffffff,
                                0xffefffffffffffff,
                                0x7ff0000000000000,
                                0xfff0000000000000,
                                0x7ff8000000000000};
static u64 seed = 1;
static u64 noise(void)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return mix(seed);
}
/* A number without signalling NaNs: the kind of NaN that a result is made of may differ. */
static u64 quiet(kind k, u64 v)
{
    if (k == KIND_f16 && (v & 0x7fff) > 0x7c00) v |= 0x200;
    if (k == KIND_f32 && (v & 0x7fffffff) > 0x7f800000) v |= 0x400000;
    if (k == KIND_f64 && (v & ~(1ull << 63)) > 0x7ffull << 52) v |= 1ull << 51;
    return v;
}
static u64 random_value(kind k, u64 last)
{
    static const int exponent_at[] = {[KIND_f16] = 10, [KIND_f32] = 23, [KIND_f64] = 52};
    static const u64 middle[] = {[KIND_f16] = 12, [KIND_f32] = 120, [KIND_f64] = 1015};
    u64 n = noise(), how = n >> 60;
    if (k < KIND_f16) return how < 8 ? n : how < 12 ? n >> (n & 63) : last + (n & 7) - 3;
    if (how < 6) return noise();
    if (how < 9) return last ^ (noise() & 15);
    /* near 1 */
    u64 v = noise(), mantissa = (1ull << exponent_at[k]) - 1,
        sign = (u64)(v >> 63) << (types[k].size * 8 - 1);
    return (v & mantissa) | (middle[k] + (noise() & 7)) << exponent_at[k] | sign;
}
static void fill(kind k, const u64 *edges, unsigned count)
{
    for (unsigned i = 0; i < INPUTS; i++) {
        u64 v[3] = {edges[i % count], edges[i / count % count], edges[(i * 7 + i / 11) % count]};
        for (unsigned n = 0; n < 3; n++) {
            if (i >= count * count || i >= INPUTS - 96) v[n] = random_value(k, v[n ? n - 1 : 0]);
            v[n] = quiet(k, v[n]);
            memcpy((char *)&host_pools + types[k].at + (n * INPUTS + i) * types[k].size, &v[n],
                   types[k].size);
        }
    }
}
#define FILL(k, edges) fill(k, edges, sizeof(edges) / sizeof(*(edges)))

/* ---- Running and comparing ---- */
static void *device_pools, *device_out;
static u64 out[INPUTS];

static bool is_nan(kind k, u64 v)
{
    return (k == KIND_f16 && (v & 0x7fff) > 0x7c00) ||
           (k == KIND_f32 && (v & 0x7fffffff) > 0x7f800000) ||
           (k == KIND_f64 && (v & ~(1ull << 63)) > 0x7ffull << 52);
}
static void show(kind k, u64 v)
{
    printf("%s 0x%0*llx", types[k].name, (int)types[k].size * 2, v);
    if (k == KIND_f16) printf(" (%g)", (double)f16_of((u16)v));
    if (k == KIND_f32) printf(" (%.9g)", (double)f32_of((u32)v));
    if (k == KIND_f64) printf(" (%.17g)", f64_of(v));
}
static void show_mismatch(const test *c, unsigned at, u64 want)
{
    printf("    t = %u", at);
    for (int n = 0; n < 3 && c->in[n] != NONE; n++) {
        u64 v = 0;
        const size_t size = types[c->in[n]].size;
        memcpy(&v, (char *)&host_pools + types[c->in[n]].at + ((size_t)n * INPUTS + at) * size,
               size);
        printf(", %c = ", 'a' + n);
        show(c->in[n], v);
    }
    printf(": host ");
    show(c->r, want);
    printf(", simulator ");
    show(c->r, out[at]);
    printf("\n");
}
static int launch(handle module, const test *c)
{
    char name[32];
    handle kernel;
    void *argument[] = {&device_pools, &device_out};
    snprintf(name, sizeof(name), "case_%d", c->line);
    memset(out, 0xee, sizeof(out));
    int error = hipModuleGetFunction(&kernel, module, name);
    if (!error) error = hipMemcpy(device_out, out, sizeof(out), TO_DEVICE);
    if (!error)
        error = hipModuleLaunchKernel(kernel, INPUTS / GROUP, 1, 1, GROUP, 1, 1, 0, NULL, argument,
                                      NULL);
    if (!error) error = hipDeviceSynchronize();
    return error ? error : hipMemcpy(out, device_out, sizeof(out), TO_HOST);
}
static bool run(handle module, const test *c, const char *target, const char *level)
{
    const int error = launch(module, c);
    unsigned wrong = 0;
    if (error) {
        printf("FAIL %s %s line %d: %s: %s\n", target, level, c->line, c->text,
               hipGetErrorString(error));
        return false;
    }
    for (unsigned i = 0; i < INPUTS; i++) {
        const u64 want = c->host(i);
        if (want == out[i] || (is_nan(c->r, want) && is_nan(c->r, out[i]))) continue;
        if (!wrong++) printf("FAIL %s %s line %d: %s\n", target, level, c->line, c->text);
        if (wrong <= 3) show_mismatch(c, i, want);
    }
    if (wrong > 3) printf("    and %u more of %u\n", wrong - 3, (unsigned)INPUTS);
    return wrong == 0;
}

int main(int argc, char **argv)
{
    handle module;
    int passed = 0, failed = 0;
    if (argc != 4) return 2;
    for (kind k = KIND_i8; k < KIND_f16; k++) FILL(k, int_edges);
    FILL(KIND_f16, f16_edges);
    FILL(KIND_f32, f32_edges);
    FILL(KIND_f64, f64_edges);
    int error = hipInit(0);
    if (!error) error = hipModuleLoad(&module, argv[1]);
    if (!error) error = hipMalloc(&device_pools, sizeof(pools));
    if (!error) error = hipMalloc(&device_out, sizeof(out));
    if (!error) error = hipMemcpy(device_pools, &host_pools, sizeof(pools), TO_DEVICE);
    if (error) {
        printf("FAIL %s %s: %s\n0 passed, 1 failed\n", argv[2], argv[3], hipGetErrorString(error));
        return 1;
    }
    for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
        if (tests[i].gfx942_only && strcmp(argv[2], "gfx942")) continue;
        if (run(module, &tests[i], argv[2], argv[3]))
            passed++;
        else
            failed++;
    }
    hipFree(device_pools);
    hipFree(device_out);
    hipModuleUnload(module);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
