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

/* Elements of a tile's rows of A ([row][k]) or columns of B ([k][column]). */
typedef struct panel {
    double *mid, *wide; /* wide: |mid| + radius; only with bounds */
    bool vague[ROWS];
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

static void dot_plain(int64_t K, const double *a, const double *b, double out[COLS])
{
    double s[COLS] = {0};
    for (int64_t k = 0; k < K; k++)
        for (int j = 0; j < COLS; j++) s[j] += a[k] * b[k * COLS + j];
    memcpy(out, s, sizeof s);
}

static void dot_magnitude(int64_t K, const double *a, const double *b, double out[COLS])
{
    double s[COLS] = {0};
    for (int64_t k = 0; k < K; k++)
        for (int j = 0; j < COLS; j++) s[j] += fabs(a[k] * b[k * COLS + j]);
    memcpy(out, s, sizeof s);
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

static void multiply(const kr_job *job, int product, const panel *a, const panel *b, int64_t rows,
                     tile *t)
{
    const int64_t K = job->view.shape.k;
    const bool wide_integers = job->view.a.type == KILN_I32 || job->view.b.type == KILN_I32;
    for (int64_t i = 0; i < rows; i++) {
        const double *mid = a->mid + i * K;
        if (job->acc == KILN_I32 && wide_integers) {
            dot_wrapping(K, mid, b->mid, t->value[product][i]);
        } else {
            dot_plain(K, mid, b->mid, t->value[product][i]);
            if (job->acc == KILN_I32) wrap(t->value[product][i]);
        }
        if (!job->bounds) continue;
        dot_magnitude(K, mid, b->mid, t->magnitude[product][i]);
        if (job->op->a_op.count || job->op->b_op.count)
            dot_plain(K, a->wide + i * K, b->wide, t->wide[product][i]);
        else
            memcpy(t->wide[product][i], t->magnitude[product][i], sizeof t->wide[product][i]);
        for (int j = 0; j < COLS; j++) t->vague[product][i][j] = a->vague[i] || b->vague[j];
    }
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

static bool alloc_panel(panel *p, int64_t elements, bool bounds)
{
    p->mid = malloc(((size_t)elements + 1) * sizeof *p->mid);
    p->wide = bounds ? malloc(((size_t)elements + 1) * sizeof *p->wide) : NULL;
    return p->mid && (p->wide || !bounds);
}

kiln_status kr_products(const kr_job *job, kr_visit visit, void *arg)
{
    const kiln_shape *s = &job->view.shape;
    panel a = {0}, b = {0};
    tile *t = calloc(1, sizeof *t);
    kiln_status status = KILN_OK;
    if (!t || !alloc_panel(&a, ROWS * s->k, job->bounds) ||
        !alloc_panel(&b, COLS * s->k, job->bounds)) {
        status = kr_fail(KILN_NO_MEMORY, "no memory for a reference with k=%lld", (long long)s->k);
        goto out;
    }
    for (int64_t batch = 0; batch < s->batch; batch++)
        for (int64_t i = 0; i < s->m; i += ROWS) {
            const int64_t rows = s->m - i < ROWS ? s->m - i : ROWS;
            pack_a(job, batch, i, rows, &a);
            for (int64_t j = 0; j < s->n; j += COLS) {
                const int64_t cols = s->n - j < COLS ? s->n - j : COLS;
                for (int p = 0; p < job->op->products; p++) {
                    pack_b(job, p, batch, j, cols, &b);
                    multiply(job, p, &a, &b, rows, t);
                }
                visit_tile(job, batch, i, rows, j, cols, t, visit, arg);
            }
        }
out:
    free(a.mid);
    free(a.wide);
    free(b.mid);
    free(b.wide);
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
    kr_mul_types(p->a.dtype, p->b.dtype, &job->mul_a, &job->mul_b);
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
