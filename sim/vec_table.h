// SPDX-License-Identifier: MIT
// One-line rows for vector instructions.  A file says `#define MY_OPS(X1, X2, X3, X4, Y1, Y2, Y3, Z)` and a row a
// line, then KS_VEC_TABLE(my, MY_OPS); each row becomes a loop over the lanes that compilers vectorise, and a ks_op.
//   X2(name, class, flags, D, A, B, expression of a, b)            one result: the expression's value
//   Y2(name, class, flags, D, E, A, B, expression setting d, e)    two results, assigned by the expression
//   Z(name, class, flags, ({D}, {E}), ({A}, {B}, ...))             a function of that name, written above by hand
// In an expression: a, b, c, x (fourth source) as the C values of their types, i (lane), clamp, mode, arch, k.
// The flags of sim.h that matter here: KS_F_DST_IN (fmac: the old destination is the last source, c), KS_F_D16 (a 16-bit
// result keeps the register's upper half; without it the upper half becomes zero), KS_F_D16_HI (the result goes to the
// upper half and keeps the lower), KS_F_RAW (denormals of its float operands are not flushed: class, moves), KS_F_MIX
// (fma_mix: sources arrive as f32 whatever op_sel_hi says they are).  abs, neg, op_sel, denormals, omod and the clamp of
// float results are vec_lanes.c's; integer rows use `clamp` themselves.
// Types are sim.h's, and R + a float type (RF32): modifiers as that type has, value as raw bits.  f16 arrives as float,
// and a float result is rounded to f16 in the current rounding direction.  Packed types: the expression is for each half.
// All sources are read before a result of several registers is written, so operands may overlap.
#ifndef KS_VEC_TABLE_H
#define KS_VEC_TABLE_H
#include <math.h>
#include <string.h>
#include "vec.h"
#ifdef __F16C__
#include <immintrin.h>
#endif

#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed" /* it says so where its rounding-mode support keeps a loop scalar */
#define KS_VECTOR_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define KS_VECTOR_LOOP _Pragma("GCC ivdep")
#endif

static inline float ks_f32(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, 4);
    return f;
}
static inline uint32_t ks_bits32(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, 4);
    return bits;
}
static inline double ks_f64(uint64_t bits)
{
    double f;
    memcpy(&f, &bits, 8);
    return f;
}
static inline uint64_t ks_bits64(double f)
{
    uint64_t bits;
    memcpy(&bits, &f, 8);
    return bits;
}
/* f16 to f32: exact, denormals kept, a NaN made quiet. */
static inline float ks_f16_to_f32(uint32_t h)
{
    uint32_t sign = (h & 0x8000u) << 16, rest = h & 0x7fffu;
    uint32_t normal = (rest << 13) + 0x38000000u;
    uint32_t special = (rest << 13) | 0x7f800000u | (rest > 0x7c00u ? 0x400000u : 0u);
    uint32_t small = ks_bits32(ks_f32(0x3f000000u | rest) - 0.5f); /* rest * 2^-24 */
    return ks_f32(sign | (rest >= 0x7c00u ? special : rest < 0x400u ? small : normal));
}
/* f32 to f16 in the current rounding direction: adding and taking away 2^13 times the result's unit does the
   rounding, a scale of 2^112 makes f32 overflow (to infinity or to the greatest, as the direction says) where f16 does. */
