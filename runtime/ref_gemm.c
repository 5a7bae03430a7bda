// SPDX-License-Identifier: MIT
// What a gemm means: the matrix products in double precision, tile by tile, and the epilogue of
// each element; and the bounds that a correct f32 evaluation stays within.  Independent of device
// code.
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
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

enum { M, N, K };        /* sizes */
enum { A, B };           /* tensors; E is behind the last B */
enum { A_OP = 1, B_OP }; /* functions; the first is the epilogue */

typedef struct sums {
    double value;      /* sum of products; integer accumulators: wrapped to 32 bits */
    double magnitude;  /* sum of |a||b| */
    double wide;       /* sum of (|a|+ra)(|b|+rb) with the radii that a_op and b_op leave */
    bool vague;        /* an element of A or B is not determined at all */
    double unit, lost; /* where sums have fewer bits than f32's: their last place; what products
                          lose, in such */
} sums;

typedef struct gemm {
    const kr_job *job;
    kiln_dtype acc, mul_a, mul_b;
    const kr_operand *e;
    bool short_sums;      /* of fewer bits than f32's (args->sums) */
    kr_interval *scratch; /* as many as the expressions have nodes, at least one */
    double *lo, *hi;      /* bounds */
} gemm;

/* Called for every element of E, in no promised order. */
typedef void visit_element(const gemm *, int64_t batch, int64_t i, int64_t j,
                           const sums s[KILN_MAX_B]);

static kiln_expr_ref function(const gemm *g, int i)
{
    return g->job->op->function[i];
}

enum { ROWS = 32, COLS = 8 }; /* of a tile */
enum { KEPT = 1 << 20 };      /* elements of A that are decoded once for all columns of B */

/* Elements of rows of A ([row][k]) or of a tile's columns of B ([k][column]). */
typedef struct panel {
    double *mid, *wide; /* wide: |mid| + radius; only with bounds */
    bool *vague;        /* of each row or column */
} panel;

typedef struct tile {
    double value[KILN_MAX_B][ROWS][COLS], magnitude[KILN_MAX_B][ROWS][COLS],
        wide[KILN_MAX_B][ROWS][COLS];
    bool vague[KILN_MAX_B][ROWS][COLS];
    double unit[KILN_MAX_B][ROWS][COLS], lost[KILN_MAX_B][ROWS][COLS];
} tile;

/* ---- elements ---- */

static double element(const gemm *g, kiln_expr_ref ref, kiln_dtype mul, const kr_operand *o,
                      const char *p, double *radius, bool *vague)
{
    *radius = 0;
    double x = kr_decode(o->type, p);
    if (ref.count == 0 && o->type == mul) return x;
    x = (double)(float)x;
    if (ref.count == 0) return kr_round_to(mul, x);
    const kiln_xnode *node = kr_nodes(g->job, ref);
    const kr_leaves leaf = {.s = g->job->scalar, .x = x};
    if (!g->job->bounds)
        return kr_round_to(mul, kr_eval(node, ref.count, &leaf, (double *)g->scratch));
    const kr_interval v =
        kr_interval_round(mul, kr_eval_interval(node, ref.count, NULL, &leaf, g->scratch));
    if (v.nan == 2) return NAN;
    if (v.lo == v.hi && !v.nan) return v.lo;
    if (v.nan || isinf(v.lo) || isinf(v.hi)) {
        *vague = true;
        return 0;
    }
    *radius = (v.hi - v.lo) / 2;
    return v.lo + *radius;
}

static void store(const gemm *g, panel *p, int64_t at, double mid, double radius)
{
    p->mid[at] = mid;
    if (g->job->bounds) p->wide[at] = fabs(mid) + radius;
}

static void pack_a(const gemm *g, int64_t batch, int64_t i0, int64_t rows, panel *p)
{
    const int64_t depth = g->job->view.shape.size[K];
    for (int64_t i = 0; i < rows; i++) {
        p->vague[i] = false;
        for (int64_t k = 0; k < depth; k++) {
            double radius;
            const char *at = kr_element(g->job, A, batch, i0 + i, k);
            const double mid = element(g, function(g, A_OP), g->mul_a, &g->job->view.t[A], at,
                                       &radius, &p->vague[i]);
            store(g, p, i * depth + k, mid, radius);
        }
    }
}

