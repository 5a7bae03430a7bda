// SPDX-License-Identifier: MIT
// Every matrix builtin of clang 19 for gfx90a and gfx942 as a kernel of one wave, called as the instruction that LLVM
// prints; with modifiers __CBSZ_ABID_BLGP follow.  Register r of lane l of a matrix is word 64 * r + l.
#define GLOBAL extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(64, 64)))
typedef unsigned word;
typedef _Float16 h4 __attribute__((ext_vector_type(4)));
typedef _Float16 h8 __attribute__((ext_vector_type(8)));
typedef short s2 __attribute__((ext_vector_type(2)));
typedef short s4 __attribute__((ext_vector_type(4)));
typedef short s8 __attribute__((ext_vector_type(8)));
typedef int i2 __attribute__((ext_vector_type(2)));
typedef int i4 __attribute__((ext_vector_type(4)));
typedef int i16 __attribute__((ext_vector_type(16)));
typedef int i32 __attribute__((ext_vector_type(32)));
typedef float f2 __attribute__((ext_vector_type(2)));
typedef float f4 __attribute__((ext_vector_type(4)));
typedef float f16 __attribute__((ext_vector_type(16)));
typedef float f32 __attribute__((ext_vector_type(32)));
typedef double d4 __attribute__((ext_vector_type(4)));

template <class T> struct words {
    word w[sizeof(T) / 4];
};
template <class T> __attribute__((device)) static T load(const word *from)
{
    words<T> x;
#pragma unroll
    for (unsigned r = 0; r < sizeof(T) / 4; r++) x.w[r] = from[64 * r + __builtin_amdgcn_workitem_id_x()];
    return __builtin_bit_cast(T, x);
}
template <class T> __attribute__((device)) static void store(word *to, T v)
{
    const words<T> x = __builtin_bit_cast(words<T>, v);
#pragma unroll
    for (unsigned r = 0; r < sizeof(T) / 4; r++) to[64 * r + __builtin_amdgcn_workitem_id_x()] = x.w[r];
}

