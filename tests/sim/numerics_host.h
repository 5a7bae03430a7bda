// SPDX-License-Identifier: MIT
// The host's side of numerics_values.h: what AMD's builtins and instructions mean, stated from the
// ISA's text without a look at the simulator.
#ifndef NUMERICS_HOST_H
#define NUMERICS_HOST_H
#include <math.h>
#include <stdbool.h>

extern pools host_pools;
static __thread unsigned t; /* the work-item that is computed */

/* ---- f16 by way of f64: 53 bits are enough for one operation (2 * 11 + 2), not for fma ---- */
#define SQRT16(a)        (f16) sqrt((f64)(a))
#define FMA16(a, b, c)   fma16(a, b, c)
#define LDEXP32(a, n)    ldexpf(a, n)
#define LDEXP64(a, n)    ldexp(a, n)
#define LDEXP16(a, n)    (f16) ldexp((f64)(a), n)
#define FLOOR16(a)       (f16) floorf((f32)(a))
#define CEIL16(a)        (f16) ceilf((f32)(a))
#define TRUNC16(a)       (f16) truncf((f32)(a))
#define RINT16(a)        (f16) rintf((f32)(a))
#define ABS16(a)         f16_of(bits_f16(a) & 0x7fff)
#define COPYSIGN16(a, b) f16_of((u16)((bits_f16(a) & 0x7fff) | (bits_f16(b) & 0x8000)))
#ifdef __SIZEOF_FLOAT128__
typedef __float128 quad;
#else
typedef long double quad;
#endif
FN f16 fma16(f16 a, f16 b, f16 c)
{
    quad exact = (quad)(f64)a * (quad)(f64)b + (quad)(f64)c;
    f64 d = (f64)exact; /* to odd: what is lost is a bit below all that f16 looks at */
    if (exact != (quad)d && !(bits_f64(d) & 1))
        d = f64_of(bits_f64(d) + (((exact > (quad)d) == (d > 0)) ? 1 : ~0ull));
    return (f16)d;
}
/* ---- frexp as hardware has it ---- */
FN i32 frexp_exp(f64 a)
{
    int e = 0;
    if (isfinite(a)) (void)frexp(a, &e);
    return e;
}
FN f64 frexp_mant(f64 a)
{
    int e;
    return isfinite(a) ? frexp(a, &e) : a;
}
#define FREXP_EXP16(a)  frexp_exp((f64)(a))
#define FREXP_MANT16(a) (f16) frexp_mant((f64)(a))
#define FREXP_EXP32(a)  frexp_exp((f64)(a))
#define FREXP_MANT32(a) (f32) frexp_mant((f64)(a))
#define FREXP_EXP64(a)  frexp_exp(a)
#define FREXP_MANT64(a) frexp_mant(a)
/* ---- Minimum and maximum: numbers before NaNs, -0 before +0 ---- */
FN f64 least(f64 a, f64 b)
{
    return a != a ? b : b != b ? a : a == b ? (signbit(a) ? a : b) : a < b ? a : b;
}
FN f64 greatest(f64 a, f64 b)
{
    return a != a ? b : b != b ? a : a == b ? (signbit(a) ? b : a) : a > b ? a : b;
}
#define LEAST(T, a, b)    (T) least(a, b)
#define GREATEST(T, a, b) (T) greatest(a, b)
#define MIN3(a, b, c)     (f32) least(least(a, b), c)
#define MAX3(a, b, c)     (f32) greatest(greatest(a, b), c)
FN f64 middle(f64 a, f64 b, f64 c)
{
    if (a != a || b != b || c != c) return least(least(a, b), c);
    f64 top = greatest(greatest(a, b), c);
    return top == a ? greatest(b, c) : top == b ? greatest(a, c) : greatest(a, b);
}
#define MED3(a, b, c)    (f32) middle(a, b, c)
#define MED3_16(a, b, c) bits_f16((f16)middle(a, b, c))
/* ---- Classes; there are no signalling NaNs among the inputs ---- */
FN bool in_class(int kind, bool minus, u32 mask)
{
    u32 bit = kind == FP_NAN         ? 1
              : kind == FP_INFINITE  ? (minus ? 2 : 9)
              : kind == FP_NORMAL    ? (minus ? 3 : 8)
              : kind == FP_SUBNORMAL ? (minus ? 4 : 7)
              : minus                ? 5
                                     : 6;
    return mask >> bit & 1;
}
#define CLASS32(a, m) in_class(fpclassify((f32)(a)), signbit((f32)(a)) != 0, m)
#define CLASS64(a, m) in_class(fpclassify((f64)(a)), signbit((f64)(a)) != 0, m)
#define FRACT32(a)    fminf_number((a)-floorf(a), 0x1.fffffep-1f)
#define FRACT64(a)    fmin_number((a)-floor(a), 0x1.fffffffffffffp-1)
FN f32 fminf_number(f32 a, f32 b)
{
    return a > b ? b : a;
}
FN f64 fmin_number(f64 a, f64 b)
{
    return a > b ? b : a;
}
/* ---- Bits ---- */
#define REVERSE32(a) (u32) reverse_slowly(a, 32)
#define REVERSE64(a) reverse_slowly(a, 64)
#define REVERSE16(a) (u16) reverse_slowly(a, 16)
FN u32 UBFE(u32 a, u32 offset, u32 width)
{
    offset &= 31, width &= 31;
    return (u32)((u64)a >> offset & ((1ull << width) - 1));
}
FN i32 SBFE(i32 a, u32 offset, u32 width)
{
    offset &= 31, width &= 31;
    if (offset + width >= 32) return width ? a >> offset : 0;
    return width ? (i32)((u32)a << (32 - width - offset)) >> (32 - width) : 0;
}
FN u32 PERM(u32 a, u32 b, u32 select)
{
    u64 both = (u64)a << 32 | b;
    u32 r = 0;
    for (int i = 0; i < 4; i++) {
        u32 s = select >> i * 8 & 255, v;
        if (s >= 13)
            v = 255;
        else if (s == 12)
            v = 0;
        else if (s >= 8)
            v = (both >> ((s - 8) * 16 + 15) & 1) ? 255 : 0;
        else
            v = (u32)(both >> s * 8) & 255;
        r |= v << i * 8;
    }
    return r;
}
#define ALIGNBIT(a, b, c)  (u32)(((u64)(a) << 32 | (b)) >> ((c)&31))
#define ALIGNBYTE(a, b, c) (u32)(((u64)(a) << 32 | (b)) >> ((c)&3) * 8)
FN u32 sad(u32 a, u32 b, u32 c, int bits)
{
    for (int i = 0; i < 32; i += bits) {
        i32 x = (i32)(a >> i & ((1u << bits) - 1)), y = (i32)(b >> i & ((1u << bits) - 1));
        c += (u32)(x > y ? x - y : y - x);
    }
    return c;
}
#define SAD8(a, b, c)  sad(a, b, c, 8)
#define SAD16(a, b, c) sad(a, b, c, 16)
FN u32 LERP(u32 a, u32 b, u32 c)
{
    u32 r = 0;
    for (int i = 0; i < 32; i += 8)
        r |= (((a >> i & 255) + (b >> i & 255) + (c >> i & 1)) >> 1) << i;
    return r;
}
#define MUL_U24(a, b) (u32)((u64)((a)&0xffffff) * ((b)&0xffffff))
#define MUL_I24(a, b) (i32)((i64)((i32)((u32)(a) << 8) >> 8) * ((i32)((u32)(b) << 8) >> 8))
/* Dot products of fields of `bits` bits. */
FN u32 dot(u32 a, u32 b, u32 c, int bits, bool is_signed)
{
    for (int i = 0; i < 32; i += bits) {
        i32 x = (i32)(a << (32 - bits - i)), y = (i32)(b << (32 - bits - i));
        c += is_signed ? (u32)((x >> (32 - bits)) * (y >> (32 - bits)))
                       : ((u32)x >> (32 - bits)) * ((u32)y >> (32 - bits));
    }
    return c;
}
#define DOT4U(a, b, c) dot(a, b, c, 8, false)
#define DOT4I(a, b, c) (i32) dot(a, b, (u32)(c), 8, true)
#define DOT8I(a, b, c) (i32) dot(a, b, (u32)(c), 4, true)
#define DOT2I(a, b, c) (i32) dot(a, b, (u32)(c), 16, true)
FN f32 half(u32 v, int n)
{
    return (f32)f16_of((u16)(v >> n * 16));
}
#define DOT2F(a, b, c) ((c) + half(a, 0) * half(b, 0) + half(a, 1) * half(b, 1))
FN u32 halves(f16 low, f16 high)
{
    return bits_f16(low) | (u32)bits_f16(high) << 16;
}
#define EACH16(f, ...)     halves(f(0, __VA_ARGS__), f(1, __VA_ARGS__))
#define ADD16(n, a, b)     (f16)(half(a, n) + half(b, n))
#define MUL16(n, a, b)     (f16)(half(a, n) * half(b, n))
#define MAX16(n, a, b)     (f16) greatest(half(a, n), half(b, n))
#define MIN16(n, a, b)     (f16) least(half(a, n), half(b, n))
#define FMA_16(n, a, b, c) fma16((f16)half(a, n), (f16)half(b, n), (f16)half(c, n))
#define PK_ADD16(a, b)     EACH16(ADD16, a, b)
#define PK_MUL16(a, b)     EACH16(MUL16, a, b)
#define PK_MAX16(a, b)     EACH16(MAX16, a, b)
#define PK_MIN16(a, b)     EACH16(MIN16, a, b)
#define PK_FMA16(a, b, c)  EACH16(FMA_16, a, b, c)
FN u64 pair(f32 a, f32 b)
{
    return bits_f32(a) | (u64)bits_f32(b) << 32;
}
#define PK_ADD32(a, b)    pair((a) + (b), (b) + (b))
#define PK_MUL32(a, b)    pair((a) * (b), (b) * (a))
#define PK_FMA32(a, b, c) pair(fmaf(a, b, c), fmaf(b, c, a))
/* ---- Conversions ---- */
FN i64 saturate(f64 a, f64 low, f64 high)
{
    return a != a ? 0 : a <= low ? (i64)low : a >= high ? (i64)high : (i64)a;
}
#define I32_F32(a)       (i32) saturate(a, -0x1p31, 0x1p31 - 1)
#define U32_F32(a)       (u32) saturate(a, 0, 0x1p32 - 1)
#define I32_F64(a)       (i32) saturate(a, -0x1p31, 0x1p31 - 1)
#define U32_F64(a)       (u32) saturate(a, 0, 0x1p32 - 1)
#define I16_F16(a)       ((i32)saturate((f64)(a), -32768, 32767) & 0xffff)
#define U16_F16(a)       (u32) saturate((f64)(a), 0, 65535)
#define RPI(a)           (i32) saturate(floor((f64)(a) + 0.5), -0x1p31, 0x1p31 - 1)
#define FLR(a)           (i32) saturate(floor((f64)(a)), -0x1p31, 0x1p31 - 1)
#define OFF_I4(a)        ((f32)((i32)((u32)(a) << 28) >> 28) / 16)
#define UBYTE2(a)        (f32)((a) >> 16 & 255)
#define MUL_LEGACY(a, b) ((a) == 0 || (b) == 0 ? 0 : (a) * (b))
#define FMA_MIX(a, b, c) fmaf(half(a, 1), fabsf(b), -half(c, 0))
FN u16 cut16(f32 a)
{
    f16 h = (f16)a;
    if (isfinite(a) && fabs((f64)h) > fabs((f64)a)) h = f16_of((u16)(bits_f16(h) - 1));
    return bits_f16(h);
}
#define PK_RTZ(a, b) (cut16(a) | (u32)cut16(b) << 16)
FN u32 norm(f32 a, f64 low, f64 scale)
{
    f64 v = a != a ? 0 : a < low ? low : a > 1 ? 1 : a;
    return (u32)(i32)rint(v * scale) & 0xffff;
}
#define PK_SNORM(a, b) (norm(a, -1, 32767) | norm(b, -1, 32767) << 16)
#define PK_UNORM(a, b) (norm(a, 0, 65535) | norm(b, 0, 65535) << 16)
#define PK_I16(a, b)                                                                               \
    (((u32)saturate(a, -32768, 32767) & 0xffff) | (u32)saturate(b, -32768, 32767) << 16)
