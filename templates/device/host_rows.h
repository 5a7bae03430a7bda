// SPDX-License-Identifier: MIT
// What row-wise host kernels share whatever the instruction set: divisors, stores past the caches, who takes a step.
#ifndef HOST_ROWS_H
#define HOST_ROWS_H
#include "kiln_args.h"
#include "kiln_math.h"
#define HOST_KIND HOST_KIND_F32
#include "host_words.h"

#define HOST_ALWAYS inline __attribute__((always_inline))

// Whether the machine rounds to bf16 by itself.
static HOST_ALWAYS int host_has_bf16(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512bf16");
#else
    return 0;
#endif
}

// x, a number or a vector, of which the compiler is told nothing: not that it is a product, which might be fused into
// sums.
#if defined(__x86_64__)
#define HOST_ALONE(x) __asm__("" : "+x"(x))
#else
#define HOST_ALONE(x) __asm__("" : "+m"(x))
#endif

// x y, of which at least one is a vector, rounded whatever comes of it.
#define HOST_PRODUCT(x, y)                                                                                           \
    ({                                                                                                               \
        __typeof__((x) * (y)) product = (x) * (y);                                                                   \
        HOST_ALONE(product);                                                                                         \
        product;                                                                                                     \
    })

// sum + x; lost: what that lost by rounding is added to it.  As kiln_rows.h has it for kiln_compensated.
static HOST_ALWAYS float host_sum_one(float sum, float x, float *lost)
{
    HOST_ALONE(x);
    const float s = sum + x, of_x = s - sum;
    *lost += (sum - (s - of_x)) + (x - of_x);
    return s;
}

// The exact sum, rounded.  Where the sum is infinite or NaN, what was lost is NaN.
static HOST_ALWAYS float host_sum_value(float sum, float lost)
{
    const float both = sum + lost;
    return both == both ? both : sum;
}

// x / y within 2 ulp for many x of one y: its inverse, which is brought near 1 beforehand so that neither it nor its
// inverse is subnormal; x goes the same way first, and overflows or vanishes only where the quotient does.
typedef struct kiln_divisor {
    float scale, inverse;
} kiln_divisor;

static HOST_ALWAYS kiln_divisor kiln_divide_by(float y)
{
    const float a = kiln_abs(y);
    kiln_divisor d;
    d.scale = a > 1.8446744e19f ? 5.4210109e-20f : a < 5.4210109e-20f ? 1.8446744e19f : 1.0f; /* 2^64, 2^-64 */
    d.inverse = 1.0f / (y * d.scale);
    return d;
}

// x / y where q is kiln_divide_by(y), for a number or a vector.
#define HOST_QUOTIENT(x, q) ((x) * (q).scale * (q).inverse)

static HOST_ALWAYS float kiln_quotient(float x, kiln_divisor d)
{
    return HOST_QUOTIENT(x, d);
}

// `bytes` that will be read soon, into the second cache.  They need not be anyone's.
static HOST_ALWAYS void host_expect(uintptr_t from, long long bytes)
{
    for (long long at = 0; at < bytes; at += 64) __builtin_prefetch((const void *)(from + (uintptr_t)at), 0, 2);
}

// The next row, `ahead` of this one, part by part while phase `phase` of `phases` goes through this one: `bytes` from
// `at` on, of `row_bytes`.
static HOST_ALWAYS void host_expect_row(const void *row, long long ahead, long long at, long long bytes,
                                        long long row_bytes, const int phase, const int phases)
{
    const long long part = row_bytes / phases * phase / 64 * 64 + at / phases;
    host_expect((uintptr_t)row + (uintptr_t)(ahead + part), bytes / phases);
}

// Of what is read from end to end, `bytes` now: the machine sees that by itself, but not past a page's end, so where a
// page begins the next one is begun.
static HOST_ALWAYS void host_expect_page(const void *from, size_t bytes)
{
    if (((uintptr_t)from & 4095) < bytes) host_expect((uintptr_t)from + 4096, 192);
}

// `bytes`, a multiple of 32, from a buffer in the cache, at a multiple of 64, to where they belong.  stream: past the
// caches, which need not read first what is overwritten whole, by vectors of so many bytes; 0: as usual.
static HOST_ALWAYS void host_put(void *to, const void *from, size_t bytes, const int stream)
{
#if defined(__x86_64__)
#define HOST_PAST(width, load, store, by)                                                                  \
    if (stream >= width && bytes % width == 0 && (uintptr_t)to % width == 0) {                             \
        for (size_t at = 0; at < bytes; at += width)                                                       \
            __asm__ volatile(load " %1, %%" by "\n\t" store " %%" by ", %0"                                \
                             : "=m"(*(char(*)[width])((char *)to + at))                                    \
                             : "m"(*(const char(*)[width])((const char *)from + at))                       \
                             : "xmm15");                                                                   \
        return;                                                                                            \
    }
    HOST_PAST(64, "vmovdqa64", "vmovntdq", "zmm15")
    HOST_PAST(32, "vmovdqa", "vmovntdq", "ymm15")
    HOST_PAST(16, "movdqa", "movntdq", "xmm15")
#undef HOST_PAST
#endif
    (void)stream;
    __builtin_memcpy(to, from, bytes);
}

// Before other threads may see what was stored past the caches.
static HOST_ALWAYS void host_put_end(int stream)
{
#if defined(__x86_64__)
    if (stream) __asm__ volatile("sfence" ::: "memory");
#endif
    (void)stream;
}

#endif
