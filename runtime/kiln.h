// SPDX-License-Identifier: MIT
/*
 * libkiln: finds the compiled kernel that fits a problem and launches it.
 *
 *     kiln_ctx *ctx;  const kiln_kernel *kernel;
 *     kiln_problem p;
 *     if (kiln_open(&ctx, NULL) ||                                    // best device present, else the host
 *         kiln_problem_parse("bias_relu bf16,bf16,bf16 rcr m=512 n=11008 k=4096", &p) ||
 *         kiln_find(ctx, &p, &kernel))
 *         return fprintf(stderr, "%s\n", kiln_error()), 1;
 *     kiln_args args = { .struct_size = sizeof args, .a = a, .b = { b }, .d = { bias }, .e = e,
 *                        .workspace_size = kiln_workspace_size(kernel, &p) };
 *     kiln_malloc(ctx, args.workspace_size, &args.workspace);
 *     kiln_launch(ctx, kernel, &p, &args, stream);
 *
 * Threads: every function may be called from any thread; kiln_close(ctx) must be the last use of ctx and of its
 * kernels.  kiln_find takes no lock and allocates nothing; kiln_launch neither synchronises nor allocates, and can be
 * captured in a graph (the first launch of a kernel on a context loads its code; kiln_prepare does that ahead).
 * A forked child may go on with its parent's contexts on the host.
 * The library prints nothing.  KILN_LOG=path (or `stderr`) makes it log; KILN_DEVICE, KILN_MODULE_PATH and KILN_TUNING
 * are read by kiln_open, and KILN_TUNE: with first:2s the first kiln_find of a problem may take so long, and tunes it.
 */
#ifndef KILN_H
#define KILN_H
#include <stddef.h>
#include <stdint.h>
#include "kiln_dtype.h"
#include "kiln_version.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define KILN_API __attribute__((visibility("default")))
#define KILN_EXTENSION __extension__ /* members of C11, in C99, too */
#else
#define KILN_API
#define KILN_EXTENSION
#endif

/* enumerator, name, meaning */
#define KILN_STATUSES(X)                                                                            \
    X(KILN_OK, "ok", "done")                                                                        \
    X(KILN_INVALID, "invalid", "an argument is wrong: null, negative, misaligned, overlapping, too large") \
    X(KILN_NOT_FOUND, "not_found", "no op, type or layout like this was ever described")            \
    X(KILN_NOT_SUPPORTED, "not_supported", "described, but not possible on this device")            \
    X(KILN_NO_DEVICE, "no_device", "the device asked for is not there")                             \
    X(KILN_NO_MEMORY, "no_memory", "host or device memory ran out")                                 \
    X(KILN_BAD_MODULE, "bad_module", "a module or code object is damaged or of another version")    \
    X(KILN_WORKSPACE, "workspace", "the workspace is missing or too small")                         \
    X(KILN_DRIVER, "driver", "the device's driver refused")                                         \
    X(KILN_TRUNCATED, "truncated", "the caller's buffer is too small; the length it needs is returned") \
    X(KILN_IO, "io", "a file could not be read or written")

typedef enum kiln_status {
#define X(id, name, text) id,
    KILN_STATUSES(X)
#undef X
} kiln_status;

/* Structs that begin with struct_size grow at their end only: a program that was compiled against an older or a newer
 * header than this library's says so by its size.  What a shorter struct lacks counts as zero, or is left out of what
 * is filled in; a longer one must be zero behind what the library knows, and is filled with zeros there. */
typedef struct kiln_ctx kiln_ctx;       /* one device and a view of the registry */
typedef struct kiln_kernel kiln_kernel; /* one instance on a context's device; owned by the context, constant */

typedef struct kiln_config {
    size_t struct_size;      /* sizeof(kiln_config) */
    const char *device;      /* "host", "amd[:i]", "nvidia[:i]", "sim:gfx942", or a device that is not here, to find and
                                explain for: "none:sm_90a:132" (units); NULL: KILN_DEVICE, else the best present */
    const char *module_path; /* folders, ':' between; NULL: KILN_MODULE_PATH.  The library's own modules come first */
    const char *tuning;      /* tuning files, ':' between; "": none; NULL: KILN_TUNING, else tuning/ beside modules */
    int threads;             /* host device: threads to use; 0: OMP_NUM_THREADS, else all cores */
    int only_module_path;    /* non-zero: do not open the library's own modules */
} kiln_config;

#define KILN_BROADCAST (-1) /* a batch stride: every batch reads the same elements */

