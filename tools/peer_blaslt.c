// SPDX-License-Identifier: MIT
// cuBLASLt or hipBLASLt as a peer: of the algorithms its heuristic proposes, the fastest by the
// same protocol. Both are column-major: a row-major E is computed as its transpose, with A and B
// exchanged, so that E's columns are the library's rows, along which its bias lies.  Ops it can
// fuse are in a table; of others the plain product is timed.
#include "peer_blaslt.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CANDIDATES = 16, WORKSPACE = 64 << 20 };
enum { DEFAULT = 1, RELU = 2, BIAS = 4, GELU = 32 }; /* epilogues, in both libraries */

/* Ops as the library says them: activation(alpha A·B + beta C + bias). */
static const struct fusion {
    const char *op;
    int activation;
    const char *c, *bias;     /* extra inputs */
    const char *alpha, *beta; /* scalars; beta scales whichever of C and bias there is */
} fusions[] = {
    {"gemm", DEFAULT, NULL, NULL, NULL, NULL},
    {"bias_relu", RELU, NULL, "bias", NULL, NULL},
    {"bias_gelu", GELU, NULL, "bias", NULL, NULL},
    {"add", DEFAULT, "residual", NULL, NULL, NULL},
    {"add_relu", RELU, "residual", NULL, NULL, NULL},
    {"add_gelu", GELU, "residual", NULL, NULL, NULL},
    {"add_fastgelu", GELU, "residual", NULL, NULL, NULL},
    {"linear_relu_abde_i8", RELU, NULL, "bias", "alpha", "beta"},
    {"linear_abde_i8", DEFAULT, NULL, "bias", "alpha", "beta"},
    {"linear_ab_i8_de_f32", DEFAULT, NULL, "bias", "alpha", "beta"},
    {"bmm_abe_i8", DEFAULT, NULL, NULL, "alpha", NULL},
    {"bmm_ab_i8_e_f32", DEFAULT, NULL, NULL, "alpha", NULL},
};

/* The functions used; what follows the dialect's prefix. */
typedef struct api {
    int (*Create)(void **);
    int (*Destroy)(void *);
    int (*MatmulDescCreate)(void **, int compute, int scale_type);
    int (*MatmulDescDestroy)(void *);
    int (*MatmulDescSetAttribute)(void *, int, const void *, size_t);
    int (*MatrixLayoutCreate)(void **, int type, uint64_t rows, uint64_t cols, int64_t ld);
    int (*MatrixLayoutDestroy)(void *);
    int (*MatrixLayoutSetAttribute)(void *, int, const void *, size_t);
    int (*MatmulPreferenceCreate)(void **);
    int (*MatmulPreferenceDestroy)(void *);
    int (*MatmulPreferenceSetAttribute)(void *, int, const void *, size_t);
    int (*MatmulAlgoGetHeuristic)(void *, void *, void *, void *, void *, void *, void *, int,
                                  void *, int *);
    int (*Matmul)(void *, void *, const void *, const void *, void *, const void *, void *,
                  const void *, const void *, void *, void *, void *, const void *, void *, size_t,
                  void *);
} api;

typedef struct plan {
    const kt_dialect *dialect;
    api f;
    kh_sets *sets;
    void *handle, *desc, *pref;
    void *layout[4];             /* A, B, C, D as the library sees them */
    const struct fusion *fusion; /* NULL: plain product */
    int swapped, bias, c;        /* operands of bias and C; -1: none */
    float alpha, beta;
    int32_t alpha_i32, beta_i32;
    int scale_i32;
    void *workspace, *own_e, *own_bias; /* own: where the sets' will not do */
    unsigned char *result;
    int algorithm; /* the chosen one */
} plan;

typedef struct candidate {
    plan *plan;
    int algorithm;
} candidate;

