// SPDX-License-Identifier: MIT
// Expressions of an op's functions (a gemm's epilogue, a_op, b_op; a rowwise body) as they stand in a module: a DAG in
// topological order.  The generator traces it from Lua and lowers it to device code; the runtime evaluates the same nodes
// in double precision as the reference.  All values are f32; comparisons yield conditions, which and_, or_ and not_
// combine and select takes.  Reductions run over the columns of a row, over each block of them, or over the rows of a column.
#ifndef KILN_EXPR_H
#define KILN_EXPR_H
#include <stdint.h>

/* Lua name, enumerator, operands, how device code spells it (printf-like: %0 %1 %2 are operands), meaning.
 * ORDER EXPR: the position is stored in modules; append only, and bump KILN_ABI_VERSION.
 * NaN propagates through all but the comparisons, which are false (ne: true), and select, which takes one branch. */
#define KILN_EXPR_OPS(X)                                                                        \
    X(const, KILN_X_CONST, 0, "", "the node's value")                                           \
    X(acc, KILN_X_ACC, 0, "", "accumulator of product `index`")                                 \
    X(d, KILN_X_D, 0, "", "extra input `index`")                                                \
    X(scalar, KILN_X_SCALAR, 0, "", "run-time scalar `index`")                                  \
    X(x, KILN_X_ARG, 0, "", "the element given to a_op or b_op")                                \
    X(add, KILN_X_ADD, 2, "(%0 + %1)", "x + y")                                                 \
    X(sub, KILN_X_SUB, 2, "(%0 - %1)", "x - y")                                                 \
    X(mul, KILN_X_MUL, 2, "(%0 * %1)", "x * y")                                                 \
    X(div, KILN_X_DIV, 2, "(%0 / %1)", "x / y")                                                 \
    X(pow, KILN_X_POW, 2, "kiln_pow(%0, %1)", "x ^ y")                                          \
    X(neg, KILN_X_NEG, 1, "(-%0)", "-x")                                                        \
    X(relu, KILN_X_RELU, 1, "kiln_relu(%0)", "max(x, 0)")                                       \
    X(leaky_relu, KILN_X_LEAKY_RELU, 2, "kiln_leaky_relu(%0, %1)", "x > 0 ? x : slope*x")       \
    X(gelu, KILN_X_GELU, 1, "kiln_gelu(%0)", "x/2 * (1 + erf(x/sqrt 2))")                       \
    X(gelu_tanh, KILN_X_GELU_TANH, 1, "kiln_gelu_tanh(%0)",                                     \
      "x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))")                                      \
    X(silu, KILN_X_SILU, 1, "kiln_silu(%0)", "x / (1 + exp(-x))")                               \
    X(sigmoid, KILN_X_SIGMOID, 1, "kiln_sigmoid(%0)", "1 / (1 + exp(-x))")                      \
    X(tanh, KILN_X_TANH, 1, "kiln_tanh(%0)", "tanh x")                                          \
    X(exp, KILN_X_EXP, 1, "kiln_exp(%0)", "e^x")                                                \
    X(log, KILN_X_LOG, 1, "kiln_log(%0)", "natural logarithm")                                  \
    X(sqrt, KILN_X_SQRT, 1, "kiln_sqrt(%0)", "square root")                                     \
    X(rsqrt, KILN_X_RSQRT, 1, "kiln_rsqrt(%0)", "1 / sqrt x")                                   \
    X(abs, KILN_X_ABS, 1, "kiln_abs(%0)", "|x|")                                                \
    X(min, KILN_X_MIN, 2, "kiln_min(%0, %1)", "smaller of x and y")                             \
    X(max, KILN_X_MAX, 2, "kiln_max(%0, %1)", "larger of x and y")                              \
    X(clamp, KILN_X_CLAMP, 3, "kiln_clamp(%0, %1, %2)", "min(max(x, lo), hi)")                  \
    X(round, KILN_X_ROUND, 1, "kiln_round(%0)", "to the nearest integer, ties to even")         \
    X(select, KILN_X_SELECT, 3, "((%0) ? %1 : %2)", "cond ? x : y")                             \
    X(lt, KILN_X_LT, 2, "(%0 < %1)", "x < y")                                                   \
    X(le, KILN_X_LE, 2, "(%0 <= %1)", "x <= y")                                                 \
    X(gt, KILN_X_GT, 2, "(%0 > %1)", "x > y")                                                   \
    X(ge, KILN_X_GE, 2, "(%0 >= %1)", "x >= y")                                                 \
    X(cast, KILN_X_CAST, 1, "", "converted to dtype `index` and back to f32, as for E")         \
    X(floor, KILN_X_FLOOR, 1, "kiln_floor(%0)", "largest integer not above x")                  \
    X(eq, KILN_X_EQ, 2, "(%0 == %1)", "x = y")                                                  \
    X(ne, KILN_X_NE, 2, "(%0 != %1)", "not x = y")                                              \
    X(and_, KILN_X_AND, 2, "(%0 & %1)", "both conditions")                                      \
    X(or_, KILN_X_OR, 2, "(%0 | %1)", "either condition, or both")                              \
    X(not_, KILN_X_NOT, 1, "(!%0)", "not the condition")                                        \
    X(at, KILN_X_AT, 0, "", "the element's place: its row (index 0) or column (1)")             \
    X(row_sum, KILN_X_ROW_SUM, 1, "", "sum over the row")                                       \
    X(row_mean, KILN_X_ROW_MEAN, 1, "", "mean over the row")                                    \
    X(row_max, KILN_X_ROW_MAX, 1, "", "largest of the row")                                     \
    X(row_min, KILN_X_ROW_MIN, 1, "", "smallest of the row")                                    \
    X(block_sum, KILN_X_BLOCK_SUM, 1, "", "sum over each `value` neighbouring columns")         \
    X(block_mean, KILN_X_BLOCK_MEAN, 1, "", "mean over them")                                   \
    X(block_max, KILN_X_BLOCK_MAX, 1, "", "largest of them")                                    \
    X(block_min, KILN_X_BLOCK_MIN, 1, "", "smallest of them")                                   \
    X(col_sum, KILN_X_COL_SUM, 1, "", "sum over the column")                                    \
    X(col_mean, KILN_X_COL_MEAN, 1, "", "mean over the column")                                 \
    X(col_max, KILN_X_COL_MAX, 1, "", "largest of the column")                                  \
    X(col_min, KILN_X_COL_MIN, 1, "", "smallest of the column")

