// SPDX-License-Identifier: MIT
// Problems as text: what is read, what is written back, what each mistake says; defaults filled in
// by resolve.
#define _GNU_SOURCE
#include "runtime_host_test.h"

static const char *format(const kiln_problem *p)
{
    static char text[2048];
    size_t len = sizeof text;
    if (kiln_problem_format(p, text, &len)) fail_msg("%s", kiln_error());
    assert_int_equal(len, strlen(text) + 1);
    return text;
}

/* What is read and written comes out in the canonical order. */
static void test_round_trip(void **state)
{
    (void)state;
    static const char *const row[][2] = {
        {"bias_relu f16,f16,f16 rcr m=4096 n=11008 k=4096", NULL},
        {"  bias_relu\tf16,f16,f16  rcr k=3 n=2 m=1 ", "bias_relu f16,f16,f16 rcr m=1 n=2 k=3"},
        {"x f8e4m3fnuz,f8e5m2,bf16 crc m=0 n=0 k=0", NULL},
        {"x i8,i8,i8 rcr m=1 n=1 k=1 acc=i32 batch=7 lda=9 ldb=10 lde=11", NULL},
        {"x i8,i8,i8 rcr m=1 n=1 k=1 batch=7 sa=1 sb=broadcast se=3", NULL},
        {"x i8,i8,i8 rcr m=1 n=1 k=1 batch=7 sb=-1",
         "x i8,i8,i8 rcr m=1 n=1 k=1 batch=7 sb=broadcast"},
        {"x i8,i8,i8 rcr m=1 n=1 k=1 aligna=16 alignb=4 aligne=4096", NULL},
        {"x i8,i8,i8 rcr m=1 n=1 k=1 batch=1", "x i8,i8,i8 rcr m=1 n=1 k=1"},
        {"x i8,i8,i8 rcr m=1 n=1 k=1 align=16", NULL},
        {"x i8,i8,i8 rcr m=1 n=1 k=1 align=16 alignb=32",
         "x i8,i8,i8 rcr m=1 n=1 k=1 alignb=32 align=16"}, /* inputs without names */
        {"axpby f32,f32,f32 rrr m=8 n=4 k=2 ldd.c=17 sd.c=1000", NULL},
        {"axpby f32,f32,f32 rrr m=8 n=4 k=2 align=64", NULL},
        {"axpby f32,f32,f32 rrr m=8 n=4 k=2 alignd.c=64", NULL},
        {"axpby f32,f32,f32 rrr m=8 n=4 k=2 align=64 alignd.c=16",
         "axpby f32,f32,f32 rrr m=8 n=4 k=2 aligna=64 alignb=64 aligne=64 alignd.c=16"},
        {"axpby f32,f32,f32 rrr m=8 n=4 k=2 alignd.c=16 align=64",
         "axpby f32,f32,f32 rrr m=8 n=4 k=2 aligna=64 alignb=64 aligne=64 alignd.c=16"},
        {"x f32,f32,f32 rrr m=2147483647 n=1 k=1 lda=9223372036854775807", NULL},
        {"x i8,i8,i8 rcr m=1 n=1 k=1 align=2147483648", NULL}, /* the largest of a uint32_t */
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const kiln_problem p = problem(row[i][0]);
        const char *text = format(&p);
        assert_string_equal(text, row[i][1] ? row[i][1] : row[i][0]);
        const kiln_problem again = problem(text);
        assert_string_equal(format(&again), row[i][1] ? row[i][1] : row[i][0]);
    }
}

static void test_fields(void **state)
{
    (void)state;
    const kiln_problem p = problem(
        "axpby f32,f16,bf16 rcr m=8 n=4 k=2 acc=i32 batch=3 lda=5 ldb=6 lde=7 ldd.c=8 sa=50 "
        "sb=-1 se=51 sd.c=52 aligna=16 alignb=32 aligne=64 alignd.c=128");
    assert_string_equal(p.op, "axpby");
    assert_int_equal(p.struct_size, sizeof p);
    assert_int_equal(p.a.dtype, KILN_F32);
    assert_int_equal(p.b.dtype, KILN_F16);
    assert_int_equal(p.e.dtype, KILN_BF16);
    assert_int_equal(p.acc, KILN_I32);
    assert_int_equal(p.a.layout, KILN_ROW);
    assert_int_equal(p.b.layout, KILN_COL);
    assert_int_equal(p.m * 1000 + p.n * 100 + p.k * 10 + p.batch, 8423);
    assert_int_equal(p.a.ld, 5);
    assert_int_equal(p.b.ld, 6);
    assert_int_equal(p.e.ld, 7);
    assert_int_equal(p.d[0].ld, 8);
    assert_int_equal(p.b.batch_stride, KILN_BROADCAST);
    assert_int_equal(p.d[0].batch_stride, 52);
    assert_int_equal(p.d[0].align, 128);
}

