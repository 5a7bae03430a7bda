// SPDX-License-Identifier: MIT
// Fuzz target: any bytes as an instance file must end in ops or in messages, never in a crash or a
// hang.  What loads is also lowered to C text.  Alone it replays the stored corpus and the files of
// tests/spec; with libFuzzer (clang -fsanitize=fuzzer -DKILN_LIBFUZZER) it looks for more.
#define _GNU_SOURCE /* memfd_create */
#include "gen.h"
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *leaf(void *arg, const kiln_xnode *x)
{
    (void)arg;
    return x->op == KILN_X_ACC      ? "acc"
           : x->op == KILN_X_D      ? "d"
           : x->op == KILN_X_SCALAR ? "s"
                                    : "x";
}

static void lower_all(const kg_ctx *cx)
{
    const kg_names names = {leaf, NULL};
    for (size_t i = 0; i < cx->nops; i++) {
        kg_buf text = {0};
        const kg_op *op = cx->op[i];
        kg_vary *v = kg_alloc(cx->arena, (op->function[0].count + 1) * sizeof *v);
        kg_expr_vary(op, v);
        for (size_t k = 0; k < op->family->nfunctions; k++)
            if (!op->family->function[k].reduces) kg_expr_lower(&op->function[k], &names, "", &text);
        kg_buf_free(&text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64], *messages = NULL;
    size_t len = 0;
    int fd = memfd_create("fuzz", 0);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const char *paths[] = {path};
    kg_ctx cx = {.arena = kg_arena_new(),
                 .err = open_memstream(&messages, &len),
                 .templates = KILN_TEST_ROOT "/templates"};
    bool ok = kg_families_load(&cx) && kg_lang_load(&cx, paths, 1);
    if (ok != (cx.errors == 0)) abort();
    if (ok) lower_all(&cx);
    kg_diag_flush(&cx);
    kg_lang_close(&cx);
    fclose(cx.err);
    if (!ok && !len) abort(); /* wrong without a word */
    if (ok && len) abort();
    free(messages);
    kg_arena_free(cx.arena);
    close(fd);
    return 0;
}

#ifndef KILN_LIBFUZZER
static size_t replay(const char *folder)
{
    size_t n = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        char path[1024];
        kg_buf text = {0};
        char part[4096];
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        FILE *f = e->d_name[0] == '.' ? NULL : fopen(path, "rb");
        if (!f) continue;
        for (size_t got; (got = fread(part, 1, sizeof part, f)) > 0;) kg_put(&text, part, got);
        fclose(f);
        LLVMFuzzerTestOneInput((const uint8_t *)text.p, text.len);
        kg_buf_free(&text);
        n++;
    }
    if (d) closedir(d);
    return n;
}

int main(int argc, char **argv)
{
    static const char *const stored[] = {KILN_TEST_ROOT "/tests/fuzz/corpus_lang",
                                         KILN_TEST_ROOT "/tests/spec"};
    const char *const *folder = argc > 1 ? (const char *const *)argv + 1 : stored;
    int n = argc > 1 ? argc - 1 : (int)(sizeof stored / sizeof *stored);
    printf("1..%d\n", n);
    for (int i = 0; i < n; i++) {
        size_t files = replay(folder[i]);
        printf("%s %d - %zu instance files of %s\n", files ? "ok" : "not ok", i + 1, files,
               strrchr(folder[i], '/') + 1);
        fflush(stdout);
    }
    return 0;
}
#endif
