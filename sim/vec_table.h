// SPDX-License-Identifier: MIT
// One-line rows for vector instructions.  A file says #define MY_OPS(X1, X2, X3, X4, Y1, Y2, Y3, Z)
// and a row a line, then KS_VEC_TABLE(my, MY_OPS); each row becomes a loop over the lanes, which
// compilers turn into vectors, and a ks_op.
//
//   X2(name, class, flags, D, A, B, expression of a, b)           one result: its value
//   Y2(name, class, flags, D, E, A, B, expression setting d, e)   two results
//   Z(name, class, flags, ({D}, {E}), ({A}, {B}, ...))            a function above of that name
//
// In an expression: a, b, c, x (the fourth source) as the C values of their types, i (lane), clamp,
// mode, arch, k.  Types are sim.h's, and R + a float type (RF32): modifiers as that type has, value
// as raw bits.  f16 arrives as float, and a float result is rounded to f16 in the current
// direction.  Packed types: the expression is for each half.  All sources are read before a result
// of several registers is written, so operands may overlap.
//
// Flags that matter here: KS_F_DST_IN (fmac: the old destination is the last source), KS_F_D16 (a
// 16-bit result keeps the register's upper half, which is 0 otherwise), KS_F_D16_HI (it goes to the
// upper half and keeps the lower), KS_F_RAW (denormals of float operands are not flushed), KS_F_MIX
// (fma_mix: sources arrive as f32 whatever op_sel_hi says).  abs, neg, op_sel, denormals, omod and
// the clamp of floats are vec_fetch.c's and vec_finish.c's; integer rows use `clamp` themselves.
#ifndef KS_VEC_TABLE_H
#define KS_VEC_TABLE_H
#include <math.h>
#include <string.h>
#include "vec.h"
#ifdef __F16C__
#include <immintrin.h>
#endif

#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed" /* loops that stay scalar are no news */
#define KS_VECTOR_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define KS_VECTOR_LOOP _Pragma("GCC ivdep")
#endif

/* For rows of integers. */
static inline uint32_t min_u(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}
static inline uint32_t max_u(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}
static inline int32_t min_i(int32_t a, int32_t b)
{
    return a < b ? a : b;
}
static inline int32_t max_i(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

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
    /* rest * 2^-24; downwards, 0.5 - 0.5 is -0 */
    uint32_t small = ks_bits32(ks_f32(0x3f000000u | rest) - 0.5f) & 0x7fffffffu;
    return ks_f32(sign | (rest >= 0x7c00u ? special : rest < 0x400u ? small : normal));
}
/* f32 to f16 in the current rounding direction: adding and taking away 2^13 times the result's unit
   does the rounding, a scale of 2^112 makes f32 overflow (to infinity or to the greatest, as the
   direction says) where f16 does. */
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
    for (int i = 0; i < KS_LANES; i++) out[i] = ks_f16_to_f32(in[i] >> shift);
#endif
}
/* MODE.FP16_OVFL: what is finite but too large for f16 becomes its greatest number. */
enum { KS_MODE_FP16_OVFL = 1 << 23 };
static inline void ks_row_limit_f16(float *row, unsigned count)
{
    KS_VECTOR_LOOP
    for (unsigned i = 0; i < count; i++) {
        uint32_t mag = ks_bits32(row[i]) & 0x7fffffffu;
        row[i] = mag < 0x7f800000u && mag > 0x477fe000u ? copysignf(65504, row[i]) : row[i];
    }
}
static inline void ks_row_to_f16(uint32_t *out, const float *in)
{
#if defined(__AVX512F__)
    for (int i = 0; i < KS_LANES; i += 16)
        _mm512_storeu_si512(out + i, _mm512_cvtepu16_epi32(_mm512_cvtps_ph(
                                         _mm512_loadu_ps(in + i), _MM_FROUND_CUR_DIRECTION)));
#elif defined(__F16C__) && defined(__AVX2__)
    for (int i = 0; i < KS_LANES; i += 8) {
        __m128i h = _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_CUR_DIRECTION);
        _mm256_storeu_si256((__m256i *)(out + i), _mm256_cvtepu16_epi32(h));
    }
