// SPDX-License-Identifier: MIT
// kiln_explain: every candidate for a problem, one line each, and why it was chosen or lost; of the
// chosen one and the one that comes next, what makes up their costs.  kiln_explain_json: the same
// for programs.
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

/* A number that is not negative, with a point in every locale. */
static void put_tenths(kr_text *text, double x)
{
    const double tenths = round(x * 10);
    kr_put(text, "%.0f.%d", floor(tenths / 10), (int)fmod(tenths, 10));
}

/* ---- what makes up a cost ---- */
typedef struct parts {
    const kiln_part *part;
    size_t n, most; /* most: the one that takes longest, n: none does */
    double value[KILN_MAX_PARTS];
} parts;

static void get_parts(const kiln_kernel *k, const kiln_shape *shape, parts *p)
{
    const kiln_schedule *s = k->schedule;
    *p = (parts){.part = s->part, .n = s->nparts, .most = s->nparts};
    if (p->n) s->parts(shape, k->row->t, p->value);
    for (size_t i = 0; i < p->n; i++) {
        if (!(p->value[i] > 0)) p->value[i] = 0;
        if (p->part[i].kind == KILN_PART_TIME && p->value[i] > 0 &&
            (p->most == p->n || p->value[i] > p->value[p->most]))
            p->most = i;
    }
}

/* "multiplying 181.2 us decides; launching 5.0 us, ...", and a line of counts and of what no kernel
 * stays below. */
static void put_parts(const kiln_kernel *k, const kiln_shape *shape, kr_text *text)
{
    static const char *const before[KILN_PART_KINDS] = {
        [KILN_PART_TIME] = "; ", [KILN_PART_LEAST] = "; at least ", [KILN_PART_COUNT] = "      "};
    static const kiln_part_kind order[] = {KILN_PART_TIME, KILN_PART_COUNT, KILN_PART_LEAST};
    parts p;
    get_parts(k, shape, &p);
    if (p.most == p.n) return;
    kr_put(text, "      %s ", kr_str(k->module, p.part[p.most].name));
    put_tenths(text, p.value[p.most]);
    kr_put(text, " us decides");
    for (size_t o = 0; o < sizeof order / sizeof *order; o++) {
        const char *between = before[order[o]];
        if (order[o] == KILN_PART_COUNT) kr_put(text, "\n");
        for (size_t i = 0; i < p.n; i++) {
            const char *name = kr_str(k->module, p.part[i].name);
            if (p.part[i].kind != order[o] || i == p.most) continue;
            if (order[o] == KILN_PART_TIME && p.value[i] < 0.05) continue; /* 0.0 us says nothing */
            kr_put(text, "%s", between);
            if (order[o] == KILN_PART_TIME) kr_put(text, "%s ", name);
            if (order[o] == KILN_PART_COUNT && p.value[i] == floor(p.value[i]))
                kr_put(text, "%.0f", p.value[i]);
            else
                put_tenths(text, p.value[i]);
            kr_put(text,
                   order[o] == KILN_PART_TIME    ? " us"
                   : order[o] == KILN_PART_LEAST ? " us by %s"
                                                 : " %s",
                   name);
            between = ", ";
        }
    }
    kr_put(text, "\n");
}

static const char *rule_of(const line *l)
{
    const kiln_schedule *s = l->kernel->schedule;
    return l->rule <= s->rules ? kr_str(l->kernel->module, s->rule_text[l->rule - 1])
                               : "unnamed rule";
}

static void put_line(const line *l, const kiln_kernel *chosen, kr_how how, int width, kr_text *text)
{
    static const char *const why[] = {[KR_BY_COST] = "",
                                      [KR_BY_TUNED] = "tuned for this shape, ",
                                      [KR_BY_NEAREST] = "tuned for the nearest shape, "};
    const kiln_kernel *k = l->kernel;
    kr_put(text, "  %-*s  ", width, kr_kernel_name(k));
    if (l->rule)
        kr_put(text, "not legal: %s\n", rule_of(l));
    else {
        const char *lost = how == KR_BY_COST ? "slower: " : "not tuned: ";
        kr_put(text, "%s%scost ", k == chosen ? "chosen: " : lost, k == chosen ? why[how] : "");
        put_tenths(text, l->cost);
        kr_put(text, " us\n");
    }
}

