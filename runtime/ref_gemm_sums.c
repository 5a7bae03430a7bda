// SPDX-License-Identifier: MIT
// Sums of products of a gemm in double precision, and bounds of what a correct kernel's may be.
//   value = sum a*b,  magnitude = sum |a||b|,  wide = sum (|a| + ra)(|b| + rb)
// where a and b are elements after a_op / b_op and ra, rb how far a correct f32 evaluation of those
// may be off; and where the matrix unit's sums are short, what their last place may lose.
//
// The accumulator of a product of f32 sums lies within
//   delta = lambda * sqrt(k) * u * S + u * S + (rtol + 2^-53 * k) * S + R,   S = sum |a||b|,  u =
//   2^-24,  lambda = 6
// of the exact sum: the probabilistic bound of N. J. Higham and T. Mary, "A new approach to
// probabilistic rounding error analysis", SIAM J. Sci. Comput. 41(5), 2019, for any order of
// summation; R is what a_op and b_op leave open and rtol the op's check.rtol.  Integer sums are
// exact modulo 2^32.  From there the epilogue is evaluated on intervals.
// What kiln_args.sums says adds to that.  Operands of which p bits count, cut off: each product is
// off by 2 * 2^(1 - p) of it, S * 2^(2 - p) together.  Sums in a matrix unit's own, short format:
// what products lose below its last place, and one last place each time that products are added.
//   Where the sums of blocks of K are scaled, each is bounded so by its own length, times what its
// factor may be; their sum is one of f32 again.  What short sums lose adds up over the blocks as it
// does within one: at random, but for what has one sign.
#include "ref_gemm.h"
#include <float.h>
#include <math.h>
#include <string.h>

/* Of k products. */
typedef struct sums {
    double value;     /* sum of products; integer accumulators: wrapped to 32 bits */
    double magnitude; /* sum of |a||b| */
    double wide;      /* sum of (|a|+ra)(|b|+rb) with the radii that a_op and b_op leave */
    bool vague;       /* an element of A or B, or a product, is not determined at all */
    double unit;      /* where sums have fewer bits than f32's: their last place, */
    struct losses {   /* and what products lose below it, in such: */
        double sum, lo, hi, squares; /* with their signs, and the range of their partial sums */
    } lost;
} sums;

/* value[i][j] = sum over k of a[i][k] * b[k][j] for two rows, and with `magnitude` that of the
 * absolute values.  Products are rounded, then added in the order of k, whatever the vector unit.
 */
typedef double lanes __attribute__((vector_size(32)));
typedef int64_t lane_bits __attribute__((vector_size(32)));
enum { LANES = sizeof(lanes) / sizeof(double), VECTORS = COLS / LANES };

static inline __attribute__((always_inline)) void dot_two(int64_t depth, const double *const a[2],
                                                          const double *b, double *const value[2],
                                                          double *const magnitude[2],
                                                          bool with_magnitude)
{
    lanes v[2][VECTORS] = {0}, m[2][VECTORS] = {0};
    for (int64_t k = 0; k < depth; k++)
        for (int c = 0; c < VECTORS; c++) {
            lanes x;
            memcpy(&x, b + k * COLS + c * LANES, sizeof x);
            for (int r = 0; r < 2; r++) {
                const lanes p = a[r][k] * x;
                v[r][c] += p;
                if (with_magnitude) m[r][c] += (lanes)((lane_bits)p & INT64_MAX);
            }
        }
    for (int r = 0; r < 2; r++) {
        memcpy(value[r], v[r], sizeof v[r]);
        if (with_magnitude) memcpy(magnitude[r], m[r], sizeof m[r]);
    }
}

/* Rows of a are `pitch` apart. */
typedef void dot_rows(int64_t depth, int64_t rows, const double *a, int64_t pitch, const double *b,
                      double (*value)[COLS], double (*magnitude)[COLS]);

