// SPDX-License-Identifier: MIT
// What row-wise host kernels share: one function for each instruction set, threads, stores past the caches.
// Before it includes this an instance defines rows_job and, always inlined,
//   rows_step(job, i, stream)     computes step i; stream: outputs are too large for the caches
// and calls host_rows(job, threads, steps, each).
#ifndef HOST_ROWS_H
#define HOST_ROWS_H
#include <stddef.h>
#include <stdint.h>
#include "kiln_args.h"
#include "kiln_math.h"

#define HOST_ALWAYS inline __attribute__((always_inline))

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

static HOST_ALWAYS float kiln_quotient(float x, kiln_divisor d)
{
    return x * d.scale * d.inverse;
}

static HOST_ALWAYS unsigned rows_larger(unsigned x, unsigned y)
{
    return x > y ? x : y;
}

// Two columns of bf16, the first one in the lower half.  Not may_alias, or else gcc keeps sums in memory: no instance
// writes bf16 but by host_put and memcpy, which may write anything.
typedef unsigned host_pair __attribute__((aligned(2)));

// As kiln_f32_to_bf16, whose result is the upper half.
static HOST_ALWAYS unsigned host_bf16_bits(float x)
{
    const unsigned u = kiln_bits(x);
    return x != x ? u | 0x400000u : u + 0x7fffu + ((u >> 16) & 1);
}

// `bytes` that will be read soon, `ahead` of `from`: into the cache.  They need not be anyone's.
static HOST_ALWAYS void host_expect(const void *from, long long ahead, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += 64)
        __builtin_prefetch((const void *)((uintptr_t)from + (uintptr_t)ahead + at), 0, 3);
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

#define HOST_ROWS_STEP(name, attribute, width)                                     \
    attribute static void name(const void *job, long long i, int thread)          \
    {                                                                              \
        (void)thread;                                                              \
        if (((const rows_job *)job)->stream) {                                     \
            rows_step((const rows_job *)job, i, width);                            \
            host_put_end(width);                                                   \
        } else {                                                                   \
            rows_step((const rows_job *)job, i, 0);                                \
        }                                                                          \
    }
HOST_ROWS_STEP(rows_step_plain, , 16)
#if defined(__x86_64__)
HOST_ROWS_STEP(rows_step_avx2, __attribute__((target("avx2,fma,f16c"))), 32)
HOST_ROWS_STEP(rows_step_avx512, __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c"))), 64)
#endif

static kiln_step host_rows_step(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma"))
        return rows_step_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return rows_step_avx2;
#endif
    return rows_step_plain;
}
#endif
