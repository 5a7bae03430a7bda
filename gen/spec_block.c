// SPDX-License-Identifier: MIT
// What becomes of the sum over a block of K: its function returns acc times something that does not
// depend on acc, and only that factor is kept.  So a kernel may scale a block's sum on its way into
// the whole sum, in one fused operation, and knows the block's length.
#include "spec.h"
#include <string.h>

static const uint8_t arity[] = {
#define X(name, id, operands, ...) operands,
    KILN_EXPR_OPS(X)
#undef X
};

typedef struct factor {
    const kg_expr *from;
    bool *has_acc; /* of each node: acc is in it */
    kiln_xnode *node;
    size_t count; /* the old nodes, then new ones */
} factor;

static uint16_t add(factor *f, kiln_xnode x)
{
    f->node[f->count] = x;
    return (uint16_t)f->count++;
}

/* What acc is multiplied by in node i, where acc is; NULL, or the operation that it may not be in.
 */
static const kiln_xnode *factor_of(factor *f, size_t i, uint16_t *out)
{
    const kiln_xnode *x = &f->from->node[i];
    const bool left = arity[x->op] > 0 && f->has_acc[x->arg[0]],
               right = arity[x->op] > 1 && f->has_acc[x->arg[1]];
    if (x->op == KILN_X_ACC) {
        *out = UINT16_MAX; /* nothing yet */
        return NULL;
    }
    const bool scales = (x->op == KILN_X_MUL && left != right) ||
                        (x->op == KILN_X_DIV && left && !right) || x->op == KILN_X_NEG;
    if (!scales) return x;
    const kiln_xnode *wrong = factor_of(f, x->arg[left ? 0 : 1], out);
    if (wrong) return wrong;
    const bool nothing = *out == UINT16_MAX;
    const uint16_t other = x->op == KILN_X_NEG ? 0 : x->arg[left ? 1 : 0];
    if (x->op == KILN_X_MUL && nothing) {
        *out = other;
        return NULL;
    }
    if (nothing) *out = add(f, (kiln_xnode){.op = KILN_X_CONST, .value = 1});
    kiln_xnode own = {.op = x->op, .arg = {*out, 0, 0}};
    if (x->op != KILN_X_NEG) own.arg[1] = other;
    *out = add(f, own);
    return NULL;
}

/* The nodes that `root` depends on, in their order. */
static kg_expr reachable(kg_ctx *cx, const factor *f, size_t root)
{
    uint16_t *place = kg_alloc(cx->arena, (root + 1) * sizeof *place); /* 1 + new position */
    kg_expr e = {kg_alloc(cx->arena, (root + 1) * sizeof *e.node), 0};
    place[root] = 1;
    for (size_t i = root + 1; i-- > 0;)
        for (int k = 0; place[i] && k < arity[f->node[i].op]; k++) place[f->node[i].arg[k]] = 1;
    for (size_t i = 0; i <= root; i++) {
        if (!place[i]) continue;
        kiln_xnode x = f->node[i];
        for (int k = 0; k < arity[x.op]; k++) x.arg[k] = (uint16_t)(place[x.arg[k]] - 1);
        e.node[e.count++] = x;
        place[i] = (uint16_t)e.count;
    }
    return e;
}

/* As it is written. */
static const char *spelt(const kiln_xnode *x)
{
    static const char *const sign[] = {"+", "-", "*", "/", "^", "-"};
    bool is_operator = x->op >= KILN_X_ADD && x->op <= KILN_X_NEG;
    return is_operator ? sign[x->op - KILN_X_ADD] : kg_expr_name((kiln_xop)x->op);
}

static int64_t length_of(const kg_op *op, const kg_tensor *t)
{
    return t->rows == op->family->summed ? t->row_block : t->col_block;
}

/* What scales a sum is no whole number, in any row of types. */
static bool check_type(kg_spec *sp, const char *field, const kg_tensor *t)
{
    const kg_op *op = sp->op;
    for (size_t i = 0; i < op->ntypes; i++) {
        const kiln_dtype type =
            t->type & 0x80 ? op->types[i].type[t->type & 0x7f] : (kiln_dtype)t->type;
        if (!type || kiln_is_float(type)) continue;
        kg_wrong(sp, t->pos, "%s: input '%s' is %s: what scales sums is of a floating-point type",
                 field, t->given, kiln_formats[type].name);
        return false;
    }
    return true;
}

/* All inputs of the factor have blocks of one length. */
static bool check_inputs(kg_spec *sp, const char *field, kg_pos at, const kg_expr *e)
{
    kg_op *op = sp->op;
    const char *size = op->family->size[op->family->summed];
    for (size_t i = 0; i < e->count; i++) {
        if (e->node[i].op != KILN_X_D) continue;
        const kg_tensor *t = &op->tensor[op->first_input + e->node[i].index];
        const int64_t length = length_of(op, t);
        if (!check_type(sp, field, t)) return false;
        if (op->block && op->block != length) {
            kg_wrong(sp, t->pos,
                     "%s: a block of '%s' is %lld long along %s, one of '%s' %lld: all that %s "
                     "uses must agree",
                     field, t->given, (long long)length, size, op->block_input->given,
                     (long long)op->block, field);
            return false;
        }
        op->block = length;
        op->block_input = t;
    }
    if (!op->block)
        kg_wrong(sp, at, "%s uses no per_block input: without one, scale in %s", field,
                 op->family->function[0].name);
    return op->block;
}

kg_expr kg_spec_factor(kg_spec *sp, const char *field, const kg_extent *extent, const kg_expr *from)
{
    kg_pos at = kg_return_pos(extent, NULL, sp->op->pos);
    kg_arena *a = sp->cx->arena;
    const kg_expr none = {NULL, 0};
    factor f = {from, kg_alloc(a, from->count * sizeof *f.has_acc),
                kg_alloc(a, 3 * from->count * sizeof *f.node), from->count};
    memcpy(f.node, from->node, from->count * sizeof *f.node);
    for (size_t i = 0; i < from->count; i++) {
        f.has_acc[i] = from->node[i].op == KILN_X_ACC;
        for (int k = 0; k < arity[from->node[i].op]; k++)
            f.has_acc[i] |= f.has_acc[from->node[i].arg[k]];
    }
    uint16_t root = 0;
    if (!f.has_acc[from->count - 1]) {
        kg_wrong(sp, at, "%s never uses acc, the sum over a block", field);
        return none;
    }
    const kiln_xnode *wrong = factor_of(&f, from->count - 1, &root);
    if (wrong) {
        kg_wrong(sp, at,
                 "%s must return acc times an expression of per_block inputs, but acc goes through "
                 "'%s': what else becomes of sums belongs into %s",
                 field, spelt(wrong), sp->op->family->function[0].name);
        return none;
    }
    if (root == UINT16_MAX) {
        kg_wrong(sp, at, "%s returns acc as it is: leave it out", field);
        return none;
    }
    kg_expr e = reachable(sp->cx, &f, root);
    return check_inputs(sp, field, at, &e) ? e : none;
}
