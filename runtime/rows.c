// SPDX-License-Identifier: MIT
// Rows of values of an op's main function, where it reduces: its nodes in double precision, and on
// intervals what a correct f32 evaluation stays within.  Independent of device code.
//   A row is evaluated node by node: one value where a node does not vary along columns, else one
//   for each of them; a
// reduction so has its whole operand before it.  The last block of columns may be cut: sums and
// means are of what it has.
//   Outputs may be inputs, element for element: a row is written when all of it is known.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "rows.h"

/* ---- rows of values ---- */

static void *take(kr_rows *w)
{
    return w->nspare ? w->spare[--w->nspare] : malloc((size_t)w->cols * w->size);
}

static void give_back(kr_rows *w, kr_lane *l)
{
    if (l->p) w->spare[w->nspare++] = l->p;
    l->p = NULL;
}

static bool leaf_varies(const kr_rows *w, const kiln_xnode *n)
{
    if (n->op == KILN_X_AT) return n->index == 1;
    if (n->op == KILN_X_ACC) return true;
    if (n->op != KILN_X_D) return false;
    return w->job->op->tensor[w->job->d[n->index]].cols != KILN_NOWHERE;
}

/* Marks node i and what it is computed from; columns' reductions are known, or of another pass. */
static void want(kr_rows *w, uint32_t i)
{
    if (w->lane[i].wanted) return;
    w->lane[i].wanted = true;
    if (kiln_x_is_col_reduction(w->node[i].op)) return;
    for (int a = 0; a < kr_x_operands[w->node[i].op]; a++) want(w, w->node[i].arg[a]);
}

static void keep(kr_rows *w, uint32_t i)
{
    want(w, i);
    w->lane[i].kept = true;
}

/* What this pass is for: outputs with an element for each row and the operands of columns'
 * reductions; or outputs with one for each column alone. */
static void choose(kr_rows *w)
{
    for (int t = 0; t < w->job->op->ntensors; t++) {
        const kiln_tensor_row *row = &w->job->op->tensor[t];
        if (row->out && (row->rows == KILN_NOWHERE) == w->columns) keep(w, row->result);
    }
    for (uint32_t i = 0; i < w->count && !w->columns; i++)
        if (kiln_x_is_col_reduction(w->node[i].op)) keep(w, w->node[i].arg[0]);
}

static bool is_sum(unsigned op)
{
    return op == KILN_X_ROW_SUM || op == KILN_X_ROW_MEAN || op == KILN_X_BLOCK_SUM ||
           op == KILN_X_BLOCK_MEAN;
}

static void plan(kr_rows *w)
{
    choose(w);
    for (uint32_t i = 0; i < w->count; i++) {
        const kiln_xnode *n = &w->node[i];
        kr_lane *l = &w->lane[i];
        l->varies =
            kiln_x_is_col_reduction(n->op) || (kr_x_operands[n->op] == 0 && leaf_varies(w, n));
        for (int a = 0; a < kr_x_operands[n->op]; a++) {
            if (l->wanted) w->lane[n->arg[a]].until = i;
            l->varies |= w->lane[n->arg[a]].varies;
        }
        l->rounded = w->compensated && n->op == KILN_X_MUL && !l->kept;
        for (int a = 0; a < kr_x_operands[n->op] && l->wanted; a++)
            w->lane[n->arg[a]].rounded &= is_sum(n->op);
        if (kiln_x_is_row_reduction(n->op)) l->varies = false;
        if (kiln_x_is_block_reduction(n->op)) l->varies = true; /* the last block may be cut */
    }
}

/* ---- leaves ---- */

static double input(const kr_rows *w, int d, int64_t column)
{
    const kr_job *job = w->job;
    return (double)(float)kr_decode(job->view.t[job->d[d]].type,
                                    kr_element(job, job->d[d], w->batch, w->row, column));
}

static void fill_leaf(const kr_rows *w, const kiln_xnode *n, int64_t count, void *out)
{
    double d[KILN_MAX_TENSORS] = {0};
    kr_leaves leaf = {.d = d, .s = w->job->scalar, .at = {(double)w->row, 0}};
    if (n->op == KILN_X_ACC) {
        memcpy(out, w->acc[n->index], (size_t)count * w->size);
        return;
    }
    for (int64_t j = 0; j < count; j++) {
        if (n->op == KILN_X_D) d[n->index] = input(w, n->index, j);
        leaf.at[1] = (double)j;
        if (w->job->bounds)
            ((kr_interval *)out)[j] = kr_leaf_interval(n, NULL, &leaf);
        else
            ((double *)out)[j] = kr_leaf(n, &leaf);
    }
}

/* ---- reductions ---- */

static bool is_extreme(unsigned op)
{
    return op == KILN_X_ROW_MAX || op == KILN_X_ROW_MIN || op == KILN_X_BLOCK_MAX ||
           op == KILN_X_BLOCK_MIN || op == KILN_X_COL_MAX || op == KILN_X_COL_MIN;
}

static bool is_largest(unsigned op)
{
    return op == KILN_X_ROW_MAX || op == KILN_X_BLOCK_MAX || op == KILN_X_COL_MAX;
}

