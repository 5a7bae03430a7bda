// SPDX-License-Identifier: MIT
// kiln_launch: checks, fills the kernel's argument struct, asks the schedule for its geometry and
// hands both to the device.
#include <string.h>
#include "internal.h"

enum { WORKSPACE_ALIGN = 256 };

/* ---- is this kernel for this problem ---- */

static kiln_status check_kernel(const kiln_ctx *ctx, const kiln_kernel *k)
{
    if (!ctx) return kr_fail(KILN_INVALID, "the context is NULL: open one with kiln_open");
    if (!k) return kr_fail(KILN_INVALID, "the kernel is NULL: kiln_find gives one");
    if (k < ctx->kernel || k >= ctx->kernel + ctx->nkernels)
        return kr_fail(
            KILN_INVALID,
            "the kernel belongs to another context: find it with the one that launches it");
    if (!kr_kernel_runs(ctx, k))
        return kr_fail(KILN_NOT_SUPPORTED, "%s is for %s, and this context's device is %s",
                       kr_kernel_name(k), k->module->target,
                       ctx->device->info.target[0] ? ctx->device->info.target
                                                   : "of no known target");
    return KILN_OK;
}

static kiln_status match(const kiln_kernel *k, const kiln_problem *p, int64_t units, kr_view *v)
{
    uint8_t sig[7];
    uint64_t key;
    kiln_problem room;
    if (!(p = kr_problem_in(p, &room))) return KILN_INVALID;
    kiln_status status = kr_key(p, sig, &key);
    if (status) return status;
    if (key != k->row->key)
        return kr_fail(KILN_INVALID,
                       "%s does not compute this problem (%s %s,%s,%s): find a kernel for it",
                       kr_kernel_name(k), p->op, kiln_dtype_name(p->a.dtype),
                       kiln_dtype_name(p->b.dtype), kiln_dtype_name(p->e.dtype));
    status = kr_view_make(p, sig, k->module, k->op, units, v);
    if (status) return status;
    const uint32_t rule = k->schedule->check(&v->shape, k->row->t);
    if (rule == 0) return KILN_OK;
    return kr_fail(KILN_NOT_SUPPORTED, "%s cannot run this: %s", kr_kernel_name(k),
                   rule <= k->schedule->rules ? kr_str(k->module, k->schedule->rule_text[rule - 1])
                                              : "not legal");
}

static bool nothing_to_do(const kiln_shape *s)
{
    return s->m == 0 || s->n == 0;
}

size_t kiln_workspace_size(const kiln_kernel *k, const kiln_problem *p)
{
    kr_view v;
    if (!k) {
        kr_fail(KILN_INVALID, "the kernel is NULL: kiln_find gives one");
        return SIZE_MAX;
    }
    if (match(k, p, k->ctx->device->info.units, &v)) return SIZE_MAX;
    if (nothing_to_do(&v.shape)) return 0;
    const uint64_t size = k->schedule->workspace(&v.shape, k->row->t);
    return size > SIZE_MAX ? SIZE_MAX : (size_t)size;
}

static kiln_status check_workspace(const kiln_kernel *k, const kr_view *v, const kiln_args *args)
{
    const uint64_t need = k->schedule->workspace(&v->shape, k->row->t);
    if (need == 0) return KILN_OK;
    if (!args->workspace || args->workspace_size < need)
        return kr_fail(KILN_WORKSPACE,
                       "%s needs a workspace of %llu bytes (kiln_workspace_size) and gets %zu",
                       kr_kernel_name(k), (unsigned long long)need,
                       args->workspace ? args->workspace_size : 0);
    if ((uintptr_t)args->workspace % WORKSPACE_ALIGN)
        return kr_fail(KILN_WORKSPACE, "the workspace %p is not aligned to %d bytes",
                       args->workspace, WORKSPACE_ALIGN);
    return kr_workspace_check(v, k->module, k->op, args, need);
}

/* ---- launching ---- */

static kiln_status load(kiln_ctx *ctx, const kiln_kernel *k)
{
    if (atomic_load_explicit(&k->fn[0], memory_order_acquire)) return KILN_OK;
    kiln_status status = KILN_OK;
    pthread_mutex_lock(&ctx->load);
    if (!atomic_load_explicit(&k->fn[0], memory_order_relaxed)) {
        status = ctx->device->ops->load(ctx->device, &ctx->kernel[k - ctx->kernel]);
        if (status == KILN_OK) kr_log("loaded %s", kr_kernel_name(k));
    }
    pthread_mutex_unlock(&ctx->load);
    return status;
}

kiln_status kiln_prepare(kiln_ctx *ctx, const kiln_kernel *k)
{
    const kiln_status status = check_kernel(ctx, k);
    return status ? status : load(ctx, k);
}

static void fill_args(const kiln_ctx *ctx, const kiln_kernel *k, const kr_view *v,
                      const kiln_args *in, kiln_gemm_args *g)
{
    const kiln_shape *s = &v->shape;
    memset(g, 0, sizeof *g);
    g->a = in->a;
    g->e = in->e;
    g->workspace = in->workspace;
    g->lda = s->lda;
    g->ldb = s->ldb;
    g->lde = s->lde;
    g->stride_a = v->a.stride;
    g->stride_b = v->b.stride;
    g->stride_e = v->e.stride;
    g->m = (int)s->m;
    g->n = (int)s->n;
    g->k = (int)s->k;
    g->batch = (int)s->batch;
    g->units = ctx->device->info.units;
    for (int i = 0; i < k->op->products; i++) g->b[i] = in->b[i];
    for (int i = 0; i < k->op->nd; i++) {
        g->d[i] = in->d[i];
        g->ldd[i] = k->op->d[i].kind == KILN_D_FULL ? v->d[i].ld : 0;
        g->stride_d[i] = v->d[i].stride;
    }
    for (int i = 0; i < k->op->nscalars; i++) g->s[i] = in->scalars[i];
}

kiln_status kiln_launch(kiln_ctx *ctx, const kiln_kernel *k, const kiln_problem *p,
                        const kiln_args *args, void *stream)
{
    kr_view v;
    kiln_args room;
    kiln_status status = check_kernel(ctx, k);
    if (status == KILN_OK) status = match(k, p, ctx->device->info.units, &v);
    if (status == KILN_OK && !(args = kr_args_in(args, &room))) status = KILN_INVALID;
    if (status == KILN_OK) status = kr_args_check(&v, k->module, k->op, args, true);
    if (status) return status;
    if (nothing_to_do(&v.shape)) return KILN_OK;
    status = check_workspace(k, &v, args);
    if (status == KILN_OK) status = load(ctx, k);
    if (status) return status;

    kiln_gemm_args g;
    kiln_plan plan = {0};
    fill_args(ctx, k, &v, args, &g);
    k->schedule->plan(&v.shape, k->row->t, &plan);
    if (plan.stages == 0) return KILN_OK;
    if (plan.stages > KILN_MAX_STAGES)
        return kr_fail(KILN_BAD_MODULE, "%s plans %u stages, at most %d", kr_kernel_name(k),
                       plan.stages, KILN_MAX_STAGES);
    const kr_launch l = {k, &g, &v, &plan};
    return ctx->device->ops->launch(ctx->device, &l, stream);
}
