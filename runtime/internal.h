// SPDX-License-Identifier: MIT
// What the parts of libkiln share.  The path through it:
//   kiln_open    registry.c (files: sealed, checked, mapped once a process), ops.c (what each op's
//                name means), context.c (index of the device's rows)
//   kiln_find    signature.c, view.c (defaults, argument checks), find.c (key, legality, tuned row
//                or cost)
//   kiln_launch  view.c, args.c, launch.c (argument checks, plan), realign.c, device_host.c or
//                device_gpu.c
// What a family of ops is stands in its module (kiln_family, kiln_tensor_row), and no file here
// names one, but for what it means in double precision: ref_FAMILY.c, registered in references.h.
// Names that leave a file without leaving the library start with kr_.
#ifndef KILN_INTERNAL_H
#define KILN_INTERNAL_H
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include "kiln.h"
#include "../abi/kiln_module.h"
#include "../abi/kiln_realign.h"
#include "../abi/kiln_values.h"

#define KR_PRINTF(f, a) __attribute__((format(printf, f, a)))

/* ---- text (error.c, log.c) ---- */
/* Sets this thread's text; returns the status. */
kiln_status kr_fail(kiln_status, const char *, ...) KR_PRINTF(2, 3);
bool kr_log_on(void);
const char *kr_log_failure(void); /* why KILN_LOG's file could not be opened; NULL: it was */
void kr_log(const char *, ...) KR_PRINTF(1, 2); /* one line; nothing without KILN_LOG */

/* For KILN_LOG=problems: a line, unless the process has written it. */
void kr_log_problem(const kiln_problem *);

/* Text written into a caller's buffer; len counts what did not fit, too. */
typedef struct kr_text {
    char *p;
    size_t cap, len;
} kr_text;
void kr_put(kr_text *, const char *, ...) KR_PRINTF(2, 3);
/* *len = strlen + 1; KILN_TRUNCATED where p was too small. */
kiln_status kr_text_end(const kr_text *, size_t *len);

/* ---- structs of other versions (sized.c) ---- */
/* p, or room with what p has of it, its size the one given here; NULL: failed. */
const void *kr_struct_in(const char *name, const void *p, size_t size, void *room);
/* As much of p as `given` bytes at out hold; what is there beyond becomes zero. */
kiln_status kr_struct_out(const char *name, const void *p, size_t size, void *out, size_t given);
static inline const kiln_problem *kr_problem_in(const kiln_problem *p, kiln_problem *room)
{
    if (p && p->struct_size == sizeof *p) return p;
    return kr_struct_in("kiln_problem", p, sizeof *p, room);
}
static inline const kiln_args *kr_args_in(const kiln_args *args, kiln_args *room)
{
    if (args && args->struct_size == sizeof *args) return args;
    return kr_struct_in("kiln_args", args, sizeof *args, room);
}

/* ---- number formats (convert.c) ---- */
static inline bool kr_dtype_ok(kiln_dtype t)
{
    return (unsigned)t - 1 < KILN_DTYPE_COUNT - 1;
}
static inline bool kr_layout_ok(kiln_layout l)
{
    return l == KILN_ROW || l == KILN_COL;
}
kiln_dtype kr_dtype_by_name(const char *, size_t len); /* KILN_DTYPE_NONE: unknown */
static inline bool kr_is_float(kiln_dtype t)
{
    return kiln_is_float(t);
}
/* Where an element is: those of less than 8 bits lie `shift` bits up in the byte. */
typedef struct kr_at {
    char *p;
    unsigned shift;
} kr_at;
double kr_decode(kiln_dtype, kr_at);
/* Nearest even; integers and fp8 saturate; NaN becomes 0 in integers. */
void kr_encode(kiln_dtype, double, kr_at);
double kr_round_to(kiln_dtype, double); /* encoded and decoded */

/* ---- names (names.c): names to positions; of two equal names the first counts ---- */
typedef struct kr_name {
    const char *name; /* the caller's; NULL: free */
    uint64_t hash;    /* kiln_name_hash */
    uint32_t position;
} kr_name;
typedef struct kr_names {
    kr_name *slot; /* the owner frees it */
    uint32_t mask;
} kr_names;
bool kr_names_make(kr_names *, size_t most); /* false: no memory */
void kr_names_add(kr_names *, const char *name, uint32_t position);
bool kr_names_find(const kr_names *, const char *name, uint64_t hash, uint32_t *position);

