// SPDX-License-Identifier: MIT
// Runs of X in memory become units in a buffer of the first-level cache, for products that do not pack X: once per
// element, whatever its type and b_op (a_op of a column-major E) are, for all rows of Y.  Included by host_isa.h.

// Room of a run of n units: vectors that the last one is read with, and no two runs at the same place of the cache.
#define HOST_RUN(n) ((n) + 2 * HOST_VW)

#define HOST_X_F8                                                                                                    \
    (HOST_TYPE(HOST_X_SIDE) == KILN_F8E4M3 || HOST_TYPE(HOST_X_SIDE) == KILN_F8E5M2 ||                               \
     HOST_TYPE(HOST_X_SIDE) == KILN_F8E4M3FNUZ)

#if HOST_KIND == HOST_KIND_F32
// Vectors of bytes and of 16 bits.
typedef uint8_t HOST_(vb) __attribute__((vector_size(4 * HOST_VW)));
typedef int16_t HOST_(vh) __attribute__((vector_size(4 * HOST_VW)));

static HOST_INLINE HOST_TARGET HOST_(vb) HOST_(most)(HOST_(vb) x, HOST_(vb) y)
{
    __asm__("vpmaxub %1, %0, %0" : "+v"(x) : "v"(y));
    return x;
}

static HOST_INLINE HOST_TARGET HOST_(vh) HOST_(sext8_16)(const void *p)
{
    HOST_(vh) r;
    __asm__("vpmovsxbw %1, %0" : "=v"(r) : "m"(*(const char(*)[2 * HOST_VW]) p));
    return r;
}

// n elements as they are in memory, as f32; zeros up to full vectors.
static HOST_INLINE HOST_TARGET void HOST_(run_plain)(const char *p, long n, host_unit_t *to)
{
    long i = 0;
    for (; i + HOST_VW <= n; i += HOST_VW)
        HOST_(store)(to + i, HOST_(widen)(p + HOST_SPAN(HOST_X_SIDE, i), HOST_TYPE(HOST_X_SIDE)));
    if (i == n) return;
    char raw[HOST_VW * 4] __attribute__((aligned(64))) = {0};
    HOST_(copy_some)(raw, p + HOST_SPAN(HOST_X_SIDE, i), n - i, HOST_X_SIDE);
    HOST_(store)(to + i, HOST_(widen)(raw, HOST_TYPE(HOST_X_SIDE)));
}

// Eight bits are an f16 but for the bias of the exponent, which a power of two puts right; what f16 does not know is
// NaN: 0x7f and 0xff of e4m3, 0x80 of the fnuz format.  A run with one of them goes the plain way.
static HOST_INLINE HOST_TARGET void HOST_(run_f8)(const char *p, long n, host_unit_t *to)
{
    enum { STEP = 4 * HOST_VW };
    const int type = HOST_TYPE(HOST_X_SIDE);
    const float scale = type == KILN_F8E5M2 ? 1 : type == KILN_F8E4M3 ? 256 : 128;
    uint8_t worst[STEP] __attribute__((aligned(64))), any = 0;
    uint16_t half[STEP] __attribute__((aligned(64)));
    HOST_(vb) most = {0};
    long i = 0;
    for (; i + STEP <= n; i += STEP) {
        if (type != KILN_F8E5M2) {
            HOST_(vb) v;
            __builtin_memcpy(&v, p + i, sizeof v);
            most = HOST_(most)(most, type == KILN_F8E4M3 ? v | 0x80 : v ^ 0x7f);
        }
        HOST_UNROLL
        for (int h = 0; h < STEP; h += 2 * HOST_VW) {
            HOST_(vh) w = HOST_(sext8_16)(p + i + h);
            if (type == KILN_F8E5M2)
                w = w << 8;
            else
                w = (w << 7) & (int16_t)0xbf80;
            __builtin_memcpy(half + h, &w, sizeof w);
        }
        HOST_UNROLL
        for (int v = 0; v < STEP; v += HOST_VW) {
            const HOST_(vf) x = (HOST_(vf))HOST_(half_bits)(half + v);
            HOST_(store)(to + i + v, type == KILN_F8E5M2 ? x : x * scale);
        }
    }
    __builtin_memcpy(worst, &most, sizeof most);
    for (int b = 0; b < STEP; b++) any |= worst[b] == 0xff;
    if (any) i = 0;
    HOST_(run_plain)(p + i, n - i, to + i);
}

