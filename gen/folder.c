// SPDX-License-Identifier: MIT
// The Lua files of a folder, and its folders, in the same order on every machine.
#include "gen.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n > m && strcmp(s + n - m, end) == 0;
}

static bool is_lua(kg_ctx *cx, const char *path, const char *name, const char *file)
{
    (void)cx, (void)path, (void)file;
    return ends_with(name, ".lua") && !ends_with(name, ".d.lua");
}

static bool holds(kg_ctx *cx, const char *path, const char *name, const char *file)
{
    return access(kg_printf(cx->arena, "%s/%s/%s", path, name, file), F_OK) == 0;
}

/* The names in a folder that `want` takes, less `cut` letters at their end. */
static bool list(kg_ctx *cx, const char *path, const char *file, size_t cut,
                 bool (*want)(kg_ctx *, const char *, const char *, const char *),
                 kg_names_list *out)
{
    size_t cap = 0;
    DIR *d = opendir(path);
    *out = (kg_names_list){0};
    if (!d) return false;
    for (struct dirent *e; errno = 0, (e = readdir(d)) != NULL;) {
        if (e->d_name[0] == '.' || !want(cx, path, e->d_name, file)) continue;
        out->v = kg_grow(cx->arena, out->v, out->n, &cap, sizeof *out->v);
        out->v[out->n++] = kg_strndup(cx->arena, e->d_name, strlen(e->d_name) - cut);
    }
    int wrong = errno;
    closedir(d);
    if (out->n) qsort(out->v, out->n, sizeof *out->v, by_name);
    errno = wrong;
    return !wrong;
}

bool kg_list_lua(kg_ctx *cx, const char *path, kg_names_list *out)
{
    return list(cx, path, NULL, strlen(".lua"), is_lua, out);
}

bool kg_list_holding(kg_ctx *cx, const char *path, const char *file, kg_names_list *out)
{
    return list(cx, path, file, 0, holds, out);
}
