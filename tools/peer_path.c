// SPDX-License-Identifier: MIT
// The library's best path for an op: the products it computes with all that they can fuse, then one
// row-wise kernel of Kiln's for what is left (ops of instances/elementwise.lua).  Of
// an op's paths, of each path's algorithms and of the kernels, the fastest by the bench's own
// protocol. What passes between the steps lies in one buffer, as a program that calls them would
// have it.
#include "peer_blaslt.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PATHS = 4, MAX_KERNELS = 64, FINALISTS = 3 };
enum { BIAS, ROW_SCALE, COL_SCALE, VECTORS, VECTOR_ALIGN = 16 };

/* Ops as the library says them: activation(alpha A·B + beta C + bias), or A·B with a scale for each
 * row and column; then `rest`. */
typedef struct recipe {
    const char *op, *says;
    int activation;
    const char *c, *bias;     /* extra inputs */
    const char *alpha, *beta; /* scalars; beta scales whichever of C and bias there is */
    const char *row, *col;    /* extra inputs */
    const char *rest; /* op of the last step; its inputs: `product`, or what the op calls its
                         products, and inputs of the op by their names */
    int joined;       /* both B's as one matrix, copied beforehand */
} recipe;
static const char fused[] = "fused", tanh_form[] = "fused, gelu by its tanh form";
static const recipe recipes[] = {
    {"gemm", fused, KT_DEFAULT, .c = NULL},
    {"bias_relu", fused, KT_RELU, .bias = "bias"},
    {"add_fastgelu", fused, KT_GELU, .bias = "bias"},
    {"bias_gelu", tanh_form, KT_GELU, .bias = "bias"},
    {"add", fused, KT_DEFAULT, .c = "residual"},
    {"add_relu", fused, KT_RELU, .c = "residual"},
    {"add_gelu", tanh_form, KT_GELU, .c = "residual"},
    {"add_add_fastgelu", fused, KT_GELU, .c = "residual", .bias = "bias"},
    {"linear_relu_abde_i8", fused, KT_RELU, .bias = "bias", .alpha = "alpha", .beta = "beta"},
    {"linear_abde_i8", fused, KT_DEFAULT, .bias = "bias", .alpha = "alpha", .beta = "beta"},
    {"linear_ab_i8_de_f32", fused, KT_DEFAULT, .bias = "bias", .alpha = "alpha", .beta = "beta"},
    {"bmm_abe_i8", fused, KT_DEFAULT, .alpha = "alpha"},
    {"bmm_ab_i8_e_f32", fused, KT_DEFAULT, .alpha = "alpha"},
    {"multiply_multiply", "fused scales", KT_DEFAULT, .row = "row_scale", .col = "col_scale"},
    {"multiply_multiply", "plain GEMM", KT_DEFAULT, .rest = "elementwise_scale"},
    {"add_fastgelu_multiply", "GEMM with gelu and sum", KT_GELU, .c = "residual",
     .rest = "elementwise_multiply"},
    {"swiglu", "two GEMMs", KT_DEFAULT, .rest = "elementwise_swiglu"},
    {"swiglu", "one GEMM, weights joined", KT_DEFAULT, .rest = "elementwise_swiglu", .joined = 1},
};
static const recipe plain = {NULL, "plain GEMM only", KT_DEFAULT, .c = NULL};

typedef struct path {
    const recipe *recipe;
    kh_sets *sets;
    kt_product product;
    kt_product_spec spec;
    int products;       /* that the library computes */
    void *own[VECTORS]; /* copies of bias, row and col, where the library needs them */
    void *middle;
    size_t middle_step;   /* bytes from one product's result to the next's */
    void **joined;        /* of each set */
    kiln_problem problem; /* of the rest */
    kiln_op_info rest_op;
    int from[KILN_MAX_TENSORS]; /* operand that is the rest's tensor; -1 - i: product i */
    const kiln_kernel *rest;
    void *workspace; /* enough for each of the rest's kernels */
    size_t workspace_size;
    int algorithms, kernels; /* that the chosen ones were the best of */
    double seconds;          /* beside the op's other paths */
    struct peer *owner;
} path;

typedef struct peer {
    kt_blaslt vendor;
    kt_peer_options options;
    path paths[MAX_PATHS];
    int count;
} peer;

typedef struct candidate {
    path *path;
    int algorithm;
    const kiln_kernel *kernel;
} candidate;

/* ---- launching ---- */
static void *input(const path *p, int operand, size_t set)
{
    return operand < 0
               ? NULL
               : kh_pointer(kh_sets_args(p->sets, set), &kh_sets_shape(p->sets)->operand[operand]);
}

