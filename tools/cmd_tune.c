// SPDX-License-Identifier: MIT
// kiln tune: times legal instances of problems on the device, by the protocol of bench, and adds a
// row for each problem to the tuning file that KILN_TUNING names, as soon as it is known. Instances
// that the model puts far behind its best are not timed, and none is before its results are right:
// a fast wrong one never wins.
#include "command.h"
#include "contest.h"
#include "simulator.h"
#include "tuning_file.h"
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

typedef struct tuner {
    const kt_options *o;
    kiln_ctx *ctx;
    uint64_t seed;
    kt_tuning *file;
    size_t count, done, tuned, failed, there; /* of the problems; there: left out by --resume */
    double start;
    int unwritten; /* exit code of a row that could not be written */
} tuner;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- which instances ---- */

/* Modelled microseconds by instance, an object; NULL: not known. */
static json_t *modelled(kiln_ctx *ctx, const kiln_problem *p)
{
    size_t len = 0, i;
    json_t *candidate, *costs = NULL;
    if (kiln_explain_json(ctx, p, NULL, &len) && !len) return NULL;
    char *text = malloc(len + 1);
    if (!text || kiln_explain_json(ctx, p, text, &len)) goto out;
    json_t *root = json_loads(text, 0, NULL);
    costs = root ? json_object() : NULL;
    json_array_foreach(json_object_get(root, "candidates"), i, candidate)
    {
        json_t *cost = json_object_get(candidate, "cost_us");
        if (json_is_number(cost))
            json_object_set(costs, json_string_value(json_object_get(candidate, "instance")), cost);
    }
    json_decref(root);
out:
    free(text);
    return costs;
}

/* Leaves out what is modelled above so many times the least; how many stay. */
static size_t prune(const tuner *t, const kiln_problem *p, kt_contestant *c, size_t n)
{
    const double times = t->o->has_prune ? t->o->prune : 3;
    json_t *costs = times > 0 ? modelled(t->ctx, p) : NULL;
    double least = INFINITY, *cost = calloc(n + 1, sizeof *cost);
    size_t kept = 0;
    if (!costs || !cost) {
        json_decref(costs);
        free(cost);
        return n;
    }
    for (size_t i = 0; i < n; i++) {
        kiln_kernel_info info;
        json_t *of = kt_describe(c[i].kernel, &info) ? NULL : json_object_get(costs, info.name);
        cost[i] = of ? json_number_value(of) : INFINITY;
        if (cost[i] < least) least = cost[i];
    }
    for (size_t i = 0; i < n; i++)
        if (cost[i] <= times * least) c[kept++] = c[i];
    json_decref(costs);
    free(cost);
    return kept;
}

/* Leaves out those that compute wrongly, and names them; how many stay. */
static size_t verify(const tuner *t, const kiln_problem *p, kt_contestant *c, size_t n)
{
    const kh_options options = {.seed = t->seed};
    kh_case *verified;
    kh_result result;
    size_t kept = 0;
    if (kh_case_open(t->ctx, p, &options, &verified)) return 0;
    for (size_t i = 0; i < n; i++) {
        kiln_kernel_info info;
        const kiln_status status = kh_case_run(verified, c[i].kernel, &result);
        if (!status && result.ok) {
            c[kept] = c[i];
            c[kept++].error = result.max_error;
        } else if (!kt_describe(c[i].kernel, &info)) {
            kt_message("%s is left out: %s", info.name, status ? kiln_error() : result.text);
        }
    }
    kh_case_close(verified);
    return kept;
}

/* ---- a problem ---- */

/* ", about 4 min left" */
static const char *left(const tuner *t, char *text, size_t size)
{
    const size_t measured = t->tuned + t->failed, rest = t->count - t->done;
    const double seconds = (now() - t->start) / (double)measured * (double)rest;
    if (!rest)
        *text = 0;
    else if (seconds < 90)
        snprintf(text, size, ", about %.0f s left", ceil(seconds));
    else if (seconds < 5400)
        snprintf(text, size, ", about %.0f min left", ceil(seconds / 60));
    else
        snprintf(text, size, ", about %.1f h left", seconds / 3600);
    return text;
}

static int tune_problem(tuner *t, const char *text, const kiln_problem *p, kt_contestant *c)
{
    const kh_protocol protocol = {.seconds = t->o->seconds, .idle = t->o->idle};
    kiln_kernel_info info;
    kh_sets *sets;
    char rest[64];
    const size_t legal = kt_contestants(t->ctx, p, c);
    if (!legal) return kt_failed(KILN_NOT_SUPPORTED, text);
    const size_t likely = prune(t, p, c, legal), right = verify(t, p, c, likely);
    if (!right) return kt_message("%s: no instance computes it", text), EXIT_FAILED;
    kiln_status status = kh_sets_open(t->ctx, p, t->seed, &sets);
    if (status) return kt_failed(status, text);
    const size_t n = kt_contest(sets, c, right, &protocol);
    kh_sets_close(sets);
    if (!n) return kt_message("%s: no instance runs", text), EXIT_FAILED;
    status = kt_describe(c[0].kernel, &info);
    if (status) return kt_failed(status, text);
    t->tuned++;
    t->done++;
    kt_message(
        "[%zu/%zu] %s: %s, %.2f us, best of %zu (%zu legal, %zu modelled too slow, %zu wrong)%s",
        t->done, t->count, text, info.name, c[0].seconds * 1e6, n, legal, legal - likely,
        likely - right, left(t, rest, sizeof rest));
    const kt_row row = {info.name, c[0].seconds * 1e6, c[0].error, info.content};
    t->unwritten = kt_tuning_add(t->file, p, &row);
    return t->unwritten;
}

