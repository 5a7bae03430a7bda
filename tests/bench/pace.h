// SPDX-License-Identifier: MIT
// How slow this core is just now, beside the one that time limits were set on: other work that
// shares its caches, its memory or its clock slows a program down by its own clock, too.  A limit
// is multiplied by it, so that what is gated is the program and not the machine.
#ifndef PACE_H
#define PACE_H
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* The calling thread's own time, in seconds: what others take from the machine is not counted. */
static double pace_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A fixed piece of what the programs under test do: reads that hang on one another in a table of
 * 4 MB, numbers written and read as text. */
static double pace_work(void)
{
    enum { WORDS = 1 << 20, STEPS = 10000, NUMBERS = 2000 };
    static uint32_t table[WORDS];
    uint32_t at = 0;
    if (!table[0]) /* one cycle through all: a linear congruence of full period */
        for (uint32_t i = 0; i < WORDS; i++) table[i] = (i * 1664525u + 1013904223u) % WORDS;
    for (int i = 0; i < STEPS; i++) at = table[at];
    double sum = at;
    for (int i = 0; i < NUMBERS; i++) {
        char text[32];
        snprintf(text, sizeof text, "%d.%d", i, i * 7919 % 1000);
        sum += strtod(text, NULL);
    }
    return sum;
}

/* The mean of some milliseconds, over what it is at rest on the machine that the limits are for, a
 * core of an EPYC server; at least 1. */
static double pace(void)
{
    enum { TIMES = 20 };
    static const double at_rest = 0.28e-3;
    volatile double sink = pace_work(); /* warms up */
    const double start = pace_now();
    for (int i = 0; i < TIMES; i++) sink = pace_work();
    (void)sink;
    return fmax(1, (pace_now() - start) / TIMES / at_rest);
}
#endif
