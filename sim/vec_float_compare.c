// SPDX-License-Identifier: MIT
// Floating point comparisons: v_cmp_* and v_cmpx_*, sixteen conditions and the class test, in f16,
// f32 and f64.
#include "vec_numeric.h"

#define UNORDERED (a != a || b != b)
#define CONDITIONS(X, prefix, flags, cls, T, suffix)                                               \
    X(prefix##f_##suffix, cls, flags, MASK, T, T, 0)                                               \
    X(prefix##lt_##suffix, cls, flags, MASK, T, T, a < b)                                          \
    X(prefix##eq_##suffix, cls, flags, MASK, T, T, a == b)                                         \
    X(prefix##le_##suffix, cls, flags, MASK, T, T, a <= b)                                         \
    X(prefix##gt_##suffix, cls, flags, MASK, T, T, a > b)                                          \
    X(prefix##lg_##suffix, cls, flags, MASK, T, T, a < b || a > b)                                 \
    X(prefix##ge_##suffix, cls, flags, MASK, T, T, a >= b)                                         \
    X(prefix##o_##suffix, cls, flags, MASK, T, T, !UNORDERED)                                      \
    X(prefix##u_##suffix, cls, flags, MASK, T, T, UNORDERED)                                       \
    X(prefix##nge_##suffix, cls, flags, MASK, T, T, !(a >= b))                                     \
    X(prefix##nlg_##suffix, cls, flags, MASK, T, T, !(a < b || a > b))                             \
    X(prefix##ngt_##suffix, cls, flags, MASK, T, T, !(a > b))                                      \
    X(prefix##nle_##suffix, cls, flags, MASK, T, T, !(a <= b))                                     \
    X(prefix##neq_##suffix, cls, flags, MASK, T, T, !(a == b))                                     \
    X(prefix##nlt_##suffix, cls, flags, MASK, T, T, !(a < b))                                      \
    X(prefix##tru_##suffix, cls, flags, MASK, T, T, 1)
/* The class test looks at denormals as they are. */
#define CLASS(X, prefix, flags, cls, W, T)                                                         \
    X(prefix##class_f##W, cls, (flags) | KS_F_RAW, MASK, T, U32, b >> ks_class_##W(a) & 1u)
#define BOTH(X, cls, W)                                                                            \
    CONDITIONS(X, v_cmp_, 0, cls, F##W, f##W)                                                      \
    CONDITIONS(X, v_cmpx_, KS_F_EXEC_OUT, cls, F##W, f##W)                                         \
    CLASS(X, v_cmp_, 0, cls, W, RF##W)                                                             \
    CLASS(X, v_cmpx_, KS_F_EXEC_OUT, cls, W, RF##W)
#define FLOAT_COMPARE_OPS(X1, X2, X3, X4, Y1, Y2, Y3, Z)                                           \
    BOTH(X2, VALU, 16) BOTH(X2, VALU, 32) BOTH(X2, F64, 64)

KS_VEC_TABLE(float_compare, FLOAT_COMPARE_OPS)
