// SPDX-License-Identifier: MIT
// Checks of the pointers that a launch or a reference gets: present, aligned as promised, and E
// apart from every input, the workspace apart from all of them.
//   A full input may be E itself, element for element.  Every schedule computes each element of E
// once, and whoever stores it has read that element of the inputs before; nobody else reads it.
#include <string.h>
#include "internal.h"

#define INVALID(...) kr_fail(KILN_INVALID, __VA_ARGS__)

typedef struct use {
    const char *name;
    const kr_operand *o;
    uintptr_t at;
    bool full; /* an extra input that may be E */
} use;

static kiln_status check_pointer(const use *u)
{
    if (u->o->bytes == 0) return KILN_OK; /* nothing of it is read or written */
    if (!u->at)
        return INVALID("%s is NULL, but the problem has %lld bytes of it", u->name,
                       (long long)u->o->bytes);
    if (u->at % u->o->size)
        return INVALID("%s = %p is not a multiple of its element's %u bytes", u->name,
                       (void *)u->at, u->o->size);
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
static bool in_place(const use *e, const use *in, int64_t batch)
{
    const kr_operand *x = e->o, *y = in->o;
    return in->full && in->at == e->at && y->type == x->type && y->layout == x->layout &&
           (y->ld == x->ld || x->outer == 1) && (y->stride == x->stride || batch == 1);
}

static kiln_status check_apart(const use *e, const use *in, int64_t batch)
{
    if (e->o->bytes == 0 || in->o->bytes == 0) return KILN_OK;
    if (e->at >= in->at + (uintptr_t)in->o->bytes || in->at >= e->at + (uintptr_t)e->o->bytes)
        return KILN_OK;
    if (in_place(e, in, batch) || kr_interleaved(e->o, e->at, in->o, in->at, batch)) return KILN_OK;
    return INVALID("E (%p, %lld bytes) overlaps %s (%p, %lld bytes): give E memory of its own%s",
                   (void *)e->at, (long long)e->o->bytes, in->name, (void *)in->at,
                   (long long)in->o->bytes,
                   in->full ? ", or exactly this input's: the same pointer, type, layout, leading "
                              "dimension and batch stride"
                            : " (only a full extra input may be E)");
}

/* The inputs that an op reads, in `in`; how many. */
static int inputs_of(const kr_view *v, const kr_module *m, const kiln_op_row *op,
                     const kiln_args *args, use in[1 + KILN_MAX_B + KILN_MAX_D])
{
    int n = 0;
    in[n++] = (use){"A", &v->a, (uintptr_t)args->a, false};
    for (int i = 0; i < op->products; i++) {
        const char *name = kr_str(m, op->b_name[i]);
        in[n++] =
            (use){op->products > 1 && *name ? name : "B", &v->b, (uintptr_t)args->b[i], false};
    }
    for (int i = 0; i < op->nd; i++)
        in[n++] = (use){kr_str(m, op->d[i].name), &v->d[i], (uintptr_t)args->d[i],
                        op->d[i].kind == KILN_D_FULL};
    return n;
}

kiln_status kr_args_check(const kr_view *v, const kr_module *m, const kiln_op_row *op,
                          const kiln_args *args, bool writes_e)
{
    if (v->e.bytes == 0) return KILN_OK; /* no element of E: nothing is touched */
    use in[1 + KILN_MAX_B + KILN_MAX_D];
    const int n = inputs_of(v, m, op, args, in);
    const use e = {"E", &v->e, (uintptr_t)args->e, false};
    kiln_status status = writes_e ? check_pointer(&e) : KILN_OK;
    for (int i = 0; i < n && status == KILN_OK; i++) {
        status = check_pointer(&in[i]);
        if (status == KILN_OK && writes_e) status = check_apart(&e, &in[i], v->shape.batch);
    }
    return status;
}

kiln_status kr_workspace_check(const kr_view *v, const kr_module *m, const kiln_op_row *op,
                               const kiln_args *args, uint64_t bytes)
{
    const uintptr_t at = (uintptr_t)args->workspace;
    use all[2 + KILN_MAX_B + KILN_MAX_D];
    int n = inputs_of(v, m, op, args, all);
    all[n++] = (use){"E", &v->e, (uintptr_t)args->e, false};
    if (at > UINTPTR_MAX - bytes)
        return INVALID("the workspace %p and its %llu bytes pass the end of memory", (void *)at,
                       (unsigned long long)bytes);
    for (int i = 0; i < n; i++) {
        const uintptr_t size = (uintptr_t)all[i].o->bytes;
        if (size == 0 || at >= all[i].at + size || all[i].at >= at + bytes) continue;
        return INVALID(
            "the workspace (%p, %llu bytes) overlaps %s (%p, %llu bytes): give it memory "
            "of its own",
            (void *)at, (unsigned long long)bytes, all[i].name, (void *)all[i].at,
            (unsigned long long)size);
    }
    return KILN_OK;
}
