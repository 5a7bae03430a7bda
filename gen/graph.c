// SPDX-License-Identifier: MIT
// A traced expression as templates see it: a list of nodes, each a table with its operation, its
// operands' positions, its own text, and what follows from the graph: along what its value varies, in
// which pass over a row it is known (docs/schedules.md, "op.graph").
#include "back.h"

static const char *const op_name[] = {
#define X(name, ...) #name,
    KILN_EXPR_OPS(X)
#undef X
};
static const uint8_t op_arity[] = {
#define X(name, id, arity, ...) arity,
    KILN_EXPR_OPS(X)
#undef X
};

/* Along what a value varies.  block: columns over which it is the same; 0: all of them. */
typedef struct fact {
    bool row, col;
    unsigned block, phase;
} fact;

static fact of_kind(const kg_tensor *t)
{
    fact f = {0};
    f.row = t->kind == KILN_D_FULL || t->kind == KILN_D_PER_ROW || t->kind == KILN_D_PER_BLOCK;
    f.col = t->kind == KILN_D_FULL || t->kind == KILN_D_PER_COL || t->kind == KILN_D_PER_BLOCK;
    f.block = t->kind == KILN_D_PER_BLOCK ? t->col_block : f.col;
    return f;
}

static fact of_leaf(const kg_op *op, const kiln_xnode *x)
{
    switch (x->op) {
    case KILN_X_D:
        return of_kind(&op->tensor[op->first_input + x->index]);
    case KILN_X_AT:
        return (fact){.row = x->index == 0, .col = x->index == 1, .block = x->index == 1};
    case KILN_X_ACC:
    case KILN_X_ARG:
        return (fact){.row = true, .col = true, .block = 1};
    default:
        return (fact){0};
    }
}

/* The last block of a row may be cut, so that even a constant's sum over it is another. */
static fact of_reduction(const kiln_xnode *x, fact f)
{
    const unsigned block = (unsigned)x->value;
    if (kiln_x_is_row_reduction(x->op)) {
        f.col = false;
        f.block = 0;
        f.phase++;
    } else if (x->op == KILN_X_BLOCK_SUM) {
        f.col = true;
        f.block = block;
    } else if (kiln_x_is_block_reduction(x->op) && f.block && f.block < block) {
        f.block = block;
    }
    return f;
}

static fact of_node(const kg_op *op, const kiln_xnode *x, const fact *known)
{
    fact f = of_leaf(op, x);
    for (int i = 0; i < op_arity[x->op]; i++) {
        const fact y = known[x->arg[i]];
        f.row |= y.row;
        f.col |= y.col;
        if (!f.block || (y.block && y.block < f.block)) f.block = y.block;
        if (y.phase > f.phase) f.phase = y.phase;
    }
    return of_reduction(x, f);
}

static void set_text(lua_State *T, const char *name, const char *text)
{
    lua_pushstring(T, text);
    lua_setfield(T, -2, name);
}

static void set_integer(lua_State *T, const char *name, lua_Integer v)
{
    lua_pushinteger(T, v);
    lua_setfield(T, -2, name);
}

/* Top: the node's table. */
static void set_own(kg_ctx *cx, const kg_op *op, const kiln_xnode *x)
{
    lua_State *T = cx->T;
    kg_buf text = {0};
    set_text(T, "op", op_name[x->op]);
    lua_createtable(T, op_arity[x->op], 0);
    for (int i = 0; i < op_arity[x->op]; i++) {
        lua_pushinteger(T, x->arg[i] + 1);
        lua_rawseti(T, -2, i + 1);
    }
    lua_setfield(T, -2, "args");
    set_integer(T, "index", x->index);
    lua_pushnumber(T, (lua_Number)x->value);
    lua_setfield(T, -2, "value");
    kg_expr_spell(x, &text);
    if (text.len) set_text(T, "text", text.p);
    kg_buf_free(&text);
    lua_pushboolean(T, kiln_x_is_condition(x->op));
    lua_setfield(T, -2, "cond");
    if (x->op == KILN_X_D) set_text(T, "name", op->tensor[op->first_input + x->index].name);
    if (x->op == KILN_X_SCALAR) set_text(T, "name", op->scalar[x->index]);
    if (x->op != KILN_X_CAST) return;
    kg_push_dtype(cx, (kiln_dtype)x->index);
    lua_setfield(T, -2, "type");
}

void kg_push_graph(kg_ctx *cx, const kg_op *op, const kg_expr *e)
{
    static const char *const varies[] = {"none", "row", "col", "both"};
    lua_State *T = cx->T;
    kg_arena *scratch = kg_arena_new();
    fact *known = kg_alloc(scratch, (e->count + 1) * sizeof *known);
    lua_createtable(T, (int)e->count, 0);
    for (size_t i = 0; i < e->count; i++) {
        const fact f = known[i] = of_node(op, &e->node[i], known);
        lua_createtable(T, 0, 11);
        set_own(cx, op, &e->node[i]);
        set_text(T, "varies", varies[f.row + 2 * f.col]);
        set_integer(T, "phase", f.phase);
        set_integer(T, "block", f.block);
        lua_rawseti(T, -2, (lua_Integer)i + 1);
    }
    kg_arena_free(scratch);
}
