// SPDX-License-Identifier: MIT
// Names of the functions of one vector variant (mk/sim.mk compiles sim/vec_*.c once per variant).
#ifndef KS_VEC_H
#define KS_VEC_H
#include "sim.h"
#define KS_CAT2(a, b) a##_##b
#define KS_CAT(a, b)  KS_CAT2(a, b)
#define KS_V(name)    KS_CAT(name, KS_VARIANT)
/* vec_lanes.c: the ks_exec of every row of these tables. */
void KS_V(ks_run_lanes)(ks_wave *, const ks_inst *);
ks_op_table KS_V(ks_int_ops)(void), KS_V(ks_float_ops)(void), KS_V(ks_convert_ops)(void), KS_V(ks_mfma_ops)(void);
#endif
