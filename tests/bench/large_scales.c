// SPDX-License-Identifier: MIT
// large_scales PROBLEM [INSTANCE]: a gemm of bf16 by weights of 4 bits, with scales beside bf16's
// largest numbers and zero points, within the reference's bounds; by every legal instance, or those
// with this in their names.  A kernel that multiplies by a multiple of a scale would make
// infinities of it.  Inputs d: "scale" in bf16, "zero" in 4 bits; of two products each has these, of
// which the other one's scales are smaller.  Exit 77 where there is no GPU.
#include "within.h"

int main(int argc, char **argv)
{
    kiln_problem p;
    if (argc < 2) return fprintf(stderr, "usage: large_scales PROBLEM [INSTANCE]\n"), 2;
    kiln_ctx *const ctx = opened();
    MUST(kiln_problem_parse(argv[1], &p));
    must(p.a.dtype == KILN_BF16, "A is not bf16");
    const int64_t m = p.m, n = p.n, k = p.k, of_b = n * (k + 1) / 2;
    const int64_t values = n * (k / 16 + 1); // of each input at most
    memory a = room((size_t)(m * k * 2)), b = room((size_t)of_b),
           scale = room((size_t)(values * 2)), zero = room((size_t)values),
           less = room((size_t)(values * 2)),
           e = room((size_t)(m * n) * kiln_dtype_size(p.e.dtype));
    memory *const all[] = {&a, &b, &scale, &zero, &less, &e};
    const int count = sizeof all / sizeof *all;
    kiln_op_info info = {.struct_size = sizeof info};
    MUST(kiln_op_describe(ctx, p.op, &info));
    const bool two = info.products == 2;
    // 2^126 and a third more, of which three times the difference of a weight and a zero point are
    // numbers; and a little of everything below that.
    for (int64_t i = 0; i < values; i++)
        ((uint16_t *)scale.host)[i] = (uint16_t)(dice(2) ? 0x7e80 + dice(40) : 0x7e00 + dice(128)) |
                                      (uint16_t)(dice(2) << 15);
    for (int64_t i = 0; i < values; i++)
        ((uint16_t *)less.host)[i] = (uint16_t)(0x7d80 + dice(128)) | (uint16_t)(dice(2) << 15);
    for (int64_t i = 0; i < m * k; i++) set(&a, p.a.dtype, i, ldexp(1 + dice(256) / 256.0, -120));
    for (int64_t i = 0; i < of_b; i++)
        ((unsigned char *)b.host)[i] = (unsigned char)(0x88 + dice(4) + (dice(4) << 4));
    for (int64_t i = 0; i < values; i++)
        ((unsigned char *)zero.host)[i] = (unsigned char)(0x88 + dice(4) + (dice(4) << 4));
    for (int i = 0; i < count; i++) put(ctx, all[i]);
    kiln_args host = {.struct_size = sizeof host,
                      .a = a.host,
                      .b = {b.host},
                      .d = {scale.host, zero.host},
                      .e = e.host};
    kiln_args args = host;
    args.a = a.device, args.b[0] = b.device, args.d[0] = scale.device, args.d[1] = zero.device,
    args.e = e.device;
    if (two) {
        host.b[1] = b.host, host.d[1] = less.host, host.d[2] = host.d[3] = zero.host;
        args.b[1] = b.device, args.d[1] = less.device, args.d[2] = args.d[3] = zero.device;
    }
    double *const lo = malloc((size_t)(m * n) * sizeof *lo), *const hi = malloc((size_t)(m * n) *
                                                                                sizeof *hi);
    must(lo && hi, "no memory");
    MUST(kiln_reference_bounds(&p, &host, lo, hi));
    int64_t determined = 0;
    for (int64_t i = 0; i < m * n; i++) determined += isfinite(lo[i]) && isfinite(hi[i]);
    must(determined * 10 > m * n * 9, "the reference determines too few elements");
    const outputs o = {
        .of = {&e}, .type = {p.e.dtype}, .elements = {m * n}, .outs = 1, .lo = lo, .hi = hi};
    const bool good = all_within(ctx, &p, &args, &o, argv[2]);
    for (int i = 0; i < count; i++) drop(ctx, all[i]);
    free(lo), free(hi);
    kiln_close(ctx);
    return !good;
}
