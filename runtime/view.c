// SPDX-License-Identifier: MIT
// A problem with every default filled in and every number checked: what find, launch and the
// reference work with.
#include <string.h>
#include "internal.h"

#define INVALID(...) kr_fail(KILN_INVALID, __VA_ARGS__)
enum { ALIGN_LIMIT = 4096 }; /* of kiln_shape.align */

/* ---- one operand ---- */

static bool times(int64_t a, int64_t b, int64_t *r)
{
    return !__builtin_mul_overflow(a, b, r);
}

static kiln_status bad_operand(const char *name, const kiln_tensor *t, const kr_operand *o,
                               bool fits, bool out)
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
    if (out && t->batch_stride == KILN_BROADCAST)
        return INVALID(
            "%s's batch stride is KILN_BROADCAST: every batch of the result needs its own place",
            name);
    if (t->align & (t->align - 1))
        return INVALID("%s's alignment is %u: it must be a power of two", name, t->align);
    const long long pieces = kiln_per_byte(o->type);
    if (o->ld % pieces)
        return INVALID("%s's leading dimension is %lld: %s of %s begin at a byte, so it must be a "
                       "multiple of %lld",
                       name, (long long)o->ld, o->layout == KILN_ROW ? "rows" : "columns",
                       kiln_dtype_name(o->type), pieces);
    if (o->stride % pieces)
        return INVALID("%s's batch stride is %lld: batches of %s begin at a byte, so it must be a "
                       "multiple of %lld",
                       name, (long long)o->stride, kiln_dtype_name(o->type), pieces);
    if (!fits)
        return INVALID(
            "%s spans more than 2^60 bytes: check its sizes, leading dimension and batch stride",
            name);
    return INVALID("%s's batch stride is %lld: with %lld %s of %lld elements, %lld apart, batches "
                   "would overwrite each other",
                   name, (long long)o->stride, (long long)o->outer,
                   o->layout == KILN_ROW ? "rows" : "columns", (long long)o->inner,
                   (long long)o->ld);
}

/* The shape is in o already; fills in what t leaves to defaults. */
static bool place_operand(const kiln_tensor *t, int64_t batch, bool out, kr_operand *o, bool *fit)
{
    const bool row = o->layout == KILN_ROW;
    o->inner = row ? o->cols : o->rows;
    o->outer = row ? o->rows : o->cols;
    o->bits = kiln_formats[o->type].bits;
    const int64_t pieces = kiln_per_byte(o->type);
    const uint32_t size = (uint32_t)kr_span(o, 1);
    o->align = t->align > size ? t->align : size;
    o->ld = t->ld ? t->ld : o->inner ? o->inner : 1;
    if (!t->ld && pieces > 1) o->ld = (o->ld + pieces - 1) / pieces * pieces;
    o->extent = 0;
    int64_t packed, last;
    bool fits = times(o->outer, o->ld, &packed);
    if (fits && o->outer && o->inner) o->extent = packed - o->ld + o->inner;
    o->stride = t->batch_stride == KILN_BROADCAST ? 0
                : t->batch_stride                 ? t->batch_stride
                : fits                            ? packed
                                                  : 0;
    fits = fits && times(o->stride, batch - 1, &last) &&
           !__builtin_add_overflow(last, o->extent, &last) && times(last, o->bits, &packed) &&
           times(o->stride, o->bits, &packed) && times(o->ld, o->bits, &packed);
    o->bytes = fits && o->extent ? kr_span(o, last) : 0;
    if (!fits || t->ld < 0 || o->ld < o->inner || t->batch_stride < KILN_BROADCAST ||
        (t->align & (t->align - 1)) || ((o->ld | o->stride) & (pieces - 1)) ||
        (out && (t->batch_stride == KILN_BROADCAST ||
                 (o->stride < o->extent && kr_batches_meet(o, batch))))) {
        *fit = fits;
        return false;
    }
    return true;
}

