// SPDX-License-Identifier: MIT
// Times row-wise host kernels through the public API at 4096 x 4096, beside a copy of as many bytes
// as an op reads and writes: the C library's memcpy or one past the caches, whichever is faster;
// one thread beside one, two beside two. What is compared takes turns; of each the least time
// counts, for what else runs on the machine only ever adds to it. Arguments: problems in place of
// those below.  Exit status 1 if a figure misses its goal.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>
#include "bench.h"

#define SQUARE " rows=4096 cols=4096"
static const char *const problems[] = {
    "residual_add bf16" SQUARE,
    "bias_residual_add bf16" SQUARE,
    "rmsnorm f32" SQUARE,
    "rmsnorm bf16" SQUARE,
    "add_rmsnorm bf16" SQUARE,
    "layernorm bf16" SQUARE,
    "softmax f32" SQUARE,
    "softmax bf16" SQUARE,
    "causal_softmax bf16" SQUARE,
    "silu_mul bf16" SQUARE,
    "silu_mul f16" SQUARE,
    "gelu_mul bf16" SQUARE,
    "gelu_bias bf16" SQUARE,
    "quantise_row bf16,f8e4m3" SQUARE,
    "quantise_row_fnuz bf16,f8e4m3fnuz" SQUARE,
    "quantise_row_i8 bf16,i8" SQUARE,
    "quantise_block bf16,f8e4m3" SQUARE,
    "quantise_block_i8 bf16,i8" SQUARE,
    "add_rmsnorm_quant bf16,f8e4m3" SQUARE,
    "silu_mul_quant_block bf16,f8e4m3" SQUARE,
    "layernorm_i8 bf16,i8" SQUARE,
};

static const double goal = 0.85; /* of a copy's rate */

typedef struct job {
    kiln_ctx *ctx[2]; /* of one thread and of two */
    const kiln_kernel *kernel[2];
    kiln_problem problem;
    kiln_args args;
    size_t bytes; /* read and written */
} job;

static size_t extent(const kiln_problem *p, int size, int block)
{
    return size < 0 ? 1 : (size_t)((p->size[size] + block - 1) / block);
}

static void job_open(job *j, kiln_ctx *const ctx[2], const char *text)
{
    memset(j, 0, sizeof *j);
    kiln_problem given;
    need(kiln_problem_parse(text, &given));
    need(kiln_problem_resolve(&given, &j->problem));
    for (int i = 0; i < 2; i++) {
        j->ctx[i] = ctx[i];
        if (ctx[i]) need(kiln_find(ctx[i], &j->problem, &j->kernel[i]));
    }
    j->args = (kiln_args){.struct_size = sizeof j->args, .scalars = {0.5f, 0.5f}};
    kiln_op_info op = {.struct_size = sizeof op};
    need(kiln_op_describe(ctx[0], j->problem.op, &op));
    for (size_t i = 0; i < op.ntensors; i++) {
        const kiln_tensor_info *t = &op.tensor[i];
        const kiln_dtype type = j->problem.tensor[t->at].dtype;
        const size_t bytes = extent(&j->problem, t->rows, t->row_block) *
                             extent(&j->problem, t->cols, t->col_block) * kiln_dtype_size(type);
        j->bytes += bytes;
        j->args.tensor[t->arg] = filled(bytes, type);
    }
}

static void job_close(job *j)
{
    for (int i = 0; i < KILN_MAX_TENSORS; i++) free(j->args.tensor[i]);
}

static double job_time(job *j, int i)
{
    const double start = now();
    need(kiln_launch(j->ctx[i], j->kernel[i], &j->problem, &j->args, NULL));
    return now() - start;
}

/* ---- copies ---- */
typedef struct copy {
    char *to, *from;
    size_t bytes;
} copy;

