// SPDX-License-Identifier: MIT
// Modules that describe an op of one name differently: the device's own module counts, then the
// newer file, then the one found first; what loses is that op of the other module alone, and it is
// said.
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/stat.h>
#include "runtime_test.h"

enum { ROWS = 10, OF_BIAS_RELU = 6 }; /* of a fixture */

static int set_up(void **state)
{
    (void)state;
    make_folder();
    return 0;
}

/* A module in the folder, last changed `seconds` after the epoch. */
static void install(const char *fixture, const char *name, long seconds)
{
    char path[400];
    install_fixture(fixture, name);
    snprintf(path, sizeof path, "%s/%s", test_folder, name);
    const struct timespec times[2] = {{seconds, 0}, {seconds, 0}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void remove_modules(void)
{
    remove_file("libkiln-a.so");
    remove_file("libkiln-b.so");
    remove_file("libkiln-c.so");
}

static size_t count(kiln_ctx *ctx, const char *prefix)
{
    size_t n = 0;
    const kiln_kernel *k;
    for (size_t i = 0; kiln_kernel_at(ctx, i, &k) == KILN_OK; i++)
        n += strncmp(kr_kernel_name(k), prefix, strlen(prefix)) == 0;
    return n;
}

static const char *module_of(kiln_ctx *ctx, const char *text)
{
    const kiln_problem p = problem(text);
    const kiln_kernel *k;
    assert_ok(kiln_find(ctx, &p, &k));
    return strrchr(k->module->path, '/') + 1;
}

#define BIAS_RELU "bias_relu f32,f32,f32 rcr m=1 n=1 k=1"
#define AXPBY     "axpby f32,f32,f32 rrr m=1 n=1 k=1"

/* The host's module is older than sm_90a's and still the one that the host goes by. */
static void test_the_devices_own(void **state)
{
    (void)state;
    install("clash", "libkiln-a.so", 1000);
    install("sm90", "libkiln-b.so", 2000);
    kiln_ctx *ctx = open_ctx("host");
    assert_int_equal(count(ctx, "host/"), ROWS);
    assert_int_equal(count(ctx, "sm_90a/"), ROWS - OF_BIAS_RELU);
    assert_int_equal(count(ctx, "sm_90a/bias_relu/"), 0);
    assert_string_equal(module_of(ctx, BIAS_RELU), "libkiln-a.so");
    assert_string_equal(module_of(ctx, AXPBY), "libkiln-a.so");

    const char *said = kiln_refused_at(ctx, 0);
    char expected[1200];
    snprintf(
        expected, sizeof expected,
        "%s/libkiln-b.so: op bias_relu (instances/fixture.lua:3) left out: %s/libkiln-a.so, this "
        "device's own, describes it otherwise; build both again",
        test_folder, test_folder);
    assert_string_equal(said, expected);
    assert_null(kiln_refused_at(ctx, 1));

    char text[4096];
    size_t len = sizeof text;
    const kiln_problem p = problem(BIAS_RELU);
    assert_ok(kiln_explain(ctx, &p, text, &len));
    assert_says(text, "host/bias_relu/f32_f32_f32/rcr/plain_64  chosen");
    assert_says(text, "libkiln-b.so  set aside: describes bias_relu otherwise "
                      "(instances/fixture.lua:3)\n");
    assert_null(strstr(text, "other target"));
    kiln_close(ctx);
    remove_modules();
}

static void test_the_newer(void **state)
{
    (void)state;
    static const struct {
        long host, clash;
        const char *winner, *because;
    } row[] = {{1000, 2000, "libkiln-c.so", "libkiln-c.so, newer,"},
               {2000, 1000, "libkiln-a.so", "libkiln-a.so, newer,"},
               {1000, 1000, "libkiln-a.so", "libkiln-a.so, found first,"}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        install("host", "libkiln-a.so", row[i].host);
        install("sm90", "libkiln-b.so", 3000);
        install("clash", "libkiln-c.so", row[i].clash);
        kiln_ctx *ctx = open_ctx("host");
        const bool clash = row[i].winner[8] == 'c';
        assert_string_equal(module_of(ctx, BIAS_RELU), row[i].winner);
        assert_int_equal(count(ctx, "host/"), 2 * ROWS - OF_BIAS_RELU);
        assert_int_equal(count(ctx, "sm_90a/"), ROWS - (clash ? OF_BIAS_RELU : 0));
        assert_says(kiln_refused_at(ctx, 0), row[i].because);
        assert_int_equal(kiln_refused_at(ctx, 1) != NULL, clash);
        if (clash) assert_says(kiln_refused_at(ctx, 1), "device's own");
        kiln_close(ctx);
        remove_modules();
    }
}

/* Each context has its meaning; what has no context to go by says that there are two. */
static void test_two_contexts(void **state)
{
    (void)state;
    install("host", "libkiln-a.so", 1000);
    kiln_ctx *first = open_ctx("host");
    remove_modules();
    install("clash", "libkiln-b.so", 2000);
    kiln_ctx *second = open_ctx("host");
    assert_null(kiln_refused_at(second, 0));
    assert_string_equal(module_of(first, BIAS_RELU), "libkiln-a.so");
    assert_string_equal(module_of(second, BIAS_RELU), "libkiln-b.so");

    const kiln_problem p = problem(BIAS_RELU), same = problem(AXPBY " ldd.c=3");
    kiln_problem resolved;
    const float a[1] = {1};
    float e[1];
    const kiln_args args = {.struct_size = sizeof args, .a = a, .b = {a}, .d = {a}, .e = e};
    assert_error(kiln_reference(&p, &args), KILN_INVALID, "means one thing in ");
    assert_says(kiln_error(), "libkiln-a.so");
    assert_says(kiln_error(), "libkiln-b.so");
    assert_error(kiln_problem_resolve(&p, &resolved), KILN_INVALID, "close one of them");
    kiln_problem named;
    assert_error(kiln_problem_parse(BIAS_RELU " sd.bias=3", &named), KILN_INVALID,
                 "close one of them");
    assert_ok(kiln_problem_resolve(&same, &resolved));
    kiln_close(first);
    assert_ok(kiln_reference(&p, &args));
    assert_true(e[0] == 2);
    kiln_close(second);
    assert_status(kiln_reference(&p, &args), KILN_NOT_FOUND);
    remove_modules();
}

/* A module that lost its op in one context is that context's loss alone. */
static void test_meaning_in_use(void **state)
{
    (void)state;
    install("clash", "libkiln-a.so", 1000);
    install("sm90", "libkiln-b.so", 2000);
    kiln_ctx *ctx = open_ctx("host");
    const kiln_problem p = problem(BIAS_RELU " sd.bias=3"); /* one meaning is in use: no doubt */
    kiln_problem resolved;
    assert_ok(kiln_problem_resolve(&p, &resolved));
    kiln_op_info info = {.struct_size = sizeof info};
    assert_ok(kiln_op_describe(ctx, "bias_relu", &info));
    assert_string_equal(info.tensor_key[0], "a"); /* its name is A */
    assert_string_equal(info.tensor_key[3], "bias");
    assert_int_equal(info.tensor_letter[2], 2);
    assert_int_equal(info.tensor_layout[2], 0);
    kiln_close(ctx);
    remove_modules();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_devices_own),
        cmocka_unit_test(test_the_newer),
        cmocka_unit_test(test_two_contexts),
        cmocka_unit_test(test_meaning_in_use),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
