// SPDX-License-Identifier: MIT
// E = relu(A·B + bias) in bf16: opens the best device, finds the problem's kernel, launches it.
#include <kiln.h>
#include <stdio.h>
#include <stdlib.h>

enum { M = 64, N = 128, K = 256 };
enum { ONE = 0x3f80, HALF = 0x3f00, MINUS_28 = 0xc1e0, HUNDRED = 0x42c8 }; /* bf16 */

static void *buffer(kiln_ctx *ctx, size_t count, uint16_t value)
{
    void *device = NULL;
    uint16_t *host = malloc(count * sizeof *host);
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
    uint16_t result[M * N];
    if (kiln_open(&ctx, NULL) ||
        kiln_problem_parse("bias_relu bf16,bf16,bf16 rcr m=64 n=128 k=256 align=256", &problem) ||
        kiln_find(ctx, &problem, &kernel))
        return fprintf(stderr, "%s\n", kiln_error()), 1;
    void *a = buffer(ctx, M * K, ONE), *b = buffer(ctx, K * N, HALF);
    void *bias = buffer(ctx, N, MINUS_28), *e = buffer(ctx, M * N, 0);
    kiln_args args = {.struct_size = sizeof args, .a = a, .b = {b}, .d = {bias}, .e = e};
    args.workspace_size = kiln_workspace_size(kernel, &problem);
    if (kiln_malloc(ctx, args.workspace_size, &args.workspace) ||
        kiln_launch(ctx, kernel, &problem, &args, NULL) ||
        kiln_download(ctx, result, e, sizeof result))
        return fprintf(stderr, "%s\n", kiln_error()), 1;
    printf("E[0] = %s\n", result[0] == HUNDRED ? "100" : "wrong"); /* relu(256 * 1 * 0.5 - 28) */
    void *memory[] = {a, b, bias, e, args.workspace};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) kiln_free(ctx, memory[i]);
    kiln_close(ctx);
    return 0;
}
