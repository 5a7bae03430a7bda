// SPDX-License-Identifier: MIT
// Descriptions of instances, ops and the device, and iteration over all of them.
#include <string.h>
#include "internal.h"

/* kiln.h is read without the module's table: its arrays are as long as that says. */
#define LENGTH(field)                                                                              \
    (sizeof(((kiln_kernel_info *)NULL)->field) / sizeof(*((kiln_kernel_info *)NULL)->field))
_Static_assert(LENGTH(value) == KILN_MAX_SLOTS && LENGTH(value_name) == KILN_MAX_SLOTS,
               "kiln_kernel_info has room for every slot of a row");
_Static_assert(LENGTH(symbol) == KILN_MAX_STAGES, "kiln_kernel_info has room for every stage");

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
    const kr_module *m = k->module;
    const kiln_row *r = k->row;
    kiln_kernel_info info = {
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
        info.value_name[i] = kr_str(m, k->schedule->slot_name[i]);
        info.value[i] = r->t[i];
        set_sums(&info.sums, info.value_name[i], r->t[i]);
    }
    for (int i = 0; i < KILN_MAX_STAGES; i++)
        if (*kr_str(m, r->symbol[i])) info.symbol[info.nsymbols++] = kr_str(m, r->symbol[i]);
    return kr_struct_out("kiln_kernel_info", &info, sizeof info, out, out->struct_size);
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
    const kr_op *known = kr_ops_find(ctx, op);
    if (!known) return kr_fail(KILN_NOT_FOUND, "no open module describes an op '%s'", op);
    const kr_module *m = known->module;
    const kiln_op_row *row = known->row;
    kiln_op_info info = {
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
        info.d_name[i] = kr_str(m, row->d[i].name);
        info.d_kind[i] = (kiln_dkind)row->d[i].kind;
    }
    for (int i = 0; i < row->nscalars; i++) info.scalar_name[i] = kr_str(m, row->scalar[i]);
    for (int i = 0; i < row->products; i++) info.b_name[i] = kr_str(m, row->b_name[i]);
    return kr_struct_out("kiln_op_info", &info, sizeof info, out, out->struct_size);
}

kiln_status kiln_device_describe(kiln_ctx *ctx, kiln_device_info *out)
{
    if (!ctx || !out)
        return kr_fail(KILN_INVALID, "kiln_device_describe needs a context and a place");
    return kr_struct_out("kiln_device_info", &ctx->device->info, sizeof *out, out,
                         out->struct_size);
}

uint64_t kiln_registry_id(kiln_ctx *ctx)
{
    return ctx ? ctx->registry_id : 0;
}