static void test_mistakes(void **state)
{
    (void)state;
    static const char *const row[][2] = {
        {"", "empty"},
        {"   ", "empty"},
        {"op", "three types"},
        {"o-p f16,f16,f16 rcr m=1 n=1 k=1", "'o-p' is not an op's name"},
        {"o\x01p f16,f16,f16 rcr", "'o?p'"},
        {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa f16,f16,f16 rcr",
         "has 70 bytes"},
        {"op f16,f16 rcr m=1 n=1 k=1", "three types"},
        {"op f16,f16,f16,f16 rcr m=1 n=1 k=1", "three types"},
        {"op f16,,f16 rcr m=1 n=1 k=1", "three types"},
        {"op f16,f16, rcr m=1 n=1 k=1", "three types"},
        {"op f16,f17,f16 rcr m=1 n=1 k=1", "unknown type 'f17'; there are f32 f16 bf16"},
        {"op f16,f16,f16 m=1 n=1 k=1", "three layouts"},
        {"op f16,f16,f16 rcx m=1 n=1 k=1", "'rcx' is not three layouts"},
        {"op f16,f16,f16 rcrr m=1 n=1 k=1", "three layouts"},
        {"op f16,f16,f16 rcr n=1 k=1", "m= is missing"},
        {"op f16,f16,f16 rcr m=1 n=1", "k= is missing"},
        {"op f16,f16,f16 rcr m=1 n=1 k=1 m=2", "m is given twice"},
        {"op f16,f16,f16 rcr m=1 n=1 k=1 align=2 align=2", "align is given twice"},
        {"op f16,f16,f16 rcr m=-1 n=1 k=1", "m=-1: a size is"},
        {"op f16,f16,f16 rcr m=2147483648 n=1 k=1", "a size is"},
        {"op f16,f16,f16 rcr m=99999999999999999999999 n=1 k=1", "a size is"},
        {"op f16,f16,f16 rcr m=1x n=1 k=1", "m=1x"},
        {"op f16,f16,f16 rcr m= n=1 k=1", "a size is"},
        {"op f16,f16,f16 rcr m=1 n=1 k=1 batch=0", "batch=0: a count is a number from 1"},
        {"op f16,f16,f16 rcr m=1 n=1 k=1 batch=2147483648", "a count is"},
        {"op f16,f16,f16 rcr m=1 n=1 k=1 lda=0", "a leading dimension"},
        {"op f16,f16,f16 rcr m=1 n=1 k=1 sa=0", "a batch stride"},
        {"op f16,f16,f16 rcr m=1 n=1 k=1 sa=-2", "or `broadcast`"},
        {"op f16,f16,f16 rcr m=1 n=1 k=1 align=3", "a power of two"},
        {"op f16,f16,f16 rcr m=1 n=1 k=1 acc=f99", "unknown type 'f99'"},
        {"op f16,f16,f16 rcr m=1 n=1 k=1 lbd=3", "unknown field 'lbd'"},
        {"op f16,f16,f16 rcr m=1 n=1 k=1 what", "'what' is not of the form"},
        {"op f16,f16,f16 rcr m=1 n=1 k=1 ldd.c=3", "no open context knows the op 'op'"},
        {"axpby f16,f16,f16 rcr m=1 n=1 k=1 ldd.x=3", "no such input; it has c"},
        {"swiglu f16,f16,f16 rcr m=1 n=1 k=1 ldd.x=3", "it has none"},
        {"axpby f16,f16,f16 rcr m=1 n=1 k=1 ldd.c=3 ldd.c=3", "ldd.c is given twice"},
    };
    kiln_problem p = {.m = 77};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        assert_error(kiln_problem_parse(row[i][0], &p), KILN_INVALID, row[i][1]);
        assert_int_equal(p.m, 77); /* untouched */
    }
    char *long_text = malloc(100000);
    memset(long_text, 'a', 99999);
    long_text[99999] = 0;
    assert_error(kiln_problem_parse(long_text, &p), KILN_INVALID, "longer than");
    free(long_text);
    assert_status(kiln_problem_parse(NULL, &p), KILN_INVALID);
    assert_status(kiln_problem_parse("x", NULL), KILN_INVALID);
}

