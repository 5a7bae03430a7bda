// SPDX-License-Identifier: MIT
// Steps of reductions, by themselves and over neighbouring lanes; division by what many numbers share.  C++ only.
#ifndef KILN_REDUCE_H
#define KILN_REDUCE_H
#include "kiln_device.h"
#include "kiln_math.h"

// Sum, largest, smallest: what each is over none, and of two.
struct kiln_sum_of {
    static KILN_DEVICE float none() { return 0.0f; }
    static KILN_DEVICE float two(float x, float y) { return x + y; }
};
struct kiln_max_of {
    static KILN_DEVICE float none() { return -KILN_INF; }
    static KILN_DEVICE float two(float x, float y) { return kiln_max(x, y); }
};
struct kiln_min_of {
    static KILN_DEVICE float none() { return KILN_INF; }
    static KILN_DEVICE float two(float x, float y) { return kiln_min(x, y); }
};

// Over LANES lanes, powers of two of at most a wave, each APART from the next; all of them get it.
template <class OF, int LANES, int APART = 1, class T> static KILN_DEVICE T kiln_over_lanes(T x)
{
#pragma unroll
    for (int mask = APART; mask < LANES * APART; mask *= 2) x = OF::two(x, kiln_other_lane(x, mask));
    return x;
}

// x / y within 2 ulp: the machine's inverse of y, which is brought near 1 beforehand so that neither it nor its inverse
// is subnormal; x goes the same way first, and overflows or vanishes only where the quotient does.
struct kiln_divisor {
    float scale, inverse;
};

static KILN_DEVICE kiln_divisor kiln_divide_by(float y)
{
    const float a = kiln_abs(y);
    kiln_divisor d;
    d.scale = a > 1.8446744e19f ? 5.4210109e-20f : a < 5.4210109e-20f ? 1.8446744e19f : 1.0f; /* 2^64, 2^-64 */
    d.inverse = kiln_recip_fast(y * d.scale);
    return d;
}

static KILN_DEVICE float kiln_quotient(float x, kiln_divisor d)
{
    return x * d.scale * d.inverse;
}
#endif
