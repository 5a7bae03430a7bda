// SPDX-License-Identifier: MIT
// What comes closest to a problem that no instance on this device takes, in words: another spelling
// of the op, the types and layouts it was described with, the targets it was compiled for, the rule
// that it breaks.
#include <string.h>
#include "internal.h"

/* ---- spelling ---- */

static size_t least(size_t a, size_t b, size_t c)
{
    const size_t m = a < b ? a : b;
    return m < c ? m : c;
}

/* Insertions, deletions and replacements that turn a into b. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t row[KILN_NAME_MAX + 1];
    const size_t n = strlen(b);
    for (size_t j = 0; j <= n; j++) row[j] = j;
    for (size_t i = 0; a[i]; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < n; j++) {
            const size_t above = row[j + 1];
            row[j + 1] = least(above + 1, row[j] + 1, diagonal + (a[i] != b[j]));
            diagonal = above;
        }
    }
    return row[n];
}

static const char *closest_op(const kiln_ctx *ctx, const char *op)
{
    const char *best = NULL;
    size_t best_distance = strlen(op) / 3 + 2; /* further away is no misspelling */
    for (size_t i = 0; i < ctx->nops; i++) {
        const char *name = kr_str(ctx->op[i].module, ctx->op[i].row->name);
        const size_t distance = edit_distance(op, name);
        if (distance >= best_distance) continue;
        best = name;
        best_distance = distance;
    }
    return best;
}

/* ---- what the op was described with ---- */

enum { LISTED = 12 }; /* combinations shown */
typedef struct list {
    const void *seen[LISTED];
    size_t count;
} list;

static bool same_types(const kiln_row *r, const uint8_t sig[7], bool with_acc)
{
    return r->a == sig[0] && r->b == sig[1] && r->e == sig[2] && (!with_acc || r->acc == sig[3]);
}

static bool same_layouts(const kiln_row *r, const uint8_t sig[7])
{
    return r->layout_a == sig[4] && r->layout_b == sig[5] && r->layout_e == sig[6];
}

typedef enum part { PART_TYPES, PART_LAYOUTS, PART_ACC, PART_TARGETS } part;

static bool alike(part what, const kiln_kernel *x, const kiln_kernel *y)
{
    const kiln_row *a = x->row, *b = y->row;
    switch (what) {
    case PART_TYPES:
        return a->a == b->a && a->b == b->b && a->e == b->e;
    case PART_LAYOUTS:
        return a->layout_a == b->layout_a && a->layout_b == b->layout_b &&
               a->layout_e == b->layout_e;
    case PART_ACC:
        return a->acc == b->acc;
    case PART_TARGETS:
        return strcmp(x->module->target, y->module->target) == 0;
    }
    return false;
}

static char letter(uint8_t layout)
{
    return layout == KILN_ROW ? 'r' : 'c';
}

static void put_part(part what, const kiln_kernel *k, kr_text *text)
{
    const kiln_row *r = k->row;
    switch (what) {
    case PART_TYPES:
        kr_put(text, "%s,%s,%s", kiln_dtype_name((kiln_dtype)r->a),
               kiln_dtype_name((kiln_dtype)r->b), kiln_dtype_name((kiln_dtype)r->e));
        break;
    case PART_LAYOUTS:
        kr_put(text, "%c%c%c", letter(r->layout_a), letter(r->layout_b), letter(r->layout_e));
        break;
    case PART_ACC:
        kr_put(text, "acc=%s", kiln_dtype_name((kiln_dtype)r->acc));
        break;
    case PART_TARGETS:
        kr_put(text, "%s", k->module->target);
        break;
    }
}

/* Lists each different `what` among the op's rows that match sig in the parts before it. */
static size_t put_parts(const kiln_ctx *ctx, const char *op, const uint8_t sig[7], part what,
                        kr_text *text)
{
    list l = {.count = 0};
    for (size_t i = 0; i < ctx->nkernels; i++) {
        const kiln_kernel *k = &ctx->kernel[i];
        if (strcmp(kr_str(k->module, k->op->name), op) != 0) continue;
        if (what != PART_TYPES && !same_types(k->row, sig, what == PART_TARGETS)) continue;
        if ((what == PART_ACC || what == PART_TARGETS) && !same_layouts(k->row, sig)) continue;
        size_t at = 0;
        while (at < l.count && at < LISTED && !alike(what, l.seen[at], k)) at++;
        if (at < l.count) continue;
        if (l.count < LISTED) {
            l.seen[l.count] = k;
            if (text && l.count) kr_put(text, "; ");
            if (text) put_part(what, k, text);
            l.count++;
        }
    }
    return l.count;
}

