// SPDX-License-Identifier: MIT
// Fuzz target: problem text.  Whatever is accepted must be written, read and written again to the
// same text, and must not upset resolve, find or explain.
#define _GNU_SOURCE
#include "../unit/runtime_test.h"
#include "replay.h"

static kiln_ctx *ctx;

static void start(void)
{
    make_folder();
    install_fixture("host", "libkiln-host.so");
    install_fixture("rowwise", "libkiln-rowwise.so");
    ctx = open_ctx("host");
}

static void check(bool ok)
{
    if (!ok) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!ctx) start();
    char *text = malloc(size + 1), first[4200], second[4200];
    memcpy(text, data, size);
    text[size] = 0;
    kiln_problem p, q, resolved;
    const kiln_kernel *k;
    size_t len = sizeof first;
    if (kiln_problem_parse(text, &p) == KILN_OK) {
        check(kiln_problem_format(&p, first, &len) == KILN_OK);
        check(kiln_problem_parse(first, &q) == KILN_OK);
        len = sizeof second;
        check(kiln_problem_format(&q, second, &len) == KILN_OK && strcmp(first, second) == 0);
        if (kiln_problem_resolve(&p, &resolved) == KILN_OK) {
            check(resolved.batch > 0 && resolved.a.ld > 0);
            check(kiln_problem_resolve(&resolved, &q) == KILN_OK &&
                  memcmp(&q, &resolved, sizeof q) == 0);
        }
        if (kiln_find(ctx, &p, &k) == KILN_OK)
            check(kiln_workspace_size(k, &p) != SIZE_MAX);
        else
            check(kiln_error()[0] != 0);
        len = 0;
        kiln_explain(ctx, &p, NULL, &len);
    } else {
        check(kiln_error()[0] != 0);
    }
    free(text);
    return 0;
}

#ifndef KILN_LIBFUZZER
REPLAY_MAIN(KILN_TEST_ROOT "/tests/fuzz/corpus_problem")
#endif
