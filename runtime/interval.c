// SPDX-License-Identifier: MIT
// Expressions of an op evaluated on intervals: what a correct f32 evaluation of every operation may
// give. Ends are computed in double; each operation then widens its result outward by its rounding
// error: 1 ulp for + - * and 3 for /, 4 for functions, more for e^x of a large x, nothing where f32
// is exact: choices, signs, and sums and products of exactly known numbers that f32 holds. Operands
// and results that are subnormal in f32 may be flushed.  The sign of a zero is not tracked: an
// interval that holds 0 holds both.  An infinite end is a value that the operand may have.
#include <float.h>
#include <math.h>
#include "internal.h"

#define ULP        0x1p-23  /* relative: one unit in the last place of f32 is at most this */
#define FLUSH      0x1p-126 /* the smallest normal f32 */
#define ANYTHING   ((kr_interval){-INFINITY, INFINITY, 1})
#define ALWAYS_NAN ((kr_interval){NAN, NAN, 2})

typedef kr_interval iv;

/* ---- making intervals ---- */

iv kr_point(double x)
{
    return isnan(x) ? ALWAYS_NAN : (iv){x, x, 0};
}

static bool is_point(iv x)
{
    return x.lo == x.hi && x.nan == 0;
}

static bool holds_zero(iv x)
{
    return x.lo <= 0 && x.hi >= 0;
}

static bool holds_infinity(iv x)
{
    return isinf(x.lo) || isinf(x.hi);
}

/* An operand whose subnormal values may count as zero.  Results hold 0 then anyway. */
static iv flushed(iv x)
{
    if (x.lo > 0 && x.lo < FLUSH) x.lo = 0;
    if (x.hi < 0 && x.hi > -FLUSH) x.hi = 0;
    return x;
}

static iv hull(iv x, iv y)
{
    if (x.nan == 2 && y.nan == 2) return x;
    if (x.nan == 2) return (iv){y.lo, y.hi, 1};
    if (y.nan == 2) return (iv){x.lo, x.hi, 1};
    return (iv){fmin(x.lo, y.lo), fmax(x.hi, y.hi), x.nan | y.nan};
}

/* Past the largest f32 a result may be that or infinite. */
static iv cut(iv x)
{
    if (x.lo < -FLT_MAX)
        x.lo = -INFINITY;
    else if (x.lo > FLT_MAX && isfinite(x.lo))
        x.lo = FLT_MAX;
    if (x.hi > FLT_MAX)
        x.hi = INFINITY;
    else if (x.hi < -FLT_MAX && isfinite(x.hi))
        x.hi = -FLT_MAX;
    return x;
}

iv kr_interval_widen(iv x, double by)
{
    if (x.nan == 2) return x;
    x.lo -= by;
    x.hi += by;
    return cut(x);
}

static iv round_outward(iv x, double ulps, double tiny)
{
    if (x.nan == 2) return x;
    if (isfinite(x.lo)) x.lo -= ulps * ULP * fabs(x.lo) + tiny;
    if (isfinite(x.hi)) x.hi += ulps * ULP * fabs(x.hi) + tiny;
    return cut(x);
}

/* Where the error is a share of the result, which so keeps its sign; zeros are what is left of
 * positive results. */
static iv round_relative(iv x, double ulps)
{
    iv r = round_outward(x, ulps, FLUSH);
    if (x.lo >= 0) r.lo = fmax(r.lo, 0);
    if (x.lo < 0 && x.hi <= 0) r.hi = fmin(r.hi, 0);
    return r;
}

/* Of an exactly known result: nothing to widen where f32 holds it. */
static iv arithmetic(iv r, bool exact_operands, double ulps)
{
    if (exact_operands && is_point(r) && (double)(float)r.lo == r.lo &&
        (r.lo == 0 || fabs(r.lo) >= FLUSH))
        return r;
    return round_relative(r, ulps);
}

static bool both(iv x, iv y, iv *r)
{
    *r = ALWAYS_NAN;
    return x.nan != 2 && y.nan != 2;
}

/* ---- arithmetic ---- */

