// SPDX-License-Identifier: MIT
// kiln tune: times every legal instance of problems on the device, by the protocol of bench, and
// writes the tuning file that KILN_TUNING names: validator lines, then `problem,instance,µs,error`.
// An instance that computes wrongly is left out: the fastest ones are verified until one is right.
#include "command.h"
#include "contest.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct tuner {
    const kt_options *o;
    kiln_ctx *ctx;
    uint64_t seed;
    FILE *out;
    size_t written;
} tuner;

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
    char problem[512];
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
    put_quoted(t->out, kt_problem_text(&p, problem, sizeof problem));
    fprintf(t->out, ",%s,%.3f,%.3g\n", info.name, c[best].seconds * 1e6, error);
    t->written++;
    return 0;
}

static int tune_all(tuner *t)
{
    kt_problems list;
    kt_contestant *c = calloc(KT_CONTESTANTS, sizeof *c);
    int worst = kt_problems_open(t->o, NULL, 0, &list);
    if (!worst && !c) worst = kt_failed(KILN_NO_MEMORY, "tune");
    if (!worst && !list.count) worst = (kt_message("tune: PROBLEM... is missing"), EXIT_USAGE);
    if (!worst) worst = write_validators(t);
    for (size_t i = 0; i < list.count && !worst; i++) worst = tune_problem(t, list.item[i].text, c);
    kt_problems_close(&list);
    free(c);
    return worst;
}

/* Into a file beside, renamed when it is whole; a device or a pipe is written to, never replaced.
 */
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
    worst = tune_all(&t);
    const int code = finish(&t, beside);
    kiln_close(t.ctx);
    return code ? code : worst;
}
