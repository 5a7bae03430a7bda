// SPDX-License-Identifier: MIT
// Gemms with outputs beside E: sums are kept for whole rows, which are evaluated one by one
// (rows.c); what reduces columns keeps its operand for all rows of a batch, and outputs made of
// that come last.
#include <stdlib.h>
#include <string.h>
#include "ref_gemm.h"
#include "rows.h"

struct kr_gemm_outputs {
    kr_rows rows, cols;
    int64_t m, n;
    char *acc[KILN_MAX_B]; /* [row kept][column] */
    char **operand;        /* by node: of a column's reduction, [column][row]; else NULL */
    char **result;         /* [column] */
};

void kr_gemm_outputs_close(kr_gemm_outputs *o)
{
    if (!o) return;
    for (int p = 0; p < KILN_MAX_B; p++) free(o->acc[p]);
    for (uint32_t i = 0; i < o->rows.count; i++) {
        if (o->operand) free(o->operand[i]);
        if (o->result) free(o->result[i]);
    }
    free(o->operand);
    free(o->result);
    kr_rows_close(&o->rows);
    kr_rows_close(&o->cols);
    free(o);
}

static bool open_columns(kr_gemm_outputs *o)
{
    const uint32_t count = o->rows.count;
    const size_t size = o->rows.size, n = (size_t)o->n;
    o->operand = calloc(count + 1, sizeof *o->operand);
    o->result = calloc(count + 1, sizeof *o->result);
    if (!o->operand || !o->result) return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!kiln_x_is_col_reduction(o->rows.node[i].op)) continue;
        o->operand[i] = malloc(n * (size_t)o->m * size + 1);
        o->result[i] = malloc(n * size + 1);
        if (!o->operand[i] || !o->result[i]) return false;
    }
    o->cols.known = (const void *const *)o->result;
    return true;
}

kr_gemm_outputs *kr_gemm_outputs_open(const gemm *g, int64_t kept)
{
    const kr_job *job = g->job;
    kr_gemm_outputs *o = calloc(1, sizeof *o);
    if (!o) return NULL;
    o->m = job->view.shape.size[M];
    o->n = job->view.shape.size[N];
    bool room = kr_rows_open(&o->rows, job, o->n, false) &&
                kr_rows_open(&o->cols, job, o->n, true) && open_columns(o);
    for (int p = 0; p < job->op->products && room; p++)
        room = (o->acc[p] = malloc((size_t)(kept * o->n) * o->rows.size + 1)) != NULL;
    if (room) return o;
    kr_gemm_outputs_close(o);
    return NULL;
}

void kr_gemm_outputs_keep(const gemm *g, kr_gemm_outputs *o, const tile_place *at, int64_t top,
                          const tile *t)
{
    const size_t size = o->rows.size;
    for (int p = 0; p < g->job->op->products; p++)
        for (int64_t i = 0; i < at->rows; i++)
            memcpy(o->acc[p] + (size_t)((at->i - top + i) * o->n + at->j) * size,
                   g->job->bounds ? (const void *)t->bounds[p][i] : (const void *)t->value[p][i],
                   (size_t)at->cols * size);
}

bool kr_gemm_outputs_rows(const gemm *g, kr_gemm_outputs *o, int64_t batch, int64_t top,
                          int64_t rows)
{
    const size_t size = o->rows.size;
    o->rows.batch = batch;
    for (int64_t i = 0; i < rows; i++) {
        o->rows.row = top + i;
        for (int p = 0; p < g->job->op->products; p++)
            o->rows.acc[p] = o->acc[p] + (size_t)(i * o->n) * size;
        if (!kr_rows_evaluate(&o->rows)) return false;
        for (uint32_t x = 0; x < o->rows.count; x++)
            for (int64_t j = 0; o->operand[x] && j < o->n; j++)
                memcpy(o->operand[x] + (size_t)(j * o->m + top + i) * size,
                       kr_rows_value(&o->rows, o->rows.node[x].arg[0], j), size);
        kr_rows_put(&o->rows, g->lo, g->hi);
    }
    return true;
}

bool kr_gemm_outputs_end(const gemm *g, kr_gemm_outputs *o, int64_t batch)
{
    const size_t size = o->rows.size;
    for (uint32_t x = 0; x < o->rows.count; x++)
        for (int64_t j = 0; o->operand[x] && j < o->n; j++)
            kr_rows_reduce(&o->cols, o->cols.node[x].op, o->operand[x] + (size_t)(j * o->m) * size,
                           o->m, o->result[x] + (size_t)j * size);
    o->cols.batch = batch;
    if (!kr_rows_evaluate(&o->cols)) return false;
    kr_rows_put(&o->cols, g->lo, g->hi);
    return true;
}