static void pack_b(const gemm *g, int product, int64_t batch, int64_t j0, int64_t cols, panel *p)
{
    const int64_t depth = g->job->view.shape.size[K];
    for (int64_t j = 0; j < COLS; j++) {
        p->vague[j] = false;
        for (int64_t k = 0; k < depth; k++) {
            double radius = 0, mid = 0;
            if (j < cols) {
                const char *at = kr_element(g->job, B + product, batch, k, j0 + j);
                mid = element(g, function(g, B_OP), g->mul_b, &g->job->view.t[B], at, &radius,
                              &p->vague[j]);
            }
            store(g, p, k * COLS + j, mid, radius);
        }
    }
}

/* ---- sums ---- */

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

typedef void dot_rows(int64_t depth, int64_t rows, const double *a, const double *b,
                      double (*value)[COLS], double (*magnitude)[COLS]);

#define DOT_ROWS(name, attribute)                                                                  \
    attribute static void name(int64_t depth, int64_t rows, const double *a, const double *b,      \
                               double(*value)[COLS], double(*magnitude)[COLS])                     \
    {                                                                                              \
        for (int64_t i = 0; i < rows; i += 2) {                                                    \
            const int64_t j = i + 1 < rows ? i + 1 : i;                                            \
            const double *const from[2] = {a + i * depth, a + j * depth};                          \
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
static double lost_of(int64_t depth, bool exact, const double *a, const double *b, double unit)
{
    const double inverse = 1 / unit;
    double sum = 0, lo = 0, hi = 0, squares = 0;
    for (int64_t k = 0; k < depth; k++) {
        const double units = fabs(a[k] * b[k * COLS]) * inverse,
                     lost = exact ? units - floor(units) : units > 0;
        sum += (a[k] < 0) == (b[k * COLS] < 0) ? lost : -lost;
        squares += lost * lost;
        lo = fmin(lo, sum), hi = fmax(hi, sum);
    }
    return hi - lo + KR_LAMBDA * sqrt(squares);
}

static void short_sums(const gemm *g, const double *a, const double *b, double *unit, double *lost)
{
    const kiln_sums *s = &g->job->args->sums;
    const int64_t depth = g->job->view.shape.size[K];
    const bool exact = !function(g, A_OP).count && !function(g, B_OP).count;
    const double range = range_of(depth, s->chain > 0 ? s->chain : depth, a, b);
    *unit = *lost = 0;
    if (!isfinite(range) || range == 0) return;
    /* What is lost may make a sum larger: by a quarter, or else it is taken for twice as large. */
    for (int i = 0; i < 2; i++) {
        int exponent;
        frexp(range * (i ? 2 : 1.25), &exponent);
        *unit = ldexp(1, exponent - s->bits);
        *lost = lost_of(depth, exact, a, b, *unit);
        if (*lost * *unit <= range / 4) break;
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

/* Rows first, first + 1, ... of a by b. */
static void multiply(const gemm *g, int product, dot_rows *dot, const panel *a, int64_t first,
                     const panel *b, int64_t rows, tile *t)
{
    const int64_t depth = g->job->view.shape.size[K];
    const bool wide_integers =
        g->job->view.t[A].type == KILN_I32 || g->job->view.t[B].type == KILN_I32;
    const double *mid = a->mid + first * depth;
    double(*value)[COLS] = t->value[product], (*magnitude)[COLS] = t->magnitude[product];
    dot(depth, rows, mid, b->mid, value, g->job->bounds ? magnitude : NULL);
    for (int64_t i = 0; i < rows && g->acc == KILN_I32; i++)
        if (wide_integers)
            dot_wrapping(depth, mid + i * depth, b->mid, value[i]);
        else
            wrap(value[i]);
    if (!g->job->bounds) return;
    if (function(g, A_OP).count || function(g, B_OP).count)
        dot(depth, rows, a->wide + first * depth, b->wide, t->wide[product], NULL);
    else
        memcpy(t->wide[product], magnitude, sizeof t->wide[product]);
    for (int64_t i = 0; i < rows; i++)
        for (int j = 0; j < COLS; j++) t->vague[product][i][j] = a->vague[first + i] || b->vague[j];
    for (int64_t i = 0; i < rows && g->short_sums; i++)
        for (int j = 0; j < COLS; j++)
            short_sums(g, mid + i * depth, b->mid + j, &t->unit[product][i][j],
                       &t->lost[product][i][j]);
}

static void visit_tile(const gemm *g, int64_t batch, int64_t i0, int64_t rows, int64_t j0,
                       int64_t cols, const tile *t, visit_element *visit)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++) {
            sums s[KILN_MAX_B];
            for (int p = 0; p < g->job->op->products; p++)
                s[p] = (sums){.value = t->value[p][i][j],
                              .magnitude = t->magnitude[p][i][j],
                              .wide = t->wide[p][i][j],
                              .vague = t->vague[p][i][j],
                              .unit = t->unit[p][i][j],
                              .lost = t->lost[p][i][j]};
            visit(g, batch, i0 + i, j0 + j, s);
        }
}

static bool alloc_panel(panel *p, int64_t lines, int64_t k, bool bounds)
{
    const size_t elements = (size_t)lines * (size_t)k + 1;
    p->mid = malloc(elements * sizeof *p->mid);
    p->wide = bounds ? malloc(elements * sizeof *p->wide) : NULL;
    p->vague = calloc((size_t)lines, sizeof *p->vague);
    return p->mid && (p->wide || !bounds) && p->vague;
}

static void free_panel(panel *p)
{
    free(p->mid);
    free(p->wide);
    free(p->vague);
}

static kiln_status products(const gemm *g, visit_element *visit)
{
    const kiln_shape *s = &g->job->view.shape;
    const int64_t m = s->size[M], n = s->size[N], k = s->size[K];
    int64_t kept = KEPT / (k + 1) / ROWS * ROWS; /* rows of A */
    if (kept < ROWS) kept = ROWS;
    if (kept > m) kept = m + !m;
    dot_rows *const dot = best_dot();
    panel a = {0}, b[KILN_MAX_B] = {0};
    tile *t = calloc(1, sizeof *t);
    kiln_status status = KILN_OK;
    bool room = t && alloc_panel(&a, kept, k, g->job->bounds);
    for (int p = 0; p < g->job->op->products && room; p++)
        room = alloc_panel(&b[p], COLS, k, g->job->bounds);
    if (!room) {
        status = kr_fail(KILN_NO_MEMORY, "no memory for a reference with k=%lld", (long long)k);
        goto out;
    }
    for (int64_t batch = 0; batch < s->size[KILN_BATCH]; batch++)
        for (int64_t top = 0; top < m; top += kept) {
            const int64_t height = m - top < kept ? m - top : kept;
            pack_a(g, batch, top, height, &a);
            for (int64_t j = 0; j < n; j += COLS) {
                const int64_t cols = n - j < COLS ? n - j : COLS;
                for (int p = 0; p < g->job->op->products; p++) pack_b(g, p, batch, j, cols, &b[p]);
                for (int64_t i = 0; i < height; i += ROWS) {
                    const int64_t rows = height - i < ROWS ? height - i : ROWS;
                    for (int p = 0; p < g->job->op->products; p++)
                        multiply(g, p, dot, &a, i, &b[p], rows, t);
                    visit_tile(g, batch, top + i, rows, j, cols, t, visit);
                }
            }
        }
out:
    free_panel(&a);
    for (int p = 0; p < KILN_MAX_B; p++) free_panel(&b[p]);
    free(t);
    return status;
}

/* ---- values ---- */

static double accumulator(const gemm *g, double sum)
{
    return g->acc == KILN_I32 ? (double)(float)sum : sum; /* converted to f32 before the epilogue */
}

static void write_element(const gemm *g, int64_t batch, int64_t i, int64_t j,
                          const sums s[KILN_MAX_B])
{
    const kr_job *job = g->job;
    double acc[KILN_MAX_B], d[KILN_MAX_TENSORS];
    for (int p = 0; p < job->op->products; p++) acc[p] = accumulator(g, s[p].value);
    kr_load_d(job, batch, i, j, d);
    const kr_leaves leaf = {.acc = acc, .d = d, .s = job->scalar};
    const kiln_expr_ref ref = function(g, 0);
    const double e = kr_eval(kr_nodes(job, ref), ref.count, &leaf, (double *)g->scratch);
    kr_encode(g->e->type, e, kr_element(job, B + job->op->products, batch, i, j));
}

/* ---- bounds ---- */

static kr_interval integer_bounds(const sums *s)
{
    const double radius = s->wide - s->magnitude;
    if (radius == 0) return kr_point((double)(float)s->value);
    const double lo = s->value - radius, hi = s->value + radius;
    if (lo < INT32_MIN || hi > INT32_MAX) return (kr_interval){INT32_MIN, -(double)INT32_MIN, 0};
    return (kr_interval){(double)(float)lo, (double)(float)hi, 0};
}

static kr_interval accumulator_bounds(const gemm *g, const sums *s)
{
    if (s->vague) return (kr_interval){-INFINITY, INFINITY, 1};
    if (isnan(s->value)) return kr_point(NAN);
    if (g->acc == KILN_I32) return integer_bounds(s);
    if (isinf(s->value)) return kr_point(s->value);
    const kiln_sums *own = &g->job->args->sums;
    const double k = (double)g->job->view.shape.size[K], rtol = (double)g->job->op->rtol;
    const double operands = own->product_bits > 0 ? ldexp(1, 2 - own->product_bits) : 0;
    const double relative = (KR_LAMBDA * sqrt(k) + 1) * 0x1p-24 + operands + rtol + k * 0x1p-53;
    const double steps = own->step > 0 ? ceil(k / own->step) : k;
    const double delta =
        relative * s->wide + (s->wide - s->magnitude) + s->unit * (s->lost + steps);
    kr_interval acc = {s->value, s->value, 0};
    if (s->wide > 0) acc = kr_interval_widen(acc, delta + k * (double)FLT_MIN);
    if (s->wide + delta <= FLT_MAX) return acc;
    /* Partial sums may overflow: towards the one side where all products have one sign, else
     * anywhere. */
    if (s->value + delta >= s->wide) return (kr_interval){fmin(acc.lo, FLT_MAX), INFINITY, 0};
    if (delta - s->value >= s->wide) return (kr_interval){-INFINITY, fmax(acc.hi, -FLT_MAX), 0};
    return (kr_interval){-INFINITY, INFINITY, 1};
}

static void bound_element(const gemm *g, int64_t batch, int64_t i, int64_t j,
                          const sums s[KILN_MAX_B])
{
    const kr_job *job = g->job;
    const int64_t *size = job->view.shape.size, at = (batch * size[M] + i) * size[N] + j;
    kr_interval acc[KILN_MAX_B];
    double d[KILN_MAX_TENSORS];
    for (int p = 0; p < job->op->products; p++) acc[p] = accumulator_bounds(g, &s[p]);
    kr_load_d(job, batch, i, j, d);
    const kr_leaves leaf = {.d = d, .s = job->scalar};
    const kiln_expr_ref ref = function(g, 0);
    const kr_interval e = kr_eval_interval(kr_nodes(job, ref), ref.count, acc, &leaf, g->scratch);
    kr_interval_put(g->e->type, e, &g->lo[at], &g->hi[at]);
}

/* ---- the interface ---- */

/* The op's tensors as this file takes them: A, each product's B, E, inputs. */
static bool is_gemm(const kr_job *job)
{
    const kiln_op_row *op = job->op;
    const int e = B + op->products;
    if (job->family->nsizes != 3 || job->family->ntypes != 4 || op->ntensors <= e ||
        op->ntensors != e + 1 + job->nd)
        return false;
    for (int i = 0; i <= e; i++) {
        static const uint8_t rows[] = {M, K, M}, cols[] = {K, N, N};
        const kiln_tensor_row *t = &op->tensor[i];
        const int own = i == A ? 0 : i < e ? 1 : 2;
        if (t->own != own || t->rows != rows[own] || t->cols != cols[own] || t->row_block != 1 ||
            t->col_block != 1 || t->out != (i == e))
            return false;
    }
    return true;
}

static kiln_status run(const kr_job *job, double *lo, double *hi)
{
    if (!is_gemm(job))
        return kr_fail(KILN_BAD_MODULE, "%s: its op '%s' is no gemm as this libkiln knows them",
                       job->module->path, kr_str(job->module, job->op->name));
    gemm g = {.job = job, .acc = (kiln_dtype)job->sig.sig[3], .lo = lo, .hi = hi};
    const kiln_dtype a = (kiln_dtype)job->sig.sig[0], b = (kiln_dtype)job->sig.sig[1];
    kiln_mul_types(a, b, &g.mul_a, &g.mul_b);
    g.e = &job->view.t[B + job->op->products];
    if (g.acc != KILN_F32 && !(g.acc == KILN_I32 && !kr_is_float(a) && !kr_is_float(b)))
        return kr_fail(KILN_NOT_SUPPORTED,
                       "the reference sums in f32, or integers in i32, but not %s and %s in %s",
                       kiln_dtype_name(a), kiln_dtype_name(b), kiln_dtype_name(g.acc));
    const int bits = job->args->sums.bits;
    g.short_sums = job->bounds && g.acc == KILN_F32 && bits > 0 && bits < FLT_MANT_DIG;
    uint32_t nodes = 1;
    for (int i = 0; i < KILN_MAX_FUNCTIONS; i++) nodes += function(&g, i).count;
    g.scratch = malloc(nodes * sizeof *g.scratch);
    if (!g.scratch) return kr_fail(KILN_NO_MEMORY, "no memory for a reference");
    const kiln_status status = products(&g, job->bounds ? bound_element : write_element);
    free(g.scratch);
    return status;
}

static kiln_status values(const kr_job *job)
{
    return run(job, NULL, NULL);
}

/* ---- problems of ops that nobody knows ---- */

static const struct text {
    char none, gemm[5], m[2], n[2], k[2], a[2], b[2], e[2], acc[4], d[3], big_a[2], big_b[2],
        big_e[2];
} text = {0, "gemm", "m", "n", "k", "a", "b", "e", "acc", "d.", "A", "B", "E"};
#define S(name) ((kiln_str)offsetof(struct text, name))

static const kiln_family family = {
    .name = S(gemm),
    .size = {S(m), S(n), S(k)},
    .own = {S(a), S(b), S(e)},
    .prefix = S(d),
    .type = {{S(a), 0, 0, 0, 0},
             {S(b), 0, 0, 0, 1},
             {S(e), 0, 0, 0, 2},
             {S(acc), KILN_I32, KILN_F32, 1 | 2, KILN_NOWHERE}},
    .nsizes = 3,
    .nown = 3,
    .ntypes = 4,
    .nlayouts = 3,
    .rows = M,
    .cols = N,
    .empty = 1 << M | 1 << N,
    .independent = 1 << M | 1 << N,
    .summed = K,
    .planes = KILN_NOWHERE,
    .groups = KILN_NOWHERE,
    .at = {0, 1, 2},
    .layout_of = {0, 1, 2},
    .extra = 3,
    .most_extra = KILN_MAX_D,
};
static const kiln_op_row op = {
    .sizes = 1 << M | 1 << N | 1 << K,
    .ntensors = 3,
    .products = 1,
    .ntypes = 4,
    .type = {S(a), S(b), S(e), S(acc)},
    .tensor = {{.name = S(big_a),
                .at = 0,
                .arg = 0,
                .own = 0,
                .type = 0x80,
                .layout = 0x80,
                .rows = M,
                .cols = K,
                .planes = KILN_NOWHERE,
                .row_block = 1,
                .col_block = 1},
               {.name = S(big_b),
                .at = 1,
                .arg = 1,
                .own = 1,
                .type = 0x81,
                .layout = 0x81,
                .rows = K,
                .cols = N,
                .planes = KILN_NOWHERE,
                .row_block = 1,
                .col_block = 1},
               {.name = S(big_e),
                .at = 2,
                .arg = 11,
                .own = 2,
                .type = 0x82,
                .layout = 0x82,
                .rows = M,
                .cols = N,
                .planes = KILN_NOWHERE,
                .row_block = 1,
                .col_block = 1,
                .out = 1}},
};
static const kiln_module table = {.nfamilies = 1, .families = &family, .strings = &text.none};
static const kr_module module = {.table = &table};
static const kr_op builtin = {&module, &op};

const kr_reference kr_ref_gemm = {"gemm", values, run, &builtin};
