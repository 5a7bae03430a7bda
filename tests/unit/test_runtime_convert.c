// SPDX-License-Identifier: MIT
// Number formats: every pattern of every small type decodes to its definition and encodes back to
// itself; every midpoint between neighbours rounds to even; saturation, infinities and NaN as
// described.
#define _GNU_SOURCE
#include <float.h>
#include <math.h>
#include "runtime_test.h"

/* A format's value by its definition, one bit at a time: nothing in common with convert.c. */
typedef struct definition {
    kiln_dtype t;
    int exponent, mantissa, bias;
    unsigned nan_from, nan_to, infinity; /* magnitudes (0: none); fnuz: NaN is 0x80 */
    int fnuz, saturates;
} definition;

static const definition small[] = {
    {KILN_F16, 5, 10, 15, 0x7c01, 0x7fff, 0x7c00, 0, 0},
    {KILN_BF16, 8, 7, 127, 0x7f81, 0x7fff, 0x7f80, 0, 0},
    {KILN_F8E4M3, 4, 3, 7, 0x7f, 0x7f, 0, 0, 1},
    {KILN_F8E5M2, 5, 2, 15, 0x7d, 0x7f, 0x7c, 0, 1},
    {KILN_F8E4M3FNUZ, 4, 3, 8, 0, 0, 0, 1, 1},
    {KILN_F8E5M2FNUZ, 5, 2, 16, 0, 0, 0, 1, 1},
};
enum { SMALL = sizeof small / sizeof *small };

static unsigned patterns(const definition *f)
{
    return 1u << (1 + f->exponent + f->mantissa);
}

static double value_of(const definition *f, unsigned code)
{
    const unsigned sign = code >> (f->exponent + f->mantissa), size = code & (patterns(f) / 2 - 1);
    if (f->fnuz && sign && !size) return NAN;
    if (f->nan_from && size >= f->nan_from && size <= f->nan_to) return NAN;
    if (f->infinity && size == f->infinity) return sign ? -INFINITY : INFINITY;
    double fraction = 0, weight = 1;
    for (int bit = f->mantissa - 1; bit >= 0; bit--) {
        weight /= 2;
        if (size >> bit & 1) fraction += weight;
    }
    const int e = (int)(size >> f->mantissa);
    const double v = e ? pow(2, e - f->bias) * (1 + fraction) : pow(2, 1 - f->bias) * fraction;
    return sign ? -v : v;
}

static kr_at at(void *p)
{
    return (kr_at){p, 0};
}

static double decode(const definition *f, unsigned code)
{
    uint8_t byte = (uint8_t)code;
    uint16_t half = (uint16_t)code;
    return patterns(f) == 256 ? kr_decode(f->t, at(&byte)) : kr_decode(f->t, at(&half));
}

static unsigned encode(const definition *f, double x)
{
    uint8_t byte = 0;
    uint16_t half = 0;
    if (patterns(f) == 256) return kr_encode(f->t, x, at(&byte)), byte;
    return kr_encode(f->t, x, at(&half)), half;
}

static void same(const definition *f, double x, double y, unsigned code)
{
    if (isnan(x) ? isnan(y) : x == y && signbit(x) == signbit(y)) return;
    fail_msg("%s 0x%x: %.17g, not %.17g", kiln_dtype_name(f->t), code, x, y);
}

static void test_every_pattern(void **state)
{
    (void)state;
    for (int i = 0; i < SMALL; i++)
        for (unsigned code = 0; code < patterns(&small[i]); code++) {
            const double v = value_of(&small[i], code);
            same(&small[i], decode(&small[i], code), v, code);
            if (isinf(v) && small[i].saturates) continue;
            same(&small[i], decode(&small[i], encode(&small[i], v)), v, code);
            if (!isnan(v)) assert_int_equal(encode(&small[i], v), code);
        }
}

/* Between neighbours: the middle goes to the even one, a hair beside it to the nearer. */
static void test_every_midpoint(void **state)
{
    (void)state;
    for (int i = 0; i < SMALL; i++) {
        const definition *f = &small[i];
        for (unsigned code = 0; code + 1 < patterns(f) / 2; code++) {
            const double lo = value_of(f, code), hi = value_of(f, code + 1);
            if (isnan(lo) || isnan(hi) || isinf(hi)) continue;
            const double middle = (lo + hi) / 2;
            assert_int_equal(encode(f, middle), code & 1 ? code + 1 : code);
            assert_int_equal(encode(f, nextafter(middle, 0)), code);
            assert_int_equal(encode(f, nextafter(middle, INFINITY)), code + 1);
            if (code || !f->fnuz)
                assert_int_equal(encode(f, -nextafter(middle, INFINITY)),
                                 (code + 1) | patterns(f) / 2);
        }
    }
}

