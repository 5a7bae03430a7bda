// SPDX-License-Identifier: MIT
// The harness's own numbers: it must not share a mistake with what it checks.  Known codes, every
// code there and back, rounding and saturation; places of elements in padded and broadcast
// operands; inputs are never zero.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include <unistd.h>

static long machine; /* cores that harness_parts.c sees */
#define sysconf(name) machine
#include "harness_parts.c"
#include "harness_values.c"
#include "harness_indices.c"

static void known_codes(void **state)
{
    static const struct {
        kiln_dtype t;
        unsigned code;
        double value;
    } known[] = {
        {KILN_F16, 0x3c00, 1},          {KILN_F16, 0x0001, 0x1p-24},
        {KILN_F16, 0x7bff, 65504},      {KILN_F16, 0xfc00, -INFINITY},
        {KILN_BF16, 0x3f80, 1},         {KILN_BF16, 0xc1e0, -28},
        {KILN_BF16, 0x0001, 0x1p-133},  {KILN_F8E4M3, 0x7e, 448},
        {KILN_F8E4M3, 0x38, 1},         {KILN_F8E4M3, 0x01, 0x1p-9},
        {KILN_F8E5M2, 0x7b, 57344},     {KILN_F8E5M2, 0x3c, 1},
        {KILN_F8E5M2, 0x7c, INFINITY},  {KILN_F8E4M3FNUZ, 0x7f, 240},
        {KILN_F8E4M3FNUZ, 0x40, 1},     {KILN_F8E4M3FNUZ, 0x01, 0x1p-10},
        {KILN_F8E5M2FNUZ, 0x7f, 57344}, {KILN_F8E5M2FNUZ, 0x40, 1},
        {KILN_I8, 0x80, -128},          {KILN_U8, 0x80, 128},
        {KILN_U8, 0xff, 255},
    };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        unsigned char e[4] = {(unsigned char)known[i].code, (unsigned char)(known[i].code >> 8), 0,
                              0},
                      back[4] = {0};
        assert_true(kh_decode(known[i].t, e) == known[i].value);
        kh_encode(known[i].t, known[i].value, back);
        assert_memory_equal(e, back, 4);
    }
    static const struct {
        kiln_dtype t;
        unsigned code;
    } nan[] = {
        {KILN_F16, 0x7c01},  {KILN_F16, 0xffff},  {KILN_BF16, 0x7f81},     {KILN_F8E4M3, 0x7f},
        {KILN_F8E4M3, 0xff}, {KILN_F8E5M2, 0x7d}, {KILN_F8E4M3FNUZ, 0x80}, {KILN_F8E5M2FNUZ, 0x80},
    };
    for (size_t i = 0; i < sizeof nan / sizeof *nan; i++) {
        unsigned char e[4] = {(unsigned char)nan[i].code, (unsigned char)(nan[i].code >> 8), 0, 0};
        assert_true(isnan(kh_decode(nan[i].t, e)));
    }
}

static void there_and_back(void **state)
{
    static const kiln_dtype types[] = {KILN_F16,        KILN_BF16,       KILN_F8E4M3, KILN_F8E5M2,
                                       KILN_F8E4M3FNUZ, KILN_F8E5M2FNUZ, KILN_I8,     KILN_U8};
    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        for (unsigned code = 0; code < (kiln_dtype_size(types[i]) == 2 ? 65536u : 256u); code++) {
            unsigned char e[2] = {(unsigned char)code, (unsigned char)(code >> 8)}, back[2] = {0};
            const double v = kh_decode(types[i], e);
            kh_encode(types[i], v, back);
            if (isnan(v))
                assert_true(isnan(kh_decode(types[i], back)));
            else
                assert_memory_equal(e, back, kiln_dtype_size(types[i]));
        }
}

/* Two elements to a byte, the first in the low half; a neighbour stays as it is. */
static void pieces(void **state)
{
    static const kiln_dtype types[] = {KILN_I4, KILN_U4};
    (void)state;
    for (int i = 0; i < 2; i++) {
        const kh_operand o = {.dtype = types[i], .size = 1, .span = 5};
        const int least = i ? 0 : -8;
        unsigned char e[3] = {0x5a, 0x5a, 0x5a};
        assert_int_equal(kh_span(&o), 3);
        for (int at = 0; at < 5; at++) kh_put(&o, e, at, least + 3 * at);
        for (int at = 0; at < 5; at++) assert_true(kh_get(&o, e, at) == least + 3 * at);
        assert_int_equal(e[0], i ? 0x30 : 0xb8);
        assert_int_equal(e[2], i ? 0x5c : 0x54);
    }
}

