// SPDX-License-Identifier: MIT
// large_scales PROBLEM [INSTANCE]: a gemm of 16-bit A and weights of 4 bits, with scales beside the largest numbers of
// A's type and zero points, within the reference's bounds; by every legal instance, or those with this in their names.
// A kernel that multiplies by a multiple of a scale would make infinities of it.  Inputs d: "scale", "zero", packed.
// Exit 77 where there is no GPU.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

enum { INSTANCES = 64 };

static void must(bool good, const char *what)
{
    if (good) return;
    fprintf(stderr, "large_scales: %s: %s\n", what, kiln_error());
    exit(1);
}
#define MUST(call) must((call) == KILN_OK, #call)

static uint32_t dice(uint32_t below)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % below);
}

static void *room(size_t bytes)
{
    void *p = aligned_alloc(256, (bytes + 256) / 256 * 256);
    must(p != NULL, "no memory");
    return memset(p, 0, bytes);
}

static const void *on_device(kiln_ctx *ctx, const void *host, size_t bytes)
{
    void *p;
    MUST(kiln_malloc(ctx, bytes + 256, &p));
    MUST(kiln_upload(ctx, p, host, bytes));
    return p;
}

int main(int argc, char **argv)
{
    kiln_ctx *ctx;
    kiln_problem p;
    if (argc < 2) return fprintf(stderr, "usage: large_scales PROBLEM [INSTANCE]\n"), 2;
    const kiln_status opened = kiln_open(&ctx, NULL);
    if (opened == KILN_NO_DEVICE) return 77;
    MUST(opened);
    MUST(kiln_problem_parse(argv[1], &p));
    const size_t m = (size_t)p.m, n = (size_t)p.n, k = (size_t)p.k, of_e = kiln_dtype_size(p.e.dtype);
    const size_t values = n * (k / 16 + 1); // of each input at most
    uint16_t *const a = room(m * k * 2), *const scale = room(values * 2);
    unsigned char *const b = room(n * (k + 1) / 2), *const zero = room(values);
    void *const e = room(m * n * of_e);
    // bf16: 2^126 and a third more, of which three times the difference of a weight and a zero point are numbers; and a
    // little of everything below that.
    for (size_t i = 0; i < values; i++)
        scale[i] = (uint16_t)(dice(2) ? 0x7e80 + dice(40) : 0x7e00 + dice(128)) | (uint16_t)(dice(2) << 15);
    for (size_t i = 0; i < m * k; i++)
        kr_encode(p.a.dtype, ldexp(1 + dice(256) / 256.0, -120), (kr_at){(char *)(a + i), 0});
    for (size_t i = 0; i < n * (k + 1) / 2; i++) b[i] = (unsigned char)(0x88 + dice(4) + (dice(4) << 4));
    for (size_t i = 0; i < values; i++) zero[i] = (unsigned char)(0x88 + dice(4) + (dice(4) << 4));
    kiln_args host = {.struct_size = sizeof host, .a = a, .b = {b}, .d = {scale, zero}, .e = e}, args = host;
    args.a = on_device(ctx, a, m * k * 2), args.b[0] = on_device(ctx, b, n * (k + 1) / 2);
    args.d[0] = on_device(ctx, scale, values * 2), args.d[1] = on_device(ctx, zero, values);
    double *const lo = malloc(m * n * sizeof *lo), *const hi = malloc(m * n * sizeof *hi);
    must(lo && hi, "no memory");
    MUST(kiln_reference_bounds(&p, &host, lo, hi));
    const kiln_kernel *kernel[INSTANCES];
    size_t kernels = INSTANCES, tried = 0, determined = 0;
    int failed = 0;
    for (size_t i = 0; i < m * n; i++) determined += isfinite(lo[i]) && isfinite(hi[i]);
    must(determined * 10 > m * n * 9, "the reference determines too few elements");
    MUST(kiln_find_all(ctx, &p, kernel, &kernels));
    for (size_t x = 0; x < kernels && x < INSTANCES; x++) {
        kiln_kernel_info info = {.struct_size = sizeof info};
        MUST(kiln_kernel_describe(kernel[x], &info));
        if (argc > 2 && !strstr(info.name, argv[2])) continue;
        tried++;
        args.e = (void *)(uintptr_t)on_device(ctx, e, m * n * of_e);
        args.workspace_size = kiln_workspace_size(kernel[x], &p);
        MUST(kiln_malloc(ctx, args.workspace_size + 1, &args.workspace));
        MUST(kiln_launch(ctx, kernel[x], &p, &args, NULL));
        char *const got = room(m * n * of_e);
        MUST(kiln_download(ctx, got, args.e, m * n * of_e));
        size_t wrong = 0;
        for (size_t i = 0; i < m * n; i++) {
            const double v = kr_decode(p.e.dtype, (kr_at){got + i * of_e, 0});
            if (isfinite(lo[i]) && isfinite(hi[i])) wrong += !(v >= lo[i] && v <= hi[i]);
        }
        printf("%s: %zu of %zu elements are off\n", info.name, wrong, determined);
        failed |= wrong != 0;
        kiln_free(ctx, args.workspace), kiln_free(ctx, args.e);
        free(got);
    }
    must(tried > 0, "no such instance");
    for (int i = 0; i < 2; i++) kiln_free(ctx, (void *)(uintptr_t)args.d[i]);
    kiln_free(ctx, (void *)(uintptr_t)args.a), kiln_free(ctx, (void *)(uintptr_t)args.b[0]);
    free(a), free(scale), free(b), free(zero), free(e), free(lo), free(hi);
    kiln_close(ctx);
    return failed;
}
