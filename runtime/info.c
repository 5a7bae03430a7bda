// SPDX-License-Identifier: MIT
// Descriptions of instances, ops and the device, and iteration over all of them.
#include <string.h>
#include "internal.h"

#define CHECK_STRUCT(type, p)                                                                      \
    do {                                                                                           \
        if ((p)->struct_size != sizeof(type))                                                      \
            return kr_fail(                                                                        \
                KILN_INVALID,                                                                      \
                #type ".struct_size is %zu, this libkiln's is %zu: set it to sizeof(" #type ")",   \
                (p)->struct_size, sizeof(type));                                                   \
    } while (0)

/* Values of a schedule that say how its kernels sum (docs/schedules.md). */
static void set_sums(kiln_sums *s, const char *name, int value)
{
    static const struct {
        const char *name;
        size_t at;
    } fields[] = {
        {"product_bits", offsetof(kiln_sums, product_bits)},
        {"sum_bits", offsetof(kiln_sums, bits)},
        {"sum_step", offsetof(kiln_sums, step)},
        {"sum_chain", offsetof(kiln_sums, chain)},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (!strcmp(name, fields[i].name)) memcpy((char *)s + fields[i].at, &value, sizeof value);
}

kiln_status kiln_kernel_describe(const kiln_kernel *k, kiln_kernel_info *out)
{
    if (!k || !out) return kr_fail(KILN_INVALID, "kiln_kernel_describe needs a kernel and a place");
    CHECK_STRUCT(kiln_kernel_info, out);
    const kr_module *m = k->module;
    const kiln_row *r = k->row;
    *out = (kiln_kernel_info){
        .struct_size = sizeof *out,
        .name = kr_kernel_name(k),
        .op = kr_str(m, k->op->name),
        .target = m->target,
        .schedule = kr_str(m, k->schedule->name),
        .file = kr_str(m, k->op->file),
        .line = (int)k->op->line,
        .a = (kiln_dtype)r->a,
        .b = (kiln_dtype)r->b,
        .e = (kiln_dtype)r->e,
        .acc = (kiln_dtype)r->acc,
        .layout_a = (kiln_layout)r->layout_a,
        .layout_b = (kiln_layout)r->layout_b,
        .layout_e = (kiln_layout)r->layout_e,
        .ntunables = k->schedule->tunables,
        .nvalues = k->schedule->slots,
        .code = r->code_size ? m->table->code + r->code_offset : NULL,
        .code_size = r->code_size,
        .runnable = kr_kernel_runs(k->ctx, k),
    };
    for (uint32_t i = 0; i < k->schedule->slots; i++) {
        out->value_name[i] = kr_str(m, k->schedule->slot_name[i]);
        out->value[i] = r->t[i];
        set_sums(&out->sums, out->value_name[i], r->t[i]);
    }
    for (int i = 0; i < KILN_MAX_STAGES; i++)
        if (*kr_str(m, r->symbol[i])) out->symbol[out->nsymbols++] = kr_str(m, r->symbol[i]);
    return KILN_OK;
}

kiln_status kiln_kernel_at(kiln_ctx *ctx, size_t i, const kiln_kernel **out)
{
    if (!ctx || !out) return kr_fail(KILN_INVALID, "kiln_kernel_at needs a context and a place");
    *out = i < ctx->nkernels ? &ctx->kernel[i] : NULL;
    return *out ? KILN_OK
                : kr_fail(KILN_NOT_FOUND, "the registry has %zu instances", ctx->nkernels);
}

kiln_status kiln_op_describe(kiln_ctx *ctx, const char *op, kiln_op_info *out)
{
    if (!ctx || !op || !out)
        return kr_fail(KILN_INVALID, "kiln_op_describe needs a context, a name and a place");
    CHECK_STRUCT(kiln_op_info, out);
    const kiln_op_row *row = NULL;
    const kr_module *m = NULL;
    for (size_t i = 0; i < ctx->nmodules && !row; i++) {
        m = ctx->module[i];
        row = kr_module_op(m, op);
    }
    if (!row) return kr_fail(KILN_NOT_FOUND, "no open module describes an op '%s'", op);
    *out = (kiln_op_info){
        .struct_size = sizeof *out,
        .name = kr_str(m, row->name),
        .file = kr_str(m, row->file),
        .line = (int)row->line,
        .nd = row->nd,
        .nscalars = row->nscalars,
        .products = row->products,
        .nshapes = row->shapes,
        .shapes = row->shapes ? m->table->shapes + row->first_shape : NULL,
        .rtol = row->rtol,
    };
    for (int i = 0; i < row->nd; i++) {
        out->d_name[i] = kr_str(m, row->d[i].name);
        out->d_kind[i] = (kiln_dkind)row->d[i].kind;
    }
    for (int i = 0; i < row->nscalars; i++) out->scalar_name[i] = kr_str(m, row->scalar[i]);
    for (int i = 0; i < row->products; i++) out->b_name[i] = kr_str(m, row->b_name[i]);
    return KILN_OK;
}

kiln_status kiln_device_describe(kiln_ctx *ctx, kiln_device_info *out)
{
    if (!ctx || !out)
        return kr_fail(KILN_INVALID, "kiln_device_describe needs a context and a place");
    CHECK_STRUCT(kiln_device_info, out);
    *out = ctx->device->info;
    return KILN_OK;
}

uint64_t kiln_registry_id(kiln_ctx *ctx)
{
    return ctx ? ctx->registry_id : 0;
}
