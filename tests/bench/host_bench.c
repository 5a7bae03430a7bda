// SPDX-License-Identifier: MIT
// Times host kernels through the public API: beside OpenBLAS's sgemm (bound at run time, one
// thread), with two threads beside one, and few rows beside what bounds them: reading B once, or
// their products at the rate of a large problem, whichever takes longer.  What is compared takes
// turns; times are medians (of one thread and two: the least), and B of few rows walks over more
// memory than caches hold.  Arguments: only lines that contain one of them; or `drawn SEED`, thirty
// problems beside their modelled cost.  Exit status 1 if a figure misses its goal.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>
#include "bench.h"

enum { ROW_MAJOR = 101, NO_TRANS = 111, TRANS = 112 }; /* of CBLAS */
typedef void (*sgemm_fn)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                         const float *a, int lda, const float *b, int ldb, float beta, float *c,
                         int ldc);

typedef struct problem_row {
    const char *text;
    double blas;  /* least share of sgemm's rate */
    double scale; /* least gain of the second thread; 0: not measured */
} problem_row;

static const problem_row products[] = {
    {"gemm f32,f32,f32 rrr m=1024 n=1024 k=1024", 0.75, 1.7},
    {"gemm f32,f32,f32 rcr m=1024 n=1024 k=1024", 0.75, 0},
    {"gemm f32,f32,f32 rrr m=4096 n=1024 k=1024", 0.75, 1.7},
    {"gemm f32,f32,f32 rcr m=4096 n=1024 k=1024", 0.75, 0},
    {"gemm bf16,bf16,bf16 rcr m=1024 n=1024 k=1024", 0.6, 1.7},
    {"gemm bf16,bf16,bf16 rcr m=4096 n=1024 k=1024", 0.6, 0},
    {"gemm f16,f16,f16 rcr m=1024 n=1024 k=1024", 0.6, 0},
    {"gemm f16,f16,f16 rcr m=4096 n=1024 k=1024", 0.6, 1.7},
    {"gemm i8,i8,i32 rcr m=1024 n=1024 k=1024", 1.0, 0},
    {"gemm i8,i8,i32 rcr m=4096 n=1024 k=1024", 1.0, 1.7},
    {"gemm f8e4m3,f8e4m3,bf16 rcr m=1024 n=1024 k=1024", 0.6, 0},
    {"swiglu bf16,bf16,bf16 rcr m=512 n=1024 k=1024", 0.6, 0},
};

/* Few rows: most time over the larger bound. */
typedef struct problem_few {
    const char *text;
    double most;
} problem_few;

