// SPDX-License-Identifier: MIT
// (w - zero) * scale and w * scale of weights of 4 bits in packed 16-bit arithmetic, as
// kiln_wgmma.h, wgmma_half_bytes.tmpl and mfma_lds.tmpl have them, for all weights, zero points and
// scales: the bits that f32, rounded once, has; where that is NaN, a NaN.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "kiln_types.h"

/* Of two numbers of 16 bits: what PTX's sub.rn, mul.rn and fma.rn make of each half.  A product of
 * theirs is exact in f32, a sum of what is put in here, too. */
typedef struct format {
    float (*widen)(uint16_t);
    uint16_t (*narrow)(float);
    uint16_t near; /* the number of which an element is in the last places */
} format;

static float widen_bf16(uint16_t x)
{
    return kiln_bf16_to_f32(x);
}
static uint16_t narrow_bf16(float x)
{
    return kiln_f32_to_bf16(x);
}
static float widen_f16(uint16_t x)
{
    return kiln_f16_to_f32(x);
}
static uint16_t narrow_f16(float x)
{
    return kiln_f32_to_f16(x);
}
static const format BF16 = {widen_bf16, narrow_bf16, 0x4300}, F16 = {widen_f16, narrow_f16, 0x6400};

static uint16_t less(const format *f, uint16_t x, uint16_t y)
{
    return f->narrow(f->widen(x) - f->widen(y));
}
static uint16_t times(const format *f, uint16_t x, uint16_t y)
{
    return f->narrow(f->widen(x) * f->widen(y));
}
static uint16_t fused(const format *f, uint16_t x, uint16_t y, uint16_t z)
{
    const double sum = (double)f->widen(x) * (double)f->widen(y) + (double)f->widen(z);
    assert_true(sum == (double)(float)sum);
    return f->narrow((float)sum);
}

static int value(unsigned bits, bool is_signed)
{
    return is_signed ? (int)(bits ^ 8) - 8 : (int)bits;
}

/* w - zero of element i of a word, as kernels make it of the word and of a zero point's bits. */
static uint16_t difference(const format *f, unsigned word, int i, bool w_signed, unsigned zero,
                           bool z_signed)
{
    const uint16_t near = (uint16_t)(f->near + (w_signed ? 8 : 0));
    uint16_t taken = (uint16_t)(z_signed ? near - 8 + (zero ^ 8) : near + zero);
    if (z_signed && !w_signed) taken = f->narrow(f->widen(f->near) + (float)value(zero, true));
    const int pair = i % 4, half = i / 4; /* elements i and i + 4 */
    if (f == &F16 && pair % 2 == 1) {
        const unsigned up = w_signed ? 0x6480 : 0x6400;
        const uint16_t x = (uint16_t)((word >> (pair - 1) * 4 >> half * 16 & 0x00f0) ^ up);
        return fused(f, x, 0x2c00, less(f, 0x6380, taken));
    }
    return less(f, (uint16_t)((word >> pair * 4 >> half * 16 & 0x000f) ^ near), taken);
}

static void differences_are_exact(void **state)
{
    (void)state;
    const format *formats[] = {&BF16, &F16};
    for (int n = 0; n < 2; n++)
        for (int kinds = 0; kinds < 4; kinds++)
            for (unsigned zero = 0; zero < 16; zero++)
                for (unsigned w = 0; w < 16; w++)
                    for (int i = 0; i < 8; i++) {
                        const unsigned word = (0x9e3779b9u & ~(15u << i * 4)) | w << i * 4;
                        const float want = (float)(value(w, kinds & 1) - value(zero, kinds & 2));
                        const uint16_t is =
                            difference(formats[n], word, i, kinds & 1, zero, kinds & 2);
                        if (is != formats[n]->narrow(want))
                            fail_msg("%d: element %d of %08x, zero point %u: %x", n, i, word, zero,
                                     is);
                    }
}

/* mfma's: the lower half of a pair at the last places of 1024, the upper one 4 bits above. */
static void bytes_are_exact(void **state)
{
    (void)state;
    for (int is_signed = 0; is_signed < 2; is_signed++)
        for (int zero = -8; zero < 16; zero++)
            for (unsigned byte = 0; byte < 256; byte++) {
                const unsigned two = (byte ^ (is_signed ? 0x88u : 0)), eight = is_signed ? 8 : 0;
                const uint16_t z = narrow_f16((float)zero);
                const uint16_t low = less(&F16, narrow_f16(-1024.0f - (float)eight), z),
                               high = less(&F16, narrow_f16(-64.0f - (float)eight), z);
                const uint16_t x = fused(&F16, (uint16_t)(0x6400 | (two & 0x0f)), 0x3c00, low);
                const uint16_t y = fused(&F16, (uint16_t)(0x6400 | (two & 0xf0)), 0x2c00, high);
                assert_int_equal(x, narrow_f16((float)(value(byte & 15, is_signed) - zero)));
                assert_int_equal(y, narrow_f16((float)(value(byte >> 4, is_signed) - zero)));
            }
}

/* A difference is one of -15 to 23. */
static void products_are_rounded_once(void **state)
{
    (void)state;
    const format *formats[] = {&BF16, &F16};
    for (int n = 0; n < 2; n++)
        for (int d = -23; d <= 23; d++)
            for (unsigned scale = 0; scale < 0x10000; scale++) {
                const format *f = formats[n];
                const float want = (float)d * f->widen((uint16_t)scale);
                const uint16_t is = times(f, f->narrow((float)d), (uint16_t)scale);
                if (want != want ? !(f->widen(is) != f->widen(is)) : is != f->narrow(want))
                    fail_msg("%d: %d by %04x: %04x", n, d, scale, is);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences_are_exact),
        cmocka_unit_test(bytes_are_exact),
        cmocka_unit_test(products_are_rounded_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
