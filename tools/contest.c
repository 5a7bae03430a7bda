// SPDX-License-Identifier: MIT
// All legal instances of a problem against each other, for `kiln tune` and `kiln bench --all`: a
// brief look at each, then the best few side by side.
#include "contest.h"
#include "command.h"
#include <math.h>
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

static void leave_out(const kt_contestant *c)
{
    const char *why = kiln_error();
    kiln_kernel_info info;
    if (!kt_describe(c->kernel, &info))
        kt_message("%s is left out: %s", info.name, why && *why ? why : "it does not run");
}

/* Times some of them in turn; those that do not run get no kernel. */
static void time_some(kh_sets *sets, kt_contestant *c, size_t n, const kh_protocol *protocol)
{
    kh_runner runners[ROUND];
    size_t from[ROUND], opened = 0;
    for (size_t i = 0; i < n; i++) {
        if (!kh_runner_open(sets, c[i].kernel, &runners[opened]))
            from[opened++] = i;
        else {
            leave_out(&c[i]);
            c[i].kernel = NULL;
        }
    }
    kh_time(runners, opened, protocol);
    for (size_t i = 0; i < opened; i++) {
        kt_contestant *to = &c[from[i]];
        if (runners[i].status) {
            leave_out(to);
            to->kernel = NULL;
        }
        to->seconds = runners[i].seconds;
        to->spread = runners[i].spread;
        to->replays = runners[i].replays;
        kh_runner_close(&runners[i]);
    }
}

static int by_seconds(const void *x, const void *y)
{
    const double a = ((const kt_contestant *)x)->seconds, b = ((const kt_contestant *)y)->seconds;
    return (a > b) - (a < b);
}

/* Those that run, fastest first; their number. */
static size_t sorted(kt_contestant *c, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (c[i].kernel) c[kept++] = c[i];
    qsort(c, kept, sizeof *c, by_seconds);
    return kept;
}

size_t kt_contest(kh_sets *sets, kt_contestant *c, size_t n, const kh_protocol *full)
{
    kh_protocol brief = *full;
    brief.seconds = full->seconds > 0 ? fmin(full->seconds, 0.04) : 0.04;
    brief.idle = full->idle > 0 ? fmin(full->idle, 0.005) : full->idle < 0 ? -1 : 0.005;
    brief.hopeless = 3;
    for (size_t i = 0; i < n; i += ROUND) {
        const size_t some = n - i < ROUND ? n - i : ROUND;
        time_some(sets, c + i, some, &brief);
        for (size_t j = i; j < i + some; j++)
            if (c[j].kernel && (brief.best <= 0 || c[j].seconds < brief.best))
                brief.best = c[j].seconds;
    }
    n = sorted(c, n);
    if (full->price) return n; /* nothing to look at again */
    const size_t best = n < 4 ? n : 4;
    time_some(sets, c, best, full);
    /* Those that were left out now stood before the rest. */
    size_t left = sorted(c, best);
    for (size_t i = best; i < n; i++) c[left++] = c[i];
    return left;
}
