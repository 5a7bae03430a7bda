// SPDX-License-Identifier: MIT
// Along what the values of an op's main function vary: by rows or not, each column by itself,
// blocks of columns alike, or the whole row alike.  Outputs are checked by it, and templates know
// by it which pass over a row computes what.
#include "gen.h"

static const uint8_t arity[] = {
#define X(name, id, operands, ...) operands,
    KILN_EXPR_OPS(X)
#undef X
};

static kg_vary of_input(const kg_tensor *t)
{
    bool columns = t->cols != KILN_NOWHERE;
    return (kg_vary){.rows = t->rows != KILN_NOWHERE, .block = columns ? t->col_block : 0};
}

static kg_vary of_leaf(const kg_op *op, const kiln_xnode *x)
{
    kg_vary v = {0};
    if (x->op == KILN_X_D) v = of_input(&op->tensor[op->first_input + x->index]);
    if (x->op == KILN_X_ACC || x->op == KILN_X_ARG) v = (kg_vary){.rows = true, .block = 1};
    if (x->op == KILN_X_AT) v = (kg_vary){.rows = x->index == 0, .block = x->index == 1};
    return v;
}

static unsigned finer(unsigned x, unsigned y)
{
    return !x ? y : !y ? x : x < y ? x : y;
}

void kg_expr_vary(const kg_op *op, kg_vary *v)
{
    const kg_expr *e = &op->function[0];
    for (size_t i = 0; i < e->count; i++) {
        const kiln_xnode *x = &e->node[i];
        kg_vary own = of_leaf(op, x);
        for (int k = 0; k < arity[x->op]; k++) {
            const kg_vary *from = &v[x->arg[k]];
            own.rows |= from->rows;
            own.block = (uint16_t)finer(own.block, from->block);
            if (from->phase > own.phase) own.phase = from->phase;
        }
        if (kiln_x_is_row_reduction(x->op)) {
            own.block = 0;
            if (own.phase < UINT8_MAX) own.phase++;
        }
        if (kiln_x_is_col_reduction(x->op)) {
            own.rows = false;
            if (own.phase < UINT8_MAX) own.phase++;
        }
        if (kiln_x_is_block_reduction(x->op)) {
            bool coarser = own.block == 0 || own.block > x->value;
            /* Of what is alike, only the sum differs from block to block: a row's last one may be
             * cut. */
            if (!coarser || x->op == KILN_X_BLOCK_SUM) own.block = (uint16_t)x->value;
        }
        v[i] = own;
    }
}