static double rounded(kiln_dtype t, double x)
{
    unsigned char e[4];
    kh_encode(t, x, e);
    return kh_decode(t, e);
}

static void rounding(void **state)
{
    (void)state;
    assert_true(rounded(KILN_F16, 2049) == 2048 &&
                rounded(KILN_F16, 2051) == 2052); /* ties to even */
    assert_true(rounded(KILN_BF16, 257) == 256 && rounded(KILN_BF16, 259) == 260);
    assert_true(rounded(KILN_F8E4M3, 17) == 16 && rounded(KILN_F8E4M3, 19) == 20);
    assert_true(rounded(KILN_F8E5M2, 9) == 8 && rounded(KILN_F8E5M2, 11) == 12);
    assert_true(rounded(KILN_F8E4M3, 1e9) == 448 && rounded(KILN_F8E4M3FNUZ, -1e9) == -240);
    assert_true(rounded(KILN_F16, 1e9) == 65504 && isinf(rounded(KILN_F16, (double)INFINITY)));
    assert_true(rounded(KILN_I8, 2.5) == 2 && rounded(KILN_I8, 1000) == 127 &&
                rounded(KILN_I8, -1000) == -128);
    assert_true(rounded(KILN_U8, 254.5) == 254 && rounded(KILN_U8, 1000) == 255 &&
                rounded(KILN_U8, -1000) == 0);
    assert_true(rounded(KILN_I32, 1e18) == 2147483647);
    assert_true(rounded(KILN_F16, 0x1p-25) == 0 && rounded(KILN_F16, 0x1.8p-25) == 0x1p-24);
}

static void places(void **state)
{
    const kh_operand row = {
        .layout = KILN_ROW, .rows = 4, .cols = 5, .ld = 8, .stride = 100, .batch = 2, .planes = 1};
    const kh_operand col = {
        .layout = KILN_COL, .rows = 4, .cols = 5, .ld = 8, .stride = 0, .batch = 2, .planes = 1};
    const kh_operand per_col = {
        .layout = KILN_ROW, .rows = 1, .cols = 5, .ld = 5, .stride = 5, .batch = 2, .planes = 1};
    (void)state;
    assert_int_equal(kh_place(&row, 1, 2, 3), 100 + 16 + 3);
    assert_int_equal(kh_place(&col, 1, 2, 3), 2 + 24);
    assert_int_equal(kh_place(&per_col, 1, 3, 2), 5 + 2);
}

static void inputs(void **state)
{
    static float data[64 * 72];
    kh_shape s = {.problem = {.m = 64, .n = 64, .k = 64, .batch = 1},
                  .op = {.rows = 0, .cols = 1, .summed = 2, .products = 1}};
    const kh_operand a = {.dtype = KILN_F32,
                          .layout = KILN_ROW,
                          .rows = 64,
                          .cols = 64,
                          .ld = 72,
                          .batch = 1,
                          .planes = 1,
                          .span = 63 * 72 + 64,
                          .size = 4};
    (void)state;
    s.operand[0] = s.operand[1] = a;
    uint64_t seed = 1, again = 1;
    static float second[64 * 72];
    kh_fill(&s, &a, KH_RANDOM, &seed, data);
    kh_fill(&s, &a, KH_RANDOM, &again, second);
    assert_memory_equal(data, second, sizeof data); /* a seed says all */
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 72; j++)
            assert_true(j < 64 ? data[i * 72 + j] != 0 : data[i * 72 + j] == 0);
    int nans = 0;
    kh_fill(&s, &a, KH_SPECIALS, &seed, data);
    for (int i = 0; i < 64 * 72; i++) nans += isnan(data[i]) != 0;
    assert_int_equal(nans, 1);
}

/* What is computed row by row has rows of other sizes, and none that is zero. */
static void uneven_rows(void **state)
{
    static float data[8 * 64];
    kh_shape s = {.problem = {.rows = 8, .cols = 64, .batch = 1},
                  .op = {.rows = 0, .cols = 1, .summed = -1}};
    const kh_operand x = {.dtype = KILN_F32,
                          .extra = 1,
                          .layout = KILN_ROW,
                          .along = {0, 1},
                          .block = {1, 1},
                          .rows = 8,
                          .cols = 64,
                          .ld = 64,
                          .batch = 1,
                          .planes = 1,
                          .span = 8 * 64,
                          .size = 4};
    uint64_t seed = 3;
    float largest = 0, least = INFINITY;
    int negative = 0;
    (void)state;
    s.operand[0] = x;
    kh_fill(&s, &x, KH_RANDOM, &seed, data);
    for (int i = 0; i < 8; i++) {
        float most = 0;
        for (int j = 0; j < 64; j++) {
            assert_true(data[i * 64 + j] != 0);
            most = fmaxf(most, fabsf(data[i * 64 + j])), negative += data[i * 64 + j] < 0;
        }
        largest = fmaxf(largest, most), least = fminf(least, most);
    }
    assert_true(largest > 4 * least);
    assert_true(negative > 8 * 64 / 4 && negative < 8 * 64 * 3 / 4);
}