/* ---- modules (registry.c, table_check.c): one per file in the process, counted references ---- */
typedef struct kr_module {
    struct kr_module *next;
    char *path; /* real path */
    void *dl;
    const kiln_module *table;
    const kiln_absents *absent; /* NULL: the module does not say */
    const char *target;
    struct timespec changed; /* the file */
    kr_names op;             /* positions of the ops */
    unsigned refs;           /* guarded by the registry's mutex, as are users: */
    int *users;              /* of each op, the contexts that take its meaning from here */
} kr_module;

typedef struct kr_op {
    const kr_module *module;
    const kiln_op_row *row;
} kr_op;

static inline const char *kr_str(const kr_module *m, kiln_str s)
{
    return m->table->strings + s;
}
static inline const kiln_family *kr_family(const kr_module *m, const kiln_op_row *op)
{
    return &m->table->families[op->family];
}
/* A problem's size by its position. */
static inline int64_t *kr_size(kiln_problem *p, int position)
{
    return position <= KILN_BATCH ? &p->size[position] : &p->more[position - KILN_BATCH - 1];
}
static inline int64_t kr_size_of(const kiln_problem *p, int position)
{
    return position <= KILN_BATCH ? p->size[position] : p->more[position - KILN_BATCH - 1];
}
static inline bool kr_has_planes(const kiln_family *f)
{
    return f->planes != KILN_NOWHERE;
}
/* Row `at` of the sizes that the op's kernels are compiled for. */
static inline const int64_t *kr_fixed(const kr_module *m, const kiln_op_row *op, int at)
{
    return m->table->shapes + op->first_fixed + (ptrdiff_t)at * KILN_MAX_FIXED;
}
/* Whether a tensor is one of the op's inputs that expressions' leaves `d` count. */
static inline bool kr_is_input(const kiln_tensor_row *t)
{
    return t->own == KILN_NOWHERE && !t->out && !t->index;
}
kiln_status kr_module_open(const char *path, kr_module **);
void kr_module_close(kr_module *);
const kiln_op_row *kr_module_op(const kr_module *, const char *op); /* NULL: not in it */
/* Adds to their users. */
void kr_ops_hold(const kr_op *, size_t count, int by);
/* The op as the open contexts know it, with a reference to its module; NULL with NOT_FOUND, or with
 * INVALID where they differ. */
kiln_status kr_op_acquire(const char *op, const kiln_op_row **, kr_module **);
/* The same, or where that fails an op without extra tensors of the family whose problems can be
 * read without a context (*known is false; kiln_error says why). */
kiln_status kr_op_guess(const char *op, kr_op *, bool *known);
void kr_op_release(const kr_op *, bool known);
/* Every offset and count in range; file: for messages. */
kiln_status kr_table_check(const char *file, const kiln_module *);
kiln_status kr_absent_check(const char *file, const kiln_module *, const kiln_absents *);

/* ---- devices (device.c, device_host.c, device_gpu.c) ---- */
typedef struct kr_device kr_device;
typedef struct kr_view kr_view;
typedef struct kr_maps kr_maps;
typedef struct kr_realigned kr_realigned;
enum {
    KR_MAX_PLACES = 24, /* pointers, and pitches, of a kernel's arguments */
    KR_MAX_ARGS = 1024
}; /* bytes of them */
typedef struct kr_launch {
    const kiln_kernel *kernel;
    const void *args; /* the kernel's: args_size bytes */
    uint32_t args_size;
    const kiln_args *given;
    const kr_view *view;
    const kiln_plan *plan;
    const kr_realigned *realigned;
} kr_launch;

