// SPDX-License-Identifier: MIT
// What both sides of numerics_cases.h share: types, inputs, and functions that an expression alone
// cannot be.  Compiled as HIP for the device, as C for the host; where the device has a builtin or
// an instruction, the host has a statement of it.
#ifndef NUMERICS_VALUES_H
#define NUMERICS_VALUES_H
typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned u32;
typedef long long i64;
typedef unsigned long long u64;
typedef _Float16 f16;
typedef float f32;
typedef double f64;
#define TYPES(X) X(i8) X(u8) X(i16) X(u16) X(i32) X(u32) X(i64) X(u64) X(f16) X(f32) X(f64)

enum { INPUTS = 1024, GROUP = 256 }; /* work-items of a case, of a workgroup */
typedef struct pools {               /* operand a, b, c of work-item t: v_TYPE[0..2][t] */
#define X(T) T v_##T[3][INPUTS];
    TYPES(X)
#undef X
} pools;

#ifdef __HIP__
#define FN static inline __attribute__((device, unused))
#define CALL                                                                                       \
    static __attribute__((device, noinline, unused)) /* a call of its own at every level           \
                                                      */
#define TABLE static __attribute__((constant, unused)) const
#else
#define FN    static inline __attribute__((unused))
#define CALL  static __attribute__((noinline, unused))
#define TABLE static const
#endif

#define DEFINE_BITS(F, U)                                                                          \
    FN U bits_##F(F v)                                                                             \
    {                                                                                              \
        U u;                                                                                       \
        __builtin_memcpy(&u, &v, sizeof u);                                                        \
        return u;                                                                                  \
    }                                                                                              \
    FN F F##_of(U u)                                                                               \
    {                                                                                              \
        F v;                                                                                       \
        __builtin_memcpy(&v, &u, sizeof v);                                                        \
        return v;                                                                                  \
    }
DEFINE_BITS(f16, u16)
DEFINE_BITS(f32, u32)
DEFINE_BITS(f64, u64)

/* Division that C defines for every input; a float within a range, else 0. */
#define DIV(a, b)      ((b) == 0 ? 7 : (b) + 1 == 0 ? 0 - (a) : (a) / (b))
#define REM(a, b)      ((b) == 0 ? (a) : (b) + 1 == 0 ? 0 : (a) % (b))
#define FIT(a, lo, hi) ((f64)(a) > (lo) && (f64)(a) < (hi) ? (a) : 0)
#define COMPARED(a, b)                                                                             \
    ((a) < (b)) | ((a) <= (b)) << 1 | ((a) == (b)) << 2 | ((a) != (b)) << 3 | ((a) > (b)) << 4 |   \
        ((a) >= (b)) << 5
#define NOT_COMPARED(a, b)                                                                         \
    (!((a) < (b))) | (!((a) <= (b))) << 1 | (!((a) > (b))) << 2 | (!((a) >= (b))) << 3 |           \
        __builtin_isunordered(a, b) << 4
#define NUMBER_KIND(a)                                                                             \
    (__builtin_isnan(a) != 0) | (__builtin_isinf(a) != 0) << 1 | (__builtin_isfinite(a) != 0) << 2
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

/* Packed results with one NaN for all, as whose payload survives is not said. */
FN u32 one_nan16(u32 v)
{
    u32 low = v & 0xffff, high = v >> 16;
    low = (low & 0x7fff) > 0x7c00 ? 0x7e00 : low;
    return low | ((high & 0x7fff) > 0x7c00 ? 0x7e00 : high) << 16;
}
FN u64 one_nan32(u64 v)
{
    u64 low = v & 0xffffffff, high = v >> 32;
    low = (low & 0x7fffffff) > 0x7f800000 ? 0x7fc00000 : low;
    return low | ((high & 0x7fffffff) > 0x7f800000 ? 0x7fc00000 : high) << 32;
}
/* bf16 as its bits: the same operation in f32, rounded once more. */
FN f32 widen(u16 v)
{
    return f32_of((u32)v << 16);
}
FN u16 narrow(f32 v)
{
    u32 u = bits_f32(v);
    return (u16)(v != v ? 0x7fc0 : (u + 0x7fff + (u >> 16 & 1)) >> 16);
}

