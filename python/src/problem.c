// SPDX-License-Identifier: MIT
// A call's problem: which of the signatures that its op was compiled for fits the tensors' types
// and strides, and what outputs that were not given are to be.
#include "solver.h"
#include <string.h>

static int64_t blocks(int64_t size, int64_t block)
{
    return block == 1 ? size : (size + block - 1) / block;
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
    if (kp_count_of(s->c->view[i], s->c->view[i]->ndim) == 0) { /* nothing lies anywhere */
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

static bool bad_strides(const solver *s, int i, const char *why)
{
    const kp_view *v = s->c->view[i];
    PyObject *strides = PyTuple_New(v->ndim);
    for (int d = 0; strides && d < v->ndim; d++)
        PyTuple_SetItem(strides, d, PyLong_FromLongLong(v->stride[d]));
    if (!strides) return false;
    kp_invalid("%s: '%s' has strides %S (elements): %s", s->b->info.name, s->b->tensor[i].name,
               strides, why);
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

/* Tensors of bytes whose sign is that of the two elements in each. */
static int bytes_alike(const solver *s, const kp_signature *sig)
{
    int n = 0;
    for (int i = 0; i < s->b->ntensors; i++) {
        const kp_view *v = s->c->view[i];
        const int wanted = kp_wanted_type(s, sig, i);
        n += v && ((v->dtype == KILN_I8 && wanted == KILN_I4) ||
                   (v->dtype == KILN_U8 && wanted == KILN_U4));
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
            return kp_invalid(
                "%s: output '%s' may be %s or %s: say dtype=, or give it by out=", s->b->info.name,
                t->name, kp_dtype_text(x->type[t->type]), kp_dtype_text(y->type[t->type]));
    }
    return true;
}

/* Better: elements of less than a byte with the sign of the bytes, outputs of the first tensor's
 * type, then row-major ones, then the first in order. */
static bool choose_signature(solver *s)
{
    const kp_signature *best = NULL, *other = NULL;
    for (size_t i = 0; i < s->b->nsignatures; i++) {
        const kp_signature *sig = &s->b->signature[i];
        if (!kp_types_fit(s, sig) || !layouts_fit(s, sig) || !sizes_fit(s, sig)) continue;
        if (!best) {
            best = sig;
            continue;
        }
        const int bytes = bytes_alike(s, sig) - bytes_alike(s, best),
                  alike = bytes ? bytes : made_alike(s, sig) - made_alike(s, best),
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
        if (!v || t->type < 0) continue;
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

/* Whether each tensor of bytes with two elements is contiguous where the signature has them. */
static bool bytes_fit(const solver *s, const kp_signature *sig)
{
    for (int i = 0; i < s->b->ntensors; i++) {
        const kp_view *v = s->c->view[i];
        const int side = v ? kp_packed_side(s, i, sig) : 0;
        const int d = v ? v->ndim - (side == KILN_COL ? 2 : 1) : 0;
        if (side && (d < 0 || (v->shape[d] > 1 && v->stride[d] != 1))) return false;
    }
    return true;
}

/* Elements of less than a byte change what shapes mean: the first signature whose types fit, and
 * whose bytes do where there is one, says whether there are, and along which dimension. */
static const kp_signature *first_of_types(const solver *s)
{
    const kp_signature *first = NULL;
    for (size_t i = 0; i < s->b->nsignatures; i++) {
        const kp_signature *sig = &s->b->signature[i];
        if (!kp_types_fit(s, sig)) continue;
        if (bytes_fit(s, sig)) return sig;
        if (!first) first = sig;
    }
    return first;
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
    const int wanted = kp_wanted_type(s, s->sig, i), layout = chosen_layout(s, i);
    const int64_t each = kp_is_packed(wanted) && !kp_is_packed(v->dtype) ? 2 : 1;
    const bool matrix = t->rows >= 0 && t->cols >= 0, row = layout != KILN_COL;
    kiln_tensor said = {.dtype = (kiln_dtype)(each == 2 ? wanted : v->dtype),
                        .align = alignment(v)};
    int64_t plane = 0;
    if (matrix && at->none) {
        said.layout = (kiln_layout)layout;
    } else if (matrix) {
        const int64_t outer = row ? at->rows : at->cols, pitch = row ? at->row : at->col,
                      inner = row ? at->cols : at->rows;
        if (!at->layouts)
            return bad_strides(
                s, i, "neither its rows nor its columns are contiguous; make it contiguous");
        if (!(at->layouts >> layout & 1) && s->sig)
            return bad_strides(
                s, i,
                row ? "the op has it row-major, elements of a row side by side"
                    : "the op has it column-major, elements of a column side by side");
        said.layout = (kiln_layout)layout;
        if (outer > 1 && inner > 0) said.ld = pitch == 0 ? KILN_BROADCAST : pitch * each;
    } else if ((at->rows > 1 && at->row != 1) || (at->cols > 1 && at->col != 1)) {
        return bad_strides(s, i, "its elements do not lie side by side; make it contiguous");
    }
    if (at->planes > 1 && !at->none) plane = at->plane == 0 ? KILN_BROADCAST : at->plane;
    if (kp_matrices(s, t) > 1 && !at->none)
        said.batch_stride = at->spread ? KILN_BROADCAST : at->batch * each;
    if (plane < KILN_BROADCAST || said.batch_stride < KILN_BROADCAST)
        return bad_strides(s, i, "one of them leads backwards; make it contiguous");
    const kiln_tensor *const twin = t->twin >= 0 ? &p->tensor[t->at] : NULL;
    if (twin && (twin->dtype != said.dtype || twin->layout != said.layout || twin->ld != said.ld ||
                 twin->batch_stride != said.batch_stride))
        return kp_invalid("%s: '%s' and '%s' must be of one type and lie alike", s->b->info.name,
                          s->b->tensor[t->twin].name, t->name);
    if (twin && twin->align < said.align) said.align = twin->align;
    p->tensor[t->at] = said;
    p->plane_stride[t->at] = plane;
    return true;
}

/* Where no signature fits, of the first tensor's type: the library says why there is none. */
static int made_type(const solver *s, int i)
{
    const int wanted = kp_wanted_type(s, s->sig, i);
    if (wanted) return wanted;
    if (s->c->dtype) return s->c->dtype;
    if (s->type[s->b->tensor[i].type]) return s->type[s->b->tensor[i].type];
    for (int k = 0; k < s->b->ntensors; k++)
        if (s->c->view[k]) return s->c->view[k]->dtype;
    return KILN_F32;
}

/* An output that is to be made: packed, batches as they came. */
static bool set_made(const solver *s, int i, kp_made *m)
{
    const kp_tensor *t = &s->b->tensor[i];
    const int64_t folded = s->folded && t->rows == s->b->info.rows;
    *m = (kp_made){.dtype = made_type(s, i), .columns = chosen_layout(s, i) == KILN_COL};
    if (s->nb + 3 > KP_DIMS)
        return kp_invalid("%s: at most %d dimensions of batches", s->b->info.name, KP_DIMS - 3);
    for (int d = 0; d < s->nb && t->batches == KILN_BATCH; d++) m->shape[m->ndim++] = s->batch[d];
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
    s.packs = !first_of_types(&s);
    if (!read_types(&s) || !kp_solve_sizes(&s, first_of_types(&s))) return false;
    s.sig = first_of_types(&s);
    if (!kp_solve_batches(&s)) return false;
    for (int i = 0; i < b->ntensors; i++)
        if (c->view[i]) allow_layouts(&s, i);
    if (!choose_signature(&s)) return false;

    memset(p, 0, sizeof *p);
    p->struct_size = sizeof *p;
    memcpy(p->op, b->info.name, strlen(b->info.name) + 1);
    for (int i = 0; i < KP_SIZES; i++)
        if (i != KILN_BATCH && b->size[i]) *size_in(p, i) = s.size[i];
    p->batch = s.batches;
    *nothing = s.batches == 0;
    if (s.batches > INT32_MAX) return kp_invalid("%s: too many batches", b->info.name);
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
