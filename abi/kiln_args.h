// SPDX-License-Identifier: MIT
// What a kernel of family `gemm` gets: one plain struct, laid out the same by every host and device compiler.
//   E[b] = convert_e( epilogue( sum_k a_op(A[b]) * b_op(B_i[b]), D_0[b] .. , s_0 .. ) ),   b = 0 .. batch-1
// GPU kernels take it by value as their first parameter, followed (where the row declares any) by one array of
// 128-byte tensor maps; host kernels take a pointer to it, and who does steps for them on several threads.  Leading
// dimensions and batch strides are in elements.
#ifndef KILN_ARGS_H
#define KILN_ARGS_H
#include "kiln_dtype.h"

typedef struct kiln_gemm_args {
    const void *a;
    const void *b[KILN_MAX_B];
    void *e;
    const void *d[KILN_MAX_D];
    void *workspace;                 /* as large as the row's workspace function says; contents undefined */
    long long lda, ldb, lde;
    long long ldd[KILN_MAX_D];       /* of full inputs; 0 otherwise */
    long long stride_a, stride_b, stride_e; /* between batches; 0 = every batch reads the same */
    long long stride_d[KILN_MAX_D];
    int m, n, k, batch;              /* each 0 .. 2^31-1 */
    float s[KILN_MAX_SCALARS];
    int units;                       /* compute units of the device; for the host, threads to use */
    int reserved;
} kiln_gemm_args;

/* Calls step(job, i, thread) once for each i = 0 .. count-1, in no order, on at most `threads` threads, whose numbers are
 * 0 (the caller's own) .. threads-1; returns when all steps have ended. */
typedef void (*kiln_step)(const void *job, long long i, int thread);
typedef void (*kiln_each)(int threads, long long count, kiln_step step, const void *job);
#endif
