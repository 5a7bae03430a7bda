// SPDX-License-Identifier: MIT
// Choosing an instance: by legality and cost, by tuning files good and bad; what explain and a
// failed find say.
#define _GNU_SOURCE
#include <sys/stat.h>
#include "runtime_test.h"

static int set_up(void **state)
{
    (void)state;
    make_folder();
    install_fixture("host", "libkiln-host.so");
    install_fixture("gfx942", "libkiln-gfx942.so");
    return 0;
}

static const char *find(kiln_ctx *ctx, const char *text)
{
    const kiln_problem p = problem(text);
    const kiln_kernel *k;
    kiln_kernel_info info = {.struct_size = sizeof info};
    if (kiln_find(ctx, &p, &k)) return kiln_error();
    assert_ok(kiln_kernel_describe(k, &info));
    return info.name;
}

static void test_cost_and_legality(void **state)
{
    (void)state;
    static const char *const row[][2] = {
        /* wide: K % 8 and A aligned to 16 bytes; split: K >= 1024 */
        {"bias_relu f32,f32,f32 rcr m=4 n=4 k=8 aligna=16",
         "host/bias_relu/f32_f32_f32/rcr/wide_128"},
        {"bias_relu f32,f32,f32 rcr m=4 n=4 k=8 aligna=16 lda=10",
         "host/bias_relu/f32_f32_f32/rcr/plain_64"},
        {"bias_relu f32,f32,f32 rcr m=4 n=4 k=8 aligna=16 batch=2 sa=33",
         "host/bias_relu/f32_f32_f32/rcr/plain_64"},
        {"bias_relu f32,f32,f32 rcr m=4 n=4 k=8", "host/bias_relu/f32_f32_f32/rcr/plain_64"},
        {"bias_relu f32,f32,f32 rcr m=4 n=4 k=9", "host/bias_relu/f32_f32_f32/rcr/plain_64"},
        {"bias_relu f32,f32,f32 rcr m=4 n=4 k=1024", "host/bias_relu/f32_f32_f32/rcr/split_64"},
        {"bias_relu f32,f32,f32 rcr m=0 n=0 k=0", "host/bias_relu/f32_f32_f32/rcr/plain_64"},
        {"bias_relu f16,f16,f16 rcr m=4 n=4 k=9", "host/bias_relu/f16_f16_f16/rcr/plain_16"},
        {"linear_i8 i8,i8,i8 rcr m=4 n=4 k=9 acc=i32", "host/linear_i8/i8_i8_i8/rcr/plain_16"},
    };
    kiln_ctx *ctx = open_ctx("host");
    for (int twice = 0; twice < 2; twice++) /* the second time from the cache */
        for (size_t i = 0; i < sizeof row / sizeof *row; i++)
            assert_string_equal(find(ctx, row[i][0]), row[i][1]);
    kiln_close(ctx);
}

static void test_find_all(void **state)
{
    (void)state;
    kiln_ctx *ctx = open_ctx("host");
    const kiln_problem p = problem("bias_relu f32,f32,f32 rcr m=4 n=4 k=1024 aligna=16");
    const kiln_kernel *all[8];
    size_t count = 0;
    assert_ok(kiln_find_all(ctx, &p, NULL, &count));
    assert_int_equal(count, 4);
    count = 8;
    assert_ok(kiln_find_all(ctx, &p, all, &count));
    assert_int_equal(count, 4);
    static const char *const order[] = {"split_64", "wide_128", "plain_64", "plain_16"};
    for (int i = 0; i < 4; i++) assert_says(kr_kernel_name(all[i]), order[i]);
    count = 2;
    assert_error(kiln_find_all(ctx, &p, all, &count), KILN_TRUNCATED, "4 instances are legal");
    assert_int_equal(count, 4);
    assert_says(kr_kernel_name(all[1]), "wide_128");
    const kiln_problem illegal = problem("bias_relu f32,f32,f32 rrr m=4 n=4 k=9");
    assert_status(kiln_find_all(ctx, &illegal, NULL, &count), KILN_NOT_SUPPORTED);
    assert_int_equal(count, 0);
    assert_status(kiln_find_all(ctx, &p, NULL, NULL), KILN_INVALID);
    kiln_close(ctx);
}