static inline uint32_t ks_f32_to_f16(float f)
{
    uint32_t bits = ks_bits32(f), sign = bits & 0x80000000u, mag = bits & 0x7fffffffu;
    uint32_t expo = mag & 0x7f800000u;
    expo = expo < 0x38800000u ? 0x38800000u : expo > 0x48000000u ? 0x48000000u : expo;
    float unit = ks_f32(sign | (expo + (13u << 23)));
    float t = f + unit;
    float r = t - unit;
    uint32_t big = ks_bits32(r * 0x1p112f) & 0x7fffffffu;
    uint32_t r_mag = ks_bits32(r) & 0x7fffffffu;
    uint32_t small = ks_bits32(ks_f32(r_mag) + 0.5f) - 0x3f000000u;
    uint32_t h = r_mag < 0x38800000u ? small : (big >> 13) - (224u << 10);
    h = mag > 0x7f800000u ? 0x7e00u | ((mag >> 13) & 0x3ffu) : h;
    return (sign >> 16) | h;
}
/* Whole rows of 64, which compilers do not turn into the CPU's own conversions by themselves. */
static inline void ks_row_from_f16(float *out, const uint32_t *in, unsigned shift)
{
#if defined(__AVX512F__)
    for (int i = 0; i < KS_LANES; i += 16) {
        __m512i v = _mm512_srli_epi32(_mm512_loadu_si512(in + i), shift);
        _mm512_storeu_ps(out + i, _mm512_cvtph_ps(_mm512_cvtepi32_epi16(v)));
    }
#elif defined(__F16C__) && defined(__AVX2__)
    for (int i = 0; i < KS_LANES; i += 8) {
        __m256i v = _mm256_srli_epi32(_mm256_loadu_si256((const __m256i *)(in + i)), (int)shift);
        v = _mm256_and_si256(v, _mm256_set1_epi32(0xffff));
        v = _mm256_permute4x64_epi64(_mm256_packus_epi32(v, v), 0x08);
        _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm256_castsi256_si128(v)));
    }
#else
    KS_VECTOR_LOOP
    for (int i = 0; i < KS_LANES; i++)
        out[i] = ks_f16_to_f32(in[i] >> shift);
#endif
}
static inline void ks_row_to_f16(uint32_t *out, const float *in)
{
#if defined(__AVX512F__)
    for (int i = 0; i < KS_LANES; i += 16)
        _mm512_storeu_si512(out + i, _mm512_cvtepu16_epi32(_mm512_cvtps_ph(_mm512_loadu_ps(in + i),
                                                                           _MM_FROUND_CUR_DIRECTION)));
#elif defined(__F16C__) && defined(__AVX2__)
    for (int i = 0; i < KS_LANES; i += 8) {
        __m128i h = _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_CUR_DIRECTION);
        _mm256_storeu_si256((__m256i *)(out + i), _mm256_cvtepu16_epi32(h));
    }
#else
    KS_VECTOR_LOOP
    for (int i = 0; i < KS_LANES; i++)
        out[i] = ks_f32_to_f16(in[i]);
#endif
}
static inline void ks_row_to_2f16(uint32_t *out, const float *in)
{
    uint32_t low[KS_LANES], high[KS_LANES];
    ks_row_to_f16(low, in);
    ks_row_to_f16(high, in + KS_LANES);
    for (int i = 0; i < KS_LANES; i++)
        out[i] = low[i] | high[i] << 16;
}
static inline void ks_row_from_64(uint64_t *out, const uint32_t *in)
{
    for (int i = 0; i < KS_LANES; i++)
        out[i] = (uint64_t)in[KS_LANES + i] << 32 | in[i];
}
static inline void ks_row_to_64(uint32_t *out, const uint64_t *in)
{
    for (int i = 0; i < KS_LANES; i++)
        out[i] = (uint32_t)in[i];
    for (int i = 0; i < KS_LANES; i++)
        out[KS_LANES + i] = (uint32_t)(in[i] >> 32);
}
static inline void ks_row_from_2i16(int32_t *out, const uint32_t *in)
{
    for (int i = 0; i < KS_LANES; i++)
        out[i] = (int16_t)in[i];
    for (int i = 0; i < KS_LANES; i++)
        out[KS_LANES + i] = (int32_t)in[i] >> 16;
}
static inline void ks_row_from_2u16(uint32_t *out, const uint32_t *in)
{
    for (int i = 0; i < KS_LANES; i++)
        out[i] = in[i] & 0xffffu;
    for (int i = 0; i < KS_LANES; i++)
        out[KS_LANES + i] = in[i] >> 16;
}
static inline void ks_row_to_2u16(uint32_t *out, const uint32_t *in)
{
    for (int i = 0; i < KS_LANES; i++)
        out[i] = (in[i] & 0xffffu) | in[KS_LANES + i] << 16;
}

