// SPDX-License-Identifier: MIT
// Rows of values: what ref_FAMILY.c evaluate main functions with that reduce (rows.c).
#ifndef KILN_ROWS_H
#define KILN_ROWS_H
#include "internal.h"

/* A node's values in a row. */
typedef struct kr_lane {
    void *p;        /* doubles or intervals: 1, or one for each column */
    bool varies;    /* along columns */
    bool wanted;    /* in this pass */
    bool kept;      /* an output, or what a column's reduction needs */
    bool rounded;   /* a product that compensated sums alone read: never fused */
    uint32_t until; /* the last node that reads it */
} kr_lane;

typedef struct kr_rows {
    const kr_job *job;
    const kiln_xnode *node;
    uint32_t count;
    size_t size; /* bytes of a value: of a double, or with bounds of an interval */
    int64_t cols;
    bool columns; /* the pass for outputs that have an element for each column and for no row */
    bool compensated; /* the op's sums */
    kr_lane *lane;
    void **spare; /* rows of values that are free */
    size_t nspare;
    int64_t batch, row;          /* set by the caller, as are, where there are such nodes, */
    const void *acc[KILN_MAX_B]; /* a row of sums of each product, */
    const void *const *known;    /* and by node a row of what a column's reduction gave */
} kr_rows;

bool kr_rows_open(kr_rows *, const kr_job *, int64_t cols, bool columns); /* false: no memory */
void kr_rows_close(kr_rows *);
bool kr_rows_evaluate(kr_rows *); /* false: no memory */
const void *kr_rows_value(const kr_rows *, uint32_t node, int64_t column);
/* The row's outputs, to memory or as bounds; its values are void then. */
void kr_rows_put(kr_rows *, double *lo, double *hi);
/* Of n values, one after the other. */
void kr_rows_reduce(const kr_rows *, unsigned op, const void *x, int64_t n, void *out);
#endif
