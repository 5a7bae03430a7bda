// SPDX-License-Identifier: MIT
// What host_vec.h needs beside an instruction set: a unit's type, by HOST_KIND, and how functions and loops are told to
// be laid out in line.
#ifndef HOST_WORDS_H
#define HOST_WORDS_H
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include "kiln_types.h"

#define HOST_KIND_F32 0 /* f32 units, f32 sums */
#define HOST_KIND_I8  1 /* units of several i8 or u8, i32 sums that wrap */

#if HOST_KIND == HOST_KIND_F32
typedef float host_unit_t;
typedef float host_sum_t;
#else
typedef uint32_t host_unit_t;
typedef int32_t host_sum_t;
#endif

#define HOST_INLINE inline __attribute__((always_inline))
#if defined(__clang__)
#define HOST_UNROLL    _Pragma("clang loop unroll(full)")
#define HOST_NO_UNROLL _Pragma("clang loop unroll(disable)")
#else
#define HOST_UNROLL    _Pragma("GCC unroll 32")
#define HOST_NO_UNROLL _Pragma("GCC unroll 1")
#endif

/* The widest instruction set there is, of 512, 256 and 128; KILN_HOST_ISA=avx2 or plain asks for a narrower one. */
static inline int host_widest(void)
{
#if defined(__x86_64__)
    const char *most = getenv("KILN_HOST_ISA");
    int limit = 512;
    if (most && !__builtin_strcmp(most, "avx2")) limit = 256;
    if (most && !__builtin_strcmp(most, "plain")) limit = 128;
    if (limit >= 512 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma"))
        return 512;
    if (limit >= 256 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return 256;
#endif
    return 128;
}
#endif
