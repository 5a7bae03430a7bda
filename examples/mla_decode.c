// SPDX-License-Identifier: MIT
// Latent attention of one token, in its absorbed form (DeepSeek's MLA): every head has a query of
// 512 + 64 elements, all of them the same cache of one vector a position, of which the first 512
// are its value, too.  What Kiln computes is compared with a plain program in double precision.
//   mla_decode [BATCH KV HEADS]      (the AMD challenge's sizes: 128 8192 128)
#include <kiln.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIM = 576, DIMV = 512 };
static const double relative = 2e-2, absolute = 8e-3; /* the challenge's */

typedef struct work {
    long batch, kv, heads;
    float scale;
    uint16_t *q, *cache, *o; /* bf16 */
} work;

/* ---- bf16 ---- */

static double value(uint16_t x)
{
    const uint32_t bits = (uint32_t)x << 16;
    float f;
    memcpy(&f, &bits, sizeof f);
    return (double)f;
}

static uint16_t random_bf16(uint64_t *state) /* from -1 to 1 */
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    const float f = (float)(int32_t)(*state >> 32) * 0x1p-31f;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return (uint16_t)(bits >> 16);
}

/* ---- the same in double precision ---- */

/* O of one head; weight: room for kv numbers. */
static void plain(const work *w, long batch, long head, double *weight, double *o)
{
    const uint16_t *q = w->q + (batch * w->heads + head) * DIM,
                   *keys = w->cache + batch * w->kv * DIM;
    double most = -INFINITY, sum = 0;
    for (long j = 0; j < w->kv; j++) {
        weight[j] = 0;
        for (long e = 0; e < DIM; e++) weight[j] += value(q[e]) * value(keys[j * DIM + e]);
        weight[j] *= (double)w->scale;
        most = fmax(most, weight[j]);
    }
    memset(o, 0, DIMV * sizeof *o);
    for (long j = 0; j < w->kv; j++) {
        const double p = exp(weight[j] - most);
        sum += p;
        for (long e = 0; e < DIMV; e++) o[e] += p * value(keys[j * DIM + e]);
    }
    for (long e = 0; e < DIMV; e++) o[e] /= sum;
}

/* Elements that are further off than the challenge allows. */
static long compare(const work *w, double *largest)
{
    double *weight = malloc((size_t)w->kv * sizeof *weight), o[DIMV];
    long wrong = weight ? 0 : -1;
    for (long h = 0; weight && h < w->batch * w->heads; h++) {
        plain(w, h / w->heads, h % w->heads, weight, o);
        for (long e = 0; e < DIMV; e++) {
            const double off = fabs(value(w->o[h * DIMV + e]) - o[e]);
            wrong += !(off <= absolute + relative * fabs(o[e]));
            *largest = fmax(*largest, off);
        }
    }
    free(weight);
    return wrong;
}

/* ---- by Kiln ---- */

static kiln_status put(kiln_ctx *ctx, const void *from, size_t bytes, void **to)
{
    const kiln_status status = kiln_malloc(ctx, bytes, to);
    return status ? status : kiln_upload(ctx, *to, from, bytes);
}

static kiln_status by_kiln(kiln_ctx *ctx, const work *w, size_t q_bytes, size_t cache_bytes,
                           size_t o_bytes)
{
    char text[200];
    kiln_problem p;
    const kiln_kernel *kernel;
    void *q = NULL, *cache = NULL, *lse = NULL;
    kiln_args args = {.struct_size = sizeof args, .scalars = {w->scale}};
    snprintf(text, sizeof text,
             "mla bf16,bf16,bf16,bf16 heads=%ld kv_heads=1 q=1 kv=%ld batch=%ld ldv=%d align=256",
             w->heads, w->kv, w->batch, DIM);
    kiln_status status = kiln_problem_parse(text, &p);
    if (!status) status = kiln_find(ctx, &p, &kernel);
    if (!status) status = put(ctx, w->q, q_bytes, &q);
    if (!status) status = put(ctx, w->cache, cache_bytes, &cache);
    if (!status) status = kiln_malloc(ctx, o_bytes, &args.o);
    if (!status) status = kiln_malloc(ctx, (size_t)(w->batch * w->heads) * 4, &lse);
    if (!status) {
        args.q = q, args.k = args.v = cache;
        args.tensor[kiln_tensor_index(ctx, p.op, "lse")] = lse;
        args.workspace_size = kiln_workspace_size(kernel, &p);
        status = kiln_malloc(ctx, args.workspace_size, &args.workspace);
    }
    if (!status) status = kiln_launch(ctx, kernel, &p, &args, NULL);
    if (!status) status = kiln_download(ctx, w->o, args.o, o_bytes);
    void *memory[] = {q, cache, lse, args.o, args.workspace};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) kiln_free(ctx, memory[i]);
    return status;
}

int main(int argc, char **argv)
{
    work w = {2, 300, 16, (float)(1 / sqrt(192)), NULL, NULL, NULL};
    kiln_ctx *ctx = NULL;
    double largest = 0;
    if (argc == 4) {
        w.batch = strtol(argv[1], NULL, 10);
        w.kv = strtol(argv[2], NULL, 10);
        w.heads = strtol(argv[3], NULL, 10);
    }
    if ((argc != 1 && argc != 4) || w.batch < 1 || w.kv < 1 || w.heads < 1)
        return fprintf(stderr, "usage: mla_decode [BATCH KV HEADS]\n"), 2;
    const size_t nq = (size_t)(w.batch * w.heads) * DIM, ncache = (size_t)(w.batch * w.kv) * DIM,
                 no = (size_t)(w.batch * w.heads) * DIMV;
    w.q = malloc(nq * 2), w.cache = malloc(ncache * 2), w.o = malloc(no * 2);
    if (!w.q || !w.cache || !w.o) return fprintf(stderr, "no memory\n"), 1;
    uint64_t state = 1;
    for (size_t i = 0; i < nq; i++) w.q[i] = random_bf16(&state);
    for (size_t i = 0; i < ncache; i++) w.cache[i] = random_bf16(&state);
    if (kiln_open(&ctx, NULL) || by_kiln(ctx, &w, nq * 2, ncache * 2, no * 2))
        return fprintf(stderr, "%s\n", kiln_error()), 1;
    const long wrong = compare(&w, &largest);
    printf("%ld of %zu elements are off by more than allowed; the largest difference is %.1e\n",
           wrong, no, largest);
    kiln_close(ctx);
    free(w.q), free(w.cache), free(w.o);
    return wrong != 0;
}
