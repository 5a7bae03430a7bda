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

/* What a problem says of a tensor. */
typedef struct asked {
    const kiln_tensor *t;
    int64_t plane;
    bool out, stacked; /* stacked: of a family with planes */
} asked;

/* All rows of an extra input may be one where the family has planes. */
static bool one_row(const asked *a)
{
    return a->t->ld == KILN_BROADCAST && a->stacked && !a->out;
}

static kiln_status bad_plane(const char *name, const asked *a)
{
    if (a->plane < KILN_BROADCAST)
        return INVALID("%s's plane stride is negative (%lld); KILN_BROADCAST is -1", name,
                       (long long)a->plane);
    return INVALID("%s's plane stride is KILN_BROADCAST: every plane of the result needs its own "
                   "place",
                   name);
}

static kiln_status bad_operand(const char *name, const asked *a, const kr_operand *o, bool fits)
{
    const kiln_tensor *const t = a->t;
    if (t->ld < 0 && !one_row(a))
        return INVALID("%s's leading dimension is negative (%lld)", name, (long long)t->ld);
    if (o->ld < o->inner && !one_row(a))
        return INVALID("%s's leading dimension is %lld, but its %s have %lld elements: it must be "
                       "at least that",
                       name, (long long)o->ld, o->layout == KILN_ROW ? "rows" : "columns",
                       (long long)o->inner);
    if (t->batch_stride < KILN_BROADCAST)
        return INVALID("%s's batch stride is negative (%lld); KILN_BROADCAST is -1", name,
                       (long long)t->batch_stride);
    if (a->out && t->batch_stride == KILN_BROADCAST)
        return INVALID(
            "%s's batch stride is KILN_BROADCAST: every batch of the result needs its own place",
            name);
    if (a->plane < KILN_BROADCAST || (a->out && a->plane == KILN_BROADCAST))
        return bad_plane(name, a);
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
        return INVALID("%s spans more than 2^60 bytes: check its sizes, leading dimension%s and "
                       "batch stride",
                       name, o->planes > 1 ? ", plane stride" : "");
    if (o->planes > 1)
        return INVALID("%s's strides are %lld, %lld and %lld: its %lld %s of %lld elements in each "
                       "of %lld planes would overwrite each other",
                       name, (long long)o->ld, (long long)o->plane, (long long)o->stride,
                       (long long)o->outer, o->layout == KILN_ROW ? "rows" : "columns",
                       (long long)o->inner, (long long)o->planes);
    return INVALID("%s's batch stride is %lld: with %lld %s of %lld elements, %lld apart, batches "
                   "would overwrite each other",
                   name, (long long)o->stride, (long long)o->outer,
                   o->layout == KILN_ROW ? "rows" : "columns", (long long)o->inner,
                   (long long)o->ld);
}

/* Strides that are left out: rows, planes and batches behind each other, each behind all that
 * stands inside it; false: more than 2^63. */
static bool place_strides(const asked *a, kr_operand *o)
{
    const kiln_tensor *const t = a->t;
    int64_t packed, stacked;
    const int64_t pieces = kiln_per_byte(o->type);
    o->ld = one_row(a) ? 0 : t->ld ? t->ld : o->inner ? o->inner : 1;
    if (!t->ld) o->ld = (o->ld + pieces - 1) / pieces * pieces;
    const bool fits = times(o->outer, o->ld, &packed);
    o->plane = o->planes == 1 || a->plane == KILN_BROADCAST ? 0
               : a->plane                                   ? a->plane
               : !fits                                      ? 0
               : o->ld                                      ? packed
                                                            : o->inner;
    if (!fits || !times(o->planes, o->plane, &stacked)) {
        o->stride = 0;
        return false;
    }
    if (o->planes == 1) stacked = o->ld ? packed : o->inner;
    o->stride = t->batch_stride == KILN_BROADCAST ? 0
                : t->batch_stride                 ? t->batch_stride
                : packed > stacked                ? packed
                                                  : stacked;
    return true;
}