/* The hull of results at the corners of a box.  A NaN corner is a NaN that may come out, and its
 * neighbours' limits. */
static iv corners(const double c[4], bool points, int nan)
{
    iv r = {INFINITY, -INFINITY, nan};
    for (int i = 0; i < 4; i++) {
        if (isnan(c[i])) {
            r.nan |= 1;
            r.lo = fmin(r.lo, 0);
            r.hi = fmax(r.hi, 0);
        } else {
            r.lo = fmin(r.lo, c[i]);
            r.hi = fmax(r.hi, c[i]);
        }
    }
    return points && isnan(c[0]) ? ALWAYS_NAN : r;
}

static iv add(iv x, iv y)
{
    iv r;
    if (!both(x, y, &r)) return r;
    const bool points = is_point(x) && is_point(y);
    r = (iv){x.lo + y.lo, x.hi + y.hi, x.nan | y.nan};
    if (points && isnan(r.lo)) return ALWAYS_NAN;
    if ((isinf(x.lo) || isinf(x.hi)) && (isinf(y.lo) || isinf(y.hi)) &&
        ((x.hi == INFINITY && y.lo == -INFINITY) || (x.lo == -INFINITY && y.hi == INFINITY)))
        r = ANYTHING;
    return arithmetic(r, points, 1);
}

static iv negate(iv x)
{
    return x.nan == 2 ? x : (iv){-x.hi, -x.lo, x.nan};
}

/* 0 times infinity is NaN wherever in the operands the two are: at corners or not. */
static iv multiply(iv x, iv y)
{
    iv r;
    if (!both(x, y, &r)) return r;
    const bool points = is_point(x) && is_point(y);
    const bool invalid =
        (holds_zero(x) && holds_infinity(y)) || (holds_infinity(x) && holds_zero(y));
    const double c[4] = {x.lo * y.lo, x.lo * y.hi, x.hi * y.lo, x.hi * y.hi};
    return arithmetic(corners(c, points, x.nan | y.nan | invalid), points, 1);
}

/* exact: what is a number of f32 comes out as that, else within the 2 ulp that rows may take. */
static iv divide(iv x, iv y, bool exact)
{
    iv r;
    if (!both(x, y, &r)) return r;
    const bool points = is_point(x) && is_point(y);
    const bool invalid =
        (holds_zero(x) && holds_zero(y)) || (holds_infinity(x) && holds_infinity(y));
    if (points && invalid) return ALWAYS_NAN;
    if (holds_zero(y)) return (iv){-INFINITY, INFINITY, x.nan | y.nan | invalid};
    const double c[4] = {x.lo / y.lo, x.lo / y.hi, x.hi / y.lo, x.hi / y.hi};
    return arithmetic(corners(c, points, x.nan | y.nan | invalid), exact && points, 3);
}

/* ---- functions ---- */

static iv increasing(double (*f)(double), iv x)
{
    if (x.nan == 2) return x;
    return round_relative((iv){f(x.lo), f(x.hi), x.nan}, 4);
}

/* Of what is e^x, more or less: a machine that has 2^x alone rounds x log2 e once, whose last place
 * counts as often as x is large.  From 104 on results are zero or infinite anyway. */
static double exponent_ulps(double x)
{
    return 4 + 1.25 * fmin(fabs(x), 104);
}

static iv of_exponent(double (*f)(double), iv x, double ulps_lo, double ulps_hi)
{
    const iv lo = round_relative(kr_point(f(x.lo)), ulps_lo),
             hi = round_relative(kr_point(f(x.hi)), ulps_hi);
    return (iv){lo.lo, hi.hi, x.nan};
}

/* Of infinity, too, a result beyond f32's range may be a number, where it is not rounded before it
 * goes into a sum (kiln_exp's last product, fused): then minus infinity is no NaN. */
