// SPDX-License-Identifier: MIT
// What a host kernel gets beside its arguments: who does numbered steps for it on several threads.
//   The arguments themselves are one plain struct per family, kiln_FAMILY_args, which the generator writes from
// templates/FAMILY/family.lua and the runtime fills from the same data (abi/kiln_module.h, "Arguments").
#ifndef KILN_ARGS_H
#define KILN_ARGS_H
#include "kiln_dtype.h"

/* Calls step(job, i, thread) once for each i = 0 .. count-1, in no order, on at most `threads` threads, whose numbers are
 * 0 (the caller's own) .. threads-1; returns when all steps have ended. */
typedef void (*kiln_step)(const void *job, long long i, int thread);
typedef void (*kiln_each)(int threads, long long count, kiln_step step, const void *job);
#endif
