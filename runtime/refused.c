// SPDX-License-Identifier: MIT
// What a context did not use, and why: modules, ops of modules, tuning files and their rows.
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "internal.h"

bool kr_refuse(kiln_ctx *ctx, const char *format, ...)
{
    char *text;
    va_list args;
    va_start(args, format);
    const int len = vasprintf(&text, format, args);
    va_end(args);
    if (len < 0) return false;
    kr_log("refused: %s", text);
    char **list = realloc(ctx->refused, (ctx->nrefused + 1) * sizeof *list);
    if (!list) {
        free(text);
        return false;
    }
    ctx->refused = list;
    list[ctx->nrefused++] = text;
    return true;
}

const char *kiln_refused_at(kiln_ctx *ctx, size_t i)
{
    return ctx && i < ctx->nrefused ? ctx->refused[i] : NULL;
}