#define DOT_ROWS(name, attribute)                                                                  \
    attribute static void name(int64_t depth, int64_t rows, const double *a, int64_t pitch,        \
                               const double *b, double(*value)[COLS], double(*magnitude)[COLS])    \
    {                                                                                              \
        for (int64_t i = 0; i < rows; i += 2) {                                                    \
            const int64_t j = i + 1 < rows ? i + 1 : i;                                            \
            const double *const from[2] = {a + i * pitch, a + j * pitch};                          \
            double *const v[2] = {value[i], value[j]};                                             \
            if (magnitude)                                                                         \
                dot_two(depth, from, b, v, (double *const[2]){magnitude[i], magnitude[j]}, true);  \
            else                                                                                   \
                dot_two(depth, from, b, v, v, false);                                              \
        }                                                                                          \
    }
DOT_ROWS(dot_anywhere, )
#if defined(__x86_64__)
DOT_ROWS(dot_avx2, __attribute__((target("avx2")))) /* without fma, which rounds once less */
#endif

/* ---- short sums ----
 * A matrix unit aligns what it adds, products and the sum so far, to the largest of them, and cuts
 * off, towards zero, what is below `bits` bits then.  Sums stay within the range of the partial
 * sums, wherever between its ends a kernel begins; so the last place is that range's at most, and
 * as places are powers of two, a product loses at most what it has below that.  What is lost has
 * the sign of the product: where signs come as they will, losses are a random walk, of at most
 * KR_LAMBDA sqrt(sum of their squares); where products of one sign follow each other they add up,
 * which the range of the losses' own partial sums shows.
 * That bits are cut off is in DeepSeek-V3's technical report (arXiv 2412.19437, 3.5.2), that it is
 * towards zero in SageAttention2 (arXiv 2411.10958, 3.3): what is added to loses its last bits. */

/* The range of the partial sums of a column, the largest of its chains'. */
static double range_of(int64_t depth, int64_t chain, const double *a, const double *b)
{
    double range = 0;
    for (int64_t first = 0; first < depth; first += chain) {
        const int64_t end = depth - first < chain ? depth : first + chain;
        double sum = 0, lo = 0, hi = 0;
        for (int64_t k = first; k < end; k++) {
            sum += a[k] * b[k * COLS];
            lo = fmin(lo, sum), hi = fmax(hi, sum);
        }
        range = fmax(range, hi - lo);
    }
    return range;
}

/* In units; where products are not known exactly, each loses all it may. */
static struct losses lost_of(int64_t depth, bool exact, const double *a, const double *b,
                             double unit)
{
    const double inverse = 1 / unit;
    struct losses l = {0};
    for (int64_t k = 0; k < depth; k++) {
        const double units = fabs(a[k] * b[k * COLS]) * inverse,
                     lost = exact ? units - floor(units) : units > 0;
        l.sum += (a[k] < 0) == (b[k * COLS] < 0) ? lost : -lost;
        l.squares += lost * lost;
        l.lo = fmin(l.lo, l.sum), l.hi = fmax(l.hi, l.sum);
    }
    return l;
}

static double most_lost(const struct losses *l)
{
    return l->hi - l->lo + KR_LAMBDA * sqrt(l->squares);
}

static void short_sums(const gemm *g, int64_t depth, const double *a, const double *b, sums *to)
{
    const kiln_sums *s = &g->job->args->sums;
    const bool exact = !g->job->op->function[A_OP].count && !g->job->op->function[B_OP].count;
    const double range = range_of(depth, s->chain > 0 ? s->chain : depth, a, b);
    if (!isfinite(range) || range == 0) return;
    /* What is lost may make a sum larger: by a quarter, or else it is taken for twice as large. */
    for (int i = 0; i < 2; i++) {
        int exponent;
        frexp(range * (i ? 2 : 1.25), &exponent);
        to->unit = ldexp(1, exponent - s->bits);
        to->lost = lost_of(depth, exact, a, b, to->unit);
        if (most_lost(&to->lost) * to->unit <= range / 4) break;
    }
}

static dot_rows *best_dot(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) return dot_avx2;
#endif
    return dot_anywhere;
}

/* 32-bit integers: double would round their products. */
static void dot_wrapping(int64_t depth, const double *a, const double *b, double out[COLS])
{
    uint32_t s[COLS] = {0};
    for (int64_t k = 0; k < depth; k++)
        for (int j = 0; j < COLS; j++)
            s[j] += (uint32_t)(int32_t)a[k] * (uint32_t)(int32_t)b[k * COLS + j];
    for (int j = 0; j < COLS; j++) out[j] = (int32_t)s[j];
}

