// SPDX-License-Identifier: MIT
/*
 * The Python package's extension: tensors of any framework in, launches out, on the public C API.
 *
 *   tensor.c     what a Python object is as a tensor: pointer, type, sizes, strides, device
 *   context.c    one kiln_ctx for each device, opened when first asked for; workspaces
 *   bind.c       an op on a device: its tensors, sizes, scalars, and signatures
 *   shapes.c     sizes and batches, from the shapes of a call's tensors
 *   problem.c    the signature that fits them, and the problem
 *   plan.c       a call's problem and kernel, kept by all that they depend on
 *   arguments.c  a call's arguments: which is which
 *   op.c         kiln.Op, which is called
 *   registry.c   what there is, found and explained
 *   module.c     the module, its exceptions
 *
 * Limited API of Python 3.9.  Everything is guarded by the GIL, but for kiln_launch and
 * kiln_synchronize themselves.
 */
#ifndef KILN_BINDING_H
#define KILN_BINDING_H
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <kiln.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    KP_DIMS = 8,                   /* of a tensor */
    KP_SIZES = KILN_MAX_SIZES + 1, /* with batch */
    KP_ARGUMENTS = KILN_MAX_TENSORS + KILN_MAX_SCALARS + KILN_MAX_SIZES + 3
};

/* ---- module.c ---- */

typedef struct kp_state {
    PyObject *error[16];    /* by kiln_status */
    PyObject *framework_of; /* kiln._frameworks.of(type) */
    PyObject *result_type;  /* kiln._frameworks.result_type(op, names) */
    unsigned generation;    /* counts how often modules were opened anew */
    bool forked;            /* this process is a child of one that had opened Kiln */
} kp_state;
extern kp_state kp;

PyObject *kp_raise(kiln_status); /* sets kiln_error()'s text; NULL */

/* ---- tensor.c ---- */

typedef enum kp_reader { KP_EXCHANGE, KP_STRUCT, KP_DLPACK, KP_DESCRIBE, KP_BUFFER } kp_reader;

/* What a type of Python objects is, found once for each. */
typedef struct kp_kind {
    PyTypeObject *type;
    kp_reader reader;
    const void *exchange; /* DLPackExchangeAPI */
    PyObject *framework;  /* kiln._frameworks.Framework */
    bool ordered;         /* memory that is freed is reused behind what its stream has queued */
    bool immutable;       /* no output of the caller's */
    bool makes;
    bool finishes; /* what was made for it becomes its own when it has been computed */
} kp_kind;

typedef struct kp_view {
    const kp_kind *kind;
    void *data;
    int device, id; /* as DLPack numbers them, those of the host all KP_HOST */
    int dtype;      /* kiln_dtype */
    int ndim;
    bool readonly;
    uint8_t hold;
    void *held;
    int64_t shape[KP_DIMS], stride[KP_DIMS]; /* strides in elements */
} kp_view;

enum { KP_HOST = 1, KP_CUDA = 2, KP_ROCM = 10 };

/* A tensor that is to be made. */
typedef struct kp_made {
    int dtype, ndim;
    bool columns; /* column-major */
    int64_t shape[KP_DIMS];
} kp_made;

bool kp_ascii(PyObject *, char *room, size_t);
const kp_kind *kp_kind_of(PyObject *);
/* name: of the argument, for messages; stream: what the producer is to make its tensor ready for.
 */
bool kp_read(PyObject *, const char *name, void *stream, kp_view *);
void kp_done(kp_view *);
/* The framework's own current stream. */
bool kp_stream_of(const kp_view *, void **stream);
/* A new tensor on the same device, packed; NULL and no exception: its framework's table has no
 * function for that. */
PyObject *kp_allocate(const kp_view *like, const kp_made *);
const char *kp_dtype_text(int dtype); /* as frameworks call it: "bfloat16" */
int kp_dtype_named(const char *);     /* by Kiln's name or a framework's; 0: none */

