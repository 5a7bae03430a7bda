// SPDX-License-Identifier: MIT
// What a kernel's printf becomes: messages as the device libraries make them, against the host's
// own printf.  Whole kernels that print and allocate are in programs/.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "sim.h"

enum { WORDS = 64 };
static uint64_t word[WORDS];
static size_t count;

static void begin(const char *format)
{
    memset(word, 0xaa, sizeof word); /* what stands after a text's end is not the message's */
    count = strlen(format) / 8 + 1;
    memset(word, 0, count * 8);
    memcpy(word, format, strlen(format));
}
static void number(uint64_t v)
{
    word[count++] = v;
}
static void real(double v)
{
    memcpy(&word[count++], &v, 8);
}
static void text(const char *s)
{
    const size_t words = strlen(s) / 8 + 1;
    memset(word + count, 0, words * 8);
    memcpy(word + count, s, strlen(s));
    count += words;
}
/* Prints the message and compares. */
static void prints(const char *expected)
{
    char *got = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&got, &size);
    const int64_t n = ks_hostcall_print(to, word, count);
    fclose(to);
    assert_string_equal(got, expected);
    assert_int_equal(n, strlen(expected));
    free(got);
}

static void plain_text(void **state)
{
    (void)state;
    begin("");
    prints("");
    begin("12345678"); /* its end is in a word of its own */
    prints("12345678");
    begin("100%%, %%d\n");
    prints("100%, %d\n");
}

static void numbers_are_cut_to_their_type(void **state)
{
    (void)state;
    begin("%d %i %u %x %X %o|%ld %llu|%hd %hhd %hu %hhx|%c%c|%zu");
    number(0xffffffff); /* the compiler extends by zeros */
    number(7);
    number(0xffffffff);
    number(0xabcdef);
    number(0xabcdef);
    number(8);
    number((uint64_t)-5);
    number(UINT64_MAX);
    number(0x1ffff);
    number(0x80);
    number(0x1fffe);
    number(0x1ff);
    number('A');
    number(0xffffff00 | 'z');
    number(1ull << 40);
    prints("-1 7 4294967295 abcdef ABCDEF 10|-5 18446744073709551615|-1 -128 65534 ff|Az|"
           "1099511627776");
}

static void widths_and_flags(void **state)
{
    (void)state;
    char expected[200];
    begin("[%5d][%-5d][%05d][%+d][% d][%#x][%*d][%-*d][%.3d][%8.3f][%.*e][%10s][%-10s][%.2s]");
    for (int i = 0; i < 6; i++) number(42);
    number(6);
    number(42);
    number(6);
    number(42);
    number(7);
    real(3.14159);
    number(2);
    real(12345.678);
    text("right");
    text("left");
    text("cut off");
    prints(
        "[   42][42   ][00042][+42][ 42][0x2a][    42][42    ][007][   3.142][1.23e+04][     right]"
        "[left      ][cu]");
    begin("%*d|%.*f"); /* a negative width is a flag, a negative precision none */
    number((uint32_t)-4);
    number(1);
    number((uint32_t)-1);
    real(0.5);
    prints("1   |0.500000");
    begin("%p %n%a %G");
    number(0x1234);
    number(0); /* of %n: ignored */
    real(1.0);
    real(1e-10);
    snprintf(expected, sizeof expected, "%p %a %G", (void *)0x1234, 1.0, 1e-10);
    prints(expected);
}

static void what_is_short_ends(void **state)
{
    (void)state;
    begin("a %d b %d c");
    number(1);
    prints("a 1 b ");
    begin("%s");
    prints("");
    begin("%s|"); /* a text without an end */
    number(0x4141414141414141);
    prints("");
    begin("%*d");
    number(4);
    prints("");
    begin("50%");
    prints("50");
    begin("%k %d"); /* no such conversion */
    number(1);
    prints("");
    begin("%-+ #0-+ #0-+9999999999999d|%d");
    prints("");
    memset(word, 'x', sizeof word); /* a format without an end */
    assert_int_equal(ks_hostcall_print(stdout, word, 3), -1);
    assert_int_equal(ks_hostcall_print(stdout, word, 0), -1);
}

static void random_messages_do_no_harm(void **state)
{
    (void)state;
    static const char letters[] = "%%%%%%sdfcxp*.-+ #0123lhjztLnaqQ\n";
    unsigned seed = 1;
    FILE *to = fopen("/dev/null", "w");
    for (int i = 0; i < 20000; i++) {
        for (size_t n = 0; n < 32; n++) {
            seed = seed * 1103515245u + 12345u;
            ((char *)word)[n] = n < 30 ? letters[(seed >> 16) % (sizeof letters - 1)] : 0;
        }
        for (size_t n = 4; n < 12; n++) word[n] = (seed = seed * 1103515245u + 12345u) >> 12;
        ks_hostcall_print(to, word, 4 + (seed >> 16) % 9);
    }
    fclose(to);
}

static void the_heap_has_a_limit(void **state)
{
    (void)state;
    assert_int_equal(ks_heap_limit(0), 1 << 30);
    assert_int_equal(ks_heap_limit(1 << 20), 1 << 30);
    assert_int_equal(ks_heap_limit((size_t)3 << 30), (size_t)3 << 30);
    uint64_t *books = ks_heap(0);
    assert_non_null(books);
    assert_ptr_equal(books, ks_heap(0));
    assert_ptr_not_equal(books, ks_heap(1));
    for (size_t i = 0; i < (128 << 10) / sizeof *books; i++) assert_int_equal(books[i], 0);
}

static void a_buffer_is_given_again(void **state)
{
    (void)state;
    void *a = ks_hostcall_take(), *b = ks_hostcall_take();
    assert_non_null(a);
    assert_non_null(b);
    assert_ptr_not_equal(a, b);
    ks_hostcall_give(a);
    assert_ptr_equal(ks_hostcall_take(), a);
    ks_hostcall_give(b);
    ks_hostcall_give(a);
    ks_hostcall_give(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_text),
        cmocka_unit_test(numbers_are_cut_to_their_type),
        cmocka_unit_test(widths_and_flags),
        cmocka_unit_test(what_is_short_ends),
        cmocka_unit_test(random_messages_do_no_harm),
        cmocka_unit_test(the_heap_has_a_limit),
        cmocka_unit_test(a_buffer_is_given_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
