// SPDX-License-Identifier: MIT
// Tuned rows in memory.  Those of files are sorted by key and sizes, those of a key known to its
// group, so that a look-up is a binary search for the shape, then a walk over those whose first
// size is within a factor of two.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "internal.h"

/* What makes an instance the one that was measured: its name, its compiled code, its tunables and
 * what follows from them, its tensor maps. */
uint64_t kr_content(const kiln_kernel *k)
{
    struct {
        uint64_t name, code;
        int32_t t[KILN_MAX_SLOTS];
        kiln_map map[KR_MAX_MAPS];
    } made;
    memset(&made, 0, sizeof made);
    made.name = kiln_name_hash(kr_kernel_name(k));
    made.code = k->row->content;
    memcpy(made.t, k->row->t, k->schedule->slots * sizeof *made.t);
    if (k->row->maps)
        memcpy(made.map, k->module->table->map + k->row->first_map,
               k->row->maps * sizeof *made.map);
    return XXH3_64bits(&made, sizeof made);
}

static int by_sizes(const kr_tuned *row, const int64_t *size, int n)
{
    for (int i = 0; i < n; i++)
        if (row->size[i] != size[i]) return row->size[i] < size[i] ? -1 : 1;
    return 0;
}

static int by_place(const void *x, const void *y)
{
    const kr_tuned *a = x, *b = y;
    for (int i = 0; i <= KILN_MAX_SIZES; i++)
        if (a->size[i] != b->size[i]) return a->size[i] < b->size[i] ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

/* By group first, counted, then each group by itself. */
bool kr_tuned_sort(kiln_ctx *ctx)
{
    uint32_t first = 0;
    kr_tuned *sorted = malloc((ctx->ntuned + 1) * sizeof *sorted);
    for (uint32_t i = 0; i < ctx->ngroups; i++) ctx->group[i].ntuned = 0;
    if (!sorted) {
        ctx->ntuned = 0;
        return false;
    }
    for (size_t i = 0; i < ctx->ntuned; i++) ctx->group[ctx->tuned[i].group].ntuned++;
    for (uint32_t i = 0; i < ctx->ngroups; i++) {
        ctx->group[i].tuned = first;
        first += ctx->group[i].ntuned;
        ctx->group[i].ntuned = 0;
    }
    for (size_t i = 0; i < ctx->ntuned; i++) {
        kr_group *const g = &ctx->group[ctx->tuned[i].group];
        sorted[g->tuned + g->ntuned++] = ctx->tuned[i];
    }
    free(ctx->tuned);
    ctx->tuned = sorted;
    for (uint32_t i = 0; i < ctx->ngroups; i++)
        if (ctx->group[i].ntuned > 1)
            qsort(sorted + ctx->group[i].tuned, ctx->group[i].ntuned, sizeof *sorted, by_place);
    return true;
}

/* The group's first row that is not before the first n sizes; its end: there is none. */
static const kr_tuned *lower_bound(const kiln_ctx *ctx, const kr_group *g, const int64_t *size,
                                   int n)
{
    const kr_tuned *const row = ctx->tuned + g->tuned;
    size_t lo = 0, hi = g->ntuned;
    while (lo < hi) {
        const size_t middle = lo + (hi - lo) / 2;
        if (by_sizes(&row[middle], size, n) < 0)
            lo = middle + 1;
        else
            hi = middle;
    }
    return row + lo;
}

static bool legal(const kiln_ctx *ctx, const kr_tuned *row, const kiln_shape *s)
{
    const kiln_kernel *k = &ctx->kernel[row->kernel];
    return k->schedule->check(s, k->row->t) == 0;
}

/* By what factor two shapes differ, all sizes together; infinite beyond a factor of two in one of
 * them, where the cost model knows better. */
static double distance(const kr_tuned *row, const int64_t *size)
{
    double d = 1;
    for (int i = 0; i <= KILN_MAX_SIZES; i++) {
        const int64_t a = row->size[i], b = size[i];
        if (a == b) continue;
        if (a > 2 * b || b > 2 * a) return INFINITY;
        d *= a > b ? (double)a / (double)b : (double)b / (double)a;
    }
    return d;
}

/* Of rows of the very shape: one of the same alignments and leading dimensions, else the last. */
static const kr_tuned *find_same(const kiln_ctx *ctx, const kr_group *g, const kiln_shape *s)
{
    const int64_t id = kr_shape_id(s);
    const kr_tuned *best = NULL, *const end = ctx->tuned + g->tuned + g->ntuned;
    for (const kr_tuned *row = lower_bound(ctx, g, s->size, KILN_MAX_SIZES + 1);
         row < end && by_sizes(row, s->size, KILN_MAX_SIZES + 1) == 0; row++) {
        if (best && best->shape_id == id && row->shape_id != id) continue;
        if (legal(ctx, row, s)) best = row;
    }
    return best;
}

static const kr_tuned *find_near(const kiln_ctx *ctx, const kr_group *g, const kiln_shape *s)
{
    const int64_t from = s->size[0] / 2 + s->size[0] % 2;
    const kr_tuned *best = NULL, *const end = ctx->tuned + g->tuned + g->ntuned;
    double least = 2;
    for (const kr_tuned *row = lower_bound(ctx, g, &from, 1);
         row < end && row->size[0] <= 2 * s->size[0]; row++) {
        const double d = distance(row, s->size);
        if (d > least || (d == least && best && row->order < best->order)) continue;
        if (!legal(ctx, row, s)) continue;
        best = row;
        least = d;
    }
    return best;
}

/* Of those that KILN_TUNE has found, which are few: the very shape, else the nearest. */
const kiln_kernel *kr_won_find(const kiln_ctx *ctx, const kr_group *g, const kr_view *v,
                               bool *exact)
{
    const kiln_shape *s = &v->shape;
    const int64_t id = kr_shape_id(s);
    const kr_tuned *best = NULL;
    double least = 2;
    *exact = false;
    for (const kr_won *w =
             atomic_load_explicit(&ctx->first->won[g - ctx->group], memory_order_acquire);
         w; w = w->next) {
        const double d = distance(&w->row, s->size);
        if (d > least || (best && d == least && (best->shape_id == id || w->row.shape_id != id)))
            continue;
        if (!legal(ctx, &w->row, s)) continue;
        best = &w->row;
        least = d;
        *exact = by_sizes(best, s->size, KILN_MAX_SIZES + 1) == 0;
    }
    return best ? &ctx->kernel[best->kernel] : NULL;
}

const kiln_kernel *kr_tuned_find(const kiln_ctx *ctx, const kr_group *g, const kr_view *v,
                                 bool *exact)
{
    const kr_tuned *row = find_same(ctx, g, &v->shape);
    *exact = row != NULL;
    if (!row) row = find_near(ctx, g, &v->shape);
    return row ? &ctx->kernel[row->kernel] : NULL;
}
