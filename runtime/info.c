// SPDX-License-Identifier: MIT
// Descriptions of instances, ops and the device, and iteration over all of them.
#include <string.h>
#include "internal.h"

/* kiln.h is read without the module's table: its arrays are as long as that says. */
#define LENGTH(field)                                                                              \
    (sizeof(((kiln_kernel_info *)NULL)->field) / sizeof(*((kiln_kernel_info *)NULL)->field))
_Static_assert(LENGTH(value) == KILN_MAX_SLOTS && LENGTH(value_name) == KILN_MAX_SLOTS,
               "kiln_kernel_info has room for every slot of a row");
_Static_assert(LENGTH(stage_symbol) == KILN_MAX_STAGES,
               "kiln_kernel_info has room for every stage");

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

/* Types and layouts; those of the family's first three tensors by name, too. */
static void set_signature(const kr_module *m, const kiln_op_row *op, const kiln_row *r,
                          kiln_kernel_info *info)
{
    const kiln_family *f = kr_family(m, op);
    kiln_dtype *const own[] = {&info->a, &info->b, &info->e};
    kiln_layout *const layout[] = {&info->layout_a, &info->layout_b, &info->layout_e};
    info->family = kr_str(m, f->name);
    info->ntypes = op->ntypes;
    info->nlayouts = f->nlayouts;
    for (int i = 0; i < op->ntypes; i++) {
        info->type[i] = (kiln_dtype)r->sig[i];
        if (i >= f->ntypes) continue;
        if (!kr_type_in_text(f, i))
            info->acc = info->type[i];
        else if (f->type[i].tensor < sizeof own / sizeof *own)
            *own[f->type[i].tensor] = info->type[i];
    }
    for (int i = 0; i < f->nfixed; i++)
        info->fixed[i] = kr_fixed(m, op, r->sig[op->ntypes + f->nlayouts])[i];
    for (int i = 0; i < f->nlayouts; i++)
        *layout[f->layout_of[i]] = info->layout[i] = (kiln_layout)r->sig[op->ntypes + i];
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
        .ntunables = k->schedule->tunables,
        .nvalues = k->schedule->slots,
        .code = r->code_size ? m->table->code + r->code_offset : NULL,
        .code_size = r->code_size,
        .runnable = kr_kernel_runs(k->ctx, k),
        .content = kr_content(k),
        .units = m->table->units <= INT32_MAX ? (int)m->table->units : 0,
    };
    set_signature(m, k->op, r, &info);
    for (uint32_t i = 0; i < k->schedule->slots; i++) {
        info.value_name[i] = kr_str(m, k->schedule->slot_name[i]);
        info.value[i] = r->t[i];
        set_sums(&info.sums, info.value_name[i], r->t[i]);
    }
    for (size_t i = 0, n = 0; i < KILN_MAX_STAGES; i++) {
        if (!*kr_str(m, r->symbol[i])) continue;
        info.stage_symbol[n++] = kr_str(m, r->symbol[i]);
        if (n <= LENGTH(symbol)) info.symbol[info.nsymbols++] = kr_str(m, r->symbol[i]);
    }
    return kr_struct_out("kiln_kernel_info", &info, sizeof info, out, out->struct_size);
}

kiln_status kiln_kernel_at(kiln_ctx *ctx, size_t i, const kiln_kernel **out)
{
    if (!ctx || !out) return kr_fail(KILN_INVALID, "kiln_kernel_at needs a context and a place");
    *out = i < ctx->nkernels ? &ctx->kernel[i] : NULL;
    return *out ? KILN_OK
                : kr_fail(KILN_NOT_FOUND, "the registry has %zu instances", ctx->nkernels);
}

static const kr_op *find_op(kiln_ctx *ctx, const char *op)
{
    const kr_op *known = kr_ops_find(ctx, op, kiln_name_hash(op));
    if (!known) kr_fail(KILN_NOT_FOUND, "no open module describes an op '%s'", op);
    return known;
}

#define LENGTH_OF(a) (sizeof(a) / sizeof *(a))

static int position(uint8_t at)
{
    return at == KILN_NOWHERE ? -1 : at;
}

