// SPDX-License-Identifier: MIT
// What programs that time host kernels share: memory full of numbers, a clock, medians of REPEATS,
// goals.
#ifndef BENCH_H
#define BENCH_H
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "kiln.h"

enum { REPEATS = 15 };
#define COUNT(a) (sizeof(a) / sizeof *(a))

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Memory of numbers between 1/2 and 1 of either sign, bytes as the table says; any for integers,
 * and for KILN_DTYPE_NONE. */
static void *filled(size_t bytes, kiln_dtype type)
{
    static const struct {
        uint32_t one_half, random;
    } bits[KILN_DTYPE_COUNT] = {
        [KILN_F32] = {0x3f000000, 0x807fffff},
        [KILN_F16] = {0x38003800, 0x83ff83ff},
        [KILN_BF16] = {0x3f003f00, 0x807f807f},
        [KILN_F8E4M3] = {0, 0xbfbfbfbf}, /* below 2: with subnormal numbers, as weights have them */
        [KILN_F8E5M2] = {0, 0xbfbfbfbf},
        [KILN_I8] = {0, 0xffffffff},
        [KILN_U8] = {0, 0xffffffff},
    };
    uint32_t *p = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096), x = 1;
    if (!p) {
        perror("bench");
        exit(2);
    }
    for (size_t i = 0; i < (bytes + 3) / 4; i++) {
        x = x * 1664525u + 1013904223u;
        p[i] = bits[type].one_half | (bits[type].random & (x ^ x >> 15));
    }
    return p;
}

static void need(kiln_status status)
{
    if (status == KILN_OK) return;
    fprintf(stderr, "bench: %s\n", kiln_error());
    exit(2);
}

static int ascending(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* Two threads want a whole machine: what else runs on it only ever adds time. */
static double least_of(double *t)
{
    qsort(t, REPEATS, sizeof *t, ascending);
    return t[0];
}

static int at_least(double figure, double goal)
{
    printf("  %5.2f (at least %.2f)%s", figure, goal, figure >= goal ? "" : " MISSED");
    return figure >= goal;
}
#endif