#define PK_U16(a, b) ((u32)saturate(a, 0, 65535) | (u32)saturate(b, 0, 65535) << 16)
#define PK_U8(a, b, c)                                                                             \
    (((c) & ~(255u << ((b)&3) * 8)) | (u32)saturate(rint(a), 0, 255) << ((b)&3) * 8)
/* ---- Other work-items ---- */
#define POOL_A(T, i)      host_pools.v_##T[0][i]
#define EXCHANGE(T, from) POOL_A(T, t / GROUP * GROUP + (from) % GROUP)
#define BPERMUTE(from)    POOL_A(i32, t / 64 * 64 + (from) % 64)
#define FIRST_LANE        POOL_A(i32, t / 64 * 64)
#define LANE(n)           POOL_A(i32, t / 64 * 64 + (n))
#define SHIFT_RIGHT(n)    (t % 16 < (n) ? -1 : POOL_A(i32, t - (n)))
#define ROTATE(n)         POOL_A(i32, t / 16 * 16 + (t - (n)) % 16)
#define LANES_BELOW(v)    (u32) __builtin_popcountll((v) & ((1ull << t % 64) - 1))
#define BALLOT(T, condition)                                                                       \
    ({                                                                                             \
        u64 m_ = 0;                                                                                \
        for (unsigned l_ = 0; l_ < 64; l_++) {                                                     \
            const T a = POOL_A(T, t / 64 * 64 + l_);                                               \
            m_ |= (u64)((condition) != 0) << l_;                                                   \
        }                                                                                          \
        m_;                                                                                        \
    })
