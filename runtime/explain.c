// SPDX-License-Identifier: MIT
// kiln_explain: every candidate for a problem, one line each, and why it was chosen or lost.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

typedef struct line {
    const kiln_kernel *kernel;
    double cost;
    uint32_t rule; /* 0: legal, else 1 + the rule broken */
} line;

static int by_merit(const void *x, const void *y)
{
    const line *a = x, *b = y;
    if (!a->rule != !b->rule) return a->rule ? 1 : -1;
    if (!a->rule && a->cost != b->cost) return a->cost < b->cost ? -1 : 1;
    return (a->kernel > b->kernel) - (a->kernel < b->kernel);
}

static size_t collect(const kiln_ctx *ctx, const kr_group *group, const kr_view *v, line **out)
{
    size_t most = 0, n = 0;
    for (const kr_group *g = group; g; g = g->next ? &ctx->group[g->next - 1] : NULL)
        most += g->count;
    line *list = *out = malloc(most * sizeof *list);
    if (!list) return 0;
    for (const kr_group *g = group; g; g = g->next ? &ctx->group[g->next - 1] : NULL)
        for (uint32_t i = 0; i < g->count; i++) {
            const kiln_kernel *k = &ctx->kernel[g->first + i];
            const uint32_t rule = k->schedule->check(&v->shape, k->row->t);
            list[n++] = (line){k, rule ? INFINITY : kr_cost(k, &v->shape), rule};
        }
    qsort(list, n, sizeof *list, by_merit);
    return n;
}

/* A time, with a point in every locale. */
static void put_cost(kr_text *text, double us)
{
    const double tenths = round(us * 10);
    kr_put(text, "cost %.0f.%d us\n", floor(tenths / 10), (int)fmod(tenths, 10));
}

static void put_line(const line *l, const kiln_kernel *chosen, kr_how how, int width, kr_text *text)
{
    static const char *const why[] = {[KR_BY_COST] = "",
                                      [KR_BY_TUNED] = "tuned for this shape, ",
                                      [KR_BY_NEAREST] = "tuned for the nearest shape, "};
    const kiln_kernel *k = l->kernel;
    kr_put(text, "  %-*s  ", width, kr_kernel_name(k));
    if (l->rule)
        kr_put(text, "not legal: %s\n",
               l->rule <= k->schedule->rules
                   ? kr_str(k->module, k->schedule->rule_text[l->rule - 1])
                   : "unnamed rule");
    else {
        const char *lost = how == KR_BY_COST ? "slower: " : "not tuned: ";
        kr_put(text, "%s%s", k == chosen ? "chosen: " : lost, k == chosen ? why[how] : "");
        put_cost(text, l->cost);
    }
}

static void put_candidates(const kiln_ctx *ctx, const kr_group *group, const kr_view *v,
                           const line *list, size_t n, kr_text *text)
{
    kr_how how;
    const kiln_kernel *chosen = kr_choose(ctx, group, v, &how);
    int width = 0;
    for (size_t i = 0; i < n; i++) {
        const int len = (int)strlen(kr_kernel_name(list[i].kernel));
        if (len > width) width = len;
    }
    for (size_t i = 0; i < n; i++)
        if (list[i].kernel == chosen) put_line(&list[i], chosen, how, width, text);
    for (size_t i = 0; i < n; i++)
        if (list[i].kernel != chosen) put_line(&list[i], chosen, how, width, text);
}

/* Rows of the same key that were compiled for other machines: how many, target by target. */
static size_t count_for(const kiln_ctx *ctx, const char *op, uint64_t key, const char *target)
{
    size_t n = 0;
    for (size_t i = 0; i < ctx->nkernels; i++) {
        const kiln_kernel *k = &ctx->kernel[i];
        n += k->row->key == key && !kr_kernel_runs(ctx, k) &&
             strcmp(k->module->target, target) == 0 &&
             strcmp(kr_str(k->module, k->op->name), op) == 0;
    }
    return n;
}

static void put_other_targets(const kiln_ctx *ctx, const char *op, uint64_t key, kr_text *text)
{
    const char *before = "  other targets: ";
    for (size_t i = 0; i < ctx->nmodules; i++) {
        const char *target = ctx->module[i]->target;
        size_t first = 0; /* several modules may be of one target */
        while (strcmp(ctx->module[first]->target, target) != 0) first++;
        const size_t n = first == i ? count_for(ctx, op, key, target) : 0;
        if (!n) continue;
        kr_put(text, "%s%zu of %s", before, n, target);
        before = ", ";
    }
    if (*before == ',') kr_put(text, "\n");
}

/* Modules that describe the op otherwise. */
static void put_set_aside(const kiln_ctx *ctx, const char *name, kr_text *text)
{
    for (size_t i = 0; i < ctx->nmodules; i++) {
        const kr_module *m = ctx->module[i];
        const kiln_op_row *row = kr_module_op(m, name);
        if (row && !kr_op_counts(ctx, m, row))
            kr_put(text, "  %s  set aside: describes %s otherwise (%s:%u)\n", m->path, name,
                   kr_str(m, row->file), row->line);
    }
}

kiln_status kiln_explain(kiln_ctx *ctx, const kiln_problem *p, char *out, size_t *len)
{
    if (!ctx || !len) return kr_fail(KILN_INVALID, "kiln_explain needs a context and a length");
    uint64_t hash;
    kr_signature sig = {.n = 0};
    kiln_problem room;
    if (!(p = kr_problem_in(p, &room))) return KILN_INVALID;
    kr_text text = {out, *len, 0};
    if (out && *len) out[0] = 0;
    kiln_status status = kr_op_name(p, &hash);
    const kr_op *op = status ? NULL : kr_ops_find(ctx, p->op, hash);
    if (op) status = kr_sign(p, op->module, op->row, hash, &sig);
    if (status == KILN_OK) status = kr_put_problem(p, &text);
    if (status) return status;
    kr_put(&text, " on %s (%s, %d units)\n",
           ctx->device->info.target[0] ? ctx->device->info.target : "no target",
           ctx->device->info.name, ctx->device->info.units);

    const kr_group *group = op ? kr_group_find(ctx, sig.key) : NULL;
    if (group && ctx->kernel[group->first].op->hash != op->row->hash) group = NULL;
    if (group) {
        kr_view v;
        status = kr_view_make(p, &sig, op->module, op->row, ctx->device->info.units, &v);
        if (status) return status;
        line *list;
        const size_t n = collect(ctx, group, &v, &list);
        if (!list) return kr_fail(KILN_NO_MEMORY, "no memory to explain a choice");
        put_candidates(ctx, group, &v, list, n, &text);
        free(list);
    } else {
        char nearest[900];
        kr_text words = {nearest, sizeof nearest, 0};
        status = kr_nearest(ctx, p, &words);
        kr_put(&text, "  %s: %s\n", kiln_status_name(status), nearest);
    }
    if (op) put_other_targets(ctx, p->op, sig.key, &text);
    put_set_aside(ctx, p->op, &text);
    return kr_text_end(&text, len);
}
