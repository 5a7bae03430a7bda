// SPDX-License-Identifier: MIT
// Packing of one instruction set: W rows of an operand become a panel, unit by unit along k, with
// conversion, a_op / b_op and zeros past the end of k.  Rows past the end of the operand hold
// anything.  Included by host_isa.h.

enum { HOST_(span) = HOST_VW * HOST_GROUP }; /* elements of a vector of units */

/* The side's op on element i of a run, rounding to the multiplied type included. */
static HOST_INLINE float HOST_(op)(float x, const host_spot *at, long i, const int side)
{
    const host_spot spot = {at->o, at->r + (at->along_k ? 0 : i), at->k + (at->along_k ? i : 0), 0};
    (void)spot;
#if HOST_A_OP
    if (side == HOST_SIDE_A) return host_op_a(x, &spot);
#endif
#if HOST_B_OP
    if (side == HOST_SIDE_B) return host_op_b(x, &spot);
#endif
    (void)side;
    return x;
}

/* n elements at p, to a place of zeros; those that share a byte with the last one stay zero. */
static HOST_INLINE void HOST_(copy_some)(char *to, const char *p, long n, const int side)
{
    __builtin_memcpy(to, p, (size_t)HOST_SPAN(side, n));
    if (HOST_BITS(side) < 8 && n % 2) to[n / 2] &= 15;
}

/* Of n elements, those that the side's op is for: what takes inputs is for none past the edge. */
static HOST_INLINE long HOST_(op_count)(long n, long all, const int side)
{
    return HOST_IS_PLACED(side) ? host_min(n, all) : all;
}

#if HOST_KIND == HOST_KIND_F32
/* The vector of units at p, contiguous along k, of which n elements exist; zero past them. */
static HOST_INLINE HOST_TARGET HOST_(vec)
    HOST_(read_k)(const char *p, const host_spot *at, long n, const int side)
{
    char raw[HOST_VW * 4] __attribute__((aligned(64)));
    if (n < HOST_VW) {
        __builtin_memset(raw, 0, sizeof raw);
        HOST_(copy_some)(raw, p, n, side);
        p = raw;
    }
    const HOST_(vec) v = HOST_(widen)(p, HOST_TYPE(side));
    if (!HOST_HAS_OP(side)) return v;
    float x[HOST_VW] __attribute__((aligned(64)));
    HOST_(store)(x, v);
#pragma omp simd
    for (long i = 0; i < HOST_(op_count)(n, HOST_VW, side); i++)
        x[i] = HOST_(op)(x[i], at, i, side);
    if (n < HOST_VW) __builtin_memset(x + n, 0, (size_t)(HOST_VW - n) * sizeof *x);
    return HOST_(load)(x);
}

/* The vector of units at p, contiguous along r: n elements along r exist. */
static HOST_INLINE HOST_TARGET HOST_(vec)
    HOST_(read_r)(const char *p, const host_spot *at, long pitch, long n, long k_left,
                  const int side)
{
    (void)pitch, (void)k_left;
    return HOST_(read_k)(p, at, host_max(n, 0), side);
}
#else
/* n elements at p as bytes, and one more where n is odd. */
static HOST_INLINE HOST_TARGET void HOST_(halves)(const char *p, char *to, const long n,
                                                  const int side)
{
    const uint16_t sign = HOST_TYPE(side) == KILN_I4 ? 0x0808 : 0;
#pragma omp simd
    for (long i = 0; i < (n + 1) / 2; i++) {
        const uint16_t both = (uint8_t)p[i];
        const uint16_t low = (uint16_t)((both | both << 4) & 0x0f0f);
        const uint16_t two = (uint16_t)(low | (low & sign) * 0x1e);
        __builtin_memcpy(to + 2 * i, &two, 2);
    }
}

/* n elements at p as bytes, after the side's op: at p itself, or computed into buf. */
static HOST_INLINE HOST_TARGET const char *
HOST_(ready)(const char *p, char *buf, const host_spot *at, const long n, const int side)
{
    if (HOST_BITS(side) < 8) {
        HOST_(halves)(p, buf, n, side);
        p = buf;
    }
    if (!HOST_HAS_OP(side)) return p;
#pragma omp simd
    for (long i = 0; i < n; i++)
        buf[i] = (char)(int)HOST_(op)(HOST_UNSIGNED(side) ? (float)((const unsigned char *)p)[i]
                                                          : (float)((const signed char *)p)[i],
                                      at, i, side);
    return buf;
}

