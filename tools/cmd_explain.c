// SPDX-License-Identifier: MIT
// kiln explain: what the library says about the candidates for one problem.
#include "command.h"
#include <stdlib.h>

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
    }
    free(text);
out:
    kiln_close(ctx);
    return code;
}
