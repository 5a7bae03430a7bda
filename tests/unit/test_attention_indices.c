// SPDX-License-Identifier: MIT
// Index arrays of attention with numbers that are none, on the host: every operand ends where its
// memory does, and what lies behind and ahead of it cannot be read.  The simulator's trials are
// those of `kiln verify`.
#define _GNU_SOURCE // MAP_ANONYMOUS
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "harness_parts.c"
#include "harness_values.c"
#include "harness_indices.c"

static kiln_ctx *ctx;

static int open_host(void **state)
{
    const kiln_config config = {.struct_size = sizeof config,
                                .device = "host",
                                .module_path =
                                    KILN_TEST_BUILD "/lib/kiln:" KILN_TEST_ROOT "/build/lib/kiln",
                                .only_module_path = 1,
                                .threads = 2};
    (void)state;
    return kiln_open(&ctx, &config) != KILN_OK;
}

static int close_host(void **state)
{
    (void)state;
    kiln_close(ctx);
    return 0;
}

typedef struct fence {
    char *from, *at; /* `at` up to the end of what may be touched */
    size_t size;
} fence;

static fence put_up(size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), inside = (bytes + page - 1) / page * page;
    fence f = {.size = inside + 2 * page};
    f.from = mmap(NULL, f.size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(f.from != MAP_FAILED);
    if (inside) assert_int_equal(mprotect(f.from + page, inside, PROT_READ | PROT_WRITE), 0);
    f.at = f.from + page + inside - bytes;
    return f;
}

static void run(const kiln_problem *p, const kiln_kernel *kernel, kh_indices how, uint64_t seed)
{
    kh_shape s;
    fence f[KH_MAX_OPERANDS];
    char *base[KH_MAX_OPERANDS];
    kiln_args args = {.struct_size = sizeof args, .scalars = {0.1f}};
    assert_int_equal(kh_shape_of(ctx, p, &s), KILN_OK);
    for (int i = 0; i < s.count; i++) {
        const kh_operand *o = &s.operand[i];
        f[i] = put_up(kh_span(o));
        *kh_slot(&args, o) = base[i] = f[i].at;
        if (o->index)
            kh_fill_indices(&s, o, how, &seed, base[i]);
        else if (!o->out)
            kh_fill(&s, o, KH_RANDOM, &seed, base[i]);
    }
    assert_int_equal(kiln_launch(ctx, kernel, p, &args, NULL), KILN_OK);
    assert_int_equal(kiln_reference(p, &args), KILN_OK); /* which checks the same numbers */
    for (int i = 0; i < s.count; i++) munmap(f[i].from, f[i].size);
}

static void run_all(const char *text)
{
    kiln_problem p;
    const kiln_kernel *kernel;
    if (kiln_problem_parse(text, &p) || kiln_find(ctx, &p, &kernel)) skip(); /* it was not built */
    for (uint64_t seed = 1; seed <= 100; seed++) {
        run(&p, kernel, KH_HOSTILE, seed);
        run(&p, kernel, KH_DISORDER, seed);
    }
}

static void test_ragged(void **state)
{
    (void)state;
    run_all("ragged_attention f16,f16,f16,f16 heads=4 kv_heads=2 q=19 kv=23 batch=5");
}

static void test_paged(void **state)
{
    (void)state;
    run_all("paged_attention f16,f16,f16,f16 heads=4 kv_heads=2 q=9 kv=70 pages=7 batch=5");
}

static void test_no_pages(void **state)
{
    (void)state;
    run_all("paged_attention f16,f16,f16,f16 heads=2 kv_heads=1 q=9 kv=20 pages=0 batch=4");
}

/* Latent attention: values are the first elements of keys only where their strides say so. */
static void test_within(void **state)
{
    kiln_problem p;
    kh_shape s;
    const char *const sizes = "mla bf16,bf16,bf16,bf16 heads=4 kv_heads=1 q=1 kv=9 batch=2";
    char text[160];
    (void)state;
    if (kiln_problem_parse(sizes, &p)) skip(); /* it was not built */
    assert_int_equal(kh_shape_of(ctx, &p, &s), KILN_OK);
    const double apart = kh_bytes(&s);
    for (int i = 0; i < s.count; i++) assert_int_equal(kh_within(&s, i), -1);
    snprintf(text, sizeof text, "%s ldv=576", sizes);
    assert_int_equal(kiln_problem_parse(text, &p), KILN_OK);
    assert_int_equal(kh_shape_of(ctx, &p, &s), KILN_OK);
    for (int i = 0; i < s.count; i++)
        assert_int_equal(kh_within(&s, i), strcmp(s.operand[i].name, "V") ? -1 : i - 1);
    assert_true(kh_bytes(&s) == apart - 2 * 9 * 512 * 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ragged),
        cmocka_unit_test(test_paged),
        cmocka_unit_test(test_no_pages),
        cmocka_unit_test(test_within),
    };
    return cmocka_run_group_tests(tests, open_host, close_host);
}
