// SPDX-License-Identifier: MIT
// One problem with inputs, guards, poison and bounds; kernels are run on it and everything they
// touched is checked:
//   values of E inside their bounds, every element written, the same bits in both runs, and nothing
//   else changed: not the padding of E, nor the guard bands of any buffer, nor an input.
// Each run poisons E and the workspace with another byte, so that an element left alone shows in
// any type.
#include "harness_case.h"
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 16384 };
const unsigned char kh_poisons[KH_RUNS] = {0xff, 0xa5};
static const double default_budget = 0x1p25;

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

/* ---- buffers ---- */
static void buffer_close(kiln_ctx *ctx, buffer *b)
{
    if (b->device) kiln_free(ctx, b->device);
    free(b->image);
    *b = (buffer){0};
}

/* Elements start at a multiple of align that is no multiple of twice that: a kernel that counts on
 * more shows it. */
static kiln_status buffer_open(kiln_ctx *ctx, size_t bytes, size_t align, unsigned char fill,
                               buffer *b)
{
    void *device;
    *b = (buffer){.bytes = bytes, .total = bytes + 2 * GUARD + 3 * align};
    const kiln_status status = kiln_malloc(ctx, b->total, &device);
    if (status) return status;
    b->device = device;
    b->start = round_up((uintptr_t)device + GUARD, 2 * align) + align - (uintptr_t)device;
    b->image = malloc(b->total);
    if (!b->image) return KILN_NO_MEMORY;
    memset(b->image, fill, b->total);
    return KILN_OK;
}

/* First byte of image[from, to) that is not fill, or `to`. */
size_t kh_first_other(const char *image, size_t from, size_t to, unsigned char fill)
{
    while (from < to && (unsigned char)image[from] == fill) from++;
    return from;
}

/* Guard bands of an image that was downloaded; text says what was written where. */
static int guards_kept(const buffer *b, const char *image, unsigned char fill, const char *name,
                       char *text, size_t size)
{
    const size_t end = b->start + b->bytes, after = kh_first_other(image, end, b->total, fill);
    const size_t before = kh_first_other(image, 0, b->start, fill);
    if (after < b->total) {
        snprintf(text, size, "wrote past the end of %s (%zu bytes after it)", name, after - end);
        return 0;
    }
    if (before < b->start) {
        snprintf(text, size, "wrote before the start of %s (%zu bytes before it)", name,
                 b->start - before);
        return 0;
    }
    return 1;
}

/* ---- which rows, columns and batches are compared ---- */
static int by_value(const void *x, const void *y)
{
    const int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
    return (a > b) - (a < b);
}

static void add(sample *s, int64_t at)
{
    if (at >= 0 && at < s->of) s->at[s->count++] = at;
}

/* `want` positions or a few more: the first, the last, both sides of the first and last edges of
 * common tiles, and one at random in each of equal parts. */
static kiln_status sample_open(sample *s, int64_t of, int64_t want, int64_t tile, uint64_t *state)
{
    static const int64_t tiles[] = {16, 32, 64, 128, 256};
    enum { TILES = sizeof tiles / sizeof *tiles, EDGES = 4 * (TILES + 1) + 2 };
    if (want > of) want = of;
    s->at = malloc((size_t)(want + EDGES) * sizeof *s->at);
    s->of = of;
    s->count = 0;
    if (!s->at) return KILN_NO_MEMORY;
    if (want == of) {
        while (s->count < of) add(s, s->count);
        return KILN_OK;
    }
    add(s, 0);
    add(s, of - 1);
    for (int i = 0; i <= TILES; i++) {
        const int64_t t = i < TILES ? tiles[i] : tile, last = t > 0 ? (of - 1) / t * t : 0;
        if (t <= 0) continue;
        add(s, t - 1), add(s, t), add(s, last - 1), add(s, last);
    }
    for (int64_t i = 0; i < want; i++) {
        const int64_t from = of / want * i, part = (i + 1 < want ? of / want * (i + 1) : of) - from;
        add(s, from + (int64_t)(kh_random(state) % (uint64_t)part));
    }
    qsort(s->at, (size_t)s->count, sizeof *s->at, by_value);
    int64_t kept = 0;
    for (int64_t i = 0; i < s->count; i++)
        if (!kept || s->at[kept - 1] != s->at[i]) s->at[kept++] = s->at[i];
    s->count = kept;
    return KILN_OK;
}

static int64_t clamped(double x, int64_t lo, int64_t hi)
{
    return x < (double)lo ? lo : x > (double)hi ? hi : (int64_t)x;
}

