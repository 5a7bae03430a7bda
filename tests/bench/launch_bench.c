// SPDX-License-Identifier: MIT
// CPU cost of kiln_launch on a GPU beside the driver's own launch of the same kernel with the same
// arguments: rounds of launches that fit the driver's queue, in turn, medians.  Exit 77 where there
// is no GPU.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <kiln.h>
#include "kiln_args.h"

enum { ROUNDS = 41, LAUNCHES = 400 };

typedef int (*retain_fn)(void **, int);
typedef int (*current_fn)(void *);
typedef int (*load_fn)(void **, const void *);
typedef int (*function_fn)(void **, void *, const char *);
typedef int (*launch_fn)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                         unsigned, void *, void **, void **);

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static double median(double *v)
{
    qsort(v, ROUNDS, sizeof *v, ascending);
    return v[ROUNDS / 2];
}

static int fail(const char *what)
{
    fprintf(stderr, "launch_bench: %s: %s\n", what, kiln_error());
    return 1;
}

/* Makes the context that kiln uses current here, as a framework's thread has it; HIP does so by
 * itself. */
static int enter_context(void *lib)
{
    void *context;
    retain_fn retain;
    current_fn set;
    *(void **)&retain = dlsym(lib, "cuDevicePrimaryCtxRetain");
    *(void **)&set = dlsym(lib, "cuCtxSetCurrent");
    return retain && set && retain(&context, 0) == 0 && set(context) == 0;
}

/* The driver's launch and the kernel's function in a module of our own; NULL where something is
 * missing. */
static launch_fn bind_driver(int nvidia, const kiln_kernel_info *info, void **function)
{
    void *lib = dlopen(nvidia ? "libcuda.so.1" : "libamdhip64.so", RTLD_NOW);
    void *module;
    load_fn load;
    function_fn get;
    launch_fn launch;
    if (!lib || (nvidia && !enter_context(lib))) return NULL;
    *(void **)&load = dlsym(lib, nvidia ? "cuModuleLoadData" : "hipModuleLoadData");
    *(void **)&get = dlsym(lib, nvidia ? "cuModuleGetFunction" : "hipModuleGetFunction");
    *(void **)&launch = dlsym(lib, nvidia ? "cuLaunchKernel" : "hipModuleLaunchKernel");
    if (!load || !get || !launch || load(&module, info->code)) return NULL;
    return get(function, module, info->symbol[0]) ? NULL : launch;
}

int main(void)
{
    kiln_ctx *ctx;
    kiln_problem p;
    const kiln_kernel *kernel[2];
    size_t count = 2;
    kiln_device_info device = {.struct_size = sizeof device};
    kiln_kernel_info info = {.struct_size = sizeof info};
    void *memory, *stream, *function;
    if (kiln_open(&ctx, NULL) || kiln_device_describe(ctx, &device)) return fail("open");
    if (strcmp(device.vendor, "host") == 0) {
        fprintf(stderr, "launch_bench: no GPU here\n");
        return 77;
    }
    if (kiln_problem_parse("gemm f32,f32,f32 rcr m=1 n=1 k=1", &p) ||
        kiln_find_all(ctx, &p, kernel, &count) || kiln_malloc(ctx, 4096, &memory) ||
        kiln_stream_create(ctx, &stream))
        return fail("prepare");
    size_t one = 0; /* a kernel of one stage, for a like comparison */
    while (one < count && (kiln_kernel_describe(kernel[one], &info) || info.nsymbols != 1)) one++;
    if (one == count) return fail("no instance of one stage");
    char *const base = memory;
    const kiln_args args = {
        .struct_size = sizeof args, .a = base, .b = {base + 256}, .e = base + 512};
    if (kiln_launch(ctx, kernel[one], &p, &args, stream) || kiln_synchronize(ctx, stream))
        return fail("launch");
    const launch_fn launch = bind_driver(strcmp(device.vendor, "nvidia") == 0, &info, &function);
    if (!launch) return fail("the driver");
    kiln_gemm_args raw = {.a = base,
                          .b = {base + 256},
                          .e = base + 512,
                          .lda = 1,
                          .ldb = 1,
                          .lde = 1,
                          .m = 1,
                          .n = 1,
                          .k = 1,
                          .batch = 1,
                          .units = device.units};
    void *params[] = {&raw};
    unsigned threads = 0;
    for (size_t i = 0; i < info.nvalues; i++)
        if (strcmp(info.value_name[i], "threads") == 0) threads = (unsigned)info.value[i];
    double ours[ROUNDS], driver[ROUNDS];
    for (int r = 0; r < ROUNDS; r++) {
        double start = now();
        for (int i = 0; i < LAUNCHES; i++)
            if (kiln_launch(ctx, kernel[one], &p, &args, stream)) return fail("launch");
        ours[r] = (now() - start) / (double)LAUNCHES;
        if (kiln_synchronize(ctx, stream)) return fail("synchronize");
        start = now();
        for (int i = 0; i < LAUNCHES; i++)
            if (launch(function, 1, 1, 1, threads, 1, 1, 0, stream, params, NULL))
                return fail("the driver's launch");
        driver[r] = (now() - start) / (double)LAUNCHES;
        if (kiln_synchronize(ctx, stream)) return fail("synchronize");
    }
    const double k = median(ours) * 1e6, d = median(driver) * 1e6;
    printf("%s: kiln_launch %.3f us, driver %.3f us, beyond the driver %.3f us (%s)\n", device.name,
           k, d, k - d, info.name);
    kiln_close(ctx);
    return 0;
}
