// SPDX-License-Identifier: MIT
// From the shapes and strides of a call's tensors to a problem: which sizes they tell, what their
// leading dimensions are (batches, which become rows where that is the same), which of the op's
// types and layouts fit.
//   A tensor is [batch...,] [planes,] [rows,] [cols]: of these what its op gives it.  Where it has
//   no rows or no columns
// there may be a 1 in their place.
#include "binding.h"
#include <string.h>

typedef struct place {
    int64_t planes, plane; /* sizes, and strides in elements */
    int64_t rows, row, cols, col;
    int nb;           /* leading dimensions: batch */
    int64_t batch;    /* stride */
    bool spread;      /* all batches are one */
    bool none;        /* it has no elements */
    unsigned layouts; /* that the strides allow: bit 1 row-major, bit 2 column-major */
} place;

typedef struct solver {
    const kp_bound *b;
    const kp_call *c;
    place at[KILN_MAX_TENSORS];
    int64_t size[KP_SIZES]; /* -1: not known yet */
    int64_t batch[KP_DIMS]; /* of all, before it is one number */
    int nb;
    int64_t batches;
    const kp_signature *sig;      /* NULL: none fits, and the library will say why */
    uint8_t type[KILN_MAX_TYPES]; /* as given; 0: by no tensor */
    bool folded;                  /* batches became rows */
} solver;

enum { ROW_BIT = 1u << KILN_ROW, COL_BIT = 1u << KILN_COL };

static bool invalid(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    PyErr_FormatV(PyExc_ValueError, format, args);
    va_end(args);
    return false;
}

static int64_t blocks(int64_t size, int64_t block)
{
    return block == 1 ? size : (size + block - 1) / block;
}

/* ---- types ---- */

static bool is_packed(int dtype)
{
    return dtype && dtype < KP_BYTES && kiln_dtype_size((kiln_dtype)dtype) == 0;
}

/* Whether a tensor of this type serves as one of that: bytes and i8 for those of less. */
static bool serves(int given, int wanted)
{
    return given == wanted || (is_packed(wanted) && (given == KP_BYTES || given == KILN_I8));
}

static int wanted_type(const solver *s, const kp_signature *sig, int i)
{
    const kp_tensor *t = &s->b->tensor[i];
    return t->type < 0 ? t->dtype : sig ? sig->type[t->type] : 0;
}

static bool types_fit(const solver *s, const kp_signature *sig)
{
    for (int i = 0; i < s->b->ntensors; i++) {
        const kp_tensor *t = &s->b->tensor[i];
        const kp_view *v = s->c->view[i];
        if (v && t->type >= 0 && !serves(v->dtype, sig->type[t->type])) return false;
        if (!v && t->out && t->type >= 0 && s->c->dtype && s->c->dtype != sig->type[t->type])
            return false;
    }
    return true;
}

/* ---- shapes ---- */

/* Takes dimensions from v's end for planes, rows and columns; gap: absent ones are there as 1. */
static bool take(const kp_tensor *t, const kp_view *v, bool gap, place *p)
{
    int d = v->ndim;
    *p = (place){.planes = 1, .rows = 1, .cols = 1};
    struct {
        int size;
        int64_t *n, *stride;
    } part[] = {{t->cols, &p->cols, &p->col},
                {t->rows, &p->rows, &p->row},
                {t->planes, &p->planes, &p->plane}};
    for (int k = 0; k < 3; k++) {
        if (part[k].size < 0) {
            if (!gap || k == 2) continue;
            if (d == 0 || v->shape[d - 1] != 1) return false;
            d--;
            continue;
        }
        if (d == 0) return false;
        d--;
        *part[k].n = v->shape[d];
        *part[k].stride = v->stride[d];
    }
    p->nb = d;
    return true;
}

/* Elements of less than a byte: two of the contiguous dimension to each. */
static int packed_side(const solver *s, int i, const kp_signature *sig)
{
    if (!is_packed(wanted_type(s, sig, i))) return 0;
    const kp_tensor *t = &s->b->tensor[i];
    const int layout = t->letter >= 0 && sig ? sig->layout[t->letter] : t->layout;
    return layout == KILN_COL ? KILN_COL : KILN_ROW;
}

static bool tell(int size, int64_t n, int64_t block, int64_t known[KP_SIZES])
{
    if (size < 0) return true;
    if (known[size] >= 0) return blocks(known[size], block) == n;
    if (block == 1) known[size] = n;
    return true;
}

