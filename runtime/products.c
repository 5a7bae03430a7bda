// SPDX-License-Identifier: MIT
// The matrix products of a problem in double precision, tile by tile, for the reference and its
// bounds.
//   value = sum a*b,  magnitude = sum |a||b|,  wide = sum (|a| + ra)(|b| + rb)
// where a and b are elements after a_op / b_op and ra, rb how far a correct f32 evaluation of those
// may be off.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

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
} tile;

int64_t kr_place(const kr_operand *o, int64_t batch, int64_t i, int64_t j)
{
    const int64_t at = o->layout == KILN_ROW ? i * o->ld + j : i + j * o->ld;
    return (batch * o->stride + at) * o->size;
}

void kr_load_d(const kr_job *job, int64_t batch, int64_t i, int64_t j, double *d)
{
    for (int n = 0; n < job->op->nd; n++) {
        const kr_operand *o = &job->view.d[n];
        const kiln_dkind kind = (kiln_dkind)job->op->d[n].kind;
        const bool by_row = kind == KILN_D_FULL || kind == KILN_D_PER_ROW;
        const bool by_col = kind == KILN_D_FULL || kind == KILN_D_PER_COL;
        const int64_t at = kr_place(o, batch, by_row ? i : 0, by_col ? j : 0);
        d[n] = (double)(float)kr_decode(o->type, (const char *)job->args->d[n] + at);
    }
}

/* ---- elements ---- */

static double element(const kr_job *job, kiln_expr_ref ref, kiln_dtype mul, const kr_operand *o,
                      const char *p, double *radius, bool *vague)
{
    *radius = 0;
    double x = kr_decode(o->type, p);
    if (ref.count == 0 && o->type == mul) return x;
    x = (double)(float)x;
    if (ref.count == 0) return kr_round_to(mul, x);
    const kiln_xnode *node = job->module->table->nodes + ref.first;
    const kr_leaves leaf = {.s = job->scalar, .x = x};
    if (!job->bounds)
        return kr_round_to(mul, kr_eval(node, ref.count, NULL, &leaf, (double *)job->scratch));
    const kr_interval v =
        kr_interval_round(mul, kr_eval_interval(node, ref.count, NULL, &leaf, job->scratch));
    if (v.nan == 2) return NAN;
    if (v.lo == v.hi && !v.nan) return v.lo;
    if (v.nan || isinf(v.lo) || isinf(v.hi)) {
        *vague = true;
        return 0;
    }
    *radius = (v.hi - v.lo) / 2;
    return v.lo + *radius;
}

static void store(const kr_job *job, panel *p, int64_t at, double mid, double radius)
{
    p->mid[at] = mid;
    if (job->bounds) p->wide[at] = fabs(mid) + radius;
}

static void pack_a(const kr_job *job, int64_t batch, int64_t i0, int64_t rows, panel *p)
{
    const int64_t K = job->view.shape.k;
    for (int64_t i = 0; i < rows; i++) {
        p->vague[i] = false;
        for (int64_t k = 0; k < K; k++) {
            double radius;
            const char *at = (const char *)job->args->a + kr_place(&job->view.a, batch, i0 + i, k);
            const double mid =
                element(job, job->op->a_op, job->mul_a, &job->view.a, at, &radius, &p->vague[i]);
            store(job, p, i * K + k, mid, radius);
        }
    }
}

