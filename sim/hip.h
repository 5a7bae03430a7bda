// SPDX-License-Identifier: MIT
// What the HIP entry points (hip_*.c) share: handles, streams, operations, graphs, modules.
// Every operation runs when it is submitted, in the calling thread; on a capturing stream it
// becomes a node of a graph instead.  Nothing here needs HIP's headers: numbers and layouts are
// HIP's ABI.
#ifndef KS_HIP_H
#define KS_HIP_H
#include <pthread.h>
#include "sim.h"

/* One entry point: visible, by C linkage.  The body returns a hipError_t; the wrapper first sees to
   it that the library is usable (its options are right) and keeps an error as the thread's last
   one. */
#define KHIP_API __attribute__((visibility("default")))
#define HIP(name, parameters, arguments)                                                           \
    static int body_##name parameters;                                                             \
    KHIP_API int name parameters;                                                                  \
    int name parameters                                                                            \
    {                                                                                              \
        const int unusable = khip_usable();                                                        \
        return khip_last(unusable ? unusable : body_##name arguments);                             \
    }                                                                                              \
    static int body_##name parameters
/* The same entry under a second name: per-thread-stream forms, and names of other HIP versions. */
#define HIP_TOO(name, other, parameters)                                                           \
    KHIP_API int name parameters __attribute__((alias(#other)));

/* hipError_t: number, name, text */
#define KHIP_ERRORS(X)                                                                             \
    X(0, Success, "no error")                                                                      \
    X(1, InvalidValue, "invalid argument")                                                         \
    X(2, OutOfMemory, "out of memory")                                                             \
    X(3, NotInitialized, "initialization error")                                                   \
    X(4, Deinitialized, "driver shutting down")                                                    \
    X(5, ProfilerDisabled, "profiler disabled while using external profiling tool")                \
    X(6, ProfilerNotInitialized, "profiler is not initialized")                                    \
    X(7, ProfilerAlreadyStarted, "profiler already started")                                       \
    X(8, ProfilerAlreadyStopped, "profiler already stopped")                                       \
    X(9, InvalidConfiguration, "invalid configuration argument")                                   \
    X(12, InvalidPitchValue, "invalid pitch argument")                                             \
    X(13, InvalidSymbol, "invalid device symbol")                                                  \
    X(17, InvalidDevicePointer, "invalid device pointer")                                          \
    X(21, InvalidMemcpyDirection, "invalid copy direction for memcpy")                             \
    X(35, InsufficientDriver, "driver version is insufficient for runtime version")                \
    X(52, MissingConfiguration, "__global__ function call is not configured")                      \
    X(53, PriorLaunchFailure, "unspecified launch failure in prior launch")                        \
    X(98, InvalidDeviceFunction, "invalid device function")                                        \
    X(100, NoDevice, "no ROCm-capable device is detected")                                         \
    X(101, InvalidDevice, "invalid device ordinal")                                                \
    X(200, InvalidImage, "device kernel image is invalid")                                         \
    X(201, InvalidContext, "invalid device context")                                               \
    X(202, ContextAlreadyCurrent, "context is already current context")                            \
    X(205, MapFailed, "mapping of buffer object failed")                                           \
    X(206, UnmapFailed, "unmapping of buffer object failed")                                       \
    X(207, ArrayIsMapped, "array is mapped")                                                       \
    X(208, AlreadyMapped, "resource already mapped")                                               \
    X(209, NoBinaryForGpu, "no kernel image is available for execution on the device")             \
    X(210, AlreadyAcquired, "resource already acquired")                                           \
    X(211, NotMapped, "resource not mapped")                                                       \
    X(212, NotMappedAsArray, "resource not mapped as array")                                       \
    X(213, NotMappedAsPointer, "resource not mapped as pointer")                                   \
    X(214, ECCNotCorrectable, "uncorrectable ECC error encountered")                               \
    X(215, UnsupportedLimit, "limit is not supported on this architecture")                        \
    X(216, ContextAlreadyInUse, "exclusive-thread device already in use by a different thread")    \
    X(217, PeerAccessUnsupported, "peer access is not supported between these two devices")        \
    X(218, InvalidKernelFile, "invalid kernel file")                                               \
    X(219, InvalidGraphicsContext, "invalid OpenGL or DirectX context")                            \
    X(300, InvalidSource, "device kernel image is invalid")                                        \
    X(301, FileNotFound, "file not found")                                                         \
    X(302, SharedObjectSymbolNotFound, "shared object symbol not found")                           \
    X(303, SharedObjectInitFailed, "shared object initialization failed")                          \
    X(304, OperatingSystem, "OS call failed or operation not supported on this OS")                \
    X(400, InvalidHandle, "invalid resource handle")                                               \
    X(401, IllegalState, "the operation cannot be performed in the present state")                 \
    X(500, NotFound, "named symbol not found")                                                     \
    X(600, NotReady, "device not ready")                                                           \
    X(700, IllegalAddress, "an illegal memory access was encountered")                             \
    X(701, LaunchOutOfResources, "too many resources requested for launch")                        \
    X(702, LaunchTimeOut, "the launch timed out and was terminated")                               \
    X(704, PeerAccessAlreadyEnabled, "peer access is already enabled")                             \
    X(705, PeerAccessNotEnabled, "peer access has not been enabled")                               \
    X(708, SetOnActiveProcess, "cannot set while device is active in this process")                \
    X(709, ContextIsDestroyed, "context is destroyed")                                             \
    X(710, Assert, "device-side assert triggered")                                                 \
    X(712, HostMemoryAlreadyRegistered,                                                            \
      "part or all of the requested memory range is already mapped")                               \
    X(713, HostMemoryNotRegistered, "pointer does not correspond to a registered memory region")   \
    X(719, LaunchFailure, "unspecified launch failure")                                            \
    X(720, CooperativeLaunchTooLarge, "too many blocks in cooperative launch")                     \
    X(801, NotSupported, "operation not supported")                                                \
    X(900, StreamCaptureUnsupported, "operation not permitted when stream is capturing")           \
    X(901, StreamCaptureInvalidated, "operation failed due to a previous error during capture")    \
    X(902, StreamCaptureMerge, "operation would result in a merge of separate capture sequences")  \
    X(903, StreamCaptureUnmatched, "capture was not ended in the same stream as it began")         \
    X(904, StreamCaptureUnjoined, "capturing stream has unjoined work")                            \
    X(905, StreamCaptureIsolation, "dependency created on uncaptured work in another stream")      \
    X(906, StreamCaptureImplicit,                                                                  \
      "operation would make the legacy stream depend on a capturing blocking stream")              \
    X(907, CapturedEvent,                                                                          \
      "operation not permitted on an event last recorded in a capturing stream")                   \
    X(908, StreamCaptureWrongThread,                                                               \
      "attempt to terminate a thread-local capture sequence from another thread")                  \
    X(910, GraphExecUpdateFailure,                                                                 \
      "the graph update was not performed because it included forbidden changes")                  \
    X(911, InvalidChannelDescriptor, "invalid channel descriptor")                                 \
    X(912, InvalidTexture, "invalid texture")                                                      \
    X(999, Unknown, "unknown error")                                                               \
    X(1052, RuntimeMemory, "runtime memory call returned error")                                   \
    X(1053, RuntimeOther, "runtime call other than memory returned error")
enum {
#define X(number, name, text) E_##name = number,
    KHIP_ERRORS(X)
#undef X
};

/* ---- hip_error.c ---- */
int khip_usable(void);   /* 0, or the error that every entry returns because of KILN_SIM */
int khip_last(int code); /* keeps it as the thread's last error; returns it */
/* Returns code and reports why, where the number alone would not tell. */
int khip_refuse(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Major version of HIP's ABI that the program wants: 5, 6 or 7, told by the name this library was
 * loaded under. */
int khip_abi(void);

/* ---- hip_handle.c: what programs hold is looked up before it is used, so that a stale handle is
 * an error code ---- */
typedef enum khip_type {
    KHIP_STREAM,
    KHIP_EVENT,
    KHIP_MODULE,
    KHIP_FUNCTION,
    KHIP_GRAPH,
    KHIP_NODE,
    KHIP_EXEC,
    KHIP_FAT,
    KHIP_CONTEXT,
    KHIP_POOL
} khip_type;
bool khip_handle_add(void *, khip_type); /* false: no memory */
bool khip_handle_is(const void *, khip_type);
bool khip_handle_remove(void *, khip_type); /* false: it was none */
/* One lock for all that streams, events and graphs share; never held while an operation runs. */
void khip_lock(void);
void khip_unlock(void);

/* ---- hip_device.c ---- */
#define KHIP_EACH_DEVICE(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) /* the most that there can be  \
                                                                     */
enum {
#define X(n) +1
    KHIP_DEVICES = 0 KHIP_EACH_DEVICE(X)
#undef X
};
typedef struct khip_chip {     /* one per ks_arch */
    const char *name, *target; /* target: architecture and features */
    int number, major, minor, units, clock, memory_clock, bus, l2;
    uint64_t memory;
} khip_chip;
typedef struct khip_device {
    ks_arch arch;
    const khip_chip *chip;
} khip_device;
int khip_device_count(void);
int khip_current(void);
const khip_device *khip_device_of(int ordinal); /* NULL: none such */
const khip_chip *khip_chip_of(ks_arch);
int khip_units(const khip_chip *); /* the chip's, or as many as KILN_SIM says */
uint64_t khip_total_memory(const khip_device *);
void khip_device_uuid(char uuid[16], int device);
int khip_enable_peer(int peer, unsigned flags); /* for the current device */
int khip_disable_peer(int peer);

/* ---- hip_module.c ---- */
typedef struct khip_function khip_function;
typedef struct khip_module {
    atomic_int users; /* itself, and graphs with its kernels */
    ks_object *object;
    int device;
    khip_function *function; /* one per kernel */
} khip_module;
struct khip_function {
    khip_module *module;
    const ks_kernel *kernel;
};
/* Loads an ELF or a bundle that has one for the device; size may be SIZE_MAX. */
int khip_module_load(const void *image, size_t size, int device, khip_module **);
void khip_module_retain(khip_module *);
void khip_module_release(khip_module *);
khip_function *khip_module_function(khip_module *, const char *name);
/* Programs give the host's address of a kernel, some a hipFunction_t.  hip_function.c */
int khip_function_of(const void *, khip_function **);

/* ---- hip_register.c: what <<<>>> programs registered, by the host's addresses ---- */
int khip_registered_function(const void *host, khip_function **);
int khip_registered_symbol(const void *host, uint64_t *address, size_t *size);
size_t khip_registered_constants(const khip_module *); /* bytes of its __constant__ variables */

/* ---- hip_stream.c, hip_graph.c ---- */
typedef struct khip_dim {
    uint32_t x, y, z;
} khip_dim;
typedef struct khip_copy { /* depth planes of height rows of width bytes */
    void *to;
    const void *from;
    size_t width, height, depth, to_pitch, from_pitch, to_slice, from_slice;
    int kind;
} khip_copy;
typedef struct khip_set {
    void *to;
    uint32_t value;
    size_t size, width, height, depth, pitch, slice; /* size: 1, 2, 4 bytes; width: elements */
} khip_set;
typedef struct khip_call {
    void (*call)(void *);
    void *user;
} khip_call;
typedef struct khip_run {
    khip_function *function;
    uint32_t grid[3], block[3], lds;
    bool cooperative;
    uint8_t *kernarg; /* function->kernel->kernarg_size bytes, explicit arguments packed */
} khip_run;
typedef struct khip_event khip_event;
typedef enum khip_op_kind {
    KHIP_OP_RUN,
    KHIP_OP_COPY,
    KHIP_OP_SET,
    KHIP_OP_CALL,
    KHIP_OP_RECORD,
    KHIP_OP_EMPTY
} khip_op_kind;
typedef struct khip_op {
    khip_op_kind kind;
    union {
        khip_run run;
        khip_copy copy;
        khip_set set;
        khip_call call;
        khip_event *event;
    };
} khip_op;
typedef struct khip_node {
    khip_op op;
    struct khip_graph *graph;
    struct khip_node **after; /* nodes that it depends on */
    size_t after_count;
    size_t mark; /* for walks */
} khip_node;
typedef struct khip_graph {
    khip_node **node; /* in order of creation */
    size_t count;
} khip_graph;
typedef struct khip_tail { /* nodes that the next one depends on */
    khip_node **node;
    size_t count;
} khip_tail;
typedef struct khip_stream khip_stream;
typedef struct khip_capture {
    khip_graph *graph;
    khip_stream *origin;
    int mode;
    pthread_t thread;
    bool invalid;
    uint64_t id;
    struct khip_capture *next;
} khip_capture;
struct khip_stream {
    int device;
    unsigned flags;
    int priority;
    pthread_mutex_t mutex; /* operations of one stream run one after the other */
    int pending;           /* error of a launch that no synchronize has returned yet */
    uint64_t epoch;        /* of the device, when it was kept */
    khip_capture *capture;
    khip_tail tail;
    khip_stream *next;  /* the streams of a capture */
    khip_stream *older; /* the streams of threads */
};
struct khip_event {
    unsigned flags;
    bool recorded;
    uint64_t time;    /* ns */
    uint64_t capture; /* id of the capture it was recorded in; 0: none */
    khip_tail tail;
};
/* A stream handle, or one of the three that stand for a stream.  Of any other, AMD's runtime says
 * hipErrorContextIsDestroyed; launches, pools and waits for events have codes of their own. */
int khip_stream_of(void *handle, khip_stream **);
int khip_stream_or(void *handle, int none, khip_stream **);
bool khip_is_legacy(const khip_stream *); /* hipStreamLegacy, which cannot capture */
/* Runs the operation, or adds it to the stream's graph.  What the operation points at stays the
 * caller's. */
int khip_submit(khip_stream *, const khip_op *);
int khip_op_run(khip_stream *, const khip_op *);
uint64_t khip_now(void);

/* For calls that may not be made while a capture is on (as CUDA's rules say):
 * hipErrorStreamCaptureUnsupported. */
int khip_unsafe(void);
bool khip_capturing(khip_stream *);
void khip_capture_break(khip_stream *); /* a forbidden call: the capture is invalid from now on */
int khip_capture_add(khip_stream *, const khip_op *);
int khip_capture_record(khip_stream *, khip_event *);
int khip_capture_wait(khip_stream *, khip_event *);
void khip_tail_clear(khip_tail *);

khip_graph *khip_graph_new(void);
void khip_graph_free(khip_graph *);
/* Adds a node that depends on the given ones; NULL: no memory. */
khip_node *khip_graph_add(khip_graph *, const khip_op *, khip_node *const *after, size_t count);
bool khip_op_copy(khip_op *to,
                  const khip_op *from); /* own kernel arguments, a user of the module more */
void khip_op_free(khip_op *);
/* Puts an operation in the place that the node has in an instantiated graph. */
int khip_exec_replace(void *exec, const khip_node *, const khip_op *);

/* ---- hip_memory.c, hip_copy.c ---- */
/* 0, or hipErrorInvalidValue and a finding: [p, p + size) is not inside one allocation.  needed: it
   must be one (device memory); else memory that the simulator does not know is the host's own. */
int khip_check_span(const char *what, const void *p, size_t size, bool needed);
int khip_copy_run(const khip_copy *);
int khip_set_run(const khip_set *);
int khip_check_set(const khip_set *);
int khip_check_copy(const khip_copy *);
int khip_copy_box(const void *memcpy_3d, khip_copy *); /* hipMemcpy3DParms */
/* The device's memory of that kind, as the current thread's device's. */
int khip_allocate(void **out, size_t size, ks_memory_kind);
int khip_set_device(int ordinal);

/* ---- hip_launch.c ---- */
int khip_check_sizes(const ks_kernel *, const uint32_t grid[3], const uint32_t block[3],
                     size_t lds);
/* Checks and packs; run->kernarg is freed by the caller. extra: HIP_LAUNCH_PARAM_*. */
int khip_pack(khip_run *, void **params, void **extra);
int khip_launch(khip_function *, const uint32_t grid[3], const uint32_t block[3], size_t lds,
                void *stream, void **params, void **extra);
/* Workgroups of so many work-items that fit a compute unit at once. */
int khip_groups_per_unit(const ks_kernel *, uint32_t threads, size_t dynamic_lds);

/* ---- report.c ---- */
void ks_report_start(
    void); /* the process that uses the library: a forked child reports nothing at exit */
void ks_report_refusal(const char *text); /* one line, once for each text */
#endif