/* One operand.  Zero means: as described by the op (dtype, layout), packed (ld, batch_stride), aligned to its element
 * only (align). */
typedef struct kiln_tensor {
    kiln_dtype dtype;
    kiln_layout layout;
    int64_t ld;           /* leading dimension in elements; of an extra input with planes KILN_BROADCAST: all rows are one */
    int64_t batch_stride; /* elements from one batch to the next, or KILN_BROADCAST (not for outputs) */
    uint32_t align;       /* bytes that the base pointer is a multiple of; a promise that kiln_launch checks */
} kiln_tensor;

/* What is to be computed: an op, the sizes of its family and its tensors, `batch` times.  Both have a name and a position:
 *   gemm      E = epilogue(A·B, D...): A is m x k, B is k x n, E is m x n, D the extra inputs in the order of their names,
 *             behind them outputs and index arrays; with rows of groups, batch is how many these are, and of ops that
 *             gather A is tokens x k
 *   rowwise   sizes rows and cols; its inputs and then its outputs are tensor[0], [1], ..., each in the order of their
 *             names (kiln_tensor_index finds one)
 *   attention sizes heads, kv_heads, q, kv, dim, dimv and, of ops with a window, window, of those with pages, pages; Q,
 *             K, V and O are tensor[0] to [3], extra inputs, then outputs, then index arrays are [4], [5], ..., each in
 *             the order of their names
 * Types: a gemm's A, B and E must say theirs, and their layout; of another op's tensors one of each type that the op
 * names, the rest may be 0. */
typedef struct kiln_problem {
    size_t struct_size;        /* sizeof(kiln_problem) */
    char op[KILN_NAME_MAX];
    KILN_EXTENSION union {
        int64_t size[4];       /* may be 0; [3] batch: 0 = 1, what has no batches has another size 0, or is not launched */
        KILN_EXTENSION struct {
            KILN_EXTENSION union { int64_t m, rows, heads; };
            KILN_EXTENSION union { int64_t n, cols, kv_heads; };
            KILN_EXTENSION union { int64_t k, q; };
            KILN_EXTENSION union { int64_t batch, groups; };
        };
    };
    kiln_dtype acc;            /* of a gemm; 0: i32 for integer A and B, else f32 */
    KILN_EXTENSION union {
        kiln_tensor tensor[KILN_MAX_TENSORS];
        KILN_EXTENSION struct { kiln_tensor a, b, e, d[KILN_MAX_D]; }; /* with two products both B's are alike */
    };
    KILN_EXTENSION union {
        int64_t more[KILN_MAX_SIZES - KILN_BATCH]; /* sizes of the positions from KILN_BATCH + 1 on */
        KILN_EXTENSION struct {
            KILN_EXTENSION union { int64_t kv, tokens; };
            int64_t dim, dimv, window, pages;
        };
    };
    int64_t plane_stride[KILN_MAX_TENSORS]; /* elements from one plane (head) of tensor[i] to the next; 0: packed, behind
                                               each other, or KILN_BROADCAST (not for outputs) */
} kiln_problem;

/* How a kernel sums products of floating-point numbers; zeros: as f32 does. */
typedef struct kiln_sums {
    int bits, step;            /* of a sum in the matrix unit's own format; products that it adds at once */
    int chain;                 /* products after which such a sum is added to others in f32; 0: never */
    int product_bits;          /* of an operand's significand that reach its product; 0: all */
} kiln_sums;

typedef struct kiln_args {
    size_t struct_size;            /* sizeof(kiln_args) */
    KILN_EXTENSION union {
        void *tensor[KILN_MAX_TENSORS]; /* of ops other than gemms: at kiln_problem's positions */
        KILN_EXTENSION struct {
            const void *a;
            const void *b[KILN_MAX_B]; /* in the order the op names them; one-product ops use b[0] */
            const void *d[KILN_MAX_D]; /* in the order of their names */
            void *e;                   /* this and every output: may be exactly a full extra input, by its pointer, type,
                                          layout, ld and batch stride; else must not overlap an input or another output */
        };
        KILN_EXTENSION struct {        /* of attention; extra inputs, outputs and index arrays are tensor[4], [5], ... */
            const void *q, *k, *v;
            void *others[KILN_MAX_TENSORS - 4];
            void *o;
        };
    };
    float scalars[KILN_MAX_SCALARS]; /* in the order the op declares them */
    void *workspace;               /* device memory of its own, 256-byte aligned; may be NULL where kiln_workspace_size is 0 */
    size_t workspace_size;
    KILN_EXTENSION union {
        kiln_sums sums;            /* for kiln_reference_bounds: the kernel's (kiln_kernel_info) */
        int sum_bits;              /* its `bits` alone, as programs of version 0.1.0 have it */
    };
} kiln_args;