static void wrap(double out[COLS])
{
    for (int j = 0; j < COLS; j++)
        if (fabs(out[j]) < 0x1p53) out[j] = (int32_t)(uint32_t)(int64_t)out[j];
}

/* ---- of k products ---- */

/* Sums of k products from k0 on, of all elements of a tile. */
typedef struct plain {
    double value[ROWS][COLS], magnitude[ROWS][COLS], wide[ROWS][COLS];
} plain;

static void multiply(const gemm *g, const tile_place *at, const panel *a, const panel *b,
                     int64_t k0, int64_t k, plain *t)
{
    const int64_t pitch = g->job->view.shape.size[K];
    const bool wide_integers =
        g->job->view.t[A].type == KILN_I32 || g->job->view.t[B].type == KILN_I32;
    const double *mid = a->mid + at->first * pitch + k0, *to = b->mid + k0 * COLS;
    dot_rows *const dot = best_dot();
    dot(k, at->rows, mid, pitch, to, t->value, g->job->bounds ? t->magnitude : NULL);
    for (int64_t i = 0; i < at->rows && g->acc == KILN_I32; i++)
        if (wide_integers)
            dot_wrapping(k, mid + i * pitch, to, t->value[i]);
        else
            wrap(t->value[i]);
    if (!g->job->bounds) return;
    if (g->job->op->function[A_OP].count || g->job->op->function[B_OP].count)
        dot(k, at->rows, a->wide + at->first * pitch + k0, pitch, b->wide + k0 * COLS, t->wide,
            NULL);
    else
        memcpy(t->wide, t->magnitude, sizeof t->wide);
}

/* Whether x is infinite, and y, off by at most what it is wide beyond its size, may be zero or not,
 * or of either sign: their product is an infinity or NaN. */
static bool infinite_or_nan(double x, double y, double wide)
{
    return isinf(x) && wide > 0 && wide >= 2 * fabs(y);
}

/* Whether one of k products is such, of elements that functions made. */
static bool opposed(int64_t k, const panel *a, int64_t at_a, const panel *b, int64_t at_b)
{
    for (int64_t i = 0; i < k; i++) {
        const int64_t x = at_a + i, y = at_b + i * COLS;
        if (infinite_or_nan(a->mid[x], b->mid[y], b->wide[y]) ||
            infinite_or_nan(b->mid[y], a->mid[x], a->wide[x]))
            return true;
    }
    return false;
}

static sums sums_at(const gemm *g, const tile_place *at, const panel *a, const panel *b,
                    const plain *t, int64_t k0, int64_t k, int64_t i, int64_t j)
{
    sums s = {.value = t->value[i][j],
              .magnitude = t->magnitude[i][j],
              .wide = t->wide[i][j],
              .vague = a->vague[at->first + i] || b->vague[j]};
    const int64_t pitch = g->job->view.shape.size[K];
    const int64_t at_a = (at->first + i) * pitch + k0, at_b = k0 * COLS + j;
    const bool functions = g->job->op->function[A_OP].count || g->job->op->function[B_OP].count;
    if (functions && !isfinite(s.value)) s.vague |= opposed(k, a, at_a, b, at_b);
    if (g->short_sums) short_sums(g, k, a->mid + at_a, b->mid + at_b, &s);
    return s;
}

static double accumulator(const gemm *g, double sum)
{
    return g->acc == KILN_I32 && !g->kept ? (double)(float)sum : sum; /* converted afterwards */
}

/* ---- bounds ---- */

static kr_interval integer_bounds(const gemm *g, const sums *s)
{
    const double radius = s->wide - s->magnitude;
    if (radius == 0) return kr_point(accumulator(g, s->value));
    /* Of elements between two whole numbers the sum has a fraction, which wrap() cut off. */
    const double lo = floor(s->value - radius) - 1, hi = ceil(s->value + radius) + 1;
    if (lo < INT32_MIN || hi > INT32_MAX) return (kr_interval){INT32_MIN, -(double)INT32_MIN, 0};
    return (kr_interval){accumulator(g, lo), accumulator(g, hi), 0};
}

