// SPDX-License-Identifier: MIT
// What each op's name means in a context.  Modules that were built at different times may differ
// there: then the device's own modules count before others, newer files before older ones, and of
// equal ones the one that was opened first.  A module that loses loses its rows of that op, no
// more, and it is said.
#include <stdlib.h>
#include <string.h>
#include "internal.h"

typedef struct rank {
    const kr_module *module;
    size_t position; /* in kiln_ctx.module */
    bool own;        /* of the device's target */
} rank;

static int by_time(const kr_module *x, const kr_module *y)
{
    if (x->changed.tv_sec != y->changed.tv_sec)
        return x->changed.tv_sec > y->changed.tv_sec ? -1 : 1;
    return (x->changed.tv_nsec < y->changed.tv_nsec) - (x->changed.tv_nsec > y->changed.tv_nsec);
}

static int by_rank(const void *px, const void *py)
{
    const rank *x = px, *y = py;
    if (x->own != y->own) return x->own ? -1 : 1;
    const int newer = by_time(x->module, y->module);
    return newer ? newer : (x->position > y->position) - (x->position < y->position);
}

const kr_op *kr_ops_find(const kiln_ctx *ctx, const char *name, uint64_t hash)
{
    uint32_t at;
    return kr_names_find(&ctx->op_names, name, hash, &at) ? &ctx->op[at] : NULL;
}

static const kr_op *find_op(const kiln_ctx *ctx, const char *name)
{
    return kr_ops_find(ctx, name, kiln_name_hash(name));
}

bool kr_op_counts(const kiln_ctx *ctx, const kr_module *m, const kiln_op_row *row)
{
    const kr_op *op = find_op(ctx, kr_str(m, row->name));
    return op && op->row->hash == row->hash;
}

static void add_ops(kiln_ctx *ctx, const kr_module *m)
{
    for (uint32_t i = 0; i < m->table->nops; i++) {
        const kiln_op_row *row = &m->table->ops[i];
        const char *name = kr_str(m, row->name);
        if (find_op(ctx, name)) continue;
        kr_names_add(&ctx->op_names, name, (uint32_t)ctx->nops);
        ctx->op[ctx->nops++] = (kr_op){m, row};
    }
}

/* One line for what `loser` means otherwise than `winner`. */
static bool say_set_aside(kiln_ctx *ctx, const rank *loser, const rank *winner)
{
    enum { NAMED = 6 };
    const kr_module *m = loser->module;
    char names[NAMED * (KILN_NAME_MAX + 100)];
    kr_text text = {names, sizeof names, 0};
    size_t count = 0;
    for (uint32_t i = 0; i < m->table->nops; i++) {
        const kiln_op_row *row = &m->table->ops[i];
        const kr_op *op = find_op(ctx, kr_str(m, row->name));
        if (op->module != winner->module || op->row->hash == row->hash) continue;
        if (count++ < NAMED)
            kr_put(&text, "%s%s (%.80s:%u)", count > 1 ? ", " : "", kr_str(m, row->name),
                   kr_str(m, row->file), row->line);
    }
    if (count == 0) return true;
    if (count > NAMED) kr_put(&text, " and %zu more", count - NAMED);
    return kr_refuse(ctx, "%s: %s %s left out: %s, %s, describes %s otherwise; build both again",
                     m->path, count > 1 ? "ops" : "op", names, winner->module->path,
                     winner->own && !loser->own               ? "this device's own"
                     : by_time(winner->module, loser->module) ? "newer"
                                                              : "found first",
                     count > 1 ? "them" : "it");
}

kiln_status kr_ops_settle(kiln_ctx *ctx)
{
    size_t most = 0;
    rank *list = malloc((ctx->nmodules + 1) * sizeof *list);
    for (size_t i = 0; i < ctx->nmodules; i++) most += ctx->module[i]->table->nops;
    ctx->op = malloc((most + 1) * sizeof *ctx->op);
    bool ok = list && ctx->op && kr_names_make(&ctx->op_names, most);
    for (size_t i = 0; ok && i < ctx->nmodules; i++) {
        const kr_module *m = ctx->module[i];
        list[i] = (rank){m, i, strcmp(m->target, ctx->device->info.target) == 0};
    }
    if (ok) {
        if (ctx->nmodules) qsort(list, ctx->nmodules, sizeof *list, by_rank);
        for (size_t i = 0; i < ctx->nmodules; i++) add_ops(ctx, list[i].module);
        kr_ops_hold(ctx->op, ctx->nops, 1);
    }
    for (size_t i = 1; ok && i < ctx->nmodules; i++)
        for (size_t w = 0; ok && w < i; w++) ok = say_set_aside(ctx, &list[i], &list[w]);
    free(list);
    return ok ? KILN_OK : kr_fail(KILN_NO_MEMORY, "no memory for the names of %zu ops", most);
}

void kr_ops_release(kiln_ctx *ctx)
{
    kr_ops_hold(ctx->op, ctx->nops, -1);
    free(ctx->op);
    free(ctx->op_names.slot);
}