typedef struct kr_device_ops {
    void (*close)(kr_device *);
    kiln_status (*load)(kr_device *, kiln_kernel *); /* under the context's load mutex */
    void (*unload)(kr_device *, kiln_kernel *);
    kiln_status (*launch)(kr_device *, const kr_launch *, void *stream);
    kiln_status (*malloc)(kr_device *, size_t, void **);
    kiln_status (*free)(kr_device *, void *);
    kiln_status (*upload)(kr_device *, void *, const void *, size_t);
    kiln_status (*download)(kr_device *, void *, const void *, size_t);
    kiln_status (*stream_create)(kr_device *, void **);
    kiln_status (*stream_destroy)(kr_device *, void *);
    kiln_status (*synchronize)(kr_device *, void *);
    kiln_status (*graph_begin)(kr_device *, void *stream);
    kiln_status (*graph_end)(kr_device *, void *stream, void **graph);
    kiln_status (*graph_replay)(kr_device *, void *graph, void *stream, double *seconds);
    kiln_status (*graph_destroy)(kr_device *, void *graph);
    /* Before and after work of the library's own on this thread, which must not disturb captures of
     * others: false where it would.  NULL: there are none. */
    bool (*apart)(kr_device *, int *mode);
    void (*rejoin)(kr_device *, int mode);
} kr_device_ops;

struct kr_device {
    const kr_device_ops *ops;
    kiln_device_info info;
    int gflops, gops;   /* as in kiln_shape */
    const void *driver; /* GPU: its driver's entry points */
    void *context;      /* NVIDIA: primary context */
    kr_maps *maps;      /* where the driver has tensor maps: encoded ones */
    int ordinal;
};
/* spec "host", "amd[:i]", "nvidia[:i]", "sim:ARCH", "none:TARGET:UNITS". */
kiln_status kr_device_open(const char *spec, int threads, kr_device **);
kiln_status kr_device_open_host(int threads, kr_device **);
/* Threads of host kernels (pool.c).  Each open host device is a user of the pool. */
kiln_status kr_pool_open(void);
void kr_pool_close(void);
void kr_pool_ready(int threads); /* makes them ahead of the first call */
void kr_pool_each(int threads, long long count, kiln_step, const void *job); /* a kiln_each */
/* One that is not here: `length` characters of target. */
kiln_status kr_device_open_none(const char *target, size_t length, int units, kr_device **);
kiln_status kr_device_open_gpu(const char *vendor, int ordinal, const char *arch, kr_device **);
/* Puts ", SPEC" for each device that the vendor's driver has. */
void kr_gpu_list(const char *vendor, kr_text *);

enum { KR_MAX_MAPS = KILN_MAX_TENSORS + 4 }; /* of a kernel: one per operand, and of some the last box */

/* ---- contexts (context.c) ---- */
struct kiln_kernel {
    kiln_ctx *ctx;
    const kr_module *module;
    const kiln_row *row;
    const kiln_op_row *op;
    const kiln_schedule *schedule;
    void *code;                          /* the driver's module */
    bool shared;                         /* another kernel has loaded it, and unloads it */
    void *realign, *realign_code;        /* the module's kiln_realign; what this kernel has loaded for all, else NULL */
    _Atomic(void *) fn[KILN_MAX_STAGES]; /* the driver's functions; fn[0] is stored last */
};

/* Rows of one key in one module; chained where several modules have the key. */
typedef struct kr_group {
    uint64_t key;
    uint32_t first, count; /* in kiln_ctx.kernel */
    uint32_t next;         /* position + 1 of the next group with this key; 0: none */
    uint32_t tuned, ntuned; /* in kiln_ctx.tuned: the key's rows; of the first group with it */
} kr_group;

typedef struct kr_tuned {
    int64_t shape_id; /* of leading dimensions and alignments: kr_shape_id */
    int32_t size[KILN_MAX_SIZES + 1];
    uint32_t group, kernel; /* positions in kiln_ctx.group and kernel */
    uint32_t order;         /* a later row counts more */
} kr_tuned;

/* What KILN_TUNE has found; constant once it is in its list. */
typedef struct kr_won {
    struct kr_won *next;
    kr_tuned row;
} kr_won;
typedef struct kr_first {
    double seconds;
    char *file;             /* that rows are added to; NULL: none */
    _Atomic(kr_won *) *won; /* of each group, the newest first */
} kr_first;