static void describe_tensor(const kr_module *m, const kiln_family *f, const kiln_tensor_row *t,
                            kiln_tensor_info *out)
{
    *out = (kiln_tensor_info){
        .name = kr_str(m, t->name),
        .at = t->at,
        .arg = t->arg,
        .kind = (kiln_dkind)t->kind,
        .out = t->out,
        .rows = position(t->rows),
        .cols = position(t->cols),
        .row_block = t->row_block,
        .col_block = t->col_block,
        .type = t->type & 0x80 ? t->type & 0x7f : -1,
        .summed = f->summed != KILN_NOWHERE && (t->rows == f->summed || t->cols == f->summed),
    };
}

/* Tensors; and by the names of version 0.1.0 inputs and products. */
static void describe_tensors(const kr_module *m, const kiln_op_row *row, kiln_op_info *info)
{
    const kiln_family *f = kr_family(m, row);
    size_t products = 0;
    info->ntensors = row->ntensors;
    for (int i = 0; i < row->ntensors; i++) {
        const kiln_tensor_row *t = &row->tensor[i];
        describe_tensor(m, f, t, &info->tensor[i]);
        if (kr_is_input(t) && info->nd < KILN_MAX_D) {
            info->d_name[info->nd] = kr_str(m, t->name);
            info->d_kind[info->nd++] = (kiln_dkind)t->kind;
        }
        const bool several =
            t->own != KILN_NOWHERE &&
            ((i && t[-1].own == t->own) || (i + 1 < row->ntensors && t[1].own == t->own));
        if (several && products < KILN_MAX_B) info->b_name[products++] = kr_str(m, t->name);
    }
    for (; products < row->products; products++) info->b_name[products] = "";
}

/* What a caller with tensors in hand needs to say what they are. */
static void describe_places(const kr_module *m, const kiln_op_row *row, kiln_op_info *info)
{
    const kiln_family *f = kr_family(m, row);
    for (int i = 0; i < row->ntensors; i++) {
        const kiln_tensor_row *t = &row->tensor[i];
        const bool own = t->own != KILN_NOWHERE;
        const bool several = own && ((i && t[-1].own == t->own) ||
                                     (i + 1 < row->ntensors && t[1].own == t->own));
        const bool matrix = t->rows != KILN_NOWHERE && t->cols != KILN_NOWHERE;
        const bool letter = matrix && t->layout & 0x80;
        info->tensor_key[i] = kr_str(m, own && !several ? f->own[t->own] : t->name);
        info->tensor_dtype[i] = t->type & 0x80 ? KILN_DTYPE_NONE : (kiln_dtype)t->type;
        info->tensor_letter[i] = letter ? t->layout & 0x7f : -1;
        info->tensor_layout[i] = !matrix || letter ? KILN_LAYOUT_NONE
                                 : t->layout       ? (kiln_layout)t->layout
                                                   : KILN_ROW;
        info->tensor_planes[i] = position(t->planes);
        info->rows_of[i] = (kiln_rows_info){
            .batches = t->batches == KILN_ONE_BATCH ? -1
                       : t->batches                 ? t->batches - 1
                                                    : KILN_BATCH,
            .page = t->page,
            .beyond = t->beyond,
            .index = (kiln_index)t->index,
            .within = t->index ? t->within : -1,
        };
    }
}

static const int64_t (*shapes_at(const kr_module *m, uint32_t first, uint32_t count))[3]
{
    return count ? (const int64_t(*)[3])(m->table->shapes + first) : NULL;
}

/* Sizes along which elements do not depend on each other: the family's, less those that the op's
 * main function reduces. */
static unsigned independent(const kr_module *m, const kiln_op_row *row)
{
    const kiln_family *f = kr_family(m, row);
    const kiln_expr_ref ref = row->function[0];
    unsigned sizes = f->independent;
    for (uint32_t i = 0; i < ref.count; i++) {
        const unsigned op = m->table->nodes[ref.first + i].op;
        if (kiln_x_is_row_reduction(op) || kiln_x_is_block_reduction(op)) sizes &= ~(1u << f->cols);
        if (kiln_x_is_col_reduction(op)) sizes &= ~(1u << f->rows);
    }
    for (int i = 0; i < row->ntensors; i++) /* which product a row has depends on its number */
        if (row->tensor[i].index) sizes &= ~(1u << f->rows);
    return sizes;
}

