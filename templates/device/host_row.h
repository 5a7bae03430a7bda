// SPDX-License-Identifier: MIT
// A product of one row (Y has a single row): memory-bound, so X is read once, in place.  The row becomes units first.
// Where X is contiguous along k every sum is a dot product; else a few rows of X at a time are added into a strip of sums.
// Included by host_isa.h.

enum {
    HOST_(strip) = 2048, /* sums kept in L1 */
    HOST_(ahead) = 4,    /* streams read side by side */
};

/* The units of the row: HOST_HEAD units as at the head of a panel of Y, then k's, zero up to a full vector.  `flat` has room
 * for the row's elements where they are strided. */
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
    for (int i = 0; i < HOST_VW; i++)
        start += sum[i];
    to[0] = start * (host_unit_t)-128;
}

#if HOST_X_KMAJOR
/* Sums of columns j .. j + HOST_NR - 1 (those past the end repeat the last column). */
static HOST_INLINE HOST_TARGET void HOST_(row_dots)(const host_operand *x, const host_unit_t *y, long j, long k, host_unit_t *to)
{
    for (int c = 0; c < HOST_NR; c += HOST_(ahead)) {
        HOST_(vec) sum[HOST_(ahead)] = {{0}};
        const char *p[HOST_(ahead)];
        for (int i = 0; i < HOST_(ahead); i++)
            p[i] = x->p + host_min(j + c + i, x->rows - 1) * x->ld * HOST_BYTES(HOST_X_SIDE);
        for (long n = 0; n < k; n += HOST_(span)) {
            const HOST_(vec) yv = HOST_(load)(y + HOST_HEAD + n / HOST_GROUP);
            for (int i = 0; i < HOST_(ahead); i++)
                sum[i] = HOST_(dot)(sum[i], HOST_(read_k)(p[i] + n * HOST_BYTES(HOST_X_SIDE), k - n, HOST_X_SIDE), yv);
        }
        for (int i = 0; i < HOST_(ahead); i++) {
            host_unit_t s = HOST_GROUP == 4 ? y[0] : 0;
            for (int l = 0; l < HOST_VW; l++)
                s += sum[i][l];
            to[c + i] = s;
        }
    }
}
#else
/* Sums of `cols` columns from j on, cols <= HOST_(strip). */
static HOST_INLINE HOST_TARGET void HOST_(row_strip)(const host_operand *x, const host_unit_t *y, long j, long cols, long k,
                                                     host_unit_t *to)
{
    const long pitch = x->ld * HOST_BYTES(HOST_X_SIDE), units = host_ceil_div(k, HOST_GROUP);
    for (long c = 0; c < cols; c += HOST_VW)
        HOST_(store)(to + c, HOST_(splat)(HOST_GROUP == 4 ? y[0] : 0));
    for (long u = 0; u < units; u += HOST_(ahead)) {
        const long n = host_min(HOST_(ahead), units - u);
        const char *p = x->p + u * HOST_GROUP * pitch + j * HOST_BYTES(HOST_X_SIDE);
        for (long c = 0; c < cols; c += HOST_VW, p += HOST_VW * HOST_BYTES(HOST_X_SIDE)) {
            HOST_(vec) sum = HOST_(load)(to + c);
            const long left = x->rows - j - c;
            if (left >= HOST_VW && k - u * HOST_GROUP >= HOST_(ahead) * HOST_GROUP) {
                HOST_UNROLL
                for (int i = 0; i < HOST_(ahead); i++)
                    sum = HOST_(dot)(sum, HOST_(read_r)(p + i * HOST_GROUP * pitch, pitch, HOST_VW, HOST_GROUP, HOST_X_SIDE),
                                     HOST_(splat)(y[HOST_HEAD + u + i]));
            } else {
                HOST_NO_UNROLL
                for (long i = 0; i < n; i++)
                    sum = HOST_(dot)(sum, HOST_(read_r)(p + i * HOST_GROUP * pitch, pitch, left, k - (u + i) * HOST_GROUP,
                                                        HOST_X_SIDE),
                                     HOST_(splat)(y[HOST_HEAD + u + i]));
            }
            HOST_(store)(to + c, sum);
        }
    }
}
#endif

/* Columns j0 .. j0 + cols - 1 of the only row. */
static HOST_TARGET void HOST_(row)(const host_out *o, const host_operand *x, const host_unit_t *y, long y_matrix, long j0,
                                   long cols, long k)
{
    const long step = HOST_X_KMAJOR ? HOST_NR : HOST_(strip);
    host_unit_t sum[HOST_PRODUCTS][HOST_X_KMAJOR ? HOST_NR : HOST_(strip)] __attribute__((aligned(64)));
    for (long j = 0; j < cols; j += step) {
        const long n = host_min(step, cols - j);
        for (int s = 0; s < HOST_PRODUCTS; s++) {
            const host_operand *xs = x + s % HOST_X_COUNT;
            const host_unit_t *ys = y + s % HOST_Y_COUNT * y_matrix;
#if HOST_X_KMAJOR
            HOST_(row_dots)(xs, ys, j0 + j, k, sum[s]);
#else
            HOST_(row_strip)(xs, ys, j0 + j, n, k, sum[s]);
#endif
        }
        for (long c = 0; c < n; c += HOST_NR)
            host_store_row(o, (const host_sum_t *)sum[0] + c, (const host_sum_t *)sum[HOST_PRODUCTS - 1] + c, 0, j0 + j + c,
                           (int)host_min(HOST_NR, n - c), HOST_NR);
    }
}
