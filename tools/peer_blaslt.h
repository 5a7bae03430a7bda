// SPDX-License-Identifier: MIT
// cuBLASLt and hipBLASLt have the same functions; what differs is in a dialect.
//   product: one matmul of the library, with all that it can fuse (peer_blaslt.c)
//   path:    the products and the kernel of Kiln's that together compute an op (peer_path.c)
#ifndef KILN_PEER_BLASLT_H
#define KILN_PEER_BLASLT_H
#include "peer.h"

enum { NO_TYPE = -1, NO_ATTRIBUTE = -1 };
enum { KT_DEFAULT = 1, KT_RELU = 2, KT_BIAS = 4, KT_GELU = 32 }; /* epilogues, in both libraries */

typedef struct kt_dialect {
    const char *name, *prefix; /* "cublasLt": of every function */
    const char *soname[6];
    int trans_none, trans;
    int compute_f32, compute_i32;
    int type[KILN_DTYPE_COUNT];
    int desc_trans_a, desc_trans_b, desc_epilogue, desc_bias, desc_bias_type;
    int desc_a_scale, desc_b_scale, desc_a_mode, desc_b_mode; /* vectors of scales for A and B */
    int mode_outer;
    int desc_fast; /* fp8: sums as the matrix unit keeps them */
    int layout_batch, layout_stride;
    int pref_workspace, pref_align_a; /* the alignment attributes of A, B, C, D follow each other */
    size_t result_size, result_workspace,
        result_state; /* of a heuristic result, which begins with the algorithm */
} kt_dialect;

/* The functions used; what follows the dialect's prefix. */
typedef struct kt_blaslt_api {
    int (*Create)(void **);
    int (*Destroy)(void *);
    int (*MatmulDescCreate)(void **, int compute, int scale_type);
    int (*MatmulDescDestroy)(void *);
    int (*MatmulDescSetAttribute)(void *, int, const void *, size_t);
    int (*MatrixLayoutCreate)(void **, int type, uint64_t rows, uint64_t cols, int64_t ld);
    int (*MatrixLayoutDestroy)(void *);
    int (*MatrixLayoutSetAttribute)(void *, int, const void *, size_t);
    int (*MatmulPreferenceCreate)(void **);
    int (*MatmulPreferenceDestroy)(void *);
    int (*MatmulPreferenceSetAttribute)(void *, int, const void *, size_t);
    int (*MatmulAlgoGetHeuristic)(void *, void *, void *, void *, void *, void *, void *, int,
                                  void *, int *);
    int (*Matmul)(void *, void *, const void *, const void *, void *, const void *, void *,
                  const void *, const void *, void *, void *, void *, const void *, void *, size_t,
                  void *);
} kt_blaslt_api;

typedef struct kt_blaslt { /* an open library */
    const kt_dialect *dialect;
    kt_blaslt_api f;
    kiln_ctx *ctx;
    void *handle, *workspace;
} kt_blaslt;

int kt_blaslt_load(kt_blaslt *, const kt_dialect *, kiln_ctx *, char *why, size_t size); /* 0: no */
void kt_blaslt_unload(kt_blaslt *);

/* E = activation(alpha A·B [* row scales * column scales] + beta C + bias), in Kiln's words. */
typedef struct kt_product_spec {
    kh_operand a, b, e;
    const kh_operand *c, *bias, *row, *col; /* NULL: none */
    int activation;
    float alpha, beta; /* a bias of integers arrives multiplied by beta, in f32 */
} kt_product_spec;

typedef struct kt_matrices { /* where they are, at one launch */
    const void *a, *b, *c, *bias, *row, *col;
    void *e;
} kt_matrices;

typedef struct kt_product {
    const kt_blaslt *vendor;
    kt_product_spec spec;
    void *desc, *layout[4]; /* A, B, C, D as the library sees them */
    int swapped, scale_i32;
    unsigned char *result; /* of the heuristic */
    int found, algorithm;  /* candidates; the chosen one */
} kt_product;

/* Number of algorithms proposed; 0: it can't. */
int kt_product_open(kt_product *, const kt_blaslt *, const kt_product_spec *);
int kt_product_usable(const kt_product *, int algorithm);
kiln_status kt_product_launch(kt_product *, int algorithm, const kt_matrices *, void *stream);
void kt_product_close(kt_product *);

int kt_path_open(const kt_dialect *, kh_sets *, const kt_peer_options *, kt_entry *, char *why,
                 size_t size);
#endif
