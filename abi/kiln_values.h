// SPDX-License-Identifier: MIT
// What follows from element types alone: what A and B are multiplied as and what sums default to
// (docs/schedules.md, "Values").  The generator writes kernels by it, the library checks by it.
#ifndef KILN_VALUES_H
#define KILN_VALUES_H
#include <stdbool.h>
#include <stdint.h>
#include "kiln_dtype.h"

typedef struct kiln_format {
    const char *name;
    uint8_t bits, is_float, exponent, mantissa; /* the last two in bits */
} kiln_format;

static const kiln_format kiln_formats[KILN_DTYPE_COUNT] = {
#define X(name, id, bits, is_float, exponent, mantissa, text)                                      \
    [id] = {#name, bits, is_float, exponent, mantissa},
    KILN_DTYPES(X)
#undef X
};

static inline bool kiln_is_float(kiln_dtype t)
{
    return kiln_formats[t].is_float != 0;
}

/* i8 or u8. */
static inline bool kiln_is_byte(kiln_dtype t)
{
    return !kiln_is_float(t) && kiln_formats[t].bits == 8;
}

static inline bool kiln_is_fp8(kiln_dtype t)
{
    return kiln_is_float(t) && kiln_formats[t].bits == 8;
}

/* Elements that share a byte; 1: none do. */
static inline int kiln_per_byte(kiln_dtype t)
{
    return kiln_formats[t].bits < 8 ? 8 / kiln_formats[t].bits : 1;
}

/* The accumulator where none is named. */
static inline kiln_dtype kiln_default_acc(kiln_dtype a, kiln_dtype b)
{
    return kiln_is_float(a) || kiln_is_float(b) ? KILN_F32 : KILN_I32;
}

/* An integer of 4 bits is multiplied as i8 would be.  Like types, i8 and u8, and any two fp8, are
 * multiplied as they are; one of 16 bits and one of 8 in 16 bits; all else in f32. */
static inline void kiln_mul_types(kiln_dtype a, kiln_dtype b, kiln_dtype *mul_a, kiln_dtype *mul_b)
{
    if (kiln_formats[a].bits < 8) a = KILN_I8;
    if (kiln_formats[b].bits < 8) b = KILN_I8;
    const uint8_t bits_a = kiln_formats[a].bits, bits_b = kiln_formats[b].bits;
    *mul_a = *mul_b = KILN_F32;
    if (a == b || (kiln_is_fp8(a) && kiln_is_fp8(b)) || (kiln_is_byte(a) && kiln_is_byte(b)))
        *mul_a = a, *mul_b = b;
    else if (bits_a + bits_b == 24) /* 16 and 8 */
        *mul_a = *mul_b = bits_a == 16 ? a : b;
}
#endif
