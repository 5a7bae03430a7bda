// SPDX-License-Identifier: MIT
// A problem with every default filled in and every number checked: what find, launch and the
// reference work with.
#include <string.h>
#include "internal.h"

#define INVALID(...) kr_fail(KILN_INVALID, __VA_ARGS__)
enum { ALIGN_LIMIT = 4096 }; /* of kiln_shape.align_* */

/* ---- the part that needs no op ---- */

static kiln_status bad_signature(const kiln_problem *p)
{
    const struct {
        const char *name;
        const kiln_tensor *t;
    } tensor[] = {{"a", &p->a}, {"b", &p->b}, {"e", &p->e}};
    for (int i = 0; i < 3; i++) {
        if (!kr_dtype_ok(tensor[i].t->dtype))
            return INVALID("%s.dtype is %d: name one of kiln_dtype", tensor[i].name,
                           (int)tensor[i].t->dtype);
        if (!kr_layout_ok(tensor[i].t->layout))
            return INVALID("%s.layout is %d: it is KILN_ROW or KILN_COL", tensor[i].name,
                           (int)tensor[i].t->layout);
    }
    return INVALID("acc is %d: name one of kiln_dtype, or 0 for the default", (int)p->acc);
}

kiln_status kr_key(const kiln_problem *p, uint8_t sig[7], uint64_t *key)
{
    if (!p) return INVALID("the problem is NULL");
    if (p->struct_size != sizeof *p)
        return INVALID("kiln_problem.struct_size is %zu, this libkiln's is %zu: set it to "
                       "sizeof(kiln_problem) and compile "
                       "against the kiln.h of version " KILN_VERSION,
                       p->struct_size, sizeof *p);
    if (!p->op[0] || !memchr(p->op, 0, sizeof p->op))
        return INVALID("kiln_problem.op is %s: it takes the name of an op, at most %d bytes",
                       p->op[0] ? "not 0-terminated" : "empty", KILN_NAME_MAX - 1);
    if (!kr_dtype_ok(p->a.dtype) || !kr_dtype_ok(p->b.dtype) || !kr_dtype_ok(p->e.dtype) ||
        !kr_layout_ok(p->a.layout) || !kr_layout_ok(p->b.layout) || !kr_layout_ok(p->e.layout) ||
        (p->acc && !kr_dtype_ok(p->acc)))
        return bad_signature(p);
    sig[0] = (uint8_t)p->a.dtype;
    sig[1] = (uint8_t)p->b.dtype;
    sig[2] = (uint8_t)p->e.dtype;
    sig[3] = (uint8_t)(p->acc ? p->acc : kiln_default_acc(p->a.dtype, p->b.dtype));
    sig[4] = (uint8_t)p->a.layout;
    sig[5] = (uint8_t)p->b.layout;
    sig[6] = (uint8_t)p->e.layout;
    *key = kiln_key(p->op, sig);
    return KILN_OK;
}

kiln_dtype kr_d_type(const kiln_d_row *d, const uint8_t sig[7])
{
    switch (d->type) {
    case 0x80 | 'a':
        return (kiln_dtype)sig[0];
    case 0x80 | 'b':
        return (kiln_dtype)sig[1];
    case 0x80 | 'e':
        return (kiln_dtype)sig[2];
    case 0x80 | 'c':
        return (kiln_dtype)sig[3];
    default:
        return (kiln_dtype)d->type;
    }
}

/* ---- one operand ---- */

static bool times(int64_t a, int64_t b, int64_t *r)
{
    return !__builtin_mul_overflow(a, b, r);
}

static kiln_status bad_operand(const char *name, const kiln_tensor *t, const kr_operand *o,
                               int64_t batch, bool is_e)
{
    if (t->ld < 0)
        return INVALID("%s's leading dimension is negative (%lld)", name, (long long)t->ld);
    if (o->ld < o->inner)
        return INVALID("%s's leading dimension is %lld, but its %s have %lld elements: it must be "
                       "at least that",
                       name, (long long)o->ld, o->layout == KILN_ROW ? "rows" : "columns",
                       (long long)o->inner);
    if (t->batch_stride < KILN_BROADCAST)
        return INVALID("%s's batch stride is negative (%lld); KILN_BROADCAST is -1", name,
                       (long long)t->batch_stride);
    if (is_e && t->batch_stride == KILN_BROADCAST)
        return INVALID(
            "%s's batch stride is KILN_BROADCAST: every batch of the result needs its own place",
            name);
    if (is_e && batch > 1 && o->stride < o->extent)
        return INVALID("%s's batch stride is %lld, but one batch spans %lld elements: batches "
                       "would overwrite each other",
                       name, (long long)o->stride, (long long)o->extent);
    if (t->align & (t->align - 1))
        return INVALID("%s's alignment is %u: it must be a power of two", name, t->align);
    return INVALID(
        "%s spans more than 2^63 bytes: check its sizes, leading dimension and batch stride", name);
}

