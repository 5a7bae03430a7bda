// SPDX-License-Identifier: MIT
// Which instance computes a problem: key -> rows -> legal ones -> a tuned row, the nearest tuned
// shape, else least cost. Answers are kept in a direct-mapped cache of one atomic word per slot; an
// answer from it is checked for key and legality again, so that two problems in one slot can cost
// speed and never correctness.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

typedef struct query {
    const kiln_problem *p; /* the caller's, or in room */
    kiln_problem room;
    const kr_op *op; /* NULL: not known */
    kr_signature sig;
    const kr_group *group; /* NULL: no row on this device */
    kr_view view;
} query;

/* Everything about a problem; without rows, only what its numbers allow to be said. */
static kiln_status ask(kiln_ctx *ctx, const kiln_problem *p, query *q)
{
    uint64_t hash;
    q->group = NULL;
    if (!ctx) return kr_fail(KILN_INVALID, "the context is NULL: open one with kiln_open");
    if (!(q->p = p = kr_problem_in(p, &q->room))) return KILN_INVALID;
    kiln_status status = kr_op_name(p, &hash);
    if (status) return status;
    q->op = kr_ops_find(ctx, p->op, hash);
    if (!q->op) return KILN_OK;
    const kr_module *m = q->op->module;
    status = kr_sign(p, m, q->op->row, hash, &q->sig);
    if (status) return status;
    q->group = kr_group_find(ctx, q->sig.key);
    if (!q->group) return KILN_OK;
    const kiln_kernel *k = &ctx->kernel[q->group->first];
    if (k->op->hash != q->op->row->hash)
        q->group = NULL; /* two keys alike in 64 bits */
    else
        status = kr_view_make(p, &q->sig, m, q->op->row, ctx->device, &q->view);
    return status;
}

static kiln_status nothing(const kiln_ctx *ctx, const query *q)
{
    char buffer[900];
    kr_text text = {buffer, sizeof buffer, 0};
    const kiln_status status = kr_nearest(ctx, q->p, &text);
    return kr_fail(status, "%s", buffer);
}

double kr_cost(const kiln_kernel *k, const kiln_shape *shape)
{
    const double cost = k->schedule->cost(shape, k->row->t);
    return isnan(cost) ? INFINITY : cost;
}

static bool legal(const kiln_kernel *k, const kiln_shape *shape)
{
    return k->schedule->check(shape, k->row->t) == 0;
}

static const kr_group *next_group(const kiln_ctx *ctx, const kr_group *g)
{
    return g->next ? &ctx->group[g->next - 1] : NULL;
}

const kiln_kernel *kr_choose(const kiln_ctx *ctx, const kr_group *group, const kr_view *v,
                             kr_how *how)
{
    bool exact;
    const kiln_kernel *best = group->ntuned ? kr_tuned_find(ctx, group, v, &exact) : NULL;
    if (!best && ctx->first) best = kr_won_find(ctx, group, v, &exact);
    if (best) {
        *how = exact ? KR_BY_TUNED : KR_BY_NEAREST;
        return best;
    }
    *how = KR_BY_COST;
    double least = INFINITY;
    for (const kr_group *g = group; g; g = next_group(ctx, g)) {
        for (uint32_t i = 0; i < g->count; i++) {
            const kiln_kernel *k = &ctx->kernel[g->first + i];
            if (!legal(k, &v->shape)) continue;
            const double cost = kr_cost(k, &v->shape);
            if (best && !(cost < least)) continue;
            best = k;
            least = cost;
        }
    }
    return best;
}

/* ---- the cache ---- */

static uint64_t mixed(uint64_t h, const uint64_t *part, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        h = (h ^ part[i]) * 0x9e3779b97f4a7c15ull;
        h ^= h >> 32;
    }
    return h;
}

/* Of a family with planes more sizes, strides and tensors count. */
static uint64_t problem_hash(const query *q)
{
    const kiln_shape *s = &q->view.shape;
    const uint64_t part[] = {
        (uint64_t)s->size[0] << 32 | (uint64_t)s->size[1],
        (uint64_t)s->size[2] << 32 | (uint64_t)s->size[KILN_BATCH],
        (uint64_t)s->ld[0],
        (uint64_t)s->ld[1],
        (uint64_t)s->ld[2],
        (uint64_t)(s->align[0] | s->align[1] << 16 | s->align[2] << 32 | s->align_d << 48) ^
            (uint64_t)s->vector << 8};
    uint64_t h = mixed(q->sig.key, part, sizeof part / sizeof *part);
    if (!kr_has_planes(kr_family(q->op->module, q->op->row))) return h;
    uint64_t more[KILN_MAX_SIZES - KILN_BATCH + KILN_MAX_OWN + 2];
    size_t n = 0;
    for (int i = KILN_BATCH + 1; i <= KILN_MAX_SIZES; i++) more[n++] = (uint64_t)s->size[i];
    for (int i = 0; i < KILN_MAX_OWN; i++) more[n++] = (uint64_t)s->plane[i];
    for (int i = 3; i < KILN_MAX_OWN; i++)
        more[n++] = (uint64_t)s->ld[i], more[n++] = (uint64_t)s->align[i];
    return mixed(h, more, n);
}

