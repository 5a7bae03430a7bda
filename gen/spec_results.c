// SPDX-License-Identifier: MIT
// What an op's functions return: one value, or of an op that names its outputs a table with each of
// them; and whether each output's value fits its kind: what is per_row may not vary along columns,
// nor per_block within a block.
#include "spec.h"
#include <lauxlib.h>
#include <string.h>

kg_pos kg_return_pos(const kg_extent *e, const char *name, kg_pos otherwise)
{
    size_t at = SIZE_MAX;
    if (!e->source) return otherwise;
    for (size_t i = e->body; i < e->end; i++) {
        if (!kg_token_is(e->tokens, i, "return")) continue;
        at = i;
        if (!name) break;
    }
    if (at == SIZE_MAX) return kg_extent_pos(e, e->first);
    for (size_t i = at; name && i + 1 < e->end; i++)
        if (e->tokens->v[i].kind == KG_TOK_NAME && kg_token_is(e->tokens, i, name) &&
            kg_token_is(e->tokens, i + 1, "="))
            return kg_extent_pos(e, i);
    return kg_extent_pos(e, at);
}

/* ---- what is returned ---- */

/* Raises where the value at a position is none; subject: "epilogue returns", "output 'y' is". */
static void check_value(lua_State *L, int at, const char *subject, kg_pos pos)
{
    const char *got = "";
    switch (kg_trace_kind(L, at)) {
    case KG_IS_NUMBER:
    case KG_IS_SYMBOL:
        return;
    case KG_IS_CONDITION:
        kg_raise_at(L, pos, "%s a condition: write select(cond, x, y)", subject);
        break;
    case KG_IS_RECORD: {
        const char *owner = kg_trace_owner(L, at);
        kg_raise_at(L, pos, "%s '%s' as a whole: write %s.NAME", subject, owner, owner);
        break;
    }
    case KG_IS_OTHER:
        got = kg_kind_of(L, at);
        break;
    }
    kg_raise_at(L, pos, "%s %s, expected a value", subject, got);
}

static size_t output_names(const kg_op *op, const char **name)
{
    for (size_t i = 0; i < op->noutputs; i++) name[i] = kg_output_name(op, i);
    return op->noutputs;
}

typedef struct returned {
    const char *field;
    const kg_extent *extent;
} returned;

static void check_output(kg_spec *sp, const kg_value *v, const char *key, void *arg)
{
    const returned *r = arg;
    const char *name[KILN_MAX_TENSORS] = {0};
    size_t n = output_names(sp->op, name);
    for (size_t i = 0; i < n; i++)
        if (strcmp(name[i], key) == 0) return;
    const char *near = kg_closest(key, name, n), *quoted = kg_quote(sp->cx, key, strlen(key));
    kg_pos pos = kg_return_pos(r->extent, key, v->pos);
    if (near)
        kg_wrong(sp, pos, "%s returns %s, which is no output (did you mean '%s'?)", r->field,
                 quoted, near);
    else
        kg_wrong(sp, pos, "%s returns %s, which is no output: outputs %s %s", r->field, quoted,
                 n == 1 ? "is" : "are", kg_listed(sp->cx, name, n, " and "));
}

/* The table at position 3 becomes its values. */
static bool spread_table(kg_spec *sp, const char *field, const kg_extent *extent)
{
    lua_State *L = sp->L;
    const char *name[KILN_MAX_TENSORS] = {0};
    size_t n = output_names(sp->op, name), before = sp->cx->errors;
    kg_pos at = kg_return_pos(extent, "", sp->op->pos);
    returned r = {field, extent};
    kg_value whole = {NULL, at, field};
    kg_spec_fields(sp, &whole, check_output, &r);
    luaL_checkstack(L, (int)n + 8, NULL);
    for (size_t i = 0; i < n; i++) {
        lua_pushstring(L, name[i]);
        lua_rawget(L, 3);
        if (lua_isnil(L, -1))
            kg_wrong(sp, at, "%s returns no '%s', which is an output", field, name[i]);
        else if (sp->cx->errors == before)
            check_value(L, lua_gettop(L), kg_printf(sp->cx->arena, "output '%s' is", name[i]),
                        kg_return_pos(extent, name[i], at));
    }
    lua_remove(L, 3);
    return sp->cx->errors == before;
}

bool kg_spec_results(kg_spec *sp, const char *field, const kg_extent *extent, bool main,
                     int results)
{
    lua_State *L = sp->L;
    const kg_op *op = sp->op;
    kg_pos at = kg_return_pos(extent, NULL, op->pos);
    bool named = main && kg_names_outputs(op);
    if (results == 0 || lua_isnoneornil(L, 3))
        kg_raise_at(L, at, "%s returns nothing: write 'return ...'", field);
    if (results > 1)
        kg_raise_at(L, at, "%s returns %d values, one is needed%s", field, results,
                    named ? ": a table { name = value }" : "");
    if (named && lua_istable(L, 3)) return spread_table(sp, field, extent);
    check_value(L, 3, kg_printf(sp->cx->arena, "%s returns", field), at);
    if (!named || op->noutputs == 1) return true;
    const char *text = "";
    for (size_t i = 0; i < op->noutputs; i++)
        text = kg_printf(sp->cx->arena, "%s%s%s = ...", text, i ? ", " : "", kg_output_name(op, i));
    kg_raise_at(L, at, "%s returns one value, and the op has %s outputs: write return { %s }",
                field, kg_count_word(sp->cx, op->noutputs), text);
    return false;
}

/* ---- along what it varies ---- */

static const uint8_t arity[] = {
#define X(name, id, operands, ...) operands,
    KILN_EXPR_OPS(X)
#undef X
};

