// SPDX-License-Identifier: MIT
// Index arrays of a problem: what they say, and what is nobody's by them.  Batches get lengths from
// nothing to all there is, pages come in no order and may be several batches'; what no batch has is
// poisoned, so that a kernel that reads it shows.
#include "harness.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

int kh_has_indices(const kh_shape *s)
{
    for (int i = 0; i < s->inputs; i++)
        if (s->operand[i].index) return 1;
    return 0;
}

static int64_t draw_up_to(uint64_t *state, int64_t most)
{
    return (int64_t)(kh_random(state) % (uint64_t)(most + 1));
}

/* A number that is none of 0 .. most. */
static int64_t beside(uint64_t *state, int64_t most)
{
    const int64_t all[] = {-1, INT_MIN, most + 1, INT_MAX};
    return all[kh_random(state) % 4];
}

static int by_begin(const void *x, const void *y)
{
    const int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
    return (a > b) - (a < b);
}

static void begin_at(kh_indices how, int64_t size, uint64_t *state, int64_t *at, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        at[i] = how == KH_EVEN ? (n > 1 ? size * i / (n - 1) : 0) : draw_up_to(state, size);
    if (how == KH_EVEN) return;
    if (how == KH_DISORDER) {
        for (int64_t i = 0; i < n; i++)
            if (kh_random(state) % 2) at[i] = beside(state, size);
        return;
    }
    if (kh_random(state) % 4) at[0] = 0, at[n - 1] = size;
    qsort(at, (size_t)n, sizeof *at, by_begin);
    for (int64_t i = 1; i + 1 < n; i++)
        if (kh_random(state) % 4 == 0) at[i] = at[i - 1];
    if (how != KH_HOSTILE || n < 4) return;
    const uint64_t which = kh_random(state) % 3; /* of two arrays not always the same batch */
    if (which != 0) at[0] = kh_random(state) % 2 ? INT_MIN : -1;
    if (which != 1) at[n - 1] = kh_random(state) % 2 ? INT_MAX : size + 1;
}

static int64_t draw_length(kh_indices how, int64_t size, uint64_t *state)
{
    const int64_t all[] = {0, size, draw_up_to(state, size), draw_up_to(state, size)};
    if (how == KH_EVEN) return size;
    if (how != KH_UNEVEN && kh_random(state) % 3 == 0) return beside(state, size);
    return all[kh_random(state) % 4];
}

/* Pages in random order, again from the first where there are too few. */
static void page_at(kh_indices how, int64_t pages, uint64_t *state, int64_t *at, int64_t n)
{
    for (int64_t i = 0; i < n; i++) at[i] = pages ? i % pages : 0;
    for (int64_t i = (n < pages ? n : pages) - 1; i > 0; i--) {
        const int64_t k = draw_up_to(state, i), kept = at[i];
        at[i] = at[k], at[k] = kept;
    }
    for (int64_t i = pages; i < n && pages; i++) at[i] = at[i % pages];
    for (int64_t i = 0; i < n && how != KH_EVEN && how != KH_UNEVEN; i++)
        if (kh_random(state) % 4 == 0) at[i] = beside(state, pages - 1);
}

/* Rows of batches in any order, with rows that are nobody's between them, and batches without rows;
 * `first` or `end` of each. */
