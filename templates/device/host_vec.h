// SPDX-License-Identifier: MIT
// Vectors of one instruction set: loads that convert, products, transposition.  Included once per
// instruction set by host_isa.h, which defines HOST_VW (32-bit lanes of a vector), HOST_GROUP,
// HOST_TARGET and HOST_(name).  Vector extensions and one-line asm statements stand for
// <immintrin.h>, whose parsing alone takes longer than compiling a kernel.

typedef float HOST_(vf) __attribute__((vector_size(4 * HOST_VW)));
typedef int32_t HOST_(vi) __attribute__((vector_size(4 * HOST_VW)));
typedef uint32_t HOST_(vu) __attribute__((vector_size(4 * HOST_VW)));
typedef uint16_t HOST_(vu16) __attribute__((vector_size(2 * HOST_VW)));
typedef uint8_t HOST_(vu8) __attribute__((vector_size(HOST_VW)));

/* The same at any address, over memory of any type. */
#define HOST_LOOSE __attribute__((aligned(1), may_alias))
typedef HOST_(vf) HOST_(vf_at) HOST_LOOSE;
typedef HOST_(vu) HOST_(vu_at) HOST_LOOSE;
typedef HOST_(vu16) HOST_(vu16_at) HOST_LOOSE;
typedef HOST_(vu8) HOST_(vu8_at) HOST_LOOSE;
#undef HOST_LOOSE

/* A vector of units or of sums. */
#if HOST_KIND == HOST_KIND_F32
typedef HOST_(vf) HOST_(vec);
typedef HOST_(vf_at) HOST_(vec_at);
#else
typedef HOST_(vu) HOST_(vec);
typedef HOST_(vu_at) HOST_(vec_at);
#endif

static HOST_INLINE HOST_TARGET HOST_(vec) HOST_(load)(const void *p)
{
    return *(const HOST_(vec_at) *)p;
}

static HOST_INLINE HOST_TARGET void HOST_(store)(void *p, HOST_(vec) v)
{
    *(HOST_(vec_at) *)p = v;
}

static HOST_INLINE HOST_TARGET HOST_(vec) HOST_(splat)(host_unit_t s)
{
    return s - (HOST_(vec)){0};
}

/* c + x*y, unit by unit. */
static HOST_INLINE HOST_TARGET HOST_(vec) HOST_(dot)(HOST_(vec) c, HOST_(vec) x, HOST_(vec) y)
{
#if HOST_KIND != HOST_KIND_I8
    return c + x * y;
#elif HOST_GROUP == 4
    if (HOST_UNSIGNED(HOST_Y_SIDE))
        __asm__("vpdpbusd %2, %1, %0" : "+v"(c) : "v"(y), "v"(x));
    else
        __asm__("vpdpbusd %2, %1, %0" : "+v"(c) : "v"(x), "v"(y));
    return c;
#elif HOST_VW == 8
    HOST_(vec) r;
    __asm__("vpmaddwd %2, %1, %0" : "=x"(r) : "x"(x), "x"(y));
    return c + r;
#else
    const HOST_(vi) lo = ((HOST_(vi))(x << 16) >> 16) * ((HOST_(vi))(y << 16) >> 16);
    const HOST_(vi) hi = ((HOST_(vi))x >> 16) * ((HOST_(vi))y >> 16);
    return c + (HOST_(vu))lo + (HOST_(vu))hi;
#endif
}

/* HOST_VW elements of 8 or 16 bits at p in 32-bit lanes.  (gcc 12 splits __builtin_convertvector
 * into scalars here.) */