#define BIND(name)                                                                                 \
    do {                                                                                           \
        char symbol[96];                                                                           \
        snprintf(symbol, sizeof symbol, "%s%s", p->dialect->prefix, #name);                        \
        *(void **)(&p->f.name) = dlsym(library, symbol);                                           \
        if (!p->f.name) return snprintf(why, size, "its library has no %s", symbol), 0;            \
    } while (0)

static int bind(plan *p, char *why, size_t size)
{
    void *library = kt_load(p->dialect->soname, why, size);
    if (!library) return 0;
    BIND(Create);
    BIND(Destroy);
    BIND(MatmulDescCreate);
    BIND(MatmulDescDestroy);
    BIND(MatmulDescSetAttribute);
    BIND(MatrixLayoutCreate);
    BIND(MatrixLayoutDestroy);
    BIND(MatrixLayoutSetAttribute);
    BIND(MatmulPreferenceCreate);
    BIND(MatmulPreferenceDestroy);
    BIND(MatmulPreferenceSetAttribute);
    BIND(MatmulAlgoGetHeuristic);
    BIND(Matmul);
    return 1;
}

/* ---- launching ---- */
static kiln_status multiply(plan *p, int algorithm, size_t set, void *stream)
{
    const kh_shape *s = kh_sets_shape(p->sets);
    kiln_args args = *kh_sets_args(p->sets, set);
    const void *alpha = p->scale_i32 ? (const void *)&p->alpha_i32 : &p->alpha;
    const void *beta = p->scale_i32 ? (const void *)&p->beta_i32 : &p->beta;
    void *e = p->own_e ? p->own_e : args.e;
    const void *c = p->c >= 0 ? *kh_slot(&args, &s->operand[p->c]) : e;
    const void *bias = p->own_bias    ? p->own_bias
                       : p->bias >= 0 ? *kh_slot(&args, &s->operand[p->bias])
                                      : NULL;
    if (bias && p->f.MatmulDescSetAttribute(p->desc, p->dialect->desc_bias, &bias, sizeof bias))
        return KILN_DRIVER;
    for (size_t i = 0; i < s->op.products; i++) {
        const void *x = p->swapped ? args.b[i] : args.a, *y = p->swapped ? args.a : args.b[i];
        if (p->f.Matmul(p->handle, p->desc, alpha, x, p->layout[0], y, p->layout[1], beta, c,
                        p->layout[2], e, p->layout[3],
                        p->result + (size_t)algorithm * p->dialect->result_size, p->workspace,
                        WORKSPACE, stream))
            return KILN_DRIVER;
    }
    return KILN_OK;
}

static kiln_status launch_candidate(kh_runner *r, size_t set, void *stream)
{
    const candidate *c = r->self;
    return multiply(c->plan, c->algorithm, set, stream);
}

static kiln_status launch(kh_runner *r, size_t set, void *stream)
{
    plan *p = r->self;
    return multiply(p, p->algorithm, set, stream);
}

/* ---- describing ---- */
static int operand_named(const kh_shape *s, const char *name)
{
    for (int i = 0; name && i < s->count; i++)
        if (s->operand[i].role == KH_D && !strcmp(s->operand[i].name, name)) return i;
    return -1;
}

static float scalar_named(const kh_shape *s, const kiln_args *args, const char *name)
{
    for (size_t i = 0; name && i < s->op.nscalars; i++)
        if (!strcmp(s->op.scalar_name[i], name)) return args->scalars[i];
    return 1;
}

/* A matrix as the library sees it: column-major, transposed where Kiln's is row-major. */
static int make_layout(plan *p, int i, const kh_operand *o, kiln_dtype type)
{
    const int row = o->layout == KILN_ROW;
    const uint64_t rows = (uint64_t)(row ? o->cols : o->rows),
                   cols = (uint64_t)(row ? o->rows : o->cols);
    const int32_t batch = (int32_t)o->batch;
    if (p->f.MatrixLayoutCreate(&p->layout[i], p->dialect->type[type], rows, cols, o->ld)) return 0;
    return batch == 1 || (!p->f.MatrixLayoutSetAttribute(p->layout[i], p->dialect->layout_batch,
                                                         &batch, sizeof batch) &&
                          !p->f.MatrixLayoutSetAttribute(p->layout[i], p->dialect->layout_stride,
                                                         &o->stride, sizeof o->stride));
}

static int set_desc(plan *p, int attribute, int32_t value)
{
    return !p->f.MatmulDescSetAttribute(p->desc, attribute, &value, sizeof value);
}

/* beta * bias in f32, as integer outputs want it. */
static int make_bias(plan *p, const kh_shape *s, float beta)
{
    const kh_operand *o = &s->operand[p->bias];
    kiln_ctx *ctx = kh_sets_ctx(p->sets);
    kiln_args args = *kh_sets_args(p->sets, 0);
    const size_t count = (size_t)o->span;
    unsigned char *from = malloc(count * o->size + 1);
    float *to = malloc((count + 1) * sizeof *to);
    int ok = from && to && !kiln_download(ctx, from, *kh_slot(&args, o), count * o->size);
    for (size_t i = 0; ok && i < count; i++)
        to[i] = beta * (float)kh_decode(o->dtype, from + i * o->size);
    ok = ok && !kiln_malloc(ctx, count * sizeof *to, &p->own_bias) &&
         !kiln_upload(ctx, p->own_bias, to, count * sizeof *to);
    free(from);
    free(to);
    return ok;
}

static int set_epilogue(plan *p, const kh_shape *s)
{
    int epilogue = p->fusion->activation;
    if (p->bias >= 0) {
        const kh_operand *o = &s->operand[p->bias];
        const kiln_dkind kind = s->op.d_kind[o->index];
        if (kind != (p->swapped ? KILN_D_PER_COL : KILN_D_PER_ROW) || o->batch > 1) return 0;
        epilogue = (epilogue == DEFAULT ? 0 : epilogue) | BIAS;
        const int convert = s->operand[0].dtype == KILN_I8;
        if (convert && !make_bias(p, s, scalar_named(s, kh_sets_args(p->sets, 0), p->fusion->beta)))
            return 0;
        const kiln_dtype type = convert ? KILN_F32 : o->dtype;
        const void *any = p->own_bias ? p->own_bias : (const void *)(uintptr_t)256;
        if (!set_desc(p, p->dialect->desc_bias_type, p->dialect->type[type]) ||
            p->f.MatmulDescSetAttribute(p->desc, p->dialect->desc_bias, &any, sizeof any))
            return 0;
    }
    return set_desc(p, p->dialect->desc_epilogue, epilogue);
}

static void forget(plan *p)
{
    for (int i = 0; i < 4; i++)
        if (p->layout[i]) p->f.MatrixLayoutDestroy(p->layout[i]);
    if (p->desc) p->f.MatmulDescDestroy(p->desc);
    if (p->pref) p->f.MatmulPreferenceDestroy(p->pref);
    if (p->own_e) kiln_free(kh_sets_ctx(p->sets), p->own_e);
    if (p->own_bias) kiln_free(kh_sets_ctx(p->sets), p->own_bias);
    memset(p->layout, 0, sizeof p->layout);
    p->desc = p->pref = p->own_e = p->own_bias = NULL;
}

static int prefer(plan *p)
{
    const uint64_t workspace = WORKSPACE;
    const uint32_t align[] = {256, 256, 256, 256}; /* operands of a set lie on pages */
    int ok = !p->f.MatmulPreferenceCreate(&p->pref) &&
             !p->f.MatmulPreferenceSetAttribute(p->pref, p->dialect->pref_workspace, &workspace,
                                                sizeof workspace);
    for (int i = 0; i < 4 && p->dialect->pref_align_a != NO_ATTRIBUTE; i++)
        ok = ok && !p->f.MatmulPreferenceSetAttribute(p->pref, p->dialect->pref_align_a + i,
                                                      &align[i], sizeof align[i]);
    return ok;
}

/* Number of algorithms proposed for the op (fused) or its plain product; 0: it can't. */
static int propose(plan *p, const struct fusion *fusion)
{
    const kh_shape *s = kh_sets_shape(p->sets);
    const kh_operand *a = &s->operand[0], *b = &s->operand[1], *e = &s->operand[s->e];
    const int integer = a->dtype == KILN_I8 && b->dtype == KILN_I8;
    kiln_dtype out = e->dtype;
    if (integer && !fusion) out = KILN_I32;
    p->fusion = fusion;
    p->swapped = e->layout == KILN_ROW;
    p->bias = fusion ? operand_named(s, fusion->bias) : -1;
    p->c = fusion ? operand_named(s, fusion->c) : -1;
    if (fusion && ((fusion->bias && p->bias < 0) || (fusion->c && p->c < 0))) return 0;
    if (p->dialect->type[a->dtype] < 0 || p->dialect->type[b->dtype] < 0 ||
        p->dialect->type[out] < 0)
        return 0;
    p->scale_i32 = out == KILN_I32;
    p->alpha = fusion ? scalar_named(s, kh_sets_args(p->sets, 0), fusion->alpha) : 1;
    p->beta = p->c >= 0 ? scalar_named(s, kh_sets_args(p->sets, 0), fusion->beta) : 0;
    p->alpha_i32 = 1, p->beta_i32 = 0;
    const kh_operand *x = p->swapped ? b : a, *y = p->swapped ? a : b,
                     *c = p->c >= 0 ? &s->operand[p->c] : e;
    /* The library's A is op(A) = its rows by k: Kiln's matrix seen in column-major, transposed
     * unless it fits. */
    const int trans_x = x->layout != e->layout, trans_y = y->layout != e->layout;
    if (c->layout != e->layout) return 0;
    if (p->f.MatmulDescCreate(&p->desc, integer ? p->dialect->compute_i32 : p->dialect->compute_f32,
                              p->dialect->type[p->scale_i32 ? KILN_I32 : KILN_F32]) ||
        !set_desc(p, p->dialect->desc_trans_a,
                  trans_x ? p->dialect->trans : p->dialect->trans_none) ||
        !set_desc(p, p->dialect->desc_trans_b,
                  trans_y ? p->dialect->trans : p->dialect->trans_none) ||
        !make_layout(p, 0, x, x->dtype) || !make_layout(p, 1, y, y->dtype) ||
        !make_layout(p, 2, c, p->c >= 0 ? c->dtype : out) || !make_layout(p, 3, e, out) ||
        (fusion && !set_epilogue(p, s)) || !prefer(p))
        return 0;
    if (out != e->dtype &&
        kiln_malloc(kh_sets_ctx(p->sets), (size_t)e->span * kiln_dtype_size(out), &p->own_e))
        return 0;
    int found = 0;
    if (p->f.MatmulAlgoGetHeuristic(p->handle, p->desc, p->layout[0], p->layout[1], p->layout[2],
                                    p->layout[3], p->pref, CANDIDATES, p->result, &found))
        return 0;
    return found;
}

/* The fastest of those proposed; -1: none runs. */
static int choose(plan *p, int found)
{
    static const kh_protocol brief = {.seconds = 0.05, .idle = -1, .replay = 0.003};
    candidate candidates[CANDIDATES];
    kh_runner runner;
    int best = -1;
    double least = 0;
    for (int i = 0; i < found; i++) {
        int32_t state;
        memcpy(&state, p->result + (size_t)i * p->dialect->result_size + p->dialect->result_state,
               sizeof state);
        if (state) continue;
        candidates[i] = (candidate){p, i};
        runner = (kh_runner){.launch = launch_candidate, .sets = p->sets, .self = &candidates[i]};
        if (kh_time(&runner, 1, &brief)) continue;
        if (best < 0 || runner.seconds < least) best = i, least = runner.seconds;
    }
    return best;
}

static void close_plan(kt_entry *entry)
{
    plan *p = entry->runner.self;
    if (!p) return;
    if (p->handle) {
        forget(p);
        p->f.Destroy(p->handle);
    }
    if (p->workspace) kiln_free(kh_sets_ctx(p->sets), p->workspace);
    free(p->result);
    free(p);
}

int kt_blaslt_open(const kt_dialect *dialect, kh_sets *sets, kt_entry *entry, char *why,
                   size_t size)
{
    const kh_shape *s = kh_sets_shape(sets);
    const struct fusion *fusion = NULL;
    plan *p = calloc(1, sizeof *p);
    if (!p) return snprintf(why, size, "out of memory"), 1;
    *p = (plan){.dialect = dialect, .sets = sets, .algorithm = -1};
    entry->runner = (kh_runner){.launch = launch, .sets = sets, .self = p};
    entry->close = close_plan;
    if (!bind(p, why, size)) return 1;
    p->result = calloc(CANDIDATES, dialect->result_size);
    if (!p->result || kiln_malloc(kh_sets_ctx(sets), WORKSPACE, &p->workspace))
        return snprintf(why, size, "out of memory"), 1;
    if (p->f.Create(&p->handle))
        return p->handle = NULL, snprintf(why, size, "its library does not start"), 1;
    for (size_t i = 0; i < sizeof fusions / sizeof *fusions; i++)
        if (!strcmp(fusions[i].op, s->op.name)) fusion = &fusions[i];
    int found = fusion ? propose(p, fusion) : 0;
    if (found) p->algorithm = choose(p, found);
    if (p->algorithm < 0) {
        forget(p);
        fusion = NULL;
        found = propose(p, NULL);
        if (found) p->algorithm = choose(p, found);
    }
    if (p->algorithm < 0) return snprintf(why, size, "it has no algorithm for this problem"), 1;
    entry->same = fusion != NULL;
    snprintf(entry->note, sizeof entry->note, "%s, best of %d candidates%s",
             fusion ? "fused" : "plain GEMM only", found,
             s->op.products > 1 ? " for each product" : "");
    return 0;
}
