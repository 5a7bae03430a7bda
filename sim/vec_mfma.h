// SPDX-License-Identifier: MIT
// Between vec_mfma*.c: a matrix instruction's inputs as floats, a row of 64 lanes for each value that a lane has.
#ifndef KS_VEC_MFMA_H
#define KS_VEC_MFMA_H
#include "mfma.h"
#include "vec.h"

enum { KS_MFMA_PER_LANE = 16 }; /* values of one lane: SMFMAC's B of 8 bits has most */
typedef float ks_mfma_rows[KS_MFMA_PER_LANE][KS_LANES];

/* A dot product's work: what lane l holds in a[e] is row l % M of block l / M % blocks, at
   k = e + per * (l / (M * blocks)); b alike, by columns.  c and d are rows as the instruction has them; they may be
   the same. */
typedef struct ks_mfma_work {
    const ks_mfma_form *form;
    unsigned per; /* values of K in one lane of b */
    bool exact;   /* every product fits f32 */
    float (*a)[KS_LANES], (*b)[KS_LANES];
    const uint32_t *index; /* SMFMAC: a row of indices, and the first bit of the set in use */
    unsigned set;
    const float *c;
    float *d;
} ks_mfma_work;
void KS_V(ks_mfma_dot)(const ks_mfma_work *);
void KS_V(ks_mfma_dot_sparse)(const ks_mfma_work *);
void KS_V(ks_mfma_f64)(ks_lanes *, const ks_mfma_form *);
/* count registers of type to values; flush: denormals become zero. */
void KS_V(ks_mfma_load)(ks_mfma_type, const uint32_t *rows, unsigned count, bool flush, float (*out)[KS_LANES]);
#endif