/* Elements of one batch and bytes of all; false: more than fit. */
static bool measure(kr_operand *o)
{
    int64_t rows, planes, last;
    o->extent = o->bytes = 0;
    if (!times(o->outer ? o->outer - 1 : 0, o->ld, &rows) ||
        !times(o->planes ? o->planes - 1 : 0, o->plane, &planes) ||
        __builtin_add_overflow(rows, planes, &last) ||
        __builtin_add_overflow(last, o->inner, &last))
        return false;
    if (o->outer && o->inner && o->planes && o->batches) o->extent = last;
    int64_t bits;
    bool fits = times(o->stride, o->batches ? o->batches - 1 : 0, &last) &&
                !__builtin_add_overflow(last, o->extent, &last) && times(last, o->bits, &bits) &&
                times(o->stride, o->bits, &rows) && times(o->ld, o->bits, &rows) &&
                times(o->plane, o->bits, &rows);
    if (fits && o->extent) o->bytes = kr_span(o, last);
    return fits;
}

/* The shape is in o already; fills in what the problem leaves to defaults. */
static bool place_operand(const asked *a, kr_operand *o, bool *fit)
{
    const kiln_tensor *const t = a->t;
    const bool row = o->layout == KILN_ROW;
    o->inner = row ? o->cols : o->rows;
    o->outer = row ? o->rows : o->cols;
    o->bits = kiln_formats[o->type].bits;
    const int64_t pieces = kiln_per_byte(o->type);
    const uint32_t size = (uint32_t)kr_span(o, 1);
    o->align = t->align > size ? t->align : size;
    const bool fits = place_strides(a, o) && measure(o);
    if (!fits || (t->ld < 0 && !one_row(a)) || (o->ld < o->inner && !one_row(a)) ||
        t->batch_stride < KILN_BROADCAST || a->plane < KILN_BROADCAST ||
        (t->align & (t->align - 1)) || ((o->ld | o->stride) & (pieces - 1)) ||
        (a->out && (t->batch_stride == KILN_BROADCAST || a->plane == KILN_BROADCAST ||
                    kr_batches_meet(o, o->batches)))) {
        *fit = fits;
        return false;
    }
    return true;
}

/* Largest power of two that divides base, pitch and the strides of planes and batches. */
int64_t kr_common_alignment(const kr_operand *o)
{
    int64_t bits = ALIGN_LIMIT | o->align | kr_span(o, o->ld) | kr_span(o, o->plane);
    if (o->batches > 1) bits |= kr_span(o, o->stride);
    return bits & -bits;
}

/* ---- the whole ---- */

/* Bits of the sizes that a problem of the op has. */
static unsigned sizes_of(const kiln_op_row *op)
{
    return op->sizes | 1u << KILN_BATCH;
}

static kiln_status check_sizes(const kiln_problem *p, const kr_module *m, const kiln_op_row *op)
{
    const kiln_family *f = kr_family(m, op);
    for (int i = 0; i <= KILN_MAX_SIZES; i++) {
        const int64_t size = kr_size_of(p, i);
        if (!(sizes_of(op) >> i & 1)) {
            if (size == 0) continue;
            if (i > KILN_BATCH ? i <= f->nsizes : i < f->nsizes)
                return INVALID("%s is %lld: '%s' has no such size", kr_size_name(m, op, i),
                               (long long)size, p->op);
            return INVALID("%s[%d] is %lld: '%s' has %d sizes", i < KILN_BATCH ? "size" : "more",
                           i < KILN_BATCH ? i : i - KILN_BATCH - 1, (long long)size, p->op,
                           f->nsizes);
        }
        const char *name = kr_size_name(m, op, i);
        if (size < 0) return INVALID("%s is negative (%lld)", name, (long long)size);
        if (size > INT32_MAX) return INVALID("%s is %lld: at most 2^31 - 1", name, (long long)size);
    }
    return KILN_OK;
}

