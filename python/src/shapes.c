// SPDX-License-Identifier: MIT
// Sizes and batches, from the shapes of a call's tensors.
// A tensor is [batch...,] [planes,] [rows,] [cols]: of these what its op gives it.  Where it has no
// rows or no columns there may be a 1 in their place.
#include "solver.h"
#include <string.h>

bool kp_invalid(const char *format, ...)
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

bool kp_is_packed(int dtype)
{
    return dtype && kiln_dtype_size((kiln_dtype)dtype) == 0;
}

/* Whether a tensor of this type serves as one of that: bytes for those of less. */
static bool serves(const solver *s, int given, int wanted)
{
    return given == wanted ||
           (s->packs && kp_is_packed(wanted) && (given == KILN_U8 || given == KILN_I8));
}

int kp_wanted_type(const solver *s, const kp_signature *sig, int i)
{
    const kp_tensor *t = &s->b->tensor[i];
    return t->type < 0 ? t->dtype : sig ? sig->type[t->type] : 0;
}

bool kp_types_fit(const solver *s, const kp_signature *sig)
{
    for (int i = 0; i < s->b->ntensors; i++) {
        const kp_tensor *t = &s->b->tensor[i];
        const kp_view *v = s->c->view[i];
        if (v && t->type >= 0 && !serves(s, v->dtype, sig->type[t->type])) return false;
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
int kp_packed_side(const solver *s, int i, const kp_signature *sig)
{
    if (!kp_is_packed(kp_wanted_type(s, sig, i))) return 0;
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
    const int side = kp_packed_side(s, i, sig);
    if (!tell(t->planes, p->planes, 1, known)) return false;
    if (t->page ? p->rows != t->page
                : p->rows < t->beyond ||
                      !tell(t->rows, p->rows - t->beyond,
                            side == KILN_COL ? 2 * t->row_block : t->row_block, known))
        return false;
    return tell(t->cols, p->cols, side == KILN_ROW ? 2 * t->col_block : t->col_block, known);
}

/* Leading dimensions: batches, or whatever else its matrices are counted by. */
static bool batch_fits(const solver *s, const kp_tensor *t, const kp_view *v, int nb,
                       int64_t known[KP_SIZES])
{
    if (t->batches != KILN_BATCH) {
        const int64_t count = kp_count_of(v, nb);
        return t->batches < 0 ? count == 1 : tell(t->batches, count, 1, known);
    }
    for (int i = 0; i < nb && i < s->nb; i++) {
        const int64_t x = v->shape[nb - 1 - i], y = s->batch[s->nb - 1 - i];
        if (x != y && x != 1 && y != 1) return false;
    }
    return true;
}

/* Whether it is not the matrices but what goes with their rows or columns, or with all of it. */
static bool is_beside(const kp_tensor *t)
{
    return t->rows < 0 || t->cols < 0;
}

/* A scale of shape [1], a bias of [1, n] make no batch of what has none. */
static void add_batch(solver *s, const kp_tensor *t, const kp_view *v, int nb)
{
    int own = nb;
    if (is_beside(t))
        while (own > s->nb && v->shape[nb - own] == 1) own--;
    if (own > s->nb) {
        const int more = own - s->nb;
        memmove(s->batch + more, s->batch, (size_t)s->nb * sizeof *s->batch);
        for (int i = 0; i < more; i++) s->batch[i] = 1;
        s->nb = own;
    }
    for (int i = 0; i < own; i++) {
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

/* What a tensor should look like: "[batch..., m=4, k/128]". */
static bool bad_shape(const solver *s, int i, const kp_signature *sig)
{
    const kp_tensor *t = &s->b->tensor[i];
    const bool batched = t->batches == KILN_BATCH;
    const int side = kp_packed_side(s, i, sig);
    char text[400] = "[";
    const struct {
        int size, count, beyond;
        int64_t block;
    } part[] = {{batched ? -1 : t->batches, 0, 0, 1},
                {t->planes, 0, 0, 1},
                {t->rows, t->page, t->beyond, t->row_block * (side == KILN_COL ? 2 : 1)},
                {t->cols, 0, 0, t->col_block * (side == KILN_ROW ? 2 : 1)}};
    size_t n = 1;
    if (batched)
        n += (size_t)PyOS_snprintf(text + n, sizeof text - n, "%s...", s->b->size[KILN_BATCH]);
    for (int k = 0; k < 4; k++) {
        if (part[k].size < 0) continue;
        const char *name = s->b->size[part[k].size];
        const long long known = (long long)s->size[part[k].size];
        if (n > 1) n += (size_t)PyOS_snprintf(text + n, sizeof text - n, ", ");
        if (part[k].count) {
            n += (size_t)PyOS_snprintf(text + n, sizeof text - n, "%d", part[k].count);
            continue;
        }
        n += (size_t)PyOS_snprintf(text + n, sizeof text - n, "%s", name ? name : "?");
        if (part[k].block > 1)
            n +=
                (size_t)PyOS_snprintf(text + n, sizeof text - n, "/%lld", (long long)part[k].block);
        if (known >= 0)
            n += (size_t)PyOS_snprintf(text + n, sizeof text - n, "=%lld",
                                       (long long)blocks(known, part[k].block));
        if (part[k].beyond)
            n += (size_t)PyOS_snprintf(text + n, sizeof text - n, " + %d", part[k].beyond);
    }
    PyObject *shape = shape_text(s->c->view[i]);
    if (!shape) return false;
    kp_invalid("%s: '%s' has shape %S, and is to be %s]%s", s->b->info.name, t->name, shape, text,
               batched && s->nb ? ", its batch that of the others" : "");
    Py_DECREF(shape);
    return false;
}

/* Sizes that blocks or bytes alone tell: as many as they hold. */
static void fill_sizes(solver *s, const kp_signature *sig)
{
    for (int i = 0; i < s->b->ntensors; i++) {
        if (!s->c->view[i]) continue;
        const kp_tensor *t = &s->b->tensor[i];
        const place *p = &s->at[i];
        const int side = kp_packed_side(s, i, sig);
        if (t->rows >= 0 && s->size[t->rows] < 0 && !t->page)
            s->size[t->rows] = p->rows * t->row_block * (side == KILN_COL ? 2 : 1);
        if (t->cols >= 0 && s->size[t->cols] < 0)
            s->size[t->cols] = p->cols * t->col_block * (side == KILN_ROW ? 2 : 1);
    }
}

/* Batches as one number, which arrays with an element for each may tell, too. */
static bool count_batches(solver *s)
{
    const int64_t told = s->size[KILN_BATCH];
    if (told >= 0 && s->nb == 0) s->batch[s->nb++] = told;
    s->batches = 1;
    for (int i = 0; i < s->nb; i++)
        if (__builtin_mul_overflow(s->batches, s->batch[i], &s->batches))
            return kp_invalid("%s: too many batches", s->b->info.name);
    if (told >= 0 && told != s->batches)
        return kp_invalid("%s: index arrays are of %lld batches, other tensors of %lld",
                          s->b->info.name, (long long)told, (long long)s->batches);
    return true;
}

/* Matrices tell sizes first, then what has a 1 for those that it has not, then what has an element
 * for several of theirs: blocks, and bytes with two. */
bool kp_solve_sizes(solver *s, const kp_signature *sig)
{
    const kp_bound *b = s->b;
    for (int i = 0; i < KP_SIZES; i++) s->size[i] = s->b->told >> i & 1 ? -1 : s->c->size[i];
    s->nb = 0;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < b->ntensors; i++) {
            const kp_tensor *t = &b->tensor[i];
            const kp_view *v = s->c->view[i];
            const bool few = t->row_block > 1 || t->col_block > 1 || kp_packed_side(s, i, sig);
            if (!v || round != (few ? 2 : is_beside(t))) continue;
            bool done = false;
            for (int gap = 0; gap < 2 && !done; gap++) {
                int64_t known[KP_SIZES];
                place p;
                memcpy(known, s->size, sizeof known);
                if (!take(t, v, gap, &p) || !fits(s, i, &p, sig, known) ||
                    !batch_fits(s, t, v, p.nb, known))
                    continue;
                memcpy(s->size, known, sizeof known);
                if (t->batches == KILN_BATCH) add_batch(s, t, v, p.nb);
                s->at[i] = p;
                done = true;
            }
            if (!done) return bad_shape(s, i, sig);
        }
    }
    fill_sizes(s, sig);
    for (int i = 0; i < KP_SIZES; i++) {
        if (i == KILN_BATCH || s->size[i] >= 0 || !(b->told >> i & 1)) continue;
        if (b->size[i]) return kp_invalid("%s: no tensor given tells %s", b->info.name, b->size[i]);
    }
    return count_batches(s);
}

/* ---- batches ---- */

/* How many matrices of a tensor lie a stride apart. */
int64_t kp_matrices(const solver *s, const kp_tensor *t)
{
    return t->batches == KILN_BATCH ? s->batches : t->batches >= 0 ? s->size[t->batches] : 1;
}

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

int64_t kp_count_of(const kp_view *v, int n)
{
    int64_t count = 1;
    for (int i = 0; i < n; i++) count *= v->shape[i];
    return count;
}

static bool place_batch(solver *s, int i)
{
    const kp_view *v = s->c->view[i];
    place *p = &s->at[i];
    const int64_t count = kp_count_of(v, p->nb), all = kp_matrices(s, &s->b->tensor[i]);
    p->spread = count == 1 && all != 1;
    if (p->spread || all == 1 || all == 0 || p->rows * p->cols * p->planes == 0) return true;
    const char *name = s->b->tensor[i].name, *op = s->b->info.name;
    if (count != all)
        return kp_invalid(
            "%s: '%s' has %lld batches where the others have %lld: all of them or one", op, name,
            (long long)count, (long long)all);
    if (!join(v->shape, v->stride, p->nb, &p->batch))
        return kp_invalid(
            "%s: the batch dimensions of '%s' lie at no one stride: make it contiguous", op, name);
    p->spread = p->batch == 0;
    return true;
}

/* Batches of rows are rows where nothing else has a batch, each tensor's are evenly apart and no
 * value depends on its row's number. */
static void fold_batches(solver *s)
{
    const kp_bound *b = s->b;
    const int rows = b->info.rows;
    if (s->batches < 2 || !kp_folds(b)) return;
    int64_t stride[KILN_MAX_TENSORS] = {0};
    if (s->size[rows] * s->batches > INT32_MAX) return;
    for (int i = 0; i < b->ntensors; i++) {
        const kp_tensor *t = &b->tensor[i];
        const kp_view *v = s->c->view[i];
        if (t->cols == rows) return;
        if (!v) continue;
        if (t->rows != rows) {
            if (kp_count_of(v, s->at[i].nb) != 1) return;
            continue;
        }
        if (kp_count_of(v, s->at[i].nb) != s->batches || t->row_block != 1 ||
            kp_packed_side(s, i, s->sig) == KILN_COL)
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

bool kp_solve_batches(solver *s)
{
    for (int i = 0; i < s->b->ntensors; i++)
        if (s->c->view[i] && !place_batch(s, i)) return false;
    fold_batches(s);
    return true;
}