/* How far the f32 sum of k products may be off; what short sums lose comes beside it. */
static double delta_of(const gemm *g, const sums *s, double k)
{
    const kiln_sums *own = &g->job->args->sums;
    const double rtol = (double)g->job->op->rtol;
    const double operands = own->product_bits > 0 ? ldexp(1, 2 - own->product_bits) : 0;
    const double relative = (KR_LAMBDA * sqrt(k) + 1) * 0x1p-24 + operands + rtol + k * 0x1p-53;
    const double steps = own->step > 0 ? ceil(k / own->step) : k;
    return relative * s->wide + (s->wide - s->magnitude) + s->unit * steps;
}

/* Around a value, by delta and what k results below f32's normal numbers may have lost.  wide: the
 * most that partial sums may be. */
static kr_interval around(double value, double wide, double delta, double k)
{
    kr_interval acc = {value, value, 0};
    if (wide > 0) acc = kr_interval_widen(acc, delta + k * (double)FLT_MIN);
    if (wide + delta <= FLT_MAX) return acc;
    /* Partial sums may overflow: towards the one side where all products have one sign, else
     * anywhere. */
    if (value + delta >= wide) return (kr_interval){fmin(acc.lo, FLT_MAX), INFINITY, 0};
    if (delta - value >= wide) return (kr_interval){-INFINITY, fmax(acc.hi, -FLT_MAX), 0};
    return (kr_interval){-INFINITY, INFINITY, 1};
}

static kr_interval accumulator_bounds(const gemm *g, const sums *s, int64_t k)
{
    if (s->vague) return (kr_interval){-INFINITY, INFINITY, 1};
    if (isnan(s->value)) return kr_point(NAN);
    if (g->acc == KILN_I32) return integer_bounds(g, s);
    if (isinf(s->value)) return kr_point(s->value);
    const double delta = delta_of(g, s, (double)k) + s->unit * most_lost(&s->lost);
    return around(s->value, s->wide, delta, (double)k);
}

/* ---- blocks ---- */

/* What the sums of scaled blocks may be, so far. */
typedef struct blocks {
    double value, wide, delta, count; /* of those that are finite numbers */
    struct losses lost;               /* of short sums, as values */
    kr_interval rest;                 /* sum of the others */
    bool has_rest;
} blocks;

static void add_interval(blocks *to, kr_interval x)
{
    static const kiln_xnode add = {.op = KILN_X_ADD, .arg = {0, 1, 0}}; /* of two values */
    to->rest = to->has_rest ? kr_apply_interval(&add, to->rest, x, kr_point(0)) : x;
    to->has_rest = true;
}

static void add_block(const gemm *g, const sums *s, int64_t k, kr_interval factor, blocks *to)
{
    static const kiln_xnode mul = {.op = KILN_X_MUL, .arg = {0, 1, 0}}; /* of two values */
    const bool determined = !s->vague && isfinite(s->value) && !factor.nan && isfinite(factor.lo) &&
                            isfinite(factor.hi);
    const bool exact = g->acc != KILN_I32 || s->wide == s->magnitude;
    if (!determined || !exact) {
        kr_interval x = kr_apply_interval(&mul, accumulator_bounds(g, s, k), factor, kr_point(0));
        /* Parts of a block may be scaled each by itself: infinities of both signs. */
        if (isinf(x.lo) && isinf(factor.lo) && !x.nan) x.nan = 1;
        add_interval(to, x);
        return;
    }
    const double most = fmax(fabs(factor.lo), fabs(factor.hi)), value = accumulator(g, s->value);
    const double half = (factor.hi - factor.lo) / 2, middle = factor.lo + half;
    /* Of whole numbers, too: parts of a block may be scaled each by itself. */
    const double wide = s->wide,
                 delta = g->acc == KILN_I32 ? 0x1p-24 * wide : delta_of(g, s, (double)k);
    to->value += value * middle;
    to->wide += (wide + delta) * most;
    to->delta += delta * most + (fabs(value) + delta) * half + 0x1p-24 * (wide + delta) * most +
                 (double)FLT_MIN * ((double)k * most + 1);
    to->count++;
    const double scale = s->unit * middle;
    to->lost.lo = fmin(to->lost.lo, to->lost.sum + fmin(scale * s->lost.lo, scale * s->lost.hi));
    to->lost.hi = fmax(to->lost.hi, to->lost.sum + fmax(scale * s->lost.lo, scale * s->lost.hi));
    to->lost.sum += scale * s->lost.sum;
    to->lost.squares += scale * scale * s->lost.squares;
}

