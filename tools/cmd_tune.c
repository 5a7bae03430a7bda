// SPDX-License-Identifier: MIT
// kiln tune: times every legal instance of problems on the device, by the protocol of bench, and
// adds a row for each to the tuning file that KILN_TUNING names, as soon as it is known.
// An instance that computes wrongly is left out: the fastest ones are verified until one is right.
#include "command.h"
#include "contest.h"
#include "simulator.h"
#include "tuning_file.h"
#include <stdlib.h>
#include <string.h>

typedef struct tuner {
    const kt_options *o;
    kiln_ctx *ctx;
    uint64_t seed;
    kt_tuning *file;
    int unwritten; /* exit code of a row that could not be written */
} tuner;

/* Of the instances, fastest first, the first that computes rightly; the number of those before it
 * that do not, `n` where all. */
static size_t qualify(tuner *t, const kiln_problem *p, kt_contestant *c, size_t n, double *error)
{
    const kh_options options = {.seed = t->seed};
    kh_case *verified;
    kh_result result;
    if (kh_case_open(t->ctx, p, &options, &verified)) return n;
    size_t i = 0;
    for (; i < n; i++) {
        kiln_kernel_info info;
        if (!kh_case_run(verified, c[i].kernel, &result) && result.ok) {
            *error = result.max_error;
            break;
        }
        if (!kt_describe(c[i].kernel, &info))
            kt_message("%s is left out: %s", info.name, result.text);
    }
    kh_case_close(verified);
    return i;
}

static int tune_problem(tuner *t, const char *text, kt_contestant *c)
{
    const kh_protocol protocol = {.seconds = t->o->seconds, .idle = t->o->idle};
    kiln_problem p;
    kiln_kernel_info info;
    kh_sets *sets;
    double error = 0;
    const int code = kt_problem(text, &p);
    if (code) return code;
    size_t n = kt_contestants(t->ctx, &p, c);
    if (!n) return kt_failed(KILN_NOT_SUPPORTED, text);
    kiln_status status = kh_sets_open(t->ctx, &p, t->seed, &sets);
    if (status) return kt_failed(status, text);
    n = kt_contest(sets, c, n, &protocol);
    kh_sets_close(sets);
    const size_t best = qualify(t, &p, c, n, &error);
    if (best == n) return kt_message("%s: no instance computes it", text), EXIT_FAILED;
    status = kt_describe(c[best].kernel, &info);
    if (status) return kt_failed(status, text);
    kt_message("%s: %s, %.2f us, best of %zu", text, info.name, c[best].seconds * 1e6, n - best);
    const kt_row row = {info.name, c[best].seconds * 1e6, error, info.content};
    t->unwritten = kt_tuning_add(t->file, &p, &row);
    return t->unwritten;
}

static int tune_all(tuner *t)
{
    kt_problems list;
    kt_contestant *c = calloc(KT_CONTESTANTS, sizeof *c);
    int worst = kt_problems_open(t->o, NULL, 0, &list);
    if (!worst && !c) worst = kt_failed(KILN_NO_MEMORY, "tune");
    if (!worst && !list.count) worst = (kt_message("tune: PROBLEM... is missing"), EXIT_USAGE);
    if (!worst) worst = kt_tuning_open(t->o, t->ctx, &t->file);
    const size_t count = worst ? 0 : list.count;
    for (size_t i = 0; i < count && !t->unwritten; i++) { /* one that fails leaves the others */
        const int code = tune_problem(t, list.item[i].text, c);
        if (code > worst) worst = code;
    }
    kt_tuning_close(t->file);
    kt_problems_close(&list);
    free(c);
    return worst;
}

int cmd_tune(const kt_options *o)
{
    tuner t = {.o = o, .seed = o->has_seed ? o->seed : kh_seed()};
    int worst = kt_open(o, NULL, &t.ctx);
    if (worst) return worst;
    if (kt_simulated(t.ctx)) {
        kt_message("tune measures devices, and the time that a simulator takes is none of theirs; "
                   "`kiln bench --all` lists the instances by their modelled time");
        worst = EXIT_USAGE;
    } else {
        worst = tune_all(&t);
    }
    kiln_close(t.ctx);
    return worst;
}