/* Largest power of two that divides base, pitch and batch stride. */
static int64_t common_alignment(const kr_operand *o, int64_t batch)
{
    int64_t bits = ALIGN_LIMIT | o->align | kr_span(o, o->ld);
    if (batch > 1) bits |= kr_span(o, o->stride);
    return bits & -bits;
}

/* ---- the whole ---- */

static kiln_status check_sizes(const kiln_problem *p, const kr_module *m, const kiln_family *f)
{
    for (int i = 0; i <= KILN_BATCH; i++) {
        const int64_t size = p->size[i];
        if (i >= f->nsizes && i < KILN_BATCH) {
            if (size == 0) continue;
            return INVALID("size[%d] is %lld: '%s' has %d sizes", i, (long long)size, p->op,
                           f->nsizes);
        }
        const char *name = i == KILN_BATCH ? "batch" : kr_str(m, f->size[i]);
        if (size < 0) return INVALID("%s is negative (%lld)", name, (long long)size);
        if (size > INT32_MAX) return INVALID("%s is %lld: at most 2^31 - 1", name, (long long)size);
    }
    return KILN_OK;
}

static int64_t length_of(const kiln_shape *s, uint8_t size, int64_t block)
{
    if (size == KILN_NOWHERE) return 1;
    return block == 1 ? s->size[size] : (s->size[size] + block - 1) / block;
}

/* Type and shape of a tensor; false: the problem says another type or layout. */
static bool describe(const kiln_tensor_row *row, const kr_signature *sig, int ntypes,
                     const kiln_shape *s, const kiln_tensor *t, kr_operand *o)
{
    o->type = (kiln_dtype)(row->type & 0x80 ? sig->sig[row->type & 0x7f] : row->type);
    o->rows = length_of(s, row->rows, row->row_block);
    o->cols = length_of(s, row->cols, row->col_block);
    if (row->cols == KILN_NOWHERE)
        o->layout = row->rows == KILN_NOWHERE ? KILN_ROW : KILN_COL; /* a column is contiguous */
    else if (row->rows == KILN_NOWHERE || !row->layout)
        o->layout = KILN_ROW;
    else
        o->layout = (kiln_layout)(row->layout & 0x80 ? sig->sig[ntypes + (row->layout & 0x7f)]
                                                     : row->layout);
    const bool matrix = row->rows != KILN_NOWHERE && row->cols != KILN_NOWHERE;
    return (!t->dtype || t->dtype == o->type) && (!matrix || !t->layout || t->layout == o->layout);
}

static kiln_status bad_description(const kiln_problem *p, const kr_module *m,
                                   const kiln_tensor_row *row, const kr_operand *o)
{
    const kiln_tensor *t = &p->tensor[row->at];
    const char *what = row->out ? "output" : "input", *name = kr_str(m, row->name);
    if (t->dtype && t->dtype != o->type)
        return kr_fail(KILN_NOT_FOUND, "%s's %s '%s' is %s, not %s", p->op, what, name,
                       kiln_dtype_name(o->type), kiln_dtype_name(t->dtype));
    return kr_fail(KILN_NOT_FOUND, "%s's %s '%s' is %s-major here", p->op, what, name,
                   o->layout == KILN_ROW ? "row" : "column");
}

static void note_shape(const kiln_tensor_row *row, const kr_operand *o, kiln_shape *s)
{
    if (row->own != KILN_NOWHERE) {
        s->ld[row->own] = o->ld;
        s->align[row->own] = common_alignment(o, s->size[KILN_BATCH]);
    } else if (row->kind == KILN_D_FULL) {
        const int64_t align = common_alignment(o, s->size[KILN_BATCH]);
        const int64_t vector = 8 * align / o->bits;
        if (align < s->align_d) s->align_d = align;
        if (vector < s->vector) s->vector = vector;
    }
}

