// SPDX-License-Identifier: MIT
// Whether the elements of an operand, or of two, share memory.  An operand is `outer` runs of
// `inner` elements, ld apart, `planes` times, plane apart, `batch` times, stride apart; any of the
// strides may be the largest: heads that are interleaved in rows have one smaller than ld.
#include "internal.h"

/* The least x >= 0 with lo <= a*x mod m <= hi, where 0 < lo <= hi < m; -1: there is none.
 * With a*x - m*y in lo .. hi, the least x has the least y, and -m*y mod a lies in lo .. hi mod a:
 * the same question for (m mod a, a), so that the steps are those of Euclid's algorithm. */
static int64_t first_in_range(int64_t a, int64_t m, int64_t lo, int64_t hi)
{
    a %= m;
    if (a == 0) return -1;
    const int64_t x = (lo - 1) / a + 1; /* the first multiple of a that is not below lo */
    if (x <= hi / a) return x;
    const int64_t y = first_in_range(m, a, a - hi % a, a - lo % a);
    return y < 0 ? -1 : (int64_t)(((__int128)m * y + lo - 1) / a + 1);
}

static int64_t greatest_divisor(int64_t a, int64_t b)
{
    while (b) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Of three strides: each, from the smallest on, is at least what lies inside it.  What is not so
 * counts as meeting. */
static bool strides_nest(const kr_operand *o, int64_t batch)
{
    int64_t stride[3] = {o->ld, o->plane, o->stride}, count[3] = {o->outer, o->planes, batch};
    __int128 inside = o->inner;
    for (int done = 0; done < 3; done++) {
        int least = -1;
        for (int i = 0; i < 3; i++)
            if (count[i] > 1 && (least < 0 || stride[i] < stride[least])) least = i;
        if (least < 0) break;
        if (stride[least] < inside) return false;
        inside += (__int128)(count[least] - 1) * stride[least];
        count[least] = 1;
    }
    return true;
}

/* Run r of batch 0 meets run 0 of batch b where |b*stride - r*ld| < inner. */
bool kr_batches_meet(const kr_operand *o, int64_t batch)
{
    const int64_t s = o->stride, ld = o->ld, n = o->inner;
    if (o->planes > 1) return o->extent != 0 && !strides_nest(o, batch);
    if (batch < 2 || o->extent == 0 || s >= o->extent) return false;
    if (s < n) return true;
    /* b*stride = r*ld + v: v = 0; 0 < v < inner; or, with r one more, -inner < v < 0. */
    const int64_t zero = ld / greatest_divisor(s, ld);
    const int64_t above = n > 1 ? first_in_range(s, ld, 1, n - 1) : -1;
    const int64_t below = n > 1 ? first_in_range(s, ld, ld - n + 1, ld - 1) : -1;
    const int64_t last = batch - 1, runs = o->outer;
    return (zero <= last && zero * s / ld < runs) ||
           (above >= 0 && above <= last && above * s / ld < runs) ||
           (below >= 0 && below <= last && below * s / ld + 1 < runs);
}

/* Modulo `period`, an operand whose strides are multiples of it or stay inside it is one interval
 * from its base; 0: it is not. */
static int64_t width_in(const kr_operand *o, int64_t batch, int64_t period)
{
    int64_t width = kr_span(o, o->inner);
    const int64_t pitch = kr_span(o, o->ld), stride = kr_span(o, o->stride);
    if (o->outer > 1 && pitch % period) width += (o->outer - 1) * pitch;
    if (o->planes > 1 && kr_span(o, o->plane) % period)
        width += (o->planes - 1) * kr_span(o, o->plane);
    if (batch > 1 && stride % period) width += (batch - 1) * stride;
    return width <= period ? width : 0;
}

bool kr_interleaved(const kr_operand *x, uintptr_t x_at, int64_t x_batch, const kr_operand *y,
                    uintptr_t y_at, int64_t y_batch)
{
    const int64_t period[] = {kr_span(x, x->ld),     kr_span(y, y->ld),    kr_span(x, x->stride),
                              kr_span(y, y->stride), kr_span(x, x->plane), kr_span(y, y->plane)};
    for (size_t i = 0; i < sizeof period / sizeof *period; i++) {
        if (period[i] == 0) continue;
        const uint64_t p = (uint64_t)period[i];
        const uint64_t wx = (uint64_t)width_in(x, x_batch, period[i]),
                       wy = (uint64_t)width_in(y, y_batch, period[i]);
        const uint64_t offset = x_at >= y_at ? (x_at - y_at) % p : (p - (y_at - x_at) % p) % p;
        if (wx && wy && offset >= wy && offset + wx <= p) return true;
    }
    return false;
}