enum { KR_CACHE = 4096 };
struct kiln_ctx {
    kr_device *device;
    kr_module **module;
    size_t nmodules;
    kr_op *op; /* one of each name */
    size_t nops;
    kr_names op_names;
    kiln_kernel *kernel;
    size_t nkernels;
    kr_group *group;
    uint32_t ngroups, slot_mask, *slot; /* hash table of groups: position + 1 */
    kr_tuned *tuned;                    /* sorted by group, sizes, order */
    size_t ntuned;
    kr_first *first;       /* NULL: nothing is tuned on first use */
    _Atomic int recording; /* graphs that kiln_graph_begin has begun */
    char **refused;
    size_t nrefused;
    uint64_t registry_id;
    pthread_mutex_t load;
    _Atomic uint64_t cache[KR_CACHE]; /* problem -> row: tag << 32 | kernel + 1 */
};
const kr_group *kr_group_find(const kiln_ctx *, uint64_t key);
/* ops.c */
kiln_status kr_ops_settle(kiln_ctx *);
void kr_ops_release(kiln_ctx *);
const kr_op *kr_ops_find(const kiln_ctx *, const char *name, uint64_t hash); /* NULL: not there */
bool kr_op_counts(const kiln_ctx *, const kr_module *, const kiln_op_row *);
/* refused.c; false: out of memory */
bool kr_refuse(kiln_ctx *, const char *, ...) KR_PRINTF(2, 3);
static inline const char *kr_kernel_name(const kiln_kernel *k)
{
    return kr_str(k->module, k->row->name);
}
static inline bool kr_kernel_runs(const kiln_ctx *c, const kiln_kernel *k)
{
    return k->module->target[0] == c->device->info.target[0] &&
           __builtin_strcmp(k->module->target, c->device->info.target) == 0;
}

/* ---- a problem with all its defaults (view.c) ---- */
typedef struct kr_operand {
    kiln_dtype type;
    kiln_layout layout;
    uint32_t bits, align; /* of an element; bytes of which the base is a multiple */
    int64_t rows, cols;
    int64_t inner, outer;  /* contiguous elements, and how many such runs */
    int64_t ld, stride;    /* stride 0: every batch reads the same; ld 0: all rows are one */
    int64_t planes, plane; /* how many such matrices, and from one to the next; 0: the same one */
    int64_t batches; /* how often all that is there, `stride` apart: the problem's batch, pages */
    int64_t extent;  /* elements of one batch, from the first to the last */
    int64_t bytes;   /* from the first to behind the last of all batches */
} kr_operand;

/* Bytes of n elements that begin at a byte. */
static inline int64_t kr_span(const kr_operand *o, int64_t n)
{
    const int64_t per_byte = o->bits < 8 ? 8 / o->bits : 1;
    return per_byte > 1 ? (n + per_byte - 1) / per_byte : n * (o->bits / 8);
}

struct kr_view {
    kiln_shape shape;
    kr_operand t[KILN_MAX_TENSORS]; /* by position in the op's tensors */
};

/* Largest power of two that divides base, pitch and the strides of planes and batches; at most 4096. */
int64_t kr_common_alignment(const kr_operand *);

/* ---- tensor maps, and tensors by way of the workspace (maps.c, realign.c) ---- */
enum { KR_MAP_PIECE = 16 /* bytes */ };
/* Lines begin at multiples of such pieces; where they are written they end at one, too, for a store
 * by a map writes whole pieces, whatever is behind the line (as an H200 does it; Triton's issue
 * 11583 says the same of an H100). */
bool kr_map_takes(const kiln_tensor_row *, const kr_operand *);
struct kr_realigned {
    int n; /* of them: positions in the op's tensors, and where in the workspace */
    uint8_t tensor[KILN_MAX_TENSORS];
    uint8_t gathered[KILN_MAX_TENSORS]; /* row by row, by the op's index array */
    uint64_t at[KILN_MAX_TENSORS];
    kiln_realign_args in, out; /* from here on what kr_realign fills in; nothing where n is 0 */
    uint32_t in_blocks, out_blocks;
};
/* Bytes of workspace, and which tensors go by way of it. */
uint64_t kr_workspace(const kiln_kernel *, const kr_view *, kr_realigned *);
/* What to copy; the view and the arguments become those of the copies. */
void kr_realign(const kiln_kernel *, kr_realigned *, kr_view *, kiln_args *, int units);