static void ranges_at(kh_indices how, int64_t size, uint64_t state, int ends, int64_t *at, int64_t n)
{
    int64_t *const cut = calloc((size_t)n + 1, sizeof *cut);
    const int mixed = how != KH_EVEN && kh_random(&state) % 2;
    if (!cut) return;
    for (int64_t i = 0; i <= n; i++)
        cut[i] = how == KH_EVEN ? size * i / n : draw_up_to(&state, size);
    if (how != KH_EVEN && kh_random(&state) % 2) cut[0] = 0, cut[n] = size;
    qsort(cut, (size_t)n + 1, sizeof *cut, by_begin);
    for (int64_t i = 0; i < n; i++) {
        int64_t first = cut[i], end = cut[i + 1];
        const uint64_t fate = kh_random(&state) % 8;
        if (how != KH_EVEN && fate == 0) end = first;
        if (how != KH_EVEN && fate == 1) first = first + (end - first) / 2;
        if (how == KH_HOSTILE && fate == 2) first = kh_random(&state) % 2 ? -1 : INT_MIN;
        if (how == KH_HOSTILE && fate == 3) end = kh_random(&state) % 2 ? size + 1 : INT_MAX;
        if (how == KH_HOSTILE && fate == 4 && end > 0) first = end, end -= 1;
        if (how == KH_DISORDER && fate < 4) first = beside(&state, size);
        if (how == KH_DISORDER && fate % 4 == 1) end = beside(&state, size);
        if (how == KH_DISORDER && fate % 4 == 2) end = draw_up_to(&state, size);
        at[i] = ends ? end : first;
    }
    for (int64_t i = n - 1; i > 0 && mixed; i--) {
        const int64_t k = draw_up_to(&state, i), kept = at[i];
        at[i] = at[k], at[k] = kept;
    }
    free(cut);
}

/* Of which row of another matrix each row is. */
static void row_at(kh_indices how, int64_t rows, uint64_t *state, int64_t *at, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        at[i] = rows ? draw_up_to(state, rows - 1) : -1;
        if (how != KH_EVEN && how != KH_UNEVEN && kh_random(state) % 4 == 0)
            at[i] = beside(state, rows - 1);
    }
}

void kh_fill_indices(const kh_shape *s, const kh_operand *o, kh_indices how, uint64_t *state,
                     void *base)
{
    const int64_t n = o->rows * o->cols, size = kh_size_of(&s->problem, o->within);
    int64_t *const at = calloc((size_t)n + 1, sizeof *at);
    if (!at || !o->span) {
        free(at);
        return;
    }
    switch ((kiln_index)o->index) {
    case KILN_INDEX_BEGIN:
        begin_at(how, size, state, at, n);
        break;
    case KILN_INDEX_LENGTH:
        for (int64_t i = 0; i < n; i++) at[i] = draw_length(how, size, state);
        break;
    case KILN_INDEX_PAGE:
        page_at(how, size, state, at, n);
        break;
    case KILN_INDEX_FIRST: /* the same draw says where rows end: `end` follows */
        ranges_at(how, size, *state, 0, at, n);
        break;
    case KILN_INDEX_END:
        ranges_at(how, size, *state, 1, at, n);
        kh_random(state);
        break;
    case KILN_INDEX_ROW:
        row_at(how, size, state, at, n);
        break;
    case KILN_INDEX_NONE:
        break;
    }
    for (int64_t i = 0; i < n; i++)
        kh_put(o, base, kh_place(o, 0, i / o->cols, i % o->cols), (double)at[i]);
    free(at);
}

/* ---- what is nobody's ---- */

static int find_array(const kh_shape *s, kiln_index index, int within)
{
    for (int i = 0; i < s->inputs; i++)
        if (s->operand[i].index == (int)index && s->operand[i].within == within) return i;
    return -1;
}

static int64_t number(const kh_shape *s, char *const *base, int o, int64_t i, int64_t j)
{
    const kh_operand *x = &s->operand[o];
    return (int64_t)kh_get(x, base[o], kh_place(x, 0, i, j));
}

/* Marks the rows of a matrix that batches have, by an array of beginnings. */
static void mark_ranges(const kh_shape *s, char *const *base, int begin, int64_t rows, char *used)
{
    for (int64_t b = 0; b + 1 < s->operand[begin].rows; b++) {
        const int64_t from = number(s, base, begin, b, 0), to = number(s, base, begin, b + 1, 0);
        if (from < 0 || to < from || to > rows) continue;
        memset(used + from, 1, (size_t)(to - from));
    }
}

/* The same by arrays of where rows begin and end; by: the array that says which row of this matrix
 * each of them is, whose numbers for rows that nobody has become none; -1: they are its own. */
