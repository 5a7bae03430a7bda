// SPDX-License-Identifier: MIT
// one_memory PROBLEM [INSTANCE]: attention whose values are the first elements of its keys, in the
// same memory, within the reference's bounds; by every legal instance, or those with this in their
// names.  PROBLEM: in bf16 or f16, with ldv= and, of pages, sv= as K's; lengths and pages are
// random, what belongs to no sequence is NaN.  Exit 77 where there is no GPU.
#include "within.h"

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
    kiln_problem p;
    if (argc < 2) return fprintf(stderr, "usage: one_memory PROBLEM [INSTANCE]\n"), 2;
    kiln_ctx *const ctx = opened();
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
    const outputs o = {.of = {&of[3], lse >= 0 ? &of[lse] : NULL},
                       .type = {o_type, KILN_F32},
                       .elements = {elements, q_rows},
                       .outs = lse >= 0 ? 2 : 1,
                       .lo = lo,
                       .hi = hi};
    const bool good = all_within(ctx, &p, &args, &o, argv[2]);
    for (int i = 0; i < KILN_MAX_TENSORS; i++) drop(ctx, &of[i]);
    free(lo), free(hi);
    kiln_close(ctx);
    return !good;
}