static const void *input_of(const path *p, const kh_operand *o, size_t set)
{
    return o ? kh_pointer(kh_sets_args(p->sets, set), o) : NULL;
}

static const void *vector_of(const path *p, int which, const kh_operand *o, size_t set)
{
    return p->own[which] ? p->own[which] : input_of(p, o, set);
}

static kiln_status multiply(path *p, int algorithm, size_t set, void *stream)
{
    const kiln_args *args = kh_sets_args(p->sets, set);
    kt_matrices m = {.a = args->a, .e = p->middle ? p->middle : args->e};
    kiln_status status = KILN_OK;
    m.c = input_of(p, p->spec.c, set);
    m.bias = vector_of(p, BIAS, p->spec.bias, set);
    m.row = vector_of(p, ROW_SCALE, p->spec.row, set);
    m.col = vector_of(p, COL_SCALE, p->spec.col, set);
    for (int i = 0; i < p->products && !status; i++) {
        m.b = p->joined ? p->joined[set % kh_sets_count(p->sets)] : args->b[i];
        status = kt_product_launch(&p->product, algorithm, &m, stream);
        m.e = (char *)m.e + p->middle_step;
    }
    return status;
}

static kiln_status finish(path *p, const kiln_kernel *kernel, size_t set, void *stream)
{
    kiln_args rest = {
        .struct_size = sizeof rest, .workspace = p->workspace, .workspace_size = p->workspace_size};
    for (size_t i = 0; i < p->rest_op.ntensors; i++)
        rest.tensor[p->rest_op.tensor[i].arg] =
            p->from[i] >= 0 ? input(p, p->from[i], set)
                            : (char *)p->middle + (size_t)(-1 - p->from[i]) * p->middle_step;
    return kiln_launch(kh_sets_ctx(p->sets), kernel, &p->problem, &rest, stream);
}

static kiln_status launch_candidate(kh_runner *r, size_t set, void *stream)
{
    const candidate *c = r->self;
    return c->kernel ? finish(c->path, c->kernel, set, stream)
                     : multiply(c->path, c->algorithm, set, stream);
}

static kiln_status launch(kh_runner *r, size_t set, void *stream)
{
    path *p = r->self;
    const kiln_status status = multiply(p, p->product.algorithm, set, stream);
    return status || !p->rest ? status : finish(p, p->rest, set, stream);
}

/* ---- choosing ---- */
static int by_seconds(const void *x, const void *y)
{
    const double a = ((const kh_runner *)x)->seconds, b = ((const kh_runner *)y)->seconds;
    return (a > b) - (a < b);
}

/* Time enough to tell a few apart. */
static kh_protocol final_of(const peer *o)
{
    kh_protocol p = o->options.protocol;
    if (p.seconds <= 0 || p.seconds > 0.25) p.seconds = 0.25;
    return p;
}

/* A brief look at each, then the best few in turn; those that run come first, in order. */
static size_t contest(const peer *o, kh_runner *runner, size_t count)
{
    kh_protocol brief = {.seconds = 0.02, .idle = -1, .replay = 0.003, .hopeless = 2};
    const kh_protocol final = final_of(o);
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (kh_time(&runner[i], 1, &brief)) continue;
        runner[n] = runner[i];
        if (brief.best <= 0 || runner[n].seconds < brief.best) brief.best = runner[n].seconds;
        n++;
    }
    if (n < 2) return n;
    qsort(runner, n, sizeof *runner, by_seconds);
    const size_t best = n < FINALISTS ? n : FINALISTS;
    if (!kh_time(runner, best, &final)) qsort(runner, best, sizeof *runner, by_seconds);
    return n;
}

static int choose_algorithm(path *p)
{
    const size_t found = (size_t)p->product.found;
    candidate *c = calloc(found, sizeof *c);
    kh_runner *runner = calloc(found, sizeof *runner);
    size_t n = 0;
    for (size_t i = 0; c && runner && i < found; i++) {
        if (!kt_product_usable(&p->product, (int)i)) continue;
        c[n] = (candidate){.path = p, .algorithm = (int)i};
        runner[n] = (kh_runner){.launch = launch_candidate, .sets = p->sets, .self = &c[n]};
        n++;
    }
    if (n) n = contest(p->owner, runner, n);
    p->algorithms = (int)n;
    if (n) p->product.algorithm = ((const candidate *)runner[0].self)->algorithm;
    free(c);
    free(runner);
    return n > 0;
}

