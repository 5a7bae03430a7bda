// SPDX-License-Identifier: MIT
// All legal instances of a problem against each other, for `kiln tune` and `kiln bench --all`: a
// brief look at each, then the best few side by side.
#include "contest.h"
#include <stdlib.h>

enum { ROUND = 16 }; /* timed together */

size_t kt_contestants(kiln_ctx *ctx, const kiln_problem *p, kt_contestant *c)
{
    const kiln_kernel *kernel[KT_CONTESTANTS];
    size_t count = KT_CONTESTANTS;
    const kiln_status status = kiln_find_all(ctx, p, kernel, &count);
    if (status && status != KILN_TRUNCATED) return 0;
    if (count > KT_CONTESTANTS) count = KT_CONTESTANTS;
    for (size_t i = 0; i < count; i++) c[i] = (kt_contestant){.kernel = kernel[i]};
    return count;
}

/* Times some of them in turn. */
static kiln_status time_some(kh_sets *sets, kt_contestant *c, size_t n, const kh_protocol *protocol)
{
    kh_runner runners[ROUND];
    size_t opened = 0;
    kiln_status status = KILN_OK;
    for (; opened < n && !status; opened++)
        status = kh_runner_open(sets, c[opened].kernel, &runners[opened]);
    if (!status) status = kh_time(runners, n, protocol);
    for (size_t i = 0; i < opened; i++) {
        if (!status) {
            c[i].seconds = runners[i].seconds;
            c[i].spread = runners[i].spread;
            c[i].replays = runners[i].replays;
        }
        kh_runner_close(&runners[i]);
    }
    return status;
}

static int by_seconds(const void *x, const void *y)
{
    const double a = ((const kt_contestant *)x)->seconds, b = ((const kt_contestant *)y)->seconds;
    return (a > b) - (a < b);
}

kiln_status kt_contest(kh_sets *sets, kt_contestant *c, size_t n, const kh_protocol *full)
{
    kh_protocol brief = {.seconds = 0.04, .idle = full->idle < 0 ? -1 : 0.005, .hopeless = 3};
    kiln_status status = KILN_OK;
    for (size_t i = 0; i < n && !status; i += ROUND) {
        const size_t some = n - i < ROUND ? n - i : ROUND;
        status = time_some(sets, c + i, some, &brief);
        for (size_t j = i; j < i + some; j++)
            if (brief.best <= 0 || c[j].seconds < brief.best) brief.best = c[j].seconds;
    }
    if (status) return status;
    qsort(c, n, sizeof *c, by_seconds);
    const size_t best = n < 4 ? n : 4;
    status = time_some(sets, c, best, full);
    qsort(c, best, sizeof *c, by_seconds);
    return status;
}
