// SPDX-License-Identifier: MIT
// Eight threads that open, find, explain, launch, parse and compare with the reference at once.
#define _GNU_SOURCE
#include "runtime_host_test.h"

enum { THREADS = 8, ROUNDS = 400 };
static atomic_int failures;

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "line %d: %s (%s)\n", __LINE__, #condition, kiln_error());             \
            atomic_fetch_add(&failures, 1);                                                        \
        }                                                                                          \
    } while (0)

static void run_threads(void *(*body)(void *))
{
    pthread_t id[THREADS];
    atomic_store(&failures, 0);
    for (intptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&id[i], NULL, body, (void *)i), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(id[i], NULL);
    assert_int_equal(atomic_load(&failures), 0);
}

/* Problems that share slots of the cache, whose answers differ. */
static void *find_and_launch(void *arg)
{
    const int me = (int)(intptr_t)arg;
    float a[16 * 8], b[16 * 8], bias[16], e[16 * 16];
    for (int i = 0; i < 128; i++) a[i] = b[i] = 1;
    for (int i = 0; i < 16; i++) bias[i] = (float)me;
    kiln_problem p;
    MUST(kiln_problem_parse("bias_relu f32,f32,f32 rcr m=16 n=16 k=8", &p) == KILN_OK);
    const kiln_args args = {.struct_size = sizeof args, .a = a, .b = {b}, .d = {bias}, .e = e};
    for (int i = 0; i < ROUNDS * 10; i++) {
        const kiln_kernel *k = NULL;
        p.k = i % 3 == 0 ? 1024 : 1 + i % 8;
        p.m = 1 + i % 1000;
        p.a.ld = 1024;
        MUST(kiln_find(ctx, &p, &k) == KILN_OK);
        MUST(k && !strstr(kr_kernel_name(k), p.k >= 1024 ? "plain" : "split"));
        if (i % 10) continue;
        p.m = 16;
        p.k = 8;
        p.a.ld = 0;
        MUST(kiln_find(ctx, &p, &k) == KILN_OK && kiln_launch(ctx, k, &p, &args, NULL) == KILN_OK);
        MUST(e[255] == (float)(8 + me));
    }
    return NULL;
}

static void *misuse(void *arg)
{
    const int me = (int)(intptr_t)arg;
    char op[32], expected[64];
    kiln_problem p;
    MUST(kiln_problem_parse("bias_relu f32,f32,f32 rcr m=16 n=16 k=8", &p) == KILN_OK);
    snprintf(op, sizeof op, "unknown_op_of_thread_%d", me);
    snprintf(expected, sizeof expected, "no op '%s'", op);
    strcpy(p.op, op);
    for (int i = 0; i < ROUNDS; i++) {
        const kiln_kernel *k;
        MUST(kiln_find(ctx, &p, &k) == KILN_NOT_FOUND);
        MUST(strstr(kiln_error(), expected)); /* each thread has its own text */
    }
    return NULL;
}

static void *open_and_close(void *arg)
{
    (void)arg;
    const kiln_config config = test_config("host");
    for (int i = 0; i < ROUNDS / 8; i++) {
        kiln_ctx *mine = NULL;
        const kiln_kernel *k;
        kiln_problem p, r;
        char text[2048];
        size_t len = sizeof text;
        MUST(kiln_open(&mine, &config) == KILN_OK);
        if (!mine) return NULL;
        MUST(kiln_problem_parse("axpby f32,f32,f32 rrr m=3 n=3 k=3 ldd.c=4", &p) == KILN_OK);
        MUST(kiln_problem_resolve(&p, &r) == KILN_OK && r.d[0].ld == 4);
        MUST(kiln_find(mine, &p, &k) == KILN_OK && kiln_prepare(mine, k) == KILN_OK);
        MUST(kiln_explain(mine, &p, text, &len) == KILN_OK);
        float a[9] = {0}, b[9] = {0}, c[12] = {2}, e[9];
        const kiln_args args = {
            .struct_size = sizeof args, .a = a, .b = {b}, .d = {c}, .e = e, .scalars = {1, 3}};
        MUST(kiln_reference(&p, &args) == KILN_OK && e[0] == 6);
        kiln_close(mine);
    }
    return NULL;
}

static void *everything(void *arg)
{
    switch ((intptr_t)arg % 3) {
    case 0:
        return find_and_launch(arg);
    case 1:
        return misuse(arg);
    default:
        return open_and_close(arg);
    }
}

static void test_find_and_launch(void **state)
{
    (void)state;
    run_threads(find_and_launch);
}

static void test_texts(void **state)
{
    (void)state;
    run_threads(misuse);
}

static void test_open_and_close(void **state)
{
    (void)state;
    run_threads(open_and_close);
}

static void test_all_at_once(void **state)
{
    (void)state;
    run_threads(everything);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find_and_launch),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_open_and_close),
        cmocka_unit_test(test_all_at_once),
    };
    return cmocka_run_group_tests(tests, open_host, close_host);
}