static int tune_next(tuner *t, const char *text, kt_contestant *c)
{
    kiln_problem p;
    int code = kt_problem(text, &p);
    if (!code && t->o->resume && kt_tuning_has(t->file, t->ctx, &p)) {
        t->there++;
        t->done++;
        return 0;
    }
    if (!code) code = tune_problem(t, text, &p, c);
    if (code && !t->unwritten) t->failed++, t->done++;
    return code;
}

/* ---- all of them ---- */

static int by_text(const void *x, const void *y)
{
    const kt_item *const *a = x, *const *b = y;
    const int order = strcmp((*a)->text, (*b)->text);
    return order ? order : (*a > *b) - (*a < *b);
}

/* A problem that is there twice is tuned once: its first stays. */
static int drop_repeated(kt_problems *list)
{
    const kt_item **sorted = malloc((list->count + 1) * sizeof *sorted);
    size_t kept = 0;
    if (!sorted) return kt_failed(KILN_NO_MEMORY, "tune");
    for (size_t i = 0; i < list->count; i++) sorted[i] = &list->item[i];
    qsort(sorted, list->count, sizeof *sorted, by_text);
    for (size_t i = list->count; i-- > 1;)
        if (!strcmp(sorted[i]->text, sorted[i - 1]->text))
            list->item[sorted[i] - list->item].text = NULL;
    for (size_t i = 0; i < list->count; i++)
        if (list->item[i].text) list->item[kept++] = list->item[i];
    list->count = kept;
    free(sorted);
    return 0;
}

/* Every n-th problem from the i-th on. */
static int take_shard(const char *shard, kt_problems *list)
{
    unsigned i, n;
    size_t kept = 0;
    int end = 0;
    if (!shard) return 0;
    if (sscanf(shard, "%5u/%5u%n", &i, &n, &end) != 2 || shard[end] || !i || i > n)
        return kt_message("--shard takes I/N, from 1/N to N/N, and not '%s'", shard), EXIT_USAGE;
    for (size_t k = i - 1; k < list->count; k += n) list->item[kept++] = list->item[k];
    list->count = kept;
    return 0;
}

static int tune_all(tuner *t)
{
    kt_problems list;
    kt_contestant *c = calloc(KT_CONTESTANTS, sizeof *c);
    int worst = kt_problems_open(t->o, NULL, 0, &list);
    if (!worst && !c) worst = kt_failed(KILN_NO_MEMORY, "tune");
    if (!worst && !list.count) worst = (kt_message("tune: PROBLEM... is missing"), EXIT_USAGE);
    if (!worst) worst = drop_repeated(&list);
    if (!worst) worst = take_shard(t->o->shard, &list);
    if (!worst && !t->o->dry_run) worst = kt_tuning_open(t->o, t->ctx, &t->file);
    t->count = worst ? 0 : list.count;
    t->start = now();
    for (size_t i = 0; i < t->count && !t->unwritten; i++) { /* one that fails leaves the others */
        const int code =
            t->o->dry_run ? puts(list.item[i].text) < 0 : tune_next(t, list.item[i].text, c);
        if (code > worst) worst = code;
    }
    if (t->count > 1 && !t->o->dry_run)
        kt_message("%zu problems tuned, %zu failed, %zu were there", t->tuned, t->failed, t->there);
    kt_tuning_close(t->file);
    kt_problems_close(&list);
    free(c);
    return worst;
}

/* What the file had that is void now, once more where the rows are summed up. */
static void put_void(kiln_ctx *ctx, const char *file)
{
    const char *why;
    for (size_t i = 0; file && (why = kiln_refused_at(ctx, i)); i++)
        if (!strncmp(why, file, strlen(file)) && strstr(why, " rows dropped "))
            kt_message("before this run: %s", why);
}

static int is_plain(const char *path)
{
    struct stat st;
    return !stat(path, &st) && S_ISREG(st.st_mode) && st.st_size;
}

int cmd_tune(const kt_options *o)
{
    tuner t = {.o = o, .seed = o->has_seed ? o->seed : kh_seed()};
    if (o->merge) return kt_tuning_merge(o);
    kt_options own = *o; /* the file's rows, of which some may be void */
    own.tuning = o->output && !o->replace && is_plain(o->output) ? o->output : "";
    int worst = o->dry_run ? kt_open(&own, NULL, &t.ctx) : kt_open_here(&own, &t.ctx);
    if (worst) return worst;
    if (kt_simulated(t.ctx) && !o->dry_run) {
        kt_message("tune measures devices, and the time that a simulator takes is none of theirs; "
                   "`kiln bench --all` lists the instances by their modelled time");
        worst = EXIT_USAGE;
    } else {
        worst = tune_all(&t);
        put_void(t.ctx, o->output);
    }
    kiln_close(t.ctx);
    return worst;
}