static void pack_b(const kr_job *job, int product, int64_t batch, int64_t j0, int64_t cols,
                   panel *p)
{
    const int64_t K = job->view.shape.k;
    for (int64_t j = 0; j < COLS; j++) {
        p->vague[j] = false;
        for (int64_t k = 0; k < K; k++) {
            double radius = 0, mid = 0;
            if (j < cols) {
                const char *at =
                    (const char *)job->args->b[product] + kr_place(&job->view.b, batch, k, j0 + j);
                mid = element(job, job->op->b_op, job->mul_b, &job->view.b, at, &radius,
                              &p->vague[j]);
            }
            store(job, p, k * COLS + j, mid, radius);
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

static inline __attribute__((always_inline)) void dot_two(int64_t K, const double *const a[2],
                                                          const double *b, double *const value[2],
                                                          double *const magnitude[2],
                                                          bool with_magnitude)
{
    lanes v[2][VECTORS] = {0}, m[2][VECTORS] = {0};
    for (int64_t k = 0; k < K; k++)
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

typedef void dot_rows(int64_t K, int64_t rows, const double *a, const double *b,
                      double (*value)[COLS], double (*magnitude)[COLS]);

#define DOT_ROWS(name, attribute)                                                                  \
    attribute static void name(int64_t K, int64_t rows, const double *a, const double *b,          \
                               double(*value)[COLS], double(*magnitude)[COLS])                     \
    {                                                                                              \
        for (int64_t i = 0; i < rows; i += 2) {                                                    \
            const int64_t j = i + 1 < rows ? i + 1 : i;                                            \
            const double *const from[2] = {a + i * K, a + j * K};                                  \
            double *const v[2] = {value[i], value[j]};                                             \
            if (magnitude)                                                                         \
                dot_two(K, from, b, v, (double *const[2]){magnitude[i], magnitude[j]}, true);      \
            else                                                                                   \
                dot_two(K, from, b, v, v, false);                                                  \
        }                                                                                          \
    }
DOT_ROWS(dot_anywhere, )
#if defined(__x86_64__)
DOT_ROWS(dot_avx2, __attribute__((target("avx2")))) /* without fma, which rounds once less */
#endif

static dot_rows *best_dot(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) return dot_avx2;
#endif
    return dot_anywhere;
}

/* 32-bit integers: double would round their products. */
static void dot_wrapping(int64_t K, const double *a, const double *b, double out[COLS])
{
    uint32_t s[COLS] = {0};
    for (int64_t k = 0; k < K; k++)
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
static void multiply(const kr_job *job, int product, dot_rows *dot, const panel *a, int64_t first,
                     const panel *b, int64_t rows, tile *t)
{
    const int64_t K = job->view.shape.k;
    const bool wide_integers = job->view.a.type == KILN_I32 || job->view.b.type == KILN_I32;
    const double *mid = a->mid + first * K;
    double(*value)[COLS] = t->value[product], (*magnitude)[COLS] = t->magnitude[product];
    dot(K, rows, mid, b->mid, value, job->bounds ? magnitude : NULL);
    for (int64_t i = 0; i < rows && job->acc == KILN_I32; i++)
        if (wide_integers)
            dot_wrapping(K, mid + i * K, b->mid, value[i]);
        else
            wrap(value[i]);
    if (!job->bounds) return;
    if (job->op->a_op.count || job->op->b_op.count)
        dot(K, rows, a->wide + first * K, b->wide, t->wide[product], NULL);
    else
        memcpy(t->wide[product], magnitude, sizeof t->wide[product]);
    for (int64_t i = 0; i < rows; i++)
        for (int j = 0; j < COLS; j++) t->vague[product][i][j] = a->vague[first + i] || b->vague[j];
}

static void visit_tile(const kr_job *job, int64_t batch, int64_t i0, int64_t rows, int64_t j0,
                       int64_t cols, const tile *t, kr_visit visit, void *arg)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++) {
            kr_sums s[KILN_MAX_B];
            for (int p = 0; p < job->op->products; p++)
                s[p] = (kr_sums){t->value[p][i][j], t->magnitude[p][i][j], t->wide[p][i][j],
                                 t->vague[p][i][j]};
            visit(job, batch, i0 + i, j0 + j, s, arg);
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

kiln_status kr_products(const kr_job *job, kr_visit visit, void *arg)
{
    const kiln_shape *s = &job->view.shape;
    int64_t kept = KEPT / (s->k + 1) / ROWS * ROWS; /* rows of A */
    if (kept < ROWS) kept = ROWS;
    if (kept > s->m) kept = s->m + !s->m;
    dot_rows *const dot = best_dot();
    panel a = {0}, b[KILN_MAX_B] = {0};
    tile *t = calloc(1, sizeof *t);
    kiln_status status = KILN_OK;
    bool room = t && alloc_panel(&a, kept, s->k, job->bounds);
    for (int p = 0; p < job->op->products && room; p++)
        room = alloc_panel(&b[p], COLS, s->k, job->bounds);
    if (!room) {
        status = kr_fail(KILN_NO_MEMORY, "no memory for a reference with k=%lld", (long long)s->k);
        goto out;
    }
    for (int64_t batch = 0; batch < s->batch; batch++)
        for (int64_t top = 0; top < s->m; top += kept) {
            const int64_t height = s->m - top < kept ? s->m - top : kept;
            pack_a(job, batch, top, height, &a);
            for (int64_t j = 0; j < s->n; j += COLS) {
                const int64_t cols = s->n - j < COLS ? s->n - j : COLS;
                for (int p = 0; p < job->op->products; p++) pack_b(job, p, batch, j, cols, &b[p]);
                for (int64_t i = 0; i < height; i += ROWS) {
                    const int64_t rows = height - i < ROWS ? height - i : ROWS;
                    for (int p = 0; p < job->op->products; p++)
                        multiply(job, p, dot, &a, i, &b[p], rows, t);
                    visit_tile(job, batch, top + i, rows, j, cols, t, visit, arg);
                }
            }
        }
out:
    free_panel(&a);
    for (int p = 0; p < KILN_MAX_B; p++) free_panel(&b[p]);
    free(t);
    return status;
}

/* ---- a job ---- */

static kiln_status check_job(kr_job *job, const kiln_problem *p, const uint8_t sig[7])
{
    kiln_status status = kr_view_make(p, sig, job->module, job->op, 1, &job->view);
    if (status == KILN_OK)
        status = kr_args_check(&job->view, job->module, job->op, job->args, !job->bounds);
    if (status) return status;
    job->acc = (kiln_dtype)sig[3];
    kiln_mul_types(p->a.dtype, p->b.dtype, &job->mul_a, &job->mul_b);
    if (job->acc != KILN_F32 &&
        !(job->acc == KILN_I32 && !kr_is_float(p->a.dtype) && !kr_is_float(p->b.dtype)))
        return kr_fail(KILN_NOT_SUPPORTED,
                       "the reference sums in f32, or integers in i32, but not %s and %s in %s",
                       kiln_dtype_name(p->a.dtype), kiln_dtype_name(p->b.dtype),
                       kiln_dtype_name(job->acc));
    for (int i = 0; i < job->op->nscalars; i++) job->scalar[i] = (double)job->args->scalars[i];
    const uint32_t nodes = job->op->epilogue.count + job->op->a_op.count + job->op->b_op.count + 1;
    job->scratch = malloc(nodes * sizeof *job->scratch);
    return job->scratch ? KILN_OK : kr_fail(KILN_NO_MEMORY, "no memory for a reference");
}

kiln_status kr_job_open(kr_job *job, const kiln_problem *p, const kiln_args *args, bool bounds)
{
    uint8_t sig[7];
    uint64_t key;
    *job = (kr_job){.args = args, .bounds = bounds};
    kiln_status status = kr_key(p, sig, &key);
    if (status) return status;
    kr_module *m;
    job->op = kr_op_acquire(p->op, &m);
    if (!job->op)
        return kr_fail(
            KILN_NOT_FOUND,
            "no open module describes an op '%s': the reference needs an open context that does",
            p->op);
    job->module = m;
    status = check_job(job, p, sig);
    if (status) kr_job_close(job);
    return status;
}

void kr_job_close(kr_job *job)
{
    free(job->scratch);
    kr_module_close((kr_module *)(uintptr_t)job->module);
}