static void test_beyond_the_largest(void **state)
{
    (void)state;
    static const struct {
        int i;
        double largest;
    } expected[] = {{0, 65504}, {1, 0x1.fep127}, {2, 448}, {3, 57344}, {4, 240}, {5, 57344}};
    for (int i = 0; i < SMALL; i++) {
        const definition *f = &small[i];
        const double most = expected[i].largest;
        same(f, decode(f, encode(f, most)), most, 0);
        const double past = f->saturates ? most : INFINITY;
        same(f, decode(f, encode(f, 2 * most)), past, 1);
        same(f, decode(f, encode(f, -2 * most)), -past, 2);
        same(f, decode(f, encode(f, INFINITY)), past, 3);
        same(f, decode(f, encode(f, -INFINITY)), -past, 4);
        same(f, decode(f, encode(f, DBL_MAX)), past, 5);
        same(f, decode(f, encode(f, NAN)), NAN, 6);
    }
    /* Half a unit above the largest f16 still rounds down only below the tie. */
    assert_int_equal(encode(&small[0], nextafter(65520, 0)), 0x7bff);
    assert_int_equal(encode(&small[0], 65520), 0x7c00);
}

static void test_zero_signs(void **state)
{
    (void)state;
    for (int i = 0; i < SMALL; i++) {
        const definition *f = &small[i];
        assert_int_equal(encode(f, -0.0), f->fnuz ? 0 : patterns(f) / 2);
        assert_int_equal(encode(f, -1e-300), f->fnuz ? 0 : patterns(f) / 2);
        assert_int_equal(encode(f, 0), 0);
    }
}

/* f32 against the compiler's own conversion. */
static void test_f32(void **state)
{
    (void)state;
    uint64_t random = 88172645463325252ull;
    for (int i = 0; i < 2000000; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        uint32_t code = (uint32_t)(random >> 16);
        float x, got;
        memcpy(&x, &code, 4);
        const double d = kr_decode(KILN_F32, at(&code));
        assert_true(isnan(x) ? isnan(d) : d == (double)x);
        double wide; /* any double, most of them near f32's range */
        uint64_t bits = (random & 0x800fffffffffffffull) |
                        (uint64_t)(1023 - 160 + (int)(random >> 52 & 0xff)) << 52 |
                        (random & 0x10000000) << 20;
        memcpy(&wide, &bits, 8);
        kr_encode(KILN_F32, wide, at(&got));
        const float want = (float)wide;
        assert_memory_equal(&got, &want, 4);
    }
}

static void test_integers(void **state)
{
    (void)state;
    static const struct {
        double x;
        int i8, u8;
        int32_t i32;
    } row[] = {
        {0.5, 0, 0, 0},
        {1.5, 2, 2, 2},
        {2.5, 2, 2, 2},
        {-0.5, 0, 0, 0},
        {-1.5, -2, 0, -2},
        {126.5, 126, 126, 126},
        {127.5, 127, 128, 128},
        {127.49, 127, 127, 127},
        {254.5, 127, 254, 254},
        {255.5, 127, 255, 256},
        {1e9, 127, 255, 1000000000},
        {-128.5, -128, 0, -128},
        {-129, -128, 0, -129},
        {1e300, 127, 255, INT32_MAX},
        {-INFINITY, -128, 0, INT32_MIN},
        {INFINITY, 127, 255, INT32_MAX},
        {NAN, 0, 0, 0},
        {2147483647.4, 127, 255, INT32_MAX},
        {-2147483648.5, -128, 0, INT32_MIN},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        int8_t byte;
        uint8_t plain;
        int32_t word;
        kr_encode(KILN_I8, row[i].x, at(&byte));
        kr_encode(KILN_U8, row[i].x, at(&plain));
        kr_encode(KILN_I32, row[i].x, at(&word));
        assert_int_equal(byte, row[i].i8);
        assert_int_equal(plain, row[i].u8);
        assert_int_equal(word, row[i].i32);
    }
    for (int i = -128; i < 128; i++) {
        int8_t byte = (int8_t)i;
        assert_true(kr_decode(KILN_I8, at(&byte)) == i);
        assert_true(kr_decode(KILN_U8, at(&byte)) == (i < 0 ? i + 256 : i));
    }
}

