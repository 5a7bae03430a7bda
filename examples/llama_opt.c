// SPDX-License-Identifier: MIT
// The main job of `make run`: two layers of real models on the best device present, verified and
// timed.
//   Llama-7B's feed-forward matrix with bias and relu in bf16, and OPT-13B's SmoothQuant linear
//   layer with relu in int8
#include <stdio.h>
#include "harness.h"

static const char *const problems[] = {
    "bias_relu bf16,bf16,bf16 rcr m=512 n=11008 k=4096 align=256",
    "linear_relu_abde_i8 i8,i8,i8 rcr m=512 n=5120 k=5120 align=256",
};

typedef struct job { /* one problem: what was chosen, how it went */
    kiln_problem problem;
    kiln_kernel_info kernel;
    kh_result result;
    double seconds, flops;
} job;

static kiln_status verify(kiln_ctx *ctx, const kiln_kernel *kernel, job *j)
{
    kh_case *c;
    kiln_status status = kh_case_open(ctx, &j->problem, &(kh_options){.seed = 1}, &c);
    if (status) return status;
    fprintf(stderr, "verifying %s: %s\n", j->problem.op, kh_case_sampling(c));
    status = kh_case_run(c, kernel, &j->result);
    kh_case_close(c);
    return status;
}

static kiln_status measure(kiln_ctx *ctx, const kiln_kernel *kernel, job *j)
{
    kh_sets *sets;
    kh_runner runner;
    kiln_status status = kh_sets_open(ctx, &j->problem, 1, &sets);
    if (status) return status;
    status = kh_runner_open(sets, kernel, &runner);
    if (!status) status = kh_time(&runner, 1, &(kh_protocol){.seconds = 0.5});
    j->seconds = runner.seconds;
    j->flops = kh_flops(kh_sets_shape(sets));
    kh_runner_close(&runner);
    kh_sets_close(sets);
    return status;
}

static kiln_status run(kiln_ctx *ctx, const char *text, job *j)
{
    const kiln_kernel *kernel;
    j->kernel.struct_size = sizeof j->kernel;
    kiln_status status = kiln_problem_parse(text, &j->problem);
    if (!status) status = kiln_find(ctx, &j->problem, &kernel);
    if (!status) status = kiln_kernel_describe(kernel, &j->kernel);
    if (!status) status = verify(ctx, kernel, j);
    if (!status) status = measure(ctx, kernel, j);
    return status;
}

int main(void)
{
    kiln_ctx *ctx;
    kiln_device_info device = {.struct_size = sizeof device};
    int wrong = 0;
    if (kiln_open(&ctx, NULL) || kiln_device_describe(ctx, &device))
        return fprintf(stderr, "%s\n", kiln_error()), 1;
    printf("%-63s %-62s %-24s %10s %9s %9s\n", "problem", "instance", "device", "max error", "ms",
           "GFLOP/s");
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        job j = {0};
        if (run(ctx, problems[i], &j)) {
            fprintf(stderr, "%s: %s\n", problems[i], kiln_error());
            wrong = 1;
            continue;
        }
        printf("%-63s %-62s %-24.24s %10.3g %9.3f %9.1f\n", problems[i], j.kernel.name, device.name,
               j.result.max_error, j.seconds * 1e3, j.flops / j.seconds * 1e-9);
        if (!j.result.ok) fprintf(stderr, "%s: WRONG: %s\n", problems[i], j.result.text);
        wrong |= !j.result.ok;
    }
    kiln_close(ctx);
    return wrong;
}
