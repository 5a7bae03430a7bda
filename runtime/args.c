// SPDX-License-Identifier: MIT
// Checks of the pointers that a launch or a reference gets: present, aligned as promised, and every
// output apart from every input and every other output, the workspace apart from all of them.
//   An output may be a full input itself, element for element.  Every schedule computes each
// element of an output once, and whoever stores it has read that element of the inputs before;
// nobody else reads it.
#include <string.h>
#include "internal.h"

#define INVALID(...) kr_fail(KILN_INVALID, __VA_ARGS__)

typedef struct use {
    const char *name;
    const kr_operand *o;
    uintptr_t at;
    bool out, full; /* full: an extra input that may be an output, or an output that may be one */
} use;

static kiln_status check_pointer(const use *u)
{
    if (u->o->bytes == 0) return KILN_OK; /* nothing of it is read or written */
    if (!u->at)
        return INVALID("%s is NULL, but the problem has %lld bytes of it", u->name,
                       (long long)u->o->bytes);
    const uint32_t size = (uint32_t)kr_span(u->o, 1);
    if (u->at % size)
        return INVALID("%s = %p is not a multiple of its element's %u bytes", u->name,
                       (void *)u->at, size);
    if (u->at % u->o->align)
        return INVALID("%s = %p is not aligned to the %u bytes that the problem promises: promise "
                       "less, or align it",
                       u->name, (void *)u->at, u->o->align);
    if (u->at > UINTPTR_MAX - (uintptr_t)u->o->bytes)
        return INVALID("%s = %p and its %lld bytes pass the end of memory", u->name, (void *)u->at,
                       (long long)u->o->bytes);
    return KILN_OK;
}

/* The same elements at the same places, of the same type. */
static bool in_place(const use *out, const use *in)
{
    const kr_operand *x = out->o, *y = in->o;
    return in->full && out->full && in->at == out->at && y->type == x->type &&
           y->layout == x->layout && (y->ld == x->ld || x->outer == 1) &&
           (y->stride == x->stride || x->batches == 1) && (y->plane == x->plane || x->planes == 1);
}

static kiln_status check_apart(const use *out, const use *in)
{
    if (out->o->bytes == 0 || in->o->bytes == 0) return KILN_OK;
    if (out->at >= in->at + (uintptr_t)in->o->bytes || in->at >= out->at + (uintptr_t)out->o->bytes)
        return KILN_OK;
    if (kr_interleaved(out->o, out->at, out->o->batches, in->o, in->at, in->o->batches))
        return KILN_OK;
    if (in->out)
        return INVALID("%s (%p, %lld bytes) overlaps %s (%p, %lld bytes): give each output memory "
                       "of its own",
                       out->name, (void *)out->at, (long long)out->o->bytes, in->name,
                       (void *)in->at, (long long)in->o->bytes);
    if (in_place(out, in)) return KILN_OK;
    char only[KILN_NAME_MAX + 64] = "";
    kr_text text = {only, sizeof only, 0};
    if (out->full && !in->full) kr_put(&text, " (only a full extra input may be %s)", out->name);
    return INVALID("%s (%p, %lld bytes) overlaps %s (%p, %lld bytes): give %s memory of its own%s",
                   out->name, (void *)out->at, (long long)out->o->bytes, in->name, (void *)in->at,
                   (long long)in->o->bytes, out->name,
                   in->full && out->full
                       ? ", or exactly this input's: the same pointer, type, layout, leading "
                         "dimension and batch stride"
                       : only);
}

static use use_of(const kr_view *v, const kr_module *m, const kiln_op_row *op,
                  const kiln_args *args, int i)
{
    const kiln_tensor_row *t = &op->tensor[i];
    const kiln_family *f = kr_family(m, op);
    const bool whole = t->rows == f->rows && t->cols == f->cols && t->planes == f->planes &&
                       t->row_block == 1 && t->col_block == 1;
    return (use){kr_str(m, t->name), &v->t[i], (uintptr_t)args->tensor[t->arg], t->out,
                 whole && (t->out || t->kind == KILN_D_FULL)};
}

kiln_status kr_args_check(const kr_view *v, const kr_module *m, const kiln_op_row *op,
                          const kiln_args *args, bool writes)
{
    if (kr_nothing_to_do(kr_family(m, op), &v->shape)) return KILN_OK; /* nothing is touched */
    use u[KILN_MAX_TENSORS];
    const int n = op->ntensors;
    kiln_status status = KILN_OK;
    for (int i = 0; i < n; i++) u[i] = use_of(v, m, op, args, i);
    for (int i = 0; i < n && writes && status == KILN_OK; i++)
        if (u[i].out) status = check_pointer(&u[i]);
    for (int i = 0; i < n && status == KILN_OK; i++) {
        if (!u[i].out) status = check_pointer(&u[i]);
        for (int o = 0; o < n && writes && status == KILN_OK; o++)
            if (u[o].out && (!u[i].out || o < i)) status = check_apart(&u[o], &u[i]);
    }
    return status;
}

kiln_status kr_workspace_check(const kr_view *v, const kr_module *m, const kiln_op_row *op,
                               const kiln_args *args, uint64_t bytes)
{
    const uintptr_t at = (uintptr_t)args->workspace;
    if (at > UINTPTR_MAX - bytes)
        return INVALID("the workspace %p and its %llu bytes pass the end of memory", (void *)at,
                       (unsigned long long)bytes);
    for (int i = 0; i < op->ntensors; i++) {
        const use u = use_of(v, m, op, args, i);
        const uintptr_t size = (uintptr_t)u.o->bytes;
        if (size == 0 || at >= u.at + size || u.at >= at + bytes) continue;
        return INVALID(
            "the workspace (%p, %llu bytes) overlaps %s (%p, %llu bytes): give it memory "
            "of its own",
            (void *)at, (unsigned long long)bytes, u.name, (void *)u.at, (unsigned long long)size);
    }
    return KILN_OK;
}