/* How the values of a type get in and out.  For each: C_ the C type, IN_ declares the source n from rows p, GET_ its
   lane i, OUT_ declares the result n, PUT_ sets its lane, END_ writes it to rows p, N_ lanes, T_ the ks_type. */
#define KS_DIRECT_IN(C, n, p)  const C *n = (const C *)(p)
#define KS_DIRECT_OUT(C, n, p) C *n = (C *)(p)
#define KS_STAGED_IN(C, count, n, convert, p) \
    C n[count];                               \
    convert
#define KS_GET(n)      (n)[i]
#define KS_PUT(n, v)   (n)[i] = (v)

#define KS_C_U32 uint32_t
#define KS_IN_U32(n, p)  KS_DIRECT_IN(uint32_t, n, p)
#define KS_GET_U32(n)    KS_GET(n)
#define KS_OUT_U32(n, p) KS_DIRECT_OUT(uint32_t, n, p)
#define KS_PUT_U32(n, v) KS_PUT(n, v)
#define KS_END_U32(n, p)
#define KS_N_U32 KS_LANES
#define KS_T_U32 KS_U32

#define KS_C_B32 uint32_t
#define KS_IN_B32(n, p)  KS_IN_U32(n, p)
#define KS_GET_B32(n)    KS_GET(n)
#define KS_OUT_B32(n, p) KS_OUT_U32(n, p)
#define KS_PUT_B32(n, v) KS_PUT(n, v)
#define KS_END_B32(n, p)
#define KS_N_B32 KS_LANES
#define KS_T_B32 KS_B32

#define KS_C_I32 int32_t
#define KS_IN_I32(n, p)  KS_DIRECT_IN(int32_t, n, p)
#define KS_GET_I32(n)    KS_GET(n)
#define KS_OUT_I32(n, p) KS_DIRECT_OUT(int32_t, n, p)
#define KS_PUT_I32(n, v) KS_PUT(n, v)
#define KS_END_I32(n, p)
#define KS_N_I32 KS_LANES
#define KS_T_I32 KS_I32

#define KS_C_F32 float
#define KS_IN_F32(n, p)  KS_DIRECT_IN(float, n, p)
#define KS_GET_F32(n)    KS_GET(n)
#define KS_OUT_F32(n, p) KS_DIRECT_OUT(float, n, p)
#define KS_PUT_F32(n, v) KS_PUT(n, v)
#define KS_END_F32(n, p)
#define KS_N_F32 KS_LANES
#define KS_T_F32 KS_F32

#define KS_C_RF32 uint32_t
#define KS_IN_RF32(n, p)  KS_IN_U32(n, p)
#define KS_GET_RF32(n)    KS_GET(n)
#define KS_OUT_RF32(n, p) KS_OUT_U32(n, p)
#define KS_PUT_RF32(n, v) KS_PUT(n, v)
#define KS_END_RF32(n, p)
#define KS_N_RF32 KS_LANES
#define KS_T_RF32 KS_F32

#define KS_C_MASK uint32_t
#define KS_IN_MASK(n, p)  KS_IN_U32(n, p)
#define KS_GET_MASK(n)    KS_GET(n)
#define KS_OUT_MASK(n, p) KS_OUT_U32(n, p)
#define KS_PUT_MASK(n, v) KS_PUT(n, v)
#define KS_END_MASK(n, p)
#define KS_N_MASK KS_LANES
#define KS_T_MASK KS_MASK

#define KS_C_U16 uint32_t
#define KS_IN_U16(n, p)  KS_IN_U32(n, p)
#define KS_GET_U16(n)    ((n)[i] & 0xffffu)
#define KS_OUT_U16(n, p) KS_OUT_U32(n, p)
#define KS_PUT_U16(n, v) KS_PUT(n, (v) & 0xffffu)
#define KS_END_U16(n, p)
#define KS_N_U16 KS_LANES
#define KS_T_U16 KS_U16