/* ---- types, layouts and key of a problem (signature.c) ---- */
typedef struct kr_signature {
    uint64_t key; /* functional: kiln_key_of */
    int n;
    uint8_t sig[KILN_MAX_SIG];
} kr_signature;
/* That it names an op, as kiln_name_hash has it. */
kiln_status kr_op_name(const kiln_problem *, uint64_t *hash);
kiln_status kr_sign(const kiln_problem *, const kr_module *, const kiln_op_row *, uint64_t hash,
                    kr_signature *);
/* The types that stand in a problem's text, of all that the op names: not that of sums. */
bool kr_type_in_text(const kiln_family *, int type);
void kr_put_types(const kiln_family *, const kiln_op_row *, const uint8_t *sig, kr_text *);
void kr_put_layouts(const kiln_family *, const kiln_op_row *, const uint8_t *sig, kr_text *);
/* "A" for a tensor of the family's own, of which an op may have several. */
typedef struct kr_label {
    char text[KILN_NAME_MAX];
} kr_label;
/* "batch", "m": what the size at a position is called. */
const char *kr_size_name(const kr_module *, const kiln_op_row *, int position);
kr_label kr_own_label(const kr_module *, const kiln_op_row *, int own);

/* What of the device rules and costs ask for is in the shape, too; NULL: one unit, of unknown
 * rates. */
kiln_status kr_view_make(const kiln_problem *, const kr_signature *, const kr_module *,
                         const kiln_op_row *, const kr_device *, kr_view *);
int64_t kr_shape_id(const kiln_shape *);
static inline bool kr_nothing_to_do(const kiln_family *f, const kiln_shape *s)
{
    for (int i = 0; i <= KILN_MAX_SIZES; i++)
        if (f->empty >> i & 1 && s->size[i] == 0) return true;
    return false;
}
kiln_status kr_put_problem(const kiln_problem *, kr_text *); /* as text (problem.c) */
/* overlap.c: whether two batches of one operand share an element, exactly; whether two operands lie
 * between each other without sharing one (false: not known). */
bool kr_batches_meet(const kr_operand *, int64_t batch);
bool kr_interleaved(const kr_operand *, uintptr_t, int64_t batch, const kr_operand *, uintptr_t,
                    int64_t other_batch);
/* Pointers, alignment, overlap. */
kiln_status kr_args_check(const kr_view *, const kr_module *, const kiln_op_row *,
                          const kiln_args *, bool writes);
/* That the first `bytes` of the workspace are apart from all tensors. */
kiln_status kr_workspace_check(const kr_view *, const kr_module *, const kiln_op_row *,
                               const kiln_args *, uint64_t bytes);

/* ---- choosing (find.c, nearest.c, tuning.c, tuned.c, first.c) ---- */
typedef enum kr_how { KR_BY_COST, KR_BY_TUNED, KR_BY_NEAREST } kr_how;
const kiln_kernel *kr_choose(const kiln_ctx *, const kr_group *, const kr_view *, kr_how *);
double kr_cost(const kiln_kernel *, const kiln_shape *); /* NaN counts as infinite */
/* Says in words what comes closest to a problem without rows on this device; NOT_FOUND or
 * NOT_SUPPORTED. */
kiln_status kr_nearest(const kiln_ctx *, const kiln_problem *, kr_text *);
/* The files that the configuration names, else KILN_TUNING, else those beside the modules. */
void kr_tuning_open(kiln_ctx *, const kiln_config *);
/* Files, `:` between; NULL: those beside the modules. */
void kr_tuning_load(kiln_ctx *, const char *files);
bool kr_tuned_sort(kiln_ctx *); /* false: no memory, and no rows any more */
/* Hash of all that makes an instance run as it does; rows of tuning files hold for one. */
uint64_t kr_content(const kiln_kernel *);
const kiln_kernel *kr_tuned_find(const kiln_ctx *, const kr_group *, const kr_view *, bool *exact);
const kiln_kernel *kr_won_find(const kiln_ctx *, const kr_group *, const kr_view *, bool *exact);
/* What KILN_TUNE asks for: kiln_ctx.first.  Needs the index of the device's rows. */
void kr_first_open(kiln_ctx *, const kiln_config *);
void kr_first_close(kiln_ctx *);
/* Tunes a problem that nothing covers, and gives what is to be taken; NULL: not now.  model: the
 * choice by cost. */
