// SPDX-License-Identifier: MIT
// Tuning on first use (KILN_TUNE=first:2s): where no row of a tuning file covers a problem, its
// first kiln_find verifies and times the instances that the model puts near its best, for about as
// long as is given, and keeps the fastest right one, for this context and in the first file that
// KILN_TUNING names, as `kiln tune` keeps rows.
//   Operands are the tuner's own: kiln_find has none, and a caller's outputs are not to be written
// twenty times.  One problem is tuned at a time in a process, lest two measure each other; a find
// that comes meanwhile takes the model's choice and does not remember it.  Nothing is tuned while
// the context records a graph, or what would disturb another's capture is asked for (apart).
//   Without the variable kiln_ctx.first is NULL, and find does what it always does.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "driver.h"
#include "../tools/harness.h"
#include "../tools/tuning_rows.h"

enum { CONTENDERS = 256, FINAL = 4, PROBLEM_TEXT = 4096, SEED = 1 };
static const double usual_seconds = 2, most_seconds = 3600;
static const double likely = 3; /* times the least modelled cost: as `kiln tune --prune` */

static pthread_mutex_t tuning = PTHREAD_MUTEX_INITIALIZER;

typedef struct contender {
    const kiln_kernel *kernel;
    double seconds, error;
} contender;

typedef struct job {
    kiln_ctx *ctx;
    const kiln_problem *p;
    const kr_view *v;
    double start, seconds;
    contender c[CONTENDERS];
    /* legal; of those near the best; looked at; right; what stands in c, the fastest first */
    size_t listed, likely, tried, right, n;
} job;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- what is asked for ---- */

/* first, first:2s, first:0.5; whatever the locale's decimal point. */
static bool read_seconds(const char *s, double *out)
{
    double scale = 1;
    if (strncmp(s, "first", 5) != 0) return false;
    s += 5;
    *out = usual_seconds;
    if (!*s) return true;
    if (*s++ != ':' || *s < '0' || *s > '9') return false;
    for (*out = 0; *s >= '0' && *s <= '9' && *out <= most_seconds; s++)
        *out = 10 * *out + (*s - '0');
    if (*s == '.')
        for (s++; *s >= '0' && *s <= '9'; s++) *out += (scale /= 10) * (*s - '0');
    s += *s == 's';
    return !*s && *out > 0 && *out <= most_seconds;
}

/* A GPU, or the host: no simulator, by whatever name, and no device that is not here. */
static bool is_real(const kr_device *dev)
{
    if (strcmp(dev->info.vendor, "amd") != 0) return strcmp(dev->info.vendor, "none") != 0;
    if (strcmp(kr_driver_of(dev)->vendor, "sim") == 0) return false;
    void *dl = dlopen("libkilnsim.so", RTLD_LAZY | RTLD_NOLOAD);
    if (dl) dlclose(dl);
    return dl == NULL;
}

/* The first of the files that the configuration or KILN_TUNING names, from the root; NULL: none. */
static char *first_file(const kiln_config *config)
{
    const char *names = config && config->tuning ? config->tuning : getenv("KILN_TUNING");
    char *path = NULL, folder[PATH_MAX];
    while (names && *names == ':') names++;
    if (!names || !*names) return NULL;
    const int n = (int)strcspn(names, ":");
    if (*names == '/' || !getcwd(folder, sizeof folder)) return strndup(names, (size_t)n);
    return asprintf(&path, "%s/%.*s", folder, n, names) < 0 ? NULL : path;
}

void kr_first_open(kiln_ctx *ctx, const kiln_config *config)
{
    double seconds;
    const char *text = getenv("KILN_TUNE");
    if (!text || !*text) return;
    if (!read_seconds(text, &seconds)) {
        kr_refuse(ctx,
                  "KILN_TUNE=%.80s: nothing is tuned: say first, or first:2s for two seconds "
                  "(at most 3600) at each problem's first kiln_find",
                  text);
        return;
    }
    if (!is_real(ctx->device)) {
        kr_refuse(ctx,
                  "KILN_TUNE=%.80s: nothing is tuned: %s is no device whose time can be "
                  "measured",
                  text, ctx->device->info.name);
        return;
    }
    kr_first *f = calloc(1, sizeof *f);
    if (f) f->won = calloc(ctx->ngroups + 1, sizeof *f->won);
    if (!f || !f->won) {
        free(f);
        kr_refuse(ctx, "KILN_TUNE=%.80s: nothing is tuned: no memory", text);
        return;
    }
    f->seconds = seconds;
    f->file = first_file(config);
    ctx->first = f;
}