static int choose_kernel(path *p)
{
    kiln_ctx *ctx = kh_sets_ctx(p->sets);
    const kiln_kernel *kernel[MAX_KERNELS];
    candidate c[MAX_KERNELS];
    kh_runner runner[MAX_KERNELS];
    size_t count = MAX_KERNELS, n = 0;
    const kiln_status status = kiln_find_all(ctx, &p->problem, kernel, &count);
    if (status && status != KILN_TRUNCATED) return 0;
    for (size_t i = 0; i < count && i < MAX_KERNELS; i++) {
        const size_t need = kiln_workspace_size(kernel[i], &p->problem);
        if (need == SIZE_MAX || kiln_prepare(ctx, kernel[i])) continue;
        if (need > p->workspace_size) p->workspace_size = need;
        c[n] = (candidate){.path = p, .kernel = kernel[i]};
        runner[n] = (kh_runner){.launch = launch_candidate, .sets = p->sets, .self = &c[n]};
        n++;
    }
    if (p->workspace_size && kiln_malloc(ctx, p->workspace_size, &p->workspace)) return 0;
    if (n) n = contest(p->owner, runner, n);
    p->kernels = (int)n;
    if (n) p->rest = ((const candidate *)runner[0].self)->kernel;
    return n > 0;
}

/* ---- describing ---- */
static int operand_named(const kh_shape *s, const char *name)
{
    for (int i = 0; name && i < s->count; i++)
        if (s->operand[i].extra && !strcmp(s->operand[i].name, name)) return i;
    return -1;
}

static float scalar_named(const kh_shape *s, const kiln_args *args, const char *name)
{
    for (size_t i = 0; name && i < s->op.nscalars; i++)
        if (!strcmp(s->op.scalar_name[i], name)) return args->scalars[i];
    return 1;
}

/* A copy of the bias or of a vector of scales, at an address that the library's kernels can take:
 * some of cuBLASLt's read 16 bytes at once whatever the address, and end the context where it is no
 * multiple.  scaled: beta * vector in f32, as integer outputs want it.  Where none is needed none
 * is made. */
static int copy_vector(path *p, int which, const kh_operand *o, int scaled)
{
    if (!o || (!scaled && o->align >= VECTOR_ALIGN)) return 1;
    kiln_ctx *ctx = kh_sets_ctx(p->sets);
    const size_t count = (size_t)o->span, bytes = count * (scaled ? sizeof(float) : o->size);
    unsigned char *from = malloc(count * o->size + 1);
    float *to = scaled ? malloc(bytes + 1) : NULL;
    int ok =
        from && (to || !scaled) && !kiln_download(ctx, from, input_of(p, o, 0), count * o->size);
    for (size_t i = 0; ok && scaled && i < count; i++)
        to[i] = p->spec.beta * (float)kh_decode(o->dtype, from + i * o->size);
    ok = ok && !kiln_malloc(ctx, bytes, &p->own[which]) &&
         !kiln_upload(ctx, p->own[which], scaled ? (void *)to : from, bytes);
    free(from);
    free(to);
    return ok;
}

/* Every set holds the same values: one copy is made and uploaded to each. */
static int join(path *p)
{
    const kh_operand *b = &p->spec.b;
    kiln_ctx *ctx = kh_sets_ctx(p->sets);
    const size_t count = kh_sets_count(p->sets), half = (size_t)(b->ld * b->cols) * b->size,
                 last = (size_t)b->span * b->size;
    if (b->layout != KILN_COL || b->batch > 1) return 0;
    char *image = malloc(2 * half);
    p->joined = calloc(count, sizeof *p->joined);
    int ok = image && p->joined &&
             !kiln_download(ctx, image, kh_sets_args(p->sets, 0)->b[0], last) &&
             !kiln_download(ctx, image + half, kh_sets_args(p->sets, 0)->b[1], last);
    for (size_t i = 0; ok && i < count; i++)
        ok = !kiln_malloc(ctx, 2 * half, &p->joined[i]) &&
             !kiln_upload(ctx, p->joined[i], image, 2 * half);
    free(image);
    p->products = 1;
    p->spec.b.cols *= 2;
    p->spec.b.align = KH_ALLOCATED;
    return ok;
}

static uint32_t alignment(size_t offset)
{
    uint32_t align = KH_ALLOCATED;
    while (offset % align) align /= 2;
    return align;
}

