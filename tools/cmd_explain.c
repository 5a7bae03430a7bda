// SPDX-License-Identifier: MIT
// kiln explain: what the library says about the candidates for one problem, and whether more
// alignment would change the choice.
#include "command.h"
#include <stdlib.h>
#include <string.h>

/* What the problem would get from buffers as allocators give them, where that is another kernel. */
static void put_remedy(kiln_ctx *ctx, const kiln_problem *p, const kiln_kernel *chosen)
{
    enum { ALLOCATED = 256 };
    kiln_problem aligned = *p;
    kiln_op_info op = {.struct_size = sizeof op};
    const kiln_kernel *kernel;
    kiln_kernel_info info;
    if (kiln_op_describe(ctx, p->op, &op)) return;
    for (size_t i = 0; i < op.ntensors; i++) {
        kiln_tensor *t = &aligned.tensor[op.tensor[i].at];
        if (t->align < ALLOCATED) t->align = ALLOCATED;
    }
    if (kiln_find(ctx, &aligned, &kernel) || kernel == chosen || kt_describe(kernel, &info)) return;
    printf("  with align=%d, which allocated memory has, it would be %s\n", ALLOCATED, info.name);
}

/* What was compiled for other machines. */
static void put_others(kiln_ctx *ctx, const kiln_problem *problem)
{
    const kiln_kernel *kernel;
    kiln_kernel_info k;
    kiln_problem p = {.struct_size = sizeof p};
    if (kiln_problem_resolve(problem, &p)) return;
    for (size_t i = 0; !kiln_kernel_at(ctx, i, &kernel); i++)
        if (!kt_describe(kernel, &k) && !k.runnable && kt_computes(ctx, &k, &p))
            printf("  %s  other target: %s\n", k.name, k.target);
}

int cmd_explain(const kt_options *o)
{
    kiln_ctx *ctx;
    kiln_problem problem;
    const kiln_kernel *kernel;
    size_t len = 0;
    kiln_status (*const explain)(kiln_ctx *, const kiln_problem *, char *, size_t *) =
        o->json ? kiln_explain_json : kiln_explain;
    int code = kt_open(o, NULL, &ctx);
    if (code) return code;
    code = kt_problem(o->argument[0], &problem);
    if (code) goto out;
    kiln_status status = explain(ctx, &problem, NULL, &len);
    char *text = malloc(len + 1);
    if (text && (!status || status == KILN_TRUNCATED)) status = explain(ctx, &problem, text, &len);
    if (!text || status)
        code = kt_failed(text ? status : KILN_NO_MEMORY, o->argument[0]);
    else {
        fputs(text, stdout);
        code = kiln_find(ctx, &problem, &kernel) ? EXIT_FAILED : EXIT_PASS;
        if (o->all && !o->json) put_others(ctx, &problem);
        if (!code && !o->json) put_remedy(ctx, &problem, kernel);
    }
    free(text);
out:
    kiln_close(ctx);
    return code;
}
