// SPDX-License-Identifier: MIT
// What a function says of itself, and how many workgroups of it a compute unit holds.
#include <string.h>
#include "hip.h"

enum {
    MOST_THREADS = 1024,
    WAVE = 64,
    SIMDS = 4,
    WAVES_OF_SIMD = 8,
    VGPRS_OF_SIMD = 512, /* both kinds together, per lane */
    VGPR_STEP = 8,
    GROUPS_OF_UNIT = 32,
    LDS_STEP = 512,
};

static uint32_t round_up(uint32_t n, uint32_t step)
{
    return (n + step - 1) / step * step;
}

int khip_groups_per_unit(const ks_kernel *k, uint32_t threads, size_t dynamic_lds)
{
    if (!threads || threads > MOST_THREADS || k->lds + dynamic_lds > KS_MAX_LDS) return 0;
    const uint32_t waves = (threads + WAVE - 1) / WAVE;
    const uint32_t vgprs = round_up(k->vgprs ? k->vgprs : 1, VGPR_STEP);
    uint32_t of_simd = VGPRS_OF_SIMD / vgprs;
    if (of_simd > WAVES_OF_SIMD) of_simd = WAVES_OF_SIMD;
    uint32_t groups = of_simd * SIMDS / waves;
    const uint32_t lds = round_up(k->lds + (uint32_t)dynamic_lds, LDS_STEP);
    if (lds && KS_MAX_LDS / lds < groups) groups = KS_MAX_LDS / lds;
    return (int)(groups < GROUPS_OF_UNIT ? groups : GROUPS_OF_UNIT);
}

/* ---- attributes ---- */

typedef struct attributes { /* hipFuncAttributes */
    int binary_version, cache_mode;
    size_t constants, local;
    int dynamic_lds, threads, registers, carveout, ptx_version;
    size_t lds;
} attributes;

static attributes describe(const khip_function *f)
{
    const ks_kernel *k = f->kernel;
    const khip_chip *c = khip_device_of(f->module->device)->chip;
    return (attributes){.binary_version = c->major * 10 + c->minor,
                        .constants = khip_registered_constants(f->module),
                        .local = k->scratch,
                        .dynamic_lds = KS_MAX_LDS - (int)k->lds,
                        .threads = k->max_threads ? (int)k->max_threads : MOST_THREADS,
                        .registers = (int)k->vgprs,
                        .ptx_version = c->major * 10 + c->minor,
                        .lds = k->lds};
}

int khip_function_of(const void *host, khip_function **out)
{
    if (khip_handle_is(host, KHIP_FUNCTION)) {
        *out = (khip_function *)(uintptr_t)host;
        return 0;
    }
    return khip_registered_function(host, out);
}

HIP(hipFuncGetAttributes, (attributes * out, const void *host), (out, host))
{
    khip_function *f;
    if (!out) return E_InvalidValue;
    const int code = khip_function_of(host, &f);
    if (code == 0) *out = describe(f);
    return code;
}

/* hipFunction_attribute's number, member of what describe() says */
#define FUNCTION_ATTRIBUTES(X)                                                                     \
    X(0, threads)                                                                                  \
    X(1, lds)                                                                                      \
    X(2, constants)                                                                                \
    X(3, local)                                                                                    \
    X(4, registers)                                                                                \
    X(5, ptx_version)                                                                              \
    X(6, binary_version)                                                                           \
    X(7, cache_mode)                                                                               \
    X(8, dynamic_lds)                                                                              \
    X(9, carveout)

HIP(hipFuncGetAttribute, (int *out, int attribute, void *f), (out, attribute, f))
{
    if (!out) return E_InvalidValue;
    if (!khip_handle_is(f, KHIP_FUNCTION)) return E_InvalidDeviceFunction;
    const attributes a = describe(f);
#define X(number, member)                                                                          \
    if (attribute == number) {                                                                     \
        *out = (int)a.member;                                                                      \
        return 0;                                                                                  \
    }
    FUNCTION_ATTRIBUTES(X)
#undef X
    return E_InvalidValue;
}

