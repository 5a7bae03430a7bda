// SPDX-License-Identifier: MIT
// Sizes and ways to lay out tensors that `kiln verify --all` tries.
#ifndef KILN_TRIALS_H
#define KILN_TRIALS_H
#include "harness.h"

enum {
    KT_PADDED = 1,     /* leading dimensions larger than need be */
    KT_STRIDED = 2,    /* batches apart from each other */
    KT_BROADCAST = 4,  /* every batch reads the same inputs */
    KT_ALIGNED = 8,    /* bases on 256 bytes; without it on one element only */
    KT_ALIGNED16 = 16, /* bases on 16 bytes */
    KT_QUICK = 32,     /* with --quick, too */
    KT_CUT = 64,       /* of tiles that blocks share along the summed size */
    KT_IN_PLACE = 128, /* outputs are full inputs' memory where the op has such */
    KT_ONLY = 256,     /* else there is no such trial */
    KT_HOSTILE = 512,  /* index arrays with numbers that are none, */
    KT_DISORDER = 1024 /* in no order: nothing is determined, but that nothing else is touched */
};

typedef struct kt_trial {
    int64_t size[KILN_MAX_SIZES], batch; /* in the family's order */
    int variant;                         /* of the flags above */
    kh_values values;
} kt_trial;

enum { KT_MAX_TRIALS = 96 };
/* Those that instances of an op share; room for KT_MAX_TRIALS.  Their number. */
size_t kt_common_trials(const kiln_op_info *, int quick, kt_trial *);
/* Those around the edges of one instance's tile, tile[] by a size's position. */
size_t kt_tile_trials(const kiln_op_info *, const kiln_kernel_info *, int quick, kt_trial *);
void kt_tile_of(const kiln_op_info *, const kiln_kernel_info *, int64_t tile[KH_SIZES]);
/* The problem of a trial for what an instance computes.  nth: of the ways to compute in place that
 * is to be tried; *in_place: what kh_options takes, 0 where there is none. */
kiln_status kt_trial_problem(kiln_ctx *, const kiln_kernel_info *, const kt_trial *, int nth,
                             kiln_problem *, int *in_place);
#endif