#else
    KS_VECTOR_LOOP
    for (int i = 0; i < KS_LANES; i++) out[i] = ks_f32_to_f16(in[i]);
#endif
}
static inline void ks_row_from_2f16(float *out, const uint32_t *in)
{
    ks_row_from_f16(out, in, 0);
    ks_row_from_f16(out + KS_LANES, in, 16);
}
static inline void ks_row_to_2f16(uint32_t *out, const float *in)
{
    uint32_t low[KS_LANES], high[KS_LANES];
    ks_row_to_f16(low, in);
    ks_row_to_f16(high, in + KS_LANES);
    for (int i = 0; i < KS_LANES; i++) out[i] = low[i] | high[i] << 16;
}
static inline void ks_row_from_64(uint64_t *out, const uint32_t *in)
{
    for (int i = 0; i < KS_LANES; i++) out[i] = (uint64_t)in[KS_LANES + i] << 32 | in[i];
}
static inline void ks_row_to_64(uint32_t *out, const uint64_t *in)
{
    for (int i = 0; i < KS_LANES; i++) out[i] = (uint32_t)in[i];
    for (int i = 0; i < KS_LANES; i++) out[KS_LANES + i] = (uint32_t)(in[i] >> 32);
}
static inline void ks_row_from_2i16(int32_t *out, const uint32_t *in)
{
    for (int i = 0; i < KS_LANES; i++) out[i] = (int16_t)in[i];
    for (int i = 0; i < KS_LANES; i++) out[KS_LANES + i] = (int32_t)in[i] >> 16;
}
static inline void ks_row_from_2u16(uint32_t *out, const uint32_t *in)
{
    for (int i = 0; i < KS_LANES; i++) out[i] = in[i] & 0xffffu;
    for (int i = 0; i < KS_LANES; i++) out[KS_LANES + i] = in[i] >> 16;
}
static inline void ks_row_to_2u16(uint32_t *out, const uint32_t *in)
{
    for (int i = 0; i < KS_LANES; i++) out[i] = (in[i] & 0xffffu) | in[KS_LANES + i] << 16;
}

/* What a type is in an expression, how its values get in and out, and its ks_type. */
#define KS_AS_B16     uint32_t, LOW, KS_B16
#define KS_AS_U16     uint32_t, LOW, KS_U16
#define KS_AS_I16     int32_t, LOW_SIGNED, KS_I16
#define KS_AS_F16     float, F16, KS_F16
#define KS_AS_RF16    uint32_t, LOW, KS_F16
#define KS_AS_B32     uint32_t, ROW, KS_B32
#define KS_AS_U32     uint32_t, ROW, KS_U32
#define KS_AS_I32     int32_t, ROW, KS_I32
#define KS_AS_F32     float, ROW, KS_F32
#define KS_AS_RF32    uint32_t, ROW, KS_F32
#define KS_AS_MASK    uint32_t, ROW, KS_MASK
#define KS_AS_B64     uint64_t, WIDE, KS_B64
#define KS_AS_U64     uint64_t, WIDE, KS_U64
#define KS_AS_I64     int64_t, WIDE, KS_I64
#define KS_AS_F64     double, WIDE, KS_F64
#define KS_AS_RF64    uint64_t, WIDE, KS_F64
#define KS_AS_V2I16   int32_t, HALVES_SIGNED, KS_V2I16
#define KS_AS_V2U16   uint32_t, HALVES, KS_V2U16
#define KS_AS_V2F16   float, HALVES_F16, KS_V2F16
#define KS_AS_RV2I16  uint32_t, ROW, KS_V2I16 /* the word, for functions of both halves */
#define KS_AS_RV2U16  uint32_t, ROW, KS_V2U16
#define KS_AS_RV2F16  uint32_t, ROW, KS_V2F16
#define KS_AS_V2F32   float, TWO, KS_V2F32
#define KS_AS_V2B32   uint32_t, TWO, KS_V2B32

/* A way in and out: IN declares the source n of rows p, GET is its lane i, OUT declares the result
   n, PUT sets its lane, END writes it to rows p; LANES: packed types have 128, low halves first. */
