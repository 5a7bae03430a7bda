// SPDX-License-Identifier: MIT
// one_memory PROBLEM [INSTANCE]: attention whose values are the first elements of its keys, in the
// same memory, within the reference's bounds; by every legal instance, or those with this in their
// names.  PROBLEM: in bf16 or f16, with ldv= and, of pages, sv= as K's; lengths and pages are
// random, what belongs to no sequence is NaN.  Exit 77 where there is no GPU.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

enum { INSTANCES = 64 };

static void must(bool good, const char *what)
{
    if (good) return;
    fprintf(stderr, "one_memory: %s: %s\n", what, kiln_error());
    exit(1);
}
#define MUST(call) must((call) == KILN_OK, #call)

static uint32_t dice(uint32_t below)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % below);
}

typedef struct memory {
    void *host, *device;
    size_t bytes;
} memory;

static memory room(size_t bytes)
{
    memory m = {aligned_alloc(256, (bytes + 256) / 256 * 256), NULL, bytes};
    must(m.host != NULL, "no memory");
    memset(m.host, 0, bytes);
    return m;
}

static void put(kiln_ctx *ctx, memory *m)
{
    MUST(kiln_malloc(ctx, m->bytes + 256, &m->device));
    MUST(kiln_upload(ctx, m->device, m->host, m->bytes));
}

static void set(const memory *m, kiln_dtype type, int64_t at, double x)
{
    kr_encode(type, x, (kr_at){(char *)m->host + at * (int64_t)kiln_dtype_size(type), 0});
}

static double get(const memory *m, kiln_dtype type, int64_t at)
{
    return kr_decode(type, (kr_at){(char *)m->host + at * (int64_t)kiln_dtype_size(type), 0});
}

static double random_value(void)
{
    return (double)dice(2001) / 1000 - 1;
}

/* Numbers of an index array, or NULL where the op has none of that name. */
static int32_t *numbers(kiln_ctx *ctx, const char *op, const char *name, size_t count, memory *of)
{
    const int n = kiln_tensor_index(ctx, op, name);
    if (n < 0) return NULL;
    of[n] = room(count * sizeof(int32_t));
    return of[n].host;
}