/* Sizes of tensor i, in known; false: they contradict it. */
static bool fits(solver *s, int i, const place *p, const kp_signature *sig, int64_t known[KP_SIZES])
{
    const kp_tensor *t = &s->b->tensor[i];
    const int side = packed_side(s, i, sig);
    if (!tell(t->planes, p->planes, 1, known)) return false;
    if (!tell(t->rows, p->rows, side == KILN_COL ? 2 * t->row_block : t->row_block, known))
        return false;
    return tell(t->cols, p->cols, side == KILN_ROW ? 2 * t->col_block : t->col_block, known);
}

static bool batch_fits(const solver *s, const kp_view *v, int nb)
{
    for (int i = 0; i < nb && i < s->nb; i++) {
        const int64_t x = v->shape[nb - 1 - i], y = s->batch[s->nb - 1 - i];
        if (x != y && x != 1 && y != 1) return false;
    }
    return true;
}

static void add_batch(solver *s, const kp_view *v, int nb)
{
    if (nb > s->nb) {
        const int more = nb - s->nb;
        memmove(s->batch + more, s->batch, (size_t)s->nb * sizeof *s->batch);
        for (int i = 0; i < more; i++) s->batch[i] = 1;
        s->nb = nb;
    }
    for (int i = 0; i < nb; i++) {
        int64_t *y = &s->batch[s->nb - 1 - i];
        if (*y == 1) *y = v->shape[nb - 1 - i];
    }
}

static PyObject *shape_text(const kp_view *v)
{
    PyObject *shape = PyTuple_New(v->ndim);
    for (int i = 0; shape && i < v->ndim; i++)
        PyTuple_SetItem(shape, i, PyLong_FromLongLong(v->shape[i]));
    return shape;
}

/* What a tensor should look like: "[batch..., m, k] with m = 4, k = ?". */
static bool bad_shape(const solver *s, int i)
{
    const kp_tensor *t = &s->b->tensor[i];
    char text[400] = "[batch...";
    const struct {
        int size;
        int64_t block;
    } part[] = {{t->planes, 1}, {t->rows, t->row_block}, {t->cols, t->col_block}};
    size_t n = strlen(text);
    for (int k = 0; k < 3; k++) {
        if (part[k].size < 0) continue;
        const char *name = s->b->size[part[k].size];
        const long long known = (long long)s->size[part[k].size];
        n += (size_t)PyOS_snprintf(text + n, sizeof text - n, ", %s", name ? name : "?");
        if (part[k].block > 1)
            n +=
                (size_t)PyOS_snprintf(text + n, sizeof text - n, "/%lld", (long long)part[k].block);
        if (known >= 0) n += (size_t)PyOS_snprintf(text + n, sizeof text - n, "=%lld", known);
    }
    PyObject *shape = shape_text(s->c->view[i]);
    if (!shape) return false;
    invalid("%s: '%s' has shape %S, and is to be %s]%s", s->b->info.name, t->name, shape, text,
            s->nb ? ", its batch that of the others" : "");
    Py_DECREF(shape);
    return false;
}

/* Those that tell sizes first, then those of blocks and of bytes with two elements. */
static bool solve_sizes(solver *s, const kp_signature *sig)
{
    const kp_bound *b = s->b;
    for (int i = 0; i < KP_SIZES; i++) s->size[i] = s->b->told >> i & 1 ? -1 : s->c->size[i];
    s->nb = 0;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < b->ntensors; i++) {
            const kp_tensor *t = &b->tensor[i];
            const kp_view *v = s->c->view[i];
            const bool late = t->row_block > 1 || t->col_block > 1 || packed_side(s, i, sig);
            if (!v || late != (round == 1)) continue;
            bool done = false;
            for (int gap = 0; gap < 2 && !done; gap++) {
                int64_t known[KP_SIZES];
                place p;
                memcpy(known, s->size, sizeof known);
                if (!take(t, v, gap, &p) || !fits(s, i, &p, sig, known) || !batch_fits(s, v, p.nb))
                    continue;
                memcpy(s->size, known, sizeof known);
                add_batch(s, v, p.nb);
                s->at[i] = p;
                done = true;
            }
            if (!done) return bad_shape(s, i);
        }
    }
    for (int i = 0; i < b->ntensors; i++) { /* a size that bytes alone tell */
        const place *p = &s->at[i];
        const int side = s->c->view[i] ? packed_side(s, i, sig) : 0;
        const int of = side == KILN_ROW ? b->tensor[i].cols : b->tensor[i].rows;
        if (side && of >= 0 && s->size[of] < 0)
            s->size[of] = 2 * (side == KILN_ROW ? p->cols : p->rows);
    }
    for (int i = 0; i < KP_SIZES; i++) {
        if (i == KILN_BATCH || s->size[i] >= 0 || !(b->told >> i & 1)) continue;
        if (b->size[i]) return invalid("%s: no tensor given tells %s", b->info.name, b->size[i]);
    }
    s->batches = 1;
    for (int i = 0; i < s->nb; i++)
        if (__builtin_mul_overflow(s->batches, s->batch[i], &s->batches))
            return invalid("%s: too many batches", b->info.name);
    return true;
}

