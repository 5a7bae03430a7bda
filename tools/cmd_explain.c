// SPDX-License-Identifier: MIT
// kiln explain: what the library says about the candidates for one problem, what was compiled for
// other machines, and whether more alignment would change the choice.
#define _GNU_SOURCE
#include "command.h"
#include "explain_text.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { ALLOCATED = 256 }; /* bytes that memory of allocators is a multiple of */

/* What the problem would get from buffers as allocators give them, where that is another kernel;
 * NULL: it is not. */
static const char *remedy(kiln_ctx *ctx, const kiln_problem *p, kiln_kernel_info *info)
{
    kiln_problem aligned = *p;
    kiln_op_info op = {.struct_size = sizeof op};
    const kiln_kernel *kernel, *chosen;
    if (kiln_find(ctx, p, &chosen) || kiln_op_describe(ctx, p->op, &op)) return NULL;
    for (size_t i = 0; i < op.ntensors; i++) {
        kiln_tensor *t = &aligned.tensor[op.tensor[i].at];
        if (t->align < ALLOCATED) t->align = ALLOCATED;
    }
    if (kiln_find(ctx, &aligned, &kernel) || kernel == chosen || kt_describe(kernel, info))
        return NULL;
    return info->name;
}

/* The next instance from *at on that computes the problem on other machines; 0: there is none. */
static int next_other(kiln_ctx *ctx, const kiln_problem *resolved, size_t *at, kiln_kernel_info *k)
{
    const kiln_kernel *kernel;
    while (!kiln_kernel_at(ctx, (*at)++, &kernel))
        if (!kt_describe(kernel, k) && !k->runnable && kt_computes(ctx, k, resolved)) return 1;
    return 0;
}

/* ---- text ---- */
static int print_text(const kt_options *o, kiln_ctx *ctx, const kiln_problem *p, const char *text)
{
    char *all = NULL;
    size_t bytes = 0, at = 0;
    kiln_kernel_info k;
    kiln_problem resolved = {.struct_size = sizeof resolved};
    FILE *f = open_memstream(&all, &bytes);
    if (!f) return kt_failed(KILN_NO_MEMORY, "explain");
    fputs(text, f);
    if (o->all && !kiln_problem_resolve(p, &resolved))
        while (next_other(ctx, &resolved, &at, &k))
            fprintf(f, "  %s  other target: %s\n", k.name, k.target);
    if (remedy(ctx, p, &k))
        fprintf(f, "  with align=%d, which allocated memory has, it would be %s\n", ALLOCATED,
                k.name);
    const int failed = fclose(f);
    if (!failed) kt_put_explained(all, o->wide ? 0 : kt_columns(stdout), stdout);
    free(all);
    return failed ? kt_failed(KILN_NO_MEMORY, "explain") : 0;
}

/* ---- JSON ---- */
/* "gfx942": 12, ...; with --all the instances' names in place of their number. */
static json_t *others(const kt_options *o, kiln_ctx *ctx, const kiln_problem *p)
{
    size_t at = 0;
    kiln_kernel_info k;
    kiln_problem resolved = {.struct_size = sizeof resolved};
    json_t *all = json_object();
    if (kiln_problem_resolve(p, &resolved)) return all;
    while (next_other(ctx, &resolved, &at, &k)) {
        json_t *of = json_object_get(all, k.target);
        if (!of) json_object_set_new(all, k.target, of = o->all ? json_array() : json_integer(0));
        if (o->all)
            json_array_append_new(of, json_string(k.name));
        else
            json_integer_set(of, json_integer_value(of) + 1);
    }
    return all;
}

/* The library's object, with two members more before it is closed. */
static int print_json(const kt_options *o, kiln_ctx *ctx, const kiln_problem *p, const char *text)
{
    kiln_kernel_info k;
    const char *end = strrchr(text, '}'), *aligned = remedy(ctx, p, &k);
    json_t *targets = others(o, ctx, p), *name = aligned ? json_string(aligned) : json_null();
    char *of_targets = json_dumps(targets, 0), *of_name = json_dumps(name, JSON_ENCODE_ANY);
    const int good = end && of_targets && of_name;
    if (good)
        printf("%.*s, \"with_align_%d\": %s, \"other_targets\": %s}\n", (int)(end - text), text,
               ALLOCATED, of_name, of_targets);
    json_decref(targets);
    json_decref(name);
    free(of_targets);
    free(of_name);
    return good ? 0 : kt_failed(KILN_NO_MEMORY, "explain");
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
    else
        code = (o->json ? print_json : print_text)(o, ctx, &problem, text);
    if (!code && kiln_find(ctx, &problem, &kernel)) code = EXIT_FAILED;
    free(text);
out:
    kiln_close(ctx);
    return code;
}
