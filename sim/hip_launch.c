// SPDX-License-Identifier: MIT
// Launches: sizes are checked, arguments packed by the kernel's own metadata, and the kernel run.
#include <stdlib.h>
#include <string.h>
#include "hip.h"

enum { MOST_THREADS = 1024 };

/* ---- arguments ---- */

enum { PARAM_BUFFER = 1, PARAM_SIZE = 2, PARAM_END = 3 };

/* extra: pairs of a key and a value, as hipModuleLaunchKernel takes them. */
static int pack_buffer(uint8_t *to, size_t room, void **extra)
{
    const void *buffer = NULL;
    size_t size = 0;
    for (; (uintptr_t)*extra != PARAM_END; extra += 2) {
        switch ((uintptr_t)*extra) {
        case PARAM_BUFFER:
            buffer = extra[1];
            break;
        case PARAM_SIZE:
            if (!extra[1]) return E_InvalidValue;
            memcpy(&size, extra[1], sizeof size);
            break;
        default:
            return E_InvalidValue;
        }
    }
    if (!buffer && size) return E_InvalidValue;
    if (size) memcpy(to, buffer, size < room ? size : room);
    return 0;
}

static int pack_each(uint8_t *to, size_t room, const ks_kernel *k, void **params)
{
    size_t next = 0;
    for (uint32_t i = 0; i < k->arg_count; i++) {
        const ks_arg *a = &k->args[i];
        if (a->hidden != KS_ARG_EXPLICIT) continue;
        if (!params || !params[next]) return E_InvalidValue;
        if (a->offset > room || a->size > room - a->offset) return E_InvalidImage;
        memcpy(to + a->offset, params[next++], a->size);
    }
    return 0;
}

int khip_pack(khip_run *r, void **params, void **extra)
{
    const ks_kernel *k = r->function->kernel;
    r->kernarg = calloc(1, k->kernarg_size ? k->kernarg_size : 1);
    if (!r->kernarg) return E_OutOfMemory;
    const int code = extra && !params ? pack_buffer(r->kernarg, k->kernarg_size, extra)
                                      : pack_each(r->kernarg, k->kernarg_size, k, params);
    if (code) free(r->kernarg);
    return code;
}

/* ---- sizes ---- */

int khip_check_sizes(const ks_kernel *k, const uint32_t grid[3], const uint32_t block[3],
                     size_t lds)
{
    uint64_t threads = 1;
    for (int i = 0; i < 3; i++) {
        if (!grid[i] || !block[i]) return E_InvalidConfiguration;
        if (block[i] > MOST_THREADS || (uint64_t)grid[i] * block[i] > UINT32_MAX)
            return E_InvalidConfiguration;
        threads *= block[i];
    }
    if (threads > MOST_THREADS) return E_InvalidConfiguration;
    if (k->max_threads && threads > k->max_threads)
        return khip_refuse(
            E_LaunchFailure,
            "%s: a workgroup of %llu work-items, but it was compiled for at most %u: "
            "raise __launch_bounds__",
            k->name, (unsigned long long)threads, k->max_threads);
    if (lds > KS_MAX_LDS || k->lds + lds > KS_MAX_LDS)
        return khip_refuse(E_InvalidValue,
                           "%s: %u bytes of LDS and %zu dynamic ones: a workgroup has %d: use less",
                           k->name, k->lds, lds, KS_MAX_LDS);
    return 0;
}

static int launch(khip_function *f, const uint32_t grid[3], const uint32_t block[3], size_t lds,
                  void *stream, void **params, void **extra, bool cooperative)
{
    khip_stream *s;
    int code = khip_stream_or(stream, E_InvalidValue, &s);
    if (code == 0 && s->device != f->module->device) code = E_InvalidHandle;
    if (code == 0) code = khip_check_sizes(f->kernel, grid, block, lds);
    if (code) return code;
    khip_op op = {.kind = KHIP_OP_RUN,
                  .run = {.function = f,
                          .grid = {grid[0], grid[1], grid[2]},
                          .block = {block[0], block[1], block[2]},
                          .lds = (uint32_t)lds,
                          .cooperative = cooperative}};
    code = khip_pack(&op.run, params, extra);
    if (code) return code;
    khip_module_retain(f->module); /* another thread may unload it meanwhile */
    code = khip_submit(s, &op);
    khip_module_release(f->module);
    free(op.run.kernarg);
    return code;
}

int khip_launch(khip_function *f, const uint32_t grid[3], const uint32_t block[3], size_t lds,
                void *stream, void **params, void **extra)
{
    return launch(f, grid, block, lds, stream, params, extra, false);
}

/* ---- by function ---- */

