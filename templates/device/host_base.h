// SPDX-License-Identifier: MIT
// Words shared by the host schedule's primitives.  A kernel walks E in tiles whose rows are
// contiguous in E.  X is the operand indexed along E's contiguous dimension (B of a row-major E, A
// of a column-major one) and is read as vectors; Y is the other one, its elements are broadcast.
// Both are packed into k-major panels of 32-bit units: one f32, or 4 (VNNI) or 2 (pmaddwd) i8 or u8
// that are neighbours along k.  Before it includes host_gemm.h an instance defines:
//   HOST_A_T, HOST_B_T            dtype in memory (enumerators of abi/kiln_dtype.h)
//   HOST_A_OP, HOST_B_OP          1: host_op_a, host_op_b make of an element what is multiplied
//   HOST_A_KMAJOR, HOST_B_KMAJOR  1: contiguous along k
//   HOST_E_ROW                    1: E is row-major
//   HOST_OUTPUTS, HOST_BLOCK      1: there are outputs beside E; columns of their largest block
//   HOST_PRODUCTS, HOST_KIND      1 or 2 products; how they are summed (below)
//   HOST_A_PLACED, HOST_B_PLACED  1: those take inputs, so they are told which element it is
//   HOST_DEEP                     length along k of blocks whose sums are scaled; 0: none
//   HOST_MC .. HOST_SLAB          cache blocking, see host_gemm.h
//   host_place(o, g, b)           sets o to batch b
//   host_store_row(o, acc0, acc1, i, j, cols, nr)
//                                 epilogue of one row of a tile: nr sums, cols of them inside E
//   host_scale(o, product, sum, whole, i, rows, j, cols, k, nr)
//                                 with HOST_DEEP: adds a tile's sums over some of the block at k,
//                                 scaled, to its whole sums
#ifndef HOST_BASE_H
#define HOST_BASE_H
#include "host_words.h"
#include "kiln_args.h"

#define HOST_MAX_NR 32 /* widest tile of any instruction set */
#define HOST_MAX_NC 1024 /* columns of a task, rounded up to tiles and to blocks */
#define HOST_SIDE_A 0
#define HOST_SIDE_B 1

/* E and the extra inputs of one batch.  Rows i count along Y, columns j along X. */
typedef struct host_out {
    const kiln_gemm_args *g;
    char *e;
    const char *d[KILN_MAX_D];
} host_out;

/* Element (r, k) of one batch of an operand: r*ld + k if contiguous along k, else r + k*ld. */
typedef struct host_operand {
    const char *p;
    long ld, rows;
    const host_out *out; /* where inputs of its op are */
    int product;
} host_operand;

/* An element, and where the next ones of a run are: along k, or along r. */
typedef struct host_spot {
    const host_operand *o;
    long r, k;
    int along_k;
} host_spot;

/* For ops that take no inputs and do not ask. */
static const host_spot host_nowhere __attribute__((unused));

/* Sums that the epilogue gets: of scaled blocks they are f32, whatever the blocks' own are. */
#if HOST_DEEP
typedef float host_whole_t;
#else
typedef host_sum_t host_whole_t;
#endif

static HOST_INLINE long host_bits(const int type)
{
    switch (type) {
    case KILN_F32:
    case KILN_I32:
        return 32;
    case KILN_F16:
    case KILN_BF16:
        return 16;
    case KILN_I4:
    case KILN_U4:
        return 4;
    default:
        return 8;
    }
}

/* Bytes of n elements that begin at a byte. */
static HOST_INLINE long host_span(const int type, long n)
{
    return (n * host_bits(type) + 7) / 8;
}

static HOST_INLINE long host_min(long a, long b)
{
    return a < b ? a : b;
}
static HOST_INLINE long host_max(long a, long b)
{
    return a > b ? a : b;
}
static HOST_INLINE long host_ceil_div(long a, long b)
{
    return (a + b - 1) / b;
}
static HOST_INLINE long host_round_up(long a, long b)
{
    return host_ceil_div(a, b) * b;
}
#endif
