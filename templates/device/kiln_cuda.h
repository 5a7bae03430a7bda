// SPDX-License-Identifier: MIT
// What kernels want of CUDA's headers: qualifiers, thread and block numbers, addresses, shuffles.
// mk/toolchain.sh leaves out cuda_runtime.h, which nvcc reads ahead of each file and which takes
// half of a kernel's compile time, where that makes the same code; then shuffles are CUDA's own
// (sm_30_intrinsics.hpp), on the same functions of the compiler.
#ifndef KILN_CUDA_H
#define KILN_CUDA_H
#include <stddef.h>
#include <device_launch_parameters.h>
#include <sm_20_intrinsics.h>
#if !defined(__SM_30_INTRINSICS_H__)
#define KILN_CUDA_FUNCTION static __attribute__((device)) inline __attribute__((always_inline))
#define KILN_CUDA_SHUFFLE(name, builtin, last)                                                     \
    extern "C" __attribute__((device)) __device_builtin__ unsigned builtin(unsigned, unsigned,     \
                                                                           unsigned, unsigned);    \
    KILN_CUDA_FUNCTION unsigned name(unsigned lanes, unsigned x, unsigned lane)                    \
    {                                                                                              \
        return builtin(lanes, x, lane, last);                                                      \
    }                                                                                              \
    KILN_CUDA_FUNCTION int name(unsigned lanes, int x, unsigned lane)                              \
    {                                                                                              \
        return (int)builtin(lanes, (unsigned)x, lane, last);                                       \
    }                                                                                              \
    KILN_CUDA_FUNCTION float name(unsigned lanes, float x, unsigned lane)                          \
    {                                                                                              \
        unsigned u;                                                                                \
        __builtin_memcpy(&u, &x, sizeof u);                                                        \
        u = builtin(lanes, u, lane, last);                                                         \
        __builtin_memcpy(&x, &u, sizeof x);                                                        \
        return x;                                                                                  \
    }
KILN_CUDA_SHUFFLE(__shfl_sync, __nvvm_shfl_idx_sync, 0x1f)
KILN_CUDA_SHUFFLE(__shfl_xor_sync, __nvvm_shfl_bfly_sync, 0x1f)
KILN_CUDA_SHUFFLE(__shfl_down_sync, __nvvm_shfl_down_sync, 0x1f)
KILN_CUDA_SHUFFLE(__shfl_up_sync, __nvvm_shfl_up_sync, 0)
#undef KILN_CUDA_SHUFFLE
// The lower word of high:low, shifted right by a number modulo 32.
KILN_CUDA_FUNCTION unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by)
{
    unsigned r;
    asm volatile("shf.r.wrap.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(low), "r"(high), "r"(by));
    return r;
}
#undef KILN_CUDA_FUNCTION
#endif
#endif
