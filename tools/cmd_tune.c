// SPDX-License-Identifier: MIT
// kiln tune: times every legal instance of problems on the device, by the protocol of bench, and
// writes the tuning file that KILN_TUNING names: validator lines, then `problem,instance,µs,error`.
// Instances that compute wrongly are left out.
#include "command.h"
#include "harness.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_INSTANCES = 512, ROUND = 16 }; /* timed together */

typedef struct tuner {
    const kt_options *o;
    kiln_ctx *ctx;
    uint64_t seed;
    FILE *out;
    size_t written;
} tuner;

typedef struct contestant {
    const kiln_kernel *kernel;
    double seconds, error;
} contestant;

static void put_quoted(FILE *f, const char *text)
{
    fputc('"', f);
    for (; *text; text++) {
        if (*text == '"') fputc('"', f);
        fputc(*text, f);
    }
    fputc('"', f);
}

static int write_validators(tuner *t)
{
    kiln_device_info d = {.struct_size = sizeof d};
    const kiln_status status = kiln_device_describe(t->ctx, &d);
    if (status) return kt_failed(status, "tune");
    fprintf(t->out, "Validator,KILN_VERSION,%s\nValidator,TARGET,%s\nValidator,DEVICE,",
            kiln_version(), d.target);
    put_quoted(t->out, d.name);
    fprintf(t->out, "\nValidator,UNITS,%d\nValidator,REGISTRY,%016" PRIx64 "\n", d.units,
            kiln_registry_id(t->ctx));
    return 0;
}

/* Those of the legal instances that compute rightly; their number. */
static size_t qualify(tuner *t, const kiln_problem *p, contestant *c, size_t count)
{
    const kh_options options = {.seed = t->seed};
    kh_case *verified;
    kh_result result;
    size_t kept = 0;
    if (kh_case_open(t->ctx, p, &options, &verified)) return 0;
    for (size_t i = 0; i < count; i++) {
        kiln_kernel_info info;
        if (!kh_case_run(verified, c[i].kernel, &result) && result.ok) {
            c[kept].kernel = c[i].kernel;
            c[kept++].error = result.max_error;
        } else if (!kt_describe(c[i].kernel, &info))
            kt_message("%s is left out: %s", info.name, result.text);
    }
    kh_case_close(verified);
    return kept;
}

/* Times some of them in turn. */
static kiln_status time_some(kh_sets *sets, contestant *c, size_t n, const kh_protocol *protocol)
{
    kh_runner runners[ROUND];
    size_t opened = 0;
    kiln_status status = KILN_OK;
    for (; opened < n && !status; opened++)
        status = kh_runner_open(sets, c[opened].kernel, &runners[opened]);
    if (!status) status = kh_time(runners, n, protocol);
    for (size_t i = 0; i < opened; i++) {
        if (!status) c[i].seconds = runners[i].seconds;
        kh_runner_close(&runners[i]);
    }
    return status;
}

static int by_seconds(const void *x, const void *y)
{
    const double a = ((const contestant *)x)->seconds, b = ((const contestant *)y)->seconds;
    return (a > b) - (a < b);
}

/* A brief look at all, then the best ones side by side for as long as asked. */
static kiln_status contest(tuner *t, const kiln_problem *p, contestant *c, size_t n)
{
    const kh_protocol brief = {.seconds = 0.05, .idle = t->o->idle < 0 ? -1 : 0.005};
    const kh_protocol full = {.seconds = t->o->seconds, .idle = t->o->idle};
    kh_sets *sets;
    kiln_status status = kh_sets_open(t->ctx, p, t->seed, &sets);
    if (status) return status;
    for (size_t i = 0; i < n && !status; i += ROUND)
        status = time_some(sets, c + i, n - i < ROUND ? n - i : ROUND, &brief);
    if (!status) {
        qsort(c, n, sizeof *c, by_seconds);
        const size_t best = n < 4 ? n : 4;
        status = time_some(sets, c, best, &full);
        qsort(c, best, sizeof *c, by_seconds);
    }
    kh_sets_close(sets);
    return status;
}

static int tune_problem(tuner *t, const char *text)
{
    kiln_problem p;
    kiln_kernel_info info;
    const kiln_kernel *kernel[MAX_INSTANCES];
    contestant c[MAX_INSTANCES] = {{0}};
    size_t count = MAX_INSTANCES;
    char problem[512];
    const int code = kt_problem(text, &p);
    if (code) return code;
    kiln_status status = kiln_find_all(t->ctx, &p, kernel, &count);
    if (status && status != KILN_TRUNCATED) return kt_failed(status, text);
    if (count > MAX_INSTANCES) count = MAX_INSTANCES;
    for (size_t i = 0; i < count; i++) c[i].kernel = kernel[i];
    const size_t n = qualify(t, &p, c, count);
    if (!n) return kt_message("%s: no instance computes it", text), EXIT_FAILED;
    status = contest(t, &p, c, n);
    if (!status) status = kt_describe(c[0].kernel, &info);
    if (status) return kt_failed(status, text);
    kt_message("%s: %s, %.2f us, best of %zu", text, info.name, c[0].seconds * 1e6, n);
    put_quoted(t->out, kt_problem_text(&p, problem, sizeof problem));
    fprintf(t->out, ",%s,%.3f,%.3g\n", info.name, c[0].seconds * 1e6, c[0].error);
    t->written++;
    return 0;
}

/* Into a file beside, renamed when it is whole; a device or a pipe is written to, never replaced. */
static FILE *start(const char *output, char *beside, size_t size)
{
    struct stat st;
    *beside = 0;
    if (stat(output, &st) == 0 && !S_ISREG(st.st_mode)) return fopen(output, "w");
    const int length = snprintf(beside, size, "%s.new", output);
    if (length < (int)size) return fopen(beside, "w");
    errno = ENAMETOOLONG;
    return NULL;
}

static int finish(tuner *t, const char *beside)
{
    const int renames = t->o->output && *beside;
    int failed = ferror(t->out);
    failed |= (t->out == stdout ? fflush(t->out) : fclose(t->out)) != 0;
    if (!failed && renames && t->written) failed = rename(beside, t->o->output) != 0;
    if (failed)
        kt_message("%s: %s", t->o->output ? t->o->output : "standard output", strerror(errno));
    if (renames && (failed || !t->written)) unlink(beside);
    return failed ? EXIT_USAGE : 0;
}

int cmd_tune(const kt_options *o)
{
    tuner t = {.o = o, .seed = o->has_seed ? o->seed : kh_seed(), .out = stdout};
    char beside[4096] = "";
    int worst = kt_open(o, NULL, &t.ctx);
    if (worst) return worst;
    if (o->output) t.out = start(o->output, beside, sizeof beside);
    if (!t.out) {
        kt_message("%s: %s", o->output, strerror(errno));
        kiln_close(t.ctx);
        return EXIT_USAGE;
    }
    worst = write_validators(&t);
    for (int i = 0; i < o->arguments && !worst; i++) worst = tune_problem(&t, o->argument[i]);
    const int code = finish(&t, beside);
    kiln_close(t.ctx);
    return code ? code : worst;
}
