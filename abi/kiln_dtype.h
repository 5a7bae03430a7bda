// SPDX-License-Identifier: MIT
// Element types, layouts and kinds of extra input: the words that generator, runtime and device code share.
// Plain preprocessor and enums only: every C11 and C++ compiler, device compilers included, reads it.
#ifndef KILN_DTYPE_H
#define KILN_DTYPE_H

/* name, enumerator, bits, is floating point, exponent bits, mantissa bits (of an integer those beside its sign: all,
 * where it has none), text for docs.  Elements of less than 8 bits share bytes along the contiguous dimension, the
 * first in the lowest bits; every row (column, if column-major) begins at a byte.
 * ORDER DTYPE: the position is stored in modules; append only, and bump KILN_ABI_VERSION. */
#define KILN_DTYPES(X)                                                                    \
    X(f32, KILN_F32, 32, 1, 8, 23, "IEEE 754 binary32")                                   \
    X(f16, KILN_F16, 16, 1, 5, 10, "IEEE 754 binary16")                                   \
    X(bf16, KILN_BF16, 16, 1, 8, 7, "bfloat16")                                           \
    X(i8, KILN_I8, 8, 0, 0, 7, "two's complement, 8 bits")                                \
    X(i32, KILN_I32, 32, 0, 0, 31, "two's complement, 32 bits")                           \
    X(f8e4m3, KILN_F8E4M3, 8, 1, 4, 3, "OCP FP8 E4M3: no infinity, NaN = S.1111.111")     \
    X(f8e5m2, KILN_F8E5M2, 8, 1, 5, 2, "OCP FP8 E5M2")                                    \
    X(f8e4m3fnuz, KILN_F8E4M3FNUZ, 8, 1, 4, 3, "gfx942's E4M3: bias 8, NaN = 0x80 only")  \
    X(f8e5m2fnuz, KILN_F8E5M2FNUZ, 8, 1, 5, 2, "gfx942's E5M2: bias 16, NaN = 0x80 only") \
    X(i4, KILN_I4, 4, 0, 0, 3, "two's complement, 4 bits: -8 .. 7; two to a byte")        \
    X(u4, KILN_U4, 4, 0, 0, 4, "unsigned, 4 bits: 0 .. 15; two to a byte")                \
    X(u8, KILN_U8, 8, 0, 0, 8, "unsigned, 8 bits: 0 .. 255")

typedef enum kiln_dtype {
    KILN_DTYPE_NONE = 0,
#define X(name, id, ...) id,
    KILN_DTYPES(X)
#undef X
    KILN_DTYPE_COUNT
} kiln_dtype;

/* Element (i, j) of a matrix with leading dimension ld is at i*ld + j (row) or i + j*ld (column). */
#define KILN_LAYOUTS(X)            \
    X(KILN_ROW, 'r', "row-major")  \
    X(KILN_COL, 'c', "column-major")

typedef enum kiln_layout {
    KILN_LAYOUT_NONE = 0,
#define X(id, letter, text) id,
    KILN_LAYOUTS(X)
#undef X
} kiln_layout;

/* Kinds of extra input and of output: what of the family's rows, columns and planes a tensor has an element for.
 * ORDER KIND: the position is stored in modules. */
#define KILN_DKINDS(X)                                   \
    X(full, KILN_D_FULL, "one element per row and column") \
    X(per_row, KILN_D_PER_ROW, "one element per row")    \
    X(per_col, KILN_D_PER_COL, "one element per column") \
    X(per_tensor, KILN_D_PER_TENSOR, "one element")      \
    X(per_block, KILN_D_PER_BLOCK, "one element per row and block of columns") \
    X(per_head, KILN_D_PER_HEAD, "one element per head") \
    X(per_kv_head, KILN_D_PER_KV_HEAD, "one element per head of K and V") \
    X(per_query, KILN_D_PER_QUERY, "one element per head and query")

typedef enum kiln_dkind {
    KILN_D_NONE = 0, /* a tensor of the family's own: A, B, E */
#define X(name, id, text) id,
    KILN_DKINDS(X)
#undef X
    KILN_D_INDEX     /* an array of i32 that says where other tensors' rows are: kiln_index */
} kiln_dkind;

/* What an index array's numbers are.  Kernels check each against its bound, and leave out what passes it.
 * ORDER INDEX: the position is stored in modules. */
typedef enum kiln_index {
    KILN_INDEX_NONE = 0,
    KILN_INDEX_BEGIN,  /* batch + 1: where each batch's rows begin, and the last one's end */
    KILN_INDEX_LENGTH, /* batch: how many rows each batch has */
    KILN_INDEX_PAGE,   /* batch x pages of the longest: the matrix that has a page of a batch's rows */
    KILN_INDEX_FIRST,  /* batch: where each batch's rows begin */
    KILN_INDEX_END,    /* batch: the row behind each batch's last */
    KILN_INDEX_ROW     /* an element for each row: the row of another matrix that stands for it */
} kiln_index;

enum {
    KILN_MAX_D = 8,       /* extra inputs of one op */
    KILN_MAX_SCALARS = 8, /* run-time f32 values of one op */
    KILN_MAX_B = 2,       /* products that share A */
    KILN_MAX_TENSORS = 12, /* of one op, outputs among them */
    KILN_MAX_SIZES = 8,   /* of a family, batch aside */
    KILN_BATCH = 3,       /* position of batch among sizes: a family's fourth size has position 4 */
    KILN_MAX_TYPES = 6,   /* names of types in an op's signature */
    KILN_MAX_LAYOUTS = 3, /* letters of layouts in it */
    KILN_NAME_MAX = 64    /* an op's, input's or scalar's name, with its 0 byte */
};

/* The position of a family's i-th size. */
#define KILN_POSITION(i) ((i) < KILN_BATCH ? (i) : (i) + 1)
#endif