/* The caller's struct may be another version's: shorter, or longer. */
static void test_sizes(void **state)
{
    (void)state;
    static const char text[] = "x f32,f32,f32 rrr m=1 n=2 k=3";
    static const char aligned[] = "x f32,f32,f32 rrr m=1 n=2 k=3 align=16";
    enum {
        SHORT = offsetof(kiln_problem, d) + sizeof(kiln_tensor),
        FIRST = offsetof(kiln_problem, d) + KILN_MAX_D * sizeof(kiln_tensor) /* version 0.1.0's */
    };
    struct {
        kiln_problem p;
        size_t later[2];
    } longer;
    memset(&longer, 0x55, sizeof longer);
    assert_ok(kiln_problem_parse_sized(text, &longer.p, SHORT));
    assert_int_equal(longer.p.struct_size, SHORT);
    assert_int_equal(longer.p.d[0].ld, 0);
    assert_int_equal(longer.p.d[1].ld, 0x5555555555555555);
    assert_error(kiln_problem_parse_sized(aligned, &longer.p, SHORT), KILN_INVALID,
                 "it sets fields that the caller's kiln_problem of");
    size_t len = 0;
    assert_ok(kiln_problem_format(&longer.p, NULL, &len));
    assert_int_equal(len, sizeof text);
    assert_ok(kiln_problem_parse_sized(aligned, &longer.p, sizeof longer));
    assert_int_equal(longer.p.struct_size, sizeof longer);
    assert_int_equal(longer.p.d[1].align, 16);
    assert_int_equal(longer.later[1], 0);
    assert_ok(kiln_problem_format(&longer.p, NULL, &len));
    longer.later[1] = 1;
    assert_error(kiln_problem_format(&longer.p, NULL, &len), KILN_INVALID, "is not zero");
    longer.p.struct_size = 1 << 20;
    assert_error(kiln_problem_format(&longer.p, NULL, &len), KILN_INVALID, "set it to sizeof");
    assert_ok((kiln_problem_parse)(aligned, &longer.p)); /* as a binding calls it */
    assert_int_equal(longer.p.struct_size, FIRST);
    assert_error(kiln_problem_parse_sized(text, &longer.p, 0), KILN_INVALID, "of 0 bytes lacks");
}

static void test_short_buffers(void **state)
{
    (void)state;
    const kiln_problem p = problem("x f32,f32,f32 rrr m=1 n=2 k=3");
    const char *whole = "x f32,f32,f32 rrr m=1 n=2 k=3";
    size_t len = 0;
    assert_ok(kiln_problem_format(&p, NULL, &len));
    assert_int_equal(len, strlen(whole) + 1);
    for (size_t room = 0; room <= len; room++) {
        char text[64];
        memset(text, '#', sizeof text);
        size_t n = room;
        assert_status(kiln_problem_format(&p, text, &n), room < len ? KILN_TRUNCATED : KILN_OK);
        assert_int_equal(n, len);
        assert_int_equal(text[room], '#');
        if (room) assert_int_equal(strlen(text), room < len ? room - 1 : len - 1);
    }
    assert_status(kiln_problem_format(&p, NULL, NULL), KILN_INVALID);
    assert_status(kiln_problem_format(NULL, NULL, &len), KILN_INVALID);
    kiln_problem unknown = p;
    unknown.d[0].ld = 3;
    assert_error(kiln_problem_format(&unknown, NULL, &len), KILN_NOT_FOUND,
                 "no open context knows the op 'x'");
}

static void test_resolve(void **state)
{
    (void)state;
    kiln_problem p = problem("axpby f32,f32,f32 rcr m=8 n=4 k=2 batch=3 sb=broadcast aligna=64"), r;
    assert_ok(kiln_problem_resolve(&p, &r));
    assert_int_equal(r.acc, KILN_F32);
    assert_int_equal(r.a.ld, 2);
    assert_int_equal(r.b.ld, 2);
    assert_int_equal(r.e.ld, 4);
    assert_int_equal(r.d[0].ld, 4);
    assert_int_equal(r.d[0].dtype, KILN_F32);
    assert_int_equal(r.d[0].layout, KILN_ROW);
    assert_int_equal(r.a.batch_stride, 16);
    assert_int_equal(r.b.batch_stride, KILN_BROADCAST);
    assert_int_equal(r.e.batch_stride, 32);
    assert_int_equal(r.d[0].batch_stride, 32);
    assert_int_equal(r.a.align, 64);
    assert_int_equal(r.b.align, 4);
    p = problem("linear_i8 i8,i8,i8 rcr m=8 n=4 k=2");
    assert_ok(kiln_problem_resolve(&p, &r));
    assert_int_equal(r.acc, KILN_I32);
    assert_int_equal(r.batch, 1);
    p = problem("dequant bf16,i8,f32 rrc m=8 n=4 k=2 batch=2");
    assert_ok(kiln_problem_resolve(&p, &r));
    assert_int_equal(r.d[0].dtype, KILN_F32);
    assert_int_equal(r.d[0].batch_stride, 8); /* per row */
    assert_int_equal(r.d[1].dtype, KILN_BF16);
    assert_int_equal(r.d[1].batch_stride, 1); /* per tensor */
    assert_int_equal(r.e.ld, 8);              /* column-major */
    p = problem("nothing_like_it f32,f32,f32 rrr m=1 n=1 k=1");
    assert_status(kiln_problem_resolve(&p, &r), KILN_NOT_FOUND);
    assert_status(kiln_problem_resolve(NULL, &r), KILN_INVALID);
    assert_status(kiln_problem_resolve(&p, NULL), KILN_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),    cmocka_unit_test(test_fields),
        cmocka_unit_test(test_mistakes),      cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_short_buffers), cmocka_unit_test(test_resolve),
    };
    return cmocka_run_group_tests(tests, open_host, close_host);
}
