// SPDX-License-Identifier: MIT
// kiln_op_text: an op's functions as they were traced, spelt like the language.  What is used
// twice, or is long, gets a line and a name of its own:
//     epilogue:
//         t1 = acc.gate * sigmoid(acc.gate)
//         e = t1 * acc.up
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

enum { LONGEST = 12 /* nodes that one line spells */ };

typedef struct writer {
    const kr_module *module;
    const kiln_op_row *op;
    const kiln_family *family;
    const kiln_xnode *node; /* of the function */
    uint32_t count;
    uint16_t *name; /* of each node: NAME of tNAME; 0: it is spelt where it is used */
    bool *result;   /* of each node: it is one of the function's */
    kr_text *text;
} writer;

/* Binary operators: how strongly they bind.  Others are called by their names. */
enum { SUM = 1, PRODUCT, SIGN, POWER, CALL };
static int strength(unsigned op)
{
    switch (op) {
    case KILN_X_ADD:
    case KILN_X_SUB:
        return SUM;
    case KILN_X_MUL:
    case KILN_X_DIV:
        return PRODUCT;
    case KILN_X_NEG:
        return SIGN;
    case KILN_X_POW:
        return POWER;
    default:
        return CALL;
    }
}

/* The op's input of that number. */
static const char *input_name(const writer *w, unsigned index)
{
    for (int i = 0; i < w->op->ntensors; i++)
        if (kr_is_input(&w->op->tensor[i]) && !index--)
            return kr_str(w->module, w->op->tensor[i].name);
    return "";
}

/* The name of one of several products. */
static const char *product_name(const writer *w, unsigned index)
{
    for (int i = 1; i < w->op->ntensors; i++) {
        const kiln_tensor_row *t = &w->op->tensor[i];
        const bool again = t->own != KILN_NOWHERE && t->own == t[-1].own;
        const bool first =
            t->own != KILN_NOWHERE && !again && i + 1 < w->op->ntensors && t->own == t[1].own;
        if ((first || again) && !index--) return kr_str(w->module, t->name);
    }
    return "";
}

/* As short as the number allows, with a point in every locale. */
static void put_constant(kr_text *text, float v)
{
    char digits[32];
    for (int n = 6; n <= 9; n++) {
        snprintf(digits, sizeof digits, "%.*g", n, (double)v);
        if (strtof(digits, NULL) == v) break;
    }
    char *comma = strchr(digits, ',');
    if (comma) *comma = '.';
    kr_put(text, "%s", digits);
}

static void put_leaf(const writer *w, const kiln_xnode *n)
{
    switch ((kiln_xop)n->op) {
    case KILN_X_CONST:
        put_constant(w->text, n->value);
        break;
    case KILN_X_ACC:
        kr_put(w->text, "acc%s%s", w->op->products > 1 ? "." : "",
               w->op->products > 1 ? product_name(w, n->index) : "");
        break;
    case KILN_X_D:
        kr_put(w->text, "d.%s", input_name(w, n->index));
        break;
    case KILN_X_SCALAR:
        kr_put(w->text, "s.%s", kr_str(w->module, w->op->scalar[n->index]));
        break;
    case KILN_X_AT:
        kr_put(w->text, "at.%s", kr_str(w->module, w->family->place[n->index]));
        break;
    default:
        kr_put(w->text, "x");
    }
}

static bool is_leaf(const kiln_xnode *n)
{
    return !kr_x_operands[n->op];
}

static void put_value(const writer *w, uint32_t at, int within);

static void put_call(const writer *w, const kiln_xnode *n)
{
    static const char *const call[] = {
#define X(name, id, ...) [id] = #name,
        KILN_EXPR_OPS(X)
#undef X
    };
    kr_put(w->text, "%s(", call[n->op]);
    for (int i = 0; i < kr_x_operands[n->op]; i++) {
        if (i) kr_put(w->text, ", ");
        put_value(w, n->arg[i], 0);
    }
    if (n->op == KILN_X_CAST) kr_put(w->text, ", %s", kiln_dtype_name((kiln_dtype)n->index));
    if (kiln_x_is_block_reduction(n->op)) kr_put(w->text, ", %d", (int)n->value);
    kr_put(w->text, ")");
}

/* A node's own spelling; in parentheses where what it stands in binds more strongly. */
static void put_node(const writer *w, uint32_t at, int within)
{
    static const char *const sign[KILN_X_COUNT] = {[KILN_X_ADD] = " + ",
                                                   [KILN_X_SUB] = " - ",
                                                   [KILN_X_MUL] = " * ",
                                                   [KILN_X_DIV] = " / ",
                                                   [KILN_X_POW] = " ^ "};
    const kiln_xnode *n = &w->node[at];
    const int own = strength(n->op);
    const bool negative = n->op == KILN_X_CONST && n->value < 0;
    const bool enclosed = negative ? within > PRODUCT : own < within;
    if (enclosed) kr_put(w->text, "(");
    if (is_leaf(n))
        put_leaf(w, n);
    else if (own == CALL)
        put_call(w, n);
    else if (own == SIGN) {
        kr_put(w->text, "-");
        put_value(w, n->arg[0], SIGN + 1);
    } else { /* ^ is evaluated from the right, the others from the left */
        put_value(w, n->arg[0], own + (own == POWER));
        kr_put(w->text, "%s", sign[n->op]);
        put_value(w, n->arg[1], own + (own != POWER));
    }
    if (enclosed) kr_put(w->text, ")");
}

