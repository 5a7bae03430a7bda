// SPDX-License-Identifier: MIT
// Number formats: for every dtype T of kiln_dtype.h the storage type kiln_T_t, kiln_T_to_f32 and
// kiln_f32_to_T. To f32 is exact.  From f32 rounds to nearest even; f16 and bf16 overflow to
// infinity, fp8 and integers saturate (infinity included); NaN stays NaN, and becomes 0 in
// integers.  The portable code is branch-free, so that loops over it vectorise; hardware
// conversions are used where they give the same results.
#ifndef KILN_TYPES_H
#define KILN_TYPES_H
#include "kiln_device.h"
#include "kiln_dtype.h"

typedef float kiln_f32_t;
typedef unsigned short kiln_f16_t, kiln_bf16_t;
typedef signed char kiln_i8_t;
typedef unsigned char kiln_u8_t;
typedef int kiln_i32_t;
typedef unsigned char kiln_i4_t, kiln_u4_t; /* one element, in the lowest bits */
typedef unsigned char kiln_f8e4m3_t, kiln_f8e5m2_t, kiln_f8e4m3fnuz_t, kiln_f8e5m2fnuz_t;

// A finite number of a small format: m = its bits less the sign, `mant` mantissa bits, exponent
// bias `bias`. Subnormals: the bits of a number whose last place is the format's smallest step,
// less that number, is exact in f32.
static KILN_DEVICE unsigned kiln_widen(unsigned m, int mant, int bias)
{
    unsigned magic = (unsigned)(151 - bias - mant) << 23;
    unsigned normal = (m << (23 - mant)) + ((unsigned)(127 - bias) << 23);
    unsigned subnormal = kiln_bits(kiln_from_bits(magic + m) - kiln_from_bits(magic));
    return m < (1u << mant) ? subnormal : normal;
}

// The reverse for u = bits of a finite |x|: nearest even, no overflow check.  The addition rounds
// subnormals.
static KILN_DEVICE unsigned kiln_narrow(unsigned u, int mant, int bias)
{
    int shift = 23 - mant;
    unsigned magic = (unsigned)(151 - bias - mant) << 23;
    unsigned half = (1u << (shift - 1)) - 1;
    unsigned normal = ((u + half + ((u >> shift) & 1)) >> shift) - ((unsigned)(127 - bias) << mant);
    unsigned subnormal = kiln_bits(kiln_from_bits(u) + kiln_from_bits(magic)) - magic;
    return u < (unsigned)(128 - bias) << 23 ? subnormal : normal;
}

// fp8: like kiln_narrow, but anything above `max` (bits of the largest finite value) becomes it. No
// sign, no NaN.
static KILN_DEVICE unsigned kiln_narrow_sat(unsigned u, int mant, int bias, unsigned max)
{
    return kiln_narrow(u < max ? u : max, mant, bias);
}

/* ---- f32 ---- */
static KILN_DEVICE float kiln_f32_to_f32(kiln_f32_t x)
{
    return x;
}

/* ---- f16 ---- */
#if defined(KILN_GPU_AMD)
static KILN_DEVICE float kiln_f16_to_f32(kiln_f16_t v)
{
    return (float)__builtin_bit_cast(_Float16, v);
}
static KILN_DEVICE kiln_f16_t kiln_f32_to_f16(float x)
{
    return __builtin_bit_cast(kiln_f16_t, (_Float16)x);
}
#elif defined(KILN_GPU_NVIDIA)
static KILN_DEVICE float kiln_f16_to_f32(kiln_f16_t v)
{
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(v));
    return x;
}
static KILN_DEVICE kiln_f16_t kiln_f32_to_f16(float x)
{
    kiln_f16_t v;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(v) : "f"(x));
    return v;
}
#else
static KILN_DEVICE float kiln_f16_to_f32(kiln_f16_t v)
{
    unsigned m = v & 0x7fffu, s = (unsigned)(v & 0x8000u) << 16;
    unsigned u = kiln_widen(m, 10, 15);
    return kiln_from_bits((u + (m >= 0x7c00u ? 112u << 23 : 0u)) | s);
}
static KILN_DEVICE kiln_f16_t kiln_f32_to_f16(float x)
{
    unsigned u = kiln_bits(x) & 0x7fffffffu, s = (kiln_bits(x) >> 16) & 0x8000u;
    unsigned m = kiln_narrow(u < 0x47800000u ? u : 0x47800000u, 10, 15);
    m = u > 0x7f800000u ? 0x7e00u : m;
    return (kiln_f16_t)(m | s);
}
#endif