static int widest(const line *list, size_t n)
{
    size_t most = 0;
    for (size_t i = 0; i < n; i++) {
        const size_t len = strlen(kr_kernel_name(list[i].kernel));
        if (len > most) most = len;
    }
    return (int)most;
}

static void put_candidates(const kiln_ctx *ctx, const kr_group *group, const kr_view *v,
                           const line *list, size_t n, kr_text *text)
{
    kr_how how;
    const kiln_kernel *chosen = kr_choose(ctx, group, v, &how);
    const int width = widest(list, n);
    for (size_t i = 0; i < n; i++)
        if (list[i].kernel == chosen) {
            put_line(&list[i], chosen, how, width, text);
            put_parts(chosen, &v->shape, text);
        }
    for (size_t i = 0, others = 0; i < n; i++) {
        if (list[i].kernel == chosen) continue;
        put_line(&list[i], chosen, how, width, text);
        if (!others++ && !list[i].rule) put_parts(list[i].kernel, &v->shape, text);
    }
}

/* ---- schedules that have no candidate, and why ---- */
static bool has_schedule(const line *list, size_t n, const char *schedule)
{
    for (size_t i = 0; i < n; i++) {
        const kiln_kernel *k = list[i].kernel;
        if (strcmp(kr_str(k->module, k->schedule->name), schedule) == 0) return true;
    }
    return false;
}

