// SPDX-License-Identifier: MIT
// The families of modules that tests write by hand, as kiln-gen writes templates/gemm/family.lua
// and templates/rowwise/family.lua, with what their kernels get.  S(name) gives a string's place in
// the module's pool, which has all of FAMILY_STRINGS.
#ifndef KILN_FIXTURE_FAMILIES_H
#define KILN_FIXTURE_FAMILIES_H
#include <kiln_module.h>

typedef struct kiln_gemm_args {
    const void *a;
    const void *b[2];
    void *e;
    const void *d[8];
    void *workspace;
    long long lda, ldb, lde;
    long long ldd[8];
    long long stride_a, stride_b, stride_e;
    long long stride_d[8];
    int m, n, k, batch;
    float s[8];
    int units;
    int reserved;
} kiln_gemm_args;

typedef struct kiln_rowwise_args {
    void *d[12];
    void *workspace;
    long long ldd[12];
    long long stride_d[12];
    int rows, cols, batch;
    float s[8];
    int units;
    int reserved;
} kiln_rowwise_args;

enum { SIZE_M, SIZE_N, SIZE_K, SIZE_ROWS = 0, SIZE_COLS = 1 };
enum { FAMILY_GEMM, FAMILY_ROWWISE };

#define ROWWISE_STRINGS(X)                                                                         \
    X(f_rowwise, "rowwise")                                                                        \
    X(f_rows, "rows")                                                                              \
    X(f_cols, "cols")                                                                              \
    X(f_body, "body")                                                                              \
    X(f_row, "row")                                                                                \
    X(f_col, "col")
#define FAMILY_STRINGS(X) GEMM_STRINGS(X) ROWWISE_STRINGS(X)
#define GEMM_STRINGS(X)                                                                            \
    X(f_gemm, "gemm")                                                                              \
    X(f_m, "m")                                                                                    \
    X(f_n, "n")                                                                                    \
    X(f_k, "k")                                                                                    \
    X(f_a, "a")                                                                                    \
    X(f_b, "b")                                                                                    \
    X(f_e, "e")                                                                                    \
    X(f_acc, "acc")                                                                                \
    X(f_d, "d.")                                                                                   \
    X(f_epilogue, "epilogue")                                                                      \
    X(f_a_op, "a_op")                                                                              \
    X(f_b_op, "b_op")                                                                              \
    X(f_big_a, "A")                                                                                \
    X(f_big_b, "B")                                                                                \
    X(f_big_e, "E")

#define GEMM_FAMILY                                                                                \
    {                                                                                              \
        .name = S(f_gemm), .size = {S(f_m), S(f_n), S(f_k)}, .own = {S(f_a), S(f_b), S(f_e)},      \
        .prefix = S(f_d), .function = {S(f_epilogue), S(f_a_op), S(f_b_op)},                       \
        .type = {{S(f_a), 0, 0, 0, 0},                                                             \
                 {S(f_b), 0, 0, 0, 1},                                                             \
                 {S(f_e), 0, 0, 0, 2},                                                             \
                 {S(f_acc), KILN_I32, KILN_F32, 3, KILN_NOWHERE}},                                 \
        .nsizes = 3, .nown = 3, .ntypes = 4, .nlayouts = 3, .rows = SIZE_M, .cols = SIZE_N,        \
        .planes = KILN_NOWHERE, .groups = KILN_NOWHERE, .empty = 3, .independent = 3,              \
        .summed = SIZE_K, .at = {0, 1, 2}, .layout_of = {0, 1, 2}, .extra = 3, .most_extra = 8,    \
        .pointers = 12, .pitches = 11, .args_size = sizeof(kiln_gemm_args)                         \
    }
#define ROWWISE_FAMILY                                                                             \
    {                                                                                              \
        .name = S(f_rowwise), .size = {S(f_rows), S(f_cols)}, .nsizes = 2, .rows = SIZE_ROWS,      \
        .function = {S(f_body)}, .place = {S(f_row), S(f_col)}, .planes = KILN_NOWHERE,            \
        .groups = KILN_NOWHERE, .cols = SIZE_COLS, .empty = 3, .independent = 1,                   \
        .summed = KILN_NOWHERE, .most_extra = 12, .pointers = 12, .pitches = 12,                   \
        .args_size = sizeof(kiln_rowwise_args)                                                     \
    }

/* ---- tensors ---- */
#define OWN(name_, i_, at_, arg_, pointer_, rows_, cols_)                                          \
    .name = name_, .at = at_, .arg = arg_, .own = i_, .type = 0x80 | i_, .layout = 0x80 | i_,      \
    .rows = rows_, .cols = cols_, .pointer = pointer_, .pitch = i_, .row_block = 1,                \
    .col_block = 1, .planes = KILN_NOWHERE
#define GEMM_A                                                                                     \
    {                                                                                              \
        OWN(S(f_big_a), 0, 0, 0, 0, SIZE_M, SIZE_K)                                                \
    }
#define GEMM_B(name_, i_)                                                                          \
    {                                                                                              \
        OWN(name_, 1, 1, 1 + i_, 1 + i_, SIZE_K, SIZE_N)                                           \
    }
#define GEMM_E(last_)                                                                              \
    {                                                                                              \
        OWN(S(f_big_e), 2, 2, 11, 3, SIZE_M, SIZE_N), .out = 1, .result = last_                    \
    }
#define GEMM_TYPES .sizes = 7, .ntypes = 4, .type = {S(f_a), S(f_b), S(f_e), S(f_acc)}

#define BY_ROW(kind_) (kind_ == KILN_D_FULL || kind_ == KILN_D_PER_ROW || kind_ == KILN_D_PER_BLOCK)
#define BY_COL(kind_) (kind_ == KILN_D_FULL || kind_ == KILN_D_PER_COL || kind_ == KILN_D_PER_BLOCK)
#define EXTRA(name_, kind_, type_, layout_)                                                        \
    .name = name_, .own = KILN_NOWHERE, .kind = kind_, .type = type_, .layout = layout_,           \
    .rows = BY_ROW(kind_) ? 0 : KILN_NOWHERE, .cols = BY_COL(kind_) ? 1 : KILN_NOWHERE,            \
    .row_block = 1, .planes = KILN_NOWHERE
#define GEMM_D(name_, i_, kind_, type_, layout_)                                                   \
    {                                                                                              \
        EXTRA(name_, kind_, type_, layout_), .at = 3 + i_, .arg = 3 + i_, .pointer = 4 + i_,       \
                                             .pitch = 3 + i_, .col_block = 1                       \
    }
#define PLACE(i_) .at = i_, .arg = i_, .pointer = i_, .pitch = i_
#define ROWWISE_IN(name_, i_, kind_, type_)                                                        \
    {                                                                                              \
        EXTRA(name_, kind_, type_, 0), PLACE(i_), .col_block = 1                                   \
    }
#define ROWWISE_OUT(name_, i_, kind_, type_, block_, result_)                                      \
    {                                                                                              \
        EXTRA(name_, kind_, type_, 0), PLACE(i_), .col_block = block_, .out = 1, .result = result_ \
    }
#endif