/* ---- bf16 ---- */
static KILN_DEVICE float kiln_bf16_to_f32(kiln_bf16_t v)
{
    return kiln_from_bits((unsigned)v << 16);
}
#if defined(KILN_GPU_NVIDIA)
static KILN_DEVICE kiln_bf16_t kiln_f32_to_bf16(float x)
{
    kiln_bf16_t v;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(v) : "f"(x));
    return v;
}
#elif defined(KILN_GPU_AMD)
static KILN_DEVICE kiln_bf16_t kiln_f32_to_bf16(float x)
{
    unsigned u = kiln_bits(x), r = u + 0x7fffu + ((u >> 16) & 1);
    r = x != x ? 0x7fc00000u : r; /* whole words: two results are one more instruction */
    return (kiln_bf16_t)(r >> 16);
}
#else
static KILN_DEVICE kiln_bf16_t kiln_f32_to_bf16(float x)
{
    unsigned u = kiln_bits(x);
    unsigned r = (u + 0x7fffu + ((u >> 16) & 1)) >> 16;
    r = (u & 0x7fffffffu) > 0x7f800000u ? (u >> 16) | 0x40u : r;
    return (kiln_bf16_t)r;
}
#endif

/* ---- integers ---- */
static KILN_DEVICE float kiln_i8_to_f32(kiln_i8_t v)
{
    return (float)v;
}
static KILN_DEVICE float kiln_i32_to_f32(kiln_i32_t v)
{
    return (float)v;
}
#if defined(KILN_GPU_NVIDIA)
static KILN_DEVICE kiln_i32_t kiln_f32_to_i32(float x)
{
    int v; /* cvt clamps, and turns NaN into 0 */
    asm("cvt.rni.s32.f32 %0, %1;" : "=r"(v) : "f"(x));
    return v;
}
#else
static KILN_DEVICE kiln_i32_t kiln_f32_to_i32(float x)
{
    /* From 2^23 on x is an integer; below, adding and taking away 2^23 rounds |x|. */
    float a = kiln_from_bits(kiln_bits(x) & 0x7fffffffu);
    float r = (a + 8388608.0f) - 8388608.0f;
    float n = a < 8388608.0f ? r : a;
    float in_range = n < 2147483648.0f ? n : 0.0f; /* NaN: 0 */
    int v = (int)in_range;
    int big = n >= 2147483648.0f ? 0x7fffffff : v;
    int low = n >= 2147483648.0f ? -0x7fffffff - 1 : -v;
    return kiln_bits(x) >> 31 ? low : big;
}
#endif
static KILN_DEVICE kiln_i8_t kiln_f32_to_i8(float x)
{
    float finite = x == x ? x : 0.0f;
    float low = finite > -128.0f ? finite : -128.0f;
    float in_range = low < 127.0f ? low : 127.0f;
    /* 1.5 * 2^23: the sum's last place is 1 */
    return (kiln_i8_t)(int)(kiln_bits(in_range + 12582912.0f) - 0x4b400000u);
}

static KILN_DEVICE float kiln_u8_to_f32(kiln_u8_t v)
{
    return (float)v;
}
static KILN_DEVICE kiln_u8_t kiln_f32_to_u8(float x)
{
    float finite = x == x ? x : 0.0f; /* asked by itself: clang takes what relu lets through, NaN too, for x > 0 */
    float low = finite > 0.0f ? finite : 0.0f;
    float in_range = low < 255.0f ? low : 255.0f;
    return (kiln_u8_t)(kiln_bits(in_range + 12582912.0f) - 0x4b400000u);
}

