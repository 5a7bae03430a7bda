// SPDX-License-Identifier: MIT
// What programs that compare instances with the reference's bounds share: memory here and on the
// device, dice, and all legal instances one after the other.  A failure ends the program with 1 and
// says of what.
#ifndef WITHIN_H
#define WITHIN_H
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

static inline void must(bool good, const char *what)
{
    if (good) return;
    fprintf(stderr, "%s: %s\n", what, kiln_error());
    exit(1);
}
#define MUST(call) must((call) == KILN_OK, #call)

/* The default device; exits with 77 where it is not there. */
static inline kiln_ctx *opened(void)
{
    kiln_ctx *ctx;
    const kiln_status status = kiln_open(&ctx, NULL);
    if (status == KILN_NO_DEVICE) exit(77);
    MUST(status);
    return ctx;
}

/* Knuth's MMIX generator (TAOCP 2, 3.3.4): its upper bits. */
static inline uint32_t dice(uint32_t below)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % below);
}

typedef struct memory {
    void *host, *device;
    size_t bytes;
} memory;

static inline memory room(size_t bytes)
{
    memory m = {aligned_alloc(256, (bytes + 256) / 256 * 256), NULL, bytes};
    must(m.host != NULL, "no memory");
    memset(m.host, 0, bytes);
    return m;
}

static inline void put(kiln_ctx *ctx, memory *m)
{
    MUST(kiln_malloc(ctx, m->bytes + 256, &m->device));
    MUST(kiln_upload(ctx, m->device, m->host, m->bytes));
}

static inline void drop(kiln_ctx *ctx, memory *m)
{
    kiln_free(ctx, m->device);
    free(m->host);
}

static inline void set(const memory *m, kiln_dtype type, int64_t at, double x)
{
    kr_encode(type, x, (kr_at){(char *)m->host + at * (int64_t)kiln_dtype_size(type), 0});
}

/* Results of `outs` outputs, one behind the other as the reference has their bounds. */
typedef struct outputs {
    memory *of[2];
    kiln_dtype type[2];
    int64_t elements[2];
    int outs;
    const double *lo, *hi;
} outputs;

/* Where nothing is known of an element nothing is wrong; where it is NaN, another number is. */
static inline bool off(double lo, double hi, double x)
{
    if (lo > hi || (lo == -INFINITY && hi == INFINITY)) return false;
    return isnan(lo) ? !isnan(x) : !(x >= lo && x <= hi);
}

/* Launches each legal instance with `part` (NULL: any) in its name.  True: all are within the
 * bounds. */
static inline bool all_within(kiln_ctx *ctx, const kiln_problem *p, kiln_args *args,
                              const outputs *o, const char *part)
{
    const kiln_kernel *kernel[64];
    size_t kernels = sizeof kernel / sizeof *kernel, tried = 0;
    bool good = true;
    MUST(kiln_find_all(ctx, p, kernel, &kernels));
    must(kernels <= sizeof kernel / sizeof *kernel, "more instances than there is room for");
    for (size_t n = 0; n < kernels; n++) {
        kiln_kernel_info info = {.struct_size = sizeof info};
        MUST(kiln_kernel_describe(kernel[n], &info));
        if (part && !strstr(info.name, part)) continue;
        tried++;
        args->workspace_size = kiln_workspace_size(kernel[n], p);
        MUST(kiln_malloc(ctx, args->workspace_size + 1, &args->workspace));
        for (int i = 0; i < o->outs; i++) {
            memset(o->of[i]->host, 0, o->of[i]->bytes);
            MUST(kiln_upload(ctx, o->of[i]->device, o->of[i]->host, o->of[i]->bytes));
        }
        MUST(kiln_launch(ctx, kernel[n], p, args, NULL));
        int64_t wrong = 0, all = 0;
        for (int i = 0; i < o->outs; i++) {
            MUST(kiln_download(ctx, o->of[i]->host, o->of[i]->device, o->of[i]->bytes));
            const int64_t size = (int64_t)kiln_dtype_size(o->type[i]);
            for (int64_t e = 0; e < o->elements[i]; e++, all++)
                wrong += off(o->lo[all], o->hi[all],
                             kr_decode(o->type[i], (kr_at){(char *)o->of[i]->host + e * size, 0}));
        }
        printf("%s: %lld of %lld elements are off\n", info.name, (long long)wrong, (long long)all);
        good = good && !wrong;
        kiln_free(ctx, args->workspace);
    }
    must(tried > 0, "no such instance");
    return good;
}
#endif
