// SPDX-License-Identifier: MIT
// Integer comparisons: v_cmp_* and v_cmpx_*, eight conditions of six types.
#include "vec_table.h"

#define CONDITIONS(X, prefix, flags, T, suffix)              \
    X(prefix##f_##suffix, VALU, flags, MASK, T, T, 0)        \
    X(prefix##lt_##suffix, VALU, flags, MASK, T, T, a < b)   \
    X(prefix##eq_##suffix, VALU, flags, MASK, T, T, a == b)  \
    X(prefix##le_##suffix, VALU, flags, MASK, T, T, a <= b)  \
    X(prefix##gt_##suffix, VALU, flags, MASK, T, T, a > b)   \
    X(prefix##ne_##suffix, VALU, flags, MASK, T, T, a != b)  \
    X(prefix##ge_##suffix, VALU, flags, MASK, T, T, a >= b)  \
    X(prefix##t_##suffix, VALU, flags, MASK, T, T, 1)
#define BOTH(X, T, suffix)                       \
    CONDITIONS(X, v_cmp_, 0, T, suffix)          \
    CONDITIONS(X, v_cmpx_, KS_F_EXEC_OUT, T, suffix)
#define COMPARE_OPS(X1, X2, X3, X4, Y1, Y2, Y3, Z) \
    BOTH(X2, I16, i16) BOTH(X2, U16, u16)          \
    BOTH(X2, I32, i32) BOTH(X2, U32, u32)          \
    BOTH(X2, I64, i64) BOTH(X2, U64, u64)

KS_VEC_TABLE(compare, COMPARE_OPS)