/* What an output asks of its value. */
typedef struct limit {
    bool rows;      /* it may vary along them */
    unsigned block; /* columns that must share a value: 0 all of them, 1 none need to */
} limit;

static limit limit_of(const kg_tensor *t)
{
    return (limit){t->rows != KILN_NOWHERE, t->cols == KILN_NOWHERE ? 0 : t->col_block};
}

static bool too_fine(const kg_vary *v, limit l)
{
    return v->block && (l.block == 0 || v->block < l.block);
}

/* The node that makes the value of node i vary: a leaf, or a reduction of blocks too short. */
static size_t culprit(const kg_expr *e, const kg_vary *v, size_t i, limit l, bool rows)
{
    for (;;) {
        const kiln_xnode *x = &e->node[i];
        size_t next = SIZE_MAX;
        if (!rows && kiln_x_is_block_reduction(x->op) && (unsigned)x->value == v[i].block) return i;
        for (int k = arity[x->op]; k-- > 0;)
            if (rows ? v[x->arg[k]].rows : too_fine(&v[x->arg[k]], l)) next = x->arg[k];
        if (next == SIZE_MAX) return i;
        i = next;
    }
}

static const char *spelt(kg_spec *sp, const kiln_xnode *x)
{
    const kg_op *op = sp->op;
    kg_arena *a = sp->cx->arena;
    if (x->op == KILN_X_D) return kg_printf(a, "d.%s", op->tensor[op->first_input + x->index].name);
    if (x->op == KILN_X_AT) return kg_printf(a, "at.%s", op->family->place[x->index]);
    if (x->op == KILN_X_ACC)
        return op->products > 1 ? kg_printf(a, "acc.%s", op->b_name[x->index]) : "acc";
    if (kiln_x_is_block_reduction(x->op))
        return kg_printf(a, "%s(..., %d)", kg_expr_name((kiln_xop)x->op), (int)x->value);
    return kg_expr_name((kiln_xop)x->op);
}

static void wrong_kind(kg_spec *sp, const kg_extent *extent, const kg_tensor *t, const char *how,
                       const kiln_xnode *x, int line)
{
    const char *is = t->kind == KILN_D_PER_BLOCK
                         ? kg_printf(sp->cx->arena, "has one value for %d columns", t->col_block)
                         : kg_printf(sp->cx->arena, "is %s", kg_kind_names[t->kind]);
    const char *where = line ? kg_printf(sp->cx->arena, " (line %d)", line) : "";
    kg_wrong(sp, kg_return_pos(extent, t->name, sp->op->pos),
             "output '%s' %s, but its value varies %s: %s does%s", t->name, is, how, spelt(sp, x),
             where);
}

/* ---- what is known when ---- */

static bool is_whole(unsigned op)
{
    return kiln_x_is_row_reduction(op) || kiln_x_is_col_reduction(op);
}

/* A reduction of a row or column that node i depends on, the last one. */
static size_t last_whole(const kg_expr *e, const kg_vary *v, size_t i)
{
    while (!is_whole(e->node[i].op)) {
        size_t next = i;
        for (int k = arity[e->node[i].op]; k-- > 0;)
            if (v[e->node[i].arg[k]].phase == v[i].phase) next = e->node[i].arg[k];
        i = next;
    }
    return i;
}

/* Where a family writes a matrix of its own, rows and columns are complete only when all of that
 * is: so nothing that has an element for each place depends on a reduction of them, and no such
 * reduction on another. */
static bool check_order(kg_spec *sp, const kg_extent *extent, size_t output, const kg_vary *v,
                        const int *line)
{
    const kg_op *op = sp->op;
    const kg_expr *e = &op->function[0];
    const kg_tensor *t = kg_output(op, output);
    const char *name = kg_output_name(op, output);
    const kg_own *own = op->family->own;
    const bool late = t->kind == KILN_D_PER_ROW || t->kind == KILN_D_PER_COL;
    if (!kg_own_outputs(op->family) || v[t->result].phase <= late) return true;
    while (!own->out) own++;
    const size_t at = last_whole(e, v, t->result);
    const char *what = kg_expr_name((kiln_xop)e->node[at].op);
    const kg_pos pos = kg_return_pos(extent, name, op->pos);
    if (!late)
        kg_wrong(sp, pos,
                 "output '%s' depends on %s (line %d), which is known when all of %s is: return it "
                 "as an output, and use it in an op that reads %s",
                 name, what, line[at], own->label, own->label);
    else
        kg_wrong(sp, pos,
                 "output '%s' is %s (line %d) of what depends on %s (line %d): one of them is for "
                 "an op that reads %s",
                 name, what, line[at],
                 kg_expr_name((kiln_xop)e->node[last_whole(e, v, e->node[at].arg[0])].op),
                 line[last_whole(e, v, e->node[at].arg[0])], own->label);
    return false;
}

void kg_spec_vary(kg_spec *sp, const kg_extent *extent, const int *line)
{
    const kg_op *op = sp->op;
    const kg_expr *e = &op->function[0];
    kg_vary *v = kg_alloc(sp->cx->arena, e->count * sizeof *v);
    kg_expr_vary(op, v);
    for (size_t i = 0; i < op->noutputs; i++) {
        const kg_tensor *t = kg_output(op, i);
        limit l = limit_of(t);
        if (!check_order(sp, extent, i, v, line) || !t->kind) continue;
        if (too_fine(&v[t->result], l)) {
            size_t at = culprit(e, v, t->result, l, false);
            wrong_kind(sp, extent, t, l.block ? "within them" : "along columns", &e->node[at],
                       line[at]);
        }
        if (v[t->result].rows && !l.rows) {
            size_t at = culprit(e, v, t->result, l, true);
            wrong_kind(sp, extent, t, "along rows", &e->node[at], line[at]);
        }
    }
}
