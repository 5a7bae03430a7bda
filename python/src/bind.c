// SPDX-License-Identifier: MIT
// An op on a device, as kiln_op_describe and its kernels' signatures tell it.  Nothing here knows a
// family.
#include "binding.h"
#include <stdlib.h>
#include <string.h>

static void set_tensor(const kiln_op_info *info, int i, kp_tensor *t)
{
    const kiln_tensor_info *from = &info->tensor[i];
    *t = (kp_tensor){
        .name = info->tensor_key[i],
        .at = from->at,
        .arg = from->arg,
        .planes = info->tensor_planes[i],
        .rows = from->rows,
        .cols = from->cols,
        .batches = info->rows_of[i].batches,
        .page = info->rows_of[i].page,
        .beyond = info->rows_of[i].beyond,
        .row_block = from->row_block,
        .col_block = from->col_block,
        .type = from->type,
        .dtype = (int)info->tensor_dtype[i],
        .letter = info->tensor_letter[i],
        .layout = (int)info->tensor_layout[i],
        .own = from->kind == KILN_D_NONE,
        .out = from->out,
        .twin = -1,
    };
}

static void set_sizes(kp_bound *b)
{
    const kiln_op_info *info = &b->info;
    for (int i = 0; i <= KILN_BATCH; i++) b->size[i] = info->size_name[i];
    for (int i = 0; i < KILN_MAX_SIZES - KILN_BATCH; i++)
        b->size[KILN_BATCH + 1 + i] = info->more_size_name[i];
    for (int i = 0; i < b->ntensors; i++) {
        const kp_tensor *t = &b->tensor[i];
        const int of[] = {t->planes, t->page ? -1 : t->rows, t->cols, t->batches};
        for (int k = 0; k < 4; k++)
            if (of[k] >= 0) b->told |= 1u << of[k];
    }
}

/* Whether batches may be taken for rows of one matrix. */
bool kp_folds(const kp_bound *b)
{
    const int rows = b->info.rows;
    return !b->stacked && !b->info.uses_at && rows >= 0 && b->info.independent >> rows & 1;
}

kp_bound *kp_bind(const char *op, kp_ctx *ctx)
{
    kp_bound *b = calloc(1, sizeof *b);
    if (!b) {
        PyErr_NoMemory();
        return NULL;
    }
    b->info.struct_size = sizeof b->info;
    const kiln_status status = kiln_op_describe(ctx->ctx, op, &b->info);
    if (status) {
        free(b);
        kp_raise(status);
        return NULL;
    }
    b->ctx = ctx;
    b->generation = kp.generation;
    kp_hold(ctx);
    b->ntensors = (int)b->info.ntensors;
    b->stacked = b->info.planes >= 0;
    for (int i = 0; i < b->ntensors; i++) {
        set_tensor(&b->info, i, &b->tensor[i]);
        if (i && b->tensor[i].at == b->tensor[i - 1].at)
            b->tensor[i].twin = b->tensor[i - 1].twin >= 0 ? b->tensor[i - 1].twin : i - 1;
        b->nout += b->tensor[i].out;
    }
    set_sizes(b);
    for (size_t i = 0; i < ctx->nsignatures; i++) {
        if (strcmp(ctx->signature[i].op, op) != 0) continue;
        if (!b->nsignatures++) b->signature = &ctx->signature[i];
    }
    return b;
}

void kp_unbind(kp_bound *b)
{
    if (!b) return;
    for (int i = 0; i < KP_PLANS; i++)
        if (b->plan[i]) kp_plan_drop(b->plan[i]);
    kp_release(b->ctx);
    free(b);
}