static iv exponential(iv x)
{
    if (x.nan == 2) return x;
    iv r = of_exponent(exp, x, exponent_ulps(x.lo), exponent_ulps(x.hi));
    r.lo = fmin(r.lo, FLT_MAX);
    return r;
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

/* Left of 0 it is e^x. */
static iv sigmoidal(iv x)
{
    if (x.nan == 2) return x;
    return of_exponent(sigmoid, x, exponent_ulps(fmin(x.lo, 0)), exponent_ulps(fmin(x.hi, 0)));
}

/* x times a sigmoid-like function: falls from 0 to its least value, then rises. */
static const struct valley {
    kiln_xop op;
    double at; /* of the least value */
} valley[] = {
    {KILN_X_GELU, -0.7517915246935645},
    {KILN_X_GELU_TANH, -0.7524614220710162},
    {KILN_X_SILU, -1.2784645427610738},
};

static double valley_value(kiln_xop op, double x)
{
    const kiln_xnode node = {.op = (uint8_t)op};
    return kr_apply(&node, x, 0, 0);
}

static iv across_valley(kiln_xop op, iv x)
{
    if (x.nan == 2) return x;
    double at = 0;
    for (size_t i = 0; i < sizeof valley / sizeof *valley; i++)
        if (valley[i].op == op) at = valley[i].at;
    const double lo = valley_value(op, x.lo), hi = valley_value(op, x.hi);
    iv r = {fmin(lo, hi), fmax(lo, hi), x.nan};
    if (x.lo < at && x.hi > at) r.lo = valley_value(op, at);
    if (x.lo == -INFINITY) r.nan |= 1; /* -inf * 0 in f32 */
    const double left = op == KILN_X_SILU ? exponent_ulps(fmin(x.lo, 0)) : 4;
    /* exp overflows before x * its inverse is subnormal */
    r = round_outward(r, 4 + left, 0x1p-118);
    if (op == KILN_X_SILU || x.lo >= 0) return r;
    /* 1 + erf and 1 + tanh cancel: their error is one of numbers around 1, times x / 2.  Nothing is
     * left of x < -16. */
    const double by = 4 * ULP * fmin(-x.lo, 16);
    return kr_interval_widen(r, by);
}

static iv logarithm(iv x)
{
    if (x.nan == 2 || x.hi < 0) return ALWAYS_NAN;
    const iv r = {log(fmax(x.lo, 0)), log(x.hi), x.nan | (x.lo < 0)};
    /* Near 1 the error of a logarithm is one of its argument's. */
    return round_outward(
        r, 4, x.hi > 0.5 && x.lo < 2 ? 0x1p-24 * fabs(x.lo == x.hi ? r.lo : 1) + FLUSH : FLUSH);
}

static iv square_root(iv x)
{
    if (x.nan == 2 || x.hi < 0) return ALWAYS_NAN;
    return round_relative((iv){sqrt(fmax(x.lo, 0)), sqrt(x.hi), x.nan | (x.lo < 0)}, 4);
}

static iv inverse_root(iv x)
{
    if (x.nan == 2 || x.hi < 0) return ALWAYS_NAN;
    iv r = {1 / sqrt(fabs(x.hi)), INFINITY, x.nan | (x.lo < 0)};
    if (x.lo > 0)
        r.hi = 1 / sqrt(x.lo);
    else
        r.lo = -INFINITY; /* of a negative zero */
    return round_relative(r, 4);
}

static iv magnitude(iv x)
{
    if (x.nan == 2) return x;
    if (holds_zero(x)) return (iv){0, fmax(-x.lo, x.hi), x.nan};
    return x.lo > 0 ? x : negate(x);
}

/* x * x */
static iv square(iv x)
{
    if (x.nan == 2) return x;
    const iv m = magnitude(x);
    return arithmetic((iv){m.lo * m.lo, m.hi * m.hi, x.nan}, is_point(x), 1);
}

/* x^y for x >= 0, which is monotonic in either. */
static iv positive_power(double lo, double hi, iv y)
{
    const double c[4] = {pow(lo, y.lo), pow(lo, y.hi), pow(hi, y.lo), pow(hi, y.hi)};
    return round_relative(corners(c, false, 0), 4);
}

/* What powers of the x <= 0 add to r, which are those of the others; -0 is one of them.  Of
 * negative finite ones only integers have powers that are no NaN, and odd ones give negative
 * results. */
static iv negative_power(iv r, iv x, iv y)
{
    const iv m = {fmax(-x.hi, 0), -x.lo, 0};
    const bool integer = is_point(y) && y.lo == nearbyint(y.lo);
    const bool odd = integer && fmod(fabs(y.lo), 2) == 1;
    if (integer) {
        const iv p = positive_power(m.lo, m.hi, y);
        return hull(r, odd ? negate(p) : p);
    }
    if (is_point(y)) { /* as for +0 and +infinity, else NaN */
        if (m.lo == 0) r = hull(r, positive_power(0, 0, y));
        if (isinf(m.hi)) r = hull(r, positive_power(m.hi, m.hi, y));
        return x.lo < 0 && m.lo < DBL_MAX ? hull(r, ALWAYS_NAN) : r;
    }
    const iv p = positive_power(m.lo, m.hi, y);
    r = hull(r, hull(p, negate(p)));
    return x.lo < 0 ? hull(r, ALWAYS_NAN) : r;
}

static iv power(iv x, iv y)
{
    iv r;
    if (!both(x, y, &r)) return r; /* NaN, of nothing so far */
    if (x.hi >= 0) r = positive_power(fmax(x.lo, 0), x.hi, y);
    if (x.lo <= 0) r = negative_power(r, x, y);
    if (r.nan < 2) r.nan |= x.nan | y.nan;
    return r;
}

/* ---- choices ---- */

static iv least(iv x, iv y)
{
    iv r;
    if (!both(x, y, &r)) return r;
    return (iv){fmin(x.lo, y.lo), fmin(x.hi, y.hi), x.nan | y.nan};
}

static iv greatest(iv x, iv y)
{
    return negate(least(negate(x), negate(y)));
}

static iv leaky_relu(iv x, iv slope)
{
    if (x.nan == 2) return x;
    if (x.lo > 0 && x.nan == 0) return x;
    const iv below = multiply((iv){fmin(x.lo, 0), fmin(x.hi, 0), x.nan}, slope);
    return x.hi > 0 ? hull(below, (iv){fmax(x.lo, 0), x.hi, x.nan}) : below;
}

/* Conditions: lo is 1 where surely true, hi is 0 where surely false. */
static iv condition(bool surely_true, bool surely_false)
{
    return (iv){surely_true, !surely_false, 0};
}

static iv less(iv x, iv y, bool or_equal)
{
    if (x.nan == 2 || y.nan == 2) return condition(false, true);
    const bool sure = or_equal ? x.hi <= y.lo : x.hi < y.lo,
               never = or_equal ? x.lo > y.hi : x.lo >= y.hi;
    return condition(sure && !x.nan && !y.nan, never);
}

/* x <= x is a question for NaN. */
static iv compare(const kiln_xnode *n, iv x, iv y, bool or_equal)
{
    if (n->arg[0] != n->arg[1]) return less(x, y, or_equal);
    return condition(or_equal && x.nan == 0, !or_equal || x.nan == 2);
}

static iv equal(const kiln_xnode *n, iv x, iv y)
{
    if (x.nan == 2 || y.nan == 2) return condition(false, true);
    if (n->arg[0] == n->arg[1]) return condition(x.nan == 0, false);
    const bool same = is_point(x) && is_point(y) && x.lo == y.lo,
               apart = x.hi < y.lo || y.hi < x.lo;
    return condition(same, apart);
}

/* Of conditions, whose ends are 0 and 1. */
static iv both_hold(iv x, iv y)
{
    return (iv){fmin(x.lo, y.lo), fmin(x.hi, y.hi), 0};
}

static iv fails(iv x)
{
    return (iv){1 - x.hi, 1 - x.lo, 0};
}

static iv round_down(iv x)
{
    return x.nan == 2 ? x : (iv){floor(x.lo), floor(x.hi), x.nan};
}

static iv choose(iv c, iv x, iv y)
{
    if (c.lo > 0) return x;
    if (c.hi == 0) return y;
    return hull(x, y);
}

iv kr_interval_round(kiln_dtype t, iv x)
{
    if (x.nan == 2) return kr_is_float(t) ? x : kr_point(0);
    iv r = {kr_round_to(t, x.lo), kr_round_to(t, x.hi), x.nan};
    if (!kr_is_float(t) && x.nan) r = hull((iv){r.lo, r.hi, 0}, kr_point(0));
    return r;
}

void kr_interval_put(kiln_dtype t, iv x, double *lo, double *hi)
{
    iv e = kr_interval_round(t, x);
    if (e.nan == 1 && kr_is_float(t)) e.lo = -INFINITY, e.hi = INFINITY;
    *lo = e.nan == 2 ? NAN : e.lo;
    *hi = e.nan == 2 ? NAN : e.hi;
}

/* ---- reductions ---- */

/* What n values together may do to a sum of theirs. */
typedef struct all {
    double lo, hi, size; /* sums of the finite ends, and of magnitudes */
    int nan;
    bool above, below; /* one may be infinite */
    bool surely_above, surely_below;
} all;

static all gather(const iv *x, int64_t n)
{
    all a = {0};
    for (int64_t i = 0; i < n; i++) {
        if (x[i].nan > a.nan) a.nan = x[i].nan;
        if (x[i].nan == 2) continue;
        a.above |= x[i].hi == INFINITY;
        a.below |= x[i].lo == -INFINITY;
        a.surely_above |= x[i].lo == INFINITY;
        a.surely_below |= x[i].hi == -INFINITY;
        if (isfinite(x[i].lo)) a.lo += x[i].lo;
        if (isfinite(x[i].hi)) a.hi += x[i].hi;
        const double size = fmax(fabs(x[i].lo), fabs(x[i].hi));
        if (isfinite(size)) a.size += size;
    }
    return a;
}

/* The probabilistic bound of a sum's rounding errors in any order (ref_gemm.c): each partial sum is
 * at most the sum of magnitudes, of which `relative` is the error.  A compensated sum has its
 * errors added up as well: what is left is the errors of that, the same share of them; then it is
 * rounded once. */
static iv sum_of(const iv *x, int64_t n, double relative)
{
    const all a = gather(x, n);
    if (a.nan == 2 || (a.surely_above && a.surely_below)) return ALWAYS_NAN;
    if (a.above && a.below) return ANYTHING;
    bool positive = true, negative = true;
    for (int64_t i = 0; i < n; i++) {
        positive = positive && x[i].lo >= 0;
        negative = negative && x[i].hi <= 0;
    }
    const double tiny = (double)n * (double)FLT_MIN, delta = relative * a.size + tiny;
    const bool overflows = a.size + delta > FLT_MAX;
    if (overflows && !positive && !negative) return ANYTHING;
    if (a.surely_above) return (iv){INFINITY, INFINITY, a.nan};
    if (a.surely_below) return (iv){-INFINITY, -INFINITY, a.nan};
    if (a.size == 0 && !a.above && !a.below) return (iv){0, 0, a.nan};
    /* Of one sign: the error is a share of the sum, and partial sums overflow to that side only. */
    if (positive) {
        const iv r = cut((iv){fmax(a.lo * (1 - relative) - tiny, 0), a.hi + delta, a.nan});
        return a.above || overflows ? (iv){fmin(r.lo, FLT_MAX), INFINITY, a.nan} : r;
    }
    if (negative) {
        const iv r = cut((iv){a.lo - delta, fmin(a.hi * (1 - relative) + tiny, 0), a.nan});
        return a.below || overflows ? (iv){-INFINITY, fmax(r.hi, -FLT_MAX), a.nan} : r;
    }
    if (a.above || a.below) return ANYTHING;
    return kr_interval_widen((iv){a.lo, a.hi, a.nan}, delta);
}

iv kr_interval_sum(const iv *x, int64_t n, double rtol, bool compensated)
{
    const double once = (KR_LAMBDA * sqrt((double)n) + 1) * 0x1p-24;
    const double reference = rtol + (double)n * 0x1p-53;
    return compensated ? round_relative(sum_of(x, n, once * once + reference), 0.5)
                       : sum_of(x, n, once + reference);
}

iv kr_interval_mean(const iv *x, int64_t n, double rtol, bool compensated)
{
    const iv sum = kr_interval_sum(x, n, rtol, compensated);
    const double count = (double)n;
    if (sum.nan == 2 || (sum.lo == 0 && sum.hi == 0)) return sum; /* 0 / n is no rounded quotient */
    return round_relative((iv){sum.lo / count, sum.hi / count, sum.nan}, 3);
}

iv kr_interval_extreme(const iv *x, int64_t n, bool largest)
{
    iv r = x[0];
    for (int64_t i = 1; i < n && r.nan < 2; i++) r = largest ? greatest(r, x[i]) : least(r, x[i]);
    return r;
}

/* ---- evaluation ---- */

iv kr_leaf_interval(const kiln_xnode *n, const iv *acc, const kr_leaves *leaf)
{
    return flushed(n->op == KILN_X_ACC ? acc[n->index] : kr_point(kr_leaf(n, leaf)));
}

iv kr_apply_interval(const kiln_xnode *n, iv x, iv y, iv z)
{
    switch ((kiln_xop)n->op) {
    case KILN_X_ADD:
        return add(x, y);
    case KILN_X_SUB:
        return add(x, negate(y));
    case KILN_X_MUL:
        return n->arg[0] == n->arg[1] ? square(x) : multiply(x, y);
    case KILN_X_DIV:
        return divide(x, y, n->index == KILN_EXACT);
    case KILN_X_POW:
        return power(x, y);
    case KILN_X_NEG:
        return negate(x);
    case KILN_X_RELU:
        return greatest(x, kr_point(0));
    case KILN_X_LEAKY_RELU:
        return leaky_relu(x, y);
    case KILN_X_GELU:
    case KILN_X_GELU_TANH:
    case KILN_X_SILU:
        return across_valley((kiln_xop)n->op, x);
    case KILN_X_SIGMOID:
        return sigmoidal(x);
    case KILN_X_TANH:
        return increasing(tanh, x);
    case KILN_X_EXP:
        return exponential(x);
    case KILN_X_LOG:
        return logarithm(x);
    case KILN_X_SQRT:
        return square_root(x);
    case KILN_X_RSQRT:
        return inverse_root(x);
    case KILN_X_ABS:
        return magnitude(x);
    case KILN_X_MIN:
        return least(x, y);
    case KILN_X_MAX:
        return greatest(x, y);
    case KILN_X_CLAMP:
        return least(greatest(x, y), z);
    case KILN_X_ROUND:
        return x.nan == 2 ? x : (iv){nearbyint(x.lo), nearbyint(x.hi), x.nan};
    case KILN_X_SELECT:
        return choose(x, y, z);
    case KILN_X_LT:
        return compare(n, x, y, false);
    case KILN_X_LE:
        return compare(n, x, y, true);
    case KILN_X_GT:
        return compare(n, y, x, false);
    case KILN_X_GE:
        return compare(n, y, x, true);
    case KILN_X_FLOOR:
        return round_down(x);
    case KILN_X_EQ:
        return equal(n, x, y);
    case KILN_X_NE:
        return fails(equal(n, x, y));
    case KILN_X_AND:
        return both_hold(x, y);
    case KILN_X_OR:
        return fails(both_hold(fails(x), fails(y)));
    case KILN_X_NOT:
        return fails(x);
    case KILN_X_CAST:
        return kr_interval_round(KILN_F32, kr_interval_round((kiln_dtype)n->index, x));
    default: /* leaves and reductions */
        return ALWAYS_NAN;
    }
}

iv kr_eval_interval(const kiln_xnode *node, uint32_t count, const iv *acc, const kr_leaves *leaf,
                    iv *v)
{
    for (uint32_t i = 0; i < count; i++) {
        const kiln_xnode *n = &node[i];
        v[i] = kr_x_operands[n->op] ? kr_apply_interval(n, v[n->arg[0]], v[n->arg[1]], v[n->arg[2]])
                                    : kr_leaf_interval(n, acc, leaf);
    }
    return v[count - 1];
}
