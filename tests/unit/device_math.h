// SPDX-License-Identifier: MIT
// The functions of kiln_math.h in double precision, and the distance of an f32 from such a value.
#ifndef DEVICE_MATH_H
#define DEVICE_MATH_H
#include <float.h>
#include <math.h>

/* How many times fewer numbers are tried: under sanitizers, many times slower, none says anything
 * new of the code. */
#ifdef __SANITIZE_ADDRESS__
enum { SPARSE = 16 };
#else
enum { SPARSE = 1 };
#endif

/* |got - want| in units of want's last place as an f32; want beyond f32's range counts as infinity.
 */
static double ulps(float got, double want)
{
    if (isnan(want) || isnan(got)) return isnan(want) && isnan(got) ? 0 : INFINITY;
    double limit = (double)FLT_MAX * (1 + 0x1p-25);
    if (isinf(got) || fabs(want) >= limit)
        return isinf(got) && fabs(want) >= (double)FLT_MAX && !!signbit(got) == !!signbit(want)
                   ? 0
                   : INFINITY;
    int e;
    frexp(want, &e);
    return fabs((double)got - want) / ldexp(1, (e < -125 ? -125 : e) - 24);
}

static inline double ref_relu(double x)
{
    return x < 0 ? 0 : x;
}
static double ref_sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}
static double ref_silu(double x)
{
    return x / (1 + exp(-x));
}
static double ref_gelu(double x)
{
    return x / 2 * erfc(-x / sqrt(2));
}
static double ref_gelu_tanh(double x)
{
    double z = 2 * sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x);
    return x / (1 + exp(-z));
}
#endif