/* Which outputs may be which inputs: as many as can be, then one alone. */
static void in_place(void **state)
{
    const kh_operand full = {
        .extra = 1, .dtype = KILN_BF16, .layout = KILN_ROW, .along = {0, 1}, .block = {1, 1}};
    kh_shape s = {.op = {.rows = 0, .cols = 1, .summed = -1}, .count = 5, .inputs = 3};
    int input[KH_MAX_OPERANDS];
    (void)state;
    for (int i = 0; i < 5; i++) s.operand[i] = full;
    s.operand[1].vector = 1;
    s.operand[3].out = s.operand[4].out = 1;
    assert_true(kh_in_place(&s, 0, input) && input[3] == 0 && input[4] == 2);
    assert_true(kh_in_place(&s, 1, input) && input[3] == 0 && input[4] == -1);
    assert_true(kh_in_place(&s, 2, input) && input[3] == 2 && input[4] == -1);
    assert_true(kh_in_place(&s, 4, input) && input[3] == -1 && input[4] == 2);
    assert_false(kh_in_place(&s, 5, input));
    s.operand[4].dtype = KILN_F32;
    s.operand[3].block[1] = 128; /* one for a block of columns is no full one */
    assert_false(kh_in_place(&s, 0, input));
    s.count = 4; /* one output alone: the first input that it may be */
    s.operand[3] = full;
    assert_true(kh_in_place(&s, 0, input) && input[3] == 0);
    assert_false(kh_in_place(&s, 1, input));
}

/* As many threads as there are fill what one would, in each batch, and nothing between rows. */
static void threads_agree(void **state)
{
    enum { ROWS = 700, COLS = 1500, LD = 1504, BATCH = 2, SPAN = BATCH * ROWS * LD };
    static unsigned char one[SPAN], several[SPAN], pool[POOL * 4];
    const kh_operand o = {.dtype = KILN_I8,
                          .layout = KILN_ROW,
                          .rows = ROWS,
                          .cols = COLS,
                          .ld = LD,
                          .stride = ROWS * LD,
                          .batch = BATCH,
                          .planes = 1,
                          .span = SPAN,
                          .size = 1};
    int alike = 0;
    (void)state;
    for (size_t i = 0; i < POOL; i++) pool[i] = (unsigned char)(1 + i % 200);
    machine = 1;
    fill_rows(&o, pool, NULL, 42, (char *)one);
    machine = 7;
    fill_rows(&o, pool, NULL, 42, (char *)several);
    assert_memory_equal(one, several, SPAN);
    for (size_t row = 0; row < BATCH * ROWS; row++) {
        const unsigned char *at = one + row * LD;
        for (size_t j = 0; j < LD; j++) assert_true((at[j] != 0) == (j < COLS));
        alike += row && !memcmp(at, at - LD, COLS);
    }
    assert_int_equal(alike, 0);
    assert_memory_not_equal(one, one + (PART / COLS) * LD, COLS); /* rows that start a part */
}

static void count_part(void *arg, int64_t part)
{
    atomic_fetch_add((atomic_int *)arg + part, 1);
}

/* Each part once, whatever the number of threads and of parts. */
static void parts_are_done(void **state)
{
    enum { MOST = 40 };
    (void)state;
    for (machine = -1; machine <= 2 * MAX_THREADS; machine += 3)
        for (int64_t parts = 0; parts < MOST; parts++) {
            atomic_int done[MOST] = {0};
            kh_parts(parts, count_part, done);
            for (int64_t i = 0; i < MOST; i++) assert_int_equal(done[i], i < parts);
        }
    assert_int_equal(kh_threads(), MAX_THREADS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_codes),   cmocka_unit_test(there_and_back),
        cmocka_unit_test(pieces),        cmocka_unit_test(rounding),
        cmocka_unit_test(places),        cmocka_unit_test(inputs),
        cmocka_unit_test(uneven_rows),   cmocka_unit_test(in_place),
        cmocka_unit_test(threads_agree), cmocka_unit_test(parts_are_done)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
