// SPDX-License-Identifier: MIT
// Verification and timing of kernels, for the kiln command, the examples and tests.  Uses kiln.h
// only.
//   case:  one problem with inputs made from a seed, guard bands around every buffer, poison in the
//   outputs, in the workspace and
//          between padded rows, and the bounds that each checked element of an output must lie
//          within
//   sets:  several inputs of one problem in device memory, more than the last-level cache holds,
//   for timing
#ifndef KILN_HARNESS_H
#define KILN_HARNESS_H
#include <kiln.h>

/* ---- operands: where every element of a problem's tensors is (harness_values.c) ---- */
enum {
    KH_MAX_OPERANDS = KILN_MAX_TENSORS,
    KH_BATCH = KILN_BATCH,         /* among the positions of sizes, */
    KH_SIZES = KILN_MAX_SIZES + 1, /* of which there are so many */
};

typedef struct kh_operand {
    const char *name; /* "A", "B", "bias"; belongs to the registry */
    int at, arg;      /* positions in kiln_problem.tensor and kiln_args.tensor */
    int out, extra;   /* written; one of the op's own, not of its family's */
    int vector;       /* has no leading dimension: per_row, per_col, per_tensor */
    int scaled;       /* of two that are multiplied and summed the second: a gemm's B */
    kiln_dtype dtype;
    kiln_layout layout;
    int along[2], block[2]; /* which of the problem's sizes rows and columns are, -1: none; and
                               elements of it to a row, column */
    int64_t rows, cols;     /* as stored: a per_row input is rows x 1, a per_col input 1 x cols */
    int64_t ld, stride, batch; /* in elements; stride 0: every batch reads the same */
    int64_t planes, plane;     /* matrices of a batch, and from one to the next; 0: all are one */
    int stacked;               /* the size that planes are counted by, -1: none */
    int batches;               /* and that `batch` is: batch, or pages; -1: none, it is one */
    int index, within;         /* kiln_index, of an index array: into that size */
    int64_t span;              /* elements from the first to the last, 0 where there are none */
    size_t size,
        align; /* bytes of an element, or those it shares; of which the base is a multiple */
} kh_operand;

typedef struct kh_shape {
    kiln_problem problem; /* resolved */
    kiln_op_info op;
    kh_operand operand[KH_MAX_OPERANDS]; /* inputs, then outputs, each as the op has them */
    int count, inputs;                   /* operands; the first output's position */
} kh_shape;

enum { KH_ALLOCATED = 256 }; /* bytes that memory of allocators is a multiple of, at least */

kiln_status kh_shape_of(kiln_ctx *, const kiln_problem *, kh_shape *);
/* The nth way, from 0, in which outputs may be the memory of full extra inputs, given equal ld and
 * batch stride: first as many as can be, then, where there are several outputs, one alone.
 * input[o]: the input that output o is, or -1.  0: there is no such way. */
int kh_in_place(const kh_shape *, int nth, int input[KH_MAX_OPERANDS]);
/* An element's offset.  matrix: batch * planes + plane; i or j is ignored where the operand is a
 * vector. */
int64_t kh_place(const kh_operand *, int64_t matrix, int64_t i, int64_t j);
/* The input in whose memory timing has this one: its rows lie as far apart and are longer, as
 * latent attention's keys, whose first elements are its values.  -1: it has memory of its own. */
int kh_within(const kh_shape *, int operand);
int64_t kh_matrices(const kh_operand *);        /* batch * planes */
int64_t kh_stored(const kh_operand *);          /* of them, those that are not another again */
int64_t kh_elements(const kh_operand *);        /* rows * cols * batch * planes */
int64_t *kh_size(kiln_problem *, int position); /* a problem's size */
int64_t kh_size_of(const kiln_problem *, int position);
const char *kh_size_name(const kiln_op_info *, int position); /* NULL: the op has none there */
/* Elements that share a byte, the first in the lowest bits: 1, but of inputs of 4 bits. */
int kh_pieces(const kh_operand *);
size_t kh_span(const kh_operand *); /* bytes from the first element to the last */
/* The element at an offset that kh_place gives, of the operand at base. */
double kh_get(const kh_operand *, const void *base, int64_t at);
void kh_put(const kh_operand *, void *base, int64_t at, double);
double kh_flops(const kh_shape *);               /* of the products: 2 m n k batch each */
double kh_bytes(const kh_shape *);               /* every operand once, but those within others */
void **kh_slot(kiln_args *, const kh_operand *); /* its pointer in args */
void *kh_pointer(const kiln_args *, const kh_operand *);

/* ---- threads (harness_parts.c) ---- */
typedef void kh_part(void *arg, int64_t part);
/* work(arg, 0 .. parts - 1), each once, by up to kh_threads() threads; returns when all is done. */
void kh_parts(int64_t parts, kh_part *work, void *arg);
int kh_threads(void); /* cores, at most 16 */

/* ---- numbers ---- */
/* What shares its byte with others is at the lowest bits, and alone there. */
double kh_decode(kiln_dtype, const void *element);
void kh_encode(kiln_dtype, double, void *element); /* nearest even, saturates */
uint64_t kh_random(uint64_t *state);
uint64_t kh_seed(void); /* a fresh one */

