// SPDX-License-Identifier: MIT
// Block-scaled fp8 products against a program of their own, in float64: of the library it uses no
// number format, no layout and no reference.  The contract is that of AMD's fp8 challenge: a[M, K]
// and b[N, K] in e4m3fnuz and both scales in f32, all column by column, c[M, N] in bf16 row by row;
// 2e-2 relative, 1e-3 absolute.  Then faults are planted into sums as a matrix unit of 14 bits has
// them, and the library's bounds must see each.
//   arguments: the device, the folder of modules
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kiln.h"

enum { SPAN = 128, KERNELS = 64 };
static int failures, tests;

static void result(int good, const char *format, const char *name, long m, long n, long k)
{
    printf("%sok %d - ", good ? "" : "not ", ++tests);
    printf(format, name, m, n, k);
    printf("\n");
    failures += !good;
}

static unsigned long long state = 7;
static unsigned next(void)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(state >> 33);
}

static double e4m3fnuz(unsigned char code)
{
    const int exponent = code >> 3 & 15, fraction = code & 7;
    const double v = exponent ? ldexp(8 + fraction, exponent - 11) : ldexp(fraction, -10);
    return code & 0x80 ? -v : v;
}

static float bf16(unsigned short code)
{
    const unsigned bits = (unsigned)code << 16;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* One problem's data, as the challenge lays it out. */
typedef struct data {
    long m, n, k, row_scales, deep;
    unsigned char *a, *b;
    float *a_scale, *b_scale;
    double *sum; /* of each block: [m][n][block] */
    double *want;
} data;

static data make(long m, long n, long k)
{
    data d = {m, n, k, (n + SPAN - 1) / SPAN, (k + SPAN - 1) / SPAN, 0, 0, 0, 0, 0, 0};
    d.a = malloc((size_t)(m * k));
    d.b = malloc((size_t)(n * k));
    d.a_scale = malloc((size_t)(m * d.deep) * sizeof(float));
    d.b_scale = malloc((size_t)(d.row_scales * d.deep) * sizeof(float));
    d.sum = calloc((size_t)(m * n * d.deep), sizeof(double));
    d.want = calloc((size_t)(m * n), sizeof(double));
    /* Magnitudes up to 2, either sign; never 0x80, which is NaN. */
    for (long i = 0; i < m * k; i++)
        d.a[i] = (unsigned char)(1 + next() % 0x47 + next() % 2 * 0x80);
    for (long i = 0; i < n * k; i++)
        d.b[i] = (unsigned char)(1 + next() % 0x47 + next() % 2 * 0x80);
    for (long i = 0; i < m * d.deep; i++)
        d.a_scale[i] = (float)ldexp(1 + next() % 1000 / 1000.0, (int)(next() % 4) - 3);
    for (long i = 0; i < d.row_scales * d.deep; i++)
        d.b_scale[i] = (float)ldexp(1 + next() % 1000 / 1000.0, (int)(next() % 4) - 3);
    for (long i = 0; i < m; i++)
        for (long j = 0; j < n; j++)
            for (long g = 0; g < d.deep; g++) {
                double sum = 0;
                for (long x = g * SPAN; x < k && x < (g + 1) * SPAN; x++)
                    sum += e4m3fnuz(d.a[i + x * m]) * e4m3fnuz(d.b[j + x * n]);
                d.sum[(i * n + j) * d.deep + g] = sum;
                d.want[i * n + j] += sum * (double)d.a_scale[i + g * m] *
                                     (double)d.b_scale[j / SPAN + g * d.row_scales];
            }
    return d;
}

static void drop(data *d)
{
    void *const all[] = {d->a, d->b, d->a_scale, d->b_scale, d->sum, d->want};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

static int close_enough(const data *d, const unsigned short *c)
{
    long wrong = 0;
    for (long i = 0; i < d->m * d->n; i++)
        wrong += !(fabs((double)bf16(c[i]) - d->want[i]) <= 1e-3 + 2e-2 * fabs(d->want[i]));
    if (wrong) printf("# %ld of %ld are wrong\n", wrong, d->m * d->n);
    return !wrong;
}

static const char *problem_of(const data *d, kiln_problem *p)
{
    static char text[200];
    snprintf(text, sizeof text,
             "gemm_a8w8_blockscale f8e4m3fnuz,f8e4m3fnuz,bf16 crr m=%ld n=%ld k=%ld", d->m, d->n,
             d->k);
    memset(p, 0, sizeof *p);
    p->struct_size = sizeof *p;
    return kiln_problem_parse(text, p) ? NULL : text;
}

static void *on_device(kiln_ctx *ctx, const void *from, size_t bytes)
{
    void *p = NULL;
    if (kiln_malloc(ctx, bytes, &p) || (from && kiln_upload(ctx, p, from, bytes))) exit(2);
    return p;
}

static void run_kernels(kiln_ctx *ctx, const data *d)
{
    kiln_problem p;
    const kiln_kernel *kernel[KERNELS];
    size_t count = KERNELS;
    unsigned short *c = malloc((size_t)(d->m * d->n) * sizeof *c);
    if (!problem_of(d, &p) || kiln_find_all(ctx, &p, kernel, &count)) {
        printf("# %s\n", kiln_error());
        result(0, "%s%ld %ld %ld is found", "", d->m, d->n, d->k);
        count = 0;
    }
    for (size_t i = 0; i < count && i < KERNELS; i++) {
        kiln_args args = {.struct_size = sizeof args};
        kiln_kernel_info info = {.struct_size = sizeof info};
        args.a = on_device(ctx, d->a, (size_t)(d->m * d->k));
        args.b[0] = on_device(ctx, d->b, (size_t)(d->n * d->k));
        args.d[0] = on_device(ctx, d->a_scale, (size_t)(d->m * d->deep) * sizeof(float));
        args.d[1] = on_device(ctx, d->b_scale, (size_t)(d->row_scales * d->deep) * sizeof(float));
        memset(c, 0xff, (size_t)(d->m * d->n) * sizeof *c);
        args.e = on_device(ctx, c, (size_t)(d->m * d->n) * sizeof *c);
        args.workspace_size = kiln_workspace_size(kernel[i], &p);
        if (args.workspace_size) args.workspace = on_device(ctx, NULL, args.workspace_size);
        kiln_kernel_describe(kernel[i], &info);
        const int ran = !kiln_launch(ctx, kernel[i], &p, &args, NULL) &&
                        !kiln_synchronize(ctx, NULL) &&
                        !kiln_download(ctx, c, args.e, (size_t)(d->m * d->n) * sizeof *c);
        if (!ran) printf("# %s\n", kiln_error());
        result(ran && close_enough(d, c), "%s at %ld x %ld x %ld", info.name, d->m, d->n, d->k);
        void *const all[] = {(void *)(size_t)args.a,
                             (void *)(size_t)args.b[0],
                             (void *)(size_t)args.d[0],
                             (void *)(size_t)args.d[1],
                             args.e,
                             args.workspace};
        for (size_t x = 0; x < sizeof all / sizeof *all; x++) kiln_free(ctx, all[x]);
    }
    free(c);
}

/* ---- faults ---- */

/* Sums with one thing wrong in block g. */
typedef enum fault { NONE, FORGOTTEN, TWICE, NEXT_A_SCALE, NEXT_B_SCALE, NO_SCALE, FAULTS } fault;
static const char *const fault_name[] = {"",
                                         "a block forgotten",
                                         "a block twice",
                                         "A's scale of the next block",
                                         "B's scale of the next block",
                                         "a block without scales"};

static double with_fault(const data *d, long i, long j, long g, fault f)
{
    const double sum = d->sum[(i * d->n + j) * d->deep + g];
    const double a = (double)d->a_scale[i + g * d->m],
                 b = (double)d->b_scale[j / SPAN + g * d->row_scales];
    const long other = (g + 1) % d->deep;
    const double other_a = (double)d->a_scale[i + other * d->m],
                 other_b = (double)d->b_scale[j / SPAN + other * d->row_scales];
    double e = d->want[i * d->n + j];
    switch (f) {
    case FORGOTTEN:
        e -= sum * a * b;
        break;
    case TWICE:
        e += sum * a * b;
        break;
    case NEXT_A_SCALE:
        e += sum * (other_a - a) * b;
        break;
    case NEXT_B_SCALE:
        e += sum * a * (other_b - b);
        break;
    case NO_SCALE:
        e += sum * (1 - a * b);
        break;
    case NONE:
    case FAULTS:
        break;
    }
    return e;
}

/* Bounds of a kernel whose matrix unit keeps 14 bits, of E as f32 would be: lo and hi are those of
 * bf16, so what is outside of them is outside for sure. */
static void plant(const data *d)
{
    kiln_problem p;
    kiln_args args = {.struct_size = sizeof args};
    const size_t elements = (size_t)(d->m * d->n);
    double *lo = malloc(elements * sizeof *lo), *hi = malloc(elements * sizeof *hi);
    args.a = d->a;
    args.b[0] = d->b;
    args.d[0] = d->a_scale;
    args.d[1] = d->b_scale;
    args.e = malloc(elements * sizeof(unsigned short));
    args.sums = (kiln_sums){.bits = 14, .step = 32, .chain = SPAN};
    if (!problem_of(d, &p) || kiln_reference_bounds(&p, &args, lo, hi)) {
        printf("# %s\n", kiln_error());
        result(0, "%s%ld %ld %ld has bounds", "", d->m, d->n, d->k);
    }
    for (int f = 0; f < FAULTS; f++) {
        long unseen = 0, seen = 0;
        for (long g = 0; g < d->deep; g++) {
            long outside = 0;
            for (long i = 0; i < d->m; i++)
                for (long j = 0; j < d->n; j++) {
                    const double e = with_fault(d, i, j, g, (fault)f), half = fabs(e) / 256;
                    const long at = i * d->n + j;
                    outside += e + half < lo[at] || e - half > hi[at];
                }
            unseen += !outside;
            seen += outside > 0;
        }
        if (f == NONE)
            result(!seen, "%swithout a fault all are within bounds of %ld x %ld x %ld", "", d->m,
                   d->n, d->k);
        else
            result(!unseen, "%s is seen wherever it is in %ld x %ld x %ld", fault_name[f], d->m,
                   d->n, d->k);
    }
    free(lo);
    free(hi);
    free(args.e);
}

int main(int argc, char **argv)
{
    static const long shape[][3] = {{64, 96, 448},  {33, 192, 384}, {65, 36, 448},  {64, 448, 128},
                                    {40, 288, 640}, {1, 130, 257},  {130, 64, 1024}};
    kiln_config config = {.struct_size = sizeof config, .only_module_path = 1};
    kiln_ctx *ctx;
    if (argc != 3) return 2;
    config.device = argv[1];
    config.module_path = argv[2];
    if (kiln_open(&ctx, &config)) {
        printf("not ok 1 - %s\n1..1\n", kiln_error());
        return 1;
    }
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++) {
        data d = make(shape[i][0], shape[i][1], shape[i][2]);
        run_kernels(ctx, &d);
        drop(&d);
    }
    static const long deep[][3] = {{16, 146, 500}, {9, 158, 7168}, {4, 194, 16384}};
    for (size_t i = 0; i < sizeof deep / sizeof *deep; i++) {
        data d = make(deep[i][0], deep[i][1], deep[i][2]);
        plant(&d);
        drop(&d);
    }
    kiln_close(ctx);
    printf("1..%d\n", tests);
    return failures > 0;
}