/* ---- contexts ---- */
KILN_API kiln_status kiln_open(kiln_ctx **, const kiln_config *); /* config NULL: all defaults */
KILN_API void kiln_close(kiln_ctx *);                             /* NULL is allowed */

/* ---- finding ---- */
KILN_API kiln_status kiln_find(kiln_ctx *, const kiln_problem *, const kiln_kernel **); /* the best legal instance */
/* *count: room in the array on entry, number of legal instances on return (best first); the array may be NULL. */
KILN_API kiln_status kiln_find_all(kiln_ctx *, const kiln_problem *, const kiln_kernel **, size_t *count);
/* *len: room on entry, strlen of the whole text + 1 on return; text may be NULL. */
KILN_API kiln_status kiln_explain(kiln_ctx *, const kiln_problem *, char *text, size_t *len);
KILN_API kiln_status kiln_explain_json(kiln_ctx *, const kiln_problem *, char *text, size_t *len);
KILN_API kiln_status kiln_kernel_by_name(kiln_ctx *, const char *name, const kiln_kernel **);

/* ---- running ---- */
KILN_API size_t kiln_workspace_size(const kiln_kernel *, const kiln_problem *); /* bytes; SIZE_MAX: not a legal pair */
KILN_API kiln_status kiln_prepare(kiln_ctx *, const kiln_kernel *);             /* loads the code now */
/* stream: the driver's own; the host ignores what kiln_stream_create did not make. */
KILN_API kiln_status kiln_launch(kiln_ctx *, const kiln_kernel *, const kiln_problem *, const kiln_args *, void *stream);
/* Whole problem in double precision on the host (host pointers); needs an open context that knows the op. */
KILN_API kiln_status kiln_reference(const kiln_problem *, const kiln_args *);
/* Bounds that a correct f32 evaluation of each element of the outputs stays within; lo, hi: of each output in the order of
 * their positions batch * its planes * its rows * its columns doubles, row-major, packed (a gemm's E: batch*m*n).
 * NaN in both: the element must be NaN; -inf and +inf: not determined, NaN is as good as any; +inf and -inf: it is left as
 * it is, since its row belongs to no batch.  Outputs are not read. */
KILN_API kiln_status kiln_reference_bounds(const kiln_problem *, const kiln_args *, double *lo, double *hi);

/* ---- problems as text: the op, its types, layouts where the family has any, sizes and what else is not at its default:
 *        bias_relu f16,f16,f16 rcr m=4096 n=11008 k=4096 [acc=] [batch=] [lda= ldb= lde= ldd.NAME=]
 *            [sa= sb= se= sd.NAME=] [align=] [aligna= alignb= aligne= alignd.NAME=]
 *        add_rmsnorm bf16 rows=512 cols=7168 [batch=] [ldNAME=] [sNAME=] [align=] [alignNAME=]
 *        causal bf16,bf16,bf16,bf16 heads=32 kv_heads=8 q=4096 kv=4096 [dim= dimv=] [batch=] [ldT= sT= pT= alignT=]
 *      Names of inputs, and ops that are no gemms, need an open context that knows the op. ---- */
KILN_API kiln_status kiln_problem_parse(const char *text, kiln_problem *);
KILN_API kiln_status kiln_problem_parse_sized(const char *text, kiln_problem *, size_t size); /* size of the struct */
#define kiln_problem_parse(text, p) kiln_problem_parse_sized(text, p, sizeof(kiln_problem))
KILN_API kiln_status kiln_problem_format(const kiln_problem *, char *text, size_t *len);