static kiln_status choose_samples(kh_case *c, const kh_options *o, uint64_t *state)
{
    const kiln_problem *p = &c->shape.problem;
    const double budget = o->budget > 0 ? o->budget : default_budget;
    const double each = (double)(p->k + 64) * (double)c->shape.op.products;
    int64_t batches = p->batch, rows = p->m, cols = p->n;
    if ((double)batches * (double)rows * (double)cols * each > budget) {
        batches = batches < 3 ? batches : 3;
        const double elements = budget / each / (double)batches;
        rows = rows < cols ? clamped(sqrt(elements), 32, rows) : rows;
        cols = clamped(elements / (double)(rows < 1024 ? rows : 1024), 32, cols);
        rows = clamped(elements / (double)cols, 32, rows);
    }
    samples *at = &c->compared;
    kiln_status status = sample_open(&at->batches, p->batch, batches, 0, state);
    if (!status) status = sample_open(&at->rows, p->m, rows, o->tile_m, state);
    if (!status) status = sample_open(&at->cols, p->n, cols, o->tile_n, state);
    if (!status && (at->rows.count < p->m || at->cols.count < p->n || at->batches.count < p->batch))
        snprintf(c->sampling, sizeof c->sampling,
                 "%lld of %lld rows, %lld of %lld columns, %lld of %lld batches, seed %llu",
                 (long long)at->rows.count, (long long)p->m, (long long)at->cols.count,
                 (long long)p->n, (long long)at->batches.count, (long long)p->batch,
                 (unsigned long long)o->seed);
    return status;
}

/* ---- expected values: a packed problem of the sampled rows and columns ---- */
static void gather(const samples *at, const kh_operand *from, const char *source,
                   const kh_operand *to, char *base)
{
    for (int64_t b = 0; b < to->batch; b++)
        for (int64_t i = 0; i < to->rows; i++)
            for (int64_t j = 0; j < to->cols; j++) {
                const int64_t row = from->role == KH_B ? i : at->rows.at[from->rows == 1 ? 0 : i];
                const int64_t col = from->role == KH_A ? j : at->cols.at[from->cols == 1 ? 0 : j];
                memcpy(base + (size_t)kh_place(to, b, i, j) * to->size,
                       source + (size_t)kh_place(from, at->batches.at[b], row, col) * from->size,
                       to->size);
            }
}

static void packed(kiln_tensor *t)
{
    t->ld = t->batch_stride = t->align = 0;
}

/* Bounds of the elements at these places; the arrays have room for them. */
static kiln_status expect(const kh_case *c, const samples *at, double *lo, double *hi)
{
    kh_shape small;
    kiln_problem p = c->shape.problem;
    kiln_args args = c->args;
    char *base[KH_MAX_OPERANDS] = {0};
    p.m = at->rows.count, p.n = at->cols.count, p.batch = at->batches.count;
    packed(&p.a), packed(&p.b), packed(&p.e);
    for (int i = 0; i < KILN_MAX_D; i++) packed(&p.d[i]);
    kiln_status status = kh_shape_of(c->ctx, &p, &small);
    if (status) return status;
    for (int i = 0; !status && i < small.count; i++) {
        const kh_operand *o = &small.operand[i];
        base[i] = malloc((size_t)o->span * o->size + 16);
        if (!base[i])
            status = KILN_NO_MEMORY;
        else if (i == small.e)
            args.e = base[i];
        else {
            if (o->span)
                gather(at, &c->shape.operand[i], c->operand[i].image + c->operand[i].start, o,
                       base[i]);
            *kh_slot(&args, o) = base[i];
        }
    }
    args.workspace = NULL, args.workspace_size = 0;
    if (!status && p.m && p.n) status = kiln_reference_bounds(&small.problem, &args, lo, hi);
    for (int i = 0; i < small.count; i++) free(base[i]);
    return status;
}

/* The elements compared, batch by batch and each in runs of rows, so that threads can share them.
 */
typedef struct expectation {
    const kh_case *c;
    int64_t runs; /* of a batch */
    atomic_int failed;
} expectation;

static kiln_status expect_run(const expectation *x, int64_t part)
{
    const kh_case *c = x->c;
    samples at = c->compared;
    const int64_t batch = part / x->runs, run = part % x->runs, rows = at.rows.count,
                  first = rows * run / x->runs;
    at.batches.at += batch, at.batches.count = 1;
    at.rows.at += first, at.rows.count = rows * (run + 1) / x->runs - first;
    const int64_t start = (batch * rows + first) * at.cols.count;
    return expect(c, &at, c->lo + start, c->hi + start);
}

static void expect_part(void *arg, int64_t part)
{
    expectation *x = arg;
    if (expect_run(x, part)) x->failed = 1;
}