static const problem_few few[] = {
    {"gemm f32,f32,f32 rrr m=1 n=4096 k=4096", 1.3},
    {"gemm f32,f32,f32 rcr m=1 n=4096 k=4096", 1.3},
    {"gemm bf16,bf16,bf16 rrr m=1 n=4096 k=4096", 1.3},
    {"gemm bf16,bf16,bf16 rcr m=1 n=4096 k=4096", 1.3},
    {"gemm f16,f16,f16 rcr m=1 n=11008 k=4096", 1.3},
    {"gemm bf16,bf16,bf16 rcr m=1 n=11008 k=4096", 1.3},
    {"gemm i8,i8,i32 rrr m=1 n=4096 k=4096", 1.3},
    {"gemm i8,i8,i32 rcr m=1 n=11008 k=4096", 1.3},
    {"gemm f8e4m3,f8e4m3,bf16 rcr m=1 n=4096 k=4096", 1.5},
    {"gemm f8e4m3,f8e4m3,bf16 rrr m=1 n=4096 k=4096", 1.5},
    {"gemm f8e5m2,f8e5m2,f16 rcr m=1 n=4096 k=4096", 1.5},
    {"a16w8_linear bf16,i8,bf16 rcr m=1 n=4096 k=4096", 1.5},
    {"a16w8_linear bf16,i8,bf16 rrr m=1 n=4096 k=4096", 1.5},
    {"swiglu bf16,bf16,bf16 rcr m=1 n=2048 k=4096", 1.3},
    {"gemm f32,f32,f32 rrr m=2 n=4096 k=4096", 1.3},
    {"gemm f32,f32,f32 rrr m=4 n=4096 k=4096", 1.3},
    {"gemm f32,f32,f32 rrr m=8 n=4096 k=4096", 1.3},
    {"gemm f32,f32,f32 rrr m=16 n=4096 k=4096", 1.5},
    {"gemm f32,f32,f32 rcr m=2 n=4096 k=4096", 1.3},
    {"gemm f32,f32,f32 rcr m=4 n=4096 k=4096", 1.3},
    {"gemm f32,f32,f32 rcr m=8 n=4096 k=4096", 1.3},
    {"gemm f32,f32,f32 rcr m=16 n=4096 k=4096", 1.5},
    {"gemm bf16,bf16,bf16 rrr m=2 n=4096 k=4096", 1.3},
    {"gemm bf16,bf16,bf16 rrr m=4 n=4096 k=4096", 1.3},
    {"gemm bf16,bf16,bf16 rrr m=8 n=4096 k=4096", 1.5},
    {"gemm bf16,bf16,bf16 rrr m=16 n=4096 k=4096", 1.5},
    {"gemm bf16,bf16,bf16 rcr m=2 n=4096 k=4096", 1.3},
    {"gemm bf16,bf16,bf16 rcr m=4 n=4096 k=4096", 1.3},
    {"gemm bf16,bf16,bf16 rcr m=8 n=4096 k=4096", 1.5},
    {"gemm bf16,bf16,bf16 rcr m=16 n=4096 k=4096", 1.5},
    {"gemm f16,f16,f16 rcr m=4 n=4096 k=4096", 1.3},
    {"gemm i8,i8,i32 rrr m=4 n=4096 k=4096", 1.3},
    {"gemm i8,i8,i32 rrr m=16 n=4096 k=4096", 1.5},
    {"gemm i8,i8,i32 rcr m=4 n=4096 k=4096", 1.3},
    {"gemm i8,i8,i32 rcr m=16 n=4096 k=4096", 1.5},
    {"gemm f8e4m3,f8e4m3,bf16 rcr m=2 n=4096 k=4096", 1.5},
    {"gemm f8e4m3,f8e4m3,bf16 rcr m=4 n=4096 k=4096", 1.5},
    {"gemm f8e4m3,f8e4m3,bf16 rcr m=16 n=4096 k=4096", 1.5},
    {"gemm f8e4m3,f8e4m3,bf16 rrr m=4 n=4096 k=4096", 1.5},
    {"a16w8_linear bf16,i8,bf16 rcr m=4 n=4096 k=4096", 1.5},
    {"swiglu bf16,bf16,bf16 rcr m=4 n=2048 k=4096", 1.3},
    {"swiglu bf16,bf16,bf16 rcr m=16 n=2048 k=4096", 1.5},
    {"gemm bf16,bf16,bf16 rcr m=5 n=4001 k=4093", 1.5},
    {"gemm bf16,bf16,bf16 rrr m=7 n=4001 k=4093", 1.5},
};

enum { COLD = 256 << 20 }; /* bytes that no cache holds */

/* A problem with memory of its own, on one context. */
typedef struct job {
    kiln_ctx *ctx;
    const kiln_kernel *kernel;
    kiln_problem problem;
    kiln_args args;
    size_t b_bytes, b_pitch, copies; /* B is copied, so that each launch can read another */
    char *b;
} job;

static void job_open(job *j, kiln_ctx *ctx, const char *text, size_t cold)
{
    memset(j, 0, sizeof *j);
    j->ctx = ctx;
    need(kiln_problem_parse(text, &j->problem));
    need(kiln_find(ctx, &j->problem, &j->kernel));
    const kiln_problem *p = &j->problem;
    j->b_bytes = (size_t)(p->k * p->n) * kiln_dtype_size(p->b.dtype);
    j->b_pitch = (j->b_bytes + 63) / 64 * 64;
    j->copies = 1 + cold / j->b_pitch;
    j->b = filled(j->b_pitch * j->copies, p->b.dtype);
    j->args = (kiln_args){.struct_size = sizeof j->args};
    j->args.a = filled((size_t)(p->m * p->k) * kiln_dtype_size(p->a.dtype), p->a.dtype);
    for (int i = 0; i < KILN_MAX_D; i++)
        j->args.d[i] =
            filled((size_t)(p->m + p->n) * 4, KILN_F32); /* one number per row or column */
    j->args.e = filled((size_t)(p->m * p->n) * kiln_dtype_size(p->e.dtype), KILN_DTYPE_NONE);
    j->args.workspace_size = kiln_workspace_size(j->kernel, p);
    j->args.workspace = filled(j->args.workspace_size + 1, KILN_DTYPE_NONE);
}

static void job_close(job *j)
{
    free(j->b);
    free((void *)(uintptr_t)j->args.a);
    for (int i = 0; i < KILN_MAX_D; i++) free((void *)(uintptr_t)j->args.d[i]);
    free(j->args.e);
    free(j->args.workspace);
}

static double job_time(job *j, size_t turn)
{
    for (size_t i = 0; i < KILN_MAX_B; i++)
        j->args.b[i] = j->b + (turn + i) % j->copies * j->b_pitch;
    const double start = now();
    need(kiln_launch(j->ctx, j->kernel, &j->problem, &j->args, NULL));
    return now() - start;
}

static double median(double *t)
{
    qsort(t, REPEATS, sizeof *t, ascending);
    return t[REPEATS / 2];
}

