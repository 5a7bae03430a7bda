// SPDX-License-Identifier: MIT
// Fuzz target: tuning files.  A file may be dropped or followed, but what find then chooses must be
// legal.  `@DEVICE` and `@UNITS` in the input become this machine's, so that inputs get past the
// validators, `@CODE` the content of the row's instance.
#define _GNU_SOURCE
#include "../unit/runtime_test.h"
#include "replay.h"

static kiln_ctx *ctx; /* opened once: a tuning file is loaded into it anew each time */
static kiln_device_info device;
static char path[400];

static void start(void)
{
    make_folder();
    install_fixture("host", "libkiln-host.so");
    install_fixture("rowwise", "libkiln-rowwise.so");
    ctx = open_ctx("host");
    device.struct_size = sizeof device;
    if (kiln_device_describe(ctx, &device)) abort();
    snprintf(path, sizeof path, "%s/tuning.csv", test_folder);
}

static void write_input(const uint8_t *data, size_t size)
{
    char *text;
    size_t length;
    FILE *f = open_memstream(&text, &length), *file = fopen(path, "wb");
    if (!f || !file) abort();
    for (size_t i = 0; i < size; i++) {
        if (size - i >= 7 && memcmp(data + i, "@DEVICE", 7) == 0)
            fputs(device.name, f), i += 6;
        else if (size - i >= 6 && memcmp(data + i, "@UNITS", 6) == 0)
            fprintf(f, "%d", device.units), i += 5;
        else
            fputc(data[i], f);
    }
    fclose(f);
    put_tuning_rows(file, ctx, text, length);
    fclose(file);
    free(text);
}

static void forget(void)
{
    free(ctx->tuned);
    ctx->tuned = NULL;
    ctx->ntuned = 0;
    for (size_t i = 0; i < ctx->nrefused; i++) free(ctx->refused[i]);
    ctx->nrefused = 0;
    for (int i = 0; i < KR_CACHE; i++) atomic_store(&ctx->cache[i], 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const text[] = {"bias_relu f32,f32,f32 rcr m=64 n=64 k=2048",
                                       "bias_relu f32,f32,f32 rcr m=1 n=1 k=1",
                                       "bias_relu f32,f32,f32 rcr m=64 n=64 k=64 align=64",
                                       "add_sub f32 rows=64 cols=64 align=16"};
    if (!ctx) start();
    write_input(data, size);
    kr_tuning_load(ctx, path);
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        kiln_problem p;
        const kiln_kernel *k;
        if (kiln_problem_parse(text[i], &p) || kiln_find(ctx, &p, &k) ||
            kiln_workspace_size(k, &p) == SIZE_MAX)
            abort();
    }
    forget();
    return 0;
}

#ifndef KILN_LIBFUZZER
REPLAY_MAIN(KILN_TEST_ROOT "/tests/fuzz/corpus_tuning")
#endif