/* Past the caches, by the widest stores there are. */
static void copy_past(char *to, const char *from, size_t bytes)
{
    size_t at = 0;
#if defined(__x86_64__)
    const int wide = __builtin_cpu_supports("avx512f");
    for (; at + 64 <= bytes; at += 64) {
        __builtin_prefetch(from + at + 4096);
        if (wide)
            __asm__ volatile("vmovdqu64 %1, %%zmm0\n\tvmovntdq %%zmm0, %0"
                             : "=m"(*(char(*)[64])(to + at))
                             : "m"(*(const char(*)[64])(from + at))
                             : "xmm0");
        else
            for (size_t i = at; i < at + 64; i += 16)
                __asm__ volatile("movdqu %1, %%xmm0\n\tmovntdq %%xmm0, %0"
                                 : "=m"(*(char(*)[16])(to + i))
                                 : "m"(*(const char(*)[16])(from + i))
                                 : "xmm0");
    }
    __asm__ volatile("sfence" ::: "memory");
#endif
    memcpy(to + at, from + at, bytes - at);
}

typedef struct helper {
    pthread_t thread;
    atomic_int turn, done, end;
    copy half;
    int past;
} helper;

static void copy_some(const copy *c, int past)
{
    if (past)
        copy_past(c->to, c->from, c->bytes);
    else
        memcpy(c->to, c->from, c->bytes);
}

static void *help(void *arg)
{
    helper *h = arg;
    for (int turn = 1;; turn++) {
        while (atomic_load(&h->turn) != turn) {
        }
        if (atomic_load(&h->end)) return NULL;
        copy_some(&h->half, h->past);
        atomic_store(&h->done, turn);
    }
}

static double copy_time(const copy *c, int past, int threads)
{
    if (threads == 1) {
        const double start = now();
        copy_some(c, past);
        return now() - start;
    }
    /* The helper spins, but not beside what is timed next. */
    helper h = {.past = past};
    const size_t half = c->bytes / 2 / 4096 * 4096;
    h.half = (copy){c->to + half, c->from + half, c->bytes - half};
    if (pthread_create(&h.thread, NULL, help, &h)) exit(2);
    const struct timespec begun = {.tv_nsec = 1000000};
    nanosleep(&begun, NULL);
    const copy mine = {c->to, c->from, half};
    const double start = now();
    atomic_store(&h.turn, 1);
    copy_some(&mine, past);
    while (atomic_load(&h.done) != 1) {
    }
    const double time = now() - start;
    atomic_store(&h.end, 1);
    atomic_store(&h.turn, 2);
    pthread_join(h.thread, NULL);
    return time;
}

static int bench(kiln_ctx *const ctx[2], const char *text)
{
    job j;
    job_open(&j, ctx, text);
    copy c = {.bytes = j.bytes / 2};
    c.from = filled(c.bytes, KILN_DTYPE_NONE);
    c.to = filled(c.bytes, KILN_DTYPE_NONE);
    int good = 1;
    printf("%-52s", text);
    for (int i = 0; i < 2 && ctx[i]; i++) {
        double mine[REPEATS], usual[REPEATS], past[REPEATS];
        for (int k = -1; k < REPEATS; k++) {
            const double u = copy_time(&c, 0, i + 1), p = copy_time(&c, 1, i + 1),
                         m = job_time(&j, i);
            if (k >= 0) usual[k] = u, past[k] = p, mine[k] = m;
        }
        const double t = least_of(mine), u = least_of(usual), p = least_of(past);
        printf("%s%6.0f us  memcpy %6.0f %4.2f  past %6.0f", i ? "   2 threads" : " ", t * 1e6,
               u * 1e6, u / t, p * 1e6);
        good &= at_least((u < p ? u : p) / t, goal);
    }
    putchar('\n');
    fflush(stdout);
    job_close(&j);
    free(c.from);
    free(c.to);
    return good;
}

int main(int argc, char **argv)
{
    setenv("KILN_MODULE_PATH", KILN_TEST_BUILD "/lib/kiln", 0);
    kiln_ctx *ctx[2] = {NULL, NULL};
    kiln_config config = {.struct_size = sizeof config, .device = "host", .threads = 1};
    need(kiln_open(&ctx[0], &config));
    config.threads = 2;
    if (sysconf(_SC_NPROCESSORS_ONLN) >= 2) need(kiln_open(&ctx[1], &config));
    int good = 1;
    if (argc > 1)
        for (int i = 1; i < argc; i++) good &= bench(ctx, argv[i]);
    else
        for (size_t i = 0; i < COUNT(problems); i++) good &= bench(ctx, problems[i]);
    if (ctx[1]) kiln_close(ctx[1]);
    kiln_close(ctx[0]);
    return good ? 0 : 1;
}