static sgemm_fn load_sgemm(void)
{
    static const char *const names[] = {"libopenblas.so.0", "libopenblas.so"};
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    for (size_t i = 0; i < COUNT(names); i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL),
             *symbol = library ? dlsym(library, "cblas_sgemm") : NULL;
        sgemm_fn fn;
        memcpy(&fn, &symbol, sizeof fn);
        if (symbol) return fn;
    }
    return NULL;
}

static double sgemm_time(sgemm_fn sgemm, const kiln_problem *p, const float *a, const float *b,
                         float *c)
{
    const int m = (int)p->m, n = (int)p->n, k = (int)p->k;
    const double start = now();
    if (p->b.layout == KILN_ROW)
        sgemm(ROW_MAJOR, NO_TRANS, NO_TRANS, m, n, k, 1, a, k, b, n, 0, c, n);
    else
        sgemm(ROW_MAJOR, NO_TRANS, TRANS, m, n, k, 1, a, k, b, k, 0, c, n);
    return now() - start;
}

static int at_most(double figure, double goal)
{
    printf("  %5.2f (at most %.2f)%s", figure, goal, figure <= goal ? "" : " MISSED");
    return figure <= goal;
}

static int products_of(const char *text)
{
    return strncmp(text, "swiglu", 6) == 0 ? 2 : 1;
}

static int bench_product(const problem_row *row, kiln_ctx *one, kiln_ctx *two, sgemm_fn sgemm)
{
    double blas[REPEATS], t1[REPEATS], t2[REPEATS];
    job j, j2;
    job_open(&j, one, row->text, 0);
    if (two) job_open(&j2, two, row->text, 0);
    const kiln_problem *p = &j.problem;
    const int q_count = products_of(row->text);
    float *a = filled((size_t)(p->m * p->k) * 4, KILN_F32),
          *b = filled((size_t)(p->k * p->n) * 4, KILN_F32);
    float *c = filled((size_t)(p->m * p->n) * 4, KILN_F32);
    for (int i = -1; i < REPEATS; i++) {
        double blas_now = 0;
        for (int q = 0; sgemm && q < q_count; q++) blas_now += sgemm_time(sgemm, p, a, b, c);
        const double now1 = job_time(&j, 0), now2 = two && row->scale > 0 ? job_time(&j2, 0) : 1;
        if (i >= 0) blas[i] = blas_now, t1[i] = now1, t2[i] = now2;
    }
    const double work = 2e-9 * (double)p->m * (double)p->n * (double)p->k * q_count;
    const double mine = median(t1), theirs = median(blas);
    printf("%-50s %7.1f GFLOP/s", row->text, work / mine);
    int good = 1;
    if (sgemm) {
        printf("  sgemm %6.1f", work / theirs);
        good &= at_least(theirs / mine, row->blas);
    }
    if (two && row->scale > 0) {
        printf("  2 threads");
        good &= at_least(least_of(t1) / least_of(t2), row->scale);
    }
    putchar('\n');
    free(a), free(b), free(c);
    job_close(&j);
    if (two) job_close(&j2);
    return good;
}

typedef uint64_t line __attribute__((vector_size(64), may_alias));

/* Both halves side by side, which is faster than end to end. */
static double read_time(const char *p, size_t bytes)
{
    line s = {0}, t = {0};
    const char *const half = p + bytes / 128 * 64;
    const double start = now();
    for (size_t i = 0; i + 64 <= bytes / 2; i += 64) {
        s += *(const line *)(const void *)(p + i);
        t += *(const line *)(const void *)(half + i);
    }
    s += t;
    __asm__ volatile("" : : "m"(s));
    return now() - start;
}

/* Operations a second of a large problem, on one thread. */
static double rate_of(const char *text, kiln_ctx *one)
{
    double t[REPEATS];
    job j;
    job_open(&j, one, text, 0);
    for (int i = -1; i < REPEATS; i++) {
        const double mine = job_time(&j, 0);
        if (i >= 0) t[i] = mine;
    }
    const double work = 2.0 * (double)j.problem.m * (double)j.problem.n * (double)j.problem.k;
    job_close(&j);
    return work / median(t);
}

static int bench_few(const problem_few *row, kiln_ctx *one, double rate)
{
    double t[REPEATS], reading[REPEATS];
    job j;
    job_open(&j, one, row->text, COLD);
    const size_t count = (size_t)products_of(row->text);
    const double work =
        2.0 * (double)count * (double)j.problem.m * (double)j.problem.n * (double)j.problem.k;
    for (int i = -1; i < REPEATS; i++) {
        const size_t turn = 2 * count * (size_t)(i + 1);
        double r = 0;
        for (size_t c = 0; c < count; c++)
            r += read_time(j.b + (turn + c) % j.copies * j.b_pitch, j.b_bytes);
        const double mine = job_time(&j, turn + count);
        if (i >= 0) reading[i] = r, t[i] = mine;
    }
    const double mine = median(t), least = median(reading), sums = work / rate;
    printf("%-50s %7.0f us  reading B %5.0f us  products %5.0f us", row->text, mine * 1e6,
           least * 1e6, sums * 1e6);
    const int good = at_most(mine / (least > sums ? least : sums), row->most);
    putchar('\n');
    fflush(stdout);
    job_close(&j);
    return good;
}