/* ---- what there is ---- */
typedef struct kiln_kernel_info {
    size_t struct_size;
    const char *name, *op, *target, *schedule, *file; /* file and line: of the op's description */
    int line;
    kiln_dtype a, b, e, acc;
    kiln_layout layout_a, layout_b, layout_e;
    size_t ntunables;                 /* of the values below; the rest are derived */
    size_t nvalues;
    const char *value_name[48];
    int value[48];
    size_t nsymbols;                  /* of the first two: stage_symbol has all of them */
    const char *symbol[2];
    const void *code;                 /* code object, which other kernels may be in, too; NULL for the host */
    size_t code_size;
    int runnable;                     /* on this context's device */
    kiln_sums sums;                   /* for kiln_args, where kiln_reference_bounds is to judge this kernel */
    const char *family;
    size_t ntypes, nlayouts;          /* a, b, e, acc and layout_* above are a gemm's; these are every family's */
    kiln_dtype type[KILN_MAX_TYPES];  /* in the order of kiln_op_info.type_name */
    kiln_layout layout[KILN_MAX_LAYOUTS];
    const char *stage_symbol[4];      /* of kernels launched one after the other; NULL behind the last */
    int64_t fixed[2];                 /* what it is compiled for, of kiln_op_info.fixed */
    uint64_t content;                 /* hash of what makes it: name, code, values, tensor maps */
    int units;                        /* of the machine that its target's description is of; 0: it does not say */
} kiln_kernel_info;

/* A tensor of an op.  Its matrix has ceil(size[rows] / row_block) rows and ceil(size[cols] / col_block) columns, where
 * rows and cols are positions in kiln_problem.size; -1: one. */
typedef struct kiln_tensor_info {
    const char *name;     /* "bias"; a gemm's own: "A", "B" or the product's name, "E" */
    int at, arg;          /* positions in kiln_problem.tensor and in kiln_args.tensor */
    kiln_dkind kind;      /* KILN_D_NONE: the family's own */
    int out;              /* written */
    int rows, cols, row_block, col_block;
    int type;             /* position in kiln_op_info.type_name; -1: fixed */
    int summed;           /* 1: it has elements along kiln_op_info.summed: a gemm's A and B */
} kiln_tensor_info;

/* What else there is to know of a tensor's rows. */
typedef struct kiln_rows_info {
    int batches;          /* position of the size that its matrices are counted by: batch, or, of what is in pages, pages;
                             -1: all batches' rows are in one matrix, or it has none of its own for a batch */
    int page;             /* rows of each matrix, whatever the size says; 0: as many as it says */
    int beyond;           /* rows beside those of the size: 1 of an array of beginnings, which has an end */
    kiln_index index;     /* of an index array (kind KILN_D_INDEX): what its numbers are, */
    int within;           /* and position of the size that they stay within; else -1 */
} kiln_rows_info;

typedef struct kiln_op_info {
    size_t struct_size;
    const char *name, *file;
    int line;
    size_t nd, nscalars, products;    /* nd: extra inputs, the first eight; tensor[] has all */
    const char *d_name[KILN_MAX_D], *scalar_name[KILN_MAX_SCALARS], *b_name[KILN_MAX_B];
    kiln_dkind d_kind[KILN_MAX_D];
    size_t nshapes;                   /* check.shapes */
    const int64_t (*shapes)[3];
    float rtol;                       /* check.rtol, 0: none */
    const char *family;
    size_t ntensors, nsizes, ntypes, nlayouts;
    kiln_tensor_info tensor[KILN_MAX_TENSORS]; /* inputs of the family's own, its outputs, then the op's inputs, its outputs */
    const char *size_name[4];         /* by position in kiln_problem.size; batch not among nsizes, but [3] */
    const char *type_name[KILN_MAX_TYPES];
    int rows, cols;                   /* positions of the sizes that kinds of tensors mean */
    int summed;                       /* position of the size that products are summed over; -1: none */
    unsigned empty, independent;      /* bits of sizes: 0 leaves nothing to do; elements do not depend on each other */
    int uses_at;                      /* values depend on an element's row 1, column 2, plane 4, batch 8: a sum */
    size_t nodes;                     /* of the op's main expression */
    size_t nfamily_shapes, nquick_shapes; /* sizes that suit the family, to verify with; the first are for quick runs */
    const int64_t (*family_shapes)[3];
    size_t shape_step;                /* numbers from one of these and of shapes to the next: as many as sizes, at least 3 */
    const char *more_size_name[KILN_MAX_SIZES - KILN_BATCH]; /* of kiln_problem.more; NULL: this op has none there */
    int tensor_planes[KILN_MAX_TENSORS]; /* of tensor[]: position of the size that it is so many matrices of; -1: one */
    int planes;                       /* position of the size that the family's planes are counted by; -1: none */
    int groups;                       /* they are a multiple of it; -1: none */
    size_t nfixed;                    /* sizes that kernels are compiled for: fixed_rows rows of their values */
    int fixed[2];                     /* their positions */
    size_t fixed_rows;
    const int64_t (*fixed_sizes)[2];
    kiln_rows_info rows_of[KILN_MAX_TENSORS]; /* of tensor[] */
    const char *tensor_key[KILN_MAX_TENSORS]; /* of tensor[]: its name in a call: "a", "gate", "bias" */
    kiln_dtype tensor_dtype[KILN_MAX_TENSORS]; /* of tensor[]: its type where no type_name is it; else 0 */
    int tensor_letter[KILN_MAX_TENSORS];  /* of tensor[]: position of its layout in kiln_kernel_info.layout; -1: it is */
    kiln_layout tensor_layout[KILN_MAX_TENSORS]; /* always this one; 0: no matrix, contiguous */
} kiln_op_info;

