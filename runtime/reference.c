// SPDX-License-Identifier: MIT
// kiln_reference: the whole problem in double precision, and kiln_reference_bounds: what a correct
// f32 evaluation of each element stays within.  Independent of device code.
//
// The accumulator of a product of f32 sums lies within
//   delta = lambda * sqrt(k) * u * S + u * S + (rtol + 2^-53 * k) * S + R,   S = sum |a||b|,  u =
//   2^-24,  lambda = 6
// of the exact sum: the probabilistic bound of N. J. Higham and T. Mary, "A new approach to
// probabilistic rounding error analysis", SIAM J. Sci. Comput. 41(5), 2019, for any order of
// summation; R is what a_op and b_op leave open and rtol the op's check.rtol.  Integer sums are
// exact modulo 2^32.  From there the epilogue is evaluated on intervals.
// What kiln_args.sums says adds to that.  Operands of which p bits count, cut off: each product is
// off by 2 * 2^(1 - p) of it, S * 2^(2 - p) together.  Sums in a matrix unit's own, short format
// (products.c): what products lose below its last place, and one last place each time that products
// are added.
#include <float.h>
#include <math.h>
#include "internal.h"

/* ---- values ---- */

static double accumulator(const kr_job *job, double sum)
{
    return job->acc == KILN_I32 ? (double)(float)sum
                                : sum; /* converted to f32 before the epilogue */
}

static void write_element(const kr_job *job, int64_t batch, int64_t i, int64_t j,
                          const kr_sums s[KILN_MAX_B], void *arg)
{
    (void)arg;
    double acc[KILN_MAX_B], d[KILN_MAX_D];
    for (int p = 0; p < job->op->products; p++) acc[p] = accumulator(job, s[p].value);
    kr_load_d(job, batch, i, j, d);
    const kr_leaves leaf = {.d = d, .s = job->scalar};
    const kiln_expr_ref ref = job->op->epilogue;
    const double e = kr_eval(job->module->table->nodes + ref.first, ref.count, acc, &leaf,
                             (double *)job->scratch);
    kr_encode(job->view.e.type, e, (char *)job->args->e + kr_place(&job->view.e, batch, i, j));
}

kiln_status kiln_reference(const kiln_problem *p, const kiln_args *args)
{
    kr_job job;
    kiln_status status = kr_job_open(&job, p, args, false);
    if (status) return status;
    status = kr_products(&job, write_element, NULL);
    kr_job_close(&job);
    return status;
}

/* ---- bounds ---- */

static kr_interval integer_bounds(const kr_sums *s)
{
    const double radius = s->wide - s->magnitude;
    if (radius == 0) return kr_point((double)(float)s->value);
    const double lo = s->value - radius, hi = s->value + radius;
    if (lo < INT32_MIN || hi > INT32_MAX) return (kr_interval){INT32_MIN, -(double)INT32_MIN, 0};
    return (kr_interval){(double)(float)lo, (double)(float)hi, 0};
}

static kr_interval accumulator_bounds(const kr_job *job, const kr_sums *s)
{
    if (s->vague) return (kr_interval){-INFINITY, INFINITY, 1};
    if (isnan(s->value)) return kr_point(NAN);
    if (job->acc == KILN_I32) return integer_bounds(s);
    if (isinf(s->value)) return kr_point(s->value);
    const kiln_sums *sums = &job->args->sums;
    const double k = (double)job->view.shape.k, rtol = (double)job->op->rtol;
    const double operands = sums->product_bits > 0 ? ldexp(1, 2 - sums->product_bits) : 0;
    const double relative = (KR_LAMBDA * sqrt(k) + 1) * 0x1p-24 + operands + rtol + k * 0x1p-53;
    const double steps = sums->step > 0 ? ceil(k / sums->step) : k;
    const double delta =
        relative * s->wide + (s->wide - s->magnitude) + s->unit * (s->lost + steps);
    kr_interval acc = {s->value, s->value, 0};
    if (s->wide > 0) acc = kr_interval_widen(acc, delta + k * (double)FLT_MIN);
    if (s->wide + delta <= FLT_MAX) return acc;
    /* Partial sums may overflow: towards the one side where all products have one sign, else
     * anywhere. */
    if (s->value + delta >= s->wide) return (kr_interval){fmin(acc.lo, FLT_MAX), INFINITY, 0};
    if (delta - s->value >= s->wide) return (kr_interval){-INFINITY, fmax(acc.hi, -FLT_MAX), 0};
    return (kr_interval){-INFINITY, INFINITY, 1};
}

typedef struct bounds {
    double *lo, *hi;
} bounds;

static void bound_element(const kr_job *job, int64_t batch, int64_t i, int64_t j,
                          const kr_sums s[KILN_MAX_B], void *arg)
{
    const bounds *out = arg;
    const kiln_shape *shape = &job->view.shape;
    const int64_t at = (batch * shape->m + i) * shape->n + j;
    kr_interval acc[KILN_MAX_B];
    double d[KILN_MAX_D];
    for (int p = 0; p < job->op->products; p++) acc[p] = accumulator_bounds(job, &s[p]);
    kr_load_d(job, batch, i, j, d);
    const kr_leaves leaf = {.d = d, .s = job->scalar};
    const kiln_expr_ref ref = job->op->epilogue;
    kr_interval e = kr_eval_interval(job->module->table->nodes + ref.first, ref.count, acc, &leaf,
                                     job->scratch);
    e = kr_interval_round(job->view.e.type, e);
    if (e.nan == 1 && kr_is_float(job->view.e.type)) e.lo = -INFINITY, e.hi = INFINITY;
    out->lo[at] = e.nan == 2 ? NAN : e.lo;
    out->hi[at] = e.nan == 2 ? NAN : e.hi;
}

kiln_status kiln_reference_bounds(const kiln_problem *p, const kiln_args *args, double *lo,
                                  double *hi)
{
    if (!lo || !hi)
        return kr_fail(KILN_INVALID, "kiln_reference_bounds needs two arrays of batch*m*n doubles");
    kr_job job;
    kiln_status status = kr_job_open(&job, p, args, true);
    if (status) return status;
    bounds out = {lo, hi};
    status = kr_products(&job, bound_element, &out);
    kr_job_close(&job);
    return status;
}