/* ---- Control flow, private memory, calls ---- */
typedef struct quotient {
    i32 q, r;
} quotient;
CALL quotient divide(i32 a, i32 b)
{
    quotient d = {DIV(a, b), REM(a, b)};
    return d;
}
typedef struct mixed {
    i8 c;
    f64 d;
    u16 s;
    f32 f;
    u64 l[3];
} mixed;
CALL mixed make_mixed(i32 a, f32 b, u64 c)
{
    mixed m = {(i8)a, (f64)b, (u16)(c >> 9), b * 2, {c, c + 1, c << 3}};
    return m;
}
CALL u64 take_mixed(mixed m, u32 which)
{
    return m.l[which % 3] ^ (u64)(i64)m.c ^ m.s ^ bits_f64(m.d) ^ bits_f32(m.f);
}
CALL i32 leaf(i32 a, i32 b)
{
    return a * 31 + (b >> 3);
}
CALL i32 branch(i32 a, i32 b)
{
    return leaf(a, b) - leaf(b, a + 1);
}
CALL f64 many(i8 a, i16 b, i32 c, i64 d, f32 e, f64 f, u8 g, u16 h, u32 i, u64 j, f32 k, f64 l)
{
    return ((f64)a + b + c) * ((f64)d + e) - f * g + (f64)h * i + (f64)j * k - l;
}
FN i32 private_array(u32 a, u32 b)
{
    i32 x[16];
    for (u32 i = 0; i < 16; i++) x[i] = (i32)(a * (i + 1));
    for (u32 i = 0; i < 16; i++) x[(i * 7 + b) & 15] ^= x[i] >> 2;
    return x[b & 15] + x[(a >> 4) & 15];
}
FN u32 private_bytes(u64 a, u32 b)
{
    u8 x[24];
    __builtin_memset(x, 0, sizeof x);
    __builtin_memcpy(x + (b & 15), &a, 8);
    u32 s = 0;
    for (u32 i = 0; i < 24; i++) s = s * 33 + x[i];
    return s;
}
FN f32 private_matrix(f32 a, f32 b)
{
    f32 m[3][3], n[3][3], s = b;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) m[i][j] = a * (f32)(i - j) + b;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            n[i][j] = 0;
            for (int k = 0; k < 3; k++) n[i][j] = n[i][j] + m[i][k] * m[k][j];
        }
    for (int i = 0; i < 3; i++) s = s - n[i][2 - i];
    return s;
}
FN i64 sort(i64 a, i64 b, u32 k)
{
    i64 x[8];
    for (int i = 0; i < 8; i++) x[i] = (i & 1 ? a : b) * (i * 37 - 100) + i;
    for (int i = 1; i < 8; i++)
        for (int j = i; j > 0 && x[j] < x[j - 1]; j--) {
            i64 t = x[j];
            x[j] = x[j - 1];
            x[j - 1] = t;
        }
    return x[k & 7];
}
FN u32 pick(u32 a, u32 b)
{
    switch (a % 9) {
    case 0:
        return b;
    case 1:
        return b * 3;
    case 2:
        b ^= 0x55;
    /* fall through */
    case 3:
        return b + a;
    case 5:
        return b >> 5;
    case 7:
        return ~b;
    case 8:
        return a - b;
    default:
        return 1;
    }
}
FN i32 state_machine(u32 a)
{
    enum { START, ZERO, ONE, DONE } s = START;
    i32 n = 0;
    for (int i = 0; i < 32 && s != DONE; i++) {
        u32 bit = a >> i & 1;
        switch (s) {
        case START:
            s = bit ? ONE : ZERO;
            break;
        case ZERO:
            s = bit ? ONE : ZERO, n += 1;
            break;
        case ONE:
            s = bit ? DONE : ZERO, n += 10;
            break;
        case DONE:
            break;
        }
    }
    return n * 4 + (i32)s;
}
FN u32 gcd(u32 a, u32 b)
{
    while (b) {
        u32 t = a % b;
        a = b;
        b = t;
    }
    return a;
}
FN u32 crc(u64 v)
{
    u32 c = ~0u;
    for (int i = 0; i < 64; i++) c = c >> 1 ^ (((c ^ (u32)(v >> i)) & 1) ? 0xedb88320u : 0);
    return ~c;
}
TABLE u16 primes[24] = {2,  3,  5,  7,  11, 13, 17, 19, 23, 29, 31, 37,
                        41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89};