/* The shape is in o already; fills in what t leaves to defaults. */
static kiln_status place_operand(const char *name, const kiln_tensor *t, int64_t batch, bool is_e,
                                 kr_operand *o)
{
    const bool row = o->layout == KILN_ROW;
    o->inner = row ? o->cols : o->rows;
    o->outer = row ? o->rows : o->cols;
    o->size = (uint32_t)kiln_dtype_size(o->type);
    o->align = t->align > o->size ? t->align : o->size;
    o->ld = t->ld ? t->ld : o->inner ? o->inner : 1;
    o->extent = 0;
    int64_t packed, last;
    bool fits = times(o->outer, o->ld, &packed);
    if (fits && o->outer && o->inner) o->extent = packed - o->ld + o->inner;
    o->stride = t->batch_stride == KILN_BROADCAST ? 0
                : t->batch_stride                 ? t->batch_stride
                : fits                            ? packed
                                                  : 0;
    fits = fits && times(o->stride, batch - 1, &last) &&
           !__builtin_add_overflow(last, o->extent, &last) && times(last, o->size, &o->bytes) &&
           times(o->stride, o->size, &packed) && times(o->ld, o->size, &packed);
    if (o->extent == 0) o->bytes = 0;
    if (!fits || t->ld < 0 || o->ld < o->inner || t->batch_stride < KILN_BROADCAST ||
        (t->align & (t->align - 1)) ||
        (is_e && (t->batch_stride == KILN_BROADCAST || (batch > 1 && o->stride < o->extent))))
        return bad_operand(name, t, o, batch, is_e);
    return KILN_OK;
}

/* Largest power of two that divides base, pitch and batch stride. */
static int64_t common_alignment(const kr_operand *o, int64_t batch)
{
    int64_t bits = ALIGN_LIMIT | o->align | o->ld * o->size;
    if (batch > 1) bits |= o->stride * o->size;
    return bits & -bits;
}

/* ---- the whole ---- */

static kiln_status check_sizes(const kiln_problem *p)
{
    const struct {
        const char *name;
        int64_t value;
    } size[] = {{"m", p->m}, {"n", p->n}, {"k", p->k}, {"batch", p->batch}};
    for (int i = 0; i < 4; i++) {
        if (size[i].value < 0)
            return INVALID("%s is negative (%lld)", size[i].name, (long long)size[i].value);
        if (size[i].value > INT32_MAX)
            return INVALID("%s is %lld: at most 2^31 - 1", size[i].name, (long long)size[i].value);
    }
    return KILN_OK;
}

static kiln_status view_d(const kiln_problem *p, const kr_module *m, const kiln_op_row *op,
                          const uint8_t sig[7], int i, kr_view *v)
{
    const kiln_d_row *row = &op->d[i];
    const char *name = kr_str(m, row->name);
    kr_operand *o = &v->d[i];
    const kiln_tensor *t = &p->d[i];
    o->type = kr_d_type(row, sig);
    if (t->dtype && t->dtype != o->type)
        return kr_fail(KILN_NOT_FOUND, "%s's input '%s' is %s, not %s", p->op, name,
                       kiln_dtype_name(o->type), kiln_dtype_name(t->dtype));
    o->rows = o->cols = 1;
    switch ((kiln_dkind)row->kind) {
    case KILN_D_FULL:
        o->rows = v->shape.m;
        o->cols = v->shape.n;
        o->layout = row->layout ? (kiln_layout)row->layout : p->e.layout;
        if (t->layout && t->layout != o->layout)
            return kr_fail(KILN_NOT_FOUND, "%s's input '%s' is %s-major here", p->op, name,
                           o->layout == KILN_ROW ? "row" : "column");
        break;
    case KILN_D_PER_ROW:
        o->layout = KILN_COL; /* a column vector, contiguous */
        o->rows = v->shape.m;
        break;
    case KILN_D_PER_COL:
        o->layout = KILN_ROW;
        o->cols = v->shape.n;
        break;
    case KILN_D_PER_TENSOR:
    case KILN_D_NONE:
        o->layout = KILN_ROW;
        break;
    }
    return place_operand(name, t, v->shape.batch, false, o);
}

