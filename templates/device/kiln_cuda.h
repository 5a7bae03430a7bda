// SPDX-License-Identifier: MIT
// What kernels want of CUDA's headers: thread and block numbers, addresses, shuffles.
// mk/toolchain.sh leaves out cuda_runtime.h, which nvcc reads ahead of each file and which takes
// half of a kernel's compile time, where that makes the same code; then these are declared here, as
// there, on the same functions of the compiler.
#ifndef KILN_CUDA_H
#define KILN_CUDA_H
#if !defined(__SM_30_INTRINSICS_H__)
#define KILN_CUDA_BUILTIN __attribute__((device_builtin))
#define __grid_constant__ __attribute__((grid_constant))
struct KILN_CUDA_BUILTIN uint3 {
    unsigned x, y, z;
};
extern "C" {
extern const uint3 KILN_CUDA_BUILTIN threadIdx, blockIdx, gridDim;
__attribute__((device)) unsigned long __nv_cvta_generic_to_global_impl(const void *);
__attribute__((device)) unsigned long __nv_cvta_generic_to_shared_impl(const void *);
}
#define KILN_CUDA_FUNCTION static __attribute__((device)) inline __attribute__((always_inline))
#define KILN_CUDA_SHUFFLE(name, builtin, last)                                                     \
    extern "C" __attribute__((device)) KILN_CUDA_BUILTIN unsigned builtin(unsigned, unsigned,      \
                                                                          unsigned, unsigned);     \
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
KILN_CUDA_FUNCTION unsigned long __cvta_generic_to_shared(const void *p)
{
    return __nv_cvta_generic_to_shared_impl(p);
}
KILN_CUDA_FUNCTION unsigned long __cvta_generic_to_global(const void *p)
{
    return __nv_cvta_generic_to_global_impl(p);
}
#undef KILN_CUDA_FUNCTION
#endif
#endif