/* Where the products go when another step follows. */
static int make_middle(path *p, const kh_operand *result, int columns)
{
    kh_operand *m = &p->spec.e;
    *m = *result;
    m->size = kiln_dtype_size(m->dtype);
    const int64_t of_one = m->cols;
    m->cols *= columns;
    m->ld = m->layout == KILN_ROW ? m->cols : m->rows;
    m->stride = m->rows * m->cols;
    const size_t bytes = (size_t)(m->stride * m->batch) * m->size;
    p->middle_step = columns > 1
                         ? (size_t)(m->layout == KILN_ROW ? of_one : of_one * m->ld) * m->size
                         : (bytes + KH_ALLOCATED - 1) / KH_ALLOCATED * KH_ALLOCATED;
    m->align = KH_ALLOCATED;
    return !kiln_malloc(kh_sets_ctx(p->sets), p->middle_step * (size_t)(p->products - 1) + bytes,
                        &p->middle);
}

/* The operand that a tensor of the rest is, or -1 - i for product i; *ok = 0: there is none. */
static int source_of(const kh_shape *s, const kiln_tensor_info *t, int *ok)
{
    if (t->out) return s->inputs; /* E */
    for (size_t b = 0; b < s->op.products && s->op.products > 1; b++)
        if (!strcmp(t->name, s->op.b_name[b])) return -1 - (int)b;
    if (!strcmp(t->name, "product")) return -1;
    const int operand = operand_named(s, t->name);
    *ok &= operand >= 0;
    return operand;
}

/* The rest's problem: as many rows and columns as E has, its tensors found by name. */
static int describe_rest(path *p)
{
    const kh_shape *s = kh_sets_shape(p->sets);
    const kh_operand *e = &s->operand[s->inputs];
    kiln_problem *r = &p->problem;
    int ok = 1;
    *r = (kiln_problem){.struct_size = sizeof *r, .batch = 1};
    snprintf(r->op, sizeof r->op, "%s", p->recipe->rest);
    p->rest_op.struct_size = sizeof p->rest_op;
    if (s->problem.batch > 1 || e->layout != KILN_ROW ||
        kiln_op_describe(kh_sets_ctx(p->sets), r->op, &p->rest_op))
        return 0;
    r->size[p->rest_op.rows] = e->rows, r->size[p->rest_op.cols] = e->cols;
    for (size_t i = 0; i < p->rest_op.ntensors && ok; i++) {
        const kiln_tensor_info *t = &p->rest_op.tensor[i];
        kiln_tensor *to = &r->tensor[t->at];
        const int from = p->from[i] = source_of(s, t, &ok);
        if (!ok) return 0;
        const kh_operand *o = from >= 0 ? &s->operand[from] : &p->spec.e;
        to->dtype = o->dtype;
        to->align = from >= 0 ? s->problem.tensor[o->at].align
                              : alignment((size_t)(-1 - from) * p->middle_step);
        if (t->kind == KILN_D_FULL) to->ld = o->ld;
        if (t->kind == KILN_D_FULL && o->layout != KILN_ROW) return 0;
    }
    return ok;
}

static void close_path(path *p)
{
    kiln_ctx *ctx = kh_sets_ctx(p->sets);
    kt_product_close(&p->product);
    for (size_t i = 0; p->joined && i < kh_sets_count(p->sets); i++)
        if (p->joined[i]) kiln_free(ctx, p->joined[i]);
    free(p->joined);
    if (p->middle) kiln_free(ctx, p->middle);
    for (int i = 0; i < VECTORS; i++)
        if (p->own[i]) kiln_free(ctx, p->own[i]);
    if (p->workspace) kiln_free(ctx, p->workspace);
}

static const kh_operand *found(const path *p, const char *name, int *ok)
{
    const kh_shape *s = kh_sets_shape(p->sets);
    const int i = operand_named(s, name);
    if (name && i < 0) *ok = 0;
    return i < 0 ? NULL : &s->operand[i];
}

/* Whether the recipe can be followed. */
static int open_path(path *p, peer *o, kh_sets *sets, const recipe *r)
{
    const kh_shape *s = kh_sets_shape(sets);
    const kiln_args *args = kh_sets_args(sets, 0);
    int ok = 1;
    *p = (path){.recipe = r, .sets = sets, .owner = o, .products = (int)s->op.products};
    kt_product_spec *spec = &p->spec;
    *spec = (kt_product_spec){.a = s->operand[0],
                              .b = s->operand[1],
                              .e = s->operand[s->inputs],
                              .c = found(p, r->c, &ok),
                              .bias = found(p, r->bias, &ok),
                              .row = found(p, r->row, &ok),
                              .col = found(p, r->col, &ok),
                              .activation = r->activation,
                              .alpha = scalar_named(s, args, r->alpha),
                              .beta = scalar_named(s, args, r->beta)};
    const int integer = spec->a.dtype == KILN_I8 && spec->b.dtype == KILN_I8;
    kh_operand result = spec->e;
    if (integer && r == &plain) result.dtype = KILN_I32;
    if (!ok || (integer && r->rest)) return 0;
    if (r->joined && !join(p)) return 0;
    if ((r->rest || result.dtype != spec->e.dtype) && !make_middle(p, &result, r->joined ? 2 : 1))
        return 0;
    if (!copy_vector(p, BIAS, spec->bias, integer) || !copy_vector(p, ROW_SCALE, spec->row, 0) ||
        !copy_vector(p, COL_SCALE, spec->col, 0))
        return 0;
    if (r->rest && !describe_rest(p)) return 0;
    return kt_product_open(&p->product, &o->vendor, spec) && choose_algorithm(p) &&
           (!r->rest || choose_kernel(p));
}

