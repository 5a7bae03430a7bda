// SPDX-License-Identifier: MIT
// Element types as numbers: every format by its exponent and mantissa bits, its bias and what its
// topmost patterns mean.
//   value = (-1)^s * 2^(e - bias) * (1 + m / 2^M), or 2^(1 - bias) * m / 2^M where e = 0
// Encoding rounds to nearest even from double in one step.
#include <math.h>
#include <string.h>
#include "internal.h"

typedef enum top {
    TOP_NONE,     /* integers */
    TOP_IEEE,     /* largest exponent: infinity and NaN; overflow gives infinity */
    TOP_SATURATE, /* the same patterns, but nothing is encoded as infinity */
    TOP_NAN,      /* only all ones is NaN, no infinity */
    TOP_FNUZ      /* NaN is the pattern of minus zero; no infinity, no minus zero */
} top;

static const struct special {
    int bias;
    top top;
} special[KILN_DTYPE_COUNT] = {
    [KILN_F32] = {127, TOP_IEEE},       [KILN_F16] = {15, TOP_IEEE},
    [KILN_BF16] = {127, TOP_IEEE},      [KILN_I8] = {0, TOP_NONE},
    [KILN_I32] = {0, TOP_NONE},         [KILN_F8E4M3] = {7, TOP_NAN},
    [KILN_F8E5M2] = {15, TOP_SATURATE}, [KILN_F8E4M3FNUZ] = {8, TOP_FNUZ},
    [KILN_F8E5M2FNUZ] = {16, TOP_FNUZ}, [KILN_I4] = {0, TOP_NONE},
    [KILN_U4] = {0, TOP_NONE},          [KILN_U8] = {0, TOP_NONE},
};

const char *kiln_dtype_name(kiln_dtype t)
{
    return kr_dtype_ok(t) ? kiln_formats[t].name : "none";
}

size_t kiln_dtype_size(kiln_dtype t)
{
    return kr_dtype_ok(t) ? kiln_formats[t].bits / 8 : 0;
}

int kiln_dtype_bits(kiln_dtype t)
{
    return kr_dtype_ok(t) ? kiln_formats[t].bits : 0;
}

kiln_dtype kr_dtype_by_name(const char *name, size_t len)
{
    for (unsigned t = 1; t < KILN_DTYPE_COUNT; t++)
        if (strlen(kiln_formats[t].name) == len && memcmp(kiln_formats[t].name, name, len) == 0)
            return (kiln_dtype)t;
    return KILN_DTYPE_NONE;
}

static double power_of_two(int e) /* -1022 <= e <= 1023 */
{
    uint64_t bits = (uint64_t)(e + 1023) << 52;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static double decode_float(kiln_dtype t, uint32_t bits)
{
    const kiln_format *f = &kiln_formats[t];
    const int width = f->exponent + f->mantissa;
    const uint32_t sign = bits >> width & 1, body = bits & ((1u << width) - 1);
    const uint32_t e = body >> f->mantissa, m = body & ((1u << f->mantissa) - 1);
    const uint32_t last = (1u << f->exponent) - 1;
    switch (special[t].top) {
    case TOP_IEEE:
    case TOP_SATURATE:
        if (e == last) return m ? NAN : sign ? -INFINITY : INFINITY;
        break;
    case TOP_NAN:
        if (body == (1u << width) - 1) return NAN;
        break;
    case TOP_FNUZ:
        if (sign && !body) return NAN;
        break;
    case TOP_NONE:
        break;
    }
    const int scale = (e ? (int)e : 1) - special[t].bias - f->mantissa;
    const double x = (double)(e ? m + (1u << f->mantissa) : m) * power_of_two(scale);
    return sign ? -x : x;
}

static double decode_integer(kiln_dtype t, uint32_t bits)
{
    const kiln_format *f = &kiln_formats[t];
    const bool negative = f->mantissa < f->bits && bits >> f->mantissa & 1;
    return negative ? (double)bits - 2.0 * (double)(1u << f->mantissa) : (double)bits;
}

double kr_decode(kiln_dtype t, kr_at at)
{
    uint32_t bits = 0;
    uint16_t half;
    switch (kiln_formats[t].bits) {
    case 4:
        bits = (uint32_t) * (const uint8_t *)at.p >> at.shift & 0xf;
        break;
    case 8:
        bits = *(const uint8_t *)at.p;
        break;
    case 16:
        memcpy(&half, at.p, 2);
        bits = half;
        break;
    default:
        memcpy(&bits, at.p, 4);
        break;
    }
    return kr_is_float(t) ? decode_float(t, bits) : decode_integer(t, bits);
}

static uint32_t encode_float(kiln_dtype t, double x)
{
    const kiln_format *f = &kiln_formats[t];
    const int width = f->exponent + f->mantissa, bias = special[t].bias;
    const top kind = special[t].top;
    const uint32_t ones = (1u << width) - 1, infinity = ((1u << f->exponent) - 1) << f->mantissa;
    const uint32_t largest = kind == TOP_FNUZ ? ones : kind == TOP_NAN ? ones - 1 : infinity - 1;
    if (isnan(x))
        return kind == TOP_FNUZ  ? 1u << width
               : kind == TOP_NAN ? ones
                                 : infinity | 1u << (f->mantissa - 1);

    const uint32_t sign = signbit(x) ? 1u << width : 0;
    const double size = fabs(x);
    uint64_t raw, body;
    memcpy(&raw, &size, sizeof raw);
    int e = (int)(raw >> 52) - 1023;
    if (e < 1 - bias) e = 1 - bias;
    if (e > 127) {
        body = (uint64_t)ones + 1;
    } else {
        /* In units of the last place, with the leading one; its carry lands in the exponent. */
        const double units = nearbyint(size * power_of_two(f->mantissa - e));
        body = ((uint64_t)(e + bias - 1) << f->mantissa) + (uint64_t)units;
    }
    if (body > largest) body = kind == TOP_IEEE ? infinity : largest;
    if (kind == TOP_FNUZ && body == 0) return 0;
    return sign | (uint32_t)body;
}

static uint32_t encode_integer(kiln_dtype t, double x)
{
    const kiln_format *f = &kiln_formats[t];
    const double most = (double)(1u << f->mantissa), lo = f->mantissa < f->bits ? -most : 0;
    const double r = isnan(x) ? 0 : nearbyint(fmin(fmax(x, lo), most - 1));
    return (uint32_t)(int32_t)r;
}

void kr_encode(kiln_dtype t, double x, kr_at at)
{
    const uint32_t bits = kr_is_float(t) ? encode_float(t, x) : encode_integer(t, x);
    const uint16_t half = (uint16_t)bits;
    uint8_t *const byte = (uint8_t *)at.p;
    switch (kiln_formats[t].bits) {
    case 4:
        *byte = (uint8_t)((*byte & ~(0xfu << at.shift)) | (bits & 0xf) << at.shift);
        break;
    case 8:
        *byte = (uint8_t)bits;
        break;
    case 16:
        memcpy(at.p, &half, 2);
        break;
    default:
        memcpy(at.p, &bits, 4);
        break;
    }
}

double kr_round_to(kiln_dtype t, double x)
{
    uint32_t bits = 0;
    const kr_at at = {(char *)&bits, 0};
    kr_encode(t, x, at);
    return kr_decode(t, at);
}
