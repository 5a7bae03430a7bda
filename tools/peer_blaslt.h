// SPDX-License-Identifier: MIT
// cuBLASLt and hipBLASLt have the same functions; what differs is in a dialect.
#ifndef KILN_PEER_BLASLT_H
#define KILN_PEER_BLASLT_H
#include "peer.h"

enum { NO_TYPE = -1, NO_ATTRIBUTE = -1 };

typedef struct kt_dialect {
    const char *name, *prefix; /* "cublasLt": of every function */
    const char *soname[6];
    int trans_none, trans;
    int compute_f32, compute_i32;
    int type[KILN_DTYPE_COUNT];
    int desc_trans_a, desc_trans_b, desc_epilogue, desc_bias, desc_bias_type;
    int layout_batch, layout_stride;
    int pref_workspace, pref_align_a; /* the alignment attributes of A, B, C, D follow each other */
    size_t result_size, result_workspace,
        result_state; /* of a heuristic result, which begins with the algorithm */
} kt_dialect;

int kt_blaslt_open(const kt_dialect *, kh_sets *, kt_entry *, char *why, size_t size);
#endif
