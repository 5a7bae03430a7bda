// SPDX-License-Identifier: MIT
// Kernel names for people to read: demangled by the C++ runtime library where there is one, and no
// longer than a line bears.  What is cut goes from the inside (template arguments first), and a
// number made of the whole name keeps instances of one template apart.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sim.h"

enum { PLAIN = 100, HEAD = 60, TAIL = 30 }; /* characters */
typedef char *demangle_fn(const char *, char *, size_t *, int *);
static demangle_fn *demangle;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void find_demangle(void)
{
    static const char *const libraries[] = {NULL, "libstdc++.so.6", "libc++abi.so.1"};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries && !demangle; i++) {
        void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_LOCAL);
        void *at = library ? dlsym(library, "__cxa_demangle") : NULL;
        memcpy(&demangle, &at, sizeof at);
        if (library && !at) dlclose(library);
    }
}

/* Template arguments become "<...>", parameters "(...)"; in place. */
static void collapse(char *text)
{
    unsigned depth = 0;
    char *to = text;
    for (const char *c = text; *c; c++) {
        const bool arrow = c > text && c[-1] == '-' && *c == '>';
        const bool named_operator = c - text >= 8 && !memcmp(c - 8, "operator", 8);
        const bool opens = (*c == '<' || *c == '(') && !named_operator && strncmp(c, "(anon", 5);
        if (*c == '(' && !opens && !depth) { /* "(anonymous namespace)" */
            while (*c && *c != ')') *to++ = *c++;
            if (!*c) break;
        } else if (opens && !depth++) {
            memmove(to, (char[]){*c, '.', '.', '.'}, 4);
            to += 4;
        }
        const bool closes = depth && (*c == '>' || *c == ')') && !arrow;
        if (closes) depth--;
        if (!depth) *to++ = *c;
    }
    *to = 0;
}

static uint32_t number_of(const char *name)
{
    uint32_t h = 0x811c9dc5u;
    for (; *name; name++) h = (h ^ (uint8_t)*name) * 0x01000193u;
    return h;
}

void ks_name_text(const char *name, char out[KS_NAME])
{
    int status = -1;
    char *text = NULL;
    if (!strncmp(name, "_Z", 2)) {
        pthread_once(&once, find_demangle);
        if (demangle) text = demangle(name, NULL, NULL, &status);
    }
    if (!text || status) {
        free(text);
        text = strdup(name);
    }
    const size_t length = text ? strlen(text) : 0;
    if (length > PLAIN) collapse(text);
    const size_t left = text ? strlen(text) : 0;
    if (!text)
        snprintf(out, KS_NAME, "%.*s", PLAIN, name);
    else if (left > PLAIN)
        snprintf(out, KS_NAME, "%.*s...%s #%08x", HEAD, text, text + left - TAIL, number_of(name));
    else if (left < length)
        snprintf(out, KS_NAME, "%s #%08x", text, number_of(name));
    else
        snprintf(out, KS_NAME, "%s", text);
    free(text);
}