/* ---- the peer ---- */
static void close_peer(kt_entry *entry)
{
    path *first = entry->runner.self;
    if (!first) return;
    peer *o = first->owner;
    for (int i = 0; i < o->count; i++) close_path(&o->paths[i]);
    kt_blaslt_unload(&o->vendor);
    free(o);
}

/* What the fastest path does, and what the others took. */
static void describe_paths(const peer *o, int lacking, char *note, size_t size)
{
    const path *p = o->paths;
    kiln_kernel_info info = {.struct_size = sizeof info};
    const int fast = p->spec.a.size == 1 && p->spec.a.dtype != KILN_I8 && p->spec.b.size == 1 &&
                     o->vendor.dialect->desc_fast != NO_ATTRIBUTE;
    size_t used =
        (size_t)snprintf(note, size, "%s%s, best of %d candidates%s%s", p->recipe->says,
                         fast ? ", fast accumulation" : "", p->algorithms,
                         p->products > 1 ? " for each product" : "",
                         lacking ? "; the rest needs the ops of instances/elementwise.lua" : "");
    if (p->rest && !kiln_kernel_describe(p->rest, &info) && used < size)
        used += (size_t)snprintf(note + used, size - used, "; then %s, best of %d", info.name,
                                 p->kernels);
    for (int i = 1; i < o->count && used < size; i++)
        used += (size_t)snprintf(note + used, size - used, "; slower: %s, %.2f us",
                                 o->paths[i].recipe->says, o->paths[i].seconds * 1e6);
}

/* Follows all recipes of the op, and leaves the fastest in paths[0]. */
static void open_paths(peer *o, kh_sets *sets, int *lacking)
{
    const kh_shape *s = kh_sets_shape(sets);
    kh_runner runner[MAX_PATHS];
    size_t n = 0;
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes && o->count < MAX_PATHS; i++) {
        path *p = &o->paths[o->count];
        if (strcmp(recipes[i].op, s->op.name)) continue;
        if (open_path(p, o, sets, &recipes[i])) {
            runner[n++] = (kh_runner){.launch = launch, .sets = sets, .self = p};
            o->count++;
            continue;
        }
        *lacking |= recipes[i].rest && !p->rest_op.name;
        close_path(p);
    }
    const kh_protocol final = final_of(o);
    if (n < 2 || kh_time(runner, n, &final)) return;
    int best = 0;
    for (int i = 0; i < o->count; i++) {
        o->paths[i].seconds = runner[i].seconds;
        if (runner[i].seconds < runner[best].seconds) best = i;
    }
    const path swap = o->paths[best];
    o->paths[best] = o->paths[0];
    o->paths[0] = swap;
}

int kt_path_open(const kt_dialect *dialect, kh_sets *sets, const kt_peer_options *options,
                 kt_entry *entry, char *why, size_t size)
{
    peer *o = calloc(1, sizeof *o);
    int lacking = 0;
    if (!o) return snprintf(why, size, "out of memory"), 1;
    o->options = *options;
    o->paths[0] = (path){.owner = o, .sets = sets};
    entry->runner = (kh_runner){.launch = launch, .sets = sets, .self = o->paths};
    entry->close = close_peer;
    if (!kt_has_products(sets, why, size)) return 1;
    if (!kt_blaslt_load(&o->vendor, dialect, kh_sets_ctx(sets), why, size)) return 1;
    open_paths(o, sets, &lacking);
    entry->same = entry->whole = o->count > 0;
    if (!o->count) {
        const int opened = open_path(o->paths, o, sets, &plain);
        o->count = 1;
        if (!opened) return snprintf(why, size, "it has no algorithm for this problem"), 1;
    }
    describe_paths(o, lacking, entry->note, sizeof entry->note);
    return 0;
}