#define KS_C_B16 uint32_t
#define KS_IN_B16(n, p)  KS_IN_U32(n, p)
#define KS_GET_B16(n)    ((n)[i] & 0xffffu)
#define KS_OUT_B16(n, p) KS_OUT_U32(n, p)
#define KS_PUT_B16(n, v) KS_PUT(n, (v) & 0xffffu)
#define KS_END_B16(n, p)
#define KS_N_B16 KS_LANES
#define KS_T_B16 KS_B16

#define KS_C_RF16 uint32_t
#define KS_IN_RF16(n, p)  KS_IN_U32(n, p)
#define KS_GET_RF16(n)    ((n)[i] & 0xffffu)
#define KS_OUT_RF16(n, p) KS_OUT_U32(n, p)
#define KS_PUT_RF16(n, v) KS_PUT(n, (v) & 0xffffu)
#define KS_END_RF16(n, p)
#define KS_N_RF16 KS_LANES
#define KS_T_RF16 KS_F16

#define KS_C_I16 int32_t
#define KS_IN_I16(n, p)  KS_IN_U32(n, p)
#define KS_GET_I16(n)    ((int32_t)(int16_t)(n)[i])
#define KS_OUT_I16(n, p) KS_OUT_U32(n, p)
#define KS_PUT_I16(n, v) KS_PUT(n, (uint32_t)(v) & 0xffffu)
#define KS_END_I16(n, p)
#define KS_N_I16 KS_LANES
#define KS_T_I16 KS_I16

#define KS_C_F16 float
#define KS_IN_F16(n, p)  KS_STAGED_IN(float, KS_LANES, n, ks_row_from_f16(n, p, 0), p)
#define KS_GET_F16(n)    KS_GET(n)
#define KS_OUT_F16(n, p) float n[KS_LANES]
#define KS_PUT_F16(n, v) KS_PUT(n, v)
#define KS_END_F16(n, p) ks_row_to_f16(p, n);
#define KS_N_F16 KS_LANES
#define KS_T_F16 KS_F16

#define KS_C_U64 uint64_t
#define KS_IN_U64(n, p)  KS_STAGED_IN(uint64_t, KS_LANES, n, ks_row_from_64(n, p), p)
#define KS_GET_U64(n)    KS_GET(n)
#define KS_OUT_U64(n, p) uint64_t n[KS_LANES]
#define KS_PUT_U64(n, v) KS_PUT(n, v)
#define KS_END_U64(n, p) ks_row_to_64(p, n);
#define KS_N_U64 KS_LANES
#define KS_T_U64 KS_U64

#define KS_C_B64 uint64_t
#define KS_IN_B64(n, p)  KS_IN_U64(n, p)
#define KS_GET_B64(n)    KS_GET(n)
#define KS_OUT_B64(n, p) KS_OUT_U64(n, p)
#define KS_PUT_B64(n, v) KS_PUT(n, v)
#define KS_END_B64(n, p) ks_row_to_64(p, n);
#define KS_N_B64 KS_LANES
#define KS_T_B64 KS_B64

#define KS_C_RF64 uint64_t
#define KS_IN_RF64(n, p)  KS_IN_U64(n, p)
#define KS_GET_RF64(n)    KS_GET(n)
#define KS_OUT_RF64(n, p) KS_OUT_U64(n, p)
#define KS_PUT_RF64(n, v) KS_PUT(n, v)
#define KS_END_RF64(n, p) ks_row_to_64(p, n);
#define KS_N_RF64 KS_LANES
#define KS_T_RF64 KS_F64

#define KS_C_I64 int64_t
#define KS_IN_I64(n, p)  KS_STAGED_IN(int64_t, KS_LANES, n, ks_row_from_64((uint64_t *)n, p), p)
#define KS_GET_I64(n)    KS_GET(n)
#define KS_OUT_I64(n, p) int64_t n[KS_LANES]
#define KS_PUT_I64(n, v) KS_PUT(n, v)
#define KS_END_I64(n, p) ks_row_to_64(p, (uint64_t *)n);
#define KS_N_I64 KS_LANES
#define KS_T_I64 KS_I64