static void test_what_comes_closest(void **state)
{
    (void)state;
    static const struct {
        const char *problem;
        kiln_status status;
        const char *says;
    } row[] = {
        {"bais_relu f32,f32,f32 rcr m=1 n=1 k=1", KILN_NOT_FOUND,
         "no op 'bais_relu': did you mean 'bias_relu'?"},
        {"flash_attention f32,f32,f32 rcr m=1 n=1 k=1", KILN_NOT_FOUND,
         "no op 'flash_attention' was described"},
        {"bias_relu bf16,bf16,bf16 rcr m=1 n=1 k=1", KILN_NOT_FOUND,
         "not described for bf16,bf16,bf16 rcr acc=f32, but for "},
        {"bias_relu bf16,bf16,bf16 rcr m=1 n=1 k=1", KILN_NOT_FOUND, "f16,f16,f16"},
        {"bias_relu f16,f16,f16 rrr m=1 n=1 k=1", KILN_NOT_FOUND, "these types with rcr"},
        {"linear_i8 i8,i8,i8 rcr m=1 n=1 k=1 acc=f32", KILN_NOT_FOUND, "acc=f32, but for acc=i32"},
        {"bias_relu f32,f32,f32 rrr m=1 n=1 k=9", KILN_NOT_SUPPORTED,
         "wide_128: K is not a multiple of 8"},
        {"bias_relu f32,f32,f32 rrr m=1 n=1 k=8", KILN_NOT_SUPPORTED,
         "A is not aligned to 16 bytes"},
    };
    kiln_ctx *ctx = open_ctx("host");
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const kiln_problem p = problem(row[i].problem);
        const kiln_kernel *k = (const kiln_kernel *)ctx;
        assert_error(kiln_find(ctx, &p, &k), row[i].status, row[i].says);
        assert_null(k);
    }
    kiln_close(ctx);

    remove_file("libkiln-host.so");
    ctx = open_ctx("host");
    const kiln_problem p = problem("bias_relu f32,f32,f32 rcr m=1 n=1 k=1");
    const kiln_kernel *k;
    assert_error(kiln_find(ctx, &p, &k), KILN_NOT_SUPPORTED,
                 "only for gfx942, and this device is host: run `make instances TARGETS=host`");
    kiln_close(ctx);
    remove_file("libkiln-gfx942.so");
    ctx = open_ctx("host");
    assert_error(kiln_find(ctx, &p, &k), KILN_NOT_FOUND, "no module is open; run `make instances`");
    write_bytes("libkiln-x.so", "damaged", 7);
    kiln_close(ctx);
    ctx = open_ctx("host");
    assert_error(kiln_find(ctx, &p, &k), KILN_NOT_FOUND, "libkiln-x.so: too short to be a module");
    kiln_close(ctx);
    remove_file("libkiln-x.so");
    install_fixture("host", "libkiln-host.so");
    install_fixture("gfx942", "libkiln-gfx942.so");
}

static const char *explain(kiln_ctx *ctx, const char *text)
{
    static char out[4096];
    const kiln_problem p = problem(text);
    size_t len = sizeof out, need = 0;
    assert_ok(kiln_explain(ctx, &p, out, &len));
    assert_int_equal(len, strlen(out) + 1);
    assert_ok(kiln_explain(ctx, &p, NULL, &need));
    assert_int_equal(need, len);
    char cut[20];
    need = sizeof cut;
    assert_status(kiln_explain(ctx, &p, cut, &need), KILN_TRUNCATED);
    assert_int_equal(need, len);
    return out;
}

