// SPDX-License-Identifier: MIT
// kiln verify: runs instances on problems of many shapes and compares with the reference.
// With --all, instances that compute the same thing are grouped, so that inputs and expected values
// are made once per shape; each instance adds the shapes around its own tile, since that is where
// tiled kernels go wrong.
#include "command.h"
#include "harness.h"
#include "trials.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct unit { /* one instance and how it fares */
    const kiln_kernel *kernel;
    kiln_kernel_info info;
    size_t ran, failed; /* problems */
    struct {
        size_t checked, determined;
    } output[KH_MAX_OPERANDS]; /* elements of all problems */
    char text[640];
} unit;

typedef struct run {
    const kt_options *o;
    kiln_ctx *ctx;
    uint64_t seed;
    size_t passed, failed;
} run;

/* ---- running ---- */
static void blame(unit *u, const kiln_problem *p, const char *text)
{
    char problem[320];
    if (!u->failed)
        snprintf(u->text, sizeof u->text, "%s: %s", kt_problem_text(p, problem, sizeof problem),
                 text);
    u->failed++;
}

/* Where there are other problems, one whose inputs determine little (1 / acc where K is 0) is only
 * counted. */
static void run_case(unit *u, const kiln_problem *p, kh_case *c, int others)
{
    kh_result result;
    if (kiln_workspace_size(u->kernel, p) == SIZE_MAX) return; /* not legal for this instance */
    u->ran++;
    const kiln_status status = kh_case_run(c, u->kernel, &result);
    if (status) {
        blame(u, p, kiln_error());
        return;
    }
    for (int i = 0; i < KH_MAX_OPERANDS; i++) {
        u->output[i].checked += result.output[i].checked;
        u->output[i].determined += result.output[i].determined;
    }
    if (!result.ok && !(others && result.too_few))
        blame(u, p, result.text);
    else if (!u->failed)
        snprintf(u->text, sizeof u->text, "%s", result.text);
}

/* nth: of the group's trials, by which the ways to compute in place take turns. */
static void run_trial(run *r, unit *units, size_t n, const kt_trial *t, size_t nth,
                      const int64_t *tile)
{
    kiln_problem p = {0};
    kh_case *c = NULL;
    int in_place = 0;
    kiln_status status = kt_trial_problem(r->ctx, &units->info, t, (int)nth, &p, &in_place);
    if (!status && t->variant & KT_ONLY && !in_place) return;
    kh_options options = {.seed = r->seed, .values = t->values, .in_place = in_place};
    options.indices = t->variant & KT_DISORDER  ? KH_DISORDER
                      : t->variant & KT_HOSTILE ? KH_HOSTILE
                                                : KH_UNEVEN;
    if (tile) memcpy(options.tile, tile, sizeof options.tile);
    if (!status) status = kh_case_open(r->ctx, &p, &options, &c);
    for (size_t i = 0; i < n; i++) {
        if (status)
            blame(&units[i], &p, kiln_error());
        else
            run_case(&units[i], &p, c, 1);
    }
    kh_case_close(c);
}

static void report_unit(run *r, unit *u)
{
    size_t checked = 0, determined = 0;
    for (int i = 0; i < KH_MAX_OPERANDS; i++) {
        checked += u->output[i].checked, determined += u->output[i].determined;
        if (!u->ran || u->failed || !kh_too_few(u->output[i].determined, u->output[i].checked))
            continue;
        u->failed = 1;
        snprintf(u->text, sizeof u->text,
                 "%zu of %zu elements of %zu problems are determined: too few to tell right from "
                 "wrong",
                 u->output[i].determined, u->output[i].checked, u->ran);
    }
    if (!u->ran) snprintf(u->text, sizeof u->text, "legal for none of the shapes tried");
    const int ok = u->ran && !u->failed;
    r->passed += (size_t)ok;
    r->failed += (size_t)!ok;
    if (ok)
        printf("%sok%s    %s  %zu problem%s, %zu of %zu elements determined\n",
               kt_color_on(stdout, KT_GREEN), kt_color_off(stdout), u->info.name, u->ran,
               u->ran == 1 ? "" : "s", determined, checked);
    else
        printf("%sFAIL%s  %s  %s\n", kt_color_on(stdout, KT_RED), kt_color_off(stdout),
               u->info.name, u->text);
    fflush(stdout);
}

/* Instances of one op, types and layouts: the shapes they share, then those of each one's tile. */
static int run_group(run *r, unit *units, size_t n)
{
    kt_trial trials[KT_MAX_TRIALS];
    int64_t tile[KH_SIZES];
    kiln_op_info op = {.struct_size = sizeof op};
    const kiln_status status = kiln_op_describe(r->ctx, units->info.op, &op);
    if (status) return kt_failed(status, units->info.op);
    if (isatty(STDERR_FILENO)) fprintf(stderr, "\r\033[K%s\r", units->info.name);
    const size_t count = kt_common_trials(&op, r->o->quick, trials);
    size_t nth = 0;
    for (size_t i = 0; i < count; i++)
        run_trial(r, units, n, &trials[i], trials[i].variant & KT_IN_PLACE ? nth++ : 0, NULL);
    for (size_t u = 0; u < n; u++) {
        const size_t own = kt_tile_trials(&op, &units[u].info, r->o->quick, trials);
        kt_tile_of(&op, &units[u].info, tile);
        for (size_t i = 0; i < own; i++)
            run_trial(r, &units[u], 1, &trials[i], trials[i].variant & KT_IN_PLACE ? nth++ : 0,
                      tile);
        report_unit(r, &units[u]);
    }
    return 0;
}