void kr_first_close(kiln_ctx *ctx)
{
    kr_first *f = ctx->first;
    if (!f) return;
    for (uint32_t i = 0; i < ctx->ngroups; i++)
        for (kr_won *w = atomic_load(&f->won[i]), *next; w; w = next) {
            next = w->next;
            free(w);
        }
    free(f->won);
    free(f->file);
    free(f);
}

/* ---- measuring ---- */

static double share_left(const job *j, double of)
{
    return j->start + of * j->seconds - now();
}

/* Those that the model puts near its best, its choice first. */
static void list(job *j)
{
    const kiln_kernel *kernel[CONTENDERS];
    size_t count = CONTENDERS;
    double least = INFINITY;
    const kiln_status status = kiln_find_all(j->ctx, j->p, kernel, &count);
    if (status && status != KILN_TRUNCATED) return;
    j->listed = count;
    if (count > CONTENDERS) count = CONTENDERS;
    for (size_t i = 0; i < count; i++) least = fmin(least, kr_cost(kernel[i], &j->v->shape));
    for (size_t i = 0; i < count; i++)
        if (i == 0 || kr_cost(kernel[i], &j->v->shape) <= likely * least)
            j->c[j->likely++].kernel = kernel[i];
}

static bool is_right(kh_case *verified, contender *c)
{
    kh_result r;
    const kiln_status status = kh_case_run(verified, c->kernel, &r);
    if (status || !r.ok)
        kr_log("tuning: %s is left out: %s", kr_kernel_name(c->kernel),
               status ? kiln_error() : r.text);
    c->error = r.max_error;
    return !status && r.ok;
}

/* Times some of them side by side; those that fail are dropped. */
static size_t time_some(kh_sets *sets, contender *c, size_t n, const kh_protocol *protocol)
{
    kh_runner runner[FINAL];
    size_t kept = 0, opened = 0;
    for (size_t i = 0; i < n; i++) {
        if (kh_runner_open(sets, c[i].kernel, &runner[opened]))
            kh_runner_close(&runner[opened]);
        else
            c[opened++] = c[i];
    }
    kh_time(runner, opened, protocol);
    for (size_t i = 0; i < opened; i++) {
        c[i].seconds = runner[i].seconds;
        if (!runner[i].status) c[kept++] = c[i];
        kh_runner_close(&runner[i]);
    }
    return kept;
}

static int by_seconds(const void *x, const void *y)
{
    const contender *a = x, *b = y;
    return (a->seconds > b->seconds) - (a->seconds < b->seconds);
}

/* Each in turn is verified and looked at briefly, the model's choice whatever it takes; then the
 * best have what is left of the time. */
static void measure(job *j, kh_case *verified, kh_sets *sets)
{
    kh_protocol brief = {.seconds = 0.01, .idle = -1, .replay = 0.002, .hopeless = 3};
    for (size_t i = 0; i < j->likely && (i == 0 || share_left(j, 0.7) > 0); i++) {
        contender c = j->c[i];
        j->tried++;
        if (!is_right(verified, &c)) continue;
        j->right++;
        if (!time_some(sets, &c, 1, &brief)) continue;
        j->c[j->n++] = c;
        if (brief.best <= 0 || c.seconds < brief.best) brief.best = c.seconds;
    }
    qsort(j->c, j->n, sizeof *j->c, by_seconds);
    const size_t some = j->n < FINAL ? j->n : FINAL;
    const double left = some ? share_left(j, 1) / (double)some : 0;
    if (some < 2 || left <= 0) return;
    const kh_protocol full = {.seconds = left, .idle = 0.002};
    const size_t stay = time_some(sets, j->c, some, &full);
    if (stay) j->n = stay;
    qsort(j->c, j->n, sizeof *j->c, by_seconds);
}