HIP(hipModuleLaunchKernel,
    (void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
     unsigned lds, void *stream, void **params, void **extra),
    (f, gx, gy, gz, bx, by, bz, lds, stream, params, extra))
{
    const uint32_t grid[3] = {gx, gy, gz}, block[3] = {bx, by, bz};
    if (params && extra) return E_InvalidValue;
    if (!khip_handle_is(f, KHIP_FUNCTION)) return E_InvalidHandle;
    return khip_launch(f, grid, block, lds, stream, params, extra);
}

/* Workgroups of a cooperative launch may wait for each other: the device must hold all of them at
 * once. */
static int check_cooperative(const khip_function *f, const uint32_t grid[3],
                             const uint32_t block[3], size_t lds)
{
    const int code = khip_check_sizes(f->kernel, grid, block, lds);
    if (code) return code;
    const int units = khip_units(khip_device_of(f->module->device)->chip);
    const int of_unit = khip_groups_per_unit(f->kernel, block[0] * block[1] * block[2], lds);
    const uint64_t most = (uint64_t)of_unit * (uint64_t)units, plane = (uint64_t)grid[0] * grid[1];
    return plane > most || plane * grid[2] > most ? E_CooperativeLaunchTooLarge : 0;
}

HIP(hipModuleLaunchCooperativeKernel,
    (void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
     unsigned lds, void *stream, void **params),
    (f, gx, gy, gz, bx, by, bz, lds, stream, params))
{
    const uint32_t grid[3] = {gx, gy, gz}, block[3] = {bx, by, bz};
    if (!khip_handle_is(f, KHIP_FUNCTION)) return E_InvalidHandle;
    const int code = check_cooperative(f, grid, block, lds);
    return code ? code : launch(f, grid, block, lds, stream, params, NULL, true);
}

static int record(void *event, void *stream)
{
    khip_stream *s;
    if (!event) return 0;
    if (!khip_handle_is(event, KHIP_EVENT)) return E_InvalidHandle;
    const int code = khip_stream_of(stream, &s);
    return code ? code : khip_submit(s, &(khip_op){.kind = KHIP_OP_RECORD, .event = event});
}

/* Global sizes are in work-items here. */
HIP(hipExtModuleLaunchKernel,
    (void *f, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz,
     size_t lds, void *stream, void **params, void **extra, void *start, void *stop,
     uint32_t flags),
    (f, gx, gy, gz, bx, by, bz, lds, stream, params, extra, start, stop, flags))
{
    if (!khip_handle_is(f, KHIP_FUNCTION)) return E_InvalidHandle;
    if (!bx || !by || !bz || (params && extra)) return E_InvalidValue;
    if (gx % bx || gy % by || gz % bz)
        return khip_refuse(E_NotSupported,
                           "hipExtModuleLaunchKernel: the grid is not a whole number "
                           "of workgroups, which the simulator does not run");
    const uint32_t grid[3] = {gx / bx, gy / by, gz / bz}, block[3] = {bx, by, bz};
    (void)flags;
    int code = record(start, stream);
    if (code == 0) code = khip_launch(f, grid, block, lds, stream, params, extra);
    return code ? code : record(stop, stream);
}

/* ROCm 5 exports these two by their C++ names. */
#define EXT_PARAMETERS                                                                             \
    (void *f, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz,        \
     size_t lds, void *stream, void **params, void **extra, void *start, void *stop,               \
     uint32_t flags)
HIP_TOO(
    _Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j,
    hipExtModuleLaunchKernel, EXT_PARAMETERS)

#define HCC_PARAMETERS                                                                             \
    (void *f, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz,        \
     size_t lds, void *stream, void **params, void **extra, void *start, void *stop)
HIP(_Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_,
    HCC_PARAMETERS, (f, gx, gy, gz, bx, by, bz, lds, stream, params, extra, start, stop))
{
    return body_hipExtModuleLaunchKernel(f, gx, gy, gz, bx, by, bz, lds, stream, params, extra,
                                         start, stop, 0);
}

/* ---- by the host's address of the kernel, as <<<>>> does ---- */

static int launch_host(const void *host, khip_dim grid, khip_dim block, void **params, size_t lds,
                       void *stream)
{
    const uint32_t g[3] = {grid.x, grid.y, grid.z}, b[3] = {block.x, block.y, block.z};
    khip_function *f;
    const int code = khip_registered_function(host, &f);
    return code ? code : khip_launch(f, g, b, lds, stream, params, NULL);
}

HIP(hipLaunchKernel,
    (const void *host, khip_dim grid, khip_dim block, void **params, size_t lds, void *stream),
    (host, grid, block, params, lds, stream))
{
    return launch_host(host, grid, block, params, lds, stream);
}
HIP_TOO(hipLaunchKernel_spt, hipLaunchKernel,
        (const void *host, khip_dim grid, khip_dim block, void **params, size_t lds, void *stream))