static uint32_t first_absent(const kiln_absents *a, uint64_t key)
{
    uint32_t lo = 0, hi = a->count;
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (a->list[mid].key < key)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static void put_string(kr_text *text, const char *s)
{
    kr_put(text, "\"");
    for (; *s; s++) {
        const unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            kr_put(text, "\\%c", c);
        else if (c < ' ')
            kr_put(text, "\\u%04x", (unsigned)c);
        else
            kr_put(text, "%c", c);
    }
    kr_put(text, "\"");
}

/* As an instance's name would begin: "gfx942/bias_relu/f16_f16_f16/rcr/", and the schedule. */
static void put_absent_line(const kiln_kernel *like, const char *schedule, const char *why,
                            int width, kr_text *text)
{
    const char *name = kr_kernel_name(like), *end = strrchr(name, '/');
    const int folder = end ? (int)(end + 1 - name) : 0;
    kr_put(text, "  %.*s%-*s  no instance: %s\n", folder, name, width - folder, schedule, why);
}

/* Of each module that has candidates what it says of schedules that none is of. */
static void put_absent(const kiln_ctx *ctx, const kr_group *group, const line *list, size_t n,
                       bool json, kr_text *text)
{
    const char *between = "\n";
    const int width = widest(list, n);
    for (const kr_group *g = group; g; g = g->next ? &ctx->group[g->next - 1] : NULL) {
        const kiln_kernel *k = &ctx->kernel[g->first];
        const kiln_absents *a = k->module->absent;
        for (uint32_t i = a ? first_absent(a, g->key) : 0; a && i < a->count; i++) {
            const char *schedule = kr_str(k->module, a->list[i].schedule),
                       *why = kr_str(k->module, a->list[i].why);
            if (a->list[i].key != g->key) break;
            if (has_schedule(list, n, schedule)) continue; /* another module has one */
            if (!json) {
                put_absent_line(k, schedule, why, width, text);
                continue;
            }
            kr_put(text, "%s  {\"schedule\": ", between);
            put_string(text, schedule);
            kr_put(text, ", \"why\": ");
            put_string(text, why);
            kr_put(text, "}");
            between = ",\n";
        }
    }
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

/* ---- JSON ---- */
/* In thousandths; null where there is no number. */
static void put_number(kr_text *text, double x)
{
    if (!(x >= 0 && x < 1e15)) {
        kr_put(text, "null");
        return;
    }
    const double thousandths = round(x * 1000);
    kr_put(text, "%.0f.%03d", floor(thousandths / 1000), (int)fmod(thousandths, 1000));
}

static void put_candidate(const line *l, const char *how, const kr_view *v, kr_text *text)
{
    static const char *const kinds[KILN_PART_KINDS] = {
        [KILN_PART_TIME] = "time", [KILN_PART_LEAST] = "least", [KILN_PART_COUNT] = "count"};
    const kiln_kernel *k = l->kernel;
    kr_put(text, "  {\"instance\": ");
    put_string(text, kr_kernel_name(k));
    if (l->rule) {
        kr_put(text, ", \"not_legal\": ");
        put_string(text, rule_of(l));
        kr_put(text, "}");
        return;
    }
    kr_put(text, ", \"chosen\": ");
    if (how)
        put_string(text, how);
    else
        kr_put(text, "null");
    kr_put(text, ", \"cost_us\": ");
    put_number(text, l->cost);
    kr_put(text, ", \"parts\": [");
    parts p;
    get_parts(k, &v->shape, &p);
    for (size_t i = 0; i < p.n; i++) {
        kr_put(text, "%s{\"name\": ", i ? ", " : "");
        put_string(text, kr_str(k->module, p.part[i].name));
        kr_put(text, ", \"kind\": \"%s\", \"%s\": ", kinds[p.part[i].kind],
               p.part[i].kind == KILN_PART_COUNT ? "count" : "us");
        put_number(text, p.value[i]);
        kr_put(text, "}");
    }
    kr_put(text, "]}");
}

/* The chosen one first, then as they cost, then those that are not legal. */
static void put_list(const kiln_ctx *ctx, const kr_group *group, const kr_view *v, const line *list,
                     size_t n, kr_text *text)
{
    static const char *const by[] = {
        [KR_BY_COST] = "cost", [KR_BY_TUNED] = "tuned", [KR_BY_NEAREST] = "nearest"};
    kr_how how;
    const kiln_kernel *chosen = kr_choose(ctx, group, v, &how);
    const char *between = "\n";
    for (int rest = 0; rest < 2; rest++)
        for (size_t i = 0; i < n; i++) {
            if ((list[i].kernel != chosen) != rest) continue;
            kr_put(text, "%s", between);
            put_candidate(&list[i], rest ? NULL : by[how], v, text);
            between = ",\n";
        }
}

/* Behind the problem, whose text needs no escapes. */
static void put_device(const kiln_device_info *d, int json, kr_text *text)
{
    if (!json) {
        kr_put(text, " on %s (%s, %d units)\n", d->target[0] ? d->target : "no target", d->name,
               d->units);
        return;
    }
    kr_put(text, "\", \"target\": ");
    put_string(text, d->target);
    kr_put(text, ", \"device\": ");
    put_string(text, d->name);
    kr_put(text, ", \"units\": %d, \"candidates\": [", d->units);
}

/* ---- both ---- */
static kiln_status explain(kiln_ctx *ctx, const kiln_problem *p, int json, char *out, size_t *len)
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
    if (json) kr_put(&text, "{\"problem\": \"");
    if (status == KILN_OK) status = kr_put_problem(p, &text);
    if (status) return status;
    put_device(&ctx->device->info, json, &text);

    const kr_group *group = op ? kr_group_find(ctx, sig.key) : NULL;
    if (group && ctx->kernel[group->first].op->hash != op->row->hash) group = NULL;
    char nearest[900] = "";
    if (group) {
        kr_view v;
        status = kr_view_make(p, &sig, op->module, op->row, ctx->device, &v);
        if (status) return status;
        line *list;
        const size_t n = collect(ctx, group, &v, &list);
        if (!list) return kr_fail(KILN_NO_MEMORY, "no memory to explain a choice");
        (json ? put_list : put_candidates)(ctx, group, &v, list, n, &text);
        if (json) kr_put(&text, "\n], \"no_instance\": [");
        put_absent(ctx, group, list, n, json, &text);
        free(list);
    } else {
        kr_text words = {nearest, sizeof nearest, 0};
        status = kr_nearest(ctx, p, &words);
        if (json)
            kr_put(&text, "\n], \"no_instance\": [");
        else
            kr_put(&text, "  %s: %s\n", kiln_status_name(status), nearest);
    }
    if (json) {
        kr_put(&text, "\n], \"nothing\": ");
        put_string(&text, nearest);
        kr_put(&text, "}\n");
    } else {
        if (op) put_other_targets(ctx, p->op, sig.key, &text);
        put_set_aside(ctx, p->op, &text);
    }
    return kr_text_end(&text, len);
}

kiln_status kiln_explain(kiln_ctx *ctx, const kiln_problem *p, char *out, size_t *len)
{
    return explain(ctx, p, 0, out, len);
}

kiln_status kiln_explain_json(kiln_ctx *ctx, const kiln_problem *p, char *out, size_t *len)
{
    return explain(ctx, p, 1, out, len);
}
