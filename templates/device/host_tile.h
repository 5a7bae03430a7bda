// SPDX-License-Identifier: MIT
// Tiles of one instruction set: the micro-kernel (a HOST_MR x HOST_NR block of sums kept in
// registers while k runs over a pair of panels) and the loop over the tiles of a task.  Included by
// host_isa.h.

/* c[rows][HOST_NR] (+)= sum over n units of y[u][i] * x[u][j]. */
static HOST_INLINE HOST_TARGET void HOST_(micro)(long n, const host_unit_t *y, const host_unit_t *x,
                                                 host_unit_t *c, const int first, const int rows)
{
    HOST_(vec) sum[HOST_MR][HOST_NV];
    HOST_UNROLL
    for (int i = 0; i < rows; i++) {
        HOST_UNROLL
        for (int v = 0; v < HOST_NV; v++) {
            sum[i][v] = first ? (HOST_(vec)){0} : HOST_(load)(c + i * HOST_NR + v * HOST_VW);
#if HOST_GROUP == 4
            sum[i][v] += HOST_(splat)(y[i]);
#endif
        }
    }
    y += HOST_HEAD;
    for (long u = 0; u < n; u++) {
        HOST_(vec) xv[HOST_NV];
        HOST_UNROLL
        for (int v = 0; v < HOST_NV; v++) xv[v] = HOST_(load)(x + u * HOST_NR + v * HOST_VW);
        HOST_UNROLL
        for (int i = 0; i < rows; i++) {
            const HOST_(vec) yi = HOST_(splat)(y[u * HOST_MR + i]);
            HOST_UNROLL
            for (int v = 0; v < HOST_NV; v++) sum[i][v] = HOST_(dot)(sum[i][v], xv[v], yi);
        }
    }
    HOST_UNROLL
    for (int i = 0; i < rows; i++) {
        HOST_UNROLL
        for (int v = 0; v < HOST_NV; v++) HOST_(store)(c + i * HOST_NR + v * HOST_VW, sum[i][v]);
    }
}

/* A tile of fewer rows takes the smallest micro-kernel that holds it. */
static HOST_TARGET __attribute__((noinline)) void HOST_(tile)(long n, const host_unit_t *y,
                                                              const host_unit_t *x, host_unit_t *c,
                                                              int first, long rows)
{
#if HOST_ISA == 512
    if (rows <= 4) {
        HOST_(micro)(n, y, x, c, first, 4);
        return;
    }
#endif
#if HOST_ISA >= 256
    if (rows <= HOST_MR * 2 / 3) {
        HOST_(micro)(n, y, x, c, first, HOST_MR * 2 / 3);
        return;
    }
#endif
    (void)rows;
    HOST_(micro)(n, y, x, c, first, HOST_MR);
}

/* Epilogue of rows of HOST_NR sums; the second product's begin `product` units later. */
#if HOST_OUTPUTS
/* Rows of a panel, whose tiles begin `tile` units apart: side by side, then as a whole. */
static HOST_TARGET __attribute__((noinline)) void HOST_(finish_rows)(const host_task *t,
                                                                     const host_unit_t *c,
                                                                     long tile, long i0, long rows,
                                                                     float *seen)
{
    host_whole_t flat[HOST_PRODUCTS][HOST_MAX_NC];
    for (long i = 0; i < rows; i++) {
        for (int s = 0; s < HOST_PRODUCTS; s++)
            for (long j = 0; j < t->cols; j += HOST_NR)
                __builtin_memcpy(flat[s] + j, c + j / HOST_NR * tile + (s * HOST_MR + i) * HOST_NR,
                                 HOST_NR * sizeof **flat);
        host_store_row(t->out, flat[0], flat[HOST_PRODUCTS - 1], t->i0 + i0 + i, t->j0, t->cols,
                       t->of_rows, t->rows_plane, seen);
    }
}
#else
static HOST_TARGET __attribute__((noinline)) void HOST_(finish)(const host_out *o,
                                                                const host_unit_t *c, long product,
                                                                long i0, long rows, long j0,
                                                                long cols)
{
    const host_whole_t *sum = (const host_whole_t *)c;
    for (long i = 0; i < rows; i++, sum += HOST_NR)
        host_store_row(o, sum, sum + product, i0 + i, j0, (int)host_min(HOST_NR, cols), HOST_NR);
}
#endif

