// SPDX-License-Identifier: MIT
// Products of few rows (Y has at most HOST_FEW): reading X takes the time, so it is read once, in place, and never
// packed.  Y's rows become units first.  Where X is contiguous along k every sum is a dot product; else a few rows of
// X at a time are added into strips of sums, one for each row of Y.  What will be read next is prefetched into L2
// while products are computed: page walks hide there.  Included by host_isa.h.

#define HOST_PREFETCH(p) __builtin_prefetch(p, 0, 2)

#if !HOST_Y_KMAJOR
// The elements of row r, side by side.
static HOST_INLINE void HOST_(few_flat)(const host_operand *o, long r, long k, char *flat)
{
    const char *const p = o->p + r * HOST_BITS(HOST_Y_SIDE) / 8;
    const long pitch = HOST_SPAN(HOST_Y_SIDE, o->ld), bytes = HOST_SPAN(HOST_Y_SIDE, 1);
    if (HOST_BITS(HOST_Y_SIDE) >= 8) {
        for (long i = 0; i < k; i++) __builtin_memcpy(flat + i * bytes, p + i * pitch, (size_t)bytes);
        return;
    }
    __builtin_memset(flat, 0, (size_t)HOST_SPAN(HOST_Y_SIDE, k));
    for (long i = 0; i < k; i++)
        flat[i / 2] |= (char)((uint8_t)p[i * pitch] >> r % 2 * 4 & 15) << i % 2 * 4;
}
#endif

// Units of each row: HOST_HEAD as at the head of a panel of Y, then k's, zero up to a full vector.  `flat` has room
// for a row's elements where they are strided.
static HOST_TARGET void HOST_(few_units)(const host_operand *o, long k, host_unit_t *to, long stride, char *flat)
{
    for (long r = 0; r < o->rows; r++, to += stride) {
        HOST_(vec) sum = {0};
#if HOST_Y_KMAJOR
        const char *const p = o->p + HOST_SPAN(HOST_Y_SIDE, r * o->ld);
        (void)flat;
#else
        const char *const p = flat;
        HOST_(few_flat)(o, r, k, flat);
#endif
        for (long i = 0; i < k; i += HOST_(span)) {
            const HOST_(vec) v = HOST_(read_k)(p + HOST_SPAN(HOST_Y_SIDE, i), &host_nowhere, k - i, HOST_Y_SIDE);
            HOST_(store)(to + HOST_HEAD + i / HOST_GROUP, v);
#if HOST_GROUP == 4
            if (HOST_FLIP) sum = HOST_(dot)(sum, HOST_(splat)(0x01010101u), v);
#endif
        }
        host_unit_t start = 0;
        for (int i = 0; i < HOST_VW; i++) start += sum[i];
        to[0] = start * HOST_START;
    }
}

// Y's rows: `rows` of them, `pitch` units apart, from some k on.
typedef struct HOST_(few_y) {
    const host_unit_t *at;
    long pitch, rows;
} HOST_(few_y);

#if HOST_X_KMAJOR
// X's columns that are converted at a time, and most units of them.
enum { HOST_(few_columns) = 8, HOST_(few_most) = 8192 / 9 / 64 * 64 };

// X's elements that are vectors of units in memory already are not copied; nor are those of a single row.
static HOST_INLINE int HOST_(few_direct)(long rows)
{
    const int plain = HOST_KIND == HOST_KIND_F32 && HOST_TYPE(HOST_X_SIDE) == KILN_F32;
    return !HOST_X_OP && (plain || (rows == 1 && !HOST_X_F8));
}

// Adds `left` elements, a vector at most, from i on to the sums of R rows by C columns.
static HOST_INLINE HOST_TARGET void HOST_(dots_step)(HOST_(vec) * sum, const HOST_(few_y) * y, const char *const *x,
                                                     const host_unit_t *run, long i, long left, const int R,
                                                     const int C)
{
    const long u = i / HOST_GROUP;
    HOST_(vec) xv[HOST_VW];
    HOST_UNROLL
    for (int c = 0; c < C; c++)
        xv[c] = HOST_(few_direct)(R)
                    ? HOST_(read_k)(x[c] + HOST_SPAN(HOST_X_SIDE, i), &host_nowhere, left, HOST_X_SIDE)
                    : HOST_(load)(run + c * HOST_RUN(HOST_(few_most)) + u);
    HOST_UNROLL
    for (int r = 0; r < R; r++) {
        HOST_(vec) yv = HOST_(load)(y->at + r * y->pitch + u);
        __asm__("" : "+v"(yv)); // or else each product loads it again
        HOST_UNROLL
        for (int c = 0; c < C; c++) sum[r * C + c] = HOST_(dot)(sum[r * C + c], xv[c], yv);
    }
}