/* ---- batches ---- */

/* Dimensions as one: its stride; false: no stride is it. */
static bool join(const int64_t *shape, const int64_t *stride, int n, int64_t *out)
{
    int64_t count = 1;
    *out = 0;
    for (int i = n; i-- > 0;) {
        if (shape[i] == 1) continue;
        if (count == 1)
            *out = stride[i];
        else if (stride[i] != *out * count)
            return false;
        count *= shape[i];
    }
    return true;
}

static int64_t count_of(const kp_view *v, int n)
{
    int64_t count = 1;
    for (int i = 0; i < n; i++) count *= v->shape[i];
    return count;
}

static bool place_batch(solver *s, int i)
{
    const kp_view *v = s->c->view[i];
    place *p = &s->at[i];
    const int64_t count = count_of(v, p->nb);
    p->spread = count == 1 && s->batches != 1;
    if (p->spread || s->batches == 1 || s->batches == 0 || p->rows * p->cols * p->planes == 0)
        return true;
    const char *name = s->b->tensor[i].name, *op = s->b->info.name;
    if (count != s->batches)
        return invalid("%s: '%s' has %lld batches where the others have %lld: all of them or one",
                       op, name, (long long)count, (long long)s->batches);
    if (!join(v->shape, v->stride, p->nb, &p->batch))
        return invalid("%s: the batch dimensions of '%s' lie at no one stride: make it contiguous",
                       op, name);
    p->spread = p->batch == 0;
    return true;
}

/* Batches of rows are rows where nothing else has a batch and each tensor's are evenly apart. */
static void fold_batches(solver *s)
{
    const kp_bound *b = s->b;
    const int rows = b->info.rows;
    if (s->batches < 2 || b->stacked || rows < 0 || !(b->info.independent >> rows & 1)) return;
    int64_t stride[KILN_MAX_TENSORS] = {0};
    if (s->size[rows] * s->batches > INT32_MAX) return;
    for (int i = 0; i < b->ntensors; i++) {
        const kp_tensor *t = &b->tensor[i];
        const kp_view *v = s->c->view[i];
        if (t->cols == rows) return;
        if (!v) continue;
        if (t->rows != rows) {
            if (count_of(v, s->at[i].nb) != 1) return;
            continue;
        }
        if (count_of(v, s->at[i].nb) != s->batches || t->row_block != 1 ||
            packed_side(s, i, s->sig) == KILN_COL)
            return;
        int64_t shape[KP_DIMS + 1], strides[KP_DIMS + 1];
        const int nb = s->at[i].nb;
        memcpy(shape, v->shape, (size_t)nb * sizeof *shape);
        memcpy(strides, v->stride, (size_t)nb * sizeof *strides);
        shape[nb] = s->at[i].rows, strides[nb] = s->at[i].row;
        if (!join(shape, strides, nb + 1, &stride[i]) || stride[i] == 0) return;
    }
    for (int i = 0; i < b->ntensors; i++) {
        if (!s->c->view[i] || b->tensor[i].rows != rows) continue;
        s->at[i].rows *= s->batches;
        s->at[i].row = stride[i];
    }
    s->size[rows] *= s->batches;
    s->batches = 1;
    s->folded = true;
}

/* ---- layouts ---- */

static bool along(int64_t n, int64_t step)
{
    return n <= 1 || step == 1;
}

