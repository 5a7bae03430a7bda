// SPDX-License-Identifier: MIT
// Names of the functions of one vector variant (mk/sim.mk compiles sim/vec_*.c once per variant).
#ifndef KS_VEC_H
#define KS_VEC_H
#include "sim.h"
#define KS_CAT2(a, b) a##_##b
#define KS_CAT(a, b)  KS_CAT2(a, b)
#define KS_V(name)    KS_CAT(name, KS_VARIANT)
/* The tables of vec_*.c: KS_V(ks_NAME_ops)() of each variant; ops.c gathers them. */
#define KS_VEC_TABLES(X, v)                                                                         \
    X(int, v) X(narrow, v) X(wide, v) X(compare, v) X(lane, v) X(float, v) X(float_compare, v) \
    X(float_math, v) X(float_divide, v) X(convert, v) X(mfma, v)
#define KS_VEC_TABLE_FN(table, v) ks_op_table KS_CAT(ks_##table##_ops, v)(void);
#ifdef KS_VARIANT
/* vec_lanes.c: the ks_exec of every row of these tables. */
void KS_V(ks_run_lanes)(ks_wave *, const ks_inst *);
KS_VEC_TABLES(KS_VEC_TABLE_FN, KS_VARIANT)
#endif
#endif