int main(int argc, char **argv)
{
    kiln_ctx *ctx;
    kiln_problem p;
    if (argc < 2) return fprintf(stderr, "usage: one_memory PROBLEM [INSTANCE]\n"), 2;
    MUST(kiln_open(&ctx, NULL));
    MUST(kiln_problem_parse(argv[1], &p));
    const kiln_dtype type = p.tensor[0].dtype, o_type = p.tensor[3].dtype;
    const int64_t dim = p.dim ? p.dim : 576, dimv = p.dimv ? p.dimv : 512;
    const int64_t batch = p.batch ? p.batch : 1;
    memory of[KILN_MAX_TENSORS] = {{NULL, NULL, 0}};
    /* Lengths, and pages in any order, each of one sequence. */
    int32_t *const q_begin = numbers(ctx, p.op, "q_begin", (size_t)batch + 1, of),
                   *const length = numbers(ctx, p.op, "kv_length", (size_t)batch, of);
    const int64_t page = p.pages ? p.tensor[1].batch_stride / dim : 0,
                  columns = page ? (p.kv + page - 1) / page : 0;
    int32_t *const pages = numbers(ctx, p.op, "kv_pages", (size_t)(batch * columns), of);
    for (int64_t b = 0; q_begin && b < batch; b++)
        q_begin[b + 1] = (int32_t)((b + 1) * p.q / batch);
    int64_t next = 0;
    for (int64_t b = 0; pages && b < batch; b++) {
        length[b] = (int32_t)(b ? 1 + dice((uint32_t)p.kv) : p.kv);
        for (int64_t i = 0; i < columns; i++)
            pages[b * columns + i] =
                i * page < length[b] && next < p.pages ? (int32_t)(next++ * 7 % p.pages) : -1;
    }
    /* Q, the cache, NaN where no sequence has a key. */
    const int64_t q_rows = p.q * p.heads * (q_begin ? 1 : batch),
                  keys = page ? p.pages * page : p.kv * p.kv_heads * batch;
    of[0] = room((size_t)(q_rows * dim * 2));
    of[1] = room((size_t)(keys * dim * 2));
    of[3] = room((size_t)(q_rows * dimv) * kiln_dtype_size(o_type));
    for (int64_t i = 0; i < q_rows * dim; i++) set(&of[0], type, i, random_value());
    for (int64_t i = 0; i < keys * dim; i++)
        set(&of[1], type, i, pages ? (double)NAN : random_value());
    for (int64_t b = 0; pages && b < batch; b++)
        for (int64_t j = 0; j < length[b]; j++)
            for (int64_t e = 0; e < dim && pages[b * columns + j / page] >= 0; e++)
                set(&of[1], type, (pages[b * columns + j / page] * page + j % page) * dim + e,
                    random_value());
    const int lse = kiln_tensor_index(ctx, p.op, "lse");
    if (lse >= 0) of[lse] = room((size_t)q_rows * 4);
    kiln_args host = {.struct_size = sizeof host, .scalars = {0.0722f}}, args = host;
    for (int i = 0; i < KILN_MAX_TENSORS; i++) {
        if (of[i].host) put(ctx, &of[i]);
        host.tensor[i] = of[i].host, args.tensor[i] = of[i].device;
    }
    host.v = host.k, args.v = args.k;
    host.o = of[3].host, args.o = of[3].device;
    const int64_t elements = q_rows * dimv, all = elements + (lse >= 0 ? q_rows : 0);
    double *const lo = malloc((size_t)all * sizeof *lo);
    double *const hi = malloc((size_t)all * sizeof *hi);
    must(lo && hi, "no memory");
    MUST(kiln_reference_bounds(&p, &host, lo, hi));
    const kiln_kernel *kernel[INSTANCES];
    size_t kernels = INSTANCES, tried = 0;
    int failed = 0;
    MUST(kiln_find_all(ctx, &p, kernel, &kernels));
    for (size_t n = 0; n < kernels && n < INSTANCES; n++) {
        kiln_kernel_info info = {.struct_size = sizeof info};
        MUST(kiln_kernel_describe(kernel[n], &info));
        if (argc > 2 && !strstr(info.name, argv[2])) continue;
        tried++;
        args.workspace_size = kiln_workspace_size(kernel[n], &p);
        MUST(kiln_malloc(ctx, args.workspace_size + 1, &args.workspace));
        MUST(kiln_upload(ctx, of[3].device, of[3].host, of[3].bytes));
        MUST(kiln_launch(ctx, kernel[n], &p, &args, NULL));
        memory o = room(of[3].bytes), l = room((size_t)q_rows * 4);
        MUST(kiln_download(ctx, o.host, of[3].device, o.bytes));
        if (lse >= 0) MUST(kiln_download(ctx, l.host, of[lse].device, l.bytes));
        int64_t wrong = 0;
        for (int64_t i = 0; i < all; i++) {
            const double x =
                i < elements ? get(&o, o_type, i) : (double)((float *)l.host)[i - elements];
            if (lo[i] > hi[i] || (lo[i] == -INFINITY && hi[i] == INFINITY)) continue;
            wrong += isnan(lo[i]) ? !isnan(x) : !(x >= lo[i] && x <= hi[i]);
        }
        printf("%s: %lld of %lld elements are off\n", info.name, (long long)wrong, (long long)all);
        failed |= wrong != 0;
        kiln_free(ctx, args.workspace);
        free(o.host), free(l.host);
    }
    must(tried > 0, "no such instance");
    for (int i = 0; i < KILN_MAX_TENSORS; i++) kiln_free(ctx, of[i].device), free(of[i].host);
    free(lo), free(hi);
    kiln_close(ctx);
    return failed;
}