/* Runs of `inner` elements, `pitch` apart. */
static bool apart(const solver *s, int i, int64_t outer, int64_t pitch, int64_t inner)
{
    const kp_tensor *t = &s->b->tensor[i];
    return outer <= 1 || pitch >= inner || (pitch == 0 && s->b->stacked && !t->own && !t->out);
}

static void allow_layouts(solver *s, int i)
{
    place *p = &s->at[i];
    if (count_of(s->c->view[i], s->c->view[i]->ndim) == 0) { /* nothing lies anywhere */
        p->layouts = ROW_BIT | COL_BIT;
        p->row = p->col = 1;
        p->plane = 0;
        p->batch = 0;
        p->none = true;
        return;
    }
    if (along(p->cols, p->col) && apart(s, i, p->rows, p->row, p->cols)) p->layouts |= ROW_BIT;
    if (along(p->rows, p->row) && apart(s, i, p->cols, p->col, p->rows)) p->layouts |= COL_BIT;
}

static bool bad_strides(const solver *s, int i)
{
    const kp_tensor *t = &s->b->tensor[i];
    const kp_view *v = s->c->view[i];
    PyObject *strides = PyTuple_New(v->ndim);
    for (int d = 0; strides && d < v->ndim; d++)
        PyTuple_SetItem(strides, d, PyLong_FromLongLong(v->stride[d]));
    if (!strides) return false;
    const bool matrix = t->rows >= 0 && t->cols >= 0;
    invalid("%s: '%s' has strides %S (elements): %s; make it contiguous", s->b->info.name, t->name,
            strides,
            matrix ? "neither its rows nor its columns are contiguous"
                   : "its elements do not lie side by side");
    Py_DECREF(strides);
    return false;
}

static bool layouts_fit(const solver *s, const kp_signature *sig)
{
    for (int i = 0; i < s->b->ntensors; i++) {
        const int letter = s->b->tensor[i].letter;
        if (letter >= 0 && s->c->view[i] && !(s->at[i].layouts >> sig->layout[letter] & 1))
            return false;
    }
    return true;
}

static bool sizes_fit(const solver *s, const kp_signature *sig)
{
    for (size_t i = 0; i < s->b->info.nfixed; i++)
        if (s->size[s->b->info.fixed[i]] != sig->fixed[i]) return false;
    return true;
}

/* Outputs that are made are better row-major. */
static int made_columns(const solver *s, const kp_signature *sig)
{
    int n = 0;
    for (int i = 0; i < s->b->ntensors; i++) {
        const kp_tensor *t = &s->b->tensor[i];
        n += t->out && !s->c->view[i] && t->letter >= 0 && sig->layout[t->letter] == KILN_COL;
    }
    return n;
}

/* Types of outputs that are made which are those of the first tensor. */
static int made_alike(const solver *s, const kp_signature *sig)
{
    int n = 0, first = 0;
    for (int i = 0; i < s->b->ntensors && !first; i++)
        if (s->c->view[i]) first = s->c->view[i]->dtype;
    for (int i = 0; i < s->b->ntensors; i++) {
        const kp_tensor *t = &s->b->tensor[i];
        n += t->out && !s->c->view[i] && t->type >= 0 && sig->type[t->type] == first;
    }
    return n;
}

/* ---- choosing a signature ---- */

static bool same_outputs(const solver *s, const kp_signature *x, const kp_signature *y)
{
    for (int i = 0; i < s->b->ntensors; i++) {
        const kp_tensor *t = &s->b->tensor[i];
        if (t->out && !s->c->view[i] && t->type >= 0 && x->type[t->type] != y->type[t->type])
            return false;
    }
    return true;
}

static bool ambiguous(const solver *s, const kp_signature *x, const kp_signature *y)
{
    for (int i = 0; i < s->b->ntensors; i++) {
        const kp_tensor *t = &s->b->tensor[i];
        if (t->out && !s->c->view[i] && t->type >= 0 && x->type[t->type] != y->type[t->type])
            return invalid(
                "%s: output '%s' may be %s or %s: say dtype=, or give it by out=", s->b->info.name,
                t->name, kp_dtype_text(x->type[t->type]), kp_dtype_text(y->type[t->type]));
    }
    return true;
}