typedef enum kh_values {
    KH_RANDOM,   /* suited to each type, never zero */
    KH_INTEGERS, /* 1, 2, 3 with either sign, if the type has any: sums are exact */
    KH_SPECIALS  /* KH_RANDOM with a few NaN and infinities */
} kh_values;

/* Writes an operand's elements to base[0 .. span); what lies between them is left alone.
 * An index array's are KH_EVEN. */
void kh_fill(const kh_shape *, const kh_operand *, kh_values, uint64_t *state, void *base);
/* What index arrays say. */
typedef enum kh_indices {
    KH_UNEVEN,  /* batches of different lengths, some of them empty, in pages in no order */
    KH_EVEN,    /* as long as can be, alike: for timing */
    KH_HOSTILE, /* as KH_UNEVEN, and some numbers that are none: negative, too large */
    KH_DISORDER /* numbers in no order and range */
} kh_indices;
int kh_has_indices(const kh_shape *);
void kh_fill_indices(const kh_shape *, const kh_operand *, kh_indices, uint64_t *state, void *base);
/* Poisons what no batch has: the rest of pages, pages that are nobody's.  base: of each operand. */
void kh_poison_unused(const kh_shape *, char *const *base);
void kh_fill_scalars(const kh_shape *, kh_values, int attempt, uint64_t *state, float *scalars);
unsigned char kh_poison(kiln_dtype); /* the byte that fills what an input's reader must not use */

/* ---- cases (harness.c) ---- */
typedef struct kh_options {
    uint64_t seed;
    kh_values values;
    int64_t tile[KH_SIZES]; /* further tile edges, by size, that a sample must include; 0: none */
    kh_indices indices;
    int in_place;  /* 1 + which of kh_in_place's ways; 0: outputs have memory of their own */
    double budget; /* multiply-adds the reference may spend before rows and columns are sampled; 0:
                      default */
} kh_options;

typedef struct kh_result {
    int ok;                /* nothing is wrong, and enough is determined to say so */
    int too_few;           /* nothing is wrong, but too few elements are determined */
    size_t checked, wrong; /* elements compared, outside their bounds */
    size_t determined;     /* elements whose bounds are narrow enough to say what they are */
    double max_error;      /* largest |got - expected| */
    double bound_share;    /* the worst element's distance from the middle of its bounds, 1 = at the
                              bound */
    struct {
        size_t checked, determined;
    } output[KH_MAX_OPERANDS]; /* of each */
    char text[480];            /* one line: the worst element, or what is wrong */
} kh_result;

typedef struct kh_case kh_case;
kiln_status kh_case_open(kiln_ctx *, const kiln_problem *, const kh_options *, kh_case **);
/* Launches twice with different poison and checks; a status other than KILN_OK: it could not be run
 * at all. */
kiln_status kh_case_run(kh_case *, const kiln_kernel *, kh_result *);
/* Whether so few elements of those compared are determined that nothing was verified. */
int kh_too_few(size_t determined, size_t checked);
const char *
kh_case_sampling(const kh_case *); /* "" or "128 of 512 rows, 128 of 11008 columns, seed 42" */
void kh_case_close(kh_case *);

/* ---- timing (harness_time.c) ---- */
typedef struct kh_sets kh_sets;
kiln_status kh_sets_open(kiln_ctx *, const kiln_problem *, uint64_t seed, kh_sets **);
void kh_sets_close(kh_sets *);
size_t kh_sets_count(const kh_sets *);
const kh_shape *kh_sets_shape(const kh_sets *);
const kiln_args *kh_sets_args(const kh_sets *, size_t i);
kiln_ctx *kh_sets_ctx(const kh_sets *);

/* One implementation of the problem; launch may not synchronise. */
typedef struct kh_runner {
    kiln_status (*launch)(struct kh_runner *, size_t set, void *stream);
    kh_sets *sets;
    const kiln_kernel *kernel; /* for kh_launch_kernel */
    void *self, *workspace;    /* for others' use; freed by nobody here but kh_runner_close */
    size_t workspace_size;
    double seconds, spread; /* results: median; (90th - 10th percentile) / median */
    size_t replays;
    kiln_status status;             /* of its launches: a runner that failed has no times */
    struct kh_recording *recording; /* private */
} kh_runner;

kiln_status kh_runner_open(kh_sets *, const kiln_kernel *, kh_runner *);
void kh_runner_close(kh_runner *);

typedef struct kh_protocol {
    double seconds; /* to spend on each implementation; 0: 1 */
    double idle;    /* before each replay; 0: 0.040, negative: none */
    double replay;  /* length of a replay; 0: 0.006 */
    /* A runner whose first launches take this many times those of the fastest, or `best` seconds,
     * is not replayed: it gets their time and no replays.  0: all are. */
    double hopeless, best;
    /* Where the device's own time says nothing: gives that of one launch, which is not replayed. */
    kiln_status (*price)(kh_runner *, double *seconds);
} kh_protocol;
/* Replays the runners in turn; each replay walks over the input sets.  Goes on without runners that
 * fail, and returns the status of the first of them. */
kiln_status kh_time(kh_runner *, size_t n, const kh_protocol *);
#endif
