// SPDX-License-Identifier: MIT
// For tests of the runtime: cmocka, module files in a folder of the test's own, sealed as `kiln-gen
// --seal` does.
#ifndef KILN_RUNTIME_TEST_H
#define KILN_RUNTIME_TEST_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "../../runtime/internal.h"
#include "fixture.h"

static char test_folder[256];

/* A table that a module has, for a test to change. */
static inline void make_writable(const void *p, size_t size)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)p & ~(page - 1);
    assert_int_equal(mprotect((void *)from, (uintptr_t)p + size - from, PROT_READ | PROT_WRITE), 0);
}

static inline void remove_folder(void)
{
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", test_folder);
    if (system(command)) fprintf(stderr, "%s stays\n", test_folder);
}

static inline void make_folder(void)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(test_folder, sizeof test_folder, "%s/kiln-test-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(test_folder)) abort();
    atexit(remove_folder);
}

typedef struct bytes {
    uint8_t *p;
    size_t size;
} bytes;

static inline bytes read_bytes(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        fprintf(stderr, "no %s\n", path);
        abort();
    }
    fseek(f, 0, SEEK_END);
    bytes b = {NULL, (size_t)ftell(f)};
    rewind(f);
    b.p = malloc(b.size + sizeof(kiln_seal));
    if (fread(b.p, 1, b.size, f) != b.size) abort();
    fclose(f);
    return b;
}

static inline void write_bytes(const char *name, const void *p, size_t size)
{
    char path[400], temporary[420];
    snprintf(path, sizeof path, "%s/%s", test_folder, name);
    snprintf(temporary, sizeof temporary, "%s.tmp", path);
    FILE *f = fopen(temporary, "wb");
    if (!f || fwrite(p, 1, size, f) != size || fclose(f) || rename(temporary, path)) abort();
}

static inline void remove_file(const char *name)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", test_folder, name);
    unlink(path);
}

/* Appends a seal; the code blob is found by its mark. */
static inline void seal_bytes(bytes *b)
{
    kiln_seal seal = {0, 0, 0, KILN_SEAL_MAGIC};
    const uint8_t *mark = memmem(b->p, b->size, FIXTURE_CODE_MARK, sizeof FIXTURE_CODE_MARK);
    if (mark) {
        seal.code_offset = (uint64_t)(mark - b->p);
        seal.code_size = FIXTURE_CODE_SIZE;
    }
    XXH3_state_t *state = XXH3_createState();
    XXH3_64bits_reset(state);
    XXH3_64bits_update(state, b->p, seal.code_offset);
    XXH3_64bits_update(state, b->p + seal.code_offset + seal.code_size,
                       b->size - seal.code_offset - seal.code_size);
    XXH3_64bits_update(state, &seal, offsetof(kiln_seal, hash));
    seal.hash = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    memcpy(b->p + b->size, &seal, sizeof seal);
    b->size += sizeof seal;
}

static inline bytes sealed_fixture(const char *fixture)
{
    char path[600];
    snprintf(path, sizeof path, KILN_TEST_BUILD "/tests/libfixture_%s.so", fixture);
    bytes b = read_bytes(path);
    seal_bytes(&b);
    return b;
}

static inline void install_fixture(const char *fixture, const char *name)
{
    bytes b = sealed_fixture(fixture);
    write_bytes(name, b.p, b.size);
    free(b.p);
}

static inline kiln_config test_config(const char *device)
{
    return (kiln_config){.struct_size = sizeof(kiln_config),
                         .device = device,
                         .module_path = test_folder,
                         .threads = 2,
                         .only_module_path = 1};
}

static inline kiln_ctx *open_ctx(const char *device)
{
    const kiln_config config = test_config(device);
    kiln_ctx *ctx = NULL;
    if (kiln_open(&ctx, &config)) fail_msg("kiln_open: %s", kiln_error());
    return ctx;
}

/* Writes rows of a tuning file, `@CODE` in them replaced by the content of the instance that the
 * row names. */
static inline void put_tuning_rows(FILE *f, kiln_ctx *ctx, const char *rows, size_t size)
{
    size_t name = 0, end = 0;
    for (size_t i = 0; i < size; i++) {
        if (size - i >= 5 && memcmp(rows + i, "host/", 5) == 0) {
            name = end = i;
            while (end < size && rows[end] != ',' && rows[end] != '\n') end++;
        }
        if (size - i < 5 || memcmp(rows + i, "@CODE", 5) != 0) {
            fputc(rows[i], f);
            continue;
        }
        char text[200];
        const kiln_kernel *k;
        snprintf(text, sizeof text, "%.*s", (int)(end - name), rows + name);
        if (kiln_kernel_by_name(ctx, text, &k))
            fputs("0123456789abcdef", f);
        else
            fprintf(f, "%016llx", (unsigned long long)kr_content(k));
        i += 4;
    }
}

static inline kiln_problem problem(const char *text)
{
    kiln_problem p;
    if (kiln_problem_parse(text, &p)) fail_msg("%s: %s", text, kiln_error());
    return p;
}

#define assert_status(call, expected)                                                              \
    do {                                                                                           \
        const kiln_status status_ = (call);                                                        \
        if (status_ != (expected))                                                                 \
            fail_msg("%s: %s (%s), not %s", #call, kiln_status_name(status_), kiln_error(),        \
                     kiln_status_name(expected));                                                  \
    } while (0)
#define assert_ok(call) assert_status(call, KILN_OK)
#define assert_says(text, part)                                                                    \
    do {                                                                                           \
        if (!strstr(text, part)) fail_msg("\"%s\" does not say \"%s\"", text, part);               \
    } while (0)
#define assert_text(ctx, op, expected)                                                             \
    do {                                                                                           \
        char text_[2000];                                                                          \
        size_t len_ = sizeof text_;                                                                \
        assert_ok(kiln_op_text(ctx, op, text_, &len_));                                            \
        assert_string_equal(text_, expected);                                                      \
        assert_int_equal(len_, strlen(text_) + 1);                                                 \
    } while (0)
#define assert_error(call, expected, part)                                                         \
    do {                                                                                           \
        assert_status(call, expected);                                                             \
        assert_says(kiln_error(), part);                                                           \
    } while (0)
#endif