/* ---- context.c ---- */

typedef struct kp_scratch {
    struct kp_scratch *next;
    void *memory, *stream;
    size_t size;
    bool busy;
} kp_scratch;

typedef struct kp_signature {
    const char *op;
    uint8_t type[KILN_MAX_TYPES], layout[KILN_MAX_LAYOUTS];
    int64_t fixed[2];
} kp_signature;

typedef struct kp_ctx {
    struct kp_ctx *next;
    kiln_ctx *ctx;
    char *spec; /* "" : the best device */
    kiln_device_info info;
    unsigned uses;
    bool retired; /* of a generation that is past */
    bool host;
    kp_signature *signature; /* of kernels that run here, ordered */
    size_t nsignatures;
    kp_scratch *scratch;
} kp_ctx;

kp_ctx *kp_context(const char *spec);      /* borrowed; NULL: an exception is set */
kp_ctx *kp_context_of(int device, int id); /* the one for a tensor's device */
bool kp_configure(const char *modules, const char *tuning,
                  int threads); /* opens all anew; NULL: the environment's */
void kp_hold(kp_ctx *);
void kp_release(kp_ctx *);
/* A workspace nobody else uses: of a GPU, on no other stream, ever. */
kp_scratch *kp_scratch_take(kp_ctx *, size_t, void *stream);

/* ---- bind.c ---- */

typedef struct kp_tensor {
    const char *name;
    int at, arg, planes, rows, cols; /* positions of sizes; -1: one */
    int batches;      /* position of the size that its matrices are counted by; -1: it has one */
    int page, beyond; /* rows of each, whatever the size says, or 0; rows beside the size's */
    int64_t row_block, col_block;
    int type; /* position of its type; -1: dtype */
    int dtype, letter, layout;
    bool own, out;
    int twin; /* the tensor before that it shares a place with; -1 */
} kp_tensor;

struct kp_plan;
enum { KP_PLANS = 128 };

typedef struct kp_bound {
    kp_ctx *ctx;
    unsigned generation;
    kiln_op_info info;
    kp_tensor tensor[KILN_MAX_TENSORS];
    int ntensors, nout;
    bool stacked;               /* of a family with planes */
    unsigned told;              /* bits of the sizes that some tensor tells */
    const char *size[KP_SIZES]; /* names; NULL: the op has none there */
    const kp_signature *signature;
    size_t nsignatures;
    struct kp_plan *plan[KP_PLANS];
} kp_bound;

kp_bound *kp_bind(const char *op, kp_ctx *);
bool kp_folds(const kp_bound *);
void kp_unbind(kp_bound *);

/* ---- problem.c ---- */

/* A call's tensors, by position in kp_bound.tensor; NULL: not given. */
typedef struct kp_call {
    kp_view *view[KILN_MAX_TENSORS];
    int64_t size[KP_SIZES]; /* those that no tensor tells; -1: not given */
    int dtype;              /* of outputs that are made; 0: as the op has it */
} kp_call;

/* The problem; what outputs that were not given are to be. */
bool kp_problem(const kp_bound *, const kp_call *, kiln_problem *, kp_made *made, bool *nothing);

/* ---- plan.c ---- */

typedef struct kp_plan {
    unsigned uses;
    uint64_t hash;
    size_t nkey;
    int64_t *key;
    bool nothing; /* no batches: there is nothing to launch */
    kiln_problem problem;
    const kiln_kernel *kernel;
    size_t workspace;
    kp_made made[KILN_MAX_TENSORS];
} kp_plan;

kp_plan *kp_plan_find(kp_bound *, const kp_call *); /* counted; NULL: an exception is set */
void kp_plan_drop(kp_plan *);

/* ---- op.c, registry.c ---- */

PyObject *kp_op_type(void);
extern PyMethodDef kp_registry_methods[];
PyObject *kp_problem_text(const kiln_problem *);
#endif