#define ARGS const word *a, const word *b, const word *c, const word *index, word *d
#define NAMED(name, builtin, A, B, C, cbsz, abid, blgp)                                                       \
    GLOBAL void name(ARGS)                                                                                    \
    {                                                                                                         \
        store<C>(d, __builtin_amdgcn_##builtin(load<A>(a), load<B>(b), load<C>(c), cbsz, abid, blgp));        \
    }
#define WITH(name, builtin, A, B, C, cbsz, abid, blgp) \
    NAMED(name##__##cbsz##_##abid##_##blgp, builtin, A, B, C, cbsz, abid, blgp)
#define ONE(name, builtin, A, B, C) NAMED(name, builtin, A, B, C, 0, 0, 0)
#define BLGP(name, builtin, A, B, C)                                                            \
    ONE(name, builtin, A, B, C)                                                                 \
    WITH(name, builtin, A, B, C, 0, 0, 1) WITH(name, builtin, A, B, C, 0, 0, 2)                 \
    WITH(name, builtin, A, B, C, 0, 0, 3) WITH(name, builtin, A, B, C, 0, 0, 4)                 \
    WITH(name, builtin, A, B, C, 0, 0, 5) WITH(name, builtin, A, B, C, 0, 0, 6)                 \
    WITH(name, builtin, A, B, C, 0, 0, 7)
#define BLOCKS2(name, builtin, A, B, C) \
    BLGP(name, builtin, A, B, C) WITH(name, builtin, A, B, C, 1, 0, 0) WITH(name, builtin, A, B, C, 1, 1, 3)
#define BLOCKS4(name, builtin, A, B, C) \
    BLOCKS2(name, builtin, A, B, C) WITH(name, builtin, A, B, C, 2, 3, 0) WITH(name, builtin, A, B, C, 2, 2, 5)
#define BLOCKS16(name, builtin, A, B, C) \
    BLOCKS4(name, builtin, A, B, C) WITH(name, builtin, A, B, C, 3, 5, 0) WITH(name, builtin, A, B, C, 4, 13, 6)
#define SPARSE_AS(name, builtin, A, B, C, cbsz, abid)                                                                  \
    GLOBAL void name(ARGS)                                                                                             \
    {                                                                                                                  \
        store<C>(d, __builtin_amdgcn_##builtin(load<A>(a), load<B>(b), load<C>(c), load<int>(index), cbsz, abid));     \
    }
#define SPARSE(name, A, B, C)                                                                   \
    SPARSE_AS(v_##name, name, A, B, C, 0, 0)                                                    \
    SPARSE_AS(v_##name##__0_1_0, name, A, B, C, 0, 1) SPARSE_AS(v_##name##__1_1_0, name, A, B, C, 1, 1)

#ifdef __gfx942__
#define BOTH(kind, name90a, name942, A, B, C) kind(v_##name942, name90a, A, B, C)
#define ON_90A ONE
#else
#define BOTH(kind, name90a, name942, A, B, C) kind(v_##name90a, name90a, A, B, C)
#define ON_90A BLGP /* gfx942 has no blgp where gfx908 had half its speed */
#endif
BOTH(BLOCKS2, mfma_f32_32x32x1f32, mfma_f32_32x32x1_2b_f32, float, float, f32)
BOTH(BLOCKS4, mfma_f32_16x16x1f32, mfma_f32_16x16x1_4b_f32, float, float, f16)
BOTH(BLOCKS16, mfma_f32_4x4x1f32, mfma_f32_4x4x1_16b_f32, float, float, f4)
BOTH(BLGP, mfma_f32_32x32x2f32, mfma_f32_32x32x2_f32, float, float, f16)
BOTH(BLGP, mfma_f32_16x16x4f32, mfma_f32_16x16x4_f32, float, float, f4)
BOTH(BLOCKS2, mfma_f32_32x32x4f16, mfma_f32_32x32x4_2b_f16, h4, h4, f32)
BOTH(BLOCKS4, mfma_f32_16x16x4f16, mfma_f32_16x16x4_4b_f16, h4, h4, f16)
BOTH(BLOCKS16, mfma_f32_4x4x4f16, mfma_f32_4x4x4_16b_f16, h4, h4, f4)
BOTH(ON_90A, mfma_f32_32x32x8f16, mfma_f32_32x32x8_f16, h4, h4, f16)
BOTH(ON_90A, mfma_f32_16x16x16f16, mfma_f32_16x16x16_f16, h4, h4, f4)
BOTH(BLOCKS2, mfma_f32_32x32x4bf16_1k, mfma_f32_32x32x4_2b_bf16, s4, s4, f32)
BOTH(BLOCKS4, mfma_f32_16x16x4bf16_1k, mfma_f32_16x16x4_4b_bf16, s4, s4, f16)
BOTH(BLOCKS16, mfma_f32_4x4x4bf16_1k, mfma_f32_4x4x4_16b_bf16, s4, s4, f4)
BOTH(ON_90A, mfma_f32_32x32x8bf16_1k, mfma_f32_32x32x8_bf16, s4, s4, f16)
BOTH(ON_90A, mfma_f32_16x16x16bf16_1k, mfma_f32_16x16x16_bf16, s4, s4, f4)
BOTH(BLOCKS2, mfma_i32_32x32x4i8, mfma_i32_32x32x4_2b_i8, int, int, i32)
BOTH(BLOCKS4, mfma_i32_16x16x4i8, mfma_i32_16x16x4_4b_i8, int, int, i16)
BOTH(BLOCKS16, mfma_i32_4x4x4i8, mfma_i32_4x4x4_16b_i8, int, int, i4)
#ifdef __gfx942__
ONE(v_mfma_f32_32x32x4_xf32, mfma_f32_32x32x4_xf32, f2, f2, f16)
ONE(v_mfma_f32_16x16x8_xf32, mfma_f32_16x16x8_xf32, f2, f2, f4)
ONE(v_mfma_i32_32x32x16_i8, mfma_i32_32x32x16_i8, long, long, i16)
ONE(v_mfma_i32_16x16x32_i8, mfma_i32_16x16x32_i8, long, long, i4)
ONE(v_mfma_f32_32x32x16_bf8_bf8, mfma_f32_32x32x16_bf8_bf8, long, long, f16)
ONE(v_mfma_f32_32x32x16_bf8_fp8, mfma_f32_32x32x16_bf8_fp8, long, long, f16)
ONE(v_mfma_f32_32x32x16_fp8_bf8, mfma_f32_32x32x16_fp8_bf8, long, long, f16)
ONE(v_mfma_f32_32x32x16_fp8_fp8, mfma_f32_32x32x16_fp8_fp8, long, long, f16)
ONE(v_mfma_f32_16x16x32_bf8_bf8, mfma_f32_16x16x32_bf8_bf8, long, long, f4)
ONE(v_mfma_f32_16x16x32_bf8_fp8, mfma_f32_16x16x32_bf8_fp8, long, long, f4)
ONE(v_mfma_f32_16x16x32_fp8_bf8, mfma_f32_16x16x32_fp8_bf8, long, long, f4)
ONE(v_mfma_f32_16x16x32_fp8_fp8, mfma_f32_16x16x32_fp8_fp8, long, long, f4)
BLGP(v_mfma_f64_16x16x4_f64, mfma_f64_16x16x4f64, double, double, d4)
BLGP(v_mfma_f64_4x4x4_4b_f64, mfma_f64_4x4x4f64, double, double, double)
SPARSE(smfmac_f32_16x16x32_f16, h4, h8, f4)
SPARSE(smfmac_f32_32x32x16_f16, h4, h8, f16)
SPARSE(smfmac_f32_16x16x32_bf16, s4, s8, f4)
SPARSE(smfmac_f32_32x32x16_bf16, s4, s8, f16)
SPARSE(smfmac_i32_16x16x64_i8, i2, i4, i4)
SPARSE(smfmac_i32_32x32x32_i8, i2, i4, i16)
SPARSE(smfmac_f32_16x16x64_bf8_bf8, i2, i4, f4)
SPARSE(smfmac_f32_16x16x64_bf8_fp8, i2, i4, f4)
SPARSE(smfmac_f32_16x16x64_fp8_bf8, i2, i4, f4)
SPARSE(smfmac_f32_16x16x64_fp8_fp8, i2, i4, f4)
SPARSE(smfmac_f32_32x32x32_bf8_bf8, i2, i4, f16)
SPARSE(smfmac_f32_32x32x32_bf8_fp8, i2, i4, f16)
SPARSE(smfmac_f32_32x32x32_fp8_bf8, i2, i4, f16)
SPARSE(smfmac_f32_32x32x32_fp8_fp8, i2, i4, f16)
#else
BLGP(v_mfma_f32_32x32x4bf16, mfma_f32_32x32x4bf16, s2, s2, f16)
BLGP(v_mfma_f32_16x16x8bf16, mfma_f32_16x16x8bf16, s2, s2, f4)
BLOCKS2(v_mfma_f32_32x32x2bf16, mfma_f32_32x32x2bf16, s2, s2, f32)
BLOCKS4(v_mfma_f32_16x16x2bf16, mfma_f32_16x16x2bf16, s2, s2, f16)
BLOCKS16(v_mfma_f32_4x4x2bf16, mfma_f32_4x4x2bf16, s2, s2, f4)
BLGP(v_mfma_i32_32x32x8i8, mfma_i32_32x32x8i8, int, int, i16)
BLGP(v_mfma_i32_16x16x16i8, mfma_i32_16x16x16i8, int, int, i4)
ONE(v_mfma_f64_16x16x4f64, mfma_f64_16x16x4f64, double, double, d4)
ONE(v_mfma_f64_4x4x4f64, mfma_f64_4x4x4f64, double, double, double)
#endif

/* The ways in which C and D are given: a constant, the sum of the one before, accumulation registers (A and B too). */
GLOBAL void constant_c(ARGS)
{
    store<f16>(d, __builtin_amdgcn_mfma_f32_32x32x8f16(load<h4>(a), load<h4>(b), (f16)(1.0f), 0, 0, 0));
}
GLOBAL void constant_i(ARGS)
{
    store<i4>(d, __builtin_amdgcn_mfma_i32_4x4x4i8(load<int>(a), load<int>(b), (i4)(-7), 0, 0, 0));
}
GLOBAL void constant_d(ARGS)
{
    store<d4>(d, __builtin_amdgcn_mfma_f64_16x16x4f64(load<double>(a), load<double>(b), (d4)(0.5), 0, 0, 0));
}
GLOBAL void chained(ARGS)
{
    f16 sum = load<f16>(c);
    const h4 x = load<h4>(a), y = load<h4>(b);
    for (int i = 0; i < 3; i++) sum = __builtin_amdgcn_mfma_f32_32x32x8f16(x, y, sum, 0, 0, 0);
    store<f16>(d, sum);
}
GLOBAL void accumulators(ARGS)
{
    f16 sum = load<f16>(c);
    h4 x = load<h4>(a), y = load<h4>(b);
    for (int i = 0; i < 3; i++) {
        sum = __builtin_amdgcn_mfma_f32_32x32x8f16(x, y, sum, 0, 0, 0);
        __asm__ volatile("" : "+a"(sum), "+a"(x), "+a"(y));
    }
    store<f16>(d, sum);
}
