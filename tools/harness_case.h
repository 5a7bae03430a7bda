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
    sample batches, rows, cols;
} samples;

struct kh_case {
    kiln_ctx *ctx;
    kh_shape shape;
    kiln_args args;
    buffer operand[KH_MAX_OPERANDS];
    char *e_image[KH_RUNS], *scratch;
    int written;           /* position of the operand that E's memory is: E, or an input in place */
    unsigned char *inside; /* of each element in E's span: belongs to E; NULL: all do */
    samples compared;
    double *lo, *hi; /* of each element compared */
    kh_values values;
    char sampling[160];
};

/* The byte around E's elements before a run and, unless E is an input, in their places. */
unsigned char kh_e_fill(const kh_case *, int run);
/* First byte of image[from, to) that is not fill, or `to`. */
size_t kh_first_other(const char *image, size_t from, size_t to, unsigned char fill);

/* Of two runs: 0 and a text where the padding of E was written, or the runs differ. */
int kh_padding_kept(const kh_case *, kh_result *);
int kh_runs_agree(const kh_case *, kh_result *);
/* E of the first run against its bounds: all of the result but guards and inputs. */
void kh_compare(const kh_case *, kh_result *);
#endif