HIP(hipLaunchCooperativeKernel,
    (const void *host, khip_dim grid, khip_dim block, void **params, unsigned lds, void *stream),
    (host, grid, block, params, lds, stream))
{
    const uint32_t g[3] = {grid.x, grid.y, grid.z}, b[3] = {block.x, block.y, block.z};
    khip_function *f;
    int code = khip_registered_function(host, &f);
    if (code == 0) code = check_cooperative(f, g, b, lds);
    return code ? code : launch(f, g, b, lds, stream, params, NULL, true);
}
HIP_TOO(hipLaunchCooperativeKernel_spt, hipLaunchCooperativeKernel,
        (const void *host, khip_dim grid, khip_dim block, void **params, unsigned lds,
         void *stream))

HIP(hipExtLaunchKernel,
    (const void *host, khip_dim grid, khip_dim block, void **params, size_t lds, void *stream,
     void *start, void *stop, int flags),
    (host, grid, block, params, lds, stream, start, stop, flags))
{
    (void)flags;
    int code = record(start, stream);
    if (code == 0) code = launch_host(host, grid, block, params, lds, stream);
    return code ? code : record(stop, stream);
}

/* hip_impl::hipLaunchKernelGGLImpl, of HIP's templates: it has no result, its error is the last
 * one. */
KHIP_API void _ZN8hip_impl22hipLaunchKernelGGLImplEmRK4dim3S2_jP12ihipStream_tPPv(
    uintptr_t host, const khip_dim *grid, const khip_dim *block, uint32_t lds, void *stream,
    void **extra);
void _ZN8hip_impl22hipLaunchKernelGGLImplEmRK4dim3S2_jP12ihipStream_tPPv(uintptr_t host,
                                                                         const khip_dim *grid,
                                                                         const khip_dim *block,
                                                                         uint32_t lds, void *stream,
                                                                         void **extra)
{
    const uint32_t g[3] = {grid->x, grid->y, grid->z}, b[3] = {block->x, block->y, block->z};
    khip_function *f;
    int code = khip_usable();
    if (code == 0) code = khip_registered_function((const void *)host, &f);
    khip_last(code ? code : khip_launch(f, g, b, lds, stream, NULL, extra));
}

/* ---- what the compiler's <<<>>> calls: a stack of sizes of each thread ---- */

typedef struct configuration {
    khip_dim grid, block;
    size_t lds;
    void *stream;
} configuration;
enum { DEPTH = 64, ARGUMENTS = 4096 };
static _Thread_local struct {
    configuration at[DEPTH];
    unsigned count;
} stack;

HIP(__hipPushCallConfiguration, (khip_dim grid, khip_dim block, size_t lds, void *stream),
    (grid, block, lds, stream))
{
    if (stack.count == DEPTH) return E_OutOfMemory;
    stack.at[stack.count++] = (configuration){grid, block, lds, stream};
    return 0;
}

HIP(__hipPopCallConfiguration, (khip_dim * grid, khip_dim *block, size_t *lds, void **stream),
    (grid, block, lds, stream))
{
    if (!stack.count) return E_MissingConfiguration;
    const configuration *c = &stack.at[--stack.count];
    *grid = c->grid;
    *block = c->block;
    *lds = c->lds;
    *stream = c->stream;
    return 0;
}

/* The older way: sizes, then each argument, then the launch. */
static _Thread_local struct {
    uint8_t bytes[ARGUMENTS];
    size_t used;
} arguments;

HIP(hipConfigureCall, (khip_dim grid, khip_dim block, size_t lds, void *stream),
    (grid, block, lds, stream))
{
    arguments.used = 0;
    return body___hipPushCallConfiguration(grid, block, lds, stream);
}

HIP(hipSetupArgument, (const void *from, size_t size, size_t offset), (from, size, offset))
{
    if (!from || offset > ARGUMENTS || size > ARGUMENTS - offset) return E_InvalidValue;
    memcpy(arguments.bytes + offset, from, size);
    if (offset + size > arguments.used) arguments.used = offset + size;
    return 0;
}

HIP(hipLaunchByPtr, (const void *host), (host))
{
    configuration c;
    khip_function *f;
    int code = body___hipPopCallConfiguration(&c.grid, &c.block, &c.lds, &c.stream);
    if (code == 0) code = khip_registered_function(host, &f);
    if (code) return code;
    void *extra[] = {(void *)PARAM_BUFFER, arguments.bytes, (void *)PARAM_SIZE, &arguments.used,
                     (void *)PARAM_END};
    const uint32_t grid[3] = {c.grid.x, c.grid.y, c.grid.z};
    const uint32_t block[3] = {c.block.x, c.block.y, c.block.z};
    return khip_launch(f, grid, block, c.lds, c.stream, NULL, extra);
}
