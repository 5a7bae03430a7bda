// SPDX-License-Identifier: MIT
// costs MODULES DEVICE [MOST]: of each problem of standard input, one a line, the instances that
// can compute it and what their cost models say, in microseconds, least first; an empty line where
// there is none.  What `kiln explain` says of one problem, some 20 us each.  MOST: no more of each.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

enum { MANY = 4096 };

static void put(const kiln_ctx *ctx, const kiln_problem *p, const kiln_kernel **k, size_t n)
{
    kr_signature sig;
    kr_view view;
    const kiln_op_row *op = k[0]->op;
    if (kr_sign(p, k[0]->module, op, op->hash, &sig) ||
        kr_view_make(p, &sig, k[0]->module, op, ctx->device, &view))
        return;
    for (size_t i = 0; i < n; i++)
        printf("%s%s %.9g", i ? " " : "", strrchr(kr_kernel_name(k[i]), '/') + 1,
               kr_cost(k[i], &view.shape));
}

int main(int argc, char **argv)
{
    static const kiln_kernel *kernel[MANY];
    if (argc < 3) {
        fputs("usage: costs MODULES DEVICE [MOST]\n", stderr);
        return 2;
    }
    const size_t most = argc > 3 ? strtoul(argv[3], NULL, 10) : MANY;
    kiln_ctx *ctx;
    const kiln_config config = {.struct_size = sizeof config,
                                .device = argv[2],
                                .module_path = argv[1],
                                .tuning = "",
                                .only_module_path = 1};
    if (kiln_open(&ctx, &config)) {
        fprintf(stderr, "costs: %s\n", kiln_error());
        return 1;
    }
    char line[4096];
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        kiln_problem p;
        size_t n = MANY;
        if (kiln_problem_parse(line, &p) || kiln_find_all(ctx, &p, kernel, &n))
            fprintf(stderr, "costs: %s: %s\n", line, kiln_error());
        else
            put(ctx, &p, kernel, n < most ? n : most);
        putchar('\n');
    }
    kiln_close(ctx);
    return 0;
}