/* Each half of a byte is an element, and stays when the other one is written. */
static void test_halves(void **state)
{
    (void)state;
    static const struct {
        double x;
        int i4, u4;
    } row[] = {
        {0.5, 0, 0},     {1.5, 2, 2},        {-0.5, 0, 0},      {-1.5, -2, 0}, {6.5, 6, 6},
        {7.5, 7, 8},     {15.5, 7, 15},      {-8.5, -8, 0},     {-9, -8, 0},   {1e300, 7, 15},
        {-1e300, -8, 0}, {-INFINITY, -8, 0}, {INFINITY, 7, 15}, {NAN, 0, 0},
    };
    for (unsigned code = 0; code < 256; code++)
        for (unsigned shift = 0; shift < 8; shift += 4) {
            uint8_t byte = (uint8_t)code;
            const kr_at half = {(char *)&byte, shift};
            const int bits = code >> shift & 15;
            assert_true(kr_decode(KILN_U4, half) == bits);
            assert_true(kr_decode(KILN_I4, half) == (bits < 8 ? bits : bits - 16));
            for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
                const unsigned other = code & (0xf0u >> shift);
                byte = (uint8_t)code;
                kr_encode(KILN_I4, row[i].x, half);
                assert_int_equal(byte, other | ((unsigned)row[i].i4 & 15) << shift);
                assert_true(kr_decode(KILN_I4, half) == row[i].i4);
                kr_encode(KILN_U4, row[i].x, half);
                assert_int_equal(byte, other | (unsigned)row[i].u4 << shift);
            }
        }
}

static void test_mul_types(void **state)
{
    (void)state;
    static const kiln_dtype row[][4] = {
        {KILN_F16, KILN_F16, KILN_F16, KILN_F16},
        {KILN_BF16, KILN_I8, KILN_BF16, KILN_BF16},
        {KILN_I8, KILN_F16, KILN_F16, KILN_F16},
        {KILN_F16, KILN_BF16, KILN_F32, KILN_F32},
        {KILN_F8E4M3, KILN_F8E5M2, KILN_F8E4M3, KILN_F8E5M2},
        {KILN_F8E4M3, KILN_BF16, KILN_BF16, KILN_BF16},
        {KILN_I8, KILN_I32, KILN_F32, KILN_F32},
        {KILN_F32, KILN_F16, KILN_F32, KILN_F32},
        {KILN_I8, KILN_F8E4M3, KILN_F32, KILN_F32},
        {KILN_I32, KILN_I32, KILN_I32, KILN_I32},
        {KILN_BF16, KILN_U4, KILN_BF16, KILN_BF16},
        {KILN_I4, KILN_F16, KILN_F16, KILN_F16},
        {KILN_I8, KILN_I4, KILN_I8, KILN_I8},
        {KILN_U4, KILN_I4, KILN_I8, KILN_I8},
        {KILN_F8E4M3, KILN_I4, KILN_F32, KILN_F32},
        {KILN_F32, KILN_U4, KILN_F32, KILN_F32},
        {KILN_U8, KILN_U8, KILN_U8, KILN_U8},
        {KILN_U8, KILN_I8, KILN_U8, KILN_I8},
        {KILN_U4, KILN_U8, KILN_I8, KILN_U8},
        {KILN_BF16, KILN_U8, KILN_BF16, KILN_BF16},
        {KILN_U8, KILN_F8E4M3, KILN_F32, KILN_F32},
        {KILN_U8, KILN_I32, KILN_F32, KILN_F32},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        kiln_dtype a, b;
        kiln_mul_types(row[i][0], row[i][1], &a, &b);
        assert_int_equal(a, row[i][2]);
        assert_int_equal(b, row[i][3]);
    }
}

/* By their formats, not by where they stand in the list. */
static void test_kinds(void **state)
{
    (void)state;
    for (int t = 1; t < KILN_DTYPE_COUNT; t++) {
        const char *name = kiln_dtype_name((kiln_dtype)t);
        assert_int_equal(kiln_is_fp8((kiln_dtype)t), strncmp(name, "f8", 2) == 0);
        assert_int_equal(kiln_is_float((kiln_dtype)t), !strchr("iu", name[0]));
        assert_int_equal(kiln_default_acc((kiln_dtype)t, KILN_I8),
                         strchr("iu", name[0]) ? KILN_I32 : KILN_F32);
    }
}

static void test_names(void **state)
{
    (void)state;
    for (int t = 1; t < KILN_DTYPE_COUNT; t++) {
        const char *name = kiln_dtype_name((kiln_dtype)t);
        assert_int_equal(kr_dtype_by_name(name, strlen(name)), t);
        const int bits = kiln_dtype_bits((kiln_dtype)t);
        assert_int_equal(kiln_dtype_size((kiln_dtype)t), bits / 8);
        assert_int_equal(bits, name[0] == 'b' ? 16 : (int)strtol(name + 1, NULL, 10));
    }
    assert_int_equal(kr_dtype_by_name("f1", 2), KILN_DTYPE_NONE);
    assert_string_equal(kiln_dtype_name((kiln_dtype)99), "none");
    assert_int_equal(kiln_dtype_size((kiln_dtype)-1), 0);
    assert_int_equal(kiln_dtype_bits((kiln_dtype)-1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_pattern),
        cmocka_unit_test(test_every_midpoint),
        cmocka_unit_test(test_beyond_the_largest),
        cmocka_unit_test(test_zero_signs),
        cmocka_unit_test(test_f32),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_halves),
        cmocka_unit_test(test_mul_types),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
