// SPDX-License-Identifier: MIT
// The reference's dot products on every vector unit: the same bits as a loop over k, whatever the
// number of rows.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "../runtime/ref_gemm_sums.c"

enum { MOST_K = 70, APART = 3 }; /* rows of A are parts of longer ones */

static double drawn(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return ((double)(*state >> 11) * 0x1p-52 - 1) * (*state >> 5 & 7 ? 1 : 1e6);
}

static void check(dot_rows *dot, int64_t depth, int64_t rows)
{
    static double a[ROWS * (MOST_K + APART)], b[MOST_K * COLS + 1];
    double value[ROWS + 1][COLS], magnitude[ROWS + 1][COLS], alone[ROWS + 1][COLS];
    uint64_t state = (uint64_t)(depth * 100 + rows);
    const int64_t pitch = depth + APART;
    for (int64_t i = 0; i < rows * pitch; i++) a[i] = drawn(&state);
    for (int64_t i = 0; i < depth * COLS; i++) b[i] = drawn(&state);
    for (int j = 0; j < COLS; j++)
        value[rows][j] = magnitude[rows][j] = alone[rows][j] = 42; /* not to be written */
    dot(depth, rows, a, pitch, b, value, magnitude);
    dot(depth, rows, a, pitch, b, alone, NULL);
    for (int64_t i = 0; i < rows; i++)
        for (int j = 0; j < COLS; j++) {
            volatile double sum = 0, size = 0; /* no fused multiply-add */
            for (int64_t k = 0; k < depth; k++) {
                volatile double product = a[i * pitch + k] * b[k * COLS + j];
                sum = sum + product;
                size = size + fabs(product);
            }
            if (value[i][j] != sum || alone[i][j] != sum || magnitude[i][j] != size)
                fail_msg("K=%lld, row %lld of %lld, column %d: %a and %a are not %a, or %a not %a",
                         (long long)depth, (long long)i, (long long)rows, j, value[i][j],
                         alone[i][j], sum, magnitude[i][j], size);
        }
    for (int j = 0; j < COLS; j++)
        assert_true(value[rows][j] == 42 && magnitude[rows][j] == 42 && alone[rows][j] == 42);
}

static void check_all(dot_rows *dot)
{
    for (int64_t depth = 0; depth < MOST_K; depth += 1 + depth / 9)
        for (int64_t rows = 1; rows <= ROWS; rows++) check(dot, depth, rows);
}

static void test_anywhere(void **state)
{
    (void)state;
    check_all(dot_anywhere);
}

static void test_best(void **state)
{
    (void)state;
    if (best_dot() == dot_anywhere) skip();
    check_all(best_dot());
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_anywhere),
                                       cmocka_unit_test(test_best)};
    return cmocka_run_group_tests_name("runtime_products", tests, NULL, NULL);
}
