// SPDX-License-Identifier: MIT
// Device memory of the simulator: guards, patterns, quarantine, wrong frees, leaks, registered
// memory, many threads.
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "sim.h"

enum { QUARANTINE = 64 << 10 };
static char last_text[512];
static kilnsim_kind last_kind;
static size_t found;

static void keep(const kilnsim_finding *f, void *user)
{
    (void)user;
    found++;
    last_kind = f->kind;
    snprintf(last_text, sizeof(last_text), "%s", f->text);
}
/* Number of findings since the last call; the last one's kind and text are kept. */
static size_t findings(void)
{
    found = 0;
    kilnsim_findings(keep, NULL);
    kilnsim_findings_clear();
    return found;
}
static uint64_t address(const void *p)
{
    return (uint64_t)(uintptr_t)p;
}

static void bounds(void **state)
{
    (void)state;
    ks_range r;
    uint8_t *p = ks_alloc(1000, 256, KS_DEVICE);
    assert_non_null(p);
    assert_int_equal(address(p) % 256, 0);
    assert_true(ks_find_range(address(p), &r));
    assert_int_equal(r.begin, address(p));
    assert_int_equal(r.end, address(p) + 1000);
    assert_true(ks_find_range(address(p) + 999, &r));
    assert_false(ks_find_range(address(p) + 1000, &r));
    assert_int_equal(r.begin, address(p)); /* the nearest */
    assert_false(ks_find_range(address(p) - 1, &r));
    assert_int_equal(r.begin, address(p));
    for (int i = 1; i < 1024; i++) /* small overruns hit nothing */
        assert_false(ks_find_range(address(p) + 1000 + (uint64_t)i, &r) ||
                     ks_find_range(address(p) - (uint64_t)i, &r));
    uint32_t word;
    memcpy(&word, p + 996, 4);
    assert_int_equal(word, KS_POISON);
    assert_int_equal(ks_free(p, KS_DEVICE), 0);
    assert_int_equal(findings(), 0);
}

static void alignments(void **state)
{
    (void)state;
    for (size_t align = 1; align <= 1 << 21; align *= 2) {
        void *p = ks_alloc(3, align, KS_DEVICE);
        assert_non_null(p);
        assert_int_equal(address(p) % align, 0);
        memset(p, 1, 3);
        assert_int_equal(ks_free(p, KS_DEVICE), 0);
    }
    assert_null(ks_alloc(3, 48, KS_DEVICE));
    assert_null(ks_alloc(SIZE_MAX - 100, 256, KS_DEVICE));
    assert_null(ks_alloc(SIZE_MAX / 4, 256, KS_DEVICE));
}

static void quarantine(void **state)
{
    (void)state;
    enum { EACH = QUARANTINE / 4 };
    void *p[8];
    ks_range r;
    uint32_t word;
    for (int i = 0; i < 8; i++) p[i] = ks_alloc(EACH, 256, KS_DEVICE);
    for (int i = 0; i < 4; i++) assert_int_equal(ks_free(p[i], KS_DEVICE), 0);
    for (int i = 0; i < 4; i++) {
        assert_true(ks_find_range(address(p[i]) + 8, &r));
        assert_true(r.freed);
        memcpy(&word, p[i], 4);
        assert_int_not_equal(word, KS_POISON);
    }
    assert_int_equal(ks_free(p[4], KS_DEVICE), 0); /* the oldest goes */
    assert_false(ks_find_range(address(p[0]) + 8, &r) && r.begin == address(p[0]));
    assert_true(ks_find_range(address(p[1]) + 8, &r) && r.freed);
    for (int i = 5; i < 8; i++) assert_int_equal(ks_free(p[i], KS_DEVICE), 0);
    void *big = ks_alloc(QUARANTINE + 1, 256, KS_DEVICE); /* more than is kept */
    assert_int_equal(ks_free(big, KS_DEVICE), 0);
    assert_false(ks_find_range(address(big), &r) && r.begin == address(big));
    assert_int_equal(findings(), 0);
}

static void expect_wrong(void *p, ks_memory_kind kind, const char *text)
{
    assert_int_equal(ks_free(p, kind), 1);
    assert_int_equal(findings(), 1);
    assert_int_equal(last_kind, KILNSIM_DOUBLE_FREE);
    if (!strstr(last_text, text)) fail_msg("\"%s\" is not in \"%s\"", text, last_text);
}
static void wrong_frees(void **state)
{
    (void)state;
    int local;
    uint8_t *p = ks_alloc(100, 256, KS_DEVICE), *h = ks_alloc(100, 256, KS_HOST),
            *m = ks_alloc(100, 256, KS_MANAGED);
    expect_wrong(p + 4, KS_DEVICE, "byte 4 of allocation");
    expect_wrong(&local, KS_DEVICE, "never allocated");
    expect_wrong(p + 200, KS_DEVICE, "never allocated");
    expect_wrong(h, KS_DEVICE, "free it with hipHostFree");
    expect_wrong(p, KS_HOST, "free it with hipFree");
    assert_int_equal(ks_free(p, KS_DEVICE), 0);
    expect_wrong(p, KS_DEVICE, "freed twice");
    expect_wrong(p + 4, KS_DEVICE, "freed twice");
    assert_int_equal(ks_free(h, KS_HOST), 0);
    assert_int_equal(ks_free(m, KS_DEVICE), 0); /* hipFree frees managed memory too */
    assert_int_equal(findings(), 0);
}

