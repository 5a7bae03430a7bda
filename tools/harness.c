// SPDX-License-Identifier: MIT
// One problem with inputs, guards, poison and bounds; kernels are run on it and everything they
// touched is checked:
//   values of outputs inside their bounds, every element written, the same bits in both runs, and
//   nothing else changed: not the padding of an output, nor the guard bands of any buffer, nor an
//   input.
// Each run poisons outputs and the workspace with another byte, so that an element left alone shows
// in any type.
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
 * more shows it.  tight: the allocation is the elements alone, so that devices that watch what is
 * allocated see each access beside them. */
static kiln_status buffer_open(kiln_ctx *ctx, size_t bytes, size_t align, unsigned char fill,
                               int tight, buffer *b)
{
    void *device;
    *b = (buffer){.bytes = bytes, .total = tight ? bytes : bytes + 2 * GUARD + 3 * align};
    if (tight && !bytes) b->total = 1;
    const kiln_status status = kiln_malloc(ctx, b->total, &device);
    if (status) return status;
    b->device = device;
    if (!tight)
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

/* Whether elements can be compared without their neighbours along a size. */
static int can_sample(const kh_shape *s, int size)
{
    if (size < 0 || s->op.uses_at || kh_has_indices(s) || !(s->op.independent >> size & 1))
        return 0;
    for (int i = 0; i < s->count; i++)
        for (int which = 0; which < 2; which++)
            if (s->operand[i].along[which] == size && s->operand[i].block[which] > 1) return 0;
    return 1;
}

/* Whether batches are compared all at once: index arrays are of all, and some values depend on a
 * batch's number. */
static int is_whole(const kh_shape *s)
{
    enum { OF_BATCH = 8 };
    return kh_has_indices(s) || s->op.uses_at & OF_BATCH;
}

/* What an element takes: its multiply-adds, and as many for the rest of it. */
static double work_of_element(const kh_shape *s)
{
    const int64_t depth = s->op.summed >= 0 ? kh_size_of(&s->problem, s->op.summed) : 0;
    return (double)(depth + 64) * (double)(s->op.products ? s->op.products : 1);
}

static kiln_status choose_samples(kh_case *c, const kh_options *o, uint64_t *state)
{
    const kh_shape *s = &c->shape;
    const kiln_problem *p = &s->problem;
    const int row = s->op.rows, col = s->op.cols;
    const double budget = o->budget > 0 ? o->budget : default_budget, each = work_of_element(s);
    int64_t want[KH_SIZES];
    int64_t batches = p->batch, rows = kh_size_of(p, row), cols = kh_size_of(p, col);
    for (int i = 0; i < KH_SIZES; i++) want[i] = kh_size_of(p, i);
    if ((double)batches * (double)rows * (double)cols * each > budget) {
        batches = batches < 3 || is_whole(s) ? batches : 3;
        const double elements = budget / each / (double)batches;
        if (can_sample(s, row) && can_sample(s, col)) {
            rows = rows < cols ? clamped(sqrt(elements), 32, rows) : rows;
            cols = clamped(elements / (double)(rows < 1024 ? rows : 1024), 32, cols);
            rows = clamped(elements / (double)cols, 32, rows);
        } else if (can_sample(s, row))
            rows = clamped(elements / (double)cols, rows < 32 ? rows : 32, rows);
        else if (can_sample(s, col))
            cols = clamped(elements / (double)rows, cols < 32 ? cols : 32, cols);
    }
    want[KH_BATCH] = batches, want[row] = rows, want[col] = cols;
    for (int i = 0; i < KH_SIZES; i++) { /* batch first: the order of random numbers */
        const int size = i == 0 ? KH_BATCH : i - (i <= KH_BATCH);
        const kiln_status status =
            sample_open(&c->compared.of[size], kh_size_of(p, size), want[size],
                        size == KH_BATCH ? 0 : o->tile[size], state);
        if (status) return status;
    }
    const sample *at = c->compared.of;
    if (at[row].count < kh_size_of(p, row) || at[col].count < kh_size_of(p, col) ||
        at[KH_BATCH].count < p->batch)
        snprintf(c->sampling, sizeof c->sampling,
                 "%lld of %lld rows, %lld of %lld columns, %lld of %lld batches, seed %llu",
                 (long long)at[row].count, (long long)kh_size_of(p, row), (long long)at[col].count,
                 (long long)kh_size_of(p, col), (long long)at[KH_BATCH].count, (long long)p->batch,
                 (unsigned long long)o->seed);
    return KILN_OK;
}

/* A size of which operands have blocks is compared in full: a block stands for itself. */
int64_t kh_compared_matrices(const samples *at, const kh_operand *o)
{
    return (o->batches == KH_BATCH ? at->of[KH_BATCH].count : o->batch) * o->planes;
}

int64_t kh_matrix_at(const samples *at, const kh_operand *o, int64_t nth)
{
    if (o->batches != KH_BATCH) return nth;
    return at->of[KH_BATCH].at[nth / o->planes] * o->planes + nth % o->planes;
}

static int64_t place_at(const samples *at, const kh_operand *o, int which, int64_t i)
{
    const int whole =
        o->along[which] < 0 || o->block[which] > 1 || o->index ||
        (o->batches >= 0 && o->batches != KH_BATCH); /* rows of pages */
    return whole ? i : at->of[o->along[which]].at[i];
}

int64_t kh_row_at(const samples *at, const kh_operand *o, int64_t i)
{
    return place_at(at, o, 0, i);
}

int64_t kh_col_at(const samples *at, const kh_operand *o, int64_t j)
{
    return place_at(at, o, 1, j);
}

int64_t kh_compared(const samples *at, const kh_operand *o, int which)
{
    if (o->along[which] < 0) return 1;
    const int64_t count = at->of[o->along[which]].count;
    return (count + o->block[which] - 1) / o->block[which];
}

size_t kh_compared_elements(const samples *at, const kh_operand *o)
{
    if (!o->span) return 0;
    return (size_t)(kh_compared_matrices(at, o) * kh_compared(at, o, 0) * kh_compared(at, o, 1));
}

/* ---- expected values: a packed problem of the sampled sizes ---- */
static void gather(const samples *at, const kh_operand *from, const char *source,
                   const kh_operand *to, char *base)
{
    for (int64_t b = 0; b < kh_matrices(to); b++)
        for (int64_t i = 0; i < to->rows; i++)
            for (int64_t j = 0; j < to->cols; j++) {
                const int64_t row = kh_row_at(at, from, i), col = kh_col_at(at, from, j),
                              in = kh_place(from, kh_matrix_at(at, from, b), row, col),
                              out = kh_place(to, b, i, j);
                if (kh_pieces(to) == 1)
                    memcpy(base + (size_t)out * to->size, source + (size_t)in * to->size, to->size);
                else
                    kh_put(to, base, out, kh_get(from, source, in));
            }
}

/* Bounds of the elements at these places, output by output; the arrays have room for them. */
static kiln_status expect(const kh_case *c, const samples *at, double *lo, double *hi)
{
    kh_shape small;
    kiln_problem p = c->shape.problem;
    kiln_args args = c->args;
    char *base[KH_MAX_OPERANDS] = {0};
    int empty = 0;
    for (int i = 0; i < KH_SIZES; i++) {
        *kh_size(&p, i) = at->of[i].count;
        empty |= !at->of[i].count && c->shape.op.empty >> i & 1;
    }
    for (int i = 0; i < c->shape.count; i++) {
        kiln_tensor *t = &p.tensor[c->shape.operand[i].at];
        t->ld = t->batch_stride = t->align = 0;
        p.plane_stride[c->shape.operand[i].at] = 0;
    }
    kiln_status status = kh_shape_of(c->ctx, &p, &small);
    if (status) return status;
    for (int i = 0; !status && i < small.count; i++) {
        const kh_operand *o = &small.operand[i];
        base[i] = calloc(1, kh_span(o) + 16);
        *kh_slot(&args, o) = base[i];
        if (!base[i])
            status = KILN_NO_MEMORY;
        else if (i < small.inputs && o->span)
            gather(at, &c->shape.operand[i], c->operand[i].image + c->operand[i].start, o, base[i]);
    }
    args.workspace = NULL, args.workspace_size = 0;
    if (!status && !empty) status = kiln_reference_bounds(&small.problem, &args, lo, hi);
    for (int i = 0; i < small.count; i++) free(base[i]);
    return status;
}

static size_t elements_of(const kh_case *c, const samples *at)
{
    size_t sum = 0;
    for (int o = c->shape.inputs; o < c->shape.count; o++)
        sum += kh_compared_elements(at, &c->shape.operand[o]);
    return sum;
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
    const int row = c->shape.op.rows;
    samples at = c->compared;
    const int64_t batch = part / x->runs, run = part % x->runs, rows = at.of[row].count,
                  first = rows * run / x->runs;
    if (!is_whole(&c->shape)) at.of[KH_BATCH].at += batch, at.of[KH_BATCH].count = 1;
    at.of[row].at += first, at.of[row].count = rows * (run + 1) / x->runs - first;
    const size_t count = elements_of(c, &at);
    double *lo = malloc((count + 1) * sizeof *lo), *hi = malloc((count + 1) * sizeof *hi);
    kiln_status status = lo && hi ? expect(c, &at, lo, hi) : KILN_NO_MEMORY;
    size_t from = 0;
    for (int i = c->shape.inputs; !status && i < c->shape.count; i++) {
        const kh_operand *o = &c->shape.operand[i];
        const size_t n = kh_compared_elements(&at, o),
                     of_batch = (size_t)(o->planes * kh_compared(&c->compared, o, 0) *
                                         kh_compared(&c->compared, o, 1)),
                     to = c->output[i].first + (size_t)batch * of_batch +
                          (x->runs > 1 ? (size_t)(first * kh_compared(&at, o, 1)) : 0);
        memcpy(c->lo + to, lo + from, n * sizeof *lo);
        memcpy(c->hi + to, hi + from, n * sizeof *hi);
        from += n;
    }
    free(lo);
    free(hi);
    return status;
}

static void expect_part(void *arg, int64_t part)
{
    expectation *x = arg;
    if (expect_run(x, part)) x->failed = 1;
}

/* Whether a run of rows is a run of each output's, and the same wherever it is. */
static int has_runs(const kh_shape *s)
{
    int can = can_sample(s, s->op.rows);
    for (int o = s->inputs; o < s->count; o++) can &= s->operand[o].along[0] == s->op.rows;
    return can;
}

static kiln_status expect_compared(kh_case *c)
{
    enum { ENOUGH = 1 << 20 }; /* multiplications for a thread */
    const samples *at = &c->compared;
    const int64_t batches = is_whole(&c->shape) ? 1 : at->of[KH_BATCH].count,
                  rows = at->of[c->shape.op.rows].count, cols = at->of[c->shape.op.cols].count;
    size_t count = 0;
    for (int o = c->shape.inputs; o < c->shape.count; o++) {
        c->output[o].first = count;
        count += kh_compared_elements(at, &c->shape.operand[o]);
    }
    if (!c->lo) c->lo = malloc((count + 1) * sizeof *c->lo);
    if (!c->hi) c->hi = malloc((count + 1) * sizeof *c->hi);
    if (!c->lo || !c->hi) return KILN_NO_MEMORY;
    const double work = (double)(batches * rows * cols) * work_of_element(&c->shape);
    expectation x = {.c = c, .runs = 1};
    while (has_runs(&c->shape) && x.runs < rows && batches * x.runs < kh_threads() &&
           work > (double)(x.runs * ENOUGH))
        x.runs++;
    kh_parts(batches * x.runs, expect_part, &x);
    /* An error's text is its thread's: once more for it. */
    kiln_status status = KILN_OK;
    for (int64_t part = 0; x.failed && !status && part < batches * x.runs; part++)
        status = expect_run(&x, part);
    return status;
}

/* ---- scalars: of several settings the one under which a corner of the outputs differs most, lest
 * all of it saturates ---- */
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

static void shorten_size(const kh_shape *s, samples *corner, int size)
{
    /* Of rows that are all there the first are in their places. */
    if (s->op.independent >> size & 1 && (size == s->op.rows || can_sample(s, size)))
        shorten(&corner->of[size], CORNER);
}

static kiln_status choose_scalars(kh_case *c, kh_values values, uint64_t *state)
{
    const kh_shape *s = &c->shape;
    const int settings = s->op.nscalars == 0 ? 0 : s->op.nscalars == 1 ? 4 : SETTINGS;
    samples corner = c->compared;
    kiln_args best = c->args;
    kiln_status status = KILN_OK;
    int most = 0;
    if (!settings) return KILN_OK;
    if (!kh_has_indices(s)) shorten(&corner.of[KH_BATCH], 1);
    shorten_size(s, &corner, s->op.rows), shorten_size(s, &corner, s->op.cols);
    const size_t n = elements_of(c, &corner);
    double *lo = malloc((n + 1) * sizeof *lo), *hi = malloc((n + 1) * sizeof *hi);
    if (!lo || !hi) status = KILN_NO_MEMORY;
    for (int i = 0; i < settings && !status; i++) {
        kh_fill_scalars(s, values, i, state, c->args.scalars);
        if ((status = expect(c, &corner, lo, hi))) break;
        for (size_t e = 0; e < n; e++) lo[e] += (hi[e] - lo[e]) / 2;
        const int here = distinct(lo, (int)n);
        if (i == 0 || 4 * here > 5 * most)
            most = here, best = c->args; /* the first one unless another is clearly better */
    }
    free(lo);
    free(hi);
    c->args = best;
    return status;
}

/* ---- opening and closing ---- */
static kiln_status mark_inside(const kh_operand *e, kh_output *out)
{
    const int64_t inner = e->layout == KILN_ROW ? e->cols : e->rows,
                  outer = e->layout == KILN_ROW ? e->rows : e->cols;
    if (e->span == inner * outer * kh_matrices(e)) return KILN_OK;
    out->inside = calloc((size_t)e->span, 1);
    if (!out->inside) return KILN_NO_MEMORY;
    for (int64_t b = 0; b < kh_matrices(e); b++)
        for (int64_t i = 0; i < outer; i++)
            memset(out->inside + kh_place(e, b, 0, 0) + i * e->ld, 1, (size_t)inner);
    return KILN_OK;
}

/* Elements that are to be left as they are: of rows that belong to no batch. */
static kiln_status mark_left(kh_case *c, int output)
{
    const kh_operand *e = &c->shape.operand[output];
    kh_output *out = &c->output[output];
    const samples *at = &c->compared;
    size_t n = out->first;
    if (!kh_has_indices(&c->shape) || !kh_compared_elements(at, e)) return KILN_OK;
    for (int64_t b = 0; b < kh_compared_matrices(at, e); b++)
        for (int64_t i = 0; i < kh_compared(at, e, 0); i++)
            for (int64_t j = 0; j < kh_compared(at, e, 1); j++, n++) {
                if (!(c->lo[n] > c->hi[n])) continue;
                if (!out->inside) {
                    out->inside = malloc((size_t)e->span);
                    if (!out->inside) return KILN_NO_MEMORY;
                    memset(out->inside, 1, (size_t)e->span);
                }
                out->inside[kh_place(e, b, i, j)] = 0;
            }
    return KILN_OK;
}

static kiln_status open_output(kh_case *c, int o)
{
    kh_output *out = &c->output[o];
    const buffer *memory = &c->operand[out->written];
    *kh_slot(&c->args, &c->shape.operand[o]) = memory->device + memory->start;
    for (int r = 0; r < KH_RUNS; r++) {
        out->image[r] = malloc(memory->total);
        if (!out->image[r]) return KILN_NO_MEMORY;
    }
    return mark_inside(&c->shape.operand[o], out);
}

static kiln_status open_operands(kh_case *c, const kh_options *options, uint64_t *state)
{
    size_t largest = 0;
    for (int i = 0; i < c->shape.count; i++) {
        const kh_operand *o = &c->shape.operand[i];
        buffer *b = &c->operand[i];
        kiln_status status =
            buffer_open(c->ctx, kh_span(o), o->align, kh_poison(o->dtype), c->tight, b);
        if (status) return status;
        if (b->total > largest) largest = b->total;
        if (o->out) {
            status = open_output(c, i);
            if (status) return status;
            continue;
        }
        if (o->index)
            kh_fill_indices(&c->shape, o, options->indices, state, b->image + b->start);
        else
            kh_fill(&c->shape, o, options->values, state, b->image + b->start);
        *kh_slot(&c->args, o) = b->device + b->start;
    }
    char *base[KH_MAX_OPERANDS];
    for (int i = 0; i < c->shape.count; i++) base[i] = c->operand[i].image + c->operand[i].start;
    if (kh_has_indices(&c->shape)) kh_poison_unused(&c->shape, base);
    for (int i = 0; i < c->shape.inputs; i++) {
        const buffer *b = &c->operand[i];
        const kiln_status status = kiln_upload(c->ctx, b->device, b->image, b->total);
        if (status) return status;
    }
    c->scratch = malloc(largest + 1);
    return c->scratch ? KILN_OK : KILN_NO_MEMORY;
}

/* Which operand's memory each output is. */
static kiln_status place_outputs(kh_case *c, int in_place)
{
    int input[KH_MAX_OPERANDS];
    if (in_place && !kh_in_place(&c->shape, in_place - 1, input)) return KILN_NOT_SUPPORTED;
    for (int o = c->shape.inputs; o < c->shape.count; o++)
        c->output[o].written = in_place && input[o] >= 0 ? input[o] : o;
    return KILN_OK;
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
    c->indices = o.indices;
    c->tight = o.indices == KH_HOSTILE || o.indices == KH_DISORDER;
    kiln_status status = kh_shape_of(ctx, problem, &c->shape);
    if (!status) status = place_outputs(c, o.in_place);
    if (!status) status = open_operands(c, &o, &state);
    if (!status) status = choose_samples(c, &o, &state);
    if (!status) status = choose_scalars(c, o.values, &state);
    if (!status) status = expect_compared(c);
    for (int i = c->shape.inputs; i < c->shape.count && !status; i++) status = mark_left(c, i);
    if (status)
        kh_case_close(c);
    else
        *out = c;
    return status;
}

void kh_case_close(kh_case *c)
{
    if (!c) return;
    for (int i = 0; i < c->shape.count; i++) {
        buffer_close(c->ctx, &c->operand[i]);
        for (int r = 0; r < KH_RUNS; r++) free(c->output[i].image[r]);
        free(c->output[i].inside);
    }
    for (int i = 0; i < KH_SIZES; i++) free(c->compared.of[i].at);
    free(c->scratch);
    free(c->lo), free(c->hi);
    free(c);
}

const char *kh_case_sampling(const kh_case *c)
{
    return c->sampling;
}

/* ---- one launch ---- */
unsigned char kh_fill_of(const kh_case *c, int output, int run)
{
    const int written = c->output[output].written;
    return written == output ? kh_poisons[run] : kh_poison(c->shape.operand[written].dtype);
}

static kiln_status upload_output(kh_case *c, int o, int run)
{
    const kh_output *out = &c->output[o];
    const buffer *memory = &c->operand[out->written];
    if (out->written == o)
        memset(out->image[run], kh_poisons[run], memory->total);
    else
        memcpy(out->image[run], memory->image, memory->total);
    return kiln_upload(c->ctx, memory->device, out->image[run], memory->total);
}

static kiln_status launch(kh_case *c, const kiln_kernel *kernel, int run, buffer *work)
{
    const size_t need = kiln_workspace_size(kernel, &c->shape.problem);
    kiln_args args = c->args;
    kiln_status status = KILN_OK;
    if (need == SIZE_MAX) return KILN_NOT_SUPPORTED;
    for (int o = c->shape.inputs; o < c->shape.count && !status; o++)
        status = upload_output(c, o, run);
    if (!status && need) {
        status = buffer_open(c->ctx, need, 256, kh_poisons[run], c->tight, work);
        if (!status) status = kiln_upload(c->ctx, work->device, work->image, work->total);
        args.workspace = work->device + work->start;
        args.workspace_size = need;
    }
    if (!status) status = kiln_launch(c->ctx, kernel, &c->shape.problem, &args, NULL);
    if (!status) status = kiln_synchronize(c->ctx, NULL);
    for (int o = c->shape.inputs; o < c->shape.count && !status; o++) {
        const buffer *memory = &c->operand[c->output[o].written];
        status = kiln_download(c->ctx, c->output[o].image[run], memory->device, memory->total);
    }
    if (!status && need) status = kiln_download(c->ctx, work->image, work->device, work->total);
    return status;
}

static kiln_status run_once(kh_case *c, const kiln_kernel *kernel, int run, kh_result *r)
{
    buffer work = {0};
    const kiln_status status = launch(c, kernel, run, &work);
    r->ok = !status;
    for (int o = c->shape.inputs; o < c->shape.count && r->ok; o++)
        r->ok =
            guards_kept(&c->operand[c->output[o].written], c->output[o].image[run],
                        kh_fill_of(c, o, run), c->shape.operand[o].name, r->text, sizeof r->text);
    if (r->ok && work.device)
        r->ok = guards_kept(&work, work.image, kh_poisons[run], "the workspace", r->text,
                            sizeof r->text);
    buffer_close(c->ctx, &work);
    return status;
}

static int is_written(const kh_case *c, int operand)
{
    for (int o = c->shape.inputs; o < c->shape.count; o++)
        if (c->output[o].written == operand) return 1;
    return 0;
}

static kiln_status inputs_kept(kh_case *c, kh_result *r)
{
    for (int i = 0; i < c->shape.inputs; i++) {
        const buffer *b = &c->operand[i];
        if (is_written(c, i)) continue;
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
    kiln_status status = inputs_kept(c, r); /* first: a changed input changes the second run */
    if (!status && r->ok) r->ok = kh_padding_kept(c, r);
    if (c->indices == KH_DISORDER && kh_has_indices(&c->shape))
        return status; /* no more is known */
    if (!status && r->ok) r->ok = kh_runs_agree(c, r);
    if (!status && r->ok) status = expect_of(c, kernel);
    if (!status && r->ok) kh_compare(c, r);
    return status;
}
