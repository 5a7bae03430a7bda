// SPDX-License-Identifier: MIT
// Results of row-wise host kernels: n elements, a multiple of 64, from f32 to what they are in memory, exactly as
// kiln_types.h converts them.  Included by host_lanes.h, once per instruction set.
#define HOST_NARROW(T)                                                                             \
    static HOST_INLINE HOST_TARGET void HOST_(narrow_##T)(kiln_##T##_t *restrict to,               \
                                                          const float *restrict from, int n)       \
    {                                                                                              \
        _Pragma("omp simd") for (int i = 0; i < n; i++) to[i] = kiln_f32_to_##T(from[i]);          \
    }
HOST_NARROW(i32)
#if HOST_ISA >= 256
static HOST_INLINE HOST_TARGET void HOST_(narrow_f16)(kiln_f16_t *to, const float *from, int n)
{
    for (int i = 0; i < n; i += HOST_VW)
        __asm__("vcvtps2ph $0, %1, %0"
                : "=m"(*(HOST_(vu16_at) *)(to + i))
                : "v"(*(const HOST_(vf_at) *)(from + i)));
}
#else
HOST_NARROW(f16)
#endif
#if HOST_ISA == 512
/* vcvtne2ps2bf16 takes subnormal numbers for zero, so they go the long way. */
static HOST_INLINE HOST_TARGET void HOST_(narrow_bf16)(kiln_bf16_t *to, const float *from, int n)
{
    const int has = host_has_bf16();
    for (int i = 0; i < n; i += 32) {
        const HOST_(vf) x = HOST_(load)(from + i), y = HOST_(load)(from + i + 16);
        if (__builtin_expect(has, 1)) {
            unsigned short k, l;
            __asm__("vfpclassps $32, %1, %0" : "=Yk"(k) : "v"(x));
            __asm__("vfpclassps $32, %1, %0" : "=Yk"(l) : "v"(y));
            int tiny;
            __asm__("kortestw %1, %2" : "=@ccnz"(tiny) : "Yk"(k), "Yk"(l));
            if (__builtin_expect(!tiny, 1)) {
                HOST_(vu) r;
                __asm__("vcvtne2ps2bf16 %1, %2, %0" : "=v"(r) : "v"(x), "v"(y));
                *(HOST_(vu_at) *)(to + i) = r;
                continue;
            }
        }
        const HOST_(vu) r = HOST_(bf16_bits)(x) >> 16, s = HOST_(bf16_bits)(y) >> 16;
        __asm__("vpmovdw %1, %0" : "=m"(*(HOST_(vu16_at) *)(to + i)) : "v"(r));
        __asm__("vpmovdw %1, %0" : "=m"(*(HOST_(vu16_at) *)(to + i + 16)) : "v"(s));
    }
}

/* 64 words as bytes, in order; each word is at most 255, and 0 if it is negative. */
static HOST_INLINE HOST_TARGET void HOST_(bytes)(void *to, const HOST_(vu) c[4])
{
    const HOST_(vu) order = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
    HOST_(vu) a, b;
    __asm__("vpackusdw %2, %1, %0" : "=v"(a) : "v"(c[0]), "v"(c[1]));
    __asm__("vpackusdw %2, %1, %0" : "=v"(b) : "v"(c[2]), "v"(c[3]));
    __asm__("vpackuswb %2, %1, %0" : "=v"(a) : "v"(a), "v"(b));
    __asm__("vpermd %2, %1, %0" : "=v"(a) : "v"(order), "v"(a));
    *(HOST_(vu_at) *)to = a;
}

static HOST_INLINE HOST_TARGET int HOST_(any_nan)(const HOST_(vf) x[4])
{
    unsigned short k, l;
    int any;
    __asm__("vcmpunordps %2, %1, %0" : "=Yk"(k) : "v"(x[0]), "v"(x[1]));
    __asm__("vcmpunordps %2, %1, %0" : "=Yk"(l) : "v"(x[2]), "v"(x[3]));
    __asm__("kortestw %1, %2" : "=@ccnz"(any) : "Yk"(k), "Yk"(l));
    return any;
}

/* fp8 of `mant` mantissa bits, exponent bias `bias`, by one addition: of M, whose last place is worth what the result's
 * is, so that it rounds, subnormals included, and whose lowest byte, less the exponent, leaves the result in the sum's.
 *   fnuz: zero has no sign. */
