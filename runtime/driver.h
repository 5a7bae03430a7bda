// SPDX-License-Identifier: MIT
// The entry points of a GPU driver that libkiln uses, by one name for both vendors: NVIDIA's driver
// API and AMD's HIP runtime (or a simulator with HIP's names).  Their enumerations are given as
// numbers: no GPU header is needed to build.
#ifndef KILN_DRIVER_H
#define KILN_DRIVER_H
#include "internal.h"

typedef unsigned u32;

/* field, result, arguments, NVIDIA's name, AMD's name ("": none there, "?": where it exists). */
#define KR_ENTRY_POINTS(X)                                                                        \
    X(init, int, (u32 flags), "cuInit", "hipInit")                                                \
    X(version, int, (int *), "?cuDriverGetVersion", "")                                           \
    X(device_count, int, (int *), "cuDeviceGetCount", "hipGetDeviceCount")                        \
    X(device_get, int, (int *, int ordinal), "cuDeviceGet", "hipDeviceGet")                       \
    X(device_name, int, (char *, int len, int device), "cuDeviceGetName", "hipDeviceGetName")     \
    X(device_memory, int, (size_t *, int device), "cuDeviceTotalMem_v2", "hipDeviceTotalMem")     \
    X(device_attribute, int, (int *, int attribute, int device),                                  \
      "cuDeviceGetAttribute", "hipDeviceGetAttribute")                                            \
    X(device_properties, int, (void *, int device), "", "?hipGetDevicePropertiesR0600")           \
    X(device_properties_old, int, (void *, int device), "", "?hipGetDeviceProperties")            \
    X(context_retain, int, (void **, int device), "cuDevicePrimaryCtxRetain", "")                 \
    X(context_release, int, (int device), "cuDevicePrimaryCtxRelease_v2", "")                     \
    X(context_get, int, (void **), "cuCtxGetCurrent", "")                                         \
    X(context_push, int, (void *), "cuCtxPushCurrent_v2", "")                                     \
    X(context_pop, int, (void **), "cuCtxPopCurrent_v2", "")                                      \
    X(device_current, int, (int *), "", "hipGetDevice")                                           \
    X(device_set, int, (int), "", "hipSetDevice")                                                 \
    X(malloc, int, (void **, size_t), "cuMemAlloc_v2", "hipMalloc")                               \
    X(free, int, (void *), "cuMemFree_v2", "hipFree")                                             \
    X(upload, int, (void *, const void *, size_t, void *stream),                                  \
      "cuMemcpyHtoDAsync_v2", "hipMemcpyHtoDAsync")                                               \
    X(download, int, (void *, const void *, size_t, void *stream),                                \
      "cuMemcpyDtoHAsync_v2", "hipMemcpyDtoHAsync")                                               \
    X(module_load, int, (void **, const void *image), "cuModuleLoadData", "hipModuleLoadData")    \
    X(module_function, int, (void **, void *module, const char *),                                \
      "cuModuleGetFunction", "hipModuleGetFunction")                                              \
    X(module_unload, int, (void *), "cuModuleUnload", "hipModuleUnload")                          \
    X(function_set, int, (void *, int attribute, int value), "cuFuncSetAttribute", "")            \
    X(function_get, int, (int *, int attribute, void *), "cuFuncGetAttribute", "")                \
    X(launch, int,                                                                                \
      (void *, u32, u32, u32, u32, u32, u32, u32 lds, void *stream, void **params,                \
       void **extra),                                                                             \
      "cuLaunchKernel", "hipModuleLaunchKernel")                                                  \
    X(launch_ex, int, (const void *config, void *, void **params, void **extra),                  \
      "?cuLaunchKernelEx", "")                                                                    \
    X(encode_map, int,                                                                            \
      (void *map, int type, u32 rank, void *base, const uint64_t *dim, const uint64_t *stride,    \
       const u32 *box, const u32 *element_stride, int interleave, int swizzle,                    \
       int l2_promotion, int fill),                                                               \
      "?cuTensorMapEncodeTiled", "")                                                              \
    X(replace_address, int, (void *map, void *base), "?cuTensorMapReplaceAddress", "")            \
    X(stream_create, int, (void **, u32 flags), "cuStreamCreate", "hipStreamCreateWithFlags")     \
    X(stream_destroy, int, (void *), "cuStreamDestroy_v2", "hipStreamDestroy")                    \
    X(stream_synchronize, int, (void *), "cuStreamSynchronize", "hipStreamSynchronize")           \
    X(event_create, int, (void **, u32 flags), "cuEventCreate", "hipEventCreateWithFlags")        \
    X(event_destroy, int, (void *), "cuEventDestroy_v2", "hipEventDestroy")                       \
    X(event_record, int, (void *, void *stream), "cuEventRecord", "hipEventRecord")               \
    X(event_synchronize, int, (void *), "cuEventSynchronize", "hipEventSynchronize")              \
    X(event_elapsed, int, (float *, void *, void *), "cuEventElapsedTime", "hipEventElapsedTime") \
    X(capture_begin, int, (void *stream, int mode),                                               \
      "cuStreamBeginCapture_v2", "hipStreamBeginCapture")                                         \
    X(capture_end, int, (void *stream, void **graph),                                             \
      "cuStreamEndCapture", "hipStreamEndCapture")                                                \
    X(capture_status, int, (void *stream, int *),                                                 \
      "?cuStreamIsCapturing", "?hipStreamIsCapturing")                                            \
    X(capture_mode, int, (int *),                                                                 \
      "cuThreadExchangeStreamCaptureMode", "hipThreadExchangeStreamCaptureMode")                  \
    X(graph_instantiate_nv, int, (void **, void *graph, unsigned long long),                      \
      "cuGraphInstantiateWithFlags", "")                                                          \
    X(graph_instantiate_amd, int, (void **, void *graph, void *, void *, size_t),                 \
      "", "hipGraphInstantiate")                                                                  \
    X(graph_launch, int, (void *, void *stream), "cuGraphLaunch", "hipGraphLaunch")               \
    X(graph_destroy, int, (void *), "cuGraphDestroy", "hipGraphDestroy")                          \
    X(graph_exec_destroy, int, (void *), "cuGraphExecDestroy", "hipGraphExecDestroy")             \
    X(error_nv, int, (int, const char **), "cuGetErrorString", "")                                \
    X(error_amd, const char *, (int), "", "hipGetErrorString")