/* Better: outputs of the first tensor's type, then row-major ones, then the first in order. */
static bool choose_signature(solver *s)
{
    const kp_signature *best = NULL, *other = NULL;
    for (size_t i = 0; i < s->b->nsignatures; i++) {
        const kp_signature *sig = &s->b->signature[i];
        if (!types_fit(s, sig) || !layouts_fit(s, sig) || !sizes_fit(s, sig)) continue;
        if (!best) {
            best = sig;
            continue;
        }
        const int alike = made_alike(s, sig) - made_alike(s, best),
                  columns = made_columns(s, sig) - made_columns(s, best);
        if (alike == 0 && !same_outputs(s, sig, best)) other = sig;
        if (alike > 0 || (alike == 0 && columns < 0)) {
            if (alike > 0) other = NULL;
            best = sig;
        }
    }
    s->sig = best;
    return !other || ambiguous(s, best, other);
}

/* One type for each of the signature's, said by those tensors that have it. */
static bool read_types(solver *s)
{
    int teller[KILN_MAX_TYPES] = {0};
    for (int i = 0; i < s->b->ntensors; i++) {
        const kp_tensor *t = &s->b->tensor[i];
        const kp_view *v = s->c->view[i];
        if (!v || t->type < 0 || v->dtype == KP_BYTES) continue;
        if (s->type[t->type] && s->type[t->type] != v->dtype) {
            PyErr_Format(PyExc_TypeError, "%s: '%s' is %s and '%s' is %s; they are of one type",
                         s->b->info.name, s->b->tensor[teller[t->type]].name,
                         kp_dtype_text(s->type[t->type]), t->name, kp_dtype_text(v->dtype));
            return false;
        }
        s->type[t->type] = (uint8_t)v->dtype;
        teller[t->type] = i;
    }
    return true;
}

/* Elements of less than a byte change what shapes mean: the first signature whose types fit says
 * whether there are. */
static const kp_signature *first_of_types(const solver *s)
{
    for (size_t i = 0; i < s->b->nsignatures; i++)
        if (types_fit(s, &s->b->signature[i])) return &s->b->signature[i];
    return NULL;
}

/* No signature: bytes can be nothing. */
static bool no_bytes(const solver *s)
{
    for (int i = 0; i < s->b->ntensors; i++) {
        const kp_view *v = s->c->view[i];
        if (!v || v->dtype != KP_BYTES || is_packed(wanted_type(s, s->sig, i))) continue;
        PyErr_Format(
            PyExc_TypeError,
            "%s: '%s' is uint8, which stands for elements of 4 bits alone, and this op has none "
            "there",
            s->b->info.name, s->b->tensor[i].name);
        return false;
    }
    return true;
}

/* ---- the problem ---- */

static int64_t *size_in(kiln_problem *p, int i)
{
    return i <= KILN_BATCH ? &p->size[i] : &p->more[i - KILN_BATCH - 1];
}

static uint32_t alignment(const kp_view *v)
{
    const uintptr_t bits = (uintptr_t)v->data | 256;
    return (uint32_t)(bits & -bits);
}

static int chosen_layout(const solver *s, int i)
{
    const kp_tensor *t = &s->b->tensor[i];
    if (t->letter >= 0 && s->sig) return s->sig->layout[t->letter];
    if (t->letter < 0) return t->layout;
    return s->at[i].layouts & ROW_BIT || !s->c->view[i] ? KILN_ROW : KILN_COL;
}

static bool set_tensor(const solver *s, int i, kiln_problem *p)
{
    const kp_tensor *t = &s->b->tensor[i];
    const kp_view *v = s->c->view[i];
    const place *at = &s->at[i];
    const int wanted = wanted_type(s, s->sig, i), layout = chosen_layout(s, i);
    const int64_t each = is_packed(wanted) && !is_packed(v->dtype) ? 2 : 1;
    const bool matrix = t->rows >= 0 && t->cols >= 0, row = layout != KILN_COL;
    kiln_tensor said = {.dtype = (kiln_dtype)(each == 2 ? wanted : v->dtype),
                        .align = alignment(v)};
    int64_t plane = 0;
    if (matrix && at->none) {
        said.layout = (kiln_layout)layout;
    } else if (matrix) {
        const int64_t outer = row ? at->rows : at->cols, pitch = row ? at->row : at->col,
                      inner = row ? at->cols : at->rows;
        if (!(at->layouts >> layout & 1) && (s->sig || !at->layouts)) return bad_strides(s, i);
        said.layout = (kiln_layout)layout;
        if (outer > 1 && inner > 0) said.ld = pitch == 0 ? KILN_BROADCAST : pitch * each;
    } else if ((at->rows > 1 && at->row != 1) || (at->cols > 1 && at->col != 1)) {
        return bad_strides(s, i);
    }
    if (at->planes > 1 && !at->none) plane = at->plane == 0 ? KILN_BROADCAST : at->plane;
    if (s->batches > 1 && !at->none)
        said.batch_stride = at->spread ? KILN_BROADCAST : at->batch * each;
    if (plane < KILN_BROADCAST || said.batch_stride < KILN_BROADCAST) return bad_strides(s, i);
    const kiln_tensor *const twin = t->twin >= 0 ? &p->tensor[t->at] : NULL;
    if (twin && (twin->dtype != said.dtype || twin->layout != said.layout || twin->ld != said.ld ||
                 twin->batch_stride != said.batch_stride))
        return invalid("%s: '%s' and '%s' must be of one type and lie alike", s->b->info.name,
                       s->b->tensor[t->twin].name, t->name);
    if (twin && twin->align < said.align) said.align = twin->align;
    p->tensor[t->at] = said;
    p->plane_stride[t->at] = plane;
    return true;
}