static const kiln_kernel *cached(const kiln_ctx *ctx, const query *q, uint64_t word, uint64_t hash)
{
    const uint32_t position = (uint32_t)word;
    if (position == 0 || position > ctx->nkernels || word >> 32 != hash >> 32) return NULL;
    const kiln_kernel *k = &ctx->kernel[position - 1];
    return k->row->key == q->sig.key && legal(k, &q->view.shape) ? k : NULL;
}

static void log_found(const query *q, const kiln_kernel *k, kr_how how)
{
    char sizes[(KILN_MAX_SIZES + 1) * (KILN_NAME_MAX + 24)] = "";
    kr_text text = {sizes, sizeof sizes, 0};
    const kiln_family *f = kr_family(k->module, k->op);
    for (int i = 0; i < f->nsizes; i++)
        kr_put(&text, " %s=%lld", kr_str(k->module, f->size[i]),
               (long long)q->view.shape.size[KILN_POSITION(i)]);
    kr_log("found %s for %s%s %s=%lld by %s", kr_kernel_name(k), q->p->op, sizes,
           kr_size_name(k->module, k->op, KILN_BATCH), (long long)q->view.shape.size[KILN_BATCH],
           how == KR_BY_COST    ? "cost"
           : how == KR_BY_TUNED ? "tuning"
                                : "nearest tuning");
}

kiln_status kiln_find(kiln_ctx *ctx, const kiln_problem *p, const kiln_kernel **out)
{
    query q;
    if (!out) return kr_fail(KILN_INVALID, "kiln_find needs a place for the kernel");
    *out = NULL;
    const kiln_status status = ask(ctx, p, &q);
    if (status) return status;
    if (!q.group) return nothing(ctx, &q);
    const uint64_t hash = problem_hash(&q);
    _Atomic uint64_t *slot = &ctx->cache[hash % KR_CACHE];
    *out = cached(ctx, &q, atomic_load_explicit(slot, memory_order_relaxed), hash);
    if (*out) return KILN_OK;

    kr_how how;
    const kiln_kernel *k = kr_choose(ctx, q.group, &q.view, &how);
    if (!k) return nothing(ctx, &q);
    const kiln_kernel *const tuned =
        ctx->first && how == KR_BY_COST ? kr_first_find(ctx, q.p, q.group, &q.view, k, &how) : k;
    if (tuned) { /* else it is tuned at a later find */
        k = tuned;
        atomic_store_explicit(slot, (hash >> 32) << 32 | (uint64_t)(k - ctx->kernel + 1),
                              memory_order_relaxed);
    }
    if (kr_log_on()) log_found(&q, k, how);
    kr_log_problem(q.p);
    *out = k;
    return KILN_OK;
}

/* ---- all of them ---- */

typedef struct ranked {
    const kiln_kernel *kernel;
    double cost;
} ranked;

static int by_cost(const void *x, const void *y)
{
    const ranked *a = x, *b = y;
    if (a->cost != b->cost) return a->cost < b->cost ? -1 : 1;
    return (a->kernel > b->kernel) - (a->kernel < b->kernel);
}

kiln_status kiln_find_all(kiln_ctx *ctx, const kiln_problem *p, const kiln_kernel **out,
                          size_t *count)
{
    query q;
    if (!count) return kr_fail(KILN_INVALID, "kiln_find_all needs a count");
    const size_t room = out ? *count : 0;
    *count = 0;
    kiln_status status = ask(ctx, p, &q);
    if (status) return status;
    if (!q.group) return nothing(ctx, &q);
    size_t most = 0, n = 0;
    for (const kr_group *g = q.group; g; g = next_group(ctx, g)) most += g->count;
    ranked *list = malloc(most * sizeof *list);
    if (!list) return kr_fail(KILN_NO_MEMORY, "no memory to rank %zu instances", most);
    kr_how how;
    const kiln_kernel *best = kr_choose(ctx, q.group, &q.view, &how);
    for (const kr_group *g = q.group; g; g = next_group(ctx, g))
        for (uint32_t i = 0; i < g->count; i++) {
            const kiln_kernel *k = &ctx->kernel[g->first + i];
            if (legal(k, &q.view.shape))
                list[n++] = (ranked){k, k == best ? -INFINITY : kr_cost(k, &q.view.shape)};
        }
    qsort(list, n, sizeof *list, by_cost);
    for (size_t i = 0; i < n && i < room; i++) out[i] = list[i].kernel;
    free(list);
    *count = n;
    if (n == 0) return nothing(ctx, &q);
    if (out && room < n)
        return kr_fail(KILN_TRUNCATED, "%zu instances are legal and the array has room for %zu", n,
                       room);
    return KILN_OK;
}

kiln_status kiln_kernel_by_name(kiln_ctx *ctx, const char *name, const kiln_kernel **out)
{
    if (!ctx || !name || !out)
        return kr_fail(KILN_INVALID, "kiln_kernel_by_name needs a context, a name and a place");
    *out = NULL;
    for (size_t i = 0; i < ctx->nkernels && !*out; i++)
        if (strcmp(kr_kernel_name(&ctx->kernel[i]), name) == 0) *out = &ctx->kernel[i];
    return *out ? KILN_OK : kr_fail(KILN_NOT_FOUND, "no open module has an instance '%s'", name);
}
