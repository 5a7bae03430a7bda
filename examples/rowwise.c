// SPDX-License-Identifier: MIT
// y = x / sqrt(mean(x²) + eps) * weight of each row, in f32: an op whose inputs and outputs are
// found by their names.
#include <kiln.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 4, COLS = 1000 };

static void *buffer(kiln_ctx *ctx, size_t count, float value)
{
    void *device = NULL;
    float *host = malloc(count * sizeof *host);
    for (size_t i = 0; host && i < count; i++) host[i] = value;
    if (!host || kiln_malloc(ctx, count * sizeof *host, &device) ||
        kiln_upload(ctx, device, host, count * sizeof *host))
        exit(1);
    free(host);
    return device;
}

int main(void)
{
    kiln_ctx *ctx;
    kiln_problem problem;
    const kiln_kernel *kernel;
    float result[ROWS * COLS];
    if (kiln_open(&ctx, NULL) ||
        kiln_problem_parse("rmsnorm f32 rows=4 cols=1000 align=256", &problem) ||
        kiln_find(ctx, &problem, &kernel))
        return fprintf(stderr, "%s\n", kiln_error()), 1;
    const int x = kiln_tensor_index(ctx, problem.op, "x"),
              weight = kiln_tensor_index(ctx, problem.op, "weight"),
              y = kiln_tensor_index(ctx, problem.op, "y");
    kiln_args args = {.struct_size = sizeof args, .scalars = {1e-6f}}; /* eps */
    args.tensor[x] = buffer(ctx, ROWS * COLS, 3);
    args.tensor[weight] = buffer(ctx, COLS, 2);
    args.tensor[y] = buffer(ctx, ROWS * COLS, 0);
    args.workspace_size = kiln_workspace_size(kernel, &problem);
    if (kiln_malloc(ctx, args.workspace_size, &args.workspace) ||
        kiln_launch(ctx, kernel, &problem, &args, NULL) ||
        kiln_download(ctx, result, args.tensor[y], sizeof result))
        return fprintf(stderr, "%s\n", kiln_error()), 1;
    printf("y[0] = %.3f\n", (double)result[0]); /* 3 / sqrt(3² + eps) * 2 */
    void *memory[] = {args.tensor[x], args.tensor[weight], args.tensor[y], args.workspace};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) kiln_free(ctx, memory[i]);
    kiln_close(ctx);
    return 0;
}