kiln_status kr_view_make(const kiln_problem *p, const uint8_t sig[7], const kr_module *m,
                         const kiln_op_row *op, int64_t units, kr_view *v)
{
    if (((uint64_t)p->m | (uint64_t)p->n | (uint64_t)p->k | (uint64_t)p->batch) > INT32_MAX)
        return check_sizes(p);
    kiln_shape *s = &v->shape;
    s->m = p->m;
    s->n = p->n;
    s->k = p->k;
    s->batch = p->batch ? p->batch : 1;
    s->units = units;
    v->a = (kr_operand){.type = p->a.dtype, .layout = p->a.layout, .rows = s->m, .cols = s->k};
    v->b = (kr_operand){.type = p->b.dtype, .layout = p->b.layout, .rows = s->k, .cols = s->n};
    v->e = (kr_operand){.type = p->e.dtype, .layout = p->e.layout, .rows = s->m, .cols = s->n};
    kiln_status status = place_operand("A", &p->a, s->batch, false, &v->a);
    if (status == KILN_OK) status = place_operand("B", &p->b, s->batch, false, &v->b);
    if (status == KILN_OK) status = place_operand("E", &p->e, s->batch, true, &v->e);
    if (status) return status;
    s->lda = v->a.ld;
    s->ldb = v->b.ld;
    s->lde = v->e.ld;
    s->align_a = common_alignment(&v->a, s->batch);
    s->align_b = common_alignment(&v->b, s->batch);
    s->align_e = common_alignment(&v->e, s->batch);
    s->align_d = ALIGN_LIMIT;
    for (int i = 0; i < op->nd; i++) {
        status = view_d(p, m, op, sig, i, v);
        if (status) return status;
        if (op->d[i].kind != KILN_D_FULL) continue;
        const int64_t align = common_alignment(&v->d[i], s->batch);
        if (align < s->align_d) s->align_d = align;
    }
    return KILN_OK;
}

int64_t kr_shape_id(const kiln_shape *s)
{
    const int64_t part[] = {s->lda, s->ldb, s->lde, s->align_a, s->align_b, s->align_e, s->align_d};
    uint64_t h = 0;
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        h = (h ^ (uint64_t)part[i]) * 0x9e3779b97f4a7c15ull;
        h ^= h >> 29;
    }
    return (int64_t)h;
}

/* ---- resolving in public ---- */

static void resolve_tensor(const kr_operand *o, const kiln_tensor *in, kiln_tensor *out)
{
    out->dtype = o->type;
    out->layout = o->layout;
    out->ld = o->ld;
    out->batch_stride = in->batch_stride == KILN_BROADCAST ? KILN_BROADCAST : o->stride;
    out->align = o->align;
}

kiln_status kiln_problem_resolve(const kiln_problem *p, kiln_problem *out)
{
    uint8_t sig[7];
    uint64_t key;
    if (!out) return INVALID("kiln_problem_resolve needs a place for its result");
    kiln_status status = kr_key(p, sig, &key);
    if (status) return status;
    kr_module *m;
    const kiln_op_row *op = kr_op_acquire(p->op, &m);
    if (!op) return kr_fail(KILN_NOT_FOUND, "no open module describes an op '%s'", p->op);
    kr_view v;
    status = kr_view_make(p, sig, m, op, 1, &v);
    if (status == KILN_OK) {
        kiln_problem r = *p;
        r.batch = v.shape.batch;
        r.acc = (kiln_dtype)sig[3];
        resolve_tensor(&v.a, &p->a, &r.a);
        resolve_tensor(&v.b, &p->b, &r.b);
        resolve_tensor(&v.e, &p->e, &r.e);
        for (int i = 0; i < op->nd; i++) resolve_tensor(&v.d[i], &p->d[i], &r.d[i]);
        *out = r;
    }
    kr_module_close(m);
    return status;
}