static void counting(void **state)
{
    (void)state;
    size_t before = ks_alloc_live();
    void *p = ks_alloc(5000, 256, KS_DEVICE), *k = ks_alloc(100, 256, KS_KERNARG);
    assert_int_equal(ks_alloc_live(), before + 5000); /* the simulator's own does not count */
    ks_alloc_leaks();
    assert_int_equal(findings(), 1);
    assert_int_equal(last_kind, KILNSIM_LEAK);
    assert_non_null(strstr(last_text, "(5000 bytes)"));
    assert_int_equal(ks_free(p, KS_DEVICE), 0);
    assert_int_equal(ks_free(k, KS_KERNARG), 0);
    assert_int_equal(ks_alloc_live(), before);
    ks_alloc_leaks();
    assert_int_equal(findings(), 0);
}

static void registered(void **state)
{
    (void)state;
    static uint8_t image[4096];
    ks_range r;
    assert_true(ks_register(image, sizeof(image), KS_CODE));
    assert_true(ks_find_range(address(image) + 4095, &r));
    assert_int_equal(r.kind, KS_CODE);
    assert_false(ks_register(image + 100, 8, KS_HOST)); /* overlaps */
    assert_false(ks_register(NULL, 8, KS_HOST));
    assert_false(ks_register(image, 0, KS_HOST));
    assert_true(ks_register(image, sizeof(image), KS_CODE)); /* counted */
    ks_unregister(image);
    assert_true(ks_find_range(address(image), &r));
    expect_wrong(image, KS_DEVICE, "never allocated");
    ks_unregister(image);
    assert_false(ks_find_range(address(image), &r));
    ks_unregister(image);
    assert_int_equal(findings(), 0);
}

/* A range that a thread remembers must not outlive the memory. */
static void stale(void **state)
{
    (void)state;
    ks_range r;
    void *p = ks_alloc(64, 256, KS_DEVICE);
    assert_true(ks_find_range(address(p), &r) && !r.freed);
    assert_int_equal(ks_free(p, KS_DEVICE), 0);
    assert_true(ks_find_range(address(p), &r) && r.freed);
}

enum { THREADS = 8, ROUNDS = 400, HELD = 16 };
static void *work(void *arg)
{
    unsigned seed = *(unsigned *)arg;
    void *p[HELD] = {0};
    size_t size[HELD] = {0};
    uintptr_t wrong = 0;
    for (int i = 0; i < ROUNDS; i++) {
        int j = rand_r(&seed) % HELD;
        ks_range r;
        if (p[j]) {
            wrong += !ks_find_range(address(p[j]) + size[j] - 1, &r) || r.begin != address(p[j]) ||
                     r.freed;
            wrong += ks_free(p[j], KS_DEVICE) != 0;
        }
        size[j] = 1 + (size_t)rand_r(&seed) % 3000;
        p[j] = ks_alloc(size[j], 256, KS_DEVICE);
        wrong += !p[j];
    }
    for (int j = 0; j < HELD; j++) wrong += p[j] && ks_free(p[j], KS_DEVICE) != 0;
    return (void *)wrong;
}
static void threads(void **state)
{
    (void)state;
    pthread_t t[THREADS];
    unsigned seed[THREADS];
    size_t before = ks_alloc_live();
    for (unsigned i = 0; i < THREADS; i++) {
        seed[i] = i;
        assert_int_equal(pthread_create(&t[i], NULL, work, &seed[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        pthread_join(t[i], &wrong);
        assert_ptr_equal(wrong, NULL);
    }
    assert_int_equal(ks_alloc_live(), before);
    assert_int_equal(findings(), 0);
}

int main(void)
{
    char options[64];
    snprintf(options, sizeof(options), "log=off,quarantine=%d", QUARANTINE);
    setenv("KILN_SIM", options, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds),      cmocka_unit_test(alignments), cmocka_unit_test(quarantine),
        cmocka_unit_test(wrong_frees), cmocka_unit_test(counting),   cmocka_unit_test(registered),
        cmocka_unit_test(stale),       cmocka_unit_test(threads),
    };
    return cmocka_run_group_tests_name("sim_alloc", tests, NULL, NULL);
}
