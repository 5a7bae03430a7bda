// SPDX-License-Identifier: MIT
// A product of one row (Y has a single row): memory-bound, so X is read once, in place.  The row
// becomes units first. Where X is contiguous along k every sum is a dot product; else a few rows of
// X at a time are added into a strip of sums. Included by host_isa.h.

/* Rows of memory read side by side; the next eight are prefetched into L2: page walks hide there.
 */
enum { HOST_(streams) = 8 };
#define HOST_PREFETCH(p) __builtin_prefetch(p, 0, 2)

/* The units of the row: HOST_HEAD units as at the head of a panel of Y, then k's, zero up to a full
 * vector.  `flat` has room for the row's elements where they are strided. */
static HOST_TARGET void HOST_(row_units)(const host_operand *o, long k, host_unit_t *to, char *flat)
{
    const char *p = o->p;
    HOST_(vec) sum = {0};
#if !HOST_Y_KMAJOR
    const size_t bytes = (size_t)HOST_BYTES(HOST_Y_SIDE);
    for (long i = 0; i < k; i++)
        __builtin_memcpy(flat + (size_t)i * bytes, p + (size_t)i * bytes * (size_t)o->ld, bytes);
    p = flat;
#endif
    (void)flat;
    for (long i = 0; i < k; i += HOST_(span)) {
        const HOST_(vec) v = HOST_(read_k)(p + i * HOST_BYTES(HOST_Y_SIDE), k - i, HOST_Y_SIDE);
        HOST_(store)(to + HOST_HEAD + i / HOST_GROUP, v);
#if HOST_GROUP == 4
        sum = HOST_(dot)(sum, HOST_(splat)(0x01010101u), v);
#endif
    }
    host_unit_t start = 0;
    for (int i = 0; i < HOST_VW; i++) start += sum[i];
    to[0] = start * (host_unit_t)-128;
}

#if HOST_X_KMAJOR
/* Sums of columns j .. j + HOST_NR - 1 (those past the end repeat the last column). */
static HOST_INLINE HOST_TARGET void HOST_(row_sums)(const host_operand *x, const host_unit_t *y,
                                                    long j, long cols, long k, host_unit_t *to)
{
    enum { STREAMS = HOST_(streams), SPAN = HOST_(span) };
    const long bytes = HOST_BYTES(HOST_X_SIDE), next = STREAMS * x->ld * bytes;
    const long line = 64 / bytes > SPAN ? 64 / bytes : SPAN;
    const host_unit_t start = HOST_GROUP == 4 ? y[0] : 0;
    y += HOST_HEAD;
    for (long c = 0; c < cols; c += STREAMS) {
        HOST_(vec) sum[STREAMS] = {{0}};
        const char *p[STREAMS];
        for (int i = 0; i < STREAMS; i++)
            p[i] = x->p + host_min(j + c + i, x->rows - 1) * x->ld * bytes;
        long n = 0;
        for (; n + line <= k; n += line) {
            HOST_UNROLL
            for (int i = 0; i < STREAMS; i++) HOST_PREFETCH(p[i] + next + n * bytes);
            HOST_NO_UNROLL
            for (long l = n; l < n + line; l += SPAN) {
                const HOST_(vec) yv = HOST_(load)(y + l / HOST_GROUP);
                HOST_UNROLL
                for (int i = 0; i < STREAMS; i++) {
                    const HOST_(vec) xv = HOST_(read_k)(p[i] + l * bytes, SPAN, HOST_X_SIDE);
                    sum[i] = HOST_(dot)(sum[i], xv, yv);
                }
            }
        }
        HOST_NO_UNROLL
        for (int i = 0; i < STREAMS; i++) {
            for (long l = n; l < k; l += SPAN) {
                const HOST_(vec) xv = HOST_(read_k)(p[i] + l * bytes, k - l, HOST_X_SIDE);
                sum[i] = HOST_(dot)(sum[i], xv, HOST_(load)(y + l / HOST_GROUP));
            }
            host_unit_t s = start;
            for (int l = 0; l < HOST_VW; l++) s += sum[i][l];
            to[c + i] = s;
        }
    }
}
#else
/* Adds one unit along k to the sums of columns j .. j + cols - 1, with any edge; y: the row's. */
static HOST_INLINE HOST_TARGET void HOST_(row_add_edge)(const host_operand *x, host_unit_t y,
                                                        long u, long j, long cols, long k,
                                                        host_unit_t *to)
{
    const long bytes = HOST_BYTES(HOST_X_SIDE), pitch = x->ld * bytes, k0 = u * HOST_GROUP;
    HOST_NO_UNROLL
    for (long c = 0; c < cols; c += HOST_VW) {
        const char *p = x->p + k0 * pitch + (j + c) * bytes;
        const HOST_(vec) v = HOST_(read_r)(p, pitch, x->rows - j - c, k - k0, HOST_X_SIDE);
        HOST_(store)(to + c, HOST_(dot)(HOST_(load)(to + c), v, HOST_(splat)(y)));
    }
}

