// SPDX-License-Identifier: MIT
// What a kernel left in E, judged: the padding it must not have touched, two runs that must agree,
// and the values against their bounds.  Bounds may be too wide to say anything (infinities cancel;
// an operand near a pole), so elements whose bounds are narrow are counted: without enough of them
// nothing was verified.
#include "harness_case.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

int kh_padding_kept(const kh_case *c, kh_result *r)
{
    const kh_operand *e = &c->shape.operand[c->shape.e];
    for (int run = 0; c->inside && run < KH_RUNS; run++) {
        const char *image = c->e_image[run] + c->operand[c->written].start;
        const unsigned char fill = kh_e_fill(c, run);
        for (int64_t i = 0; i < e->span; i++) {
            const size_t at = (size_t)i * e->size;
            if (c->inside[i] || kh_first_other(image, at, at + e->size, fill) == at + e->size)
                continue;
            snprintf(r->text, sizeof r->text,
                     "wrote into the padding of E: element %lld, ld %lld, batch stride %lld",
                     (long long)i, (long long)e->ld, (long long)e->stride);
            return 0;
        }
    }
    return 1;
}

static void differ_text(const kh_case *c, size_t at, const char *place, kh_result *r)
{
    const kh_operand *e = &c->shape.operand[c->shape.e];
    int left = c->written == c->shape.e;
    for (int run = 0; run < KH_RUNS; run++)
        left &= kh_first_other(c->e_image[run], at, at + e->size, kh_poisons[run]) == at + e->size;
    if (left)
        snprintf(r->text, sizeof r->text, "%s was not written", place);
    else
        snprintf(r->text, sizeof r->text, "%s differs from run to run: %.9g, then %.9g", place,
                 kh_decode(e->dtype, c->e_image[0] + at), kh_decode(e->dtype, c->e_image[1] + at));
}

static void place_text(char *text, size_t size, int64_t batch, int64_t i, int64_t j)
{
    snprintf(text, size, "E[batch %lld, m %lld, n %lld]", (long long)batch, (long long)i,
             (long long)j);
}

int kh_runs_agree(const kh_case *c, kh_result *r)
{
    const kh_operand *e = &c->shape.operand[c->shape.e];
    const int64_t inner = e->layout == KILN_ROW ? e->cols : e->rows,
                  outer = e->layout == KILN_ROW ? e->rows : e->cols;
    for (int64_t b = 0; b < e->batch; b++)
        for (int64_t o = 0; o < outer; o++) {
            const size_t row =
                c->operand[c->written].start + (size_t)(b * e->stride + o * e->ld) * e->size;
            if (!memcmp(c->e_image[0] + row, c->e_image[1] + row, (size_t)inner * e->size))
                continue;
            int64_t x = 0;
            while (!memcmp(c->e_image[0] + row + (size_t)x * e->size,
                           c->e_image[1] + row + (size_t)x * e->size, e->size))
                x++;
            char place[96];
            place_text(place, sizeof place, b, e->layout == KILN_ROW ? o : x,
                       e->layout == KILN_ROW ? x : o);
            differ_text(c, row + (size_t)x * e->size, place, r);
            return 0;
        }
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
 * is usual. */
static int is_determined(double lo, double hi, double usual)
{
    if (isnan(lo) || lo == hi) return 1;
    return isfinite(lo) && isfinite(hi) &&
           hi - lo <= fmax(fmax(fabs(lo), fabs(hi)) / 2, usual / 256);
}

typedef struct worst {
    double got, lo, hi;
    char place[96];
} worst;

static void judge(const kh_case *c, kh_result *r, worst *w)
{
    const kh_operand *e = &c->shape.operand[c->shape.e];
    const char *image = c->e_image[0] + c->operand[c->written].start;
    const samples *at = &c->compared;
    const double usual =
        usual_size(c->lo, c->hi, (size_t)(at->batches.count * at->rows.count * at->cols.count));
    r->bound_share = -1;
    for (int64_t b = 0; b < at->batches.count; b++)
        for (int64_t i = 0; i < at->rows.count; i++)
            for (int64_t j = 0; j < at->cols.count; j++, r->checked++) {
                const double lo = c->lo[r->checked], hi = c->hi[r->checked];
                const int64_t offset =
                    kh_place(e, at->batches.at[b], at->rows.at[i], at->cols.at[j]);
                const double got = kh_decode(e->dtype, image + (size_t)offset * e->size);
                const double share = share_of(got, lo, hi),
                             error = fabs(got - (lo + (hi - lo) / 2));
                const int largest = isfinite(error) && error > r->max_error;
                if (largest) r->max_error = error;
                r->wrong += !(share <= 1) && !(got >= lo && got <= hi);
                r->determined += (size_t)is_determined(lo, hi, usual);
                const int worse = share > r->bound_share;
                if (worse) r->bound_share = share;
                if (r->checked && !(worse && share > 1) && !(largest && !r->wrong)) continue;
                w->got = got, w->lo = lo, w->hi = hi;
                place_text(w->place, sizeof w->place, at->batches.at[b], at->rows.at[i],
                           at->cols.at[j]);
            }
    if (r->bound_share < 0) r->bound_share = 0;
}

int kh_too_few(size_t determined, size_t checked)
{
    enum { LEAST = 8 }; /* one in so many */
    return determined < checked / LEAST + (checked > 0);
}

void kh_compare(const kh_case *c, kh_result *r)
{
    worst w = {0};
    judge(c, r, &w);
    /* Special values may leave nothing else. */
    r->too_few = c->values != KH_SPECIALS && kh_too_few(r->determined, r->checked);
    r->ok = !r->wrong && !r->too_few;
    if (r->wrong)
        snprintf(r->text, sizeof r->text,
                 "%s = %.9g, expected %.9g .. %.9g (%zu of %zu elements compared are wrong)",
                 w.place, w.got, w.lo, w.hi, r->wrong, r->checked);
    else if (r->too_few)
        snprintf(r->text, sizeof r->text,
                 "these inputs determine %zu of %zu elements, too few to tell right from wrong: "
                 "%s is expected within %.9g .. %.9g",
                 r->determined, r->checked, w.place, w.lo, w.hi);
    else if (r->checked)
        snprintf(r->text, sizeof r->text,
                 "max error %.3g at %s = %.9g, expected %.9g .. %.9g; %zu of %zu elements "
                 "determined",
                 r->max_error, w.place, w.got, w.lo, w.hi, r->determined, r->checked);
    else
        snprintf(r->text, sizeof r->text, "nothing to compute, nothing written");
}