// Adds n elements along k to the sums of R rows by few_columns columns, R * C sums of C columns after another.  x:
// the columns in memory; run: as units, unless they are direct.  The same elements of columns `ahead` bytes away are
// prefetched.
static HOST_INLINE HOST_TARGET void HOST_(dots)(const HOST_(few_y) * y, const char *const *x, const host_unit_t *run,
                                                long n, long ahead, host_unit_t *to, const int R, const int C)
{
    const long span = HOST_(span), line = host_max(span, 512 / HOST_BITS(HOST_X_SIDE));
    HOST_NO_UNROLL
    for (int c0 = 0; c0 < HOST_(few_columns); c0 += C, run += C * HOST_RUN(HOST_(few_most)), x += C, to += R * C) {
        HOST_(vec) sum[HOST_VW] = {{0}};
        long i = 0;
        for (; i + line <= n; i += line) {
            HOST_UNROLL
            for (int c = 0; c < C; c++) HOST_PREFETCH(x[c] + ahead + HOST_SPAN(HOST_X_SIDE, i));
            HOST_NO_UNROLL
            for (long l = i; l < i + line; l += span) HOST_(dots_step)(sum, y, x, run, l, span, R, C);
        }
        HOST_NO_UNROLL
        for (; i < n; i += span) HOST_(dots_step)(sum, y, x, run, i, host_min(span, n - i), R, C);
        const HOST_(vec) all = HOST_(totals)(sum);
        if (R * C == HOST_VW) {
            HOST_(store)(to, HOST_(load)(to) + all);
        } else {
            host_unit_t some[HOST_VW];
            HOST_(store)(some, all);
            for (int s = 0; s < R * C; s++) to[s] += some[s];
        }
    }
}

#define HOST_DOTS(R, C)                                                                                              \
    static HOST_TARGET __attribute__((noinline)) void HOST_(dots_##R)(                                               \
        const HOST_(few_y) * y, const char *const *x, const host_unit_t *run, long n, long ahead, host_unit_t *to)   \
    {                                                                                                                \
        HOST_(dots)(y, x, run, n, ahead, to, R, C);                                                                  \
    }
HOST_DOTS(1, 8)
HOST_DOTS(2, HOST_VW / 2)
HOST_DOTS(4, HOST_VW / 4)
#if HOST_VW == 16
HOST_DOTS(8, 2)
#endif
#undef HOST_DOTS

// Sums of R rows by few_columns columns, as HOST_(dots) leaves them, to rows of columns.
static HOST_INLINE void HOST_(dots_place)(const HOST_(few_y) * y, const host_unit_t *sum, host_unit_t *to, long pitch,
                                          const int R, const int C)
{
    for (long r = 0; r < host_min(R, y->rows); r++) {
        const host_unit_t start = HOST_GROUP == 4 ? y->at[r * y->pitch] : 0;
        HOST_UNROLL
        for (int c = 0; c < HOST_(few_columns); c++) to[r * pitch + c] = sum[c / C * R * C + r * C + c % C] + start;
    }
}

// Rows that one step computes with, of the `left` that there are; a row of zeros makes their number even.
static HOST_INLINE long HOST_(few_group)(long left)
{
    return left == 1 ? 1 : left < 3 ? 2 : left < 7 || HOST_VW < 16 ? 4 : 8;
}