/* Functional key first, then name. */
static int by_function(const void *x, const void *y)
{
    const kiln_kernel_info *a = &((const unit *)x)->info, *b = &((const unit *)y)->info;
    int d = strcmp(a->op, b->op);
    for (size_t i = 0; !d && i < KILN_MAX_TYPES; i++) d = (int)a->type[i] - (int)b->type[i];
    for (size_t i = 0; !d && i < KILN_MAX_LAYOUTS; i++) d = (int)a->layout[i] - (int)b->layout[i];
    for (int i = 0; !d && i < 2; i++) d = (a->fixed[i] > b->fixed[i]) - (a->fixed[i] < b->fixed[i]);
    return d;
}

static int by_function_and_name(const void *x, const void *y)
{
    const int d = by_function(x, y);
    return d ? d : strcmp(((const unit *)x)->info.name, ((const unit *)y)->info.name);
}

static int verify_all(run *r)
{
    kt_instance *found;
    size_t n = 0;
    int code = 0;
    const size_t selected = kt_select(r->o, r->ctx, &found);
    unit *units = calloc(selected + 1, sizeof *units);
    if (!units) return free(found), kt_failed(KILN_NO_MEMORY, "verify");
    for (size_t i = 0; i < selected; i++)
        if (found[i].info.runnable)
            units[n++] = (unit){.kernel = found[i].kernel, .info = found[i].info};
    free(found);
    qsort(units, n, sizeof *units, by_function_and_name);
    for (size_t i = 0, next; i < n && !code; i = next) {
        for (next = i + 1; next < n && !by_function(&units[i], &units[next]);) next++;
        code = run_group(r, &units[i], next - i);
    }
    if (!n) kt_none(r->o, r->ctx, "no instance that runs on this device passes these filters");
    free(units);
    return code ? code : n ? 0 : EXIT_FAILED;
}

/* ---- one problem as the user gave it ---- */
/* All legal instances; the caller frees the list. */
static kiln_status find_all(kiln_ctx *ctx, const kiln_problem *p, const kiln_kernel ***out,
                            size_t *count)
{
    *out = NULL;
    kiln_status status = kiln_find_all(ctx, p, NULL, count);
    if (status) return status;
    const kiln_kernel **kernel = calloc(*count, sizeof *kernel);
    if (!kernel) return KILN_NO_MEMORY;
    status = kiln_find_all(ctx, p, kernel, count);
    if (status)
        free(kernel);
    else
        *out = kernel;
    return status;
}

/* The number of instances that the options select. */
static size_t run_problem(run *r, const kiln_problem *p, kh_case *c, const kiln_kernel **kernel,
                          size_t count)
{
    size_t shown = 0;
    for (size_t i = 0; i < count; i++) {
        unit u = {.kernel = kernel[i]};
        if (kt_describe(kernel[i], &u.info) || !kt_selected(r->o, &u.info)) continue;
        run_case(&u, p, c, 0);
        const int ok = u.ran && !u.failed;
        r->passed += (size_t)ok, r->failed += (size_t)!ok, shown++;
        printf("%s%s%s  %s  %s\n", kt_color_on(stdout, ok ? KT_GREEN : KT_RED),
               ok ? "ok  " : "FAIL", kt_color_off(stdout), u.info.name, u.text);
        fflush(stdout);
    }
    return shown;
}

static int verify_problem(run *r, const char *text)
{
    kiln_problem p;
    const kiln_kernel **kernel;
    size_t count, shown = 0;
    kh_case *c;
    const int code = kt_problem(text, &p);
    if (code) return code;
    kiln_status status = find_all(r->ctx, &p, &kernel, &count);
    if (status) return kt_failed(status, text);
    const kh_options options = {.seed = r->seed};
    status = kh_case_open(r->ctx, &p, &options, &c);
    if (!status) {
        if (*kh_case_sampling(c)) kt_message("%s: compared on %s", p.op, kh_case_sampling(c));
        shown = run_problem(r, &p, c, kernel, count);
        kh_case_close(c);
    }
    free(kernel);
    if (status) return kt_failed(status, text);
    if (!shown) kt_message("'%s': no instance is like this", text);
    return shown ? 0 : EXIT_FAILED;
}

int cmd_verify(const kt_options *o)
{
    run r = {.o = o, .seed = o->has_seed ? o->seed : kh_seed()};
    kiln_device_info device = {.struct_size = sizeof device};
    if (!o->all == !o->arguments) {
        kt_message("verify: give either problems or --all");
        return EXIT_USAGE;
    }
    int code = kt_open_here(o, &r.ctx), worst = 0;
    if (code) return code;
    if (!kiln_device_describe(r.ctx, &device))
        kt_message("verify on %s (%s), seed %llu", device.name, device.target,
                   (unsigned long long)r.seed);
    if (o->all) worst = verify_all(&r);
    for (int i = 0; i < o->arguments; i++) {
        code = verify_problem(&r, o->argument[i]);
        if (code > worst) worst = code;
    }
    printf("%zu passed, %zu failed\n", r.passed, r.failed);
    kiln_close(r.ctx);
    return worst ? worst : r.failed ? EXIT_FAILED : EXIT_PASS;
}