// n elements along the contiguous dimension, after X's op; zeros up to full vectors.
static HOST_TARGET __attribute__((noinline)) void HOST_(run)(const char *p, long n, host_unit_t *to)
{
    if (HOST_X_F8)
        HOST_(run_f8)(p, n, to);
    else
        HOST_(run_plain)(p, n, to);
#if HOST_X_OP
#pragma omp simd
    for (long i = 0; i < n; i++) to[i] = HOST_(op)(to[i], &host_nowhere, i, HOST_X_SIDE);
    for (long i = n; i % HOST_VW; i++) to[i] = 0;
#endif
}
#elif HOST_X_KMAJOR
// n elements along k.
static HOST_TARGET __attribute__((noinline)) void HOST_(run)(const char *p, long n, host_unit_t *to)
{
    for (long i = 0; i < n; i += HOST_(span))
        HOST_(store)(to + i / HOST_GROUP,
                     HOST_(read_k)(p + HOST_SPAN(HOST_X_SIDE, i), &host_nowhere, n - i, HOST_X_SIDE));
}
#elif HOST_GROUP == 4
// Rows k0 .. k0 + 3 of n bytes, zeros past k.  In each 64 columns, shifts alone leave column 4l + s in lane l of
// vector s; HOST_(run_order) undoes that once the sums are complete.
static HOST_TARGET __attribute__((noinline)) void HOST_(run_units)(const char *p, long pitch, long n, long k_left,
                                                                   host_unit_t *to)
{
    const HOST_(vec) low = HOST_(splat)(0x00ff00ffu), flip = HOST_(splat)(HOST_FLIP);
    for (long c = 0; c < n; c += 64, to += 64) {
        char raw[64] __attribute__((aligned(64))) = {0}, op[64] __attribute__((aligned(64)));
        HOST_(vec) r[4];
        HOST_UNROLL
        for (int i = 0; i < 4; i++) {
            const char *q = p + i * pitch + HOST_SPAN(HOST_X_SIDE, c);
            if (n - c < 64 && i < k_left) {
                HOST_(copy_some)(raw, q, n - c, HOST_X_SIDE);
                q = raw;
            }
            r[i] = i < k_left ? HOST_(load)(HOST_(ready)(q, op, &host_nowhere, 64, HOST_X_SIDE)) : (HOST_(vec)){0};
        }
        const HOST_(vec) even01 = (r[0] & low) | (r[1] << 8 & ~low), odd01 = (r[0] >> 8 & low) | (r[1] & ~low);
        const HOST_(vec) even23 = (r[2] & low) | (r[3] << 8 & ~low), odd23 = (r[2] >> 8 & low) | (r[3] & ~low);
        HOST_(store)(to, ((even01 & 0xffffu) | even23 << 16) ^ flip);
        HOST_(store)(to + 16, ((odd01 & 0xffffu) | odd23 << 16) ^ flip);
        HOST_(store)(to + 32, (even01 >> 16 | (even23 & 0xffff0000u)) ^ flip);
        HOST_(store)(to + 48, (odd01 >> 16 | (odd23 & 0xffff0000u)) ^ flip);
    }
}
#else
static HOST_TARGET __attribute__((noinline)) void HOST_(run_units)(const char *p, long pitch, long n, long k_left,
                                                                   host_unit_t *to)
{
    for (long c = 0; c < n; c += HOST_VW)
        HOST_(store)(to + c, HOST_(read_r)(p + HOST_SPAN(HOST_X_SIDE, c), &host_nowhere, pitch, n - c, k_left,
                                           HOST_X_SIDE));
}
#endif

static HOST_INLINE void HOST_(run_order)(host_unit_t *sums, long cols)
{
#if HOST_GROUP == 4 && !HOST_X_KMAJOR
    for (long c = 0; c < cols; c += 64) {
        host_unit_t from[64];
        __builtin_memcpy(from, sums + c, sizeof from);
        for (int i = 0; i < 64; i++) sums[c + i] = from[i % 4 * 16 + i / 4];
    }
#else
    (void)sums, (void)cols;
#endif
}