#define KS_LANES_ROW        KS_LANES
#define KS_IN_ROW(C, n, p)  const C *n = (const C *)(p);
#define KS_GET_ROW(n)       (n)[i]
#define KS_OUT_ROW(C, n, p) C *n = (C *)(p);
#define KS_PUT_ROW(n, v)    (n)[i] = (v)
#define KS_END_ROW(n, p)

#define KS_LANES_LOW        KS_LANES
#define KS_IN_LOW(C, n, p)  const uint32_t *n = (p);
#define KS_GET_LOW(n)       ((n)[i] & 0xffffu)
#define KS_OUT_LOW(C, n, p) uint32_t *n = (p);
#define KS_PUT_LOW(n, v)    (n)[i] = (uint32_t)(v) & 0xffffu
#define KS_END_LOW(n, p)

#define KS_LANES_LOW_SIGNED        KS_LANES
#define KS_IN_LOW_SIGNED(C, n, p)  const uint32_t *n = (p);
#define KS_GET_LOW_SIGNED(n)       ((int32_t)(int16_t)(n)[i])
#define KS_OUT_LOW_SIGNED(C, n, p) uint32_t *n = (p);
#define KS_PUT_LOW_SIGNED(n, v)    KS_PUT_LOW(n, v)
#define KS_END_LOW_SIGNED(n, p)

#define KS_LIMIT_F16(n)     if (mode & KS_MODE_FP16_OVFL) ks_row_limit_f16(n, sizeof(n) / 4);
#define KS_LANES_F16        KS_LANES
#define KS_IN_F16(C, n, p)  float n[KS_LANES]; ks_row_from_f16(n, p, 0);
#define KS_GET_F16(n)       (n)[i]
#define KS_OUT_F16(C, n, p) float n[KS_LANES];
#define KS_PUT_F16(n, v)    (n)[i] = (v)
#define KS_END_F16(n, p)    KS_LIMIT_F16(n) ks_row_to_f16(p, n);

#define KS_LANES_WIDE        KS_LANES
#define KS_IN_WIDE(C, n, p)  C n[KS_LANES]; ks_row_from_64((uint64_t *)n, p);
#define KS_GET_WIDE(n)       (n)[i]
#define KS_OUT_WIDE(C, n, p) C n[KS_LANES];
#define KS_PUT_WIDE(n, v)    (n)[i] = (v)
#define KS_END_WIDE(n, p)    ks_row_to_64(p, (const uint64_t *)n);

#define KS_LANES_HALVES        (2 * KS_LANES)
#define KS_IN_HALVES(C, n, p)  C n[2 * KS_LANES]; ks_row_from_2u16(n, p);
#define KS_GET_HALVES(n)       (n)[i]
#define KS_OUT_HALVES(C, n, p) uint32_t n[2 * KS_LANES];
#define KS_PUT_HALVES(n, v)    (n)[i] = (uint32_t)(v)
#define KS_END_HALVES(n, p)    ks_row_to_2u16(p, n);

#define KS_LANES_HALVES_SIGNED        (2 * KS_LANES)
#define KS_IN_HALVES_SIGNED(C, n, p)  C n[2 * KS_LANES]; ks_row_from_2i16(n, p);
#define KS_GET_HALVES_SIGNED(n)       (n)[i]
#define KS_OUT_HALVES_SIGNED(C, n, p) KS_OUT_HALVES(C, n, p)
#define KS_PUT_HALVES_SIGNED(n, v)    KS_PUT_HALVES(n, v)
#define KS_END_HALVES_SIGNED(n, p)    KS_END_HALVES(n, p)

#define KS_LANES_HALVES_F16        (2 * KS_LANES)
#define KS_IN_HALVES_F16(C, n, p)  C n[2 * KS_LANES]; ks_row_from_2f16(n, p);
#define KS_GET_HALVES_F16(n)       (n)[i]
#define KS_OUT_HALVES_F16(C, n, p) C n[2 * KS_LANES];
#define KS_PUT_HALVES_F16(n, v)    (n)[i] = (v)
#define KS_END_HALVES_F16(n, p)    KS_LIMIT_F16(n) ks_row_to_2f16(p, n);

#define KS_LANES_TWO        (2 * KS_LANES)
#define KS_IN_TWO(C, n, p)  C n[2 * KS_LANES]; memcpy(n, p, sizeof(n));
#define KS_GET_TWO(n)       (n)[i]
#define KS_OUT_TWO(C, n, p) C *n = (C *)(p);
#define KS_PUT_TWO(n, v)    (n)[i] = (v)
#define KS_END_TWO(n, p)