// Sums of `cols` columns from j on, 64 at most, at to[row * pitch + column]; those past the last are anything.
static HOST_INLINE HOST_TARGET void HOST_(few_sums)(const host_operand *x, const HOST_(few_y) * y, long j, long cols,
                                                    long k, host_unit_t *to, long pitch)
{
    enum { COLUMNS = HOST_(few_columns), RUN = HOST_RUN(HOST_(few_most)) };
    const int direct = HOST_(few_direct)(y->rows);
    const long rows = y->rows == 1 ? 1 : host_round_up(y->rows, 2);
    const long x_pitch = HOST_SPAN(HOST_X_SIDE, x->ld), columns = host_round_up(cols, COLUMNS);
    // A block along k is a length at which Y's rows and X's runs stay in the first-level cache.
    const long block = 8192 / (rows + (direct ? 0 : COLUMNS)) / 64 * 64 * HOST_GROUP;
    host_unit_t run[COLUMNS * RUN] __attribute__((aligned(64)));
    host_unit_t sum[64 * HOST_Y_COUNT * HOST_FEW] __attribute__((aligned(64)));
    __builtin_memset(sum, 0, (size_t)(rows * columns) * sizeof *sum);
    for (long k0 = 0; k0 < k; k0 += block) {
        const long n = host_min(block, k - k0);
        for (long c = 0; c < cols; c += COLUMNS) {
            const char *p[COLUMNS];
            for (int i = 0; i < COLUMNS; i++) {
                p[i] = x->p + host_min(j + c + i, x->rows - 1) * x_pitch + HOST_SPAN(HOST_X_SIDE, k0);
                if (!direct) HOST_(run)(p[i], n, run + i * RUN);
            }
            HOST_(few_y) part = {y->at + HOST_HEAD + k0 / HOST_GROUP, y->pitch, 0};
            host_unit_t *s = sum + c * rows;
            for (long left = rows, ahead = COLUMNS * x_pitch; left > 0; left -= part.rows, ahead = 0) {
                part.rows = HOST_(few_group)(left);
                switch (part.rows) {
                case 1:
                    HOST_(dots_1)(&part, p, run, n, ahead, s);
                    break;
                case 2:
                    HOST_(dots_2)(&part, p, run, n, ahead, s);
                    break;
#if HOST_VW == 16
                case 8:
                    HOST_(dots_8)(&part, p, run, n, ahead, s);
                    break;
#endif
                default:
                    HOST_(dots_4)(&part, p, run, n, ahead, s);
                }
                part.at += part.rows * part.pitch;
                s += part.rows * COLUMNS;
            }
        }
    }
    const host_unit_t *s = sum;
    for (long c = 0; c < columns; c += COLUMNS)
        for (long skip = 0, R; skip < rows; skip += R, s += R * COLUMNS) {
            const HOST_(few_y) part = {y->at + skip * y->pitch, y->pitch, y->rows - skip};
            host_unit_t *const at = to + skip * pitch + c;
            R = HOST_(few_group)(rows - skip);
            if (R == 1)
                HOST_(dots_place)(&part, s, at, pitch, 1, 8);
            else if (R == 2)
                HOST_(dots_place)(&part, s, at, pitch, 2, HOST_VW / 2);
            else if (R == 4)
                HOST_(dots_place)(&part, s, at, pitch, 4, HOST_VW / 4);
            else
                HOST_(dots_place)(&part, s, at, pitch, 8, HOST_VW / 8);
        }
}
#else
// Units along k of X at a time, and the columns of which they are converted at a time.
enum { HOST_(few_units_k) = HOST_GROUP == 4 ? 4 : 8, HOST_(few_width) = 256 };

// Adds a few units along k to sums of `cols` columns.  Those past X's last are sums of anything.
static HOST_TARGET __attribute__((noinline)) void HOST_(few_add)(const HOST_(few_y) * y, const host_unit_t *const *x,
                                                                 long cols, const char *next, long pitch,
                                                                 host_unit_t *to, long step)
{
    enum { UNITS = HOST_(few_units_k), NV = HOST_VW == 16 ? 2 : 1, WIDTH = NV * HOST_VW };
    for (long c = 0; c < cols; c += WIDTH) {
        HOST_(vec) xv[UNITS][NV];
        for (long line = HOST_SPAN(HOST_X_SIDE, c); line < HOST_SPAN(HOST_X_SIDE, c + WIDTH); line += 64)
            if (line % 64 == 0) {
                HOST_UNROLL
                for (int i = 0; i < UNITS * HOST_GROUP; i++) HOST_PREFETCH(next + i * pitch + line);
            }
        HOST_UNROLL
        for (int i = 0; i < UNITS; i++) {
            HOST_UNROLL
            for (int v = 0; v < NV; v++) xv[i][v] = HOST_(load)(x[i] + c + v * HOST_VW);
        }
        for (long r = 0; r < y->rows; r++) {
            const host_unit_t *const yr = y->at + r * y->pitch;
            host_unit_t *const sums = to + r * step + c;
            HOST_(vec) sum[NV];
            HOST_UNROLL
            for (int v = 0; v < NV; v++) sum[v] = HOST_(load)(sums + v * HOST_VW);
            HOST_UNROLL
            for (int i = 0; i < UNITS; i++) {
                const HOST_(vec) yi = HOST_(splat)(yr[i]);
                HOST_UNROLL
                for (int v = 0; v < NV; v++) sum[v] = HOST_(dot)(sum[v], xv[i][v], yi);
            }
            HOST_UNROLL
            for (int v = 0; v < NV; v++) HOST_(store)(sums + v * HOST_VW, sum[v]);
        }
    }
}