static HOST_INLINE HOST_TARGET HOST_(vu)
    HOST_(f8_bits)(HOST_(vf) x, const int mant, const int bias, const float max, const int fnuz)
{
    const HOST_(vf) a = HOST_(within)(x, HOST_(splat)(max), 0);
    const HOST_(vu) low = (HOST_(vu)){0} + ((unsigned)(128 - bias) << 23);
    const unsigned up = (unsigned)(23 - mant) << 23, less = (unsigned)-((151 - mant - bias) << mant) & 0xffu;
    const HOST_(vu) m = HOST_(larger)((HOST_(vu))a & 0x7f800000u, low) + (up + less);
    const HOST_(vu) r = (HOST_(vu))(a + (HOST_(vf))m) + (m >> (23 - mant));
    HOST_(vu) sign = (HOST_(vu))x >> 24;
    if (fnuz) {
        unsigned short some;
        __asm__("vptestmd %2, %1, %0" : "=Yk"(some) : "v"(r), "v"((HOST_(vu)){0} + 0x7fu));
        __asm__("vmovdqa32 %0, %0%{%1%}%{z%}" : "+v"(sign) : "Yk"(some));
    }
    return (r & 0x7fu) | (sign & ~0x7fu);
}

#define HOST_NARROW_F8(T, mant, bias, max, fnuz)                                                   \
    static HOST_INLINE HOST_TARGET void HOST_(narrow_##T)(kiln_##T##_t *to, const float *from, int n) \
    {                                                                                              \
        for (int i = 0; i < n; i += 64) {                                                          \
            HOST_(vf) x[4];                                                                        \
            HOST_(vu) c[4];                                                                        \
            HOST_UNROLL                                                                            \
            for (int v = 0; v < 4; v++) x[v] = HOST_(load)(from + i + 16 * v);                     \
            if (__builtin_expect(HOST_(any_nan)(x), 0)) {                                          \
                for (int j = i; j < i + 64; j++) to[j] = kiln_f32_to_##T(from[j]);                 \
                continue;                                                                          \
            }                                                                                      \
            HOST_UNROLL                                                                            \
            for (int v = 0; v < 4; v++) c[v] = HOST_(f8_bits)(x[v], mant, bias, max, fnuz);        \
            HOST_(bytes)(to + i, c);                                                               \
        }                                                                                          \
    }
HOST_NARROW_F8(f8e4m3, 3, 7, 448.0f, 0)
HOST_NARROW_F8(f8e5m2, 2, 15, 57344.0f, 0)
HOST_NARROW_F8(f8e4m3fnuz, 3, 8, 240.0f, 1)
HOST_NARROW_F8(f8e5m2fnuz, 2, 16, 57344.0f, 1)
#undef HOST_NARROW_F8

/* 64 whole numbers, `most` at most; NaN is 0. */
static HOST_INLINE HOST_TARGET void HOST_(to_words)(HOST_(vu) c[4], const float *from,
                                                    const float most)
{
    HOST_UNROLL
    for (int v = 0; v < 4; v++) {
        const HOST_(vf) x = HOST_(load)(from + 16 * v);
        unsigned short k;
        __asm__("vcmpordps %1, %1, %0" : "=Yk"(k) : "v"(x));
        const HOST_(vf) in_range = HOST_(least)(x, HOST_(splat)(most));
        __asm__("vcvtps2dq %1, %0%{%2%}%{z%}" : "=v"(c[v]) : "v"(in_range), "Yk"(k));
    }
}

static HOST_INLINE HOST_TARGET void HOST_(narrow_u8)(kiln_u8_t *to, const float *from, int n)
{
    for (int i = 0; i < n; i += 64) {
        HOST_(vu) c[4];
        HOST_(to_words)(c, from + i, 255.0f);
        HOST_(bytes)(to + i, c);
    }
}

static HOST_INLINE HOST_TARGET void HOST_(narrow_i8)(kiln_i8_t *to, const float *from, int n)
{
    const HOST_(vu) order = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
    for (int i = 0; i < n; i += 64) {
        HOST_(vu) a, b, c[4];
        HOST_(to_words)(c, from + i, 127.0f);
        __asm__("vpackssdw %2, %1, %0" : "=v"(a) : "v"(c[0]), "v"(c[1]));
        __asm__("vpackssdw %2, %1, %0" : "=v"(b) : "v"(c[2]), "v"(c[3]));
        __asm__("vpacksswb %2, %1, %0" : "=v"(a) : "v"(a), "v"(b));
        __asm__("vpermd %2, %1, %0" : "=v"(a) : "v"(order), "v"(a));
        *(HOST_(vu_at) *)(to + i) = a;
    }
}
#else
HOST_NARROW(bf16)
HOST_NARROW(i8)
HOST_NARROW(u8)
HOST_NARROW(f8e4m3)
HOST_NARROW(f8e5m2)
HOST_NARROW(f8e4m3fnuz)
HOST_NARROW(f8e5m2fnuz)
#endif
#undef HOST_NARROW