static void describe_family(const kr_module *m, const kiln_op_row *row, kiln_op_info *info)
{
    const kiln_family *f = kr_family(m, row);
    info->family = kr_str(m, f->name);
    info->nsizes = f->nsizes;
    for (int i = 0; i < f->nsizes; i++) {
        const int at = KILN_POSITION(i);
        if (at < KILN_BATCH)
            info->size_name[at] = kr_str(m, f->size[i]);
        else if (row->sizes >> at & 1)
            info->more_size_name[at - KILN_BATCH - 1] = kr_str(m, f->size[i]);
    }
    info->size_name[KILN_BATCH] = kr_size_name(m, row, KILN_BATCH);
    info->ntypes = row->ntypes;
    for (int i = 0; i < row->ntypes; i++) info->type_name[i] = kr_str(m, row->type[i]);
    info->nlayouts = f->nlayouts;
    info->rows = position(f->rows);
    info->cols = position(f->cols);
    info->summed = position(f->summed);
    info->empty = f->empty;
    info->independent = independent(m, row);
    info->nfamily_shapes = f->shapes;
    info->nquick_shapes = f->quick;
    info->family_shapes = shapes_at(m, f->first_shape, f->shapes);
    info->shape_step = kiln_shape_step(f->nsizes);
    info->planes = position(f->planes);
    info->groups = position(f->groups);
    info->nfixed = f->nfixed;
    for (int i = 0; i < f->nfixed; i++) info->fixed[i] = f->fixed[i];
    info->fixed_rows = row->nfixed;
    if (row->nfixed) info->fixed_sizes = (const int64_t(*)[KILN_MAX_FIXED])kr_fixed(m, row, 0);
}

/* Bits of the places that values depend on. */
static int places(const kr_module *m, const kiln_op_row *row)
{
    int bits = 0;
    for (int f = 0; f < KILN_MAX_FUNCTIONS; f++) {
        const kiln_xnode *n = m->table->nodes + row->function[f].first;
        for (uint32_t i = 0; i < row->function[f].count; i++)
            if (n[i].op == KILN_X_AT) bits |= 1 << n[i].index;
    }
    return bits;
}

kiln_status kiln_op_describe(kiln_ctx *ctx, const char *op, kiln_op_info *out)
{
    if (!ctx || !op || !out)
        return kr_fail(KILN_INVALID, "kiln_op_describe needs a context, a name and a place");
    const kr_op *known = find_op(ctx, op);
    if (!known) return KILN_NOT_FOUND;
    const kr_module *m = known->module;
    const kiln_op_row *row = known->row;
    kiln_op_info info = {
        .name = kr_str(m, row->name),
        .file = kr_str(m, row->file),
        .line = (int)row->line,
        .nscalars = row->nscalars,
        .products = row->products,
        .nshapes = row->shapes,
        .shapes = shapes_at(m, row->first_shape, row->shapes),
        .rtol = row->rtol,
        .uses_at = places(m, row),
        .nodes = row->function[0].count,
    };
    describe_tensors(m, row, &info);
    describe_family(m, row, &info);
    describe_places(m, row, &info);
    for (int i = 0; i < row->nscalars; i++) info.scalar_name[i] = kr_str(m, row->scalar[i]);
    return kr_struct_out("kiln_op_info", &info, sizeof info, out, out->struct_size);
}

int kiln_tensor_index(kiln_ctx *ctx, const char *op, const char *name)
{
    if (!ctx || !op || !name) {
        kr_fail(KILN_INVALID, "kiln_tensor_index needs a context, an op and a name");
        return -1;
    }
    const kr_op *known = find_op(ctx, op);
    char names[KILN_MAX_TENSORS * (KILN_NAME_MAX + 2)] = "";
    kr_text text = {names, sizeof names, 0};
    for (int i = 0; known && i < known->row->ntensors; i++) {
        const kiln_tensor_row *t = &known->row->tensor[i];
        if (t->own != KILN_NOWHERE) continue;
        if (strcmp(kr_str(known->module, t->name), name) == 0) return t->at;
        kr_put(&text, " %s", kr_str(known->module, t->name));
    }
    if (known)
        kr_fail(KILN_NOT_FOUND, "op '%s' has no input or output '%.80s'; it has%.300s", op, name,
                *names ? names : " none");
    return -1;
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
