// SPDX-License-Identifier: MIT
// A traced function as templates see it: a list of nodes, each a table with its operation, its
// operands' positions, its own text, and what follows from the graph (vary.c): along what its value
// varies, in which pass over a row it is known.  docs/schedules.md, "op.graph", has the fields.
#include "back.h"

const char *const kg_function_name[KILN_X_COUNT] = {
#define X(name, ...) #name,
    KILN_EXPR_OPS(X)
#undef X
};
static const uint8_t op_arity[] = {
#define X(name, id, arity, ...) arity,
    KILN_EXPR_OPS(X)
#undef X
};

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
    set_text(T, "op", kg_function_name[x->op]);
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
    if (x->op == KILN_X_DIV || x->op == KILN_X_MUL) {
        lua_pushboolean(T, x->index == KILN_EXACT);
        lua_setfield(T, -2, "exact");
    }
    if (x->op == KILN_X_D) set_text(T, "name", op->tensor[op->first_input + x->index].name);
    if (x->op == KILN_X_SCALAR) set_text(T, "name", op->scalar[x->index]);
    if (x->op != KILN_X_CAST) return;
    kg_push_dtype(cx, (kiln_dtype)x->index);
    lua_setfield(T, -2, "type");
}

/* The nodes of function `which`, of a product; how they vary only of a main one with outputs. */
void kg_push_graph(kg_ctx *cx, const kg_op *op, size_t which, size_t product)
{
    static const char *const varies[] = {"none", "row", "col", "both"};
    const kg_expr *e = kg_function_of(op, which, product);
    lua_State *T = cx->T;
    kg_arena *scratch = kg_arena_new();
    kg_vary *vary = kg_alloc(scratch, (e->count + 1) * sizeof *vary);
    const bool varies_known = which == 0 && kg_names_outputs(op);
    if (varies_known) kg_expr_vary(op, vary);
    lua_createtable(T, (int)e->count, 0);
    for (size_t i = 0; i < e->count; i++) {
        lua_createtable(T, 0, 11);
        set_own(cx, op, &e->node[i]);
        if (varies_known) {
            set_text(T, "varies", varies[vary[i].rows + 2 * (vary[i].block != 0)]);
            set_integer(T, "phase", vary[i].phase);
            set_integer(T, "block", vary[i].block);
        }
        lua_rawseti(T, -2, (lua_Integer)i + 1);
    }
    kg_arena_free(scratch);
}