static bool is_mean(unsigned op)
{
    return op == KILN_X_ROW_MEAN || op == KILN_X_BLOCK_MEAN || op == KILN_X_COL_MEAN;
}

static double reduce(unsigned op, const double *x, int64_t n)
{
    double r = x[0];
    if (is_extreme(op)) {
        const kiln_xnode pair = {.op = is_largest(op) ? KILN_X_MAX : KILN_X_MIN};
        for (int64_t i = 1; i < n; i++) r = kr_apply(&pair, r, x[i], 0);
        return r;
    }
    for (int64_t i = 1; i < n; i++) r += x[i];
    return is_mean(op) ? r / (double)n : r;
}

static kr_interval reduce_interval(const kr_rows *w, unsigned op, const kr_interval *x, int64_t n)
{
    const double rtol = (double)w->job->op->rtol;
    if (is_extreme(op)) return kr_interval_extreme(x, n, is_largest(op));
    return is_mean(op) ? kr_interval_mean(x, n, rtol, w->compensated)
                       : kr_interval_sum(x, n, rtol, w->compensated);
}

void kr_rows_reduce(const kr_rows *w, unsigned op, const void *x, int64_t n, void *out)
{
    if (w->job->bounds)
        *(kr_interval *)out = reduce_interval(w, op, x, n);
    else
        *(double *)out = reduce(op, x, n);
}

/* Reduces `count` values of x, which has one if it does not vary, to one. */
static void reduce_some(kr_rows *w, unsigned op, const kr_lane *x, int64_t first, int64_t count,
                        void *same, void *out)
{
    const char *from = (const char *)x->p + (size_t)first * w->size;
    if (!x->varies) { /* as many of the one value */
        for (int64_t j = 0; j < count; j++)
            memcpy((char *)same + (size_t)j * w->size, x->p, w->size);
        from = same;
    }
    kr_rows_reduce(w, op, from, count, out);
}

static void reduce_node(kr_rows *w, const kiln_xnode *n, const kr_lane *x, void *same, void *out)
{
    if (kiln_x_is_row_reduction(n->op)) {
        reduce_some(w, n->op, x, 0, w->cols, same, out);
        return;
    }
    const int64_t block = (int64_t)n->value;
    kr_interval value; /* large enough for a double */
    for (int64_t first = 0; first < w->cols; first += block) {
        const int64_t count = w->cols - first < block ? w->cols - first : block;
        reduce_some(w, n->op, x, first, count, same, &value);
        for (int64_t j = 0; j < count; j++)
            memcpy((char *)out + (size_t)(first + j) * w->size, &value, w->size);
    }
}

/* ---- nodes ---- */

static const void *at_column(const kr_rows *w, const kr_lane *l, int64_t j)
{
    return (const char *)l->p + (l->varies ? (size_t)j * w->size : 0);
}

/* What intervals alone do not see: nothing is above the largest of its own row or block, nor below
 * the smallest.  What is computed may not be rounded alike in both places: fused, or in two passes
 * over memory. */
static kr_interval beside_own_extreme(const kr_rows *w, const kiln_xnode *n, kr_interval r,
                                      const kr_interval *x, const kr_interval *y)
{
    if (n->op != KILN_X_SUB || r.nan == 2) return r;
    for (int side = 0; side < 2; side++) {
        const kiln_xnode *extreme = &w->node[n->arg[1 - side]];
        if (!is_extreme(extreme->op) || extreme->arg[0] != n->arg[side]) continue;
        const kiln_xnode *of = &w->node[n->arg[side]];
        const kr_interval own = *(side ? y : x);
        const double by = kr_x_operands[of->op] == 0 || of->op == KILN_X_CAST
                              ? 0
                              : 0x1p-23 * fmax(fabs(own.lo), fabs(own.hi)) + (double)FLT_MIN;
        if (is_largest(extreme->op) == (side == 0))
            r.hi = fmin(r.hi, by), r.lo = fmin(r.lo, by);
        else
            r.lo = fmax(r.lo, -by), r.hi = fmax(r.hi, -by);
    }
    return r;
}

/* Of exactly known factors: f32's own product. */
static kr_interval rounded_product(kr_interval r, const kr_interval *x, const kr_interval *y)
{
    const float product = (float)(x->lo * y->lo);
    const bool known = x->lo == x->hi && y->lo == y->hi && !x->nan && !y->nan;
    return known && isnormal(product) ? kr_point((double)product) : r;
}

static void apply_node(const kr_rows *w, const kiln_xnode *n, int64_t count, void *out)
{
    const bool rounded = w->lane[n - w->node].rounded;
    const kr_lane *x = &w->lane[n->arg[0]], *y = x, *z = x;
    if (kr_x_operands[n->op] > 1) y = &w->lane[n->arg[1]];
    if (kr_x_operands[n->op] > 2) z = &w->lane[n->arg[2]];
    for (int64_t j = 0; j < count; j++) {
        const void *px = at_column(w, x, j), *py = at_column(w, y, j), *pz = at_column(w, z, j);
        if (w->job->bounds) {
            kr_interval r = kr_apply_interval(n, *(const kr_interval *)px, *(const kr_interval *)py,
                                              *(const kr_interval *)pz);
            if (rounded) r = rounded_product(r, px, py);
            ((kr_interval *)out)[j] = beside_own_extreme(w, n, r, px, py);
        } else {
            ((double *)out)[j] =
                kr_apply(n, *(const double *)px, *(const double *)py, *(const double *)pz);
        }
    }
}