typedef struct kiln_device_info {
    size_t struct_size;
    char name[128];    /* "NVIDIA H200", the CPU's model name */
    char vendor[16];   /* "amd", "nvidia", "host" */
    char target[32];   /* "gfx942"; "" where no target of Kiln fits */
    int units;         /* compute units, SMs; threads of the host */
    size_t memory;     /* bytes */
    size_t l2;         /* bytes of last-level cache; 0: not known */
    int gbps;          /* GB/s of a GPU's memory, of its clock and width; 0: not known */
} kiln_device_info;

KILN_API kiln_status kiln_kernel_describe(const kiln_kernel *, kiln_kernel_info *);
/* Every instance of every module, of this context's target or not, but for ops that mean something else here:
 * i = 0, 1, ... until KILN_NOT_FOUND. */
KILN_API kiln_status kiln_kernel_at(kiln_ctx *, size_t i, const kiln_kernel **);
KILN_API kiln_status kiln_op_describe(kiln_ctx *, const char *op, kiln_op_info *);
/* What the op's functions compute, as they were traced: a line for each value.  *len: as in kiln_explain. */
KILN_API kiln_status kiln_op_text(kiln_ctx *, const char *op, char *text, size_t *len);
/* Position of an op's input or output in kiln_problem.tensor and kiln_args.tensor; -1: it has none of that name (a gemm's
 * own have fields: a, b, e), and kiln_error says what it has. */
KILN_API int kiln_tensor_index(kiln_ctx *, const char *op, const char *name);
KILN_API kiln_status kiln_device_describe(kiln_ctx *, kiln_device_info *);
/* Modules, ops of modules and tuning files that are not used, and why: i = 0, 1, ... until NULL. */
KILN_API const char *kiln_refused_at(kiln_ctx *, size_t i);
/* Dtype, ld and strides of extra input i, and all defaults of the others, filled in as the op describes.  The second is
 * taken to be as long as the first. */
KILN_API kiln_status kiln_problem_resolve(const kiln_problem *, kiln_problem *);
KILN_API const char *kiln_status_name(kiln_status);
KILN_API const char *kiln_dtype_name(kiln_dtype);
KILN_API size_t kiln_dtype_size(kiln_dtype);     /* bytes of an element; 0: several share a byte */
KILN_API int kiln_dtype_bits(kiln_dtype);        /* of an element; 0: no type */
KILN_API const char *kiln_error(void);           /* text of this thread's last failure; valid until its next */
KILN_API const char *kiln_version(void);
KILN_API uint64_t kiln_registry_id(kiln_ctx *);  /* content id of all modules together */

/* ---- device memory and streams, for callers without a framework ---- */
KILN_API kiln_status kiln_malloc(kiln_ctx *, size_t, void **); /* 256-byte aligned */
KILN_API kiln_status kiln_free(kiln_ctx *, void *);
KILN_API kiln_status kiln_upload(kiln_ctx *, void *device, const void *host, size_t);   /* returns when done */
KILN_API kiln_status kiln_download(kiln_ctx *, void *host, const void *device, size_t); /* returns when done */
KILN_API kiln_status kiln_stream_create(kiln_ctx *, void **);
KILN_API kiln_status kiln_stream_destroy(kiln_ctx *, void *);
KILN_API kiln_status kiln_synchronize(kiln_ctx *, void *stream); /* NULL: the default stream */
/* Records launches made between begin and end into a graph; replay launches it.  The host runs them at end and on each
 * replay in order.  seconds: time of one replay on the device, by events (host: by clock); may be NULL. */
KILN_API kiln_status kiln_graph_begin(kiln_ctx *, void *stream);
KILN_API kiln_status kiln_graph_end(kiln_ctx *, void *stream, void **graph);
KILN_API kiln_status kiln_graph_replay(kiln_ctx *, void *graph, void *stream, double *seconds);
KILN_API kiln_status kiln_graph_destroy(kiln_ctx *, void *graph);

#ifdef __cplusplus
}
#endif
#endif