/* ---- putting it into words ---- */

static kiln_status say_unknown_op(const kiln_ctx *ctx, const kiln_problem *p, kr_text *text)
{
    const char *closest = closest_op(ctx, p->op);
    if (ctx->nmodules == 0) {
        kr_put(text,
               "no op '%s': no module is open; run `make instances`, or name folders in "
               "KILN_MODULE_PATH",
               p->op);
        if (ctx->nrefused)
            kr_put(text, " (%zu refused, first: %s)", ctx->nrefused, ctx->refused[0]);
    } else if (closest) {
        kr_put(text, "no op '%s': did you mean '%s'?", p->op, closest);
    } else {
        kr_put(text, "no op '%s' was described (`kiln list` shows what there is)", p->op);
        if (ctx->nrefused) kr_put(text, "; %zu refused, first: %s", ctx->nrefused, ctx->refused[0]);
    }
    return KILN_NOT_FOUND;
}

static kiln_status say_rule(const kiln_ctx *ctx, const kiln_problem *p, const kr_group *g,
                            kr_text *text)
{
    uint8_t sig[7];
    uint64_t key;
    kr_view v;
    const kiln_kernel *k = &ctx->kernel[g->first];
    if (kr_key(p, sig, &key) ||
        kr_view_make(p, sig, k->module, k->op, ctx->device->info.units, &v)) {
        kr_put(text, "%s", kiln_error());
        return KILN_INVALID;
    }
    const uint32_t rule = k->schedule->check(&v.shape, k->row->t);
    kr_put(text, "'%s' has no instance on %s that takes this size, stride and alignment; %s: %s",
           p->op, ctx->device->info.target, kr_kernel_name(k),
           rule && rule <= k->schedule->rules ? kr_str(k->module, k->schedule->rule_text[rule - 1])
                                              : "not legal");
    return KILN_NOT_SUPPORTED;
}

kiln_status kr_nearest(const kiln_ctx *ctx, const kiln_problem *p, uint64_t key, kr_text *text)
{
    const kr_group *g = kr_group_find(ctx, key);
    if (g) return say_rule(ctx, p, g, text);
    if (!kr_ops_find(ctx, p->op)) return say_unknown_op(ctx, p, text);

    uint8_t sig[7];
    if (kr_key(p, sig, &key)) return KILN_INVALID;
    if (put_parts(ctx, p->op, sig, PART_TARGETS, NULL)) {
        kr_put(text, "'%s' is compiled for these types and layouts, but only for ", p->op);
        put_parts(ctx, p->op, sig, PART_TARGETS, text);
        if (ctx->device->info.target[0])
            kr_put(text, ", and this device is %s: run `make instances TARGETS=%s`",
                   ctx->device->info.target, ctx->device->info.target);
        else
            kr_put(text, ", and no target fits this device (%s)", ctx->device->info.name);
        return KILN_NOT_SUPPORTED;
    }
    const part shown = put_parts(ctx, p->op, sig, PART_ACC, NULL)       ? PART_ACC
                       : put_parts(ctx, p->op, sig, PART_LAYOUTS, NULL) ? PART_LAYOUTS
                                                                        : PART_TYPES;
    kr_put(text, "'%s' is not described for %s,%s,%s %c%c%c acc=%s, but for ", p->op,
           kiln_dtype_name(p->a.dtype), kiln_dtype_name(p->b.dtype), kiln_dtype_name(p->e.dtype),
           letter(sig[4]), letter(sig[5]), letter(sig[6]), kiln_dtype_name((kiln_dtype)sig[3]));
    if (shown == PART_LAYOUTS) kr_put(text, "these types with ");
    if (put_parts(ctx, p->op, sig, shown, text) == 0) kr_put(text, "nothing that was compiled");
    return KILN_NOT_FOUND;
}