FN u32 search(u32 v)
{
    u32 low = 0, high = 24, key = v % 97;
    while (low < high) {
        u32 middle = (low + high) / 2;
        if (primes[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low * 100 + (low < 24 && primes[low] == key);
}
FN u32 collatz(u32 v)
{
    u32 n = 0;
    v %= 1000;
    for (; v > 1; n++) {
        if (n == 60) break;
        if (v % 2 == 0) {
            v /= 2;
            continue;
        }
        v = 3 * v + 1;
    }
    return n;
}
FN u64 root(u64 v)
{
    u64 r = 0;
    for (int i = 31; i >= 0; i--) {
        u64 t = r | 1ull << i;
        if (t * t <= v) r = t;
    }
    return r;
}
FN f32 compensated(f32 a, f32 b)
{
    f32 s = 0, c = 0;
    for (int i = 0; i < 9; i++) {
        f32 y = (i % 2 ? a : b) / (f32)(i + 1) - c, t = s + y;
        c = (t - s) - y;
        s = t;
    }
    return s;
}
FN f64 horner(f64 x)
{
    f64 r = 0;
    for (int i = 10; i >= 0; i--) r = r * x + 1.0 / (i + 1);
    return r;
}
typedef union punned {
    u64 u;
    struct {
        u32 low : 5, middle : 11, high : 16;
        i32 sign : 7, rest : 25;
    } f;
    u8 byte[8];
} punned;
FN i64 fields(u64 v)
{
    punned p;
    p.u = v;
    return (i64)p.f.low * 3 + p.f.middle - (i64)p.f.high + p.f.sign * 1000 + p.f.rest +
           p.byte[v & 7];
}
FN u64 insert(u64 v, i32 b)
{
    punned p;
    p.u = v;
    p.f.middle = (u32)b & 2047;
    p.f.sign = b >> 25;
    p.byte[b & 7] ^= 0xa5;
    return p.u;
}
FN u64 mix(u64 h)
{
    h ^= h >> 33;
    h *= 0xff51afd7ed558ccdull;
    h ^= h >> 33;
    h *= 0xc4ceb9fe1a85ec53ull;
    return h ^ h >> 33;
}
FN u64 reverse_slowly(u64 v, int n)
{
    u64 r = 0;
    for (int i = 0; i < n; i++) r |= (v >> i & 1) << (n - 1 - i);
    return r;
}

/* ---- Builtins and instructions ---- */
#ifdef __HIP__
#define SQRT16(a)          (f16) __builtin_sqrtf16(a)
#define FMA16(a, b, c)     (f16) __builtin_fmaf16(a, b, c)
#define LDEXP16(a, n)      __builtin_amdgcn_ldexph(a, n)
#define LDEXP32(a, n)      __builtin_amdgcn_ldexpf(a, n)
#define LDEXP64(a, n)      __builtin_amdgcn_ldexp(a, n)
#define FREXP_EXP16(a)     (i32) __builtin_amdgcn_frexp_exph(a)
#define FREXP_MANT16(a)    __builtin_amdgcn_frexp_manth(a)
#define FREXP_EXP32(a)     __builtin_amdgcn_frexp_expf(a)
#define FREXP_MANT32(a)    __builtin_amdgcn_frexp_mantf(a)
#define FREXP_EXP64(a)     __builtin_amdgcn_frexp_exp(a)
#define FREXP_MANT64(a)    __builtin_amdgcn_frexp_mant(a)
#define LEAST(T, a, b)     __builtin_elementwise_min(a, b)
#define GREATEST(T, a, b)  __builtin_elementwise_max(a, b)
#define FLOOR16(a)         (f16) __builtin_floorf16(a)
#define CEIL16(a)          (f16) __builtin_ceilf16(a)
#define TRUNC16(a)         (f16) __builtin_truncf16(a)
#define RINT16(a)          (f16) __builtin_rintf16(a)
#define ABS16(a)           (f16) __builtin_fabsf16(a)
#define COPYSIGN16(a, b)   (f16) __builtin_copysignf16(a, b)
#define REVERSE32(a)       __builtin_bitreverse32(a)
#define REVERSE64(a)       __builtin_bitreverse64(a)
#define REVERSE16(a)       __builtin_bitreverse16(a)
#define UBFE(a, b, c)      __builtin_amdgcn_ubfe(a, b, c)
#define SBFE(a, b, c)      __builtin_amdgcn_sbfe(a, b, c)
#define PERM(a, b, c)      __builtin_amdgcn_perm(a, b, c)
#define ALIGNBIT(a, b, c)  __builtin_amdgcn_alignbit(a, b, c)
#define ALIGNBYTE(a, b, c) __builtin_amdgcn_alignbyte(a, b, c)
#define SAD8(a, b, c)      __builtin_amdgcn_sad_u8(a, b, c)
#define SAD16(a, b, c)     __builtin_amdgcn_sad_u16(a, b, c)
#define LERP(a, b, c)      __builtin_amdgcn_lerp(a, b, c)
#define DOT4U(a, b, c)     __builtin_amdgcn_udot4(a, b, c, false)
#define DOT4I(a, b, c)     __builtin_amdgcn_sdot4((i32)(a), (i32)(b), c, false)
#define DOT8I(a, b, c)     __builtin_amdgcn_sdot8((i32)(a), (i32)(b), c, false)
#define DOT2I(a, b, c)     __builtin_amdgcn_sdot2(shorts_of(a), shorts_of(b), c, false)
#define DOT2F(a, b, c)     __builtin_amdgcn_fdot2(halves_of(a), halves_of(b), c, false)
#define MED3(a, b, c)      __builtin_amdgcn_fmed3f(a, b, c)
#define CLASS32(a, m)      __builtin_amdgcn_classf(a, m)
#define CLASS64(a, m)      __builtin_amdgcn_class(a, m)
#define FRACT32(a)         __builtin_amdgcn_fractf(a)
#define FRACT64(a)         __builtin_amdgcn_fract(a)
#define PK_RTZ(a, b)       word_of(__builtin_amdgcn_cvt_pkrtz(a, b))
#define PK_SNORM(a, b)     word_of(__builtin_amdgcn_cvt_pknorm_i16(a, b))
#define PK_UNORM(a, b)     word_of(__builtin_amdgcn_cvt_pknorm_u16(a, b))
#define PK_I16(a, b)       word_of(__builtin_amdgcn_cvt_pk_i16(a, b))
#define PK_U16(a, b)       word_of(__builtin_amdgcn_cvt_pk_u16(a, b))
#define PK_U8(a, b, c)     __builtin_amdgcn_cvt_pk_u8_f32(a, b, c)
typedef f16 halves __attribute__((ext_vector_type(2)));
typedef i16 shorts __attribute__((ext_vector_type(2)));
typedef f32 floats __attribute__((ext_vector_type(2)));
#define word_of(v) __builtin_bit_cast(u32, v)
FN halves halves_of(u32 v)
{
    return __builtin_bit_cast(halves, v);
}
FN shorts shorts_of(u32 v)
{
    return __builtin_bit_cast(shorts, v);
}
FN u64 pair_of(floats v)
{
    return __builtin_bit_cast(u64, v);
}
FN floats floats_of(f32 a, f32 b)
{
    floats v = {a, b};
    return v;
}
#define PK_ADD16(a, b)    word_of(halves_of(a) + halves_of(b))
#define PK_MUL16(a, b)    word_of(halves_of(a) * halves_of(b))
#define PK_FMA16(a, b, c) ASM3(u32, "v_pk_fma_f16", a, b, c)
#define PK_MAX16(a, b)    word_of(__builtin_elementwise_max(halves_of(a), halves_of(b)))
#define PK_MIN16(a, b)    word_of(__builtin_elementwise_min(halves_of(a), halves_of(b)))
#define PK_ADD32(a, b)    pair_of(floats_of(a, b) + floats_of(b, b))
#define PK_MUL32(a, b)    pair_of(floats_of(a, b) * floats_of(b, a))
#define PK_FMA32(a, b, c)                                                                          \
    pair_of(ASM3(floats, "v_pk_fma_f32", floats_of(a, b), floats_of(b, c), floats_of(c, a)))
/* Instructions that no builtin names: one source, two, three. */
#define ASM1(R, name, a)                                                                           \
    ({                                                                                             \
        R r_;                                                                                      \
        __asm__(name " %0, %1" : "=v"(r_) : "v"(a));                                               \
        r_;                                                                                        \
    })
#define ASM2(R, name, a, b)                                                                        \
    ({                                                                                             \
        R r_;                                                                                      \
        __asm__(name " %0, %1, %2" : "=v"(r_) : "v"(a), "v"(b));                                   \
        r_;                                                                                        \
    })
#define ASM3(R, name, a, b, c)                                                                     \
    ({                                                                                             \
        R r_;                                                                                      \
        __asm__(name " %0, %1, %2, %3" : "=v"(r_) : "v"(a), "v"(b), "v"(c));                       \
        r_;                                                                                        \
    })
#define MUL_U24(a, b)    ASM2(u32, "v_mul_u32_u24", a, b)
#define MUL_I24(a, b)    ASM2(i32, "v_mul_i32_i24", a, b)
#define I32_F32(a)       ASM1(i32, "v_cvt_i32_f32", a)
#define U32_F32(a)       ASM1(u32, "v_cvt_u32_f32", a)
#define I32_F64(a)       ASM1(i32, "v_cvt_i32_f64", a)
#define U32_F64(a)       ASM1(u32, "v_cvt_u32_f64", a)
#define I16_F16(a)       ASM1(i32, "v_cvt_i16_f16", a)
#define U16_F16(a)       ASM1(u32, "v_cvt_u16_f16", a)
#define RPI(a)           ASM1(i32, "v_cvt_rpi_i32_f32", a)
#define FLR(a)           ASM1(i32, "v_cvt_flr_i32_f32", a)
#define OFF_I4(a)        ASM1(f32, "v_cvt_off_f32_i4", a)
#define UBYTE2(a)        ASM1(f32, "v_cvt_f32_ubyte2", a)
#define MUL_LEGACY(a, b) ASM2(f32, "v_mul_legacy_f32", a, b)
#define MED3_16(a, b, c) (u16) ASM3(u32, "v_med3_f16", a, b, c)
#define MIN3(a, b, c)    ASM3(f32, "v_min3_f32", a, b, c)
#define MAX3(a, b, c)    ASM3(f32, "v_max3_f32", a, b, c)
#define FMA_MIX(a, b, c)                                                                           \
    ({                                                                                             \
        f32 r_;                                                                                    \
        __asm__("v_fma_mix_f32 %0, %1, |%2|, -%3 op_sel:[1,0,0] op_sel_hi:[1,0,1]"                 \
                : "=v"(r_)                                                                         \
                : "v"(a), "v"(b), "v"(c));                                                         \
        r_;                                                                                        \
    })
/* Other work-items' a. */
FN u64 exchange(u64 v, u32 from)
{
    static __attribute__((shared)) u64 box[GROUP];
    box[__builtin_amdgcn_workitem_id_x()] = v;
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    v = box[from % GROUP];
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    return v;
}
#define EXCHANGE(T, from)    (T) exchange((u64)a, from)
#define BPERMUTE(from)       __builtin_amdgcn_ds_bpermute((i32)((from) % 64 * 4), a)
#define FIRST_LANE           __builtin_amdgcn_readfirstlane(a)
#define LANE(n)              __builtin_amdgcn_readlane(a, n)
#define SHIFT_RIGHT(n)       __builtin_amdgcn_update_dpp(-1, a, 0x110 + (n), 15, 15, false)
#define ROTATE(n)            __builtin_amdgcn_mov_dpp(a, 0x120 + (n), 15, 15, false)
#define BALLOT(T, condition) __builtin_amdgcn_uicmp((u32)(condition), 0u, 33 /* not equal */)
#define LANES_BELOW(v)                                                                             \
    __builtin_amdgcn_mbcnt_hi((u32)((v) >> 32), __builtin_amdgcn_mbcnt_lo((u32)(v), 0))
/* fp8 of gfx942. */
#define FP8_PAIR(a, b)      (u32) __builtin_amdgcn_cvt_pk_fp8_f32(a, b, 0x55555555, false)
#define FP8_HIGH(a, b)      (u32) __builtin_amdgcn_cvt_pk_fp8_f32(a, b, 0x55555555, true)
#define BF8_PAIR(a, b)      (u32) __builtin_amdgcn_cvt_pk_bf8_f32(a, b, 0x55555555, false)
#define BF8_HIGH(a, b)      (u32) __builtin_amdgcn_cvt_pk_bf8_f32(a, b, 0x55555555, true)
#define FP8_RANDOM(a, s, n) (u32) __builtin_amdgcn_cvt_sr_fp8_f32(a, (i32)(s), 0x33333333, n)
#define BF8_RANDOM(a, s, n) (u32) __builtin_amdgcn_cvt_sr_bf8_f32(a, (i32)(s), 0x33333333, n)
#define FROM_FP8(a, n)      __builtin_amdgcn_cvt_f32_fp8((i32)(a), n)
#define FROM_BF8(a, n)      __builtin_amdgcn_cvt_f32_bf8((i32)(a), n)
#define FROM_FP8_PAIR(a, h) pair_of(__builtin_amdgcn_cvt_pk_f32_fp8((i32)(a), h))
#define FROM_BF8_PAIR(a, h) pair_of(__builtin_amdgcn_cvt_pk_f32_bf8((i32)(a), h))
#else
#include "numerics_host.h"
#endif
#endif
