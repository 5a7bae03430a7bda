// SPDX-License-Identifier: MIT
// See fake_driver.h.  One library serves as libcuda.so.1 and as libamdhip64.so.6.  tests/emul
// builds on it, too: with weak entry points (API), of which it has some of its own.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <kiln_args.h>
#include <kiln_realign.h>
#include "fake_driver.h"
#include "fixture_families.h"

#ifndef API
#define API __attribute__((visibility("default")))
#endif
API fake_state fake_record = {.devices = 1,
                              .major = 9,
                              .minor = 0,
                              .units = 132,
                              .shared_optin = 232448,
                              .memory_khz = 3201000,
                              .memory_bits = 6144,
                              .arch = {"gfx942:sramecc+:xnack-"},
                              .worst_mode_at_load = -1};
#define S fake_record
typedef unsigned u32;

/* The code of the wanted failure, else 0. */
static int called(const char *nv, const char *amd)
{
    atomic_fetch_add(&S.calls, 1);
    if (!S.fail || (strcmp(S.fail, nv) != 0 && strcmp(S.fail, amd) != 0)) return 0;
    return S.fail_after-- > 0 ? 0 : S.fail_code;
}

/* Defines both names of one entry point. */
// clang-format off
#define BOTH(nv, amd, parameters, arguments, ...)      \
    API int nv parameters;                             \
    API int amd parameters;                            \
    static int do_##nv parameters __VA_ARGS__          \
    int nv parameters                                  \
    {                                                  \
        const int code = called(#nv, #amd);            \
        return code ? code : do_##nv arguments;        \
    }                                                  \
    int amd parameters                                 \
    {                                                  \
        const int code = called(#nv, #amd);            \
        return code ? code : do_##nv arguments;        \
    }
// clang-format on

/* ---- devices ---- */
BOTH(cuInit, hipInit, (u32 flags), (flags), {
    (void)flags;
    return 0;
})
API int cuDriverGetVersion(int *version);
int cuDriverGetVersion(int *version)
{
    *version = 12030;
    return 0;
}
BOTH(cuDeviceGetCount, hipGetDeviceCount, (int *n), (n), {
    *n = S.devices;
    return 0;
})
BOTH(cuDeviceGet, hipDeviceGet, (int *d, int i), (d, i), {
    *d = i + 100;
    return 0;
})
BOTH(cuDeviceGetName, hipDeviceGetName, (char *p, int len, int d), (p, len, d), {
    snprintf(p, (size_t)len, "Fake GPU %d", d - 100);
    return 0;
})
BOTH(cuDeviceTotalMem_v2, hipDeviceTotalMem, (size_t * n, int d), (n, d), {
    (void)d;
    *n = 1u << 30;
    return 0;
})

static int attribute(int *v, int id, int nvidia)
{
    const int units = nvidia ? 16 : 63, l2 = nvidia ? 38 : 19;
    *v = id == units ? S.units
         : id == l2  ? 50 << 20
         : id == 36  ? S.memory_khz
         : id == 37  ? S.memory_bits
         : id == 75  ? S.major
         : id == 76  ? S.minor
         : id == 97  ? S.shared_optin
                     : 0;
    return 0;
}
API int cuDeviceGetAttribute(int *v, int id, int d);
API int hipDeviceGetAttribute(int *v, int id, int d);
int cuDeviceGetAttribute(int *v, int id, int d)
{
    (void)d;
    const int code = called("cuDeviceGetAttribute", "");
    return code ? code : attribute(v, id, 1);
}
int hipDeviceGetAttribute(int *v, int id, int d)
{
    (void)d;
    const int code = called("", "hipDeviceGetAttribute");
    return code ? code : attribute(v, id, 0);
}

/* The architecture stands at another offset in each version's struct. */
API int hipGetDevicePropertiesR0600(void *p, int d);
API int hipGetDeviceProperties(void *p, int d);
static int properties(void *p, int d, size_t offset)
{
    memset(p, 0x11, offset);
    strcpy(p, "AMD Instinct, made up");
    if (S.arch[d - 100]) strcpy((char *)p + offset, S.arch[d - 100]);
    return 0;
}
int hipGetDevicePropertiesR0600(void *p, int d)
{
    return S.old_properties ? 1 : properties(p, d, 1160);
}
int hipGetDeviceProperties(void *p, int d)
{
    return properties(p, d, 396);
}

/* ---- the current device ---- */
static char context[4];
API int cuDevicePrimaryCtxRetain(void **c, int d);
int cuDevicePrimaryCtxRetain(void **c, int d)
{
    const int code = called("cuDevicePrimaryCtxRetain", "");
    if (code) return code;
    S.retained++;
    *c = &context[d - 100];
    return 0;
}
API int cuDevicePrimaryCtxRelease_v2(int d);
int cuDevicePrimaryCtxRelease_v2(int d)
{
    (void)d;
    S.released++;
    return 0;
}
API int cuCtxGetCurrent(void **c);
int cuCtxGetCurrent(void **c)
{
    *c = S.current;
    return called("cuCtxGetCurrent", "");
}
API int cuCtxPushCurrent_v2(void *c);
static void *below;
int cuCtxPushCurrent_v2(void *c)
{
    const int code = called("cuCtxPushCurrent_v2", "");
    if (code) return code;
    S.pushes++;
    below = S.current;
    S.current = c;
    return 0;
}
API int cuCtxPopCurrent_v2(void **c);
int cuCtxPopCurrent_v2(void **c)
{
    S.pops++;
    *c = S.current;
    S.current = below;
    return 0;
}
API int hipGetDevice(int *d);
int hipGetDevice(int *d)
{
    *d = S.set_device;
    return called("", "hipGetDevice");
}
API int hipSetDevice(int d);
int hipSetDevice(int d)
{
    const int code = called("", "hipSetDevice");
    if (code) return code;
    S.pushes++;
    S.set_device = d;
    return 0;
}

/* ---- memory, streams, events ---- */
BOTH(cuMemAlloc_v2, hipMalloc, (void **p, size_t n), (p, n), {
    *p = aligned_alloc(256, (n + 255) & ~(size_t)255);
    return *p ? 0 : 2;
})
BOTH(cuMemFree_v2, hipFree, (void *p), (p), {
    S.freed = p;
    free(p);
    return 0;
})
BOTH(cuMemcpyHtoDAsync_v2, hipMemcpyHtoDAsync, (void *to, const void *from, size_t n, void *s),
     (to, from, n, s), {
         (void)s;
         memcpy(to, from, n);
         return 0;
     })
BOTH(cuMemcpyDtoHAsync_v2, hipMemcpyDtoHAsync, (void *to, const void *from, size_t n, void *s),
     (to, from, n, s), {
         (void)s;
         memcpy(to, from, n);
         return 0;
     })
BOTH(cuStreamCreate, hipStreamCreateWithFlags, (void **s, u32 flags), (s, flags), {
    *s = malloc(1);
    return flags == 1 ? 0 : 1;
})
BOTH(cuStreamDestroy_v2, hipStreamDestroy, (void *s), (s), {
    free(s);
    return 0;
})
BOTH(cuStreamSynchronize, hipStreamSynchronize, (void *s), (s), {
    (void)s;
    return 0;
})
BOTH(cuEventCreate, hipEventCreateWithFlags, (void **e, u32 flags), (e, flags), {
    (void)flags;
    *e = malloc(1);
    return 0;
})
BOTH(cuEventDestroy_v2, hipEventDestroy, (void *e), (e), {
    free(e);
    return 0;
})
BOTH(cuEventRecord, hipEventRecord, (void *e, void *s), (e, s), {
    (void)e;
    (void)s;
    return 0;
})
BOTH(cuEventSynchronize, hipEventSynchronize, (void *e), (e), {
    (void)e;
    return 0;
})
BOTH(cuEventElapsedTime, hipEventElapsedTime, (float *ms, void *a, void *b), (ms, a, b), {
    (void)a;
    (void)b;
    *ms = 2;
    return 0;
})

/* ---- capture and graphs ---- */
BOTH(cuStreamBeginCapture_v2, hipStreamBeginCapture, (void *s, int mode), (s, mode), {
    (void)s;
    (void)mode;
    S.capturing = 1;
    return 0;
})
BOTH(cuStreamEndCapture, hipStreamEndCapture, (void *s, void **g), (s, g), {
    (void)s;
    S.capturing = 0;
    *g = malloc(1);
    return 0;
})
BOTH(cuThreadExchangeStreamCaptureMode, hipThreadExchangeStreamCaptureMode, (int *mode), (mode), {
    const int old = S.capture_mode;
    S.capture_mode = *mode;
    *mode = old;
    return 0;
})
/* Where a stream that waits for the default one is captured, that one cannot be asked. */
BOTH(cuStreamIsCapturing, hipStreamIsCapturing, (void *s, int *status), (s, status), {
    enum { CAPTURE_IMPLICIT = 906 };
    *status = s ? S.capturing : 0;
    return !s && S.other_capture ? CAPTURE_IMPLICIT : 0;
})
API int cuGraphInstantiateWithFlags(void **x, void *g, unsigned long long flags);
int cuGraphInstantiateWithFlags(void **x, void *g, unsigned long long flags)
{
    (void)g, (void)flags;
    const int code = called("cuGraphInstantiateWithFlags", "");
    if (code == 0) *x = malloc(1);
    return code;
}
API int hipGraphInstantiate(void **x, void *g, void *node, void *log, size_t size);
int hipGraphInstantiate(void **x, void *g, void *node, void *log, size_t size)
{
    (void)g, (void)node, (void)log, (void)size;
    const int code = called("", "hipGraphInstantiate");
    if (code == 0) *x = malloc(1);
    return code;
}
BOTH(cuGraphLaunch, hipGraphLaunch, (void *x, void *s), (x, s), {
    (void)x;
    (void)s;
    S.graph_launches++;
    return 0;
})
BOTH(cuGraphDestroy, hipGraphDestroy, (void *g), (g), {
    free(g);
    return 0;
})
BOTH(cuGraphExecDestroy, hipGraphExecDestroy, (void *x), (x), {
    free(x);
    return 0;
})

/* ---- code ---- */
BOTH(cuModuleLoadData, hipModuleLoadData, (void **m, const void *image), (m, image), {
    (void)image;
    S.loads++;
    if (S.capture_mode != 2) S.worst_mode_at_load = S.capture_mode;
    *m = malloc(1);
    return 0;
})
BOTH(cuModuleUnload, hipModuleUnload, (void *m), (m), {
    S.unloads++;
    free(m);
    return 0;
})
BOTH(cuModuleGetFunction, hipModuleGetFunction, (void **f, void *m, const char *name), (f, m, name),
     {
         (void)m;
         *f = (void *)(uintptr_t)name; /* a string of the module's: lives as long */
         return 0;
     })
API int cuFuncSetAttribute(void *f, int id, int v);
int cuFuncSetAttribute(void *f, int id, int v)
{
    (void)f;
    S.function_attribute[id] = v;
    return called("cuFuncSetAttribute", "");
}
API int cuFuncGetAttribute(int *v, int id, void *f);
int cuFuncGetAttribute(int *v, int id, void *f)
{
    (void)f, (void)id;
    *v = 1000; /* static shared memory */
    return called("cuFuncGetAttribute", "");
}

/* ---- launches ---- */
/* What the stand-in's tensor maps hold; the device reads nothing else. */
typedef struct opaque_map {
    uint64_t number, base, dim[3], stride[2];
    unsigned box[3], swizzle, type, promotion;
    unsigned char pad[47], mark;
} opaque_map;
_Static_assert(sizeof(opaque_map) == 128, "a tensor map's size");

/* Of f32, outer runs of k elements, the fixture's forms; B's are panels of 8. */
static int wrong_map(const void *p, const void *base, int outer, int k, int panel, int64_t ld,
                     int64_t stride)
{
    opaque_map m;
    memcpy(&m, p, sizeof m);
    return m.mark != 0x77 || m.base != (uintptr_t)base ||
           m.dim[0] != (uint64_t)(panel ? panel : k) || m.dim[1] != (uint64_t)outer ||
           m.stride[0] != (uint64_t)ld * 4 || (panel && m.dim[2] != (uint64_t)(k / panel)) ||
           (m.dim[2] > 1 && m.stride[1] != (uint64_t)(panel ? panel : stride) * 4) || m.type != 7;
}

static int record(const unsigned grid[3], const unsigned block[3], const unsigned cluster[3],
                  unsigned lds, unsigned early, void *stream, void *f, void **params)
{
    const int n = atomic_fetch_add(&S.launches, 1) % FAKE_LAUNCHES;
    if (S.check_maps) {
        kiln_gemm_args g;
        memcpy(&g, params[0], sizeof g);
        if (wrong_map(params[1], g.a, g.m, g.k, 0, g.lda, g.stride_a) ||
            wrong_map((char *)params[1] + 128, g.b[0], g.n, g.k, 8, g.ldb, g.stride_b))
            atomic_fetch_add(&S.wrong_maps, 1);
        return 0;
    }
    fake_launch *l = &S.launch[n];
    memcpy(l->grid, grid, sizeof l->grid);
    memcpy(l->block, block, sizeof l->block);
    memcpy(l->cluster, cluster, sizeof l->cluster);
    l->lds = lds;
    l->early = early;
    l->stream = stream;
    l->function = f;
    const int copies = strcmp(f, KILN_REALIGN_SYMBOL) == 0;
    memcpy(l->args, params[0], copies ? FAKE_ARGS : sizeof(kiln_gemm_args));
    if (S.maps > 0 && !copies) memcpy(l->map, params[1], 2 * 128);
    return 0;
}
BOTH(cuLaunchKernel, hipModuleLaunchKernel,
     (void *f, u32 gx, u32 gy, u32 gz, u32 bx, u32 by, u32 bz, u32 lds, void *stream, void **params,
      void **extra),
     (f, gx, gy, gz, bx, by, bz, lds, stream, params, extra), {
         (void)extra;
         const unsigned grid[3] = {gx, gy, gz}, block[3] = {bx, by, bz}, cluster[3] = {1, 1, 1};
         return record(grid, block, cluster, lds, 0, stream, f, params);
     })

typedef struct config {
    unsigned grid[3], block[3], lds;
    void *stream;
    struct {
        int id, pad;
        unsigned value[16];
    } * attribute;
    unsigned attributes;
} config;
API int cuLaunchKernelEx(const void *c, void *f, void **params, void **extra);
int cuLaunchKernelEx(const void *c, void *f, void **params, void **extra)
{
    (void)extra;
    const config *x = c;
    const int code = called("cuLaunchKernelEx", "");
    if (code) return code;
    unsigned cluster[3] = {1, 1, 1}, early = 0;
    for (unsigned i = 0; i < x->attributes; i++) switch (x->attribute[i].id) {
        case 4:
            memcpy(cluster, x->attribute[i].value, sizeof cluster);
            break;
        case 6:
            early = x->attribute[i].value[0];
            break;
        default:
            return 1;
        }
    return record(x->grid, x->block, cluster, x->lds, early, x->stream, f, params);
}
API int cuTensorMapEncodeTiled(void *out, int type, u32 rank, void *base, const uint64_t *dim,
                               const uint64_t *stride, const u32 *box, const u32 *step,
                               int interleave, int swizzle, int promotion, int fill);
int cuTensorMapEncodeTiled(void *out, int type, u32 rank, void *base, const uint64_t *dim,
                           const uint64_t *stride, const u32 *box, const u32 *step, int interleave,
                           int swizzle, int promotion, int fill)
{
    const int code = called("cuTensorMapEncodeTiled", "");
    if (code) return code;
    if ((uintptr_t)out % 64 || stride[0] % 16) return 1;
    const int n = atomic_fetch_add(&S.maps, 1);
    if (!S.check_maps) {
        fake_map *const m = &S.map[n % FAKE_LAUNCHES];
        *m = (fake_map){.type = type,
                        .interleave = interleave,
                        .swizzle = swizzle,
                        .promotion = promotion,
                        .fill = fill,
                        .rank = rank,
                        .base = base};
        for (u32 i = 0; i < rank && i < 5; i++) {
            m->box[i] = box[i], m->step[i] = step[i], m->dim[i] = dim[i];
            if (i) m->stride[i - 1] = stride[i - 1];
        }
    }
    const opaque_map m = {.number = (uint64_t)n % FAKE_LAUNCHES,
                          .base = (uintptr_t)base,
                          .dim = {dim[0], dim[1], dim[2]},
                          .stride = {stride[0], stride[1]},
                          .box = {box[0], box[1], box[2]},
                          .swizzle = (unsigned)swizzle,
                          .type = (unsigned)type,
                          .promotion = (unsigned)promotion,
                          .mark = 0x77};
    memcpy(out, &m, sizeof m);
    return 0;
}

API int cuTensorMapReplaceAddress(void *map, void *base);
int cuTensorMapReplaceAddress(void *map, void *base)
{
    const int code = called("cuTensorMapReplaceAddress", "");
    if (code) return code;
    if ((uintptr_t)map % 64 || (uintptr_t)base % 16) return 1;
    atomic_fetch_add(&S.replaced, 1);
    ((opaque_map *)map)->base = (uintptr_t)base;
    return 0;
}

/* ---- errors ---- */
API int cuGetErrorString(int code, const char **text);
int cuGetErrorString(int code, const char **text)
{
    *text = code == 200 ? "made-up image error" : code == 999 ? NULL : "made-up error";
    return 0;
}
API const char *hipGetErrorString(int code);
const char *hipGetErrorString(int code)
{
    return code == 200 ? "made-up image error" : "made-up error";
}
