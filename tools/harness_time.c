// SPDX-License-Identifier: MIT
// Timing that can be compared: random inputs, input sets several times the last-level cache walked
// over in turn, implementations replayed one after the other, each replay (a graph on GPUs) after a
// pause in which the device cools and threads go to sleep; medians of the replays.
#include "harness.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_SETS = 256, MAX_REPLAYS = 1000, MIN_REPLAYS = 5, FEW_REPLAYS = 2, MAX_LAUNCHES = 20000 };

struct kh_sets {
    kiln_ctx *ctx;
    kh_shape shape;
    int on_host;
    size_t count;
    void **device;
    kiln_args *args;
};

typedef struct kh_recording {
    void *stream, *graph;
    size_t launches;
    double *seconds; /* of each replay, per launch */
    double warm;     /* of a launch, by the first ones */
    size_t replays;
} kh_recording;

/* ---- sets ---- */
static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

/* All operands of a set lie one after the other in one allocation: on page boundaries if they are
 * aligned as allocators align, else at a multiple of what they promise that is no multiple of twice
 * that, so that no implementation gets more.  One that is within another has that one's place. */
static size_t layout(const kh_shape *s, size_t *start)
{
    enum { PAGE = 4096 };
    size_t total = 0;
    for (int i = 0; i < s->count; i++) {
        const kh_operand *o = &s->operand[i];
        const int within = kh_within(s, i);
        start[i] = within >= 0 ? start[within]
                               : round_up(total, PAGE) + (o->align < KH_ALLOCATED ? o->align : 0);
        if (within < 0) total = start[i] + kh_span(o) + 1;
    }
    return round_up(total, PAGE);
}

static size_t sets_wanted(const kiln_device_info *d, size_t bytes)
{
    const size_t cache = d->l2 ? d->l2 : (size_t)64 << 20, room = d->memory / 4;
    size_t n = (4 * cache + bytes - 1) / bytes;
    if (n < 2) n = 2;
    if (n > MAX_SETS) n = MAX_SETS;
    if (room && n > room / bytes) n = room / bytes;
    return n ? n : 1;
}

/* Outputs, the last operands, are written by every launch and need no values. */
static kiln_status upload_sets(kh_sets *s, char *image, const size_t *start, size_t total)
{
    for (size_t i = 0; i < s->count; i++) {
        kiln_status status = kiln_malloc(s->ctx, total, &s->device[i]);
        if (!status) status = kiln_upload(s->ctx, s->device[i], image, start[s->shape.inputs]);
        if (status) return status;
        kiln_args *a = &s->args[i];
        *a = s->args[0];
        for (int o = 0; o < s->shape.count; o++) {
            *kh_slot(a, &s->shape.operand[o]) = (char *)s->device[i] + start[o];
        }
    }
    return KILN_OK;
}

kiln_status kh_sets_open(kiln_ctx *ctx, const kiln_problem *problem, uint64_t seed, kh_sets **out)
{
    size_t start[KH_MAX_OPERANDS];
    kiln_device_info device = {.struct_size = sizeof device};
    kh_sets *s = calloc(1, sizeof *s);
    char *image = NULL;
    *out = NULL;
    if (!s) return KILN_NO_MEMORY;
    s->ctx = ctx;
    kiln_status status = kiln_device_describe(ctx, &device);
    if (!status) status = kh_shape_of(ctx, problem, &s->shape);
    if (status) goto out;
    s->on_host = !strcmp(device.vendor, "host");
    const size_t total = layout(&s->shape, start);
    s->count = sets_wanted(&device, total);
    s->device = calloc(s->count, sizeof *s->device);
    s->args = calloc(s->count, sizeof *s->args);
    image = calloc(start[s->shape.inputs] + 1, 1);
    status = KILN_NO_MEMORY;
    if (!s->device || !s->args || !image) goto out;
    s->args[0].struct_size = sizeof *s->args;
    for (int i = 0; i < s->shape.inputs; i++)
        if (kh_within(&s->shape, i) < 0)
            kh_fill(&s->shape, &s->shape.operand[i], KH_RANDOM, &seed, image + start[i]);
    kh_fill_scalars(&s->shape, KH_RANDOM, 0, &seed, s->args[0].scalars);
    status = upload_sets(s, image, start, total);
out:
    free(image);
    if (status)
        kh_sets_close(s);
    else
        *out = s;
    return status;
}