#define KS_C_F64 double
#define KS_IN_F64(n, p)  KS_STAGED_IN(double, KS_LANES, n, ks_row_from_64((uint64_t *)n, p), p)
#define KS_GET_F64(n)    KS_GET(n)
#define KS_OUT_F64(n, p) double n[KS_LANES]
#define KS_PUT_F64(n, v) KS_PUT(n, v)
#define KS_END_F64(n, p) ks_row_to_64(p, (uint64_t *)n);
#define KS_N_F64 KS_LANES
#define KS_T_F64 KS_F64

/* Packed: 128 values, the low halves first. */
#define KS_C_V2I16 int32_t
#define KS_IN_V2I16(n, p)  KS_STAGED_IN(int32_t, 2 * KS_LANES, n, ks_row_from_2i16(n, p), p)
#define KS_GET_V2I16(n)    KS_GET(n)
#define KS_OUT_V2I16(n, p) uint32_t n[2 * KS_LANES]
#define KS_PUT_V2I16(n, v) KS_PUT(n, (uint32_t)(v))
#define KS_END_V2I16(n, p) ks_row_to_2u16(p, n);
#define KS_N_V2I16 (2 * KS_LANES)
#define KS_T_V2I16 KS_V2I16

#define KS_C_V2U16 uint32_t
#define KS_IN_V2U16(n, p)  KS_STAGED_IN(uint32_t, 2 * KS_LANES, n, ks_row_from_2u16(n, p), p)
#define KS_GET_V2U16(n)    KS_GET(n)
#define KS_OUT_V2U16(n, p) uint32_t n[2 * KS_LANES]
#define KS_PUT_V2U16(n, v) KS_PUT(n, v)
#define KS_END_V2U16(n, p) ks_row_to_2u16(p, n);
#define KS_N_V2U16 (2 * KS_LANES)
#define KS_T_V2U16 KS_V2U16

#define KS_C_V2F16 float
#define KS_IN_V2F16(n, p) \
    KS_STAGED_IN(float, 2 * KS_LANES, n, (ks_row_from_f16(n, p, 0), ks_row_from_f16((n) + KS_LANES, p, 16)), p)
#define KS_GET_V2F16(n)    KS_GET(n)
#define KS_OUT_V2F16(n, p) float n[2 * KS_LANES]
#define KS_PUT_V2F16(n, v) KS_PUT(n, v)
#define KS_END_V2F16(n, p) ks_row_to_2f16(p, n);
#define KS_N_V2F16 (2 * KS_LANES)
#define KS_T_V2F16 KS_V2F16

/* The two halves as the raw word, for functions of both (dot products). */
#define KS_C_RV2F16 uint32_t
#define KS_IN_RV2F16(n, p)  KS_IN_U32(n, p)
#define KS_GET_RV2F16(n)    KS_GET(n)
#define KS_OUT_RV2F16(n, p) KS_OUT_U32(n, p)
#define KS_PUT_RV2F16(n, v) KS_PUT(n, v)
#define KS_END_RV2F16(n, p)
#define KS_N_RV2F16 KS_LANES
#define KS_T_RV2F16 KS_V2F16
#define KS_C_RV2I16 uint32_t
#define KS_IN_RV2I16(n, p)  KS_IN_U32(n, p)
#define KS_GET_RV2I16(n)    KS_GET(n)
#define KS_T_RV2I16 KS_V2I16
#define KS_C_RV2U16 uint32_t
#define KS_IN_RV2U16(n, p)  KS_IN_U32(n, p)
#define KS_GET_RV2U16(n)    KS_GET(n)
#define KS_T_RV2U16 KS_V2U16