static kiln_status expect_compared(kh_case *c)
{
    enum { ENOUGH = 1 << 20 }; /* multiplications for a thread */
    const samples *at = &c->compared;
    const int64_t batches = at->batches.count, rows = at->rows.count,
                  count = batches * rows * at->cols.count;
    if (!c->lo) c->lo = malloc(((size_t)count + 1) * sizeof *c->lo);
    if (!c->hi) c->hi = malloc(((size_t)count + 1) * sizeof *c->hi);
    if (!c->lo || !c->hi) return KILN_NO_MEMORY;
    const double work = (double)count * (double)(c->shape.problem.k + 64);
    expectation x = {.c = c, .runs = 1};
    while (x.runs < rows && batches * x.runs < kh_threads() && work > (double)(x.runs * ENOUGH))
        x.runs++;
    kh_parts(batches * x.runs, expect_part, &x);
    /* An error's text is its thread's: once more for it. */
    return x.failed ? expect(c, at, c->lo, c->hi) : KILN_OK;
}

/* ---- scalars: of several settings the one under which a corner of E differs most, lest all of it
 * saturates ---- */
enum { CORNER = 8, SETTINGS = 16 };

static int by_number(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static int distinct(double *values, int n)
{
    int kept = 0, count = 0;
    for (int i = 0; i < n; i++)
        if (isfinite(values[i])) values[kept++] = values[i];
    qsort(values, (size_t)kept, sizeof *values, by_number);
    for (int i = 0; i < kept; i++) count += !i || values[i] != values[i - 1];
    return count;
}

static void shorten(sample *s, int64_t to)
{
    if (s->count > to) s->count = to;
}

static kiln_status choose_scalars(kh_case *c, kh_values values, uint64_t *state)
{
    samples corner = c->compared;
    kiln_args best = c->args;
    double lo[CORNER * CORNER], hi[CORNER * CORNER];
    int most = 0;
    shorten(&corner.batches, 1), shorten(&corner.rows, CORNER), shorten(&corner.cols, CORNER);
    const int n = (int)(corner.batches.count * corner.rows.count * corner.cols.count);
    const int settings = c->shape.op.nscalars == 0 ? 0 : c->shape.op.nscalars == 1 ? 4 : SETTINGS;
    for (int i = 0; i < settings; i++) {
        kh_fill_scalars(&c->shape, values, i, state, c->args.scalars);
        const kiln_status status = expect(c, &corner, lo, hi);
        if (status) return status;
        for (int e = 0; e < n; e++) lo[e] += (hi[e] - lo[e]) / 2;
        const int here = distinct(lo, n);
        if (i == 0 || 4 * here > 5 * most)
            most = here, best = c->args; /* the first one unless another is clearly better */
    }
    c->args = best;
    return KILN_OK;
}

/* ---- opening and closing ---- */
static kiln_status mark_inside(kh_case *c)
{
    const kh_operand *e = &c->shape.operand[c->shape.e];
    const int64_t inner = e->layout == KILN_ROW ? e->cols : e->rows,
                  outer = e->layout == KILN_ROW ? e->rows : e->cols;
    if (e->span == inner * outer * e->batch) return KILN_OK;
    c->inside = calloc((size_t)e->span, 1);
    if (!c->inside) return KILN_NO_MEMORY;
    for (int64_t b = 0; b < e->batch; b++)
        for (int64_t i = 0; i < outer; i++)
            memset(c->inside + b * e->stride + i * e->ld, 1, (size_t)inner);
    return KILN_OK;
}

static kiln_status open_operands(kh_case *c, kh_values values, uint64_t *state)
{
    size_t largest = 0;
    for (int i = 0; i < c->shape.count; i++) {
        const kh_operand *o = &c->shape.operand[i];
        buffer *b = &c->operand[i];
        kiln_status status =
            buffer_open(c->ctx, (size_t)o->span * o->size, o->align, kh_poison(o->dtype), b);
        if (status) return status;
        if (b->total > largest) largest = b->total;
        if (i == c->written) c->args.e = b->device + b->start;
        if (i == c->shape.e) continue;
        kh_fill(&c->shape, o, values, state, b->image + b->start);
        *kh_slot(&c->args, o) = b->device + b->start;
        status = kiln_upload(c->ctx, b->device, b->image, b->total);
        if (status) return status;
    }
    c->scratch = malloc(largest);
    for (int r = 0; r < KH_RUNS; r++) {
        c->e_image[r] = malloc(c->operand[c->written].total);
        if (!c->e_image[r]) return KILN_NO_MEMORY;
    }
    return c->scratch ? mark_inside(c) : KILN_NO_MEMORY;
}

kiln_status kh_case_open(kiln_ctx *ctx, const kiln_problem *problem, const kh_options *options,
                         kh_case **out)
{
    const kh_options o = options ? *options : (kh_options){0};
    uint64_t state = o.seed;
    kh_case *c = calloc(1, sizeof *c);
    *out = NULL;
    if (!c) return KILN_NO_MEMORY;
    c->ctx = ctx;
    c->args.struct_size = sizeof c->args;
    c->values = o.values;
    kiln_status status = kh_shape_of(ctx, problem, &c->shape);
    c->written = o.in_place ? kh_in_place(&c->shape) : c->shape.e;
    if (!status && c->written < 0) status = KILN_NOT_SUPPORTED;
    if (!status) status = open_operands(c, o.values, &state);
    if (!status) status = choose_samples(c, &o, &state);
    if (!status) status = choose_scalars(c, o.values, &state);
    if (!status) status = expect_compared(c);
    if (status)
        kh_case_close(c);
    else
        *out = c;
    return status;
}

void kh_case_close(kh_case *c)
{
    if (!c) return;
    for (int i = 0; i < c->shape.count; i++) buffer_close(c->ctx, &c->operand[i]);
    for (int r = 0; r < KH_RUNS; r++) free(c->e_image[r]);
    free(c->scratch), free(c->inside);
    free(c->compared.batches.at), free(c->compared.rows.at), free(c->compared.cols.at);
    free(c->lo), free(c->hi);
    free(c);
}

const char *kh_case_sampling(const kh_case *c)
{
    return c->sampling;
}

/* ---- one launch ---- */
unsigned char kh_e_fill(const kh_case *c, int run)
{
    return c->written == c->shape.e ? kh_poisons[run]
                                    : kh_poison(c->shape.operand[c->written].dtype);
}

static kiln_status run_once(kh_case *c, const kiln_kernel *kernel, int run, kh_result *r)
{
    const buffer *e = &c->operand[c->written];
    const size_t need = kiln_workspace_size(kernel, &c->shape.problem);
    buffer work = {0};
    kiln_args args = c->args;
    if (need == SIZE_MAX) return KILN_NOT_SUPPORTED;
    if (c->written == c->shape.e)
        memset(c->e_image[run], kh_poisons[run], e->total);
    else
        memcpy(c->e_image[run], e->image, e->total);
    kiln_status status = kiln_upload(c->ctx, e->device, c->e_image[run], e->total);
    if (!status && need) {
        status = buffer_open(c->ctx, need, 256, kh_poisons[run], &work);
        if (!status) status = kiln_upload(c->ctx, work.device, work.image, work.total);
        args.workspace = work.device + work.start;
        args.workspace_size = need;
    }
    if (!status) status = kiln_launch(c->ctx, kernel, &c->shape.problem, &args, NULL);
    if (!status) status = kiln_synchronize(c->ctx, NULL);
    if (!status) status = kiln_download(c->ctx, c->e_image[run], e->device, e->total);
    if (!status && need) status = kiln_download(c->ctx, work.image, work.device, work.total);
    if (!status)
        r->ok = guards_kept(e, c->e_image[run], kh_e_fill(c, run), "E", r->text, sizeof r->text) &&
                (!need || guards_kept(&work, work.image, kh_poisons[run], "the workspace", r->text,
                                      sizeof r->text));
    buffer_close(c->ctx, &work);
    return status;
}

static kiln_status inputs_kept(kh_case *c, kh_result *r)
{
    for (int i = 0; i < c->shape.count; i++) {
        const buffer *b = &c->operand[i];
        if (i == c->shape.e || i == c->written) continue;
        const kiln_status status = kiln_download(c->ctx, c->scratch, b->device, b->total);
        if (status) return status;
        if (!memcmp(c->scratch, b->image, b->total)) continue;
        r->ok = 0;
        snprintf(r->text, sizeof r->text, "wrote into or around input %s",
                 c->shape.operand[i].name);
        break;
    }
    return KILN_OK;
}

/* The bounds are those of the last kernel's kind of sums. */
static kiln_status expect_of(kh_case *c, const kiln_kernel *kernel)
{
    kiln_kernel_info info = {.struct_size = sizeof info};
    const kiln_status status = kiln_kernel_describe(kernel, &info);
    if (status || !memcmp(&info.sums, &c->args.sums, sizeof info.sums)) return status;
    c->args.sums = info.sums;
    return expect_compared(c);
}

kiln_status kh_case_run(kh_case *c, const kiln_kernel *kernel, kh_result *r)
{
    memset(r, 0, sizeof *r);
    for (int run = 0; run < KH_RUNS; run++) {
        const kiln_status status = run_once(c, kernel, run, r);
        if (status || !r->ok) return status;
    }
    kiln_status status = inputs_kept(c, r); /* first: a changed input changes the second run's E */
    if (!status && r->ok) r->ok = kh_padding_kept(c, r) && kh_runs_agree(c, r);
    if (!status && r->ok) status = expect_of(c, kernel);
    if (!status && r->ok) kh_compare(c, r);
    return status;
}
