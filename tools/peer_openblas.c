// SPDX-License-Identifier: MIT
// OpenBLAS's sgemm as the host's yardstick: exact for f32; for other types on f32 copies made
// beforehand, so that its time is that of the same products without conversions and epilogue.
#include "peer.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_MAJOR = 101, COL_MAJOR = 102, NO_TRANS = 111, TRANS = 112 }; /* of CBLAS */
typedef void (*sgemm_fn)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                         const float *a, int lda, const float *b, int ldb, float beta, float *c,
                         int ldc);

typedef struct blas {
    sgemm_fn sgemm;
    size_t sets;
    float **operand[KH_MAX_OPERANDS]; /* f32 copies of each set; NULL: the set's own */
} blas;

void *kt_load(const char *const *names, char *why, size_t size)
{
    const char *const first = names[0];
    for (; *names; names++) {
        void *library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
        if (library) return library;
    }
    snprintf(why, size, "%s is not installed", first);
    return NULL;
}

int kt_has_products(const kh_sets *sets, char *why, size_t size)
{
    const kh_shape *s = kh_sets_shape(sets);
    const int products = !strcmp(s->op.family, "gemm"), groups = kh_has_indices(s);
    if (!products) snprintf(why, size, "it multiplies matrices, and no more");
    if (products && groups)
        snprintf(why, size, "it knows no rows of groups, which arrays on the device tell");
    return products && !groups;
}

/* The address as a function pointer, which ISO C cannot cast to. */
#define BIND(to, library, name) (*(void **)(&(to)) = dlsym(library, name), (to) != NULL)

static const float *operand_of(const blas *x, const kh_shape *s, int i, const kiln_args *args,
                               size_t set)
{
    if (x->operand[i]) return x->operand[i][set];
    return kh_pointer(args, &s->operand[i]);
}

static kiln_status launch(kh_runner *r, size_t set, void *stream)
{
    const blas *x = r->self;
    const kh_shape *s = kh_sets_shape(r->sets);
    const kiln_args *args = kh_sets_args(r->sets, set);
    const kh_operand *e = &s->operand[s->inputs], *a = &s->operand[0];
    const int order = e->layout == KILN_ROW ? ROW_MAJOR : COL_MAJOR;
    (void)stream;
    for (size_t product = 0; product < s->op.products; product++) {
        const int at = 1 + (int)product;
        const kh_operand *b = &s->operand[at];
        for (int64_t i = 0; i < e->batch; i++)
            x->sgemm(order, a->layout == e->layout ? NO_TRANS : TRANS,
                     b->layout == e->layout ? NO_TRANS : TRANS, (int)e->rows, (int)e->cols,
                     (int)a->cols, 1, operand_of(x, s, 0, args, set) + i * a->stride, (int)a->ld,
                     operand_of(x, s, at, args, set) + i * b->stride, (int)b->ld, 0,
                     (float *)(uintptr_t)operand_of(x, s, s->inputs, args, set) + i * e->stride,
                     (int)e->ld);
    }
    return KILN_OK;
}

static void close_blas(kt_entry *entry)
{
    blas *x = entry->runner.self;
    for (int i = 0; x && i < KH_MAX_OPERANDS; i++) {
        for (size_t set = 0; x->operand[i] && set < x->sets; set++) free(x->operand[i][set]);
        free(x->operand[i]);
    }
    free(x);
}

/* All sets hold the same values, so one is converted and the others are copies. */
static int convert(kh_sets *sets, blas *x, int i)
{
    const kh_shape *s = kh_sets_shape(sets);
    const kh_operand *o = &s->operand[i];
    const size_t span = (size_t)o->span + 1;
    x->operand[i] = calloc(x->sets, sizeof **x->operand);
    if (!x->operand[i]) return 0;
    for (size_t set = 0; set < x->sets; set++) {
        float *to = x->operand[i][set] = aligned_alloc(64, (span * sizeof *to + 63) / 64 * 64);
        if (!to) return 0;
        if (set)
            memcpy(to, x->operand[i][0], (size_t)o->span * sizeof *to);
        else if (i == s->inputs)
            memset(to, 0, span * sizeof *to);
        else
            for (int64_t at = 0; at < o->span; at++)
                to[at] = (float)kh_get(o, kh_pointer(kh_sets_args(sets, 0), o), at);
    }
    return 1;
}

int kt_openblas(kh_sets *sets, const kt_peer_options *o, kt_entry *entry, char *why, size_t size)
{
    int threads = o->threads;
    static const char *const names[] = {"libopenblas.so.0", "libopenblas.so", NULL};
    const kh_shape *s = kh_sets_shape(sets);
    void (*set_threads)(int);
    kiln_device_info device = {.struct_size = sizeof device};
    if (!kt_has_products(sets, why, size)) return 1;
    void *library = kt_load(names, why, size);
    if (!library) return 1;
    blas *x = calloc(1, sizeof *x);
    if (!x) return snprintf(why, size, "out of memory"), 1;
    entry->runner = (kh_runner){.launch = launch, .sets = sets, .self = x};
    entry->close = close_blas;
    x->sets = kh_sets_count(sets);
    if (!BIND(x->sgemm, library, "cblas_sgemm"))
        return snprintf(why, size, "OpenBLAS has no cblas_sgemm"), 1;
    if (!kiln_device_describe(kh_sets_ctx(sets), &device) && !threads) threads = device.units;
    if (BIND(set_threads, library, "openblas_set_num_threads") && threads) set_threads(threads);
    const int last = (int)s->op.products;
    for (int i = 0; i <= last + 1; i++) {
        const int at = i <= last ? i : s->inputs;
        if (s->operand[at].dtype != KILN_F32 && !convert(sets, x, at))
            return snprintf(why, size, "out of memory"), 1;
    }
    const int exact = s->operand[0].dtype == KILN_F32 && s->operand[1].dtype == KILN_F32;
    entry->whole = entry->same =
        exact && !strcmp(s->op.name, "gemm") && s->operand[s->inputs].dtype == KILN_F32;
    snprintf(entry->note, sizeof entry->note, "%s%s",
             entry->same ? "sgemm" : "sgemm, plain GEMM only",
             exact ? "" : ", inputs converted to f32 beforehand");
    return 0;
}