static void mark_groups(const kh_shape *s, char *const *base, int first, int by, int64_t rows,
                        char *used)
{
    const int end = find_array(s, KILN_INDEX_END, s->operand[first].within);
    const int64_t all = kh_size_of(&s->problem, s->operand[first].within);
    char *const mine = calloc((size_t)all + 1, 1);
    if (!mine || end < 0) {
        free(mine);
        return;
    }
    for (int64_t b = 0; b < s->operand[first].rows; b++) {
        const int64_t from = number(s, base, first, b, 0), to = number(s, base, end, b, 0);
        if (from >= 0 && to >= from && to <= all) memset(mine + from, 1, (size_t)(to - from));
    }
    for (int64_t i = 0; i < all; i++) {
        const int64_t row = by < 0 ? i : number(s, base, by, i, 0);
        if (mine[i] && row >= 0 && row < rows) used[row] = 1;
        if (!mine[i] && by >= 0)
            kh_put(&s->operand[by], base[by], kh_place(&s->operand[by], 0, i, 0),
                   i % 2 ? INT_MIN : INT_MAX);
    }
    free(mine);
}

/* Marks the rows of pages that batches have; numbers of pages that no batch has become none. */
static void mark_pages(const kh_shape *s, char *const *base, int length, int page,
                       const kh_operand *o, char *used)
{
    const kh_operand *table = &s->operand[page];
    const int64_t most = kh_size_of(&s->problem, table->along[1]);
    for (int64_t b = 0; b < table->rows; b++) {
        int64_t n = number(s, base, length, b, 0);
        if (n < 0 || n > most) n = 0;
        for (int64_t k = 0; k < table->cols; k++) {
            const int64_t here = number(s, base, page, b, k), left = n - k * o->rows;
            if (left <= 0)
                kh_put(table, base[page], kh_place(table, 0, b, k), k % 2 ? INT_MIN : INT_MAX);
            else if (here >= 0 && here < o->batch)
                memset(used + here * o->rows, 1, (size_t)(left < o->rows ? left : o->rows));
        }
    }
}

static void poison(const kh_operand *o, const char *used, char *base)
{
    const int64_t pieces = kh_pieces(o), together = o->layout == KILN_COL ? 1 : o->cols;
    if (pieces > 1 && o->layout == KILN_COL) return; /* a byte is two rows' */
    for (int64_t row = 0; row < o->batch * o->rows; row++)
        for (int64_t p = 0; p < o->planes && !used[row]; p++)
            for (int64_t col = 0; col < o->cols; col += together)
                memset(base + (size_t)(kh_place(o, row / o->rows * o->planes + p, row % o->rows,
                                                col) /
                                       pieces) *
                                  o->size,
                       kh_poison(o->dtype), (size_t)((together + pieces - 1) / pieces) * o->size);
}

void kh_poison_unused(const kh_shape *s, char *const *base)
{
    for (int i = 0; i < s->inputs; i++) {
        const kh_operand *o = &s->operand[i];
        if (o->index || o->batches == KH_BATCH || !o->span || o->along[0] < 0) continue;
        const int page = o->batches < 0 ? -1 : find_array(s, KILN_INDEX_PAGE, o->batches),
                  begin = find_array(s, KILN_INDEX_BEGIN, o->along[0]),
                  length = find_array(s, KILN_INDEX_LENGTH, o->along[0]),
                  by = find_array(s, KILN_INDEX_ROW, o->along[0]),
                  first = find_array(s, KILN_INDEX_FIRST,
                                     by < 0 ? o->along[0] : s->operand[by].along[0]);
        char *const used = calloc((size_t)(o->batch * o->rows), 1);
        if (!used) continue;
        if (page >= 0 && length >= 0)
            mark_pages(s, base, length, page, o, used);
        else if (begin >= 0)
            mark_ranges(s, base, begin, o->rows, used);
        else if (first >= 0)
            mark_groups(s, base, first, by, o->rows, used);
        else
            memset(used, 1, (size_t)(o->batch * o->rows));
        poison(o, used, base[i]);
        free(used);
    }
}
