// SPDX-License-Identifier: MIT
// launch_chain PROBLEM [INSTANCE]: launches that each read what the one before wrote give the same
// bits queued back to back, and in a graph, as with the device idle between them.  A kernel that
// begins early and does not wait, or that lets its result be read before it is whole, fails here.
// PROBLEM: M = N = K, E of A's type and layout.  Exit 77 where there is no GPU.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

enum { LINKS = 48, INSTANCES = 64 };

typedef struct chain {
    kiln_ctx *ctx;
    kiln_problem p;
    kiln_args args;
    void *x[2], *stream; /* A and E by turns */
    char *first, *want, *have;
    size_t bytes;
    const kiln_kernel *kernel[INSTANCES];
    size_t kernels;
} chain;

static void must(bool good, const char *what)
{
    if (good) return;
    fprintf(stderr, "launch_chain: %s: %s\n", what, kiln_error());
    exit(1);
}
#define MUST(call) must((call) == KILN_OK, #call)

/* Both signs of one magnitude, in a fixed sequence. */
static void fill(char *p, kiln_dtype type, int64_t elements, double magnitude)
{
    uint32_t r = 1;
    for (int64_t i = 0; i < elements; i++) {
        r = r * 1664525u + 1013904223u;
        kr_encode(type, r >> 31 ? magnitude : -magnitude,
                  (kr_at){p + i * (int64_t)kiln_dtype_size(type), 0});
    }
}

/* Device memory with such values; sums over K keep their size. */
static void *filled(const chain *c, const kr_operand *o)
{
    void *device;
    char *host = malloc((size_t)o->bytes + 1);
    must(host != NULL, "no memory");
    const int64_t elements = o->bytes * 8 / o->bits;
    double magnitude = 1;
    while (o->rows > 1 && o->cols > 1 && magnitude * magnitude * (double)c->p.k > 1.5)
        magnitude /= 2;
    fill(host, o->type, elements, magnitude);
    MUST(kiln_malloc(c->ctx, (size_t)o->bytes + 256, &device));
    MUST(kiln_upload(c->ctx, device, host, (size_t)o->bytes));
    free(host);
    return device;
}

static void prepare(chain *c)
{
    uint64_t hash;
    kr_signature sig;
    kr_view v;
    const kiln_op_row *op = c->kernel[0]->op;
    MUST(kr_op_name(&c->p, &hash));
    MUST(kr_sign(&c->p, c->kernel[0]->module, op, hash, &sig));
    MUST(kr_view_make(&c->p, &sig, c->kernel[0]->module, op, NULL, &v));
    const kr_operand *a = &v.t[0], *e = &v.t[1 + op->products]; /* of a gemm */
    must(a->bytes == e->bytes && a->type == e->type && a->layout == e->layout, "E must be like A");
    c->bytes = (size_t)e->bytes;
    c->args = (kiln_args){.struct_size = sizeof c->args};
    for (int i = 1; i < op->ntensors; i++)
        if (!op->tensor[i].out) c->args.tensor[op->tensor[i].arg] = filled(c, &v.t[i]);
    for (int i = 0; i < op->nscalars; i++) c->args.scalars[i] = 1;
    for (int i = 0; i < 2; i++) c->x[i] = filled(c, a);
    for (size_t i = 0; i < c->kernels; i++) {
        const size_t size = kiln_workspace_size(c->kernel[i], &c->p);
        if (size > c->args.workspace_size) c->args.workspace_size = size;
        MUST(kiln_prepare(c->ctx, c->kernel[i]));
    }
    MUST(kiln_malloc(c->ctx, c->args.workspace_size + 256, &c->args.workspace));
    MUST(kiln_stream_create(c->ctx, &c->stream));
    c->first = malloc(c->bytes);
    c->want = malloc(c->bytes);
    c->have = malloc(c->bytes);
    must(c->first && c->want && c->have, "no memory");
    MUST(kiln_download(c->ctx, c->first, c->x[0], c->bytes));
}

/* Link i by instance `at`, or by all in turn. */
static void launch(chain *c, size_t at, int i, bool wait)
{
    kiln_args args = c->args;
    args.a = c->x[i % 2];
    args.e = c->x[1 - i % 2];
    const kiln_kernel *k = c->kernel[at < c->kernels ? at : (size_t)i % c->kernels];
    MUST(kiln_launch(c->ctx, k, &c->p, &args, c->stream));
    if (wait) MUST(kiln_synchronize(c->ctx, c->stream));
}

static void run(chain *c, size_t at, bool wait, bool recorded, char *result)
{
    void *graph = NULL;
    MUST(kiln_upload(c->ctx, c->x[0], c->first, c->bytes));
    MUST(kiln_upload(c->ctx, c->x[1], c->first, c->bytes));
    if (recorded) MUST(kiln_graph_begin(c->ctx, c->stream));
    for (int i = 0; i < LINKS; i++) launch(c, at, i, wait);
    if (recorded) MUST(kiln_graph_end(c->ctx, c->stream, &graph));
    if (recorded) MUST(kiln_graph_replay(c->ctx, graph, c->stream, NULL));
    MUST(kiln_synchronize(c->ctx, c->stream));
    if (recorded) MUST(kiln_graph_destroy(c->ctx, graph));
    MUST(kiln_download(c->ctx, result, c->x[LINKS % 2], c->bytes));
}

static bool check(chain *c, size_t at)
{
    const char *name = at < c->kernels ? kr_kernel_name(c->kernel[at]) : "all in turn";
    bool good = true;
    run(c, at, true, false, c->want);
    must(memcmp(c->want, c->first, c->bytes) != 0, "the chain changes nothing");
    run(c, at, true, false, c->have);
    if (memcmp(c->want, c->have, c->bytes) != 0) {
        printf("not ok %s: two runs that wait differ\n", name);
        good = false;
    }
    for (int round = 0; round < 4 && good; round++) {
        run(c, at, false, round % 2, c->have);
        if (memcmp(c->want, c->have, c->bytes) == 0) continue;
        printf("not ok %s: %s, the result is another\n", name, round % 2 ? "in a graph" : "queued");
        good = false;
    }
    if (good) printf("ok %s\n", name);
    return good;
}

int main(int argc, char **argv)
{
    chain c = {0};
    const kiln_kernel *all[INSTANCES];
    size_t count = INSTANCES, failed = 0;
    if (argc < 2) return fprintf(stderr, "usage: launch_chain PROBLEM [INSTANCE]\n"), 1;
    MUST(kiln_open(&c.ctx, NULL));
    if (strcmp(c.ctx->device->info.vendor, "host") == 0) {
        fprintf(stderr, "launch_chain: no GPU here\n");
        return 77;
    }
    MUST(kiln_problem_parse(argv[1], &c.p));
    const kiln_status status = kiln_find_all(c.ctx, &c.p, all, &count);
    must(status == KILN_OK || status == KILN_TRUNCATED, "find");
    for (size_t i = 0; i < count && i < INSTANCES; i++)
        if (argc < 3 || strstr(kr_kernel_name(all[i]), argv[2])) c.kernel[c.kernels++] = all[i];
    must(c.kernels > 0, "no such instance");
    prepare(&c);
    for (size_t i = 0; i <= c.kernels; i++) failed += !check(&c, i);
    printf("%zu chains, %zu failed\n", c.kernels + 1, failed);
    kiln_close(c.ctx);
    return failed ? 1 : 0;
}