#define KS_1ST_(a, b, c)  a
#define KS_2ND_(a, b, c)  b
#define KS_3RD_(a, b, c)  c
#define KS_APPLY(f, args) f args
#define KS_JOIN_(a, b)    a##b
#define KS_JOIN(a, b)     KS_JOIN_(a, b)
#define KS_C(T)           KS_APPLY(KS_1ST_, (KS_AS_##T))
#define KS_WAY(f, T)      KS_JOIN(f, KS_APPLY(KS_2ND_, (KS_AS_##T)))
#define KS_IN(T, n, p)    KS_WAY(KS_IN_, T)(KS_C(T), n, p)
#define KS_GET(T, n)      KS_WAY(KS_GET_, T)(n)
#define KS_OUT(T, n, p)   KS_WAY(KS_OUT_, T)(KS_C(T), n, p)
#define KS_PUT(T, n, v)   KS_WAY(KS_PUT_, T)(n, v)
#define KS_END(T, n, p)   KS_WAY(KS_END_, T)(n, p)

/* Rows to functions. */
#define KS_LOCALS                               \
    const bool clamp = k->inst->clamp != 0;     \
    const uint32_t mode = k->mode;              \
    const ks_arch arch = k->arch;               \
    (void)clamp, (void)mode, (void)arch;
