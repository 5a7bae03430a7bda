// SPDX-License-Identifier: MIT
// What a kernel needs from its machine, spelt the same everywhere: qualifiers, thread and block
// numbers, the barrier, fused multiply-add, the integer dot product.  Read by C11 (host), clang for
// AMD GPUs with or without HIP's headers, and nvcc.
#ifndef KILN_DEVICE_H
#define KILN_DEVICE_H

#if defined(__CUDACC__)
#define KILN_GPU_NVIDIA 1
#include "kiln_cuda.h"
#elif defined(__HIP__) || defined(__AMDGCN__)
#define KILN_GPU_AMD 1
#endif

#if defined(KILN_GPU_NVIDIA) || defined(KILN_GPU_AMD)
#define KILN_DEVICE __attribute__((device)) inline __attribute__((always_inline))
#define KILN_SHARED __attribute__((shared))
// A kernel that is always launched with `threads` threads a block, and is to leave room for
// `blocks` blocks on a unit: NVIDIA's compiler wants to be told, AMD's finds its own balance.  And
// its parameter, which it reads where it lies.
#if defined(KILN_GPU_AMD)
#define KILN_PARAMETER(type) const type
#define KILN_KERNEL(threads, blocks)                                                               \
    extern "C" __attribute__((global)) void                                                        \
        __attribute__((amdgpu_flat_work_group_size(threads, threads)))
#else
#define KILN_PARAMETER(type) const __grid_constant__ type
#define KILN_KERNEL(threads, blocks)                                                               \
    extern "C" __attribute__((global)) void __attribute__((launch_bounds(threads, blocks)))
#endif
#else
#define KILN_DEVICE inline __attribute__((always_inline))
#endif

// Bit patterns.  memcpy of four bytes is a register move to every compiler here, and vectorises.
static KILN_DEVICE unsigned kiln_bits(float x)
{
    unsigned u;
    __builtin_memcpy(&u, &x, sizeof u);
    return u;
}

static KILN_DEVICE float kiln_from_bits(unsigned u)
{
    float x;
    __builtin_memcpy(&x, &u, sizeof x);
    return x;
}

static KILN_DEVICE float kiln_fma(float x, float y, float z)
{
    return __builtin_fmaf(x, y, z);
}

// Where KILN_FAST_RECIP is defined: 1/x within 1 ulp for a normal x >= 1; 0 for infinity.  Where
// KILN_FAST_EXP2 is: 2^x within 2^-22 of the result (PTX ISA, ex2.approx; AMD's is within 1 ulp),
// subnormal arguments and results zero.  Where KILN_FAST_MIN is: the lesser and greater of two
// numbers, NaN if either is, by one instruction, of which a conversion behind it makes relu a part
// of its own.
#if defined(KILN_GPU_NVIDIA)
#define KILN_FAST_RECIP 1
#define KILN_FAST_EXP2  1
#define KILN_FAST_MIN   1
static KILN_DEVICE float kiln_recip_fast(float x)
{
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}
static KILN_DEVICE float kiln_exp2_fast(float x)
{
    float r;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}
static KILN_DEVICE float kiln_min_fast(float x, float y)
{
    float r;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y));
    return r;
}
static KILN_DEVICE float kiln_max_fast(float x, float y)
{
    float r;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y));
    return r;
}
#elif defined(KILN_GPU_AMD)
#define KILN_FAST_RECIP 1
#define KILN_FAST_EXP2  1
static KILN_DEVICE float kiln_recip_fast(float x)
{
    return __builtin_amdgcn_rcpf(x);
}
static KILN_DEVICE float kiln_exp2_fast(float x)
{
    return __builtin_amdgcn_exp2f(x);
}
#endif

#if defined(KILN_GPU_NVIDIA)
static KILN_DEVICE unsigned kiln_thread(void)
{
    return threadIdx.x;
}
static KILN_DEVICE unsigned kiln_block_x(void)
{
    return blockIdx.x;
}
static KILN_DEVICE unsigned kiln_block_y(void)
{
    return blockIdx.y;
}
static KILN_DEVICE unsigned kiln_block_z(void)
{
    return blockIdx.z;
}
static KILN_DEVICE unsigned kiln_blocks_x(unsigned threads)
{
    (void)threads;
    return gridDim.x;
}
static KILN_DEVICE unsigned kiln_blocks_y(void)
{
    return gridDim.y;
}
static KILN_DEVICE unsigned kiln_blocks_z(void)
{
    return gridDim.z;
}
// The value of lane ^ mask; every lane of the wave is there.
static KILN_DEVICE float kiln_other_lane(float x, int mask)
{
    return __shfl_xor_sync(0xffffffffu, x, mask);
}
static KILN_DEVICE void kiln_barrier(void)
{
    asm volatile("bar.sync 0;" ::: "memory");
}
#elif defined(KILN_GPU_AMD)
static KILN_DEVICE unsigned kiln_thread(void)
{
    return __builtin_amdgcn_workitem_id_x();
}
static KILN_DEVICE unsigned kiln_block_x(void)
{
    return __builtin_amdgcn_workgroup_id_x();
}
static KILN_DEVICE unsigned kiln_block_y(void)
{
    return __builtin_amdgcn_workgroup_id_y();
}
static KILN_DEVICE unsigned kiln_block_z(void)
{
    return __builtin_amdgcn_workgroup_id_z();
}
// The dispatch packet holds the grid in threads; a kernel knows its own block size.
static KILN_DEVICE unsigned kiln_blocks_x(unsigned threads)
{
    return __builtin_amdgcn_grid_size_x() / threads;
}
static KILN_DEVICE unsigned kiln_blocks_y(void)
{
    return __builtin_amdgcn_grid_size_y();
}
static KILN_DEVICE unsigned kiln_blocks_z(void)
{
    return __builtin_amdgcn_grid_size_z();
}
static KILN_DEVICE float kiln_other_lane(float x, int mask)
{
    const int lane = (int)__builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u));
    return kiln_from_bits((unsigned)__builtin_amdgcn_ds_bpermute((lane ^ mask) * 4, (int)kiln_bits(x)));
}
static KILN_DEVICE void kiln_barrier(void)
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
#endif