#define KS_C_V2F32 float
#define KS_IN_V2F32(n, p)  KS_STAGED_IN(float, 2 * KS_LANES, n, memcpy(n, p, sizeof(n)), p)
#define KS_GET_V2F32(n)    KS_GET(n)
#define KS_OUT_V2F32(n, p) KS_DIRECT_OUT(float, n, p)
#define KS_PUT_V2F32(n, v) KS_PUT(n, v)
#define KS_END_V2F32(n, p)
#define KS_N_V2F32 (2 * KS_LANES)
#define KS_T_V2F32 KS_V2F32

#define KS_C_V2B32 uint32_t
#define KS_IN_V2B32(n, p)  KS_STAGED_IN(uint32_t, 2 * KS_LANES, n, memcpy(n, p, sizeof(n)), p)
#define KS_GET_V2B32(n)    KS_GET(n)
#define KS_OUT_V2B32(n, p) KS_DIRECT_OUT(uint32_t, n, p)
#define KS_PUT_V2B32(n, v) KS_PUT(n, v)
#define KS_END_V2B32(n, p)
#define KS_N_V2B32 (2 * KS_LANES)
#define KS_T_V2B32 KS_V2B32

/* Rows to functions. */
#define KS_LOCALS                                                                         \
    const bool clamp = k->inst->clamp != 0;                                               \
    const uint32_t mode = k->mode;                                                        \
    const ks_arch arch = k->arch;                                                         \
    (void)clamp, (void)mode, (void)arch;
#define KS_SOURCE(T, n)              \
    const KS_C_##T n = KS_GET_##T(n##_); \
    (void)(n);
#define KS_FN_X(name, D, declare, sources, ...)                \
    static void name(ks_lanes *k)                              \
    {                                                          \
        declare KS_OUT_##D(d_, k->d[0]);                       \
        KS_LOCALS                                              \
        KS_VECTOR_LOOP                                         \
        for (int i = 0; i < KS_N_##D; i++) {                   \
            sources KS_PUT_##D(d_, (KS_C_##D)(__VA_ARGS__));   \
        }                                                      \
        KS_END_##D(d_, k->d[0])                                \
    }
#define KS_FN_Y(name, D, E, declare, sources, ...)                 \
    static void name(ks_lanes *k)                                  \
    {                                                              \
        declare KS_OUT_##D(d_, k->d[0]);                           \
        KS_OUT_##E(e_, k->d[1]);                                   \
        KS_LOCALS                                                  \
        KS_VECTOR_LOOP                                             \
        for (int i = 0; i < KS_N_##D; i++) {                       \
            sources KS_C_##D d;                                    \
            KS_C_##E e;                                            \
            (void)(__VA_ARGS__);                                   \
            KS_PUT_##D(d_, d);                                     \
            KS_PUT_##E(e_, e);                                     \
        }                                                          \
        KS_END_##D(d_, k->d[0]) KS_END_##E(e_, k->d[1])            \
    }
#define KS_DECLARE1(A)          KS_IN_##A(a_, k->s[0]);
#define KS_DECLARE2(A, B)       KS_DECLARE1(A) KS_IN_##B(b_, k->s[1]);
#define KS_DECLARE3(A, B, C)    KS_DECLARE2(A, B) KS_IN_##C(c_, k->s[2]);
#define KS_DECLARE4(A, B, C, E) KS_DECLARE3(A, B, C) KS_IN_##E(x_, k->s[3]);
#define KS_SOURCES1(A)          KS_SOURCE(A, a)
#define KS_SOURCES2(A, B)       KS_SOURCES1(A) KS_SOURCE(B, b)
#define KS_SOURCES3(A, B, C)    KS_SOURCES2(A, B) KS_SOURCE(C, c)
#define KS_SOURCES4(A, B, C, E) KS_SOURCES3(A, B, C) KS_SOURCE(E, x)
#define KS_FN_X1(name, cls, flags, D, A, ...) KS_FN_X(name, D, KS_DECLARE1(A), KS_SOURCES1(A), __VA_ARGS__)
#define KS_FN_X2(name, cls, flags, D, A, B, ...) KS_FN_X(name, D, KS_DECLARE2(A, B), KS_SOURCES2(A, B), __VA_ARGS__)
#define KS_FN_X3(name, cls, flags, D, A, B, C, ...) \
    KS_FN_X(name, D, KS_DECLARE3(A, B, C), KS_SOURCES3(A, B, C), __VA_ARGS__)