/* ---- fp8 and bf8 without -0: value of a code; the nearest code, of two the even one ---- */
FN f64 code_value(u32 v, int mantissa, int bias)
{
    i32 m = (i32)(v & ((1u << mantissa) - 1)), e = (i32)(v & 127) >> mantissa;
    f64 r = e ? ldexp((1 << mantissa) + m, e - bias - mantissa) : ldexp(m, 1 - bias - mantissa);
    return (v & 255) == 128 ? NAN : (v & 128) ? -r : r;
}
FN u32 nearest_code(f32 a, int mantissa, int bias)
{
    f64 m = fabs((f64)a),
        over = code_value(127, mantissa, bias) + 0.5 * ldexp(1, 15 - bias - mantissa);
    if (mantissa == 2)
        over = code_value(127, mantissa, bias) + 0.5 * ldexp(1, 31 - bias - mantissa);
    if (!(m < over)) return 128; /* and NaNs */
    u32 best = 0;
    for (u32 v = 1; v < 128; v++) {
        f64 d = fabs(code_value(v, mantissa, bias) - m),
            was = fabs(code_value(best, mantissa, bias) - m);
        if (d < was || (d == was && !(v & 1))) best = v;
    }
    return best ? best | (signbit(a) ? 128 : 0) : 0;
}
/* The seed's upper bits go below the f32 mantissa's bits that are kept; then it is cut. */
FN u32 random_code(f32 a, u32 seed, int mantissa, int bias)
{
    u32 magnitude = bits_f32(a) & 0x7fffffff, sum = magnitude + (seed >> (9 + mantissa)), best = 0;
    if (sum >= 0x7f800000) return 128;
    f64 m = (f64)f32_of(sum);
    if (m >=
        code_value(127, mantissa, bias) + ldexp(1, (mantissa == 2 ? 31 : 15) - bias - mantissa))
        return 128;
    for (u32 v = 1; v < 128; v++)
        if (code_value(v, mantissa, bias) <= m) best = v;
    return best ? best | (signbit(a) ? 128 : 0) : 0;
}
#define FP8(a)              nearest_code(a, 3, 8)
#define BF8(a)              nearest_code(a, 2, 16)
#define FP8_PAIR(a, b)      (0x55550000u | FP8(a) | FP8(b) << 8)
#define FP8_HIGH(a, b)      (0x00005555u | FP8(a) << 16 | FP8(b) << 24)
#define BF8_PAIR(a, b)      (0x55550000u | BF8(a) | BF8(b) << 8)
#define BF8_HIGH(a, b)      (0x00005555u | BF8(a) << 16 | BF8(b) << 24)
#define FP8_RANDOM(a, s, n) ((0x33333333u & ~(255u << (n)*8)) | random_code(a, s, 3, 8) << (n)*8)
#define BF8_RANDOM(a, s, n) ((0x33333333u & ~(255u << (n)*8)) | random_code(a, s, 2, 16) << (n)*8)
#define FROM_FP8(a, n)      (f32) code_value((a) >> (n)*8 & 255, 3, 8)
#define FROM_BF8(a, n)      (f32) code_value((a) >> (n)*8 & 255, 2, 16)
#define FROM_FP8_PAIR(a, h) pair(FROM_FP8(a, (h)*2), FROM_FP8(a, (h)*2 + 1))
#define FROM_BF8_PAIR(a, h) pair(FROM_BF8(a, (h)*2), FROM_BF8(a, (h)*2 + 1))
#endif