#if HOST_GROUP == 4 && !HOST_HAS_OP(HOST_X_SIDE)
/* Four rows of bytes become units of columns 4l + s in lane l of vector s by shifts alone; the sums
 * of 64 columns keep that order until k is done.  Rows past k repeat the last one: their y is 0. */
enum { HOST_(block) = 64 };
static HOST_INLINE HOST_TARGET void HOST_(row_add)(const host_operand *x, const host_unit_t *y,
                                                   long u, long j, long cols, long k,
                                                   host_unit_t *to)
{
    enum { UNITS = HOST_(streams) / HOST_GROUP };
    const unsigned low = 0x00ff00ffu;
    const char *p[HOST_(streams)];
    for (int i = 0; i < HOST_(streams); i++)
        p[i] = x->p + host_min(u * HOST_GROUP + i, k - 1) * x->ld + j;
    for (long c = 0; c < cols; c += HOST_(block)) {
        HOST_(vec) s0 = HOST_(load)(to + c), s1 = HOST_(load)(to + c + 16);
        HOST_(vec) s2 = HOST_(load)(to + c + 32), s3 = HOST_(load)(to + c + 48);
        HOST_UNROLL
        for (int i = 0; i < HOST_(streams); i++) HOST_PREFETCH(p[i] + HOST_(streams) * x->ld + c);
        HOST_UNROLL
        for (int i = 0; i < UNITS; i++) {
            const HOST_(vec) r0 = HOST_(load)(p[4 * i] + c), r1 = HOST_(load)(p[4 * i + 1] + c);
            const HOST_(vec) r2 = HOST_(load)(p[4 * i + 2] + c), r3 = HOST_(load)(p[4 * i + 3] + c);
            const HOST_(vec) even01 = (r0 & low) | (r1 << 8 & ~low);
            const HOST_(vec) even23 = (r2 & low) | (r3 << 8 & ~low);
            const HOST_(vec) odd01 = (r0 >> 8 & low) | (r1 & ~low);
            const HOST_(vec) odd23 = (r2 >> 8 & low) | (r3 & ~low);
            const HOST_(vec) flip = HOST_(splat)(0x80808080u);
            const HOST_(vec) yi = HOST_(splat)(u + i < (k + 3) / 4 ? y[u + i] : 0);
            s0 = HOST_(dot)(s0, ((even01 & 0xffffu) | even23 << 16) ^ flip, yi);
            s1 = HOST_(dot)(s1, ((odd01 & 0xffffu) | odd23 << 16) ^ flip, yi);
            s2 = HOST_(dot)(s2, (even01 >> 16 | (even23 & 0xffff0000u)) ^ flip, yi);
            s3 = HOST_(dot)(s3, (odd01 >> 16 | (odd23 & 0xffff0000u)) ^ flip, yi);
        }
        HOST_(store)(to + c, s0);
        HOST_(store)(to + c + 16, s1);
        HOST_(store)(to + c + 32, s2);
        HOST_(store)(to + c + 48, s3);
    }
}