#define KS_FN_X4(name, cls, flags, D, A, B, C, F, ...) \
    KS_FN_X(name, D, KS_DECLARE4(A, B, C, F), KS_SOURCES4(A, B, C, F), __VA_ARGS__)
#define KS_FN_Y1(name, cls, flags, D, E, A, ...) KS_FN_Y(name, D, E, KS_DECLARE1(A), KS_SOURCES1(A), __VA_ARGS__)
#define KS_FN_Y2(name, cls, flags, D, E, A, B, ...) \
    KS_FN_Y(name, D, E, KS_DECLARE2(A, B), KS_SOURCES2(A, B), __VA_ARGS__)
#define KS_FN_Y3(name, cls, flags, D, E, A, B, C, ...) \
    KS_FN_Y(name, D, E, KS_DECLARE3(A, B, C), KS_SOURCES3(A, B, C), __VA_ARGS__)
#define KS_FN_Z(name, cls, flags, d, s)

/* Rows to ks_op. */
#define KS_STRIP(...) __VA_ARGS__
#define KS_S(T) { KS_T_##T, 0 }
#define KS_ROW(nm, cls, fl, dst, src)                                                        \
    { .name = #nm, .exec = KS_V(ks_run_lanes), .lanes = nm, .flags = (fl), .class = KS_##cls##_OP, \
      .d = { KS_STRIP dst }, .s = { KS_STRIP src } },
#define KS_ROW_X1(name, cls, flags, D, A, ...) KS_ROW(name, cls, flags, (KS_S(D)), (KS_S(A)))
#define KS_ROW_X2(name, cls, flags, D, A, B, ...) KS_ROW(name, cls, flags, (KS_S(D)), (KS_S(A), KS_S(B)))
#define KS_ROW_X3(name, cls, flags, D, A, B, C, ...) \
    KS_ROW(name, cls, flags, (KS_S(D)), (KS_S(A), KS_S(B), KS_S(C)))
#define KS_ROW_X4(name, cls, flags, D, A, B, C, F, ...) \
    KS_ROW(name, cls, flags, (KS_S(D)), (KS_S(A), KS_S(B), KS_S(C), KS_S(F)))
#define KS_ROW_Y1(name, cls, flags, D, E, A, ...) KS_ROW(name, cls, flags, (KS_S(D), KS_S(E)), (KS_S(A)))
#define KS_ROW_Y2(name, cls, flags, D, E, A, B, ...) \
    KS_ROW(name, cls, flags, (KS_S(D), KS_S(E)), (KS_S(A), KS_S(B)))
#define KS_ROW_Y3(name, cls, flags, D, E, A, B, C, ...) \
    KS_ROW(name, cls, flags, (KS_S(D), KS_S(E)), (KS_S(A), KS_S(B), KS_S(C)))
#define KS_ROW_Z(name, cls, flags, d, s) KS_ROW(name, cls, flags, d, s)

#define KS_VEC_TABLE(table, LIST)                                                                            \
    LIST(KS_FN_X1, KS_FN_X2, KS_FN_X3, KS_FN_X4, KS_FN_Y1, KS_FN_Y2, KS_FN_Y3, KS_FN_Z)                      \
    static const ks_op table##_ops[] = { LIST(KS_ROW_X1, KS_ROW_X2, KS_ROW_X3, KS_ROW_X4, KS_ROW_Y1,         \
                                              KS_ROW_Y2, KS_ROW_Y3, KS_ROW_Z) };                             \
    ks_op_table KS_V(ks_##table##_ops)(void)                                                                 \
    {                                                                                                        \
        return (ks_op_table){ table##_ops, sizeof(table##_ops) / sizeof(table##_ops[0]) };                   \
    }
#endif
