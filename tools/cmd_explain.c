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
    kiln_tensor *t[3 + KILN_MAX_D] = {&aligned.a, &aligned.b, &aligned.e};
    const kiln_kernel *kernel;
    kiln_kernel_info info;
    for (int i = 0; i < KILN_MAX_D; i++) t[3 + i] = &aligned.d[i];
    for (int i = 0; i < 3 + KILN_MAX_D; i++)
        if (t[i]->align < ALLOCATED) t[i]->align = ALLOCATED;
    if (kiln_find(ctx, &aligned, &kernel) || kernel == chosen || kt_describe(kernel, &info)) return;
    printf("  with align=%d, which allocated memory has, it would be %s\n", ALLOCATED, info.name);
}

/* What was compiled for other machines. */
static void put_others(kiln_ctx *ctx, const kiln_problem *problem)
{
    const kiln_kernel *kernel;
    kiln_kernel_info k;
    kiln_problem p;
    if (kiln_problem_resolve(problem, &p)) return;
    for (size_t i = 0; !kiln_kernel_at(ctx, i, &kernel); i++)
        if (!kt_describe(kernel, &k) && !k.runnable && !strcmp(k.op, p.op) && k.a == p.a.dtype &&
            k.b == p.b.dtype && k.e == p.e.dtype && k.acc == p.acc && k.layout_a == p.a.layout &&
            k.layout_b == p.b.layout && k.layout_e == p.e.layout)
            printf("  %s  other target: %s\n", k.name, k.target);
}

int cmd_explain(const kt_options *o)
{
    kiln_ctx *ctx;
    kiln_problem problem;
    const kiln_kernel *kernel;
    size_t len = 0;
    int code = kt_open(o, NULL, &ctx);
    if (code) return code;
    code = kt_problem(o->argument[0], &problem);
    if (code) goto out;
    kiln_status status = kiln_explain(ctx, &problem, NULL, &len);
    char *text = malloc(len + 1);
    if (text && (!status || status == KILN_TRUNCATED))
        status = kiln_explain(ctx, &problem, text, &len);
    if (!text || status)
        code = kt_failed(text ? status : KILN_NO_MEMORY, o->argument[0]);
    else {
        fputs(text, stdout);
        code = kiln_find(ctx, &problem, &kernel) ? EXIT_FAILED : EXIT_PASS;
        if (o->all) put_others(ctx, &problem);
        if (!code) put_remedy(ctx, &problem, kernel);
    }
    free(text);
out:
    kiln_close(ctx);
    return code;
}
