// SPDX-License-Identifier: MIT
// Traps where kiln_widen.h differs from the conversions of kiln_types.h: thread x takes a word with all four places'
// bytes of its own.  Then products of whole numbers, or fp8 without infinity, and a bf16, 256 of these a thread: all of
// numbers from -15 to 15, four larger ones and four fp8 of each kind.  NaN is NaN, whatever its bits.  (in, in, out),
// 256 threads.
#include "kiln_widen.h"

// Bits less the sign, of infinity.
enum { INFINITY_f16 = 0x7c00, INFINITY_bf16 = 0x7f80 };

#define CHECK(T, M)                                                                                                    \
    {                                                                                                                  \
        const kiln_words2 wide = kiln_widen_##T##_##M(word);                                                           \
        for (int i = 0; i < 4; i++) {                                                                                  \
            const unsigned is = KILN_ELEMENT16(wide, i);                                                               \
            const unsigned want = kiln_f32_to_##M(kiln_##T##_to_f32((kiln_##T##_t)(word >> i * 8))) ^ WRONG;           \
            const bool nan = (is & 0x7fff) > INFINITY_##M && (want & 0x7fff) > INFINITY_##M;                           \
            if (is != want && !nan) __builtin_trap();                                                                  \
        }                                                                                                              \
    }

#define CHECK4(T)                                                                                                      \
    {                                                                                                                  \
        const kiln_words2 wide = kiln_widen_##T##_i8(word);                                                            \
        for (int i = 0; i < 8; i++) {                                                                                  \
            const unsigned want = (unsigned char)kiln_f32_to_i8(kiln_##T##_to_f32((kiln_##T##_t)(word >> i * 4 & 15)));\
            if (KILN_ELEMENT8(wide, i) != (want ^ WRONG)) __builtin_trap();                                            \
        }                                                                                                              \
    }

static KILN_DEVICE void check_four(kiln_float2 x0, kiln_float2 x1, float by)
{
    kiln_float2 x[2] = {x0, x1};
    const float whole[4] = {x[0].x, x[0].y, x[1].x, x[1].y};
    kiln_products_bf16(x, kiln_scale_bf16(by));
    kiln_words2 made;
    made.v[0] = kiln_upper_halves(x[0] * 0x1p16f), made.v[1] = kiln_upper_halves(x[1] * 0x1p16f);
    for (int i = 0; i < 4; i++) {
        const unsigned is = KILN_ELEMENT16(made, i), want = kiln_f32_to_bf16(whole[i] * by) ^ WRONG;
        const bool nan = (is & 0x7fff) > INFINITY_bf16 && (want & 0x7fff) > INFINITY_bf16;
        if (is != want && !nan && ((is | want) & 0x7fff)) __builtin_trap(); // the sign of a zero is any
    }
}

static KILN_DEVICE void check_products(unsigned scale)
{
    const float by = kiln_bf16_to_f32((kiln_bf16_t)scale);
    for (int n = -15; n < 16; n += 4)
        check_four(kiln_float2{(float)n, (float)(n + 1)}, kiln_float2{(float)(n + 2), (float)(n < 13 ? n + 3 : 0)}, by);
    const unsigned word = scale * 0x9e3779b1u;
    const float large = (float)(word % 384);
    check_four(kiln_float2{large, -large}, kiln_float2{383, -(float)(word >> 17)}, by);
    check_four(kiln_two_f8e4m3<0>(word), kiln_two_f8e4m3<1>(word), by);
    check_four(kiln_two_f8e4m3fnuz<0>(word), kiln_two_f8e4m3fnuz<1>(word), by);
    check_four(kiln_two_f8e5m2fnuz<0>(word), kiln_two_f8e5m2fnuz<1>(word), by);
}

KILN_KERNEL(256, 1) widen(const unsigned *, const unsigned *, unsigned *out)
{
    const unsigned x = kiln_thread(), word = x | (x * 3 + 85) % 256 << 8 | (x * 5 + 170) % 256 << 16 | (255 - x) << 24;
    CHECK(i8, f16)
    CHECK(i8, bf16)
    CHECK(u8, f16)
    CHECK(u8, bf16)
    CHECK(f8e4m3, f16)
    CHECK(f8e4m3, bf16)
    CHECK(f8e5m2, f16)
    CHECK(f8e5m2, bf16)
    CHECK(f8e4m3fnuz, f16)
    CHECK(f8e4m3fnuz, bf16)
    CHECK(f8e5m2fnuz, f16)
    CHECK(f8e5m2fnuz, bf16)
    CHECK4(i4)
    CHECK4(u4)
    for (unsigned i = 0; i < 256; i++) check_products(x << 8 | i);
    out[x] = word;
}
