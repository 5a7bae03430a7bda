// SPDX-License-Identifier: MIT
// What scalar*.c share: the framework that runs a pure scalar function, undefined conditions, jumps.
#ifndef KS_SCALAR_H
#define KS_SCALAR_H
#include "sim.h"

enum { KS_LAUNCH_FAILURE = 719, KS_LAUNCH_TIMEOUT = 702 }; /* hipError_t */

/* The ks_exec of every row of ks_scalar_ops. */
void ks_run_scalar(ks_wave *, const ks_inst *);
/* "<what> depends on a register or byte of memory that was never written", and where that was first read. */
void ks_report_undefined(ks_wave *, const ks_inst *, const char *what, uint32_t origin);
/* Reads a scalar operand that decides something (an address, a condition): undefined bits are a finding, and then
   false. */
bool ks_scalar_need(ks_wave *, const ks_inst *, const ks_operand *, const char *what, uint64_t *value);
/* s_origin of the first register of an operand with undefined bits; KS_NO_ORIGIN: none. */
uint32_t ks_scalar_origin(const ks_wave *, const ks_operand *);
#endif
