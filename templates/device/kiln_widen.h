// SPDX-License-Identifier: MIT
// Four 1-byte elements of a word as two words of f16 or bf16, or eight of 4 bits as two words of i8, lowest first:
// kiln_widen_T_M(word).  Equal to kiln_T_to_f32 and then kiln_f32_to_M, but no rounding is needed: every value of the
// small types is one of the large ones.  C++, AMD's gfx9.
#ifndef KILN_WIDEN_H
#define KILN_WIDEN_H
#include "kiln_mfma.h"
#include "kiln_types.h"

// The upper halves of two f32, which hold all of them where they are values of a small type.
static KILN_DEVICE unsigned kiln_upper_halves(kiln_float2 x)
{
    return __builtin_amdgcn_perm(kiln_bits(x.y), kiln_bits(x.x), 0x07060302u);
}
static KILN_DEVICE unsigned kiln_exact_halves(kiln_float2 x)
{
    return __builtin_bit_cast(unsigned, __builtin_amdgcn_cvt_pkrtz(x.x, x.y));
}

// i8 to f16: x + 128 as the low bits of a number whose last place is 1; less that number and 128 it is x.
static KILN_DEVICE kiln_words2 kiln_widen_i8_f16(unsigned word)
{
    const unsigned x = word ^ 0x80808080u;
    const kiln_half2 less = {(_Float16)1152.0f, (_Float16)1152.0f}; // 0x6400 is 1024
    kiln_words2 to;
    to.v[0] = __builtin_bit_cast(
        unsigned, __builtin_bit_cast(kiln_half2, __builtin_amdgcn_perm(0x64646464u, x, 0x04010400u)) - less);
    to.v[1] = __builtin_bit_cast(
        unsigned, __builtin_bit_cast(kiln_half2, __builtin_amdgcn_perm(0x64646464u, x, 0x04030402u)) - less);
    return to;
}
// i8 to bf16: by f32, as x + 128 in the last places of 2^23, two of which are subtracted at once; the machine's own
// conversions take four times as long as other instructions.
static KILN_DEVICE kiln_float2 kiln_two_bytes(unsigned word, unsigned first, float less)
{
    const float x = kiln_from_bits(__builtin_amdgcn_perm(0x4bu, word, 0x040c0c00u + first)); // 0x4b000000 is 2^23
    const float y = kiln_from_bits(__builtin_amdgcn_perm(0x4bu, word, 0x040c0c01u + first));
    return kiln_float2{x, y} - less;
}
static KILN_DEVICE kiln_words2 kiln_widen_i8_bf16(unsigned word)
{
    const unsigned x = word ^ 0x80808080u;
    kiln_words2 to;
    to.v[0] = kiln_upper_halves(kiln_two_bytes(x, 0, 8388736.0f));
    to.v[1] = kiln_upper_halves(kiln_two_bytes(x, 2, 8388736.0f));
    return to;
}

// 4 bits to i8: of a u4 the two of a byte part; of an i4 it is x + 8 less 8, below a bit that keeps bytes from
// borrowing.
static KILN_DEVICE kiln_words2 kiln_interleaved(unsigned even, unsigned odd)
{
    kiln_words2 to;
    to.v[0] = __builtin_amdgcn_perm(odd, even, 0x05010400u);
    to.v[1] = __builtin_amdgcn_perm(odd, even, 0x07030602u);
    return to;
}
static KILN_DEVICE kiln_words2 kiln_widen_u4_i8(unsigned word)
{
    return kiln_interleaved(word & 0x0f0f0f0fu, word >> 4 & 0x0f0f0f0fu);
}
static KILN_DEVICE kiln_words2 kiln_widen_i4_i8(unsigned word)
{
    const unsigned even = word & 0x0f0f0f0fu, odd = word >> 4 & 0x0f0f0f0fu;
    return kiln_interleaved(((even ^ 0x88888888u) - 0x08080808u) ^ 0x80808080u,
                            ((odd ^ 0x88888888u) - 0x08080808u) ^ 0x80808080u);
}