typedef struct kr_driver {
    const char *vendor; /* "nvidia", "amd", "sim" */
    bool nvidia;
    bool early; /* kernels may begin before the one ahead has ended, in graphs, too */
#define X(field, result, arguments, nv, amd) result(*field) arguments;
    KR_ENTRY_POINTS(X)
#undef X
} kr_driver;

enum {
    NV_ATTR_MULTIPROCESSORS = 16,
    NV_ATTR_MEMORY_CLOCK = 36, /* kHz */
    NV_ATTR_MEMORY_WIDTH = 37, /* bits */
    NV_ATTR_L2 = 38,
    NV_ATTR_MAJOR = 75,
    NV_ATTR_MINOR = 76,
    NV_ATTR_SHARED_OPTIN = 97,
    AMD_ATTR_L2 = 19,
    AMD_ATTR_MULTIPROCESSORS = 63,
    NV_FUNC_STATIC_SHARED = 1,
    NV_FUNC_MAX_DYNAMIC_SHARED = 8,
    NV_FUNC_NON_PORTABLE_CLUSTER = 14,
    NV_EARLY_VERSION = 12030, /* CUDA 12.3: graphs keep programmatic dependencies */
    NV_STATIC_SHARED_LIMIT = 48 * 1024, /* more dynamic shared memory must be asked for */
    STREAM_NON_BLOCKING = 1,
    CAPTURE_THREAD_LOCAL = 1,
    CAPTURE_RELAXED = 2,
    ERROR_OUT_OF_MEMORY = 2,  /* the same number from both vendors, as the next two */
    ERROR_INVALID_IMAGE = 200,
    ERROR_NO_BINARY = 209
};

/* The entry points, bound once; NULL, with this thread's text set: no such driver. */
const kr_driver *kr_driver_bind(const char *vendor);
/* KILN_OK for 0, else a status and a text that names what was tried. */
kiln_status kr_driver_check(const kr_driver *, int code, const char *what);

/* Makes a device's context current on this thread and puts the caller's back. */
typedef struct kr_scope {
    void *context;
    int ordinal;
    bool changed;
} kr_scope;
kiln_status kr_enter(const kr_device *, kr_scope *);
void kr_leave(const kr_device *, const kr_scope *);

static inline const kr_driver *kr_driver_of(const kr_device *dev)
{
    return dev->driver;
}

/* launch_gpu.c: code objects and launches. */
kiln_status kr_gpu_load(kr_device *, kiln_kernel *);
void kr_gpu_unload(kr_device *, kiln_kernel *);
kiln_status kr_gpu_launch(kr_device *, const kr_launch *, void *stream);
/* maps.c: tensor maps, encoded once per problem.  A map is 128 bytes, aligned to 64. */
enum { KR_MAP_WORDS = 16, KR_MAP_ALIGN = 64, KR_MAP_SETS = 256 };
kr_maps *kr_maps_new(size_t sets); /* of two maps each; NULL: no memory */
void kr_maps_free(kr_maps *);
int kr_map_make(const kr_driver *, kr_maps *, const kr_launch *, const kiln_map *,
                uint64_t out[KR_MAP_WORDS]); /* the driver's code */
/* target.c: what the device calls itself; "" where it cannot be told. */
void kr_gpu_target(const kr_driver *, int device, char *out, size_t size);
#endif