#define KS_SOURCE(T, n)                \
    const KS_C(T) n = KS_GET(T, n##_); \
    (void)(n);
#define KS_FN_X(name, D, declare, sources, ...)              \
    static void name(ks_lanes *k)                            \
    {                                                        \
        declare KS_OUT(D, d_, k->d[0]) KS_LOCALS             \
        KS_VECTOR_LOOP                                       \
        for (int i = 0; i < KS_WAY(KS_LANES_, D); i++) {     \
            sources KS_PUT(D, d_, (KS_C(D))(__VA_ARGS__));   \
        }                                                    \
        KS_END(D, d_, k->d[0])                               \
    }
#define KS_FN_Y(name, D, E, declare, sources, ...)                              \
    static void name(ks_lanes *k)                                               \
    {                                                                           \
        declare KS_OUT(D, d_, k->d[0]) KS_OUT(E, e_, k->d[1]) KS_LOCALS         \
        KS_VECTOR_LOOP                                                          \
        for (int i = 0; i < KS_WAY(KS_LANES_, D); i++) {                        \
            sources KS_C(D) d;                                                  \
            KS_C(E) e;                                                          \
            (void)(__VA_ARGS__);                                                \
            KS_PUT(D, d_, d);                                                   \
            KS_PUT(E, e_, e);                                                   \
        }                                                                       \
        KS_END(D, d_, k->d[0]) KS_END(E, e_, k->d[1])                           \
    }
#define KS_DECLARE1(A)          KS_IN(A, a_, k->s[0])
#define KS_DECLARE2(A, B)       KS_DECLARE1(A) KS_IN(B, b_, k->s[1])
#define KS_DECLARE3(A, B, C)    KS_DECLARE2(A, B) KS_IN(C, c_, k->s[2])
#define KS_DECLARE4(A, B, C, F) KS_DECLARE3(A, B, C) KS_IN(F, x_, k->s[3])
#define KS_SOURCES1(A)          KS_SOURCE(A, a)
#define KS_SOURCES2(A, B)       KS_SOURCES1(A) KS_SOURCE(B, b)
#define KS_SOURCES3(A, B, C)    KS_SOURCES2(A, B) KS_SOURCE(C, c)
#define KS_SOURCES4(A, B, C, F) KS_SOURCES3(A, B, C) KS_SOURCE(F, x)
#define KS_FN_X1(name, cls, flags, D, A, ...)                                                      \
    KS_FN_X(name, D, KS_DECLARE1(A), KS_SOURCES1(A), __VA_ARGS__)
#define KS_FN_X2(name, cls, flags, D, A, B, ...)                                                   \
    KS_FN_X(name, D, KS_DECLARE2(A, B), KS_SOURCES2(A, B), __VA_ARGS__)
#define KS_FN_X3(name, cls, flags, D, A, B, C, ...)                                                \
    KS_FN_X(name, D, KS_DECLARE3(A, B, C), KS_SOURCES3(A, B, C), __VA_ARGS__)
#define KS_FN_X4(name, cls, flags, D, A, B, C, F, ...)                                             \
    KS_FN_X(name, D, KS_DECLARE4(A, B, C, F), KS_SOURCES4(A, B, C, F), __VA_ARGS__)
#define KS_FN_Y1(name, cls, flags, D, E, A, ...)                                                   \
    KS_FN_Y(name, D, E, KS_DECLARE1(A), KS_SOURCES1(A), __VA_ARGS__)
#define KS_FN_Y2(name, cls, flags, D, E, A, B, ...)                                                \
    KS_FN_Y(name, D, E, KS_DECLARE2(A, B), KS_SOURCES2(A, B), __VA_ARGS__)
#define KS_FN_Y3(name, cls, flags, D, E, A, B, C, ...)                                             \
    KS_FN_Y(name, D, E, KS_DECLARE3(A, B, C), KS_SOURCES3(A, B, C), __VA_ARGS__)
#define KS_FN_Z(name, cls, flags, d, s)

/* Rows to ks_op. */
#define KS_STRIP(...) __VA_ARGS__
#define KS_S(T)       { KS_APPLY(KS_3RD_, (KS_AS_##T)), 0 }
#define KS_ROW(nm, cls, fl, dst, src)                                                              \
    {.name = #nm,                                                                                  \
     .exec = KS_V(ks_run_lanes),                                                                   \
     .lanes = nm,                                                                                  \
     .flags = (fl),                                                                                \
     .class = KS_##cls##_OP,                                                                       \
     .d = {KS_STRIP dst},                                                                          \
     .s = {KS_STRIP src}},
#define KS_ROW_X1(name, cls, flags, D, A, ...) KS_ROW(name, cls, flags, (KS_S(D)), (KS_S(A)))
#define KS_ROW_X2(name, cls, flags, D, A, B, ...)                                                  \
    KS_ROW(name, cls, flags, (KS_S(D)), (KS_S(A), KS_S(B)))
#define KS_ROW_X3(name, cls, flags, D, A, B, C, ...)                                               \
    KS_ROW(name, cls, flags, (KS_S(D)), (KS_S(A), KS_S(B), KS_S(C)))
#define KS_ROW_X4(name, cls, flags, D, A, B, C, F, ...)                                            \
    KS_ROW(name, cls, flags, (KS_S(D)), (KS_S(A), KS_S(B), KS_S(C), KS_S(F)))
#define KS_ROW_Y1(name, cls, flags, D, E, A, ...)                                                  \
    KS_ROW(name, cls, flags, (KS_S(D), KS_S(E)), (KS_S(A)))
#define KS_ROW_Y2(name, cls, flags, D, E, A, B, ...)                                               \
    KS_ROW(name, cls, flags, (KS_S(D), KS_S(E)), (KS_S(A), KS_S(B)))
#define KS_ROW_Y3(name, cls, flags, D, E, A, B, C, ...)                                            \
    KS_ROW(name, cls, flags, (KS_S(D), KS_S(E)), (KS_S(A), KS_S(B), KS_S(C)))
#define KS_ROW_Z(name, cls, flags, d, s) KS_ROW(name, cls, flags, d, s)

#define KS_VEC_TABLE(table, LIST)                                                                  \
    LIST(KS_FN_X1, KS_FN_X2, KS_FN_X3, KS_FN_X4, KS_FN_Y1, KS_FN_Y2, KS_FN_Y3, KS_FN_Z)            \
    static const ks_op table##_ops[] = {LIST(KS_ROW_X1, KS_ROW_X2, KS_ROW_X3, KS_ROW_X4,           \
                                             KS_ROW_Y1, KS_ROW_Y2, KS_ROW_Y3, KS_ROW_Z)};          \
    ks_op_table KS_V(ks_##table##_ops)(void)                                                       \
    {                                                                                              \
        return (ks_op_table){table##_ops, sizeof(table##_ops) / sizeof(table##_ops[0])};           \
    }
#endif