// Numbers x of up to 15 bits, whole ones or fp8 without infinity, times a bf16, as bf16, rounded to nearest even;
// infinity and NaN as in f32.  A product p has 23 bits at most.  p + p / 2^16, rounded to the 24 bits of an f32, is p
// and, over 2^16, p rounded to 8 bits: what is left when p is subtracted, which is exact, subnormals included.
struct kiln_bf16_scale {
    float by, less; // scale + scale / 2^16, exactly; what is subtracted
};
static KILN_DEVICE kiln_bf16_scale kiln_scale_bf16(float scale)
{
    const float less = __builtin_amdgcn_classf(scale, 0x207) ? 0.0f : scale; // NaN, infinity
    return kiln_bf16_scale{__builtin_fmaf(less, 0x1p-16f, scale), less};
}
// x * y + z, rounded once; clang has a builtin for vectors since version 16.
static KILN_DEVICE kiln_float2 kiln_fma(kiln_float2 x, kiln_float2 y, kiln_float2 z)
{
#if __has_builtin(__builtin_elementwise_fma)
    return __builtin_elementwise_fma(x, y, z);
#else
    return kiln_float2{__builtin_fmaf(x.x, y.x, z.x), __builtin_fmaf(x.y, y.y, z.y)};
#endif
}
// 2^-16 times four such products, rounded.
static KILN_DEVICE void kiln_products_bf16(kiln_float2 (&x)[2], kiln_bf16_scale scale)
{
    kiln_float2 y[2] = {x[0] * scale.by, x[1] * scale.by};
    kiln_by_now(y[0]), kiln_by_now(y[1]);
    x[0] = kiln_fma(-x[0], kiln_float2{scale.less, scale.less}, y[0]);
    x[1] = kiln_fma(-x[1], kiln_float2{scale.less, scale.less}, y[1]);
}

// fp8: by the hardware's conversions where it has them (gfx942, the FNUZ kinds), else one by one; so is u8, of whose
// bytes one instruction makes an f32.
// Two of them: kiln_two_T<0 or 1>(word).
#define KILN_WIDEN(T, x0, x1)                                                                     \
    template <int upper> static KILN_DEVICE kiln_float2 kiln_two_##T(unsigned word)                \
    {                                                                                              \
        if constexpr (upper)                                                                       \
            return x1;                                                                             \
        else                                                                                       \
            return x0;                                                                             \
    }                                                                                              \
    static KILN_DEVICE kiln_words2 kiln_widen_##T##_f16(unsigned word)                             \
    {                                                                                              \
        kiln_words2 to;                                                                            \
        to.v[0] = kiln_exact_halves(x0);                                                           \
        to.v[1] = kiln_exact_halves(x1);                                                           \
        return to;                                                                                 \
    }                                                                                              \
    static KILN_DEVICE kiln_words2 kiln_widen_##T##_bf16(unsigned word)                            \
    {                                                                                              \
        kiln_words2 to;                                                                            \
        to.v[0] = kiln_upper_halves(x0);                                                           \
        to.v[1] = kiln_upper_halves(x1);                                                           \
        return to;                                                                                 \
    }
#define KILN_ONE_BY_ONE(T)                                                                         \
    KILN_WIDEN(T,                                                                                  \
               (kiln_float2{kiln_##T##_to_f32((kiln_##T##_t)word),                                 \
                            kiln_##T##_to_f32((kiln_##T##_t)(word >> 8))}),                        \
               (kiln_float2{kiln_##T##_to_f32((kiln_##T##_t)(word >> 16)),                         \
                            kiln_##T##_to_f32((kiln_##T##_t)(word >> 24))}))
KILN_ONE_BY_ONE(f8e4m3)
KILN_ONE_BY_ONE(f8e5m2)
KILN_ONE_BY_ONE(u8)
#if defined(__gfx942__) && __has_builtin(__builtin_amdgcn_cvt_pk_f32_fp8)
KILN_WIDEN(f8e4m3fnuz, __builtin_amdgcn_cvt_pk_f32_fp8((int)word, false),
           __builtin_amdgcn_cvt_pk_f32_fp8((int)word, true))
KILN_WIDEN(f8e5m2fnuz, __builtin_amdgcn_cvt_pk_f32_bf8((int)word, false),
           __builtin_amdgcn_cvt_pk_f32_bf8((int)word, true))
#else
KILN_ONE_BY_ONE(f8e4m3fnuz)
KILN_ONE_BY_ONE(f8e5m2fnuz)
#endif
#undef KILN_ONE_BY_ONE
#undef KILN_WIDEN
#endif