/* What `kiln explain` says that the chosen kernel takes. */
static double modelled(kiln_ctx *ctx, const kiln_problem *p)
{
    char text[4096];
    size_t len = sizeof text;
    need(kiln_explain(ctx, p, text, &len));
    const char *cost = strstr(text, "cost ");
    return cost ? strtod(cost + 5, NULL) : 0;
}

/* Problems drawn at random beside their modelled cost: least quarter of the times, B from memory.
 */
static void bench_drawn(uint32_t seed, kiln_ctx *one)
{
    static const char *const ops[] = {
        "gemm f32,f32,f32 rcr",        "gemm f32,f32,f32 rrr",    "gemm f32,f32,f32 crr",
        "gemm bf16,bf16,bf16 rcr",     "gemm f16,f16,f16 rrr",    "gemm i8,i8,i32 rcr",
        "gemm i8,i8,i32 rrr",          "gemm f16,f16,f16 rcr",    "gemm f8e4m3,f8e4m3,bf16 rcr",
        "gemm f8e4m3,f8e4m3,bf16 rrr", "gemm bf16,bf16,bf16 rrr", "a16w8_linear bf16,i8,bf16 rcr",
        "swiglu bf16,bf16,bf16 rcr",
    };
    static const int ms[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 100, 128, 256, 777, 2048};
    static const int sizes[] = {256, 512, 768, 1000, 1024, 2048, 3072, 4096};
    int near = 0;
    for (int i = 0; i < 30; i++) {
        uint32_t pick[4];
        for (int q = 0; q < 4; q++) pick[q] = (seed = seed * 1664525u + 1013904223u) >> 16;
        char text[128];
        double t[REPEATS];
        snprintf(text, sizeof text, "%s m=%d n=%d k=%d", ops[pick[0] % COUNT(ops)],
                 ms[pick[1] % COUNT(ms)], sizes[pick[2] % COUNT(sizes)],
                 sizes[pick[3] % COUNT(sizes)]);
        job j;
        job_open(&j, one, text, COLD);
        for (int r = -1; r < REPEATS; r++) {
            const double now1 = job_time(&j, 2 * (size_t)(r + 1));
            if (r >= 0) t[r] = now1;
        }
        qsort(t, REPEATS, sizeof *t, ascending);
        const double mine = t[REPEATS / 4] * 1e6, model = modelled(one, &j.problem);
        near += model < 1.3 * mine && mine < 1.3 * model;
        printf("%-54s %10.1f us  modelled %10.1f  %5.2f\n", text, mine, model, model / mine);
        fflush(stdout);
        job_close(&j);
    }
    printf("%d of 30 within 30 %%\n", near);
}

static int wanted(const char *text, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strstr(text, argv[i])) return 1;
    return argc < 2;
}

int main(int argc, char **argv)
{
    setenv("KILN_MODULE_PATH", KILN_TEST_BUILD "/lib/kiln", 0);
    const sgemm_fn sgemm = load_sgemm();
    if (!sgemm) fprintf(stderr, "host_bench: no OpenBLAS here, so nothing is compared with it\n");
    kiln_ctx *one = NULL, *two = NULL;
    kiln_config config = {.struct_size = sizeof config, .device = "host", .threads = 1};
    need(kiln_open(&one, &config));
    config.threads = 2;
    if (sysconf(_SC_NPROCESSORS_ONLN) >= 2) need(kiln_open(&two, &config));
    int good = 1;
    if (argc == 3 && !strcmp(argv[1], "drawn")) {
        bench_drawn((uint32_t)strtoul(argv[2], NULL, 0), one);
        kiln_close(two);
        kiln_close(one);
        return 0;
    }
    for (size_t i = 0; i < COUNT(products); i++)
        if (wanted(products[i].text, argc, argv))
            good &= bench_product(&products[i], one, two, sgemm);
    const double f32 = rate_of("gemm f32,f32,f32 rcr m=1024 n=1024 k=1024", one),
                 i8 = rate_of("gemm i8,i8,i32 rcr m=1024 n=1024 k=1024", one);
    for (size_t i = 0; i < COUNT(few); i++)
        if (wanted(few[i].text, argc, argv))
            good &= bench_few(&few[i], one, strstr(few[i].text, "i8,i8") ? i8 : f32);
    kiln_close(two);
    kiln_close(one);
    return good ? 0 : 1;
}
