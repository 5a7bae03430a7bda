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

typedef struct wanted {
    const kiln_op_row *op;
    const kiln_family *family;
    const uint8_t *sig;
} wanted;

/* Parts of a signature: the types that stand in a problem's text, the layouts, the other types. */
typedef enum part { PART_TYPES, PART_LAYOUTS, PART_SUMS, PART_TARGETS } part;

static bool in_part(const wanted *w, part what, int i)
{
    if (i >= w->op->ntypes) return what == PART_LAYOUTS;
    return what == (kr_type_in_text(w->family, i) ? PART_TYPES : PART_SUMS);
}

static bool same(const wanted *w, part what, const uint8_t *x, const uint8_t *y)
{
    for (int i = 0; i < w->op->ntypes + w->family->nlayouts; i++)
        if (in_part(w, what, i) && x[i] != y[i]) return false;
    return true;
}

static bool alike(const wanted *w, part what, const kiln_kernel *x, const kiln_kernel *y)
{
    if (what == PART_TARGETS) return strcmp(x->module->target, y->module->target) == 0;
    return same(w, what, x->row->sig, y->row->sig);
}

static void put_sums(const kr_module *m, const wanted *w, const uint8_t *sig, const char *before,
                     kr_text *text)
{
    for (int i = 0; i < w->op->ntypes; i++) {
        if (!in_part(w, PART_SUMS, i)) continue;
        kr_put(text, "%s%s=%s", before, kr_str(m, w->family->type[i].name),
               kiln_dtype_name((kiln_dtype)sig[i]));
        before = " ";
    }
}

static void put_part(const wanted *w, part what, const kiln_kernel *k, kr_text *text)
{
    switch (what) {
    case PART_TYPES:
        kr_put_types(w->family, w->op, k->row->sig, text);
        break;
    case PART_LAYOUTS:
        kr_put_layouts(w->family, w->op, k->row->sig, text);
        break;
    case PART_SUMS:
        put_sums(k->module, w, k->row->sig, "", text);
        break;
    case PART_TARGETS:
        kr_put(text, "%s", k->module->target);
        break;
    }
}

/* Lists each different `what` among the op's rows that match the signature in the parts before
 * it. */
static size_t put_parts(const kiln_ctx *ctx, const char *op, const wanted *w, part what,
                        kr_text *text)
{
    list l = {.count = 0};
    for (size_t i = 0; i < ctx->nkernels; i++) {
        const kiln_kernel *k = &ctx->kernel[i];
        if (strcmp(kr_str(k->module, k->op->name), op) != 0) continue;
        bool fits = true;
        for (part before = PART_TYPES; before < what && fits; before++)
            fits = same(w, before, k->row->sig, w->sig);
        size_t at = 0;
        while (at < l.count && at < LISTED && !alike(w, what, l.seen[at], k)) at++;
        if (!fits || at < l.count) continue;
        if (l.count < LISTED) {
            l.seen[l.count] = k;
            if (text && l.count) kr_put(text, "; ");
            if (text) put_part(w, what, k, text);
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
        kr_put(text, "no op '%s': did you mean '%s'? (a new op is built by `make instances`)", p->op,
               closest);
    } else {
        kr_put(text, "no op '%s' was described (`kiln list` shows what there is)", p->op);
        if (ctx->nrefused) kr_put(text, "; %zu refused, first: %s", ctx->nrefused, ctx->refused[0]);
    }
    return KILN_NOT_FOUND;
}

static kiln_status say_rule(const kiln_ctx *ctx, const kiln_problem *p, const kr_signature *sig,
                            const kr_group *g, kr_text *text)
{
    kr_view v;
    const kiln_kernel *k = &ctx->kernel[g->first];
    if (kr_view_make(p, sig, k->module, k->op, ctx->device, &v)) {
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

static kiln_status say_target(const kiln_ctx *ctx, const kiln_problem *p, const wanted *w,
                              kr_text *text)
{
    kr_put(text, "'%s' is compiled for these types%s, but only for ", p->op,
           w->family->nlayouts ? " and layouts" : "");
    put_parts(ctx, p->op, w, PART_TARGETS, text);
    if (ctx->device->info.target[0])
        kr_put(text, ", and this device is %s: run `make instances TARGETS=%s`",
               ctx->device->info.target, ctx->device->info.target);
    else
        kr_put(text, ", and no target fits this device (%s)", ctx->device->info.name);
    return KILN_NOT_SUPPORTED;
}

kiln_status kr_nearest(const kiln_ctx *ctx, const kiln_problem *p, kr_text *text)
{
    uint64_t hash;
    kr_signature sig;
    if (kr_op_name(p, &hash)) return KILN_INVALID;
    const kr_op *op = kr_ops_find(ctx, p->op, hash);
    if (!op) return say_unknown_op(ctx, p, text);
    if (kr_sign(p, op->module, op->row, hash, &sig)) return KILN_INVALID;
    const kr_group *g = kr_group_find(ctx, sig.key);
    if (g) return say_rule(ctx, p, &sig, g, text);

    const wanted w = {op->row, kr_family(op->module, op->row), sig.sig};
    if (put_parts(ctx, p->op, &w, PART_TARGETS, NULL)) return say_target(ctx, p, &w, text);
    part shown = PART_SUMS;
    while (shown > PART_TYPES && !put_parts(ctx, p->op, &w, shown, NULL)) shown--;
    kr_put(text, "'%s' is not described for ", p->op);
    kr_put_types(w.family, w.op, sig.sig, text);
    if (w.family->nlayouts) kr_put(text, " ");
    kr_put_layouts(w.family, w.op, sig.sig, text);
    put_sums(op->module, &w, sig.sig, " ", text);
    kr_put(text, ", but for ");
    if (shown == PART_LAYOUTS) kr_put(text, "these types with ");
    if (put_parts(ctx, p->op, &w, shown, text) == 0) kr_put(text, "nothing that was compiled");
    return KILN_NOT_FOUND;
}