static void run(job *j)
{
    const double budget = j->seconds * 0x1p24;
    const kh_options options = {.seed = SEED, .budget = fmin(budget, 0x1p25)};
    kh_case *verified = NULL;
    kh_sets *sets = NULL;
    list(j);
    kiln_status status = kh_case_open(j->ctx, j->p, &options, &verified);
    if (!status) status = kh_sets_open(j->ctx, j->p, SEED, &sets);
    if (!status)
        measure(j, verified, sets);
    else
        kr_log("tuning: %s: no operands to tune it with: %s", j->p->op, kiln_error());
    kh_sets_close(sets);
    if (verified) kh_case_close(verified);
}

/* ---- keeping ---- */

static void keep(kiln_ctx *ctx, const kr_group *g, const kr_view *v, const kiln_kernel *k)
{
    _Atomic(kr_won *) *list_of = &ctx->first->won[g - ctx->group];
    kr_won *w = calloc(1, sizeof *w);
    if (!w) return; /* it is tuned again, then */
    w->row.shape_id = kr_shape_id(&v->shape);
    w->row.kernel = (uint32_t)(k - ctx->kernel);
    w->row.group = (uint32_t)(g - ctx->group);
    for (int i = 0; i <= KILN_MAX_SIZES; i++) w->row.size[i] = (int32_t)v->shape.size[i];
    w->next = atomic_load_explicit(list_of, memory_order_relaxed);
    atomic_store_explicit(list_of, w, memory_order_release);
}

static void write_row(const kiln_ctx *ctx, const kiln_problem *p, const contender *c)
{
    char text[PROBLEM_TEXT];
    size_t len = sizeof text;
    const kt_row row = {kr_kernel_name(c->kernel), c->seconds * 1e6, c->error,
                        kr_content(c->kernel)};
    kt_rows *rows = ctx->first->file ? calloc(1, sizeof *rows) : NULL;
    if (!rows || kiln_problem_format(p, text, &len)) {
        free(rows);
        return;
    }
    rows->name = ctx->first->file;
    if (kt_rows_head(rows, &ctx->device->info) || kt_rows_at(rows, rows->name) ||
        kt_rows_add(rows, text, &row))
        kr_log("tuning: a row is not kept: %s", rows->why);
    free(rows);
}

static void tune(kiln_ctx *ctx, const kiln_problem *p, const kr_group *g, const kr_view *v,
                 const kiln_kernel *model)
{
    job *j = calloc(1, sizeof *j);
    if (!j) return;
    *j = (job){.ctx = ctx, .p = p, .v = v, .start = now(), .seconds = ctx->first->seconds};
    run(j);
    /* What could not be tuned keeps the model's choice, and is not tried at each find. */
    keep(ctx, g, v, j->n ? j->c[0].kernel : model);
    if (j->n) {
        write_row(ctx, p, &j->c[0]);
        kr_log("tuned %s in %.2f s: %s, %.2f us, best of %zu (%zu legal, %zu modelled too slow, "
               "%zu out of time, %zu wrong)",
               p->op, now() - j->start, kr_kernel_name(j->c[0].kernel), j->c[0].seconds * 1e6,
               j->right, j->listed, j->listed - j->likely, j->likely - j->tried,
               j->tried - j->right);
    }
    free(j);
}

const kiln_kernel *kr_first_find(kiln_ctx *ctx, const kiln_problem *p, const kr_group *g,
                                 const kr_view *v, const kiln_kernel *model, kr_how *how)
{
    const kr_device_ops *ops = ctx->device->ops;
    bool exact = false;
    int mode = 0;
    if (kr_nothing_to_do(kr_family(model->module, model->op), &v->shape)) return model;
    if (atomic_load_explicit(&ctx->recording, memory_order_relaxed) > 0) return NULL;
    if (pthread_mutex_trylock(&tuning)) return NULL;
    const kiln_kernel *k = kr_won_find(ctx, g, v, &exact); /* another thread's, just now */
    if (!k && (!ops->apart || ops->apart(ctx->device, &mode))) {
        tune(ctx, p, g, v, model);
        if (ops->rejoin) ops->rejoin(ctx->device, mode);
        k = kr_won_find(ctx, g, v, &exact);
    }
    pthread_mutex_unlock(&tuning);
    if (k) *how = exact ? KR_BY_TUNED : KR_BY_NEAREST;
    return k;
}
