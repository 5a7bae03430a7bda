// SPDX-License-Identifier: MIT
// What the parts of libkiln share.  The path through it:
//   kiln_open -> registry.c (files: sealed, checked, mapped once a process) -> context.c (index of
//   the device's rows) kiln_find -> view.c (defaults, argument checks) -> find.c (key, legality,
//   tuned row or cost) kiln_launch -> view.c, launch.c (argument checks, plan) -> device_host.c or
//   device_gpu.c
// Names that leave a file without leaving the library start with kr_.
#ifndef KILN_INTERNAL_H
#define KILN_INTERNAL_H
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "kiln.h"
#include "../abi/kiln_module.h"
#include "../abi/kiln_rules.h"

#define KR_PRINTF(f, a) __attribute__((format(printf, f, a)))

/* ---- text (error.c, log.c) ---- */
kiln_status kr_fail(kiln_status, const char *, ...)
    KR_PRINTF(2, 3); /* sets this thread's text; returns the status */
bool kr_log_on(void);
const char *kr_log_failure(void); /* why KILN_LOG's file could not be opened; NULL: it was */
void kr_log(const char *, ...) KR_PRINTF(1, 2); /* one line; nothing without KILN_LOG */

/* Text written into a caller's buffer; len counts what did not fit, too. */
typedef struct kr_text {
    char *p;
    size_t cap, len;
} kr_text;
void kr_put(kr_text *, const char *, ...) KR_PRINTF(2, 3);
kiln_status kr_text_end(const kr_text *,
                        size_t *len); /* *len = strlen + 1; KILN_TRUNCATED where p was too small */

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
bool kr_is_float(kiln_dtype);
double kr_decode(kiln_dtype, const void *);
void kr_encode(kiln_dtype, double,
               void *); /* nearest even; integers and fp8 saturate; NaN -> 0 in integers */
double kr_round_to(kiln_dtype, double); /* encoded and decoded */

/* ---- names (names.c): names to positions; of two equal names the first counts ---- */
typedef struct kr_name {
    const char *name; /* the caller's; NULL: free */
    uint32_t position;
} kr_name;
typedef struct kr_names {
    kr_name *slot; /* the owner frees it */
    uint32_t mask;
} kr_names;
bool kr_names_make(kr_names *, size_t most); /* false: no memory */
void kr_names_add(kr_names *, const char *name, uint32_t position);
bool kr_names_find(const kr_names *, const char *name, uint32_t *position);

/* ---- modules (registry.c, table_check.c): one per file in the process, counted references ---- */
typedef struct kr_module {
    struct kr_module *next;
    char *path;       /* real path */
    const char *file; /* its last component */
    void *dl;
    const kiln_module *table;
    const char *target;
    kr_names op;      /* positions of the ops */
    unsigned refs;    /* guarded by the registry's mutex */
} kr_module;

static inline const char *kr_str(const kr_module *m, kiln_str s)
{
    return m->table->strings + s;
}
kiln_status kr_module_open(const char *path, kr_module **);
void kr_module_close(kr_module *);
const kiln_op_row *kr_module_op(const kr_module *, const char *op); /* NULL: not in it */
/* The op in whichever module of the process has it, with a reference to that module; NULL: in none.
 */
const kiln_op_row *kr_op_acquire(const char *op, kr_module **);
kiln_status kr_table_check(const char *file,
                           const kiln_module *); /* every offset and count in range */

/* ---- devices (device.c, device_host.c, device_gpu.c) ---- */
typedef struct kr_device kr_device;
typedef struct kr_view kr_view;
typedef struct kr_maps kr_maps;
typedef struct kr_launch {
    const kiln_kernel *kernel;
    const kiln_gemm_args *args;
    const kr_view *view;
    const kiln_plan *plan;
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
} kr_device_ops;

struct kr_device {
    const kr_device_ops *ops;
    kiln_device_info info;
    const void *driver; /* GPU: its driver's entry points */
    void *context;      /* NVIDIA: primary context */
    kr_maps *maps;      /* where the driver has tensor maps: encoded ones */
    int ordinal;
};
/* spec "host", "amd[:i]", "nvidia[:i]", "sim:ARCH". */
kiln_status kr_device_open(const char *spec, int threads, kr_device **);
kiln_status kr_device_open_host(int threads, kr_device **);
kiln_status kr_device_open_gpu(const char *vendor, int ordinal, const char *arch, kr_device **);

enum { KR_MAX_MAPS = 2 + KILN_MAX_B + KILN_MAX_D }; /* tensor maps of one kernel: one per operand */

/* ---- contexts (context.c) ---- */
struct kiln_kernel {
    kiln_ctx *ctx;
    const kr_module *module;
    const kiln_row *row;
    const kiln_op_row *op;
    const kiln_schedule *schedule;
    void *code;                          /* the driver's module */
    _Atomic(void *) fn[KILN_MAX_STAGES]; /* the driver's functions; fn[0] is stored last */
};

/* Rows of one key in one module; chained where several modules have the key. */
typedef struct kr_group {
    uint64_t key;
    uint32_t first, count; /* in kiln_ctx.kernel */
    uint32_t next;         /* position + 1 of the next group with this key; 0: none */
} kr_group;

typedef struct kr_tuned {
    uint64_t key;
    int64_t size[4];       /* m n k batch */
    int64_t shape_id;      /* of leading dimensions and alignments: kr_shape_id */
    uint32_t kernel, line; /* of the file: later rows replace earlier ones */
} kr_tuned;

