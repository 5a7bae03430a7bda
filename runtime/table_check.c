// SPDX-License-Identifier: MIT
// A module's table, number by number, before anything else trusts it: versions, sizes, offsets,
// positions, the rows' order and keys, and that every pointer stays inside the loaded object.
#define _GNU_SOURCE
#include <link.h>
#include <string.h>
#include "internal.h"

typedef struct check {
    const char *file;
    const kiln_module *t;
    uintptr_t lo, hi; /* the loaded object */
} check;

#define BAD(c, ...) (kr_fail(KILN_BAD_MODULE, "%s: damaged (" __VA_ARGS__), false)

/* ---- the object's place in memory ---- */

static int find_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    check *c = arg;
    uintptr_t lo = UINTPTR_MAX, hi = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
        const uintptr_t at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        if (at < lo) lo = at;
        if (at + info->dlpi_phdr[i].p_memsz > hi) hi = at + info->dlpi_phdr[i].p_memsz;
    }
    if ((uintptr_t)c->t < lo || (uintptr_t)c->t >= hi) return 0;
    c->lo = lo;
    c->hi = hi;
    return 1;
}

static bool inside(const check *c, const void *p, uint64_t count, size_t size, size_t align)
{
    if (count == 0) return true;
    const uintptr_t at = (uintptr_t)p;
    return at >= c->lo && at < c->hi && at % align == 0 && count <= (c->hi - at) / size;
}

static bool is_code(const check *c, uintptr_t function)
{
    return function >= c->lo && function < c->hi;
}

/* ---- text ---- */

static bool text_ok(const check *c, kiln_str s)
{
    return s < c->t->strings_size; /* the pool ends in a 0 byte */
}

static bool name_ok(const check *c, kiln_str s)
{
    return text_ok(c, s) && c->t->strings[s] && strlen(c->t->strings + s) < KILN_NAME_MAX;
}

/* ---- parts ---- */

static const uint8_t arity[KILN_X_COUNT] = {
#define X(name, id, operands, ...) [id] = operands,
    KILN_EXPR_OPS(X)
#undef X
};

static bool node_ok(const kiln_op_row *op, const kiln_xnode *n, uint32_t at, bool epilogue)
{
    if (n->op >= KILN_X_COUNT) return false;
    for (int i = 0; i < 3; i++) /* an unused operand is 0, so that evaluation may look at it */
        if (i < arity[n->op] ? n->arg[i] >= at : n->arg[i] != 0) return false;
    switch ((kiln_xop)n->op) {
    case KILN_X_ACC:
        return epilogue && n->index < op->products;
    case KILN_X_D:
        return epilogue && n->index < op->nd;
    case KILN_X_SCALAR:
        return epilogue && n->index < op->nscalars;
    case KILN_X_ARG:
        return !epilogue;
    case KILN_X_CAST:
        return kr_dtype_ok((kiln_dtype)n->index);
    default:
        return true;
    }
}

static bool expr_ok(const check *c, const kiln_op_row *op, kiln_expr_ref ref, bool epilogue)
{
    if (ref.count > KILN_EXPR_MAX || ref.first > c->t->nnodes ||
        ref.count > c->t->nnodes - ref.first)
        return false;
    for (uint32_t i = 0; i < ref.count; i++)
        if (!node_ok(op, &c->t->nodes[ref.first + i], i, epilogue)) return false;
    return true;
}

static bool d_type_ok(uint8_t type)
{
    if (type & 0x80) return memchr("abce", type & 0x7f, 4) != NULL;
    return kr_dtype_ok((kiln_dtype)type);
}

static bool op_ok(const check *c, const kiln_op_row *op)
{
    if (!name_ok(c, op->name) || !text_ok(c, op->file)) return false;
    if (op->nd > KILN_MAX_D || op->nscalars > KILN_MAX_SCALARS) return false;
    if (op->products < 1 || op->products > KILN_MAX_B) return false;
    for (int i = 0; i < op->nd; i++) {
        const kiln_d_row *d = &op->d[i];
        if (!name_ok(c, d->name) || d->kind < KILN_D_FULL || d->kind > KILN_D_PER_TENSOR)
            return false;
        if (d->layout > KILN_COL || !d_type_ok(d->type)) return false;
    }
    for (int i = 0; i < op->nscalars; i++)
        if (!name_ok(c, op->scalar[i])) return false;
    for (int i = 0; i < op->products; i++)
        if (!text_ok(c, op->b_name[i])) return false;
    if (op->epilogue.count == 0) return false;
    if (op->first_shape > c->t->nshapes || op->shapes > c->t->nshapes - op->first_shape)
        return false;
    return expr_ok(c, op, op->epilogue, true) && expr_ok(c, op, op->a_op, false) &&
           expr_ok(c, op, op->b_op, false);
}

static bool schedule_ok(const check *c, const kiln_schedule *s)
{
    if (!name_ok(c, s->name) || s->slots > KILN_MAX_SLOTS || s->tunables > s->slots ||
        s->rules > 1000)
        return false;
    if (!inside(c, s->rule_text, s->rules, sizeof *s->rule_text, _Alignof(kiln_str)) ||
        !inside(c, s->slot_name, s->slots, sizeof *s->slot_name, _Alignof(kiln_str)))
        return false;
    for (uint32_t i = 0; i < s->rules; i++)
        if (!text_ok(c, s->rule_text[i])) return false;
    for (uint32_t i = 0; i < s->slots; i++)
        if (!text_ok(c, s->slot_name[i])) return false;
    return is_code(c, (uintptr_t)s->check) && is_code(c, (uintptr_t)s->plan) &&
           is_code(c, (uintptr_t)s->workspace) && is_code(c, (uintptr_t)s->cost);
}

