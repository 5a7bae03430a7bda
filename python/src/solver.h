// SPDX-License-Identifier: MIT
// Between shapes.c, which finds sizes and batches, and problem.c, which chooses a signature.
#ifndef KILN_SOLVER_H
#define KILN_SOLVER_H
#include "binding.h"

typedef struct place {
    int64_t planes, plane; /* sizes, and strides in elements */
    int64_t rows, row, cols, col;
    int nb;           /* leading dimensions: batch */
    int64_t batch;    /* stride */
    bool spread;      /* all batches are one */
    bool none;        /* it has no elements */
    unsigned layouts; /* that the strides allow: bit 1 row-major, bit 2 column-major */
} place;

typedef struct solver {
    const kp_bound *b;
    const kp_call *c;
    place at[KILN_MAX_TENSORS];
    int64_t size[KP_SIZES]; /* -1: not known yet */
    int64_t batch[KP_DIMS]; /* of all, before it is one number */
    int nb;
    int64_t batches;
    const kp_signature *sig;      /* NULL: none fits, and the library will say why */
    uint8_t type[KILN_MAX_TYPES]; /* as given; 0: by no tensor */
    bool folded;                  /* batches became rows */
    bool packs;                   /* i8 and u8 stand for types of less than a byte: no signature has
                                     the types given as they are */
} solver;

enum { ROW_BIT = 1u << KILN_ROW, COL_BIT = 1u << KILN_COL };

bool kp_invalid(const char *format, ...); /* a ValueError; false */
bool kp_is_packed(int dtype);             /* several elements to a byte */
int kp_wanted_type(const solver *, const kp_signature *, int tensor);
/* Along which of a tensor's sides two elements share a byte: a kiln_layout, or 0. */
int kp_packed_side(const solver *, int tensor, const kp_signature *);
bool kp_types_fit(const solver *, const kp_signature *);
int64_t kp_count_of(const kp_view *, int dimensions);
int64_t kp_matrices(const solver *, const kp_tensor *);
/* Elements of less than a byte change what shapes mean: the signature says whether there are. */
bool kp_solve_sizes(solver *, const kp_signature *);
bool kp_solve_batches(solver *);
#endif
