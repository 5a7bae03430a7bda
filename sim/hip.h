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
#define KH_API __attribute__((visibility("default")))
#define HIP(name, parameters, arguments)                                                           \
    static int body_##name parameters;                                                             \
    KH_API int name parameters;                                                                    \
    int name parameters                                                                            \
    {                                                                                              \
        const int unusable = kh_usable();                                                          \
        return kh_last(unusable ? unusable : body_##name arguments);                               \
    }                                                                                              \
    static int body_##name parameters
/* The same entry under a second name: per-thread-stream forms, and names of other HIP versions. */
#define HIP_TOO(name, other, parameters) KH_API int name parameters __attribute__((alias(#other)));

/* hipError_t: number, name, text */
#define KH_ERRORS(X)                                                                               \
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
    KH_ERRORS(X)
#undef X
};

/* ---- hip_error.c ---- */
int kh_usable(void);   /* 0, or the error that every entry returns because of KILN_SIM */
int kh_last(int code); /* keeps it as the thread's last error; returns it */
/* Returns code and reports why, where the number alone would not tell. */
int kh_refuse(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Major version of HIP's ABI that the program wants: 5, 6 or 7, told by the name this library was
 * loaded under. */
int kh_abi(void);

/* ---- hip_handle.c: what programs hold is looked up before it is used, so that a stale handle is
 * an error code ---- */
typedef enum kh_type {
    KH_STREAM,
    KH_EVENT,
    KH_MODULE,
    KH_FUNCTION,
    KH_GRAPH,
    KH_NODE,
    KH_EXEC,
    KH_FAT,
    KH_CONTEXT,
    KH_POOL
} kh_type;
bool kh_handle_add(void *, kh_type); /* false: no memory */
bool kh_handle_is(const void *, kh_type);
bool kh_handle_remove(void *, kh_type); /* false: it was none */
/* One lock for all that streams, events and graphs share; never held while an operation runs. */
void kh_lock(void);
void kh_unlock(void);

/* ---- hip_device.c ---- */
#define KH_EACH_DEVICE(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) /* the most that there can be */
enum {
#define X(n) +1
    KH_DEVICES = 0 KH_EACH_DEVICE(X)
#undef X
};
typedef struct kh_chip {       /* one per ks_arch */
    const char *name, *target; /* target: architecture and features */
    int number, major, minor, units, clock, memory_clock, bus, l2;
    uint64_t memory;
} kh_chip;
typedef struct kh_device {
    ks_arch arch;
    const kh_chip *chip;
} kh_device;
int kh_device_count(void);
int kh_current(void);
const kh_device *kh_device_of(int ordinal); /* NULL: none such */
const kh_chip *kh_chip_of(ks_arch);
int kh_units(const kh_chip *); /* the chip's, or as many as KILN_SIM says */
uint64_t kh_total_memory(const kh_device *);
void kh_device_uuid(char uuid[16], int device);
int kh_enable_peer(int peer, unsigned flags); /* for the current device */
int kh_disable_peer(int peer);

/* ---- hip_module.c ---- */
typedef struct kh_function kh_function;
typedef struct kh_module {
    atomic_int users; /* itself, and graphs with its kernels */
    ks_object *object;
    int device;
    kh_function *function; /* one per kernel */
} kh_module;
struct kh_function {
    kh_module *module;
    const ks_kernel *kernel;
};
/* Loads an ELF or a bundle that has one for the device; size may be SIZE_MAX. */
int kh_module_load(const void *image, size_t size, int device, kh_module **);
void kh_module_retain(kh_module *);
void kh_module_release(kh_module *);
kh_function *kh_module_function(kh_module *, const char *name);
/* Programs give the host's address of a kernel, some a hipFunction_t.  hip_function.c */
int kh_function_of(const void *, kh_function **);

/* ---- hip_register.c: what <<<>>> programs registered, by the host's addresses ---- */
int kh_registered_function(const void *host, kh_function **);
int kh_registered_symbol(const void *host, uint64_t *address, size_t *size);
size_t kh_registered_constants(const kh_module *); /* bytes of its __constant__ variables */

/* ---- hip_stream.c, hip_graph.c ---- */
typedef struct kh_dim {
    uint32_t x, y, z;
} kh_dim;
typedef struct kh_copy { /* depth planes of height rows of width bytes */
    void *to;
    const void *from;
    size_t width, height, depth, to_pitch, from_pitch, to_slice, from_slice;
    int kind;
} kh_copy;
typedef struct kh_set {
    void *to;
    uint32_t value;
    size_t size, width, height, depth, pitch, slice; /* size: 1, 2, 4 bytes; width: elements */
} kh_set;
typedef struct kh_call {
    void (*call)(void *);
    void *user;
} kh_call;
typedef struct kh_run {
    kh_function *function;
    uint32_t grid[3], block[3], lds;
    bool cooperative;
    uint8_t *kernarg; /* function->kernel->kernarg_size bytes, explicit arguments packed */
} kh_run;
typedef struct kh_event kh_event;
typedef enum kh_op_kind {
    KH_OP_RUN,
    KH_OP_COPY,
    KH_OP_SET,
    KH_OP_CALL,
    KH_OP_RECORD,
    KH_OP_EMPTY
} kh_op_kind;
typedef struct kh_op {
    kh_op_kind kind;
    union {
        kh_run run;
        kh_copy copy;
        kh_set set;
        kh_call call;
        kh_event *event;
    };
} kh_op;
typedef struct kh_node {
    kh_op op;
    struct kh_graph *graph;
    struct kh_node **after; /* nodes that it depends on */
    size_t after_count;
    size_t mark; /* for walks */
} kh_node;
typedef struct kh_graph {
    kh_node **node; /* in order of creation */
    size_t count;
} kh_graph;
typedef struct kh_tail { /* nodes that the next one depends on */
    kh_node **node;
    size_t count;
} kh_tail;
typedef struct kh_stream kh_stream;
typedef struct kh_capture {
    kh_graph *graph;
    kh_stream *origin;
    int mode;
    pthread_t thread;
    bool invalid;
    uint64_t id;
    struct kh_capture *next;
} kh_capture;
struct kh_stream {
    int device;
    unsigned flags;
    int priority;
    pthread_mutex_t mutex; /* operations of one stream run one after the other */
    int pending;           /* error of a launch that no synchronize has returned yet */
    uint64_t epoch;        /* of the device, when it was kept */
    kh_capture *capture;
    kh_tail tail;
    kh_stream *next;  /* the streams of a capture */
    kh_stream *older; /* the streams of threads */
};
struct kh_event {
    unsigned flags;
    bool recorded;
    uint64_t time;    /* ns */
    uint64_t capture; /* id of the capture it was recorded in; 0: none */
    kh_tail tail;
};
/* A stream handle, or one of the three that stand for a stream.  Of any other, AMD's runtime says
 * hipErrorContextIsDestroyed; launches, pools and waits for events have codes of their own. */
int kh_stream_of(void *handle, kh_stream **);
int kh_stream_or(void *handle, int none, kh_stream **);
bool kh_is_legacy(const kh_stream *); /* hipStreamLegacy, which cannot capture */
/* Runs the operation, or adds it to the stream's graph.  What the operation points at stays the
 * caller's. */
int kh_submit(kh_stream *, const kh_op *);
int kh_op_run(kh_stream *, const kh_op *);
uint64_t kh_now(void);

/* For calls that may not be made while a capture is on (as CUDA's rules say):
 * hipErrorStreamCaptureUnsupported. */
int kh_unsafe(void);
bool kh_capturing(kh_stream *);
void kh_capture_break(kh_stream *); /* a forbidden call: the capture is invalid from now on */
int kh_capture_add(kh_stream *, const kh_op *);
int kh_capture_record(kh_stream *, kh_event *);
int kh_capture_wait(kh_stream *, kh_event *);
void kh_tail_clear(kh_tail *);

kh_graph *kh_graph_new(void);
void kh_graph_free(kh_graph *);
/* Adds a node that depends on the given ones; NULL: no memory. */
kh_node *kh_graph_add(kh_graph *, const kh_op *, kh_node *const *after, size_t count);
bool kh_op_copy(kh_op *to, const kh_op *from); /* own kernel arguments, a user of the module more */
void kh_op_free(kh_op *);
/* Puts an operation in the place that the node has in an instantiated graph. */
int kh_exec_replace(void *exec, const kh_node *, const kh_op *);

/* ---- hip_memory.c, hip_copy.c ---- */
/* 0, or hipErrorInvalidValue and a finding: [p, p + size) is not inside one allocation.  needed: it
   must be one (device memory); else memory that the simulator does not know is the host's own. */
int kh_check_span(const char *what, const void *p, size_t size, bool needed);
int kh_copy_run(const kh_copy *);
int kh_set_run(const kh_set *);
int kh_check_set(const kh_set *);
int kh_check_copy(const kh_copy *);
int kh_copy_box(const void *memcpy_3d, kh_copy *); /* hipMemcpy3DParms */
/* The device's memory of that kind, as the current thread's device's. */
int kh_allocate(void **out, size_t size, ks_memory_kind);
int kh_set_device(int ordinal);

/* ---- hip_launch.c ---- */
int kh_check_sizes(const ks_kernel *, const uint32_t grid[3], const uint32_t block[3], size_t lds);
/* Checks and packs; run->kernarg is freed by the caller. extra: HIP_LAUNCH_PARAM_*. */
int kh_pack(kh_run *, void **params, void **extra);
int kh_launch(kh_function *, const uint32_t grid[3], const uint32_t block[3], size_t lds,
              void *stream, void **params, void **extra);
/* Workgroups of so many work-items that fit a compute unit at once. */
int kh_groups_per_unit(const ks_kernel *, uint32_t threads, size_t dynamic_lds);

/* ---- report.c ---- */
void ks_report_start(
    void); /* the process that uses the library: a forked child reports nothing at exit */
void ks_report_refusal(const char *text); /* one line, once for each text */
#endif
