// SPDX-License-Identifier: MIT
// launch_bench [PROBLEM [INSTANCE]]: CPU cost of kiln_launch on a GPU beside the driver's own
// launch of the same kernel with the same parameters and attributes: rounds of launches that fit
// the driver's queue, in turn, medians.  The driver's launch is replaced for that: in a round of
// the driver's it is called again and again from inside one kiln_launch, in a round of Kiln's own
// share not at all.  Exit 77 where there is no GPU.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "driver.h"

enum { ROUNDS = 31, LAUNCHES = 400, THREADS = 4, ADDRESSES = 8, STEP = 4096, SIZES = 512 };

typedef enum mode { WHOLE, DRIVER, OWN, MODES } mode;
typedef enum variant { SAME, OTHER_ADDRESSES, OTHER_ROWS, VARIANTS } variant;
static const char *const variant_name[] = {"same arguments", "other addresses each time",
                                           "another M each time"};

static const kr_driver *real;
static kr_driver hooked;
static mode now_in;
static _Thread_local double driver_seconds;

static kiln_ctx *ctx;
static const kiln_kernel *kernel;
static kiln_problem problem;
static kiln_args args;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static double median(double *v)
{
    qsort(v, ROUNDS, sizeof *v, ascending);
    return v[ROUNDS / 2];
}

static int fail(const char *what)
{
    fprintf(stderr, "launch_bench: %s: %s\n", what, kiln_error());
    return 1;
}

/* ---- in the driver's place ---- */

static int launch_hook(void *f, u32 gx, u32 gy, u32 gz, u32 bx, u32 by, u32 bz, u32 lds,
                       void *stream, void **params, void **extra)
{
    int code = 0;
    const double start = now();
    for (int i = 0; i < LAUNCHES && now_in == DRIVER && code == 0; i++)
        code = real->launch(f, gx, gy, gz, bx, by, bz, lds, stream, params, extra);
    driver_seconds += now() - start;
    return code;
}

static int launch_ex_hook(const void *config, void *f, void **params, void **extra)
{
    int code = 0;
    const double start = now();
    for (int i = 0; i < LAUNCHES && now_in == DRIVER && code == 0; i++)
        code = real->launch_ex(config, f, params, extra);
    driver_seconds += now() - start;
    return code;
}

/* ---- rounds ---- */

/* One round on this thread; seconds a launch, negative: failed. */
static double round_of(variant v, void *stream)
{
    kiln_problem p = problem;
    kiln_args a = args;
    driver_seconds = 0;
    const double start = now();
    for (int i = 0; i < (now_in == DRIVER ? 1 : LAUNCHES); i++) {
        if (v == OTHER_ADDRESSES) {
            const size_t shift = (size_t)(i % ADDRESSES) * STEP;
            a.a = (const char *)args.a + shift;
            a.b[0] = (const char *)args.b[0] + shift;
            a.e = (char *)args.e + shift;
        }
        if (v == OTHER_ROWS) p.m = problem.m - 8 * (i % SIZES);
        if (kiln_launch(ctx, kernel, &p, &a, stream)) return -1;
    }
    return (now_in == DRIVER ? driver_seconds : now() - start) / (int)LAUNCHES;
}

typedef struct worker {
    pthread_t id;
    void *stream;
    variant v;
    double seconds;
    pthread_barrier_t *start;
} worker;

static void *work(void *arg)
{
    worker *w = arg;
    real->context_push ? real->context_push(ctx->device->context) : 0;
    pthread_barrier_wait(w->start);
    w->seconds = round_of(w->v, w->stream);
    return NULL;
}

/* Mean over `count` threads, each with a stream of its own; 1: on this thread. */
static double round_of_threads(variant v, int count, void *const stream[THREADS])
{
    worker w[THREADS];
    pthread_barrier_t start;
    double sum = 0;
    if (count == 1) return round_of(v, stream[0]);
    pthread_barrier_init(&start, NULL, (unsigned)count);
    for (int i = 0; i < count; i++) {
        w[i] = (worker){.stream = stream[i], .v = v, .start = &start};
        if (pthread_create(&w[i].id, NULL, work, &w[i])) exit(fail("a thread"));
    }
    for (int i = 0; i < count; i++) {
        pthread_join(w[i].id, NULL);
        sum = w[i].seconds < 0 || sum < 0 ? -1 : sum + w[i].seconds;
    }
    pthread_barrier_destroy(&start);
    return sum / count;
}