void kh_sets_close(kh_sets *s)
{
    if (!s) return;
    for (size_t i = 0; s->device && i < s->count; i++)
        if (s->device[i]) kiln_free(s->ctx, s->device[i]);
    free(s->device);
    free(s->args);
    free(s);
}

size_t kh_sets_count(const kh_sets *s)
{
    return s->count;
}
const kh_shape *kh_sets_shape(const kh_sets *s)
{
    return &s->shape;
}
const kiln_args *kh_sets_args(const kh_sets *s, size_t i)
{
    return &s->args[i % s->count];
}
kiln_ctx *kh_sets_ctx(const kh_sets *s)
{
    return s->ctx;
}

/* ---- runners of Kiln's own kernels ---- */
static kiln_status launch_kernel(kh_runner *r, size_t set, void *stream)
{
    kiln_args args = *kh_sets_args(r->sets, set);
    args.workspace = r->workspace;
    args.workspace_size = r->workspace_size;
    return kiln_launch(r->sets->ctx, r->kernel, &r->sets->shape.problem, &args, stream);
}

kiln_status kh_runner_open(kh_sets *sets, const kiln_kernel *kernel, kh_runner *r)
{
    *r = (kh_runner){.launch = launch_kernel, .sets = sets, .kernel = kernel};
    r->workspace_size = kiln_workspace_size(kernel, &sets->shape.problem);
    if (r->workspace_size == SIZE_MAX) return KILN_NOT_SUPPORTED;
    kiln_status status = kiln_prepare(sets->ctx, kernel);
    if (!status && r->workspace_size)
        status = kiln_malloc(sets->ctx, r->workspace_size, &r->workspace);
    return status;
}

void kh_runner_close(kh_runner *r)
{
    if (r->workspace) kiln_free(r->sets->ctx, r->workspace);
    r->workspace = NULL;
}

/* ---- the protocol ---- */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void pause_for(double seconds)
{
    if (seconds <= 0) return;
    const struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&t, NULL);
}

static kiln_status launch_all(kh_runner *r, size_t launches, void *stream)
{
    kiln_status status = KILN_OK;
    for (size_t i = 0; i < launches && !status; i++)
        status = r->launch(r, i % r->sets->count, stream);
    return status;
}

/* Seconds of one walk; on the host there is nothing to gain from a graph. */
static kiln_status replay(kh_runner *r, double *seconds)
{
    kh_recording *c = r->recording;
    if (!r->sets->on_host) return kiln_graph_replay(r->sets->ctx, c->graph, c->stream, seconds);
    const double start = now();
    const kiln_status status = launch_all(r, c->launches, NULL);
    *seconds = now() - start;
    return status;
}

static kiln_status record(kh_runner *r, double length)
{
    kiln_ctx *ctx = r->sets->ctx;
    kh_recording *c = r->recording;
    const size_t sets = r->sets->count;
    kiln_status status = r->sets->on_host ? KILN_OK : kiln_stream_create(ctx, &c->stream);
    if (!status)
        status = launch_all(r, 1, c->stream); /* code is loaded, caches and pages are touched */
    if (!status) status = kiln_synchronize(ctx, c->stream);
    size_t trial = 1;
    for (double spent = 0; !status && spent < length / 2 && trial <= MAX_LAUNCHES; trial *= 2) {
        const double start = now();
        status = launch_all(r, trial, c->stream);
        if (!status) status = kiln_synchronize(ctx, c->stream);
        spent = now() - start;
        c->warm = spent / (double)trial;
    }
    if (status) return status;
    const double warm = c->warm, wanted = warm > 0 ? length / warm + 0.999 : (double)MAX_LAUNCHES;
    c->launches = wanted > (double)MAX_LAUNCHES ? MAX_LAUNCHES : (size_t)wanted;
    c->launches = round_up(c->launches ? c->launches : 1, c->launches > sets ? sets : 1);
    if (c->launches < sets && (double)sets * warm < 20 * length) c->launches = sets;
    if (r->sets->on_host) return KILN_OK;
    status = kiln_graph_begin(ctx, c->stream);
    if (!status) status = launch_all(r, c->launches, c->stream);
    void *graph = NULL;
    const kiln_status ended = kiln_graph_end(ctx, c->stream, &graph);
    c->graph = graph;
    return status ? status : ended;
}

