// SPDX-License-Identifier: MIT
// All legal instances of a problem, timed against each other.
#ifndef KILN_CONTEST_H
#define KILN_CONTEST_H
#include "harness.h"

enum { KT_CONTESTANTS = 512 };
typedef struct kt_contestant {
    const kiln_kernel *kernel;
    double seconds, spread, error; /* error: the largest, where it was verified */
    size_t replays; /* 0: its first launches took too long for more */
    int taken;      /* what kiln_find takes; kt_contest keeps it */
} kt_contestant;

/* The legal instances, at most KT_CONTESTANTS; 0: none, kiln_error says why. */
size_t kt_contestants(kiln_ctx *, const kiln_problem *, kt_contestant *);
/* Times them and sorts them, fastest first; the number of those that run, the others are named in
 * messages. */
size_t kt_contest(kh_sets *, kt_contestant *, size_t n, const kh_protocol *);
#endif
