// SPDX-License-Identifier: MIT
// Between ref_gemm.c (elements, epilogues, the interface) and ref_gemm_sums.c (sums of products and
// what a correct kernel's may be off).
#ifndef KILN_REF_GEMM_H
#define KILN_REF_GEMM_H
#include "internal.h"

enum { M, N, K, TOKENS = KILN_BATCH + 1 }; /* sizes; the last: rows of A where they are gathered */
enum { A, B };                  /* tensors; E is behind the last B */
enum { A_OP = 1, B_OP, BLOCK }; /* functions; the first is the epilogue */

typedef struct gemm {
    const kr_job *job;
    kiln_dtype acc, mul_a, mul_b;
    const kr_operand *e;
    int64_t block;        /* length along K of the blocks whose sums are scaled; 0: none */
    bool short_sums;      /* of fewer bits than f32's (args->sums) */
    bool kept;            /* E is an integer sum as it is: all its bits, no f32 between */
    kr_interval *scratch; /* as many as the expressions have nodes, at least one */
    int first, end, row;  /* tensors: where each batch's rows begin and end, of an op with groups; the row of A that
                             each row of E has; else -1 */
    double *lo, *hi;      /* bounds */
} gemm;

/* Of one product. */
static inline kiln_expr_ref kr_gemm_function(const gemm *g, int i, int product)
{
    const kiln_op_row *op = g->job->op;
    return product && i >= B_OP ? op->more[product - 1][i] : op->function[i];
}

/* The row of A that row i of E has; -1: none, its elements and what belongs to them are 0. */
int64_t kr_gemm_row_of_a(const gemm *, int64_t i);

enum { ROWS = 32, COLS = 8 }; /* of a tile */

/* Elements of rows of A ([row][k]) or of a tile's columns of B ([k][column]). */
typedef struct panel {
    double *mid, *wide; /* wide: |mid| + radius; only with bounds */
    bool *vague;        /* of each row or column: an element is not determined at all */
} panel;

/* Sums of products, or of scaled blocks of them, as f32: of an i32 sum its nearest, or
 * where E keeps it the sum. */
typedef struct tile {
    double value[KILN_MAX_B][ROWS][COLS];
    kr_interval bounds[KILN_MAX_B][ROWS][COLS]; /* only with bounds */
} tile;

/* Where a tile begins: in a batch, a row and column of E, a row of A's panel. */
typedef struct tile_place {
    int64_t batch, i, j, rows, cols, first;
} tile_place;

/* Rows of a from place->first on by b. */
void kr_gemm_multiply(const gemm *, int product, const tile_place *, const panel *a, const panel *b,
                      tile *);

/* ref_gemm_outputs.c: of an op with outputs beside E rows of sums, `kept` of them at a time, and
 * what they make; NULL, false: no memory. */
typedef struct kr_gemm_outputs kr_gemm_outputs;
kr_gemm_outputs *kr_gemm_outputs_open(const gemm *, int64_t kept);
void kr_gemm_outputs_close(kr_gemm_outputs *);
void kr_gemm_outputs_keep(const gemm *, kr_gemm_outputs *, const tile_place *, int64_t top,
                          const tile *);
/* Rows from `top` on, all of whose sums are kept; then what is made of all rows of a batch. */
bool kr_gemm_outputs_rows(const gemm *, kr_gemm_outputs *, int64_t batch, int64_t top,
                          int64_t rows);
bool kr_gemm_outputs_end(const gemm *, kr_gemm_outputs *, int64_t batch);
#endif