static void test_explain(void **state)
{
    (void)state;
    kiln_ctx *ctx = open_ctx("host");
    const char *text = explain(ctx, "bias_relu f32,f32,f32 rcr m=4 n=4 k=1024");
    const char *const expected[] = {
        "bias_relu f32,f32,f32 rcr m=4 n=4 k=1024 on host (",
        "\n  host/bias_relu/f32_f32_f32/rcr/split_64  chosen: cost 5.0 us\n"
        "      multiplying 4.5 us decides; launching 0.5 us\n"
        "      4 blocks; at least 2.3 us by memory\n"
        "  host/bias_relu/f32_f32_f32/rcr/plain_64  slower: cost 50.0 us\n"
        "      multiplying 49.5 us decides; launching 0.5 us\n"
        "      4 blocks; at least 2.3 us by memory\n"
        "  host/bias_relu/f32_f32_f32/rcr/plain_16  slower: cost 100.0 us\n", /* no more than the
                                                                                 one that comes next
                                                                               */
        "\n  host/bias_relu/f32_f32_f32/rcr/wide_128  not legal: A is not aligned to 16 bytes\n",
        "\n  other targets: 4 of gfx942\n",
    };
    const char *at = text;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) { /* in this order */
        const char *found = strstr(at, expected[i]);
        if (!found) fail_msg("%s\n lacks \"%s\"", text, expected[i]);
        at = found;
    }
    char json[4096];
    size_t len = sizeof json;
    const kiln_problem same = problem("bias_relu f32,f32,f32 rcr m=4 n=4 k=1024");
    assert_ok(kiln_explain_json(ctx, &same, json, &len));
    assert_int_equal(len, strlen(json) + 1);
    const char *const wanted[] = {
        "{\"problem\": \"bias_relu f32,f32,f32 rcr m=4 n=4 k=1024\", \"target\": \"host\", ",
        "\n  {\"instance\": \"host/bias_relu/f32_f32_f32/rcr/split_64\", \"chosen\": \"cost\", "
        "\"cost_us\": 5.000, \"parts\": [{\"name\": \"launching\", \"kind\": \"time\", \"us\": "
        "0.500}, ",
        "{\"name\": \"blocks\", \"kind\": \"count\", \"count\": 4.000}, "
        "{\"name\": \"memory\", \"kind\": \"least\", \"us\": 2.250}]},\n",
        "plain_16\", \"chosen\": null, \"cost_us\": 100.000, ",
        "wide_128\", \"not_legal\": \"A is not aligned to 16 bytes\"}\n], \"no_instance\": [\n], "
        "\"nothing\": \"\"}\n",
    };
    at = json;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!(at = strstr(at, wanted[i]))) fail_msg("%s\n lacks \"%s\"", json, wanted[i]);
    const kiln_problem none = problem("bias_rleu f32,f32,f32 rcr m=4 n=4 k=1024");
    len = sizeof json;
    assert_ok(kiln_explain_json(ctx, &none, json, &len));
    assert_says(json, "\"candidates\": [\n], \"no_instance\": [\n], \"nothing\": \"no op 'bias_rleu': did you mean");
    text = explain(ctx, "bias_rleu f32,f32,f32 rcr m=4 n=4 k=1024");
    assert_says(text, "not_found: no op 'bias_rleu': did you mean 'bias_relu'?");
    text = explain(ctx, "bias_relu f32,f32,f32 rrr m=4 n=4 k=9");
    assert_says(text, "not legal: K is not a multiple of 8");
    const kiln_problem p = problem("bias_relu f32,f32,f32 rcr m=4 n=4 k=4");
    assert_status(kiln_explain(ctx, &p, NULL, NULL), KILN_INVALID);
    assert_status(kiln_explain(NULL, &p, NULL, NULL), KILN_INVALID);
    kiln_close(ctx);
}

/* A problem's text may be longer than any buffer of fixed size is likely to be. */
static void test_explain_long(void **state)
{
    (void)state;
    install_fixture("many", "libkiln-many.so");
    kiln_ctx *ctx = open_ctx("host");
    const int64_t large = 1ll << 40;
    kiln_problem p = problem("many f32,f32,f32 rrr m=8 n=8 k=8 batch=2 sa=100 sb=100 se=100");
    char text[4096], out[8192];
    for (int i = 0; i < KILN_MAX_D; i++)
        p.d[i] = (kiln_tensor){.ld = large + i, .batch_stride = 100 * large, .align = 4u << i};
    size_t len = sizeof text, need = 0;
    assert_ok(kiln_problem_format(&p, text, &len));
    assert_true(len > 1500);
    const kiln_problem again = problem(text);
    assert_memory_equal(&again, &p, sizeof p);
    assert_ok(kiln_explain(ctx, &p, NULL, &need));
    assert_true(need > len);
    len = need - 1;
    assert_status(kiln_explain(ctx, &p, out, &len), KILN_TRUNCATED);
    assert_int_equal(len, need);
    assert_ok(kiln_explain(ctx, &p, out, &len));
    assert_int_equal(strlen(out) + 1, need);
    assert_memory_equal(out, text, strlen(text));
    assert_says(out, " on host (");
    assert_says(out, "chosen: cost 100.0 us");
    kiln_close(ctx);
    remove_file("libkiln-many.so");
}

/* The same module in a second folder: both groups of a key are candidates, and explain shows both.
 */
static void test_two_modules_of_a_target(void **state)
{
    (void)state;
    install_fixture("host", "libkiln-host2.so");
    kiln_ctx *ctx = open_ctx("host");
    assert_null(kiln_refused_at(ctx, 0));
    const kiln_problem p = problem("bias_relu f32,f32,f32 rcr m=4 n=4 k=9");
    size_t count = 0;
    assert_ok(kiln_find_all(ctx, &p, NULL, &count));
    assert_int_equal(count, 4);
    kiln_close(ctx);
    remove_file("libkiln-host2.so");
}