/* Units of ready bytes that are neighbours along k. */
static HOST_INLINE HOST_TARGET HOST_(vec) HOST_(units_k)(const char *p, const int side)
{
#if HOST_GROUP == 4
    const HOST_(vec) v = HOST_(load)(p);
    return side == HOST_X_SIDE ? v ^ HOST_FLIP : v;
#else
    const HOST_(vu) pair = HOST_(zext16)(p);
    if (HOST_UNSIGNED(side)) return (pair & 0xff) | (pair & 0xff00) << 8;
    return ((HOST_(vu))((HOST_(vi))(pair << 24) >> 24) & 0xffff) |
           (HOST_(vu))((HOST_(vi))(pair << 16) >> 24) << 16;
#endif
}

/* Units of neighbours along r, whose ready bytes at successive k are at p[0], p[1], .. */
static HOST_INLINE HOST_TARGET HOST_(vec)
    HOST_(units_r)(const char *const p[HOST_GROUP], const int side)
{
#if HOST_GROUP == 4
    const HOST_(vec) v = HOST_(zext8)(p[0]) | HOST_(zext8)(p[1]) << 8 | HOST_(zext8)(p[2]) << 16 |
                         HOST_(zext8)(p[3]) << 24;
    return side == HOST_X_SIDE ? v ^ HOST_FLIP : v;
#else
    if (HOST_UNSIGNED(side)) return HOST_(zext8)(p[0]) | HOST_(zext8)(p[1]) << 16;
    return (HOST_(sext8)(p[0]) & 0xffff) | HOST_(sext8)(p[1]) << 16;
#endif
}

/* The vector of units at p, contiguous along k, of which n elements exist; zero past them. */
static HOST_INLINE HOST_TARGET HOST_(vec)
    HOST_(read_k)(const char *p, const host_spot *at, long n, const int side)
{
    char buf[HOST_(span)] __attribute__((aligned(64)));
    if (n >= HOST_(span)) return HOST_(units_k)(HOST_(ready)(p, buf, at, HOST_(span), side), side);
    char raw[HOST_(span)] __attribute__((aligned(64))) = {0};
    const long count = HOST_(op_count)(n, HOST_(span), side);
    HOST_(copy_some)(raw, p, n, side);
    __builtin_memmove(raw, HOST_(ready)(raw, buf, at, count, side), (size_t)n);
    return HOST_(units_k)(raw, side);
}

/* The vector of units at p, contiguous along r: n elements along r and k_left along k exist; zero
 * past k. */
static HOST_INLINE HOST_TARGET HOST_(vec)
    HOST_(read_r)(const char *p, const host_spot *at, long pitch, long n, long k_left,
                  const int side)
{
    char buf[HOST_GROUP][HOST_VW] __attribute__((aligned(64)));
    const char *q[HOST_GROUP];
    if (n >= HOST_VW && k_left >= HOST_GROUP) {
        for (int g = 0; g < HOST_GROUP; g++) {
            const host_spot row = {at->o, at->r, at->k + g, 0};
            q[g] = HOST_(ready)(p + g * pitch, buf[g], &row, HOST_VW, side);
        }
        return HOST_(units_r)(q, side);
    }
    char raw[HOST_VW] = {0};
    for (int g = 0; g < HOST_GROUP; g++) {
        __builtin_memset(buf[g], 0, sizeof buf[g]);
        q[g] = buf[g];
        if (g >= k_left || n <= 0) continue;
        const host_spot row = {at->o, at->r, at->k + g, 0};
        HOST_(copy_some)(raw, p + g * pitch, host_min(n, HOST_VW), side);
        if (HOST_(ready)(raw, buf[g], &row, HOST_(op_count)(n, HOST_VW, side), side) == raw)
            __builtin_memcpy(buf[g], raw, sizeof raw);
    }
    return HOST_(units_r)(q, side);
}
#endif

