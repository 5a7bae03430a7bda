// SPDX-License-Identifier: MIT
// What a kernel left in its outputs, judged: the padding it must not have touched, two runs that
// must agree, and the values against their bounds.  Bounds may be too wide to say anything
// (infinities cancel; an operand near a pole), so elements whose bounds are narrow are counted:
// without enough of them nothing was verified.
#include "harness_case.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { KH_PLACE = 160 };

static int padding_kept(const kh_case *c, int o, kh_result *r)
{
    const kh_operand *e = &c->shape.operand[o];
    const kh_output *out = &c->output[o];
    for (int run = 0; out->inside && run < KH_RUNS; run++) {
        const char *image = out->image[run] + c->operand[out->written].start;
        const unsigned char fill = kh_fill_of(c, o, run);
        for (int64_t i = 0; i < e->span; i++) {
            const size_t at = (size_t)i * e->size;
            if (out->inside[i] || kh_first_other(image, at, at + e->size, fill) == at + e->size)
                continue;
            snprintf(r->text, sizeof r->text,
                     "wrote into the padding of %s: element %lld, ld %lld, batch stride %lld",
                     e->name, (long long)i, (long long)e->ld, (long long)e->stride);
            return 0;
        }
    }
    return 1;
}

int kh_padding_kept(const kh_case *c, kh_result *r)
{
    for (int o = c->shape.inputs; o < c->shape.count; o++)
        if (!padding_kept(c, o, r)) return 0;
    return 1;
}

static void differ_text(const kh_case *c, int o, size_t at, const char *place, kh_result *r)
{
    const kh_operand *e = &c->shape.operand[o];
    const kh_output *out = &c->output[o];
    int left = out->written == o;
    for (int run = 0; run < KH_RUNS; run++)
        left &= kh_first_other(out->image[run], at, at + e->size, kh_poisons[run]) == at + e->size;
    if (left)
        snprintf(r->text, sizeof r->text, "%s was not written", place);
    else
        snprintf(r->text, sizeof r->text, "%s differs from run to run: %.9g, then %.9g", place,
                 kh_decode(e->dtype, out->image[0] + at), kh_decode(e->dtype, out->image[1] + at));
}

/* `E[batch 0, m 3, n 5]`; a block of columns is `cols/128 5`. */
static void place_text(const kh_case *c, int o, char *text, size_t size, int64_t matrix, int64_t i,
                       int64_t j)
{
    const kh_operand *e = &c->shape.operand[o];
    const int64_t at[] = {i, j};
    size_t used =
        (size_t)snprintf(text, size, "%s[batch %lld", e->name, (long long)(matrix / e->planes));
    if (e->stacked >= 0 && used < size)
        used += (size_t)snprintf(text + used, size - used, ", %s %lld",
                                 kh_size_name(&c->shape.op, e->stacked),
                                 (long long)(matrix % e->planes));
    for (int which = 0; which < 2 && used < size; which++) {
        if (e->along[which] < 0) continue;
        used += (size_t)snprintf(text + used, size - used, ", %s",
                                 kh_size_name(&c->shape.op, e->along[which]));
        if (e->block[which] > 1 && used < size)
            used += (size_t)snprintf(text + used, size - used, "/%d", e->block[which]);
        if (used < size)
            used += (size_t)snprintf(text + used, size - used, " %lld", (long long)at[which]);
    }
    if (used < size) snprintf(text + used, size - used, "]");
}

/* Whether an element is to be left as it is: padding_kept looks at it. */
static int is_left(const kh_output *out, int64_t at)
{
    return out->inside && !out->inside[at];
}

static int runs_agree(const kh_case *c, int output, kh_result *r)
{
    const kh_operand *e = &c->shape.operand[output];
    const kh_output *out = &c->output[output];
    const int64_t inner = e->layout == KILN_ROW ? e->cols : e->rows,
                  outer = e->layout == KILN_ROW ? e->rows : e->cols;
    for (int64_t b = 0; b < kh_matrices(e); b++)
        for (int64_t o = 0; o < outer; o++) {
            const size_t row = c->operand[out->written].start +
                               (size_t)(kh_place(e, b, 0, 0) + o * e->ld) * e->size;
            if (!memcmp(out->image[0] + row, out->image[1] + row, (size_t)inner * e->size))
                continue;
            int64_t x = 0;
            while (x < inner && (!memcmp(out->image[0] + row + (size_t)x * e->size,
                                         out->image[1] + row + (size_t)x * e->size, e->size) ||
                                 is_left(out, kh_place(e, b, 0, 0) + o * e->ld + x)))
                x++;
            if (x == inner) continue;
            char place[KH_PLACE];
            place_text(c, output, place, sizeof place, b, e->layout == KILN_ROW ? o : x,
                       e->layout == KILN_ROW ? x : o);
            differ_text(c, output, row + (size_t)x * e->size, place, r);
            return 0;
        }
    return 1;
}

int kh_runs_agree(const kh_case *c, kh_result *r)
{
    for (int o = c->shape.inputs; o < c->shape.count; o++)
        if (!runs_agree(c, o, r)) return 0;
    return 1;
}

static int not_determined(double lo, double hi)
{
    return lo == -INFINITY && hi == INFINITY;
}

