// SPDX-License-Identifier: MIT
// What traced problem-time functions become: C text, as 64-bit integers or as doubles, and values.
#include "back.h"
#include "../abi/kiln_problem_math.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_NODES = 4 }; /* operations in one line of C */

static const struct {
    const char *integer, *real;
    int args;
} op_info[KG_S_COUNT] = {
#define X(id, n, i, r) {i, r, n},
    KG_SYM_OPS(X)
#undef X
};

_Static_assert(offsetof(kiln_shape, size) == 0 && sizeof(kiln_shape) % sizeof(int64_t) == 0,
               "put_field reads kiln_shape as a list of int64_t");

int kg_sym_operands(kg_sym_op op)
{
    return op_info[op].args;
}

bool kg_sym_is_condition(kg_sym_op op)
{
    return op >= KG_S_LT;
}

/* ---- evaluating ---- */
int64_t kg_sym_evaluate(const kg_syms *s, const kg_result *v, const kiln_shape *p, const int32_t *t)
{
    int64_t of[KG_SYM_MAX];
    of[0] = 0; /* what leaves name as operands */
    if (!v->symbolic) return (int64_t)v->number;
    for (size_t i = 0; i <= v->node; i++) { /* operands come first */
        const kg_snode *n = &s->node[i];
        int64_t x = of[n->arg[0]], y = of[n->arg[1]], z = of[n->arg[2]];
        // clang-format off
        switch ((kg_sym_op)n->op) {
        case KG_S_CONST: of[i] = (int64_t)n->value; break;
        case KG_S_P: memcpy(&of[i], (const char *)p + n->index * sizeof of[i], sizeof of[i]); break;
        case KG_S_T: of[i] = t[n->index]; break;
        case KG_S_ADD: of[i] = kiln_i_add(x, y); break;
        case KG_S_SUB: of[i] = kiln_i_sub(x, y); break;
        case KG_S_MUL: of[i] = kiln_i_mul(x, y); break;
        case KG_S_DIV: case KG_S_FLOOR_DIV: of[i] = kiln_i_div(x, y); break;
        case KG_S_MOD: of[i] = kiln_i_mod(x, y); break;
        case KG_S_CEIL_DIV: of[i] = kiln_i_ceil_div(x, y); break;
        case KG_S_NEG: of[i] = kiln_i_sub(0, x); break;
        case KG_S_MIN: of[i] = kiln_i_min(x, y); break;
        case KG_S_MAX: of[i] = kiln_i_max(x, y); break;
        case KG_S_SELECT: of[i] = x ? y : z; break;
        case KG_S_LT: of[i] = x < y; break;
        case KG_S_LE: of[i] = x <= y; break;
        case KG_S_GT: of[i] = x > y; break;
        case KG_S_GE: of[i] = x >= y; break;
        case KG_S_EQ: of[i] = x == y; break;
        case KG_S_ALL: of[i] = x && y; break;
        case KG_S_ANY: of[i] = x || y; break;
        case KG_S_NOT: of[i] = !x; break;
        case KG_S_COUNT: break;
        }
        // clang-format on
    }
    return of[v->node];
}

/* ---- lowering ---- */
void kg_lower_begin(kg_ctx *cx, kg_lower *l, const kg_syms *s, bool real, kg_buf *out)
{
    *l = (kg_lower){s, real, NULL, NULL, out};
    l->uses = kg_alloc(cx->arena, (s->count + 1) * sizeof *l->uses);
    l->size = kg_alloc(cx->arena, (s->count + 1) * sizeof *l->size);
}

static void use(kg_lower *l, uint16_t node)
{
    if (l->uses[node]) { /* operands are counted once */
        l->uses[node] = 2;
        return;
    }
    l->uses[node] = 1;
    const kg_snode *n = &l->syms->node[node];
    for (int i = 0; i < op_info[n->op].args; i++) use(l, n->arg[i]);
}

void kg_lower_use(kg_lower *l, const kg_result *v)
{
    if (v->symbolic) use(l, v->node);
}