#if HOST_DEEP
static HOST_TARGET __attribute__((noinline)) void HOST_(scale)(const host_out *o, int product,
                                                               const host_unit_t *sum,
                                                               host_unit_t *whole, long i,
                                                               long rows, long j, long cols, long k)
{
    host_scale(o, product, (const host_sum_t *)sum, (host_whole_t *)whole, i, rows, j,
               (int)host_min(HOST_NR, cols), k, HOST_NR);
}
#endif

static HOST_TARGET void HOST_(task)(const host_task *t)
{
    enum { TILE = HOST_MR * HOST_NR, TILES = HOST_PRODUCTS * TILE };
    host_unit_t one[TILES] __attribute__((aligned(64)));
    const long panels = host_ceil_div(t->rows, HOST_MR), columns = host_ceil_div(t->cols, HOST_NR);
    const long x_panel = host_ceil_div(t->kc, HOST_GROUP) * HOST_NR, x_matrix = columns * x_panel;
    host_unit_t *const partial = t->scratch + HOST_X_COUNT * x_matrix;
#if HOST_DEEP
    __builtin_memset(partial, 0, (size_t)(panels * columns) * sizeof one);
#endif
#if HOST_OUTPUTS
    float seen[(HOST_COLUMNS_OF + 1) * HOST_MAX_NC];
    host_none_of(seen, t->cols);
#endif
    for (long b = 0; b < t->parts; b++) {
        const host_part part = host_part_of(t->k, t->kc, b);
        const long units = host_ceil_div(part.kc, HOST_GROUP);
        for (int s = 0; s < HOST_X_COUNT; s++) HOST_(pack_x)
        (t->x + s, t->j0, columns, part.k0, part.kc, t->scratch + s * x_matrix, x_panel);
        for (long p = 0; p < panels; p++) {
            for (long q = 0; q < columns; q++) {
                const long i = p * HOST_MR, j = q * HOST_NR, rows = host_min(HOST_MR, t->rows - i);
                const host_unit_t *y = t->y + b * t->y_block + p * t->y_panel;
                const host_unit_t *x = t->scratch + q * x_panel;
                host_unit_t *c = t->parts > 1 || HOST_DEEP || HOST_OUTPUTS
                                     ? partial + (p * columns + q) * TILES
                                     : one;
                for (int s = 0; s < HOST_PRODUCTS; s++) {
                    const host_unit_t *ys = y + s % HOST_Y_COUNT * t->y_matrix;
                    const host_unit_t *xs = x + s % HOST_X_COUNT * x_matrix;
#if HOST_DEEP
                    HOST_(tile)(units, ys, xs, one, 1, rows);
                    if (part.kc > 0) HOST_(scale)
                    (t->out, s, one, c + s * TILE, t->i0 + i, rows, t->j0 + j, t->cols - j,
                     part.k0);
#else
                    HOST_(tile)(units, ys, xs, c + s * TILE, b == 0, rows);
#endif
                }
#if !HOST_OUTPUTS
                if (b + 1 == t->parts)
                    HOST_(finish)(t->out, c, TILES - TILE, t->i0 + i, rows, t->j0 + j, t->cols - j);
#endif
            }
#if HOST_OUTPUTS
            if (b + 1 == t->parts) HOST_(finish_rows)
            (t, partial + p * columns * TILES, TILES, p * HOST_MR,
             host_min(HOST_MR, t->rows - p * HOST_MR), seen);
#endif
        }
    }
#if HOST_OUTPUTS
    for (int r = 0; r < HOST_COLUMNS_OF; r++)
        __builtin_memcpy(t->of_columns + r * t->columns_plane + t->j0, seen + r * HOST_MAX_NC,
                         (size_t)t->cols * sizeof *seen);
#endif
}