static bool row_ok(const check *c, const kiln_row *r, bool host)
{
    const kiln_module *t = c->t;
    if (!text_ok(c, r->name) || !t->strings[r->name] || r->op >= t->nops ||
        r->schedule >= t->nschedules)
        return false;
    const uint8_t type[] = {r->a, r->b, r->e, r->acc},
                  layout[] = {r->layout_a, r->layout_b, r->layout_e};
    for (int i = 0; i < 4; i++)
        if (!kr_dtype_ok((kiln_dtype)type[i])) return false;
    for (int i = 0; i < 3; i++)
        if (!kr_layout_ok((kiln_layout)layout[i])) return false;
    const uint8_t sig[7] = {r->a, r->b, r->e, r->acc, r->layout_a, r->layout_b, r->layout_e};
    if (r->key != kiln_key(t->strings + t->ops[r->op].name, sig)) return false;
    if (r->maps > KR_MAX_MAPS || r->first_map > t->nmaps || r->maps > t->nmaps - r->first_map)
        return false;
    for (int i = 0; i < KILN_MAX_STAGES; i++)
        if (!text_ok(c, r->symbol[i])) return false;
    if (host) return r->host_fn < t->nhost_fns && is_code(c, (uintptr_t)t->host_fns[r->host_fn]);
    return r->code_size > 0 && r->code_offset <= t->code_size &&
           r->code_size <= t->code_size - r->code_offset && t->strings[r->symbol[0]];
}

static bool map_ok(const kiln_map *m)
{
    return m->operand < KILN_OP_D0 + KILN_MAX_D && m->box_inner > 0 && m->box_outer > 0 &&
           m->box_inner <= 256 && m->box_outer <= 256 && m->clip <= 1 && m->promote <= 3 &&
           (m->swizzle == 0 || m->swizzle == 32 || m->swizzle == 64 || m->swizzle == 128);
}

static bool arrays_ok(const check *c)
{
    const kiln_module *t = c->t;
    return inside(c, t->rows, t->nrows, sizeof *t->rows, _Alignof(kiln_row)) &&
           inside(c, t->ops, t->nops, sizeof *t->ops, _Alignof(kiln_op_row)) &&
           inside(c, t->schedules, t->nschedules, sizeof *t->schedules, _Alignof(kiln_schedule)) &&
           inside(c, t->nodes, t->nnodes, sizeof *t->nodes, _Alignof(kiln_xnode)) &&
           inside(c, t->map, t->nmaps, sizeof *t->map, _Alignof(kiln_map)) &&
           inside(c, t->host_fns, t->nhost_fns, sizeof *t->host_fns, _Alignof(kiln_host_fn)) &&
           inside(c, t->shapes, t->nshapes, sizeof *t->shapes, _Alignof(int64_t)) &&
           inside(c, t->code, t->code_size, 1, 1) && inside(c, t->strings, t->strings_size, 1, 1);
}

static bool contents_ok(const check *c)
{
    const kiln_module *t = c->t;
    if (!arrays_ok(c)) return BAD(c, "an array lies outside the file); build it again", c->file);
    if (t->strings_size == 0 || t->strings[0] || t->strings[t->strings_size - 1] ||
        !name_ok(c, t->target))
        return BAD(c, "its text is not whole); build it again", c->file);
    for (uint32_t i = 0; i < t->nops; i++)
        if (!op_ok(c, &t->ops[i])) return BAD(c, "op %u); build it again", c->file, i);
    for (uint32_t i = 0; i < t->nschedules; i++)
        if (!schedule_ok(c, &t->schedules[i]))
            return BAD(c, "schedule %u); build it again", c->file, i);
    for (uint32_t i = 0; i < t->nmaps; i++)
        if (!map_ok(&t->map[i])) return BAD(c, "tensor map %u); build it again", c->file, i);
    const bool host = strcmp(t->strings + t->target, "host") == 0;
    for (uint32_t i = 0; i < t->nrows; i++) {
        if (!row_ok(c, &t->rows[i], host)) return BAD(c, "row %u); build it again", c->file, i);
        if (i && t->rows[i - 1].key > t->rows[i].key)
            return BAD(c, "rows out of order); build it again", c->file);
    }
    return true;
}

kiln_status kr_table_check(const char *file, const kiln_module *t)
{
    check c = {.file = file, .t = t};
    dl_iterate_phdr(find_object, &c);
    if (!inside(&c, t, 1, sizeof *t, _Alignof(kiln_module)) || t->magic != KILN_MODULE_MAGIC)
        return kr_fail(KILN_BAD_MODULE, "%s: not a Kiln module (its table has no magic number)",
                       file);
    if (t->abi_version != KILN_ABI_VERSION)
        return kr_fail(
            KILN_BAD_MODULE,
            "%s: made for module ABI %u, this libkiln reads %d; run `make instances` again", file,
            t->abi_version, KILN_ABI_VERSION);
    if (t->size != sizeof *t || t->row_size != sizeof(kiln_row) ||
        t->op_size != sizeof(kiln_op_row))
        return kr_fail(KILN_BAD_MODULE,
                       "%s: laid out for another compiler or machine; run `make instances` again",
                       file);
    if (!inside(&c, t->strings, t->strings_size, 1, 1) || t->version >= t->strings_size ||
        t->strings[t->strings_size - 1])
        return kr_fail(KILN_BAD_MODULE, "%s: damaged (its text is not whole); build it again",
                       file);
    if (strcmp(t->strings + t->version, KILN_VERSION) != 0)
        return kr_fail(KILN_BAD_MODULE,
                       "%s: made by kiln-gen %s, this is libkiln %s; run `make instances` again",
                       file, t->strings + t->version, KILN_VERSION);
    return contents_ok(&c) ? KILN_OK : KILN_BAD_MODULE;
}