bool kr_rows_evaluate(kr_rows *w)
{
    for (uint32_t i = 0; i < w->count; i++) {
        const kiln_xnode *n = &w->node[i];
        kr_lane *l = &w->lane[i];
        if (!l->wanted) continue;
        if (!(l->p = take(w))) return false;
        const int64_t count = l->varies ? w->cols : 1;
        if (kr_x_operands[n->op] == 0) {
            fill_leaf(w, n, count, l->p);
        } else if (kiln_x_is_col_reduction(n->op)) {
            memcpy(l->p, w->known[i], (size_t)count * w->size);
            continue;
        } else if (kiln_x_is_row_reduction(n->op) || kiln_x_is_block_reduction(n->op)) {
            void *same = take(w);
            if (!same) return false;
            reduce_node(w, n, &w->lane[n->arg[0]], same, l->p);
            w->spare[w->nspare++] = same;
        } else {
            apply_node(w, n, count, l->p);
        }
        for (int a = 0; a < kr_x_operands[n->op]; a++) {
            kr_lane *x = &w->lane[n->arg[a]];
            if (x->until == i && !x->kept) give_back(w, x);
        }
        if (l->until == 0 && !l->kept) give_back(w, l); /* nobody reads it */
    }
    return true;
}

/* ---- outputs ---- */

static int64_t blocks_of(const kr_rows *w, const kiln_tensor_row *t)
{
    return t->cols == KILN_NOWHERE ? 1 : (w->cols + t->col_block - 1) / t->col_block;
}

/* Whether this pass is for a tensor. */
static bool is_of(const kr_rows *w, const kiln_tensor_row *t)
{
    return t->out && (t->rows == KILN_NOWHERE) == w->columns;
}

static void write_row(const kr_rows *w)
{
    const kr_job *job = w->job;
    for (int i = 0; i < job->op->ntensors; i++) {
        const kiln_tensor_row *t = &job->op->tensor[i];
        if (!is_of(w, t)) continue;
        const kr_lane *l = &w->lane[t->result];
        for (int64_t b = 0; b < blocks_of(w, t); b++) {
            const int64_t column = b * t->col_block;
            kr_encode(job->view.t[i].type, *(const double *)at_column(w, l, column),
                      kr_element(job, i, w->batch, w->row, column));
        }
    }
}

static void bound_row(const kr_rows *w, double *lo, double *hi)
{
    const kr_job *job = w->job;
    int64_t first = 0;
    for (int i = 0; i < job->op->ntensors; i++) {
        const kiln_tensor_row *t = &job->op->tensor[i];
        if (!t->out) continue;
        const kr_operand *o = &job->view.t[i];
        const int64_t batch = o->batches > 1 ? w->batch : 0,
                      at = first + (batch * o->rows + (w->columns ? 0 : w->row)) * o->cols;
        for (int64_t b = 0; b < o->cols && is_of(w, t); b++)
            kr_interval_put(
                o->type, *(const kr_interval *)at_column(w, &w->lane[t->result], b * t->col_block),
                &lo[at + b], &hi[at + b]);
        first += o->batches * o->rows * o->cols;
    }
}

const void *kr_rows_value(const kr_rows *w, uint32_t node, int64_t column)
{
    return at_column(w, &w->lane[node], column);
}

void kr_rows_put(kr_rows *w, double *lo, double *hi)
{
    if (w->job->bounds)
        bound_row(w, lo, hi);
    else
        write_row(w);
    for (uint32_t i = 0; i < w->count; i++) give_back(w, &w->lane[i]);
}

/* ---- opening and closing ---- */

bool kr_rows_open(kr_rows *w, const kr_job *job, int64_t cols, bool columns)
{
    const kiln_expr_ref main = job->op->function[0];
    *w = (kr_rows){.job = job,
                   .node = kr_nodes(job, main),
                   .count = main.count,
                   .size = job->bounds ? sizeof(kr_interval) : sizeof(double),
                   .cols = cols,
                   .columns = columns,
                   .compensated = strcmp(kr_option(job, "sums"), "compensated") == 0};
    w->lane = calloc(w->count, sizeof *w->lane);
    w->spare = malloc((w->count + 1) * sizeof *w->spare); /* a row each, and one of equal values */
    if (!w->lane || !w->spare) return false;
    plan(w);
    return true;
}

void kr_rows_close(kr_rows *w)
{
    for (uint32_t i = 0; w->lane && i < w->count; i++) free(w->lane[i].p);
    for (size_t i = 0; i < w->nspare; i++) free(w->spare[i]);
    free(w->lane);
    free(w->spare);
}