static HOST_INLINE void HOST_(row_order)(host_unit_t *to, long cols)
{
    for (long c = 0; c < cols; c += HOST_(block)) {
        host_unit_t from[HOST_(block)];
        __builtin_memcpy(from, to + c, sizeof from);
        for (int i = 0; i < HOST_(block); i++) to[c + i] = from[i % 4 * 16 + i / 4];
    }
}
#else
enum { HOST_(block) = 2 * HOST_VW };
/* Adds a few units along k to the sums of cols columns from j on; all of them exist. */
static HOST_INLINE HOST_TARGET void HOST_(row_add)(const host_operand *x, const host_unit_t *y,
                                                   long u, long j, long cols, long k,
                                                   host_unit_t *to)
{
    enum { UNITS = HOST_(streams) / HOST_GROUP };
    const long bytes = HOST_BYTES(HOST_X_SIDE), pitch = x->ld * bytes;
    const char *p = x->p + u * HOST_GROUP * pitch + j * bytes;
    if ((u + UNITS) * HOST_GROUP > k) {
        for (; u * HOST_GROUP < k; u++) HOST_(row_add_edge)(x, y[u], u, j, cols, k, to);
        return;
    }
    for (long c = 0; c < cols; c += HOST_(block), p += HOST_(block) * bytes) {
        HOST_UNROLL
        for (int i = 0; i < HOST_(streams); i++) HOST_PREFETCH(p + (HOST_(streams) + i) * pitch);
        HOST_NO_UNROLL
        for (int v = 0; v < HOST_(block); v += HOST_VW) {
            HOST_(vec) sum = HOST_(load)(to + c + v);
            HOST_UNROLL
            for (int i = 0; i < UNITS; i++) {
                const char *at = p + i * HOST_GROUP * pitch + v * bytes;
                const HOST_(vec) xv = HOST_(read_r)(at, pitch, HOST_VW, HOST_GROUP, HOST_X_SIDE);
                sum = HOST_(dot)(sum, xv, HOST_(splat)(y[u + i]));
            }
            HOST_(store)(to + c + v, sum);
        }
    }
}

static HOST_INLINE void HOST_(row_order)(host_unit_t *to, long cols)
{
    (void)to, (void)cols;
}
#endif

/* Sums of `cols` columns from j on. */
static HOST_INLINE HOST_TARGET void HOST_(row_sums)(const host_operand *x, const host_unit_t *y,
                                                    long j, long cols, long k, host_unit_t *to)
{
    enum { UNITS = HOST_(streams) / HOST_GROUP };
    const host_unit_t start = HOST_GROUP == 4 ? y[0] : 0;
    const long inside = host_min(cols, x->rows - j) / HOST_(block) * HOST_(block);
    for (long c = 0; c < cols; c += HOST_VW) HOST_(store)(to + c, HOST_(splat)(start));
    y += HOST_HEAD;
    for (long u = 0; u * HOST_GROUP < k; u += UNITS) {
        HOST_(row_add)(x, y, u, j, inside, k, to);
        for (int i = 0; i < UNITS && (u + i) * HOST_GROUP < k && inside < cols; i++)
            HOST_(row_add_edge)(x, y[u + i], u + i, j + inside, cols - inside, k, to + inside);
    }
    HOST_(row_order)(to, inside);
}
#endif

/* Columns j0 .. j0 + cols - 1 of the only row. */
static HOST_TARGET void HOST_(row)(const host_out *o, const host_operand *x, const host_unit_t *y,
                                   long y_matrix, long j0, long cols, long k)
{
    enum { STEP = HOST_X_KMAJOR ? HOST_NR : 4096 / HOST_PRODUCTS };
    host_unit_t sum[HOST_PRODUCTS][STEP] __attribute__((aligned(64)));
    for (long j = 0; j < cols; j += STEP) {
        const long n = host_min(STEP, cols - j);
        for (int s = 0; s < HOST_PRODUCTS; s++) {
            const host_unit_t *units = y + s % HOST_Y_COUNT * y_matrix;
            HOST_(row_sums)(x + s % HOST_X_COUNT, units, j0 + j, n, k, sum[s]);
        }
        for (long c = 0; c < n; c += HOST_NR)
            HOST_(finish)(o, sum[0] + c, (HOST_PRODUCTS - 1) * STEP, 0, 1, j0 + j + c, n - c);
    }
}
#undef HOST_PREFETCH