/* ---- tuning files ---- */

typedef struct tuning {
    const char *version, *target, *device, *units, *registry, *rows, *mark;
} tuning;

/* Writes a tuning file of this device, or of what the struct says. */
static void write_tuning(const char *name, const tuning *t)
{
    char path[300], units[16];
    kiln_ctx *plain = open_ctx("host");
    kiln_device_info dev = {.struct_size = sizeof dev};
    assert_ok(kiln_device_describe(plain, &dev));
    snprintf(units, sizeof units, "%d", dev.units);
    const char *const value[] = {t->version ? t->version : KILN_VERSION,
                                 t->target ? t->target : "host", t->device ? t->device : dev.name,
                                 t->units ? t->units : units, t->registry ? t->registry : ""};
    static const char *const key[] = {"KILN_VERSION", "TARGET", "DEVICE", "UNITS", "REGISTRY"};
    snprintf(path, sizeof path, "%s/%s", test_folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    if (t->mark) fputs(t->mark, file);
    for (int i = 0; i < 5; i++)
        if (*value[i]) fprintf(file, "Validator,%s,\"%s\"\r\n", key[i], value[i]);
    put_tuning_rows(file, plain, t->rows, strlen(t->rows));
    fclose(file);
    kiln_close(plain);
}

/* Writes the file, opens a context with it and gives what find chooses; *said: the refusal, "" if
 * none. */
static const char *tuned(const tuning *t, const char *text, const char **said)
{
    static char name[128], refused[600];
    char path[300];
    write_tuning("tuning.csv", t);
    snprintf(path, sizeof path, "%s/tuning.csv", test_folder);
    kiln_config config = test_config("host");
    config.tuning = path;
    kiln_ctx *ctx;
    assert_ok(kiln_open(&ctx, &config));
    snprintf(name, sizeof name, "%s", strrchr(find(ctx, text), '/') + 1);
    snprintf(refused, sizeof refused, "%s", kiln_refused_at(ctx, 0) ? kiln_refused_at(ctx, 0) : "");
    *said = refused;
    kiln_close(ctx);
    return name;
}

#define PROBLEM "bias_relu f32,f32,f32 rcr m=64 n=64 k=2048"
#define ROW(problem, instance)                                                                     \
    "\"" problem "\",host/bias_relu/f32_f32_f32/rcr/" instance ",12.5,0.001,@CODE\n"

static void test_tuned_rows(void **state)
{
    (void)state;
    static const struct {
        const char *rows, *problem, *chosen, *said;
    } row[] = {
        {"", PROBLEM, "split_64", ""},
        {ROW(PROBLEM, "plain_16"), PROBLEM, "plain_16", ""},
        {ROW(PROBLEM, "plain_64") ROW(PROBLEM, "plain_16"), PROBLEM, "plain_16",
         ""},                                                            /* the later one */
        {ROW(PROBLEM, "plain_16"), PROBLEM " lda=4096", "plain_16", ""}, /* same sizes */
        {ROW(PROBLEM, "plain_16") ROW(PROBLEM " lda=4096", "plain_64"), PROBLEM " lda=4096",
         "plain_64", ""},
        {ROW(PROBLEM " lda=4096", "plain_64") ROW(PROBLEM, "plain_16"), PROBLEM " lda=4096",
         "plain_64", ""},
        {ROW(PROBLEM, "plain_16"), "bias_relu f32,f32,f32 rcr m=65 n=64 k=2048", "plain_16",
         ""}, /* nearest */
        {ROW(PROBLEM, "plain_16"), "bias_relu f32,f32,f32 rcr m=640 n=64 k=2048", "split_64",
         ""}, /* too far */
        {ROW("bias_relu f32,f32,f32 rcr m=60 n=64 k=2048", "plain_16")
             ROW("bias_relu f32,f32,f32 rcr m=63 n=64 k=2048", "plain_64"),
         PROBLEM, "plain_64", ""},
        {ROW(PROBLEM, "wide_128"), PROBLEM, "split_64",
         "1 of 1 rows dropped (line 5: its instance does not take"},
        {ROW(PROBLEM " aligna=16", "wide_128"), PROBLEM, "split_64",
         ""}, /* legal there, not here */
        {ROW(PROBLEM, "gone_1") ROW(PROBLEM, "plain_16"), PROBLEM, "plain_16",
         "1 of 2 rows dropped (line 5: its instance is not there)"},
        {ROW("bias_relu f32,f32,f32 rrr m=64 n=64 k=2048", "plain_16"), PROBLEM, "split_64",
         "does not take its problem"},
        {ROW("bias_relu f32", "plain_16"), PROBLEM, "split_64", "three types"},
        {"hello\n", PROBLEM, "split_64",
         "1 of 1 rows dropped (line 5: not `problem,instance,us,error,content`)"},
        {"\"" PROBLEM "\",host/bias_relu/f32_f32_f32/rcr/plain_16,-3,0,@CODE\n", PROBLEM,
         "split_64", "1 of 1"},
        {"\"" PROBLEM "\",host/bias_relu/f32_f32_f32/rcr/plain_16,nan,0,@CODE\n", PROBLEM,
         "split_64", "1 of 1"},
        {"\"" PROBLEM "\",host/bias_relu/f32_f32_f32/rcr/plain_16,1,@CODE\n", PROBLEM, "split_64",
         "1 of 1"},
        {"\"" PROBLEM ",host/bias_relu/f32_f32_f32/rcr/plain_16,1,1,@CODE\n", PROBLEM, "split_64",
         "1 of 1"},
        {"\"" PROBLEM "\"x,host/bias_relu/f32_f32_f32/rcr/plain_16,1,1,@CODE\n", PROBLEM,
         "split_64", "1 of 1"},
        {"a\"b,c,1,1\n\n\n", PROBLEM, "split_64", "1 of 1"},
        {"\"a\"\"b\",c,1,1,1,1\n", PROBLEM, "split_64", "1 of 1"},
        {"\"" PROBLEM "\",host/bias_relu/f32_f32_f32/rcr/plain_16,1,1\n", PROBLEM, "split_64",
         "1 of 1 rows dropped (line 5: not `problem,instance,us,error,content`)"},
        {"\"" PROBLEM "\",host/bias_relu/f32_f32_f32/rcr/plain_16,1,1,012345678\n", PROBLEM,
         "split_64", "1 of 1"},
        {"\"" PROBLEM "\",host/bias_relu/f32_f32_f32/rcr/plain_16,1,1,0123456789ABCDEF\n", PROBLEM,
         "split_64", "1 of 1"},
        {ROW(PROBLEM,
             "plain_64") "\"" PROBLEM
                         "\",host/bias_relu/f32_f32_f32/rcr/plain_16,1,1,0123456789abcdef\n",
         PROBLEM, "plain_64",
         "1 of 2 rows dropped (line 6: its kernel has changed); kernels that have changed: 1, that "
         "are gone: 0; tune their problems again"},
        /* Of rows of one instance the second is read by what it shares with the first. */
        {ROW(PROBLEM, "plain_16") ROW("bias_relu f32,f32,f32 rcr m=8 n=64 k=2048x", "plain_16"),
         PROBLEM, "plain_16", "1 of 2 rows dropped (line 6: problem text: k=2048x: a size is a"},
        {ROW(PROBLEM, "plain_16")
             ROW("bias_relu f32,f32,f32 rcr m=8 n=64 k=99999999999", "plain_16"),
         PROBLEM, "plain_16", "1 of 2 rows dropped (line 6: problem text: k=99999999999: a size"},
        {ROW(PROBLEM, "plain_16") ROW("bias_relu f32,f32,f32 rcr m=8 n=64", "plain_16"), PROBLEM,
         "plain_16", "1 of 2 rows dropped (line 6: problem text: k= is missing"},
        {ROW(PROBLEM, "plain_16") ROW("bias_relu f16,f32,f32 rcr m=8 n=64 k=2048", "plain_16"),
         PROBLEM, "plain_16", "does not take its problem"},
        {ROW("bias_relu f32,f32,f32 rcr m=8 n=64 k=2048", "plain_16")
             ROW("bias_relu f32,f32,f32 rcr k=2048 n=64 m=500", "plain_16"),
         "bias_relu f32,f32,f32 rcr m=500 n=64 k=2048", "plain_16", ""},
        {ROW("bias_relu f32,f32,f32 rcr m=8 n=64 k=2048", "plain_16")
             ROW("bias_relu f32,f32,f32 rcr m=500 n=64 k=2048 batch=3", "plain_16"),
         "bias_relu f32,f32,f32 rcr m=500 n=64 k=2048 batch=3", "plain_16", ""},
        {ROW("bias_relu f32,f32,f32 rcr m=8 n=64 k=2048 lda=2050", "plain_16")
             ROW("bias_relu f32,f32,f32 rcr m=500 n=64 k=2051 lda=2050", "plain_16"),
         "bias_relu f32,f32,f32 rcr m=500 n=64 k=2048 lda=2050", "split_64",
         "1 of 2 rows dropped (line 6: its instance does not take"},
        {"Validator,COLOUR,blue\n", PROBLEM, "split_64",
         "tuning.csv:5: unknown validator COLOUR: not used; write it anew"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const char *said;
        const tuning t = {.rows = row[i].rows};
        const char *chosen = tuned(&t, row[i].problem, &said);
        if (strcmp(chosen, row[i].chosen) != 0)
            fail_msg("row %zu: %s, not %s (%s)", i, chosen, row[i].chosen, said);
        if (*row[i].said)
            assert_says(said, row[i].said);
        else
            assert_string_equal(said, "");
    }
}

static void test_validators(void **state)
{
    (void)state;
    static const struct {
        tuning t;
        const char *said;
    } row[] = {
        {{.version = "9.9"}, "made with KILN_VERSION 9.9, this is " KILN_VERSION ": not used"},
        {{.target = "gfx942"}, "made with TARGET gfx942, this is host"},
        {{.device = "AMD, \"\"fast\"\""}, "made with DEVICE AMD, \"fast\", this is "},
        {{.units = "304"}, "made with UNITS 304"},
        {{.registry = "0123456789abcdef"},
         "tuning.csv:5: rows of an earlier kiln, that do not say what their kernels were: not "
         "used; "
         "write it anew with `kiln tune --replace`"},
        {{.units = ""}, "tuning.csv:4: no validator UNITS before its rows"},
        {{.version = ""}, "no validator KILN_VERSION before its rows"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        tuning t = row[i].t;
        const char *said;
        t.rows = ROW(PROBLEM, "plain_16");
        assert_string_equal(tuned(&t, PROBLEM, &said), "split_64");
        assert_says(said, row[i].said);
    }
    char *long_rows = malloc(6000);
    memset(long_rows, 'x', 5999);
    long_rows[5999] = 0;
    const tuning t = {.rows = long_rows};
    const char *said;
    assert_string_equal(tuned(&t, PROBLEM, &said), "split_64");
    assert_says(said, "longer than 4096 bytes: not used");
    free(long_rows);
}

static void test_tuning_that_is_marked(void **state)
{
    (void)state;
    const tuning t = {.mark = "\xef\xbb\xbf", .rows = ROW(PROBLEM, "plain_16")};
    const char *said;
    assert_string_equal(tuned(&t, PROBLEM, &said), "plain_16");
    assert_string_equal(said, "");
}

static void test_tuning_in_explain(void **state)
{
    (void)state;
    const char *said;
    const tuning t = {.rows = ROW(PROBLEM, "plain_16")};
    tuned(&t, PROBLEM, &said);
    char path[300];
    snprintf(path, sizeof path, "%s/tuning.csv", test_folder);
    setenv("KILN_TUNING", path, 1);
    kiln_ctx *ctx = open_ctx("host");
    unsetenv("KILN_TUNING");
    assert_says(explain(ctx, PROBLEM), "plain_16  chosen: tuned for this shape, cost 100.0 us\n");
    assert_says(explain(ctx, PROBLEM), "split_64  not tuned: cost 5.0 us\n");
    assert_says(explain(ctx, "bias_relu f32,f32,f32 rcr m=66 n=64 k=2048"),
                "chosen: tuned for the nearest shape, ");
    kiln_close(ctx);
    kiln_config config = test_config("host");
    config.tuning = "/nonexistent/tuning.csv";
    assert_ok(kiln_open(&ctx, &config));
    assert_says(kiln_refused_at(ctx, 0), "/nonexistent/tuning.csv: No such file");
    kiln_close(ctx);
}

static const char *chosen_by(const char *files, const char *text)
{
    static char name[128];
    kiln_config config = test_config("host");
    kiln_ctx *ctx;
    config.tuning = files;
    assert_ok(kiln_open(&ctx, &config));
    snprintf(name, sizeof name, "%s", strrchr(find(ctx, text), '/') + 1);
    if (kiln_refused_at(ctx, 0)) snprintf(name, sizeof name, "%.120s", kiln_refused_at(ctx, 0));
    kiln_close(ctx);
    return name;
}

#define OTHER "bias_relu f32,f32,f32 rcr m=8 n=64 k=2048"

/* Of several files the first that has a shape decides, be it the nearest one. */
static void test_several_files(void **state)
{
    (void)state;
    char both[600], back[600];
    write_tuning("a.csv", &(tuning){.rows = ROW(PROBLEM, "plain_16")});
    write_tuning("b.csv", &(tuning){.rows = ROW(PROBLEM, "plain_64") ROW(OTHER, "plain_64")});
    snprintf(both, sizeof both, "%s/a.csv::%s/b.csv", test_folder, test_folder);
    snprintf(back, sizeof back, "%s/b.csv:%s/a.csv:", test_folder, test_folder);
    assert_string_equal(chosen_by(both, PROBLEM), "plain_16");
    assert_string_equal(chosen_by(both, PROBLEM " lda=4096"), "plain_16");
    assert_string_equal(chosen_by(both, OTHER), "plain_64");
    assert_string_equal(chosen_by(back, PROBLEM), "plain_64");
    snprintf(both, sizeof both, "%s/none.csv:%s/b.csv", test_folder, test_folder);
    assert_says(chosen_by(both, PROBLEM), "/none.csv: No such file");
    setenv("KILN_TUNING", back, 1);
    assert_string_equal(chosen_by(NULL, PROBLEM), "plain_64");
    assert_string_equal(chosen_by("", PROBLEM), "split_64");
    unsetenv("KILN_TUNING");
}

/* Rows are kept by what their instances are made of: other ops come and go. */
static void test_other_ops(void **state)
{
    (void)state;
    char path[300];
    write_tuning("a.csv", &(tuning){.rows = ROW(PROBLEM, "plain_16")});
    snprintf(path, sizeof path, "%s/a.csv", test_folder);
    install_fixture("rowwise", "libkiln-host2.so");
    assert_string_equal(chosen_by(path, PROBLEM), "plain_16");
    remove_file("libkiln-host2.so");
    assert_string_equal(chosen_by(path, PROBLEM), "plain_16");
}

/* tuning/ beside the modules: each device's own file, where nothing else is named. */
static void test_system_folder(void **state)
{
    (void)state;
    char path[300];
    snprintf(path, sizeof path, "%s/tuning", test_folder);
    assert_int_equal(mkdir(path, 0777), 0);
    write_tuning("tuning/a.csv",
                 &(tuning){.device = "another machine", .rows = ROW(PROBLEM, "plain_64")});
    write_tuning("tuning/b.csv", &(tuning){.rows = ROW(PROBLEM, "plain_16")});
    write_tuning("tuning/c.csv", &(tuning){.rows = ROW(PROBLEM, "plain_64")});
    write_tuning("tuning/notes.txt", &(tuning){.rows = "hello\n"});
    assert_string_equal(chosen_by(NULL, PROBLEM), "plain_16");
    assert_string_equal(chosen_by("", PROBLEM), "split_64");
    setenv("KILN_TUNING", "", 1);
    assert_string_equal(chosen_by(NULL, PROBLEM), "plain_16");
    setenv("KILN_TUNING", ":", 1);
    assert_string_equal(chosen_by(NULL, PROBLEM), "split_64");
    unsetenv("KILN_TUNING");
    write_tuning("tuning/c.csv", &(tuning){.version = "9.9", .rows = ""});
    assert_says(chosen_by(NULL, PROBLEM), "/tuning/c.csv:1: made with KILN_VERSION 9.9");
    remove_file("tuning/a.csv");
    remove_file("tuning/b.csv");
    remove_file("tuning/c.csv");
}

/* Everything that can be wrong with a problem, once. */
static void test_misuse(void **state)
{
    (void)state;
    kiln_ctx *ctx = open_ctx("host");
    const kiln_problem good = problem("axpby f32,f32,f32 rrr m=4 n=6 k=8 batch=3");
    const kiln_kernel *k;
#define BAD(change, status, says)                                                                  \
    do {                                                                                           \
        kiln_problem p = good;                                                                     \
        change;                                                                                    \
        k = (const kiln_kernel *)ctx;                                                              \
        assert_error(kiln_find(ctx, &p, &k), status, says);                                        \
        assert_null(k);                                                                            \
    } while (0)
    BAD(p.struct_size = 0, KILN_INVALID, "kiln_problem.struct_size is 0");
    BAD(p.struct_size -= 3, KILN_INVALID, "kiln_problem.struct_size");
    BAD(p.op[0] = 0, KILN_INVALID, "op is empty");
    BAD(memset(p.op, 'x', sizeof p.op), KILN_INVALID, "op is not 0-terminated");
    BAD(p.a.dtype = KILN_DTYPE_NONE, KILN_INVALID, "a.dtype is 0");
    BAD(p.b.dtype = KILN_DTYPE_COUNT, KILN_INVALID, "b.dtype is 13");
    BAD(p.e.dtype = (kiln_dtype)-5, KILN_INVALID, "e.dtype is -5");
    BAD(p.acc = (kiln_dtype)77, KILN_INVALID, "acc is 77");
    BAD(p.a.layout = KILN_LAYOUT_NONE, KILN_INVALID, "a.layout is 0");
    BAD(p.e.layout = (kiln_layout)3, KILN_INVALID, "e.layout is 3");
    BAD(p.m = -1, KILN_INVALID, "m is negative (-1)");
    BAD(p.n = INT64_MIN, KILN_INVALID, "n is negative");
    BAD(p.k = 1ll << 31, KILN_INVALID, "k is 2147483648: at most 2^31 - 1");
    BAD(p.batch = INT64_MAX, KILN_INVALID, "batch is 9223372036854775807");
    BAD(p.a.ld = 7, KILN_INVALID, "A's leading dimension is 7, but its rows have 8 elements");
    BAD(p.b.ld = -3, KILN_INVALID, "B's leading dimension is negative (-3)");
    BAD(p.e.ld = 5, KILN_INVALID, "E's leading dimension is 5");
    BAD(p.d[0].ld = 5, KILN_INVALID, "c's leading dimension is 5");
    BAD(p.a.batch_stride = -2, KILN_INVALID, "A's batch stride is negative (-2)");
    BAD(p.e.batch_stride = KILN_BROADCAST, KILN_INVALID, "E's batch stride is KILN_BROADCAST");
    BAD(p.e.batch_stride = 23, KILN_INVALID,
        "E's batch stride is 23: with 4 rows of 6 elements, 6 apart, batches would overwrite");
    BAD(p.a.align = 24, KILN_INVALID, "A's alignment is 24: it must be a power of two");
    BAD(p.a.ld = INT64_MAX / 4, KILN_INVALID, "A spans more than 2^60 bytes");
    BAD(p.a.batch_stride = INT64_MAX / 4, KILN_INVALID, "A spans more than 2^60 bytes");
    BAD(p.m = p.n = p.batch = INT32_MAX, KILN_INVALID, "spans more than 2^60 bytes");
    BAD(p.d[0].dtype = KILN_I8, KILN_NOT_FOUND, "axpby's input 'c' is f32, not i8");
    BAD(p.d[0].layout = KILN_COL, KILN_NOT_FOUND, "axpby's input 'c' is row-major here");
#undef BAD
    kiln_problem halves = good;
    halves.b.dtype = KILN_I4;
    halves.b.ld = 7;
    assert_error(kiln_problem_resolve(&halves, &halves), KILN_INVALID,
                 "B's leading dimension is 7: rows of i4 begin at a byte, so it must be a multiple "
                 "of 2");
    halves.b.ld = 8;
    halves.b.batch_stride = 65;
    assert_error(kiln_problem_resolve(&halves, &halves), KILN_INVALID,
                 "B's batch stride is 65: batches of i4 begin at a byte, so it must be a multiple "
                 "of 2");
    halves.b.ld = halves.b.batch_stride = 0;
    halves.n = 5;
    assert_ok(kiln_problem_resolve(&halves, &halves));
    assert_int_equal(halves.b.ld, 6);
    assert_int_equal(halves.b.batch_stride, 48);
    assert_status(kiln_find(NULL, &good, &k), KILN_INVALID);
    assert_status(kiln_find(ctx, NULL, &k), KILN_INVALID);
    assert_status(kiln_find(ctx, &good, NULL), KILN_INVALID);
    assert_status(kiln_kernel_by_name(ctx, NULL, &k), KILN_INVALID);
    assert_ok(kiln_find(ctx, &good, &k));
    kiln_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cost_and_legality),
        cmocka_unit_test(test_find_all),
        cmocka_unit_test(test_what_comes_closest),
        cmocka_unit_test(test_explain),
        cmocka_unit_test(test_explain_long),
        cmocka_unit_test(test_two_modules_of_a_target),
        cmocka_unit_test(test_tuned_rows),
        cmocka_unit_test(test_validators),
        cmocka_unit_test(test_several_files),
        cmocka_unit_test(test_system_folder),
        cmocka_unit_test(test_other_ops),
        cmocka_unit_test(test_tuning_that_is_marked),
        cmocka_unit_test(test_tuning_in_explain),
        cmocka_unit_test(test_misuse),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
