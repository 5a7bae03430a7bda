// SPDX-License-Identifier: MIT
// What the tests of kiln-gen's back half share: a folder of their own and runs of the generator in
// it.
#ifndef KILN_GEN_TEST_H
#define KILN_GEN_TEST_H
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "back.h"

static char dir[] = "/tmp/kiln-gen-back-XXXXXX";

static inline const char *at(const char *name)
{
    static char path[8][512];
    static int turn;
    turn = (turn + 1) % 8;
    snprintf(path[turn], sizeof path[turn], "%s/%s", dir, name);
    return path[turn];
}

static inline void spit(const char *name, const char *text)
{
    char command[600];
    snprintf(command, sizeof command, "mkdir -p \"$(dirname %s)\"", at(name));
    assert_int_equal(system(command), 0);
    FILE *f = fopen(at(name), "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static inline char *slurp(const char *path, size_t *len)
{
    kg_buf b = {0};
    assert_true(kg_read_file(path, &b));
    *len = b.len;
    return b.p;
}

/* A family's own file, where the test's templates want it. */
static inline void spit_family(const char *family)
{
    size_t len;
    char path[512], name[128];
    snprintf(path, sizeof path, "%s/templates/%s/family.lua", KILN_TEST_ROOT, family);
    snprintf(name, sizeof name, "templates/%s/family.lua", family);
    char *text = slurp(path, &len);
    text = realloc(text, len + 1);
    assert_non_null(text);
    text[len] = 0;
    spit(name, text);
    free(text);
}

/* ---- one run of the generator ---- */
typedef struct run {
    kg_ctx cx;
    char *err;
    size_t len;
} run;

static inline void open_run(run *r, const char *templates)
{
    memset(r, 0, sizeof *r);
    r->cx.arena = kg_arena_new();
    r->cx.err = open_memstream(&r->err, &r->len);
    r->cx.templates = templates;
    r->cx.out = at("out");
}

static inline bool expand(run *r, const char *file)
{
    return kg_families_load(&r->cx) && kg_schedules_load(&r->cx, NULL, 0) && kg_lang_load(&r->cx, &file, 1) &&
           kg_expand(&r->cx);
}

static inline void close_run(run *r)
{
    kg_diag_flush(&r->cx);
    kg_lang_close(&r->cx);
    kg_schedules_close(&r->cx);
    kg_arena_free(r->cx.arena);
    fclose(r->cx.err);
}

static inline void shell(const char *format, ...)
{
    char command[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    assert_int_equal(system(command), 0);
}

static inline int make_dir(void **state)
{
    (void)state;
    return mkdtemp(dir) ? 0 : -1;
}

static inline int remove_dir(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command);
}
#endif