static int measure(variant v, int threads, void *const stream[THREADS])
{
    double seconds[MODES][ROUNDS], us[MODES];
    for (int r = 0; r < ROUNDS; r++)
        for (int m = 0; m < MODES; m++) {
            now_in = (mode)m;
            ctx->device->driver = now_in == WHOLE ? real : &hooked;
            seconds[m][r] = round_of_threads(v, threads, stream);
            if (seconds[m][r] < 0) return fail("launch");
            for (int i = 0; i < threads; i++)
                if (kiln_synchronize(ctx, stream[i])) return fail("synchronize");
        }
    for (int m = 0; m < MODES; m++) us[m] = median(seconds[m]) * 1e6;
    printf("%d thread%-2s %-26s kiln_launch %6.3f us   driver %6.3f us   beyond the driver %6.3f us"
           "   without the driver's launch %6.3f us\n",
           threads, threads > 1 ? "s" : "", variant_name[v], us[WHOLE], us[DRIVER],
           us[WHOLE] - us[DRIVER], us[OWN]);
    return 0;
}

/* ---- what is launched ---- */

static int choose(const char *instance)
{
    const kiln_kernel *all[256];
    size_t count = sizeof all / sizeof *all;
    const kiln_status status = kiln_find_all(ctx, &problem, all, &count);
    if (status != KILN_OK && status != KILN_TRUNCATED) return fail("find");
    if (count > sizeof all / sizeof *all) count = sizeof all / sizeof *all;
    for (size_t i = 0; i < count && !kernel; i++)
        if (instance ? strstr(kr_kernel_name(all[i]), instance) != NULL : !all[i]->row->symbol[1])
            kernel = all[i];
    return kernel ? 0 : fail("no such instance");
}

static int give_memory(int64_t bytes, const void **p)
{
    void *m;
    if (kiln_malloc(ctx, (size_t)bytes + ADDRESSES * STEP, &m)) return fail("memory");
    *p = m;
    return 0;
}

static int make_arguments(void)
{
    uint64_t hash;
    kr_signature sig;
    kr_view v;
    const void *workspace;
    const kiln_op_row *op = kernel->op;
    if (kr_op_name(&problem, &hash) || kr_sign(&problem, kernel->module, op, hash, &sig) ||
        kr_view_make(&problem, &sig, kernel->module, op, ctx->device, &v))
        return fail("the problem");
    const size_t size = kiln_workspace_size(kernel, &problem);
    args = (kiln_args){.struct_size = sizeof args, .workspace_size = size};
    int bad = size == SIZE_MAX || give_memory((int64_t)size, &workspace);
    for (int i = 0; i < op->ntensors && !bad; i++) {
        const void *memory;
        bad = give_memory(v.t[i].bytes, &memory);
        args.tensor[op->tensor[i].arg] = (void *)(uintptr_t)memory;
    }
    if (bad) return fail("arguments");
    args.workspace = (void *)(uintptr_t)workspace;
    return 0;
}

int main(int argc, char **argv)
{
    const char *text = argc > 1 ? argv[1] : "gemm f32,f32,f32 rcr m=1 n=1 k=1";
    void *stream[THREADS];
    if (kiln_open(&ctx, NULL)) return fail("open");
    if (strcmp(ctx->device->info.vendor, "host") == 0) {
        fprintf(stderr, "launch_bench: no GPU here\n");
        return 77;
    }
    if (kiln_problem_parse(text, &problem)) return fail("the problem");
    if (choose(argc > 2 ? argv[2] : NULL) || make_arguments()) return 1;
    for (int i = 0; i < THREADS; i++)
        if (kiln_stream_create(ctx, &stream[i])) return fail("a stream");
    real = kr_driver_of(ctx->device);
    hooked = *real;
    hooked.launch = launch_hook;
    if (real->launch_ex) hooked.launch_ex = launch_ex_hook;
    /* The context is current on a thread of a framework's, too. */
    if (real->context_push && real->context_push(ctx->device->context)) return fail("the context");
    if (kiln_launch(ctx, kernel, &problem, &args, stream[0]) || kiln_synchronize(ctx, stream[0]))
        return fail("launch");
    printf("%s, %s, %d tensor maps\n", ctx->device->info.name, kr_kernel_name(kernel),
           kernel->row->maps);
    int bad = measure(SAME, 1, stream);
    if (kernel->row->maps) bad = bad || measure(OTHER_ADDRESSES, 1, stream);
    if (problem.m > 8 * SIZES) bad = bad || measure(OTHER_ROWS, 1, stream);
    bad = bad || measure(SAME, THREADS, stream);
    if (kernel->row->maps) bad = bad || measure(OTHER_ADDRESSES, THREADS, stream);
    ctx->device->driver = real;
    kiln_close(ctx);
    return bad;
}