// Units of rows k0 .. of X, `cols` columns from byte p on, in a buffer of few_width columns; zeros past k.
static HOST_INLINE HOST_TARGET void HOST_(few_convert)(const char *p, long pitch, long cols, long left,
                                                       host_unit_t *run)
{
    for (int i = 0; i < HOST_(few_units_k); i++, run += HOST_RUN(HOST_(few_width)), left -= HOST_GROUP) {
        const char *const q = p + i * HOST_GROUP * pitch;
        if (left <= 0)
            __builtin_memset(run, 0, HOST_(few_width) * sizeof *run);
        else
#if HOST_KIND == HOST_KIND_F32
            HOST_(run)(q, cols, run);
#else
            HOST_(run_units)(q, pitch, cols, left, run);
#endif
    }
}

// Sums of `cols` columns from j on, at to[row * pitch + column], with room for a multiple of 64.
static HOST_INLINE HOST_TARGET void HOST_(few_sums)(const host_operand *x, const HOST_(few_y) * y, long j, long cols,
                                                    long k, host_unit_t *to, long pitch)
{
    enum { UNITS = HOST_(few_units_k), WIDTH = HOST_(few_width), RUN = HOST_RUN(WIDTH) };
    const int direct = HOST_KIND == HOST_KIND_F32 && HOST_TYPE(HOST_X_SIDE) == KILN_F32 && !HOST_X_OP;
    const long x_pitch = HOST_SPAN(HOST_X_SIDE, x->ld);
    host_unit_t run[UNITS * RUN] __attribute__((aligned(64)));
    __builtin_memset(run, 0, sizeof run); // lanes past the last column are computed with
    for (long r = 0; r < y->rows; r++)
        for (long c = 0; c < host_round_up(cols, 64); c++)
            to[r * pitch + c] = HOST_GROUP == 4 ? y->at[r * y->pitch] : 0;
    for (long k0 = 0; k0 < k; k0 += UNITS * HOST_GROUP) {
        const HOST_(few_y) part = {y->at + HOST_HEAD + k0 / HOST_GROUP, y->pitch, y->rows};
        for (long c = 0; c < cols; c += WIDTH) {
            const long n = host_min(WIDTH, cols - c);
            const char *const p = x->p + k0 * x_pitch + HOST_SPAN(HOST_X_SIDE, j + c);
            const host_unit_t *at[UNITS];
            const int in_place = direct && n == WIDTH && k0 + UNITS <= k;
            if (!in_place) HOST_(few_convert)(p, x_pitch, n, k - k0, run);
            for (int i = 0; i < UNITS; i++)
                at[i] = in_place ? (const host_unit_t *)(const void *)(p + i * x_pitch) : run + i * RUN;
            HOST_(few_add)(&part, at, host_round_up(n, 64), p + UNITS * HOST_GROUP * x_pitch, x_pitch, to + c, pitch);
        }
    }
    for (long r = 0; r < y->rows; r++) HOST_(run_order)(to + r * pitch, cols);
}
#endif

// Columns j0 .. j0 + cols - 1 of `rows` rows; y: units of the rows of each matrix of Y, y_row apart.
static HOST_TARGET void HOST_(few)(const host_out *o, const host_operand *x, const host_unit_t *y, long y_row,
                                   long rows, long j0, long cols, long k)
{
    enum { SUMS = 8192, APART = 48 }; // they stay in the first-level cache; rows not 4 KiB apart, to which loads wait
    host_unit_t sum[SUMS + HOST_PRODUCTS * HOST_FEW * APART] __attribute__((aligned(64)));
    const HOST_(few_y) all = {y, y_row, rows * HOST_Y_COUNT};
    const long step = HOST_X_KMAJOR ? 64 : host_min(4096, SUMS / (rows * HOST_PRODUCTS)) / 64 * 64,
               pitch = step + APART;
    for (long j = 0; j < cols; j += step) {
        const long n = host_min(step, cols - j);
        for (int s = 0; s < HOST_X_COUNT; s++)
            HOST_(few_sums)(x + s, &all, j0 + j, n, k, sum + s * rows * pitch, pitch);
        for (long r = 0; r < rows; r++)
            for (long c = 0; c < n; c += HOST_NR)
                HOST_(finish)(o, sum + r * pitch + c, rows * pitch, r, 1, j0 + j + c, n - c);
    }
}
#undef HOST_X_F8
#undef HOST_PREFETCH