static int by_value(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static void summarize(kh_runner *r)
{
    kh_recording *c = r->recording;
    const size_t n = c->replays;
    r->replays = n;
    r->spread = 0;
    r->seconds = c->warm;
    if (!n) return;
    qsort(c->seconds, n, sizeof *c->seconds, by_value);
    r->seconds = n % 2 ? c->seconds[n / 2] : (c->seconds[n / 2 - 1] + c->seconds[n / 2]) / 2;
    r->spread =
        r->seconds > 0 ? (c->seconds[(n - 1) - n / 10] - c->seconds[n / 10]) / r->seconds : 0;
}

/* Seconds of a launch above which a runner is not worth replaying. */
static double limit_of(const kh_runner *r, size_t n, const kh_protocol *p)
{
    double least = p->best;
    for (size_t i = 0; i < n; i++)
        if (!r[i].status && (least <= 0 || r[i].recording->warm < least))
            least = r[i].recording->warm;
    return p->hopeless > 0 ? p->hopeless * least : HUGE_VAL;
}

static int active(const kh_runner *r, double limit)
{
    return !r->status && r->recording->warm <= limit;
}

static void time_rounds(kh_runner *r, size_t n, double seconds, double idle, double limit)
{
    const double start = now();
    for (size_t round = 0; round < MAX_REPLAYS; round++) {
        size_t running = 0;
        for (size_t i = 0; i < n; i++) running += (size_t)active(&r[i], limit);
        const double spent = running ? (now() - start) / (double)running : seconds;
        if (!running ||
            (round > (spent > 4 * seconds ? FEW_REPLAYS : MIN_REPLAYS) && spent > seconds))
            break;
        for (size_t i = 0; i < n; i++) {
            kh_recording *c = r[i].recording;
            double took = 0;
            if (!active(&r[i], limit)) continue;
            pause_for(idle);
            r[i].status = replay(&r[i], &took);
            if (round && !r[i].status)
                c->seconds[c->replays++] = took / (double)c->launches; /* the first warms up */
        }
    }
}

static void finish(kh_runner *r)
{
    kh_recording *c = r->recording;
    if (!c) return;
    if (!r->status) summarize(r);
    if (c->graph) kiln_graph_destroy(r->sets->ctx, c->graph);
    if (c->stream) kiln_stream_destroy(r->sets->ctx, c->stream);
    free(c->seconds);
    free(c);
    r->recording = NULL;
}

static kiln_status price_all(kh_runner *r, size_t n, const kh_protocol *p)
{
    kiln_status status = KILN_OK;
    for (size_t i = 0; i < n; i++) {
        r[i].spread = 0;
        r[i].replays = 0;
        r[i].status = p->price(&r[i], &r[i].seconds);
        if (!status) status = r[i].status;
    }
    return status;
}

kiln_status kh_time(kh_runner *r, size_t n, const kh_protocol *protocol)
{
    const kh_protocol p = protocol ? *protocol : (kh_protocol){0};
    kiln_status status = KILN_OK;
    if (p.price) return price_all(r, n, &p);
    for (size_t i = 0; i < n; i++) {
        kh_recording *c = r[i].recording = calloc(1, sizeof *c);
        if (c) c->seconds = calloc(MAX_REPLAYS, sizeof *c->seconds);
        r[i].status =
            c && c->seconds ? record(&r[i], p.replay > 0 ? p.replay : 0.006) : KILN_NO_MEMORY;
    }
    time_rounds(r, n, p.seconds > 0 ? p.seconds : 1,
                p.idle < 0   ? 0
                : p.idle > 0 ? p.idle
                             : 0.040,
                limit_of(r, n, &p));
    for (size_t i = 0; i < n; i++) {
        finish(&r[i]);
        if (!status) status = r[i].status;
    }
    return status;
}
