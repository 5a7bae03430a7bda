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

#define HOST_ALWAYS inline __attribute__((always_inline))

// `bytes` from a buffer in the cache to where they belong.  stream: 16 bytes at a time past the caches, which need not
// read first what is overwritten whole.
static HOST_ALWAYS void host_put(void *to, const void *from, size_t bytes, int stream)
{
#if defined(__x86_64__)
    if (stream && (uintptr_t)to % 16 == 0) {
        typedef int64_t two __attribute__((vector_size(16), may_alias));
        typedef int64_t any __attribute__((vector_size(16), may_alias, aligned(1)));
        size_t at = 0;
        for (; at + 16 <= bytes; at += 16) {
            two x = *(const any *)((const char *)from + at);
            __asm__ volatile("movntdq %1, %0" : "=m"(*(two *)((char *)to + at)) : "x"(x));
        }
        __builtin_memcpy((char *)to + at, (const char *)from + at, bytes - at);
        return;
    }
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

#define HOST_ROWS_STEP(name, attribute)                                            \
    attribute static void name(const void *job, long long i, int thread)          \
    {                                                                              \
        (void)thread;                                                              \
        if (((const rows_job *)job)->stream) {                                     \
            rows_step((const rows_job *)job, i, 1);                                \
            host_put_end(1);                                                       \
        } else {                                                                   \
            rows_step((const rows_job *)job, i, 0);                                \
        }                                                                          \
    }
HOST_ROWS_STEP(rows_step_plain, )
#if defined(__x86_64__)
HOST_ROWS_STEP(rows_step_avx2, __attribute__((target("avx2,fma,f16c"))))
HOST_ROWS_STEP(rows_step_avx512, __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c"))))
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