static void put_value(const writer *w, uint32_t at, int within)
{
    if (w->name[at])
        kr_put(w->text, "t%u", w->name[at]);
    else
        put_node(w, at, within);
}

/* Which nodes get a line; those that no result needs get none.  uses, nodes: room for each. */
static void name_nodes(writer *w, uint16_t *uses, uint16_t *nodes)
{
    uint16_t last = 0;
    for (uint32_t i = w->count; i-- > 0;) {
        const kiln_xnode *n = &w->node[i];
        if (!w->result[i] && !uses[i]) continue;
        for (int k = 0; k < kr_x_operands[n->op]; k++) uses[n->arg[k]]++;
    }
    for (uint32_t i = 0; i < w->count; i++) {
        const kiln_xnode *n = &w->node[i];
        unsigned sum = 1;
        for (int k = 0; k < kr_x_operands[n->op]; k++) sum += nodes[n->arg[k]];
        const bool named = !is_leaf(n) && uses[i] && (uses[i] > 1 || w->result[i] || sum > LONGEST);
        w->name[i] = named ? ++last : 0;
        nodes[i] = (uint16_t)(named ? 1 : sum);
    }
}

static const char *const indent = "    ";

static void put_lines(const writer *w)
{
    for (uint32_t i = 0; i < w->count; i++) {
        if (!w->name[i]) continue;
        kr_put(w->text, "%st%u = ", indent, w->name[i]);
        put_node(w, i, 0);
        kr_put(w->text, "\n");
    }
}

/* Outputs of the main function, each from its node. */
static void put_outputs(const writer *w)
{
    for (int i = 0; i < w->op->ntensors; i++) {
        const kiln_tensor_row *t = &w->op->tensor[i];
        if (!t->out) continue;
        kr_put(w->text, "%s%s = ", indent,
               kr_str(w->module, t->own == KILN_NOWHERE ? t->name : w->family->own[t->own]));
        put_value(w, t->result, 0);
        kr_put(w->text, "\n");
    }
}

static void mark_results(const writer *w, bool outputs)
{
    for (int i = 0; outputs && i < w->op->ntensors; i++)
        if (w->op->tensor[i].out) w->result[w->op->tensor[i].result] = true;
    if (!outputs) w->result[w->count - 1] = true;
}

/* Of a sum over a block of products the module has what it is multiplied with: a function without
 * an element beside those of a family with products. */
static bool is_factor(const writer *w, int function)
{
    if (!function || w->family->summed == KILN_NOWHERE) return false;
    for (uint32_t i = 0; i < w->count; i++)
        if (w->node[i].op == KILN_X_ARG) return false;
    return true;
}

static void put_body(writer *w, bool outputs, bool factor)
{
    put_lines(w);
    if (outputs) {
        put_outputs(w);
        return;
    }
    kr_put(w->text, factor ? "%sreturn acc * " : "%sreturn ", indent);
    put_value(w, w->count - 1, factor ? PRODUCT + 1 : 0);
    kr_put(w->text, "\n");
}

static kiln_status put_function(writer *w, int function, int product)
{
    const kiln_expr_ref ref =
        product ? w->op->more[product - 1][function] : w->op->function[function];
    if (!ref.count) return KILN_OK;
    const bool outputs = !function && !w->family->computes;
    const bool several = w->op->products > 1 && w->op->more[0][function].count;
    uint16_t *room = calloc(3 * (size_t)ref.count, sizeof *room);
    w->result = calloc(ref.count, sizeof *w->result);
    w->node = w->module->table->nodes + ref.first;
    w->count = ref.count;
    w->name = room;
    if (room && w->result) {
        mark_results(w, outputs);
        name_nodes(w, room + ref.count, room + 2 * (size_t)ref.count);
        kr_put(w->text, "%s%s%s:\n", kr_str(w->module, w->family->function[function]),
               several ? " of " : "", several ? product_name(w, (unsigned)product) : "");
        put_body(w, outputs, is_factor(w, function));
    }
    const bool good = room && w->result;
    free(room);
    free(w->result);
    return good ? KILN_OK : kr_fail(KILN_NO_MEMORY, "no memory for an op's text");
}

kiln_status kiln_op_text(kiln_ctx *ctx, const char *op, char *out, size_t *len)
{
    if (!ctx || !op || !len)
        return kr_fail(KILN_INVALID, "kiln_op_text needs a context, a name and a length");
    const kr_op *known = kr_ops_find(ctx, op, kiln_name_hash(op));
    if (!known) return kr_fail(KILN_NOT_FOUND, "no open module describes an op '%s'", op);
    kr_text text = {out, *len, 0};
    if (out && *len) out[0] = 0;
    writer w = {.module = known->module,
                .op = known->row,
                .family = kr_family(known->module, known->row),
                .text = &text};
    for (int i = 0; i < w.family->noptions; i++)
        if (*kr_str(w.module, w.op->option[i]))
            kr_put(&text, "%s = %s\n", kr_str(w.module, w.family->option[i]),
                   kr_str(w.module, w.op->option[i]));
    for (int i = 0; i < KILN_MAX_FUNCTIONS; i++)
        for (int k = 0; k < (w.op->products > 1 ? w.op->products : 1); k++) {
            const kiln_status status = put_function(&w, i, k);
            if (status) return status;
        }
    return kr_text_end(&text, len);
}