static kr_interval whole_bounds(const blocks *b)
{
    const double relative = (KR_LAMBDA * sqrt(b->count) + 1) * 0x1p-24 + b->count * 0x1p-53;
    const double delta = b->delta + relative * b->wide + most_lost(&b->lost);
    const kr_interval sum = around(b->value, b->wide, delta, b->count);
    blocks all = *b;
    if (!b->has_rest) return sum;
    add_interval(&all, sum);
    return all.rest;
}

/* What the sum over the block at k0 is multiplied by, for the element (i, j). */
static double factor_at(const gemm *g, int product, int64_t batch, int64_t i, int64_t j, int64_t k0,
                        kr_interval *bounds)
{
    const kr_job *job = g->job;
    const kiln_expr_ref ref = kr_gemm_function(g, BLOCK, product);
    const kiln_xnode *node = kr_nodes(job, ref);
    const int64_t at[KILN_MAX_SIZES] = {
        [M] = i, [N] = j, [K] = k0, [TOKENS] = kr_gemm_row_of_a(g, i)};
    double d[KILN_MAX_TENSORS] = {0};
    kr_load_d(job, kr_inputs_of(job, ref), batch, at, d);
    const kr_leaves leaf = {.d = d, .s = job->scalar};
    if (!job->bounds) return kr_eval(node, ref.count, &leaf, (double *)g->scratch);
    *bounds = kr_eval_interval(node, ref.count, NULL, &leaf, g->scratch);
    return 0;
}

static void multiply_blocks(const gemm *g, int product, const tile_place *at, const panel *a,
                            const panel *b, tile *t)
{
    const int64_t depth = g->job->view.shape.size[K];
    plain part;
    blocks all[ROWS][COLS];
    memset(all, 0, sizeof all);
    memset(t->value[product], 0, sizeof t->value[product]);
    for (int64_t k0 = 0; k0 < depth; k0 += g->block) {
        const int64_t k = depth - k0 < g->block ? depth - k0 : g->block;
        multiply(g, at, a, b, k0, k, &part);
        for (int64_t i = 0; i < at->rows; i++)
            for (int64_t j = 0; j < at->cols; j++) {
                kr_interval factor;
                const double f =
                    factor_at(g, product, at->batch, at->i + i, at->j + j, k0, &factor);
                if (!g->job->bounds) {
                    t->value[product][i][j] += accumulator(g, part.value[i][j]) * f;
                    continue;
                }
                const sums s = sums_at(g, at, a, b, &part, k0, k, i, j);
                add_block(g, &s, k, factor, &all[i][j]);
            }
    }
    for (int64_t i = 0; i < at->rows && g->job->bounds; i++)
        for (int64_t j = 0; j < at->cols; j++) t->bounds[product][i][j] = whole_bounds(&all[i][j]);
}

void kr_gemm_multiply(const gemm *g, int product, const tile_place *at, const panel *a,
                      const panel *b, tile *t)
{
    const int64_t k = g->job->view.shape.size[K];
    plain whole;
    if (g->block) {
        multiply_blocks(g, product, at, a, b, t);
        return;
    }
    multiply(g, at, a, b, 0, k, &whole);
    for (int64_t i = 0; i < at->rows; i++)
        for (int64_t j = 0; j < at->cols; j++) {
            t->value[product][i][j] = accumulator(g, whole.value[i][j]);
            if (!g->job->bounds) continue;
            const sums s = sums_at(g, at, a, b, &whole, 0, k, i, j);
            t->bounds[product][i][j] = accumulator_bounds(g, &s, k);
        }
}