/* Where no signature fits, of the first tensor's type: the library says why there is none. */
static int made_type(const solver *s, int i)
{
    const int wanted = wanted_type(s, s->sig, i);
    if (wanted) return wanted;
    if (s->c->dtype) return s->c->dtype;
    if (s->type[s->b->tensor[i].type]) return s->type[s->b->tensor[i].type];
    for (int k = 0; k < s->b->ntensors; k++)
        if (s->c->view[k] && s->c->view[k]->dtype != KP_BYTES) return s->c->view[k]->dtype;
    return KILN_F32;
}

/* An output that is to be made: packed, batches as they came. */
static bool set_made(const solver *s, int i, kp_made *m)
{
    const kp_tensor *t = &s->b->tensor[i];
    const int64_t folded = s->folded && t->rows == s->b->info.rows;
    *m = (kp_made){.dtype = made_type(s, i), .columns = chosen_layout(s, i) == KILN_COL};
    if (s->nb + 3 > KP_DIMS)
        return invalid("%s: at most %d dimensions of batches", s->b->info.name, KP_DIMS - 3);
    for (int d = 0; d < s->nb; d++) m->shape[m->ndim++] = s->batch[d];
    if (t->planes >= 0) m->shape[m->ndim++] = s->size[t->planes];
    int64_t all = 1;
    for (int d = 0; d < s->nb; d++) all *= s->batch[d];
    if (t->rows >= 0)
        m->shape[m->ndim++] =
            blocks(folded ? s->size[t->rows] / all : s->size[t->rows], t->row_block);
    if (t->cols >= 0) m->shape[m->ndim++] = blocks(s->size[t->cols], t->col_block);
    return true;
}

bool kp_problem(const kp_bound *b, const kp_call *c, kiln_problem *p, kp_made *made, bool *nothing)
{
    solver s = {.b = b, .c = c};
    if (!read_types(&s) || !solve_sizes(&s, first_of_types(&s))) return false;
    for (int i = 0; i < b->ntensors; i++)
        if (c->view[i] && !place_batch(&s, i)) return false;
    s.sig = first_of_types(&s);
    fold_batches(&s);
    for (int i = 0; i < b->ntensors; i++)
        if (c->view[i]) allow_layouts(&s, i);
    if (!choose_signature(&s) || !no_bytes(&s)) return false;

    memset(p, 0, sizeof *p);
    p->struct_size = sizeof *p;
    memcpy(p->op, b->info.name, strlen(b->info.name) + 1);
    for (int i = 0; i < KP_SIZES; i++)
        if (i != KILN_BATCH && b->size[i]) *size_in(p, i) = s.size[i];
    p->batch = s.batches;
    *nothing = s.batches == 0;
    if (s.batches > INT32_MAX) return invalid("%s: too many batches", b->info.name);
    for (int i = 0; i < b->ntensors; i++) {
        const kp_tensor *t = &b->tensor[i];
        if (c->view[i]) {
            if (!set_tensor(&s, i, p)) return false;
        } else {
            p->tensor[t->at].dtype = (kiln_dtype)made_type(&s, i);
            if (t->letter >= 0) p->tensor[t->at].layout = (kiln_layout)chosen_layout(&s, i);
            if (t->out && !set_made(&s, i, &made[i])) return false;
        }
    }
    return true;
}