typedef enum kiln_xop {
#define X(name, id, ...) id,
    KILN_EXPR_OPS(X)
#undef X
    KILN_X_COUNT
} kiln_xop;

/* Whether an operation yields a condition, and whether its operand (from 0) must be one. */
static inline int kiln_x_is_condition(unsigned op)
{
    return (op >= KILN_X_LT && op <= KILN_X_GE) || (op >= KILN_X_EQ && op <= KILN_X_NOT);
}
static inline int kiln_x_takes_condition(unsigned op, unsigned operand)
{
    return (op >= KILN_X_AND && op <= KILN_X_NOT) || (op == KILN_X_SELECT && operand == 0);
}

static inline int kiln_x_is_row_reduction(unsigned op)
{
    return op >= KILN_X_ROW_SUM && op <= KILN_X_ROW_MIN;
}
static inline int kiln_x_is_block_reduction(unsigned op)
{
    return op >= KILN_X_BLOCK_SUM && op <= KILN_X_BLOCK_MIN;
}
static inline int kiln_x_is_col_reduction(unsigned op)
{
    return op >= KILN_X_COL_SUM && op <= KILN_X_COL_MIN;
}

enum {
    KILN_EXPR_MAX = 4096, /* nodes of one expression */
    KILN_BLOCK_LEAST = 2, /* columns of a block: a power of two from .. to */
    KILN_BLOCK_MOST = 256,
    KILN_EXACT = 1 /* of a quotient: rounded as IEEE 754 says, because a floor or a comparison comes of it, or, as of a
                      product, because a largest or least one of it is looked for */
};

typedef struct kiln_xnode {
    uint8_t op;      /* kiln_xop */
    uint8_t index;   /* product, extra input, scalar, dtype; of `at`: 0 row, 1 column; of `div`, `mul`: KILN_EXACT, 0 */
    uint16_t arg[3]; /* operands: positions of earlier nodes of the same expression; 0 where unused */
    float value;     /* of a constant, rounded to f32 once; of a block reduction: columns of a block */
} kiln_xnode;        /* results: the last node, or where an op has several outputs what kiln_tensor_row.result says */
#endif