const kiln_kernel *kr_first_find(kiln_ctx *, const kiln_problem *, const kr_group *,
                                 const kr_view *, const kiln_kernel *model, kr_how *);

/* ---- the reference's expressions (expr.c, interval.c) ---- */
typedef struct kr_leaves {
    const double *acc, *d, *s;
    double x, at[4]; /* the element; its row, column, plane and batch */
} kr_leaves;
extern const uint8_t kr_x_operands[KILN_X_COUNT];
double kr_leaf(const kiln_xnode *, const kr_leaves *);
double kr_apply(const kiln_xnode *, double x, double y,
                double z); /* what is no leaf, no reduction */
double kr_eval(const kiln_xnode *, uint32_t count, const kr_leaves *, double *scratch);

typedef struct kr_interval {
    double lo, hi;
    int nan; /* 0: never NaN, 1: possibly, 2: always (lo and hi mean nothing) */
} kr_interval;
kr_interval kr_point(double);
kr_interval kr_leaf_interval(const kiln_xnode *, const kr_interval *acc, const kr_leaves *);
kr_interval kr_apply_interval(const kiln_xnode *, kr_interval x, kr_interval y, kr_interval z);
kr_interval kr_eval_interval(const kiln_xnode *, uint32_t count, const kr_interval *acc,
                             const kr_leaves *, kr_interval *scratch);
kr_interval kr_interval_round(kiln_dtype, kr_interval);
/* What an output of type t may be; lo and hi as kiln_reference_bounds gives them. */
void kr_interval_put(kiln_dtype t, kr_interval, double *lo, double *hi);
kr_interval kr_interval_widen(kr_interval, double by); /* and cut to what f32 can hold */
/* Of n > 0 values: their sum in f32, in any order, or compensated, each off by rtol of itself
 * beside; their mean; their largest or smallest. */
kr_interval kr_interval_sum(const kr_interval *, int64_t n, double rtol, bool compensated);
kr_interval kr_interval_mean(const kr_interval *, int64_t n, double rtol, bool compensated);
kr_interval kr_interval_extreme(const kr_interval *, int64_t n, bool largest);

#define KR_LAMBDA 6.0 /* standard deviations, about, that rounding errors may add up to */

/* ---- references (reference.c, ref_FAMILY.c) ---- */
typedef struct kr_job {
    const kiln_args *args;
    kiln_args room; /* for those of another version */
    const kr_module *module;
    const kiln_op_row *op;
    const kiln_family *family;
    kr_signature sig;
    kr_view view;
    bool bounds;
    int nd;                  /* extra inputs, */
    int d[KILN_MAX_TENSORS]; /* their positions in the op's tensors */
    double scalar[KILN_MAX_SCALARS];
} kr_job;

typedef struct kr_reference {
    const char *family;
    kiln_status (*values)(const kr_job *);
    kiln_status (*bounds)(const kr_job *, double *lo, double *hi);
    const kr_op *builtin; /* for problems of ops that are not known; NULL: none */
} kr_reference;
/* The word that the op chose of its family's option, or "". */
const char *kr_option(const kr_job *, const char *name);
int64_t kr_place(const kr_operand *, int64_t batch, int64_t i,
                 int64_t j); /* elements from the base */
/* The element of a tensor that belongs to row i and column j of the family's. */
kr_at kr_element(const kr_job *, int tensor, int64_t batch, int64_t i, int64_t j);
/* The inputs that an expression uses, as bits of their numbers. */
uint32_t kr_inputs_of(const kr_job *, kiln_expr_ref);
/* Those inputs, at a place along each of the family's sizes; below 0: of no row, for which d stays. */
void kr_load_d(const kr_job *, uint32_t inputs, int64_t batch, const int64_t *at, double *d);
static inline const kiln_xnode *kr_nodes(const kr_job *job, kiln_expr_ref ref)
{
    return job->module->table->nodes + ref.first;
}
#endif
