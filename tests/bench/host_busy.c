// SPDX-License-Identifier: MIT
// One host thread beside two, on a machine with other work: means of launches that take turns (a
// median would forget those during which others had the core), first alone, then with processes
// that compute without end, one of them and one for each core.  Exit status 1 if the second thread
// makes a launch much slower than one thread alone would be.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "kiln.h"

static const char *const problems[] = {
    "gemm f32,f32,f32 rcr m=128 n=256 k=256",
    "gemm f32,f32,f32 rcr m=512 n=512 k=512",
    "gemm f32,f32,f32 rcr m=1024 n=1024 k=1024",
};
enum { REPEATS = 61, MOST_BUSY = 64 };
static const double most = 1.5; /* two threads' time over one's */

typedef struct job {
    kiln_ctx *ctx;
    const kiln_kernel *kernel;
    kiln_problem problem;
    kiln_args args;
} job;

static void need(kiln_status status)
{
    if (status == KILN_OK) return;
    fprintf(stderr, "host_busy: %s\n", kiln_error());
    exit(2);
}

static void *zeros(size_t bytes)
{
    void *p = aligned_alloc(4096, (bytes + 4096) / 4096 * 4096);
    if (!p) exit(2);
    return memset(p, 0, bytes);
}

static void job_open(job *j, int threads)
{
    const kiln_config config = {.struct_size = sizeof config, .device = "host", .threads = threads};
    need(kiln_open(&j->ctx, &config));
}

static void job_take(job *j, const char *text)
{
    need(kiln_problem_parse(text, &j->problem));
    need(kiln_find(j->ctx, &j->problem, &j->kernel));
    const kiln_problem *p = &j->problem;
    j->args = (kiln_args){.struct_size = sizeof j->args};
    j->args.a = zeros((size_t)(p->m * p->k) * 4);
    j->args.b[0] = zeros((size_t)(p->k * p->n) * 4);
    j->args.e = zeros((size_t)(p->m * p->n) * 4);
    j->args.workspace_size = kiln_workspace_size(j->kernel, p);
    j->args.workspace = zeros(j->args.workspace_size);
}

static void job_leave(job *j)
{
    free((void *)(uintptr_t)j->args.a);
    free((void *)(uintptr_t)j->args.b[0]);
    free(j->args.e);
    free(j->args.workspace);
}

/* Seconds of a launch, of as many as take a few milliseconds. */
static double job_time(const job *j)
{
    const double work = (double)j->problem.m * (double)j->problem.n * (double)j->problem.k;
    const int count = work < 1e8 ? (int)(1e8 / work) : 1;
    struct timespec t[2];
    clock_gettime(CLOCK_MONOTONIC, &t[0]);
    for (int i = 0; i < count; i++)
        need(kiln_launch(j->ctx, j->kernel, &j->problem, &j->args, NULL));
    clock_gettime(CLOCK_MONOTONIC, &t[1]);
    return ((double)(t[1].tv_sec - t[0].tv_sec) + 1e-9 * (double)(t[1].tv_nsec - t[0].tv_nsec)) /
           count;
}

static int compare(job *one, job *two, const char *text, int busy)
{
    double t1 = 0, t2 = 0;
    job_take(one, text), job_take(two, text);
    job_time(one), job_time(two);
    for (int i = 0; i < REPEATS; i++) t1 += job_time(one), t2 += job_time(two);
    printf("%d busy  %-44s one %8.1f us  two %8.1f us  %5.2f (at most %.2f)%s\n", busy, text,
           t1 / (int)REPEATS * 1e6, t2 / (int)REPEATS * 1e6, t2 / t1, most,
           t2 / t1 <= most ? "" : " MISSED");
    fflush(stdout);
    job_leave(one), job_leave(two);
    return t2 / t1 <= most;
}

static pid_t start_busy(void)
{
    const pid_t child = fork();
    if (child != 0) return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (volatile unsigned n = 0;; n++) continue;
}

int main(void)
{
    setenv("KILN_MODULE_PATH", KILN_TEST_BUILD "/lib/kiln", 0);
    job one = {0}, two = {0};
    pid_t busy[MOST_BUSY];
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int count = 0, good = 1;
    job_open(&one, 1), job_open(&two, 2);
    for (int step = 0; step < 3; step++) {
        const int wanted = step < 2 ? step : cores < MOST_BUSY ? (int)cores : MOST_BUSY;
        while (count < wanted && (busy[count] = start_busy()) > 0) count++;
        for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
            good &= compare(&one, &two, problems[i], count);
    }
    while (count > 0) {
        kill(busy[--count], SIGKILL);
        waitpid(busy[count], NULL, 0);
    }
    kiln_close(one.ctx), kiln_close(two.ctx);
    return good ? 0 : 1;
}