enum { KR_CACHE = 4096 };
struct kiln_ctx {
    kr_device *device;
    kr_module **module;
    size_t nmodules;
    kiln_kernel *kernel;
    size_t nkernels;
    kr_group *group;
    uint32_t ngroups, slot_mask, *slot; /* hash table of groups: position + 1 */
    kr_tuned *tuned;                    /* sorted by key */
    size_t ntuned;
    char **refused;
    size_t nrefused;
    uint64_t registry_id;
    pthread_mutex_t load;
    _Atomic uint64_t cache[KR_CACHE]; /* problem -> row: tag << 32 | kernel + 1 */
};
const kr_group *kr_group_find(const kiln_ctx *, uint64_t key);
bool kr_refuse(kiln_ctx *, const char *, ...) KR_PRINTF(2, 3); /* false: out of memory */
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
    uint32_t size, align; /* bytes of an element; of which the base is a multiple */
    int64_t rows, cols;
    int64_t inner, outer; /* contiguous elements, and how many such runs */
    int64_t ld, stride;   /* stride 0: every batch reads the same */
    int64_t extent,
        bytes; /* elements of one batch; bytes from the first to behind the last of all batches */
} kr_operand;

struct kr_view {
    kiln_shape shape;
    kr_operand a, b, e, d[KILN_MAX_D];
};
/* Checks all that does not depend on the op and makes the functional key. */
kiln_status kr_key(const kiln_problem *, uint8_t sig[7], uint64_t *key);
kiln_status kr_view_make(const kiln_problem *, const uint8_t sig[7], const kr_module *,
                         const kiln_op_row *, int64_t units, kr_view *);
int64_t kr_shape_id(const kiln_shape *);
kiln_dtype kr_d_type(const kiln_d_row *, const uint8_t sig[7]);
/* Pointers, alignment, overlap. */
kiln_status kr_args_check(const kr_view *, const kr_module *, const kiln_op_row *,
                          const kiln_args *, bool writes_e);
/* That the first `bytes` of the workspace are apart from E and the inputs. */
kiln_status kr_workspace_check(const kr_view *, const kr_module *, const kiln_op_row *,
                               const kiln_args *, uint64_t bytes);

/* ---- choosing (find.c, nearest.c, tuning.c) ---- */
typedef enum kr_how { KR_BY_COST, KR_BY_TUNED, KR_BY_NEAREST } kr_how;
const kiln_kernel *kr_choose(const kiln_ctx *, const kr_group *, const kr_view *, kr_how *);
double kr_cost(const kiln_kernel *, const kiln_shape *); /* NaN counts as infinite */
/* Says in words what comes closest to a problem without rows on this device; NOT_FOUND or
 * NOT_SUPPORTED. */
kiln_status kr_nearest(const kiln_ctx *, const kiln_problem *, uint64_t key, kr_text *);
void kr_tuning_load(kiln_ctx *, const char *path);
const kiln_kernel *kr_tuned_find(const kiln_ctx *, uint64_t key, const kr_view *, bool *exact);

/* ---- the reference's expressions (expr.c, interval.c) ---- */
typedef struct kr_leaves {
    const double *d, *s;
    double x;
} kr_leaves;
double kr_eval(const kiln_xnode *, uint32_t count, const double *acc, const kr_leaves *,
               double *scratch);

typedef struct kr_interval {
    double lo, hi;
    int nan; /* 0: never NaN, 1: possibly, 2: always (lo and hi mean nothing) */
} kr_interval;
kr_interval kr_point(double);
kr_interval kr_eval_interval(const kiln_xnode *, uint32_t count, const kr_interval *acc,
                             const kr_leaves *, kr_interval *scratch);
kr_interval kr_interval_round(kiln_dtype, kr_interval);
kr_interval kr_interval_widen(kr_interval, double by); /* and cut to what f32 can hold */

/* ---- products in double precision (products.c) ---- */
typedef struct kr_job {
    const kiln_args *args;
    const kr_module *module;
    const kiln_op_row *op;
    kr_view view;
    kiln_dtype acc, mul_a, mul_b;
    bool bounds; /* sums of magnitudes, too */
    double scalar[KILN_MAX_SCALARS];
    kr_interval *scratch; /* as many as the longest expression has nodes, at least one */
} kr_job;

typedef struct kr_sums {
    double value; /* sum of products; integer accumulators: wrapped to 32 bits */
    double magnitude,
        wide;   /* sum of |a||b|; of (|a|+ra)(|b|+rb) with the radii that a_op and b_op leave */
    bool vague; /* an element of A or B is not determined at all */
} kr_sums;
/* Called for every element of E, in no promised order. */
typedef void (*kr_visit)(const kr_job *, int64_t batch, int64_t i, int64_t j,
                         const kr_sums s[KILN_MAX_B], void *);
kiln_status kr_job_open(kr_job *, const kiln_problem *, const kiln_args *, bool bounds);
void kr_job_close(kr_job *);
kiln_status kr_products(const kr_job *, kr_visit, void *);
int64_t kr_place(const kr_operand *, int64_t batch, int64_t i, int64_t j); /* bytes from the base */
void kr_load_d(const kr_job *, int64_t batch, int64_t i, int64_t j, double *d);
#endif