/* Distance from the middle of the bounds, as a share of their half-width. */
static double share_of(double got, double lo, double hi)
{
    if (isnan(lo) && isnan(hi)) return isnan(got) ? 0 : INFINITY;
    if (not_determined(lo, hi)) return 0;
    if (!(got >= lo && got <= hi) && (isinf(lo) || isinf(hi) || hi <= lo)) return INFINITY;
    if (isnan(got)) return INFINITY;
    if (isinf(lo) || isinf(hi) || hi <= lo) return 0;
    return fabs(got - (lo + (hi - lo) / 2)) / ((hi - lo) / 2);
}

/* The size of a usual element: the mean of those that are known to be finite. */
static double usual_size(const double *lo, const double *hi, size_t count)
{
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(lo[i]) && isfinite(hi[i])) sum += fabs(lo[i] + (hi[i] - lo[i]) / 2), n++;
    return n ? sum / (double)n : 0;
}

/* Whether bounds say what an element is: to a factor of two, or, near zero, within a little of what
 * is usual, or of zero: sums of what f32 may flush to it, below 2^-126, stay far below 2^-100. */
static int is_determined(double lo, double hi, double usual)
{
    if (isnan(lo) || lo == hi) return 1;
    return isfinite(lo) && isfinite(hi) &&
           hi - lo <= fmax(fmax(fabs(lo), fabs(hi)) / 2, fmax(usual / 256, 0x1p-100));
}

typedef struct worst {
    double got, lo, hi;
    char place[KH_PLACE];
} worst;

int kh_too_few(size_t determined, size_t checked)
{
    enum { LEAST = 8 }; /* one in so many */
    return determined < checked / LEAST + (checked > 0);
}

/* w: the element that is furthest off; open: the first that is not determined, of the first output
 * that has too many such. */
static void judge(const kh_case *c, int output, kh_result *r, worst *w, worst *open)
{
    const kh_operand *e = &c->shape.operand[output];
    const kh_output *out = &c->output[output];
    const char *image = out->image[0] + c->operand[out->written].start;
    const samples *at = &c->compared;
    const int64_t rows = kh_compared(at, e, 0), cols = kh_compared(at, e, 1);
    const size_t count = kh_compared_elements(at, e);
    const double usual = usual_size(c->lo + out->first, c->hi + out->first, count);
    if (!count) return;
    worst first = {0};
    size_t n = out->first, determined = 0, left = 0;
    for (int64_t b = 0; b < kh_compared_matrices(at, e); b++)
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < cols; j++, n++) {
                const double lo = c->lo[n], hi = c->hi[n];
                if (lo > hi) {
                    left++;
                    continue;
                }
                const int64_t row = kh_row_at(at, e, i), col = kh_col_at(at, e, j);
                const int64_t matrix = kh_matrix_at(at, e, b);
                const int64_t offset = kh_place(e, matrix, row, col);
                const double got = kh_decode(e->dtype, image + (size_t)offset * e->size);
                const double share = share_of(got, lo, hi),
                             error = fabs(got - (lo + (hi - lo) / 2));
                const int largest = isfinite(error) && error > r->max_error;
                if (largest) r->max_error = error;
                r->wrong += !(share <= 1) && !(got >= lo && got <= hi);
                if (is_determined(lo, hi, usual)) {
                    determined++;
                } else if (!*first.place) {
                    first.lo = lo, first.hi = hi;
                    place_text(c, output, first.place, sizeof first.place, matrix, row, col);
                }
                const int worse = share > r->bound_share;
                if (worse) r->bound_share = share;
                if (r->checked++ && !(worse && share > 1) && !(largest && !r->wrong)) continue;
                w->got = got, w->lo = lo, w->hi = hi;
                place_text(c, output, w->place, sizeof w->place, matrix, row, col);
            }
    r->determined += determined;
    r->output[output - c->shape.inputs].checked = count - left;
    r->output[output - c->shape.inputs].determined = determined;
    if (!*open->place && kh_too_few(determined, count - left)) *open = first;
}

void kh_compare(const kh_case *c, kh_result *r)
{
    worst w = {0}, open = {0};
    r->bound_share = -1;
    for (int o = c->shape.inputs; o < c->shape.count; o++) judge(c, o, r, &w, &open);
    if (r->bound_share < 0) r->bound_share = 0;
    /* Special values may leave nothing else. */
    for (int o = 0; o < c->shape.count - c->shape.inputs && c->values != KH_SPECIALS; o++)
        r->too_few |= kh_too_few(r->output[o].determined, r->output[o].checked);
    r->ok = !r->wrong && !r->too_few;
    if (r->wrong)
        snprintf(r->text, sizeof r->text,
                 "%s = %.9g, expected %.9g .. %.9g (%zu of %zu elements compared are wrong)",
                 w.place, w.got, w.lo, w.hi, r->wrong, r->checked);
    else if (r->too_few)
        snprintf(r->text, sizeof r->text,
                 "these inputs determine %zu of %zu elements, too few to tell right from wrong: "
                 "%s is expected within %.9g .. %.9g",
                 r->determined, r->checked, open.place, open.lo, open.hi);
    else if (r->checked)
        snprintf(r->text, sizeof r->text,
                 "max error %.3g at %s = %.9g, expected %.9g .. %.9g; %zu of %zu elements "
                 "determined",
                 r->max_error, w.place, w.got, w.lo, w.hi, r->determined, r->checked);
    else
        snprintf(r->text, sizeof r->text, "nothing to compute, nothing written");
}