static void put_number(kg_lower *l, double x)
{
    if (l->real) {
        char text[40];
        for (int digits = 15; digits <= 17; digits++) { /* as few as give it back */
            snprintf(text, sizeof text, "%.*g", digits, x);
            if (strtod(text, NULL) == x) break;
        }
        kg_putf(l->out, strpbrk(text, ".e") ? "%s" : "%s.0", text);
    } else if (fabs(x) > INT32_MAX) {
        kg_putf(l->out, "%lldll", (long long)x);
    } else {
        kg_putf(l->out, "%d", (int)x);
    }
}

/* A field of p by its place in kiln_shape. */
static void put_field(kg_buf *out, size_t at)
{
    static const struct {
        const char *name;
        size_t at, n;
    } field[] = {
#define FIELD(name, n) {#name, offsetof(kiln_shape, name) / sizeof(int64_t), n}
        FIELD(size, KILN_MAX_SIZES + 1),
        FIELD(ld, KILN_MAX_OWN),
        FIELD(plane, KILN_MAX_OWN),
        FIELD(align, KILN_MAX_OWN),
        FIELD(align_d, 0),
        FIELD(vector, 0),
        FIELD(units, 0),
        FIELD(gflops, 0),
        FIELD(gops, 0),
        FIELD(gbps, 0),
#undef FIELD
    };
    size_t i = sizeof field / sizeof *field - 1;
    while (field[i].at > at) i--;
    kg_putf(out, "p->%s", field[i].name);
    if (field[i].n) kg_putf(out, "[%zu]", at - field[i].at);
}

static void put_node(kg_lower *l, uint16_t node);

static void put_expression(kg_lower *l, const kg_snode *n)
{
    const char *cast = l->real ? "(double)" : "";
    if (n->op == KG_S_CONST) put_number(l, n->value);
    if (n->op == KG_S_P) {
        kg_puts(l->out, cast);
        put_field(l->out, n->index);
    }
    if (n->op == KG_S_T) kg_putf(l->out, "%st[%d]", l->real ? cast : "(int64_t)", n->index);
    const char *f = l->real && op_info[n->op].real ? op_info[n->op].real : op_info[n->op].integer;
    for (const char *hole; (hole = strchr(f, '%')) != NULL; f = hole + 2) {
        kg_put(l->out, f, (size_t)(hole - f));
        put_node(l, n->arg[hole[1] - '0']);
    }
    kg_puts(l->out, f);
}

static bool is_leaf(const kg_snode *n)
{
    return n->op <= KG_S_T;
}

static void put_node(kg_lower *l, uint16_t node)
{
    const kg_snode *n = &l->syms->node[node];
    if (l->uses[node] > 1 && !is_leaf(n))
        kg_putf(l->out, "v%d", node);
    else
        put_expression(l, n);
}

/* Shared nodes get a variable, and so do the parts of what would become a long line. */
static void put_vars(kg_lower *l, uint16_t node, bool root)
{
    const kg_snode *n = &l->syms->node[node];
    if (l->size[node] || is_leaf(n)) return;
    l->size[node] = 1;
    for (int i = 0; i < op_info[n->op].args; i++) {
        put_vars(l, n->arg[i], false);
        if (l->uses[n->arg[i]] < 2) l->size[node] = (uint16_t)(l->size[node] + l->size[n->arg[i]]);
    }
    if (!root && l->size[node] >= LINE_NODES) l->uses[node] = 2;
    if (l->uses[node] < 2) return;
    kg_putf(l->out, "    const %s v%d = ",
            kg_sym_is_condition((kg_sym_op)n->op) ? "int"
            : l->real                             ? "double"
                                                  : "int64_t",
            node);
    put_expression(l, n);
    kg_puts(l->out, ";\n");
}

void kg_lower_vars(kg_lower *l, const kg_result *v)
{
    if (v->symbolic) put_vars(l, v->node, true);
}

void kg_lower_text(kg_lower *l, const kg_result *v)
{
    if (v->symbolic)
        put_node(l, v->node);
    else
        put_number(l, v->number);
}
