// SPDX-License-Identifier: MIT
// Names of the functions of one vector variant (mk/sim.mk compiles sim/vec_*.c once per variant).
#ifndef KS_VEC_H
#define KS_VEC_H
#include "sim.h"
#define KS_CAT2(a, b) a##_##b
#define KS_CAT(a, b)  KS_CAT2(a, b)
#define KS_V(name)    KS_CAT(name, KS_VARIANT)
/* The tables of vec_*.c: KS_V(ks_NAME_ops)() of each variant; ops.c gathers them. */
#define KS_VEC_TABLES(X) X(int) X(narrow) X(wide) X(compare) X(lane) X(float) X(convert) X(mfma)
#ifdef KS_VARIANT
/* vec_lanes.c: the ks_exec of every row of these tables. */
void KS_V(ks_run_lanes)(ks_wave *, const ks_inst *);
#define X(table) ks_op_table KS_V(ks_##table##_ops)(void);
KS_VEC_TABLES(X)
#undef X
#endif
#endif