kiln_status kr_view_make(const kiln_problem *p, const kr_signature *sig, const kr_module *m,
                         const kiln_op_row *op, const kr_device *dev, kr_view *v)
{
    const kiln_family *f = kr_family(m, op);
    kiln_shape *s = &v->shape;
    uint64_t all = 0, beyond = 0;
    for (int i = 0; i <= KILN_BATCH; i++) {
        s->size[i] = p->size[i];
        all |= (uint64_t)p->size[i];
        if (i >= f->nsizes && i < KILN_BATCH) beyond |= (uint64_t)p->size[i];
    }
    if (all > INT32_MAX || beyond) return check_sizes(p, m, f);
    if (!s->size[KILN_BATCH]) s->size[KILN_BATCH] = 1;
    for (int i = 0; i < KILN_MAX_OWN; i++) s->ld[i] = s->align[i] = 0;
    s->align_d = s->vector = ALIGN_LIMIT;
    s->units = dev ? dev->info.units : 1;
    s->gflops = dev ? dev->gflops : 0;
    s->gops = dev ? dev->gops : 0;
    for (int i = 0; i < op->ntensors; i++) {
        const kiln_tensor_row *row = &op->tensor[i];
        const kiln_tensor *t = &p->tensor[row->at];
        kr_operand *o = &v->t[i];
        if (i && row->own != KILN_NOWHERE && row[-1].own == row->own) {
            *o = o[-1]; /* several products' B's are alike */
            continue;
        }
        bool fits;
        if (!describe(row, sig, op->ntypes, s, t, o)) return bad_description(p, m, row, o);
        if (!place_operand(t, s->size[KILN_BATCH], row->out, o, &fits)) {
            const kr_label own =
                row->own == KILN_NOWHERE ? (kr_label){{0}} : kr_own_label(m, op, row->own);
            return bad_operand(*own.text ? own.text : kr_str(m, row->name), t, o, fits, row->out);
        }
        note_shape(row, o, s);
    }
    return KILN_OK;
}

int64_t kr_shape_id(const kiln_shape *s)
{
    uint64_t h = 0;
    const int64_t *const part[] = {s->ld, s->align};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        for (int own = 0; own < KILN_MAX_OWN; own++) {
            h = (h ^ (uint64_t)part[i][own]) * 0x9e3779b97f4a7c15ull;
            h ^= h >> 29;
        }
    h = (h ^ (uint64_t)(s->align_d | s->vector << 16)) * 0x9e3779b97f4a7c15ull;
    return (int64_t)(h ^ h >> 29);
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
    uint64_t hash;
    if (!out) return INVALID("kiln_problem_resolve needs a place for its result");
    kiln_problem room;
    const kiln_problem *const given = p;
    if (!(p = kr_problem_in(p, &room))) return KILN_INVALID;
    kiln_status status = kr_op_name(p, &hash);
    if (status) return status;
    kr_module *m;
    const kiln_op_row *op;
    status = kr_op_acquire(p->op, &op, &m);
    if (status) return status;
    kr_signature sig;
    kr_view v;
    status = kr_sign(p, m, op, hash, &sig);
    if (status == KILN_OK) status = kr_view_make(p, &sig, m, op, NULL, &v);
    if (status == KILN_OK) {
        const kiln_family *f = kr_family(m, op);
        kiln_problem r = *p;
        r.batch = v.shape.size[KILN_BATCH];
        for (int i = 0; i < f->ntypes; i++)
            if (!kr_type_in_text(f, i)) r.acc = (kiln_dtype)sig.sig[i];
        for (int i = 0; i < op->ntensors; i++) {
            const int at = op->tensor[i].at;
            resolve_tensor(&v.t[i], &p->tensor[at], &r.tensor[at]);
        }
        status = kr_struct_out("kiln_problem", &r, sizeof r, out, given->struct_size);
    }
    kr_module_close(m);
    return status;
}