/* `panels` panels of `width` rows from row r0 on, kc elements from k0 on.  A panel's last vectors
 * may be written past its width: the next unit overwrites that, and the panel stride leaves room
 * after the last. */
static HOST_INLINE HOST_TARGET void HOST_(pack_k)(const host_operand *o, long r0, long panels,
                                                  long k0, long kc, host_unit_t *to, long stride,
                                                  const int width, const int side)
{
    const long units = host_ceil_div(kc, HOST_GROUP);
    for (long q = 0; q < panels; q++)
        for (int v = 0; v < width; v += HOST_VW)
            for (long u = 0; u < units; u += HOST_VW) {
                HOST_(vec) block[HOST_VW];
                HOST_NO_UNROLL
                for (int i = 0; i < HOST_VW; i++) {
                    const long r = host_min(r0 + q * width + v + i, o->rows - 1);
                    const host_spot at = {o, r, k0 + u * HOST_GROUP, 1};
                    const char *p = o->p + HOST_SPAN(side, r * o->ld + at.k);
                    block[i] = HOST_(read_k)(p, &at, kc - u * HOST_GROUP, side);
                }
                HOST_(transpose)(block);
                host_unit_t *dst = to + q * stride + u * width + v;
                for (long i = 0; i < host_min(HOST_VW, units - u); i++)
                    HOST_(store)(dst + i * width, block[i]);
            }
}

static HOST_INLINE HOST_TARGET void HOST_(pack_r)(const host_operand *o, long r0, long panels,
                                                  long k0, long kc, host_unit_t *to, long stride,
                                                  const int width, const int side)
{
    const long units = host_ceil_div(kc, HOST_GROUP), pitch = HOST_SPAN(side, o->ld);
    for (long u = 0; u < units; u++) {
        const char *row = o->p + (k0 + u * HOST_GROUP) * pitch;
        for (long q = 0; q < panels; q++) {
            HOST_NO_UNROLL
            for (int v = 0; v < width; v += HOST_VW) {
                const long r = r0 + q * width + v;
                const char *p = row + HOST_SPAN(side, r);
                const host_spot at = {o, r, k0 + u * HOST_GROUP, 0};
                const long k_left = kc - u * HOST_GROUP;
                HOST_(store)
                (to + q * stride + u * width + v,
                 HOST_(read_r)(p, &at, pitch, o->rows - r, k_left, side));
            }
        }
    }
}

static HOST_TARGET __attribute__((noinline)) void HOST_(pack_x)(const host_operand *o, long r0,
                                                                long panels, long k0, long kc,
                                                                host_unit_t *to, long stride)
{
#if HOST_X_KMAJOR
    HOST_(pack_k)(o, r0, panels, k0, kc, to, stride, HOST_NR, HOST_X_SIDE);
#else
    HOST_(pack_r)(o, r0, panels, k0, kc, to, stride, HOST_NR, HOST_X_SIDE);
#endif
}

/* A panel of Y begins with HOST_HEAD units: with VNNI, what the sums of its rows start at. */
static HOST_TARGET __attribute__((noinline)) void HOST_(pack_y)(const host_operand *o, long r0,
                                                                long panels, long k0, long kc,
                                                                host_unit_t *to, long stride)
{
#if HOST_Y_KMAJOR
    HOST_(pack_k)(o, r0, panels, k0, kc, to + HOST_HEAD, stride, HOST_MR, HOST_Y_SIDE);
#else
    HOST_(pack_r)(o, r0, panels, k0, kc, to + HOST_HEAD, stride, HOST_MR, HOST_Y_SIDE);
#endif
#if HOST_GROUP == 4
    for (long q = 0; q < panels; q++) {
        HOST_(vec) sum = {0};
        for (long u = 0; HOST_FLIP && u < host_ceil_div(kc, HOST_GROUP); u++)
            sum = HOST_(dot)(sum, HOST_(splat)(0x01010101u),
                             HOST_(load)(to + q * stride + HOST_HEAD + u * HOST_MR));
        HOST_(store)(to + q * stride, sum * HOST_START);
    }
#endif
}
