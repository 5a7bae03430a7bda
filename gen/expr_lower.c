// SPDX-License-Identifier: MIT
// Expression DAG -> C text.  A node used more than once becomes `const float tN = ...;`, the rest
// nests.  The text of each operator comes from KILN_EXPR_OPS; constants are printed with as few
// digits as give the same f32 back.
#include "gen.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    NESTED = 24
}; /* deeper expressions are cut by a temporary: compilers limit nested brackets */

static const char *const op_text[] = {
#define X(name, id, arity, text, meaning) text,
    KILN_EXPR_OPS(X)
#undef X
};
static const uint8_t op_arity[] = {
#define X(name, id, arity, ...) arity,
    KILN_EXPR_OPS(X)
#undef X
};
static const char *const dtype_text[] = {
    "",
#define X(name, ...) #name,
    KILN_DTYPES(X)
#undef X
};

typedef struct lowering {
    const kg_expr *e;
    const kg_names *names;
    unsigned *uses;
    int *temp; /* number of the temporary that holds a node, or -1 */
    kg_buf *to;
} lowering;

static void put_constant(kg_buf *to, float v)
{
    if (isnan(v)) {
        kg_puts(to, "__builtin_nanf(\"\")");
        return;
    }
    if (isinf(v)) {
        kg_puts(to, v > 0 ? "__builtin_huge_valf()" : "(-__builtin_huge_valf())");
        return;
    }
    char text[40];
    for (int digits = 1; digits <= 9; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, (double)v);
        if (strtof(text, NULL) == v) break;
    }
    bool plain = !strpbrk(text, ".e");
    kg_putf(to, signbit(v) ? "(%s%sf)" : "%s%sf", text, plain ? ".0" : "");
}

static void put(lowering *, size_t, bool alone);

/* a + b - c and a * b / c group from the left by themselves. */
static bool groups_left(const lowering *w, const kiln_xnode *x)
{
    const kiln_xnode *left = &w->e->node[x->arg[0]];
    bool sums = x->op == KILN_X_ADD || x->op == KILN_X_SUB;
    bool products = x->op == KILN_X_MUL || x->op == KILN_X_DIV;
    return (sums && (left->op == KILN_X_ADD || left->op == KILN_X_SUB)) ||
           (products && (left->op == KILN_X_MUL || left->op == KILN_X_DIV));
}

static void put_operation(lowering *w, size_t i)
{
    const kiln_xnode *x = &w->e->node[i];
    const char *text = op_text[x->op];
    if (x->op == KILN_X_CONST) {
        put_constant(w->to, x->value);
    } else if (x->op == KILN_X_CAST) {
        kg_putf(w->to, "kiln_%s_to_f32(kiln_f32_to_%s(", dtype_text[x->index],
                dtype_text[x->index]);
        put(w, x->arg[0], true);
        kg_puts(w->to, "))");
    } else if (op_arity[x->op] == 0) {
        kg_puts(w->to, w->names->name(w->names->arg, x));
    } else {
        bool call = *text != '(';
        for (const char *p = text; *p; p++) {
            if (*p != '%') {
                kg_put(w->to, p, 1);
                continue;
            }
            p++;
            bool bare = call || (p[-2] == '(' && p[1] == ')') || (*p == '0' && groups_left(w, x));
            put(w, x->arg[*p - '0'], bare);
        }
    }
}

/* alone: between the brackets or commas of a call, or the like, where brackets around the whole of
 * "(a + b)" say nothing. */
static void put(lowering *w, size_t i, bool alone)
{
    if (w->temp[i] >= 0) {
        kg_putf(w->to, "t%d", w->temp[i]);
        return;
    }
    size_t from = w->to->len;
    put_operation(w, i);
    if (!alone || *op_text[w->e->node[i].op] != '(') return;
    w->to->len -= 2;
    memmove(w->to->p + from, w->to->p + from + 1, w->to->len - from);
    w->to->p[w->to->len] = 0;
}

void kg_expr_spell(const kiln_xnode *x, kg_buf *to)
{
    const char *type = x->op == KILN_X_CAST ? dtype_text[x->index] : "";
    if (x->op == KILN_X_CONST)
        put_constant(to, x->value);
    else if (x->op == KILN_X_CAST)
        kg_putf(to, "kiln_%s_to_f32(kiln_f32_to_%s(%%0))", type, type);
    else if (x->op == KILN_X_MUL && x->index == KILN_EXACT)
        kg_puts(to, "kiln_product(%0, %1)");
    else
        kg_puts(to, op_text[x->op]);
}

void kg_expr_lower(const kg_expr *e, const kg_names *names, const char *indent, kg_buf *to)
{
    if (!e->count) return;
    kg_arena *scratch = kg_arena_new();
    lowering w = {e, names, kg_alloc(scratch, e->count * sizeof *w.uses),
                  kg_alloc(scratch, e->count * sizeof *w.temp), to};
    /* Of brackets in a node's text. */
    unsigned *depth = kg_alloc(scratch, e->count * sizeof *depth);
    for (size_t i = 0; i < e->count; i++)
        for (int k = 0; k < op_arity[e->node[i].op]; k++) w.uses[e->node[i].arg[k]]++;
    int temps = 0;
    for (size_t i = 0; i < e->count; i++) {
        const kiln_xnode *x = &e->node[i];
        w.temp[i] = -1;
        if (!op_arity[x->op]) continue;
        for (int k = 0; k < op_arity[x->op]; k++)
            if (depth[x->arg[k]] >= depth[i]) depth[i] = depth[x->arg[k]] + 1;
        if (i + 1 == e->count || (w.uses[i] < 2 && depth[i] < NESTED)) continue;
        kg_putf(to, "%sconst %s t%d = ", indent, kiln_x_is_condition(x->op) ? "int" : "float",
                temps);
        put(&w, i, true);
        kg_puts(to, ";\n");
        w.temp[i] = temps++;
        depth[i] = 0;
    }
    kg_putf(to, "%sreturn ", indent);
    put(&w, e->count - 1, true);
    kg_puts(to, ";\n");
    kg_arena_free(scratch);
}