enum { DYNAMIC_LDS = 8, CARVEOUT = 9, CACHE_CONFIGS = 3, BANK_CONFIGS = 2 };
HIP(hipFuncSetAttribute, (const void *host, int attribute, int value), (host, attribute, value))
{
    khip_function *f;
    if (attribute != DYNAMIC_LDS && attribute != CARVEOUT) return E_InvalidValue;
    const int code = khip_function_of(host, &f);
    if (code) return code;
    if (attribute == CARVEOUT) return value < -1 || value > 100 ? E_InvalidValue : 0;
    return value < 0 || (uint32_t)value + f->kernel->lds > KS_MAX_LDS ? E_InvalidValue : 0;
}

HIP(hipFuncSetCacheConfig, (const void *host, int config), (host, config))
{
    return !host || config < 0 || config > CACHE_CONFIGS ? E_InvalidValue : 0;
}

HIP(hipFuncSetSharedMemConfig, (const void *host, int config), (host, config))
{
    return !host || config < 0 || config > BANK_CONFIGS ? E_InvalidValue : 0;
}

/* ---- occupancy ---- */

static int groups(int *out, const khip_function *f, int threads, size_t lds)
{
    if (!out || threads <= 0) return E_InvalidValue;
    *out = khip_groups_per_unit(f->kernel, (uint32_t)threads, lds);
    return 0;
}

/* The largest workgroup of those that keep most lanes of a compute unit busy. */
static int potential(int *grid, int *block, const khip_function *f, size_t lds, int limit)
{
    const attributes a = describe(f);
    const int most = limit > 0 && limit < a.threads ? limit : a.threads;
    int best = 0;
    if (!grid || !block) return E_InvalidValue;
    *block = *grid = 0;
    for (int threads = most / WAVE * WAVE; threads >= WAVE; threads -= WAVE) {
        const int n = khip_groups_per_unit(f->kernel, (uint32_t)threads, lds);
        if (n * threads <= best) continue;
        best = n * threads;
        *block = threads;
        *grid = n * khip_units(khip_device_of(f->module->device)->chip);
    }
    return 0;
}

HIP(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor,
    (int *out, void *f, int threads, size_t lds), (out, f, threads, lds))
{
    return khip_handle_is(f, KHIP_FUNCTION) ? groups(out, f, threads, lds)
                                            : E_InvalidDeviceFunction;
}

HIP(hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
    (int *out, void *f, int threads, size_t lds, unsigned flags), (out, f, threads, lds, flags))
{
    (void)flags;
    return khip_handle_is(f, KHIP_FUNCTION) ? groups(out, f, threads, lds)
                                            : E_InvalidDeviceFunction;
}

HIP(hipModuleOccupancyMaxPotentialBlockSize,
    (int *grid, int *block, void *f, size_t lds, int limit), (grid, block, f, lds, limit))
{
    return khip_handle_is(f, KHIP_FUNCTION) ? potential(grid, block, f, lds, limit)
                                            : E_InvalidDeviceFunction;
}

HIP(hipModuleOccupancyMaxPotentialBlockSizeWithFlags,
    (int *grid, int *block, void *f, size_t lds, int limit, unsigned flags),
    (grid, block, f, lds, limit, flags))
{
    (void)flags;
    return body_hipModuleOccupancyMaxPotentialBlockSize(grid, block, f, lds, limit);
}

HIP(hipOccupancyMaxActiveBlocksPerMultiprocessor,
    (int *out, const void *host, int threads, size_t lds), (out, host, threads, lds))
{
    khip_function *f;
    const int code = khip_function_of(host, &f);
    return code ? code : groups(out, f, threads, lds);
}

HIP(hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
    (int *out, const void *host, int threads, size_t lds, unsigned flags),
    (out, host, threads, lds, flags))
{
    (void)flags;
    return body_hipOccupancyMaxActiveBlocksPerMultiprocessor(out, host, threads, lds);
}

HIP(hipOccupancyMaxPotentialBlockSize,
    (int *grid, int *block, const void *host, size_t lds, int limit),
    (grid, block, host, lds, limit))
{
    khip_function *f;
    const int code = khip_function_of(host, &f);
    return code ? code : potential(grid, block, f, lds, limit);
}
