// SPDX-License-Identifier: MIT
// A case's insides, for the parts of the harness that run it (harness.c) and that judge what it
// left (harness_compare.c).
#ifndef KILN_HARNESS_CASE_H
#define KILN_HARNESS_CASE_H
#include "harness.h"

enum { KH_RUNS = 2 };
extern const unsigned char kh_poisons[KH_RUNS]; /* bytes that nothing should be left of */

/* A buffer on the device and its image on the host: guard, elements, guard. */
typedef struct buffer {
    char *device, *image;
    size_t total, start, bytes; /* allocation; where the elements are in it */
} buffer;

typedef struct sample {
    int64_t *at;
    int64_t count, of;
} sample;
typedef struct samples {
    sample of[KH_SIZES]; /* of each of the problem's sizes; [KH_BATCH]: batches */
} samples;

/* An output's memory and what is known of it. */
typedef struct kh_output {
    int written;           /* the operand whose memory it is: itself, or an input in place */
    char *image[KH_RUNS];  /* of that memory, after each run */
    unsigned char *inside; /* of each element in its span: it is to be written; NULL: all are */
    size_t first;          /* of its elements in lo and hi */
} kh_output;

struct kh_case {
    kiln_ctx *ctx;
    kh_shape shape;
    kiln_args args;
    buffer operand[KH_MAX_OPERANDS];
    kh_output output[KH_MAX_OPERANDS]; /* of the operand there, if it is an output */
    char *scratch;
    samples compared;
    double *lo, *hi; /* of each element compared: output by output, batch by batch, row-major */
    kh_values values;
    kh_indices indices;
    int tight; /* buffers without guards */
    char sampling[160];
};

/* How many matrices of an operand are compared; the nth of them. */
int64_t kh_compared_matrices(const samples *, const kh_operand *);
int64_t kh_matrix_at(const samples *, const kh_operand *, int64_t nth);
/* The size's positions that an operand's row or column i stands for among those compared. */
int64_t kh_row_at(const samples *, const kh_operand *, int64_t i);
int64_t kh_col_at(const samples *, const kh_operand *, int64_t j);
/* Rows or columns (which: 0, 1) of an operand that has the compared ones only. */
int64_t kh_compared(const samples *, const kh_operand *, int which);
size_t kh_compared_elements(const samples *, const kh_operand *);

/* The byte around an output's elements before a run and, unless it is an input, in their places. */
unsigned char kh_fill_of(const kh_case *, int output, int run);
/* First byte of image[from, to) that is not fill, or `to`. */
size_t kh_first_other(const char *image, size_t from, size_t to, unsigned char fill);

/* Of two runs: 0 and a text where the padding of an output was written, or the runs differ. */
int kh_padding_kept(const kh_case *, kh_result *);
int kh_runs_agree(const kh_case *, kh_result *);
/* Outputs of the first run against their bounds: all of the result but guards and inputs. */
void kh_compare(const kh_case *, kh_result *);
#endif