/* Sizes, with those that kernels are compiled for. */
static kiln_status set_sizes(const kiln_problem *p, const kr_signature *sig, const kr_module *m,
                             const kiln_op_row *op, kiln_shape *s)
{
    const kiln_family *f = kr_family(m, op);
    uint64_t all = 0, beyond = 0;
    for (int i = 0; i <= KILN_MAX_SIZES; i++) {
        s->size[i] = kr_size_of(p, i);
        all |= (uint64_t)s->size[i];
        if (!(sizes_of(op) >> i & 1)) beyond |= (uint64_t)s->size[i];
    }
    if (all > INT32_MAX || beyond) return check_sizes(p, m, op);
    if (!s->size[KILN_BATCH]) s->size[KILN_BATCH] = 1;
    for (int i = 0; i < f->nfixed; i++)
        s->size[f->fixed[i]] = kr_fixed(m, op, sig->sig[sig->n - 1])[i];
    if (f->groups == KILN_NOWHERE) return KILN_OK;
    const int64_t planes = s->size[f->planes], groups = s->size[f->groups];
    if (groups ? planes % groups == 0 : planes == 0) return KILN_OK;
    return INVALID("%s is %lld and %s %lld: the first must be a multiple of the second",
                   kr_size_name(m, op, f->planes), (long long)planes, kr_size_name(m, op, f->groups),
                   (long long)groups);
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
    o->rows = row->page ? row->page : length_of(s, row->rows, row->row_block) + row->beyond;
    o->cols = length_of(s, row->cols, row->col_block);
    o->planes = length_of(s, row->planes, 1);
    o->batches =
        row->batches == KILN_ONE_BATCH ? 1 : s->size[row->batches ? row->batches - 1 : KILN_BATCH];
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
        s->plane[row->own] = o->plane;
        s->align[row->own] = kr_common_alignment(o);
    } else if (row->kind == KILN_D_FULL) {
        const int64_t align = kr_common_alignment(o);
        const int64_t vector = 8 * align / o->bits;
        if (align < s->align_d) s->align_d = align;
        if (vector < s->vector) s->vector = vector;
    }
}

kiln_status kr_view_make(const kiln_problem *p, const kr_signature *sig, const kr_module *m,
                         const kiln_op_row *op, const kr_device *dev, kr_view *v)
{
    const bool stacked = kr_has_planes(kr_family(m, op));
    kiln_shape *s = &v->shape;
    const kiln_status status = set_sizes(p, sig, m, op, s);
    if (status) return status;
    for (int i = 0; i < KILN_MAX_OWN; i++) s->ld[i] = s->plane[i] = s->align[i] = 0;
    s->align_d = s->vector = ALIGN_LIMIT;
    s->units = dev ? dev->info.units : 1;
    s->gflops = dev ? dev->gflops : 0;
    s->gops = dev ? dev->gops : 0;
    s->gbps = dev ? dev->info.gbps : 0;
    for (int i = 0; i < op->ntensors; i++) {
        const kiln_tensor_row *row = &op->tensor[i];
        const kiln_tensor *t = &p->tensor[row->at];
        kr_operand *o = &v->t[i];
        if (i && row->own != KILN_NOWHERE && row[-1].own == row->own) {
            *o = o[-1]; /* several products' B's are alike */
            continue;
        }
        const asked a = {t, p->plane_stride[row->at], row->out, stacked};
        bool fits;
        if (!describe(row, sig, op->ntypes, s, t, o)) return bad_description(p, m, row, o);
        if (!place_operand(&a, o, &fits)) {
            const kr_label own =
                row->own == KILN_NOWHERE ? (kr_label){{0}} : kr_own_label(m, op, row->own);
            return bad_operand(*own.text ? own.text : kr_str(m, row->name), &a, o, fits);
        }
        if (row->batches == KILN_ONE_BATCH) o->stride = 0;
        note_shape(row, o, s);
    }
    return KILN_OK;
}

int64_t kr_shape_id(const kiln_shape *s)
{
    uint64_t h = 0;
    const int64_t *const part[] = {s->ld, s->align, s->plane};
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
    out->ld = in->ld == KILN_BROADCAST ? KILN_BROADCAST : o->ld;
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
        for (int i = 0; i < f->nfixed; i++) *kr_size(&r, f->fixed[i]) = v.shape.size[f->fixed[i]];
        for (int i = 0; i < f->ntypes; i++)
            if (!kr_type_in_text(f, i)) r.acc = (kiln_dtype)sig.sig[i];
        for (int i = 0; i < op->ntensors; i++) {
            const int at = op->tensor[i].at;
            resolve_tensor(&v.t[i], &p->tensor[at], &r.tensor[at]);
            if (kr_has_planes(f) && p->plane_stride[at] != KILN_BROADCAST)
                r.plane_stride[at] = v.t[i].plane;
        }
        status = kr_struct_out("kiln_problem", &r, sizeof r, out, given->struct_size);
    }
    kr_module_close(m);
    return status;
}