#if HOST_VW >= 8
#define HOST_LANES(name, instruction, from)                                                        \
    static HOST_INLINE HOST_TARGET HOST_(vu) HOST_(name)(const void *p)                            \
    {                                                                                              \
        HOST_(vu) r;                                                                               \
        __asm__(instruction " %1, %0" : "=v"(r) : "m"(*(const HOST_(from##_at) *)p));              \
        return r;                                                                                  \
    }
HOST_LANES(zext16, "vpmovzxwd", vu16)
HOST_LANES(zext8, "vpmovzxbd", vu8)
HOST_LANES(sext8, "vpmovsxbd", vu8)
HOST_LANES(half_bits, "vcvtph2ps", vu16)
/* Elements of 4 bits, in lanes: a byte becomes 8, of which one half goes to the low 4 and one to the high 4. */
static HOST_INLINE HOST_TARGET HOST_(vu) HOST_(zext4)(const void *p)
{
    typedef uint64_t wide __attribute__((vector_size(4 * HOST_VW)));
    wide r;
    __asm__("vpmovzxbq %1, %0" : "=v"(r) : "m"(*(const char(*)[HOST_VW / 2]) p));
    return (HOST_(vu))(r | r << 28) & 15;
}
#define HOST_FROM_F16(p) ((HOST_(vf))HOST_(half_bits)(p))
#else
#define HOST_LANES(name, from)                                                                     \
    static HOST_INLINE HOST_TARGET HOST_(vu) HOST_(name)(const void *p)                            \
    {                                                                                              \
        HOST_(vu) r = {0};                                                                         \
        for (int i = 0; i < HOST_VW; i++) {                                                        \
            from x;                                                                                \
            __builtin_memcpy(&x, (const char *)p + (size_t)i * sizeof x, sizeof x);                \
            r[i] = (uint32_t)x;                                                                    \
        }                                                                                          \
        return r;                                                                                  \
    }
HOST_LANES(zext16, uint16_t)
HOST_LANES(zext8, uint8_t)
HOST_LANES(sext8, int8_t)
static HOST_INLINE HOST_TARGET HOST_(vu) HOST_(zext4)(const void *p)
{
    HOST_(vu) r = {0};
    for (int i = 0; i < HOST_VW; i++) r[i] = (uint32_t)((const uint8_t *)p)[i / 2] >> 4 * (i % 2) & 15;
    return r;
}
#define HOST_FROM_F16(p) HOST_(from_small)(HOST_(zext16)(p), 16, 10, 15, 0x7c00, 0x10000)
#endif
#undef HOST_LANES

#if HOST_KIND == HOST_KIND_F32
/* Bits v of a small format of 1 sign bit, `mant` mantissa bits and exponent bias `bias`, as
 * kiln_types.h converts them.  From m = `top` on the exponent is moved to f32's last; v = `nan`
 * alone is NaN.  (Loops over bytes vectorise badly.) */
static HOST_INLINE HOST_TARGET HOST_(vf)
    HOST_(from_small)(HOST_(vu) v, const int bits, const int mant, const int bias,
                      const unsigned top, const unsigned nan)
{
    const unsigned magic = (unsigned)(151 - bias - mant) << 23;
    const HOST_(vu) m = v & ((1u << (bits - 1)) - 1), sign = (v >> (bits - 1)) << 31;
    const HOST_(vu) normal = (m << (23 - mant)) + ((unsigned)(127 - bias) << 23);
    const HOST_(vu) tiny = (HOST_(vu))((HOST_(vf))(m + magic) - kiln_from_bits(magic));
    const HOST_(vu) is_tiny = (HOST_(vu))(m < (1u << mant));
    const HOST_(vu) is_top = (HOST_(vu))(m >= top), is_nan = (HOST_(vu))(v == nan);
    const HOST_(vu) r = (tiny & is_tiny) | (normal & ~is_tiny);
    return (HOST_(vf))((r + (is_top & ((128u + (unsigned)bias - (top >> mant)) << 23))) | sign |
                       (is_nan & 0x7fc00000u));
}

/* HOST_VW elements at p as f32. */
static HOST_INLINE HOST_TARGET HOST_(vec) HOST_(widen)(const void *p, const int type)
{
    switch (type) {
    case KILN_F16:
        return HOST_FROM_F16(p);
    case KILN_BF16:
        return (HOST_(vf))(HOST_(zext16)(p) << 16);
    case KILN_I32:
        return __builtin_convertvector((HOST_(vi))*(const HOST_(vu_at) *)p, HOST_(vf));
    case KILN_I8:
        return __builtin_convertvector((HOST_(vi))HOST_(sext8)(p), HOST_(vf));
    case KILN_U8:
        return __builtin_convertvector((HOST_(vi))HOST_(zext8)(p), HOST_(vf));
    case KILN_I4:
        return __builtin_convertvector((HOST_(vi))(HOST_(zext4)(p) ^ 8) - 8, HOST_(vf));
    case KILN_U4:
        return __builtin_convertvector((HOST_(vi))HOST_(zext4)(p), HOST_(vf));
    case KILN_F8E4M3:
        return HOST_(from_small)(HOST_(zext8)(p), 8, 3, 7, 0x7f, 0x100);
    case KILN_F8E5M2:
        return HOST_(from_small)(HOST_(zext8)(p), 8, 2, 15, 0x7c, 0x100);
    case KILN_F8E4M3FNUZ:
        return HOST_(from_small)(HOST_(zext8)(p), 8, 3, 8, 0x100, 0x80);
    case KILN_F8E5M2FNUZ:
        return HOST_(from_small)(HOST_(zext8)(p), 8, 2, 16, 0x100, 0x80);
    default:
        return *(const HOST_(vf_at) *)p;
    }
}
#endif
#undef HOST_FROM_F16

/* Transposition of a HOST_VW x HOST_VW block of units: step D exchanges the off-diagonal quarters
 * of each 2D x 2D block. */
#if HOST_VW == 16
#define HOST_LO_8 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23
#define HOST_HI_8 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31
#define HOST_LO_4 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27
#define HOST_HI_4 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31
#define HOST_LO_2 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29
#define HOST_HI_2 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31
#define HOST_LO_1 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30
#define HOST_HI_1 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31
#elif HOST_VW == 8
#define HOST_LO_4 0, 1, 2, 3, 8, 9, 10, 11
#define HOST_HI_4 4, 5, 6, 7, 12, 13, 14, 15
#define HOST_LO_2 0, 1, 8, 9, 4, 5, 12, 13
#define HOST_HI_2 2, 3, 10, 11, 6, 7, 14, 15
#define HOST_LO_1 0, 8, 2, 10, 4, 12, 6, 14
#define HOST_HI_1 1, 9, 3, 11, 5, 13, 7, 15
#else
#define HOST_LO_2 0, 1, 4, 5
#define HOST_HI_2 2, 3, 6, 7
#define HOST_LO_1 0, 4, 2, 6
#define HOST_HI_1 1, 5, 3, 7
#endif
#define HOST_STEP(D)                                                                               \
    for (int i = 0; i < HOST_VW; i++)                                                              \
        if (!(i & D)) {                                                                            \
            const HOST_(vec) x = r[i], y = r[i + D];                                               \
            r[i] = __builtin_shufflevector(x, y, HOST_LO_##D);                                     \
            r[i + D] = __builtin_shufflevector(x, y, HOST_HI_##D);                                 \
        }

static HOST_INLINE HOST_TARGET void HOST_(transpose)(HOST_(vec) r[HOST_VW])
{
#if HOST_VW == 16
    HOST_STEP(8)
#endif
#if HOST_VW >= 8
    HOST_STEP(4)
#endif
    HOST_STEP(2)
    HOST_STEP(1)
}
#undef HOST_STEP

#if HOST_VW >= 8
/* The sum over the lanes of vector l, in lane l: steps of a transposition that add up what they bring together. */
#define HOST_STEP(D)                                                                               \
    for (int i = 0; i < D; i++) {                                                                  \
        const HOST_(vec) x = r[i], y = r[i + D];                                                   \
        r[i] = __builtin_shufflevector(x, y, HOST_LO_##D) +                                        \
               __builtin_shufflevector(x, y, HOST_HI_##D);                                         \
    }
static HOST_INLINE HOST_TARGET HOST_(vec) HOST_(totals)(HOST_(vec) r[HOST_VW])
{
#if HOST_VW == 16
    HOST_STEP(8)
#endif
    HOST_STEP(4)
    HOST_STEP(2)
    HOST_STEP(1)
    return r[0];
}
#undef HOST_STEP
#endif
#undef HOST_LO_8
#undef HOST_HI_8
#undef HOST_LO_4
#undef HOST_HI_4
#undef HOST_LO_2
#undef HOST_HI_2
#undef HOST_LO_1
#undef HOST_HI_1
