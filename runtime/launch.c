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

static kiln_status mismatch(const kiln_kernel *k, const kiln_problem *p)
{
    char types[16 * KILN_MAX_TYPES] = "";
    kr_text text = {types, sizeof types, 0};
    kr_op op;
    bool known;
    kr_signature sig;
    if (kr_op_guess(p->op, &op, &known) == KILN_OK) {
        if (kr_sign(p, op.module, op.row, kiln_name_hash(p->op), &sig) == KILN_OK) {
            kr_put(&text, " ");
            kr_put_types(kr_family(op.module, op.row), op.row, sig.sig, &text);
        }
        kr_op_release(&op, known);
    }
    return kr_fail(KILN_INVALID, "%s does not compute this problem (%s%s): find a kernel for it",
                   kr_kernel_name(k), p->op, types);
}

static kiln_status match(const kiln_kernel *k, const kiln_problem *p, const kr_device *dev,
                         kr_view *v)
{
    uint64_t hash;
    kr_signature sig;
    kiln_problem room;
    if (!(p = kr_problem_in(p, &room))) return KILN_INVALID;
    kiln_status status = kr_op_name(p, &hash);
    if (status) return status;
    if (strcmp(p->op, kr_str(k->module, k->op->name)) != 0) return mismatch(k, p);
    status = kr_sign(p, k->module, k->op, hash, &sig);
    if (status) return status;
    if (sig.key != k->row->key) return mismatch(k, p);
    status = kr_view_make(p, &sig, k->module, k->op, dev, v);
    if (status) return status;
    const uint32_t rule = k->schedule->check(&v->shape, k->row->t);
    if (rule == 0) return KILN_OK;
    return kr_fail(KILN_NOT_SUPPORTED, "%s cannot run this: %s", kr_kernel_name(k),
                   rule <= k->schedule->rules ? kr_str(k->module, k->schedule->rule_text[rule - 1])
                                              : "not legal");
}

static bool nothing_to_do(const kiln_kernel *k, const kr_view *v)
{
    return kr_nothing_to_do(kr_family(k->module, k->op), &v->shape);
}

size_t kiln_workspace_size(const kiln_kernel *k, const kiln_problem *p)
{
    kr_view v;
    if (!k) {
        kr_fail(KILN_INVALID, "the kernel is NULL: kiln_find gives one");
        return SIZE_MAX;
    }
    if (match(k, p, k->ctx->device, &v)) return SIZE_MAX;
    if (nothing_to_do(k, &v)) return 0;
    kr_realigned realigned;
    const uint64_t size = kr_workspace(k, &v, &realigned);
    return size > SIZE_MAX ? SIZE_MAX : (size_t)size;
}

static kiln_status check_workspace(const kiln_kernel *k, const kr_view *v, const kiln_args *args,
                                   uint64_t need)
{
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

typedef void *at_pointer __attribute__((may_alias));
typedef long long at_long __attribute__((may_alias));
typedef int at_int __attribute__((may_alias));
typedef float at_float __attribute__((may_alias));

/* A kernel's arguments, laid out as kiln_module.h says ("Arguments"). */
static void fill_args(const kiln_ctx *ctx, const kiln_kernel *k, const kr_view *v,
                      const kiln_args *in, unsigned char *to)
{
    const kiln_op_row *op = k->op;
    const kiln_family *f = kr_family(k->module, op);
    memset(to, 0, f->args_size);
    at_pointer *const pointer = (at_pointer *)(void *)to;
    at_long *const ld = (at_long *)(void *)(pointer + f->pointers + 1), *stride = ld + f->pitches;
    at_long *const plane = stride + f->pitches;
    at_int *const size = (at_int *)(void *)(plane + (kr_has_planes(f) ? f->pitches : 0));
    at_float *const scalar = (at_float *)(void *)(size + f->nsizes + 1);
    at_int *const units = (at_int *)(void *)(scalar + KILN_MAX_SCALARS);
    for (int i = 0; i < op->ntensors; i++) {
        const kiln_tensor_row *t = &op->tensor[i];
        pointer[t->pointer] = in->tensor[t->arg];
        ld[t->pitch] = t->rows != KILN_NOWHERE && t->cols != KILN_NOWHERE ? v->t[i].ld : 0;
        stride[t->pitch] = v->t[i].stride;
        if (kr_has_planes(f)) plane[t->pitch] = v->t[i].plane;
    }
    pointer[f->pointers] = in->workspace;
    for (int i = 0; i < f->nsizes; i++) size[i] = (int)v->shape.size[KILN_POSITION(i)];
    size[f->nsizes] = (int)v->shape.size[KILN_BATCH];
    for (int i = 0; i < op->nscalars; i++) scalar[i] = in->scalars[i];
    *units = ctx->device->info.units;
}

kiln_status kiln_launch(kiln_ctx *ctx, const kiln_kernel *k, const kiln_problem *p,
                        const kiln_args *args, void *stream)
{
    kr_view v;
    kiln_args room;
    kr_realigned realigned;
    kiln_status status = check_kernel(ctx, k);
    if (status == KILN_OK) status = match(k, p, ctx->device, &v);
    if (status == KILN_OK && !(args = kr_args_in(args, &room))) status = KILN_INVALID;
    if (status == KILN_OK) status = kr_args_check(&v, k->module, k->op, args, true);
    if (status) return status;
    if (nothing_to_do(k, &v)) return KILN_OK;
    status = check_workspace(k, &v, args, kr_workspace(k, &v, &realigned));
    if (status == KILN_OK) status = load(ctx, k);
    if (status) return status;

    _Alignas(16) unsigned char filled[KR_MAX_ARGS];
    kiln_plan plan;
    memset(&plan, 0, sizeof plan);
    if (realigned.n) {
        if (args != &room) room = *args;
        kr_realign(k, &realigned, &v, &room, ctx->device->info.units);
        args = &room;
    }
    fill_args(ctx, k, &v, args, filled);
    k->schedule->plan(&v.shape, k->row->t, &plan);
    if (plan.stages == 0) return KILN_OK;
    if (plan.stages > KILN_MAX_STAGES)
        return kr_fail(KILN_BAD_MODULE, "%s plans %u stages, at most %d", kr_kernel_name(k),
                       plan.stages, KILN_MAX_STAGES);
    const kr_launch l = {k,     filled,    kr_family(k->module, k->op)->args_size, args, &v,
                         &plan, &realigned};
    return ctx->device->ops->launch(ctx->device, &l, stream);
}
