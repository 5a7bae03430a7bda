// SPDX-License-Identifier: MIT
// Matrix inputs to f32: every value of f16, bf16, fp8, bf8 (FNUZ, as gfx942 has them) and i8 is an f32 exactly.  An
// exponent and a mantissa shifted to f32's places and multiplied by a power of two are that number, denormals too.
#include <string.h>
#include "vec_mfma.h"

static inline float as_float(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof(f));
    return f;
}
static inline uint32_t as_bits(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof(bits));
    return bits;
}
static inline float from_f32(uint32_t v)
{
    return as_float(v);
}
/* xf32 has ten bits of mantissa; published measurements say that the rest is cut off.  A NaN stays one. */
static inline float from_xf32(uint32_t v)
{
    return as_float((v & 0xffffe000u) | ((v & 0x7fffffffu) > 0x7f800000u ? 0x400000u : 0));
}
static inline float from_f16(uint32_t h)
{
    const uint32_t rest = h & 0x7fffu;
    const uint32_t finite = as_bits(as_float(rest << 13) * 0x1p112f);
    return as_float((h & 0x8000u) << 16 | (rest >= 0x7c00u ? rest << 13 | 0x7f800000u : finite));
}
static inline float from_f16_flushed(uint32_t h)
{
    return from_f16(h & 0x7c00u ? h : 0);
}
static inline float from_bf16(uint32_t h)
{
    return as_float(h << 16);
}
static inline float from_bf16_flushed(uint32_t h)
{
    return as_float(h & 0x7f80u ? h << 16 : 0);
}
static inline float from_fp8(uint32_t b)
{
    const uint32_t finite = as_bits(as_float((b & 0x7fu) << 20) * 0x1p119f);
    return as_float(b == 0x80u ? 0x7fc00000u : (b & 0x80u) << 24 | finite);
}
static inline float from_bf8(uint32_t b)
{
    const uint32_t finite = as_bits(as_float((b & 0x7fu) << 21) * 0x1p111f);
    return as_float(b == 0x80u ? 0x7fc00000u : (b & 0x80u) << 24 | finite);
}
static inline float from_i8(uint32_t b)
{
    return (float)(int8_t)b;
}

#define LOAD(name, bits)                                                                          \
    static void load_##name(const uint32_t *rows, unsigned count, float (*out)[KS_LANES])         \
    {                                                                                             \
        for (unsigned r = 0; r < count; r++, rows += KS_LANES)                                    \
            for (unsigned e = 0; e < 32 / (bits); e++, out++)                                     \
                for (unsigned l = 0; l < KS_LANES; l++)                                           \
                    (*out)[l] = from_##name(rows[l] >> (e * (bits) % 32) & (0xffffffffu >> (32 - (bits)))); \
    }
LOAD(f32, 32)
LOAD(xf32, 32)
LOAD(f16, 16)
LOAD(f16_flushed, 16)
LOAD(bf16, 16)
LOAD(bf16_flushed, 16)
LOAD(fp8, 8)
LOAD(bf8, 8)
LOAD(i8, 8)

void KS_V(ks_mfma_load)(ks_mfma_type type, const uint32_t *rows, unsigned count, bool flush, float (*out)[KS_LANES])
{
    switch (type) {
    case KS_MFMA_F32: load_f32(rows, count, out); break;
    case KS_MFMA_XF32: load_xf32(rows, count, out); break;
    case KS_MFMA_F16: (flush ? load_f16_flushed : load_f16)(rows, count, out); break;
    case KS_MFMA_BF16: (flush ? load_bf16_flushed : load_bf16)(rows, count, out); break;
    case KS_MFMA_FP8: load_fp8(rows, count, out); break;
    case KS_MFMA_BF8: load_bf8(rows, count, out); break;
    case KS_MFMA_I8: load_i8(rows, count, out); break;
    case KS_MFMA_F64: break; /* vec_mfma_f64.c */
    }
}
