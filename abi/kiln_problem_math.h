// SPDX-License-Identifier: MIT
// Arithmetic of a schedule's problem-time functions once lowered to C: Lua's meaning of // and %,
// 64-bit integers that become and stay KILN_TOO_LARGE instead of wrapping, and doubles for the cost
// model.  Division by zero gives 0.
#ifndef KILN_PROBLEM_MATH_H
#define KILN_PROBLEM_MATH_H
#include <stdint.h>

/* Compares as what it says: min() may still bring it back into range. */
#define KILN_TOO_LARGE INT64_MAX

static inline int64_t kiln_i_add(int64_t x, int64_t y)
{
    int64_t r;
    return __builtin_add_overflow(x, y, &r) || x == KILN_TOO_LARGE || y == KILN_TOO_LARGE
               ? KILN_TOO_LARGE
               : r;
}

static inline int64_t kiln_i_sub(int64_t x, int64_t y)
{
    int64_t r;
    return __builtin_sub_overflow(x, y, &r) || x == KILN_TOO_LARGE || y == KILN_TOO_LARGE
               ? KILN_TOO_LARGE
               : r;
}

static inline int64_t kiln_i_mul(int64_t x, int64_t y)
{
    int64_t r;
    return __builtin_mul_overflow(x, y, &r) || x == KILN_TOO_LARGE || y == KILN_TOO_LARGE
               ? KILN_TOO_LARGE
               : r;
}

static inline int64_t kiln_i_div(int64_t x, int64_t y)
{
    if (y == 0) return 0;
    if (x == KILN_TOO_LARGE || y == KILN_TOO_LARGE || y == -1)
        return y == -1 ? kiln_i_sub(0, x) : KILN_TOO_LARGE;
    return x / y - (x % y != 0 && (x < 0) != (y < 0));
}

static inline int64_t kiln_i_mod(int64_t x, int64_t y)
{
    if (x == KILN_TOO_LARGE || y == KILN_TOO_LARGE) return KILN_TOO_LARGE;
    if (y == 0 || y == -1) return 0;
    int64_t r = x % y;
    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

static inline int64_t kiln_i_ceil_div(int64_t x, int64_t y)
{
    if (y == 0) return 0;
    if (x == KILN_TOO_LARGE || y == KILN_TOO_LARGE || y == -1)
        return y == -1 ? kiln_i_sub(0, x) : KILN_TOO_LARGE;
    return x / y + (x % y != 0 && (x < 0) == (y < 0));
}

static inline int64_t kiln_i_min(int64_t x, int64_t y)
{
    return x < y ? x : y;
}
static inline int64_t kiln_i_max(int64_t x, int64_t y)
{
    return x > y ? x : y;
}

/* A grid, block or LDS size: what does not fit becomes UINT32_MAX, which no device takes. */
static inline uint32_t kiln_i_u32(int64_t x)
{
    return x < 0 || x > (int64_t)UINT32_MAX ? UINT32_MAX : (uint32_t)x;
}

static inline uint64_t kiln_i_bytes(int64_t x)
{
    return x == KILN_TOO_LARGE ? UINT64_MAX : x < 0 ? 0 : (uint64_t)x;
}

/* Without libm's floor, which baseline x86-64 calls out of line. */
static inline double kiln_r_floor(double x)
{
    if (!(x > -4503599627370496.0 && x < 4503599627370496.0)) return x;
    double r = (double)(int64_t)x;
    return r > x ? r - 1 : r;
}

static inline double kiln_r_div(double x, double y)
{
    return y == 0 ? 0 : x / y;
}
static inline double kiln_r_floor_div(double x, double y)
{
    return y == 0 ? 0 : kiln_r_floor(x / y);
}
static inline double kiln_r_mod(double x, double y)
{
    return y == 0 ? 0 : x - kiln_r_floor(x / y) * y;
}
static inline double kiln_r_min(double x, double y)
{
    return x < y ? x : y;
}
static inline double kiln_r_max(double x, double y)
{
    return x > y ? x : y;
}

static inline double kiln_r_ceil_div(double x, double y)
{
    double q = kiln_r_floor_div(x, y);
    return q * y < x ? q + 1 : q;
}
#endif
