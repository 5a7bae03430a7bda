// SPDX-License-Identifier: MIT
// The Lua files of a folder, in the same order on every machine.
#include "gen.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n > m && strcmp(s + n - m, end) == 0;
}

bool kg_list_lua(kg_ctx *cx, const char *path, kg_names_list *out)
{
    size_t cap = 0;
    DIR *d = opendir(path);
    *out = (kg_names_list){0};
    if (!d) return false;
    for (struct dirent *e; errno = 0, (e = readdir(d)) != NULL;) {
        if (e->d_name[0] == '.' || !ends_with(e->d_name, ".lua") || ends_with(e->d_name, ".d.lua"))
            continue;
        out->v = kg_grow(cx->arena, out->v, out->n, &cap, sizeof *out->v);
        out->v[out->n++] = kg_strndup(cx->arena, e->d_name, strlen(e->d_name) - strlen(".lua"));
    }
    int wrong = errno;
    closedir(d);
    if (out->n) qsort(out->v, out->n, sizeof *out->v, by_name);
    errno = wrong;
    return !wrong;
}