static KILN_DEVICE int kiln_least(int x, int y)
{
    return x < y ? x : y;
}
static KILN_DEVICE int kiln_most(int x, int y)
{
    return x > y ? x : y;
}

// First in a kernel: where the launch said `early` (NVIDIA), the kernel ahead has ended; the one
// behind may begin.
static KILN_DEVICE void kiln_begin_early(void)
{
#if defined(KILN_GPU_NVIDIA)
    asm volatile("griddepcontrol.wait;" ::: "memory");
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// The kernel's first parameter, given its address, to be read where it is used: compilers for AMD
// otherwise load every field ahead of the main loop and run out of scalar registers.  NVIDIA's
// instructions take parameters from memory as they are.
static KILN_DEVICE const void *kiln_parameter(const void *address)
{
#if defined(KILN_GPU_AMD)
    typedef const char __attribute__((address_space(4))) * constant;
    constant p = (constant)__builtin_amdgcn_kernarg_segment_ptr();
    (void)address;
    asm volatile("" : "+s"(p));
    return (const void *)p;
#else
    return address;
#endif
}

// kiln_dot4_A_B: c + the dot product of four bytes of type A with four of type B, each i8 or u8;
// wraps.
#if defined(KILN_GPU_NVIDIA)
#define KILN_DOT4(A, B, ptx)                                                                       \
    static KILN_DEVICE int kiln_dot4_##A##_##B(unsigned a, unsigned b, int c)                      \
    {                                                                                              \
        int d;                                                                                     \
        asm("dp4a." ptx " %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));                    \
        return d;                                                                                  \
    }
KILN_DOT4(i8, i8, "s32.s32")
KILN_DOT4(u8, i8, "u32.s32")
KILN_DOT4(i8, u8, "s32.u32")
KILN_DOT4(u8, u8, "u32.u32")
#elif defined(KILN_GPU_AMD) && (defined(__GFX11__) || defined(__GFX12__))
#define KILN_DOT4(A, B, signed_a, signed_b)                                                        \
    static KILN_DEVICE int kiln_dot4_##A##_##B(unsigned a, unsigned b, int c)                      \
    {                                                                                              \
        return __builtin_amdgcn_sudot4(signed_a, (int)a, signed_b, (int)b, c, false);              \
    }
KILN_DOT4(i8, i8, true, true)
KILN_DOT4(u8, i8, false, true)
KILN_DOT4(i8, u8, true, false)
KILN_DOT4(u8, u8, false, false)
#elif defined(KILN_GPU_AMD) && defined(__GFX9__)
static KILN_DEVICE int kiln_dot4_i8_i8(unsigned a, unsigned b, int c)
{
    return __builtin_amdgcn_sdot4((int)a, (int)b, c, false);
}
static KILN_DEVICE int kiln_dot4_u8_u8(unsigned a, unsigned b, int c)
{
    return (int)__builtin_amdgcn_udot4(a, b, (unsigned)c, false);
}
// a * b = (a - 128) * b - (-128 * b), of which b's part is the same for all of A.
static KILN_DEVICE int kiln_dot4_u8_i8(unsigned a, unsigned b, int c)
{
    const int shifted = kiln_dot4_i8_i8(a ^ 0x80808080u, b, c),
              less = kiln_dot4_i8_i8(0x80808080u, b, 0);
    return (int)((unsigned)shifted - (unsigned)less);
}
static KILN_DEVICE int kiln_dot4_i8_u8(unsigned a, unsigned b, int c)
{
    return kiln_dot4_u8_i8(b, a, c);
}
#else
#define KILN_DOT4(A, B, byte_a, byte_b)                                                            \
    static KILN_DEVICE int kiln_dot4_##A##_##B(unsigned a, unsigned b, int c)                      \
    {                                                                                              \
        int sum = 0;                                                                               \
        for (int i = 0; i < 32; i += 8) sum += (byte_a)(a >> i) * (byte_b)(b >> i);                \
        return (int)((unsigned)c + (unsigned)sum);                                                 \
    }
KILN_DOT4(i8, i8, signed char, signed char)
KILN_DOT4(u8, i8, unsigned char, signed char)
KILN_DOT4(i8, u8, signed char, unsigned char)
KILN_DOT4(u8, u8, unsigned char, unsigned char)
#endif
#undef KILN_DOT4
#endif
