// SPDX-License-Identifier: MIT
// Traps where kiln_widen.h differs from the conversions of kiln_types.h: thread x takes a word with all four places'
// bytes of its own.  NaN is NaN, whatever its bits.  (in, in, out), 256 threads.
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
    out[x] = word;
}