/* Elements of 4 bits: number `at` from `from` on; as i8 has them, too. */
static KILN_DEVICE unsigned char kiln_half_byte(const unsigned char *from, long long at)
{
    return (unsigned char)(from[at >> 1] >> (at & 1) * 4 & 15);
}
static KILN_DEVICE kiln_i8_t kiln_i4_to_i8(kiln_i4_t v)
{
    return (kiln_i8_t)((v ^ 8) - 8);
}
static KILN_DEVICE kiln_i8_t kiln_u4_to_i8(kiln_u4_t v)
{
    return (kiln_i8_t)v;
}
static KILN_DEVICE float kiln_i4_to_f32(kiln_i4_t v)
{
    return (float)kiln_i4_to_i8(v);
}
static KILN_DEVICE float kiln_u4_to_f32(kiln_u4_t v)
{
    return (float)v;
}
#define KILN_4_BITS(T, lowest, largest)                                                            \
    static KILN_DEVICE kiln_##T##_t kiln_f32_to_##T(float x)                                       \
    {                                                                                              \
        float finite = x == x ? x : 0.0f;                                                          \
        float low = finite > lowest ? finite : lowest;                                             \
        float in_range = low < largest ? low : largest;                                            \
        return (kiln_##T##_t)((kiln_bits(in_range + 12582912.0f) - 0x4b400000u) & 15u);            \
    }
KILN_4_BITS(i4, -8.0f, 7.0f)
KILN_4_BITS(u4, 0.0f, 15.0f)
#undef KILN_4_BITS

/* ---- fp8 ---- */
// cvt's e4m3x2 and e5m2x2 with satfinite are exactly the OCP conversions wanted here.
#if defined(KILN_GPU_NVIDIA) && __CUDA_ARCH__ >= 890
#define KILN_FP8(T, ptx)                                                                           \
    static KILN_DEVICE float kiln_##T##_to_f32(kiln_##T##_t v)                                     \
    {                                                                                              \
        unsigned h;                                                                                \
        asm("cvt.rn.f16x2." ptx "x2 %0, %1;" : "=r"(h) : "h"((unsigned short)v));                  \
        return kiln_f16_to_f32((kiln_f16_t)h);                                                     \
    }                                                                                              \
    static KILN_DEVICE kiln_##T##_t kiln_f32_to_##T(float x)                                       \
    {                                                                                              \
        unsigned short v;                                                                          \
        asm("cvt.rn.satfinite." ptx "x2.f32 %0, %1, %2;" : "=h"(v) : "f"(0.0f), "f"(x));           \
        return (kiln_##T##_t)v;                                                                    \
    }
KILN_FP8(f8e4m3, "e4m3")
KILN_FP8(f8e5m2, "e5m2")
#undef KILN_FP8
#else
static KILN_DEVICE float kiln_f8e4m3_to_f32(kiln_f8e4m3_t v)
{
    unsigned m = v & 0x7fu, s = (unsigned)(v & 0x80u) << 24;
    unsigned u = kiln_widen(m, 3, 7);
    return kiln_from_bits((m == 0x7fu ? 0x7fc00000u : u) | s);
}
static KILN_DEVICE kiln_f8e4m3_t kiln_f32_to_f8e4m3(float x)
{
    unsigned u = kiln_bits(x) & 0x7fffffffu, s = (kiln_bits(x) >> 24) & 0x80u;
    unsigned m = kiln_narrow_sat(u, 3, 7, 0x43e00000u);
    return (kiln_f8e4m3_t)((u > 0x7f800000u ? 0x7fu : m) | s);
}
// f8e5m2 is the upper half of f16, infinities and NaNs included.
static KILN_DEVICE float kiln_f8e5m2_to_f32(kiln_f8e5m2_t v)
{
    return kiln_f16_to_f32((kiln_f16_t)(v << 8));
}
static KILN_DEVICE kiln_f8e5m2_t kiln_f32_to_f8e5m2(float x)
{
    unsigned u = kiln_bits(x) & 0x7fffffffu, s = (kiln_bits(x) >> 24) & 0x80u;
    unsigned m = kiln_narrow_sat(u, 2, 15, 0x47600000u);
    return (kiln_f8e5m2_t)((u > 0x7f800000u ? 0x7fu : m) | s);
}
#endif
// The fnuz formats have no -0 and no infinity: 0x80 is the only NaN.
#define KILN_FP8_FNUZ(T, mant, bias, max)                                                          \
    static KILN_DEVICE float kiln_##T##_to_f32(kiln_##T##_t v)                                     \
    {                                                                                              \
        unsigned s = (unsigned)(v & 0x80u) << 24;                                                  \
        unsigned u = kiln_widen(v & 0x7fu, mant, bias);                                            \
        return kiln_from_bits(v == 0x80u ? 0x7fc00000u : u | s);                                   \
    }                                                                                              \
    static KILN_DEVICE kiln_##T##_t kiln_f32_to_##T(float x)                                       \
    {                                                                                              \
        unsigned u = kiln_bits(x) & 0x7fffffffu, s = (kiln_bits(x) >> 24) & 0x80u;                 \
        unsigned m = kiln_narrow_sat(u, mant, bias, max);                                          \
        m = m == 0 ? 0 : m | s;                                                                    \
        return (kiln_##T##_t)(u > 0x7f800000u ? 0x80u : m);                                        \
    }
KILN_FP8_FNUZ(f8e4m3fnuz, 3, 8, 0x43700000u)
KILN_FP8_FNUZ(f8e5m2fnuz, 2, 16, 0x47600000u)
#undef KILN_FP8_FNUZ
#endif
