// SPDX-License-Identifier: MIT
// Streams, events and callbacks.  An operation is finished when the call that submits it returns,
// so that queries never say "not ready" and waiting is nothing but the question for errors.
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "hip.h"

enum { NON_BLOCKING = 1, EVENT_NO_TIME = 2, EVENT_INTERPROCESS = 4, WAIT_EXTERNAL = 1 };
#define LEGACY     ((void *)1)
#define PER_THREAD ((void *)2)

/* Streams that are always there: one for each device, and one for each thread and device, made when
 * first asked for and kept to the end, since a capture in it may outlive its thread. */
#define X(n) {.device = n, .mutex = PTHREAD_MUTEX_INITIALIZER},
static khip_stream legacy[KHIP_DEVICES] = {KHIP_EACH_DEVICE(X)};
#undef X
static _Thread_local khip_stream *per_thread[KHIP_DEVICES];
static khip_stream *of_threads; /* under khip_lock */

/* The first error of each device that no synchronize has returned yet, and whose it is. */
static struct {
    int code;
    uint64_t epoch; /* counts synchronizes: what streams kept before the last one is done with */
    const khip_stream *stream;
} pending[KHIP_DEVICES];

uint64_t khip_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

bool khip_is_legacy(const khip_stream *s)
{
    return s == &legacy[s->device];
}

static khip_stream *of_thread(int device)
{
    khip_stream *s = per_thread[device];
    if (s) return s;
    s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->device = device;
    pthread_mutex_init(&s->mutex, NULL);
    khip_lock();
    s->older = of_threads;
    of_threads = s;
    khip_unlock();
    return per_thread[device] = s;
}

int khip_stream_of(void *handle, khip_stream **out)
{
    if (!handle || handle == LEGACY)
        *out = &legacy[khip_current()];
    else if (handle == PER_THREAD)
        *out = of_thread(khip_current());
    else if (khip_handle_is(handle, KHIP_STREAM))
        *out = handle;
    else
        return E_ContextIsDestroyed;
    return *out ? 0 : E_OutOfMemory;
}

int khip_stream_or(void *handle, int none, khip_stream **out)
{
    const int code = khip_stream_of(handle, out);
    return code == E_ContextIsDestroyed ? none : code;
}

/* ---- operations ---- */

static void keep(khip_stream *s, int code)
{
    khip_lock();
    s->pending = code;
    s->epoch = pending[s->device].epoch;
    if (!pending[s->device].code) {
        pending[s->device].code = code;
        pending[s->device].stream = s;
    }
    khip_unlock();
}

/* What printf and malloc in a kernel need, where it may use them; false: no memory. */
static bool set_services(const khip_function *f, uint8_t *kernarg, void **hostcall)
{
    const ks_kernel *k = f->kernel;
    void *heap = NULL;
    if (ks_has_hidden(k, KS_ARG_HOSTCALL) && !(*hostcall = ks_hostcall_take())) return false;
    if (ks_has_hidden(k, KS_ARG_HEAP) && !(heap = ks_heap((unsigned)f->module->device)))
        return false;
    ks_set_hidden(k, KS_ARG_HOSTCALL, kernarg, (uint64_t)(uintptr_t)*hostcall);
    ks_set_hidden(k, KS_ARG_HEAP, kernarg, (uint64_t)(uintptr_t)heap);
    return true;
}

/* Kernel arguments are device memory of their own for each launch; the compiler widens loads of 12
 * bytes to 16. */
static int run_kernel(const khip_run *r)
{
    enum { ALIGN = 64, STEP = 16 };
    const ks_kernel *k = r->function->kernel;
    const size_t used = k->kernarg_size ? (k->kernarg_size + STEP - 1) / STEP * STEP : STEP;
    const size_t size = used + (r->cooperative ? sizeof(ks_grid_sync) : 0);
    ks_error error = {0};
    uint8_t *kernarg = ks_alloc(size, ALIGN, KS_KERNARG);
    if (!kernarg) return E_OutOfMemory;
    memset(kernarg, 0, size);
    if (k->kernarg_size) memcpy(kernarg, r->kernarg, k->kernarg_size);
    ks_fill_hidden(k, r->grid, r->block, r->lds, kernarg);
    if (r->cooperative)
        ks_fill_cooperative(k, r->grid, (ks_grid_sync *)(void *)(kernarg + used), kernarg);
    void *hostcall = NULL;
    int code = set_services(r->function, kernarg, &hostcall) ? 0 : E_OutOfMemory;
    if (code == 0)
        code = ks_launch_run(k, r->grid, r->block, r->lds, kernarg, r->cooperative, &error);
    ks_hostcall_give(hostcall);
    ks_free(kernarg, KS_KERNARG);
    if (code && *error.text) ks_report_refusal(error.text);
    return code;
}

int khip_op_run(khip_stream *s, const khip_op *op)
{
    int code;
    switch (op->kind) {
    case KHIP_OP_RUN:
        code = run_kernel(&op->run);
        if (code) keep(s, code);
        return code;
    case KHIP_OP_COPY:
        return khip_copy_run(&op->copy);
    case KHIP_OP_SET:
        return khip_set_run(&op->set);
    case KHIP_OP_CALL:
        op->call.call(op->call.user);
        return 0;
    case KHIP_OP_RECORD:
        if (!khip_handle_is(op->event, KHIP_EVENT)) return E_InvalidHandle;
        op->event->recorded = true;
        op->event->time = khip_now();
        return 0;
    case KHIP_OP_EMPTY:
        break;
    }
    return 0;
}

int khip_submit(khip_stream *s, const khip_op *op)
{
    if (khip_capturing(s)) return khip_capture_add(s, op);
    /* A callback may use the stream it runs in. */
    const bool locks = op->kind != KHIP_OP_CALL;
    if (locks) pthread_mutex_lock(&s->mutex);
    const int code = khip_op_run(s, op);
    if (locks) pthread_mutex_unlock(&s->mutex);
    return code;
}

/* ---- waiting ---- */

static int wait_stream(khip_stream *s)
{
    pthread_mutex_lock(&s->mutex); /* what another thread is running in it */
    pthread_mutex_unlock(&s->mutex);
    khip_lock();
    const int code = s->epoch == pending[s->device].epoch ? s->pending : 0;
    s->pending = 0;
    if (pending[s->device].stream == s) pending[s->device].code = 0;
    khip_unlock();
    return code;
}

static int wait_device(int device)
{
    khip_lock();
    const int code = pending[device].code;
    pending[device].code = 0;
    pending[device].epoch++;
    khip_unlock();
    return code;
}

HIP(hipDeviceSynchronize, (void), ())
{
    const int code = khip_unsafe();
    return code ? code : wait_device(khip_current());
}

HIP_TOO(hipCtxSynchronize, hipDeviceSynchronize, (void))

/* Programs' memory stays theirs to free: what they still hold would dangle. */
HIP(hipDeviceReset, (void), ())
{
    const int code = khip_unsafe();
    if (code) return code;
    wait_device(khip_current());
    return 0;
}

HIP(hipStreamSynchronize, (void *stream), (stream))
{
    khip_stream *s;
    const int code = khip_stream_of(stream, &s);
    if (code) return code;
    if (khip_capturing(s)) {
        khip_capture_break(s);
        return E_StreamCaptureUnsupported;
    }
    return wait_stream(s);
}
HIP_TOO(hipStreamSynchronize_spt, hipStreamSynchronize, (void *stream))

HIP(hipStreamQuery, (void *stream), (stream))
{
    khip_stream *s;
    const int code = khip_stream_of(stream, &s);
    if (code) return code;
    if (!khip_capturing(s)) return 0;
    khip_capture_break(s);
    return E_StreamCaptureUnsupported;
}
HIP_TOO(hipStreamQuery_spt, hipStreamQuery, (void *stream))

/* ---- streams ---- */

static int create(void **out, unsigned flags, int priority)
{
    if (!out || flags & ~(unsigned)NON_BLOCKING) return E_InvalidValue;
    khip_stream *s = calloc(1, sizeof *s);
    if (!s) return E_OutOfMemory;
    s->device = khip_current();
    s->flags = flags;
    s->priority = priority < -1 ? -1 : priority > 1 ? 1 : priority;
    pthread_mutex_init(&s->mutex, NULL);
    if (!khip_handle_add(s, KHIP_STREAM)) {
        free(s);
        return E_OutOfMemory;
    }
    *out = s;
    return 0;
}

HIP(hipStreamCreate, (void **out), (out))
{
    return create(out, 0, 0);
}

HIP(hipStreamCreateWithFlags, (void **out, unsigned flags), (out, flags))
{
    return create(out, flags, 0);
}

HIP(hipStreamCreateWithPriority, (void **out, unsigned flags, int priority), (out, flags, priority))
{
    return create(out, flags, priority);
}

HIP(hipExtStreamCreateWithCUMask, (void **out, unsigned size, const unsigned *mask),
    (out, size, mask))
{
    return size && mask ? create(out, 0, 0) : E_InvalidValue;
}

HIP(hipStreamDestroy, (void *stream), (stream))
{
    khip_stream *s = stream;
    if (!s || stream == LEGACY || stream == PER_THREAD) return E_InvalidHandle;
    if (!khip_handle_is(s, KHIP_STREAM)) return E_ContextIsDestroyed;
    if (khip_capturing(s)) {
        khip_capture_break(s);
        return E_StreamCaptureUnsupported;
    }
    if (!khip_handle_remove(s, KHIP_STREAM)) return E_ContextIsDestroyed;
    pthread_mutex_lock(&s->mutex);
    pthread_mutex_unlock(&s->mutex);
    pthread_mutex_destroy(&s->mutex);
    free(s);
    return 0;
}

/* name, type and member of the answer */
#define QUESTIONS(X)                                                                               \
    X(hipStreamGetFlags, unsigned, flags)                                                          \
    X(hipStreamGetPriority, int, priority)                                                         \
    X(hipStreamGetDevice, int, device)
#define X(name, type, member)                                                                      \
    HIP(name, (void *stream, type *out), (stream, out))                                            \
    {                                                                                              \
        khip_stream *s;                                                                            \
        const int code = khip_stream_of(stream, &s);                                               \
        if (code || !out) return code ? code : E_InvalidValue;                                     \
        *out = s->member;                                                                          \
        return 0;                                                                                  \
    }
QUESTIONS(X)
#undef X
HIP_TOO(hipStreamGetFlags_spt, hipStreamGetFlags, (void *stream, unsigned *out))
HIP_TOO(hipStreamGetPriority_spt, hipStreamGetPriority, (void *stream, int *out))

KHIP_API int hipGetStreamDeviceId(void *stream);
int hipGetStreamDeviceId(void *stream)
{
    khip_stream *s;
    return khip_stream_of(stream, &s) ? -1 : s->device;
}

/* ---- callbacks ---- */

typedef void stream_callback(void *stream, int status, void *user);
HIP(hipStreamAddCallback, (void *stream, stream_callback *call, void *user, unsigned flags),
    (stream, call, user, flags))
{
    khip_stream *s;
    const int code = khip_stream_of(stream, &s);
    if (code) return code;
    if (!call || flags) return E_InvalidValue;
    if (khip_capturing(s)) {
        khip_capture_break(s);
        return E_StreamCaptureUnsupported;
    }
    call(stream, 0, user);
    return 0;
}
HIP_TOO(hipStreamAddCallback_spt, hipStreamAddCallback,
        (void *stream, stream_callback *call, void *user, unsigned flags))

HIP(hipLaunchHostFunc, (void *stream, void (*call)(void *), void *user), (stream, call, user))
{
    khip_stream *s;
    const int code = khip_stream_of(stream, &s);
    if (code) return code;
    if (!call) return E_InvalidValue;
    return khip_submit(s, &(khip_op){.kind = KHIP_OP_CALL, .call = {call, user}});
}
HIP_TOO(hipLaunchHostFunc_spt, hipLaunchHostFunc, (void *stream, void (*call)(void *), void *user))

/* ---- events ---- */

static int create_event(void **out, unsigned flags)
{
    const unsigned known = 0x1 | EVENT_NO_TIME | EVENT_INTERPROCESS | 0xe0000000u;
    if (!out || flags & ~known) return E_InvalidValue;
    if (flags & EVENT_INTERPROCESS)
        return khip_refuse(
            E_NotSupported,
            "hipEventCreateWithFlags: an event of several processes: the simulator's "
            "device is this process's own");
    khip_event *e = calloc(1, sizeof *e);
    if (!e) return E_OutOfMemory;
    e->flags = flags;
    if (!khip_handle_add(e, KHIP_EVENT)) {
        free(e);
        return E_OutOfMemory;
    }
    *out = e;
    return 0;
}

HIP(hipEventCreate, (void **out), (out))
{
    return create_event(out, 0);
}

HIP(hipEventCreateWithFlags, (void **out, unsigned flags), (out, flags))
{
    return create_event(out, flags);
}

HIP(hipEventDestroy, (void *event), (event))
{
    khip_event *e = event;
    if (!khip_handle_remove(e, KHIP_EVENT)) return E_InvalidHandle;
    khip_tail_clear(&e->tail);
    free(e);
    return 0;
}

HIP(hipEventRecord, (void *event, void *stream), (event, stream))
{
    khip_stream *s;
    khip_event *e = event;
    const int code = khip_stream_of(stream, &s);
    if (code) return code;
    if (!khip_handle_is(e, KHIP_EVENT)) return E_InvalidHandle;
    if (khip_capturing(s)) return khip_capture_record(s, e);
    e->capture = 0;
    return khip_submit(s, &(khip_op){.kind = KHIP_OP_RECORD, .event = e});
}
HIP_TOO(hipEventRecord_spt, hipEventRecord, (void *event, void *stream))

HIP(hipStreamWaitEvent, (void *stream, void *event, unsigned flags), (stream, event, flags))
{
    khip_stream *s;
    khip_event *e = event;
    const int code = khip_stream_or(stream, E_InvalidHandle, &s);
    if (code) return code;
    if (!khip_handle_is(e, KHIP_EVENT)) return E_InvalidHandle;
    if (flags & ~(unsigned)WAIT_EXTERNAL) return E_InvalidValue;
    return e->capture || khip_capturing(s) ? khip_capture_wait(s, e) : 0;
}
HIP_TOO(hipStreamWaitEvent_spt, hipStreamWaitEvent, (void *stream, void *event, unsigned flags))

static int event_state(const void *event)
{
    const khip_event *e = event;
    if (!khip_handle_is(e, KHIP_EVENT)) return E_InvalidHandle;
    return e->capture ? E_CapturedEvent : 0;
}

HIP(hipEventSynchronize, (void *event), (event))
{
    return event_state(event);
}

HIP(hipEventQuery, (void *event), (event))
{
    return event_state(event);
}

HIP(hipEventElapsedTime, (float *ms, void *start, void *stop), (ms, start, stop))
{
    const khip_event *from = start, *to = stop;
    if (!ms) return E_InvalidValue;
    int code = event_state(start);
    if (code == 0) code = event_state(stop);
    if (code) return code;
    if ((from->flags | to->flags) & EVENT_NO_TIME) return E_InvalidHandle;
    if (!from->recorded || !to->recorded) return E_InvalidHandle;
    *ms = (float)((double)(int64_t)(to->time - from->time) * 1e-6);
    return 0;
}

/* ---- values in memory: done at once, as all operations; a wait that nothing can end is refused
 * ---- */

enum { WAIT_GE, WAIT_EQ, WAIT_AND, WAIT_NOR };
static int wait_value(void *stream, void *p, uint64_t have, uint64_t value, unsigned flags,
                      uint64_t mask)
{
    khip_stream *s;
    const int code = khip_stream_of(stream, &s);
    if (code) return code;
    (void)p;
    have &= mask;
    const bool met = flags == WAIT_GE    ? (int64_t)(have - value) >= 0
                     : flags == WAIT_EQ  ? have == value
                     : flags == WAIT_AND ? (have & value) != 0
                                         : (~(have | value) & mask) != 0;
    if (flags > WAIT_NOR) return E_InvalidValue;
    if (met) return 0;
    return khip_refuse(
        E_NotSupported,
        "hipStreamWaitValue: the value is not there yet, and the simulator runs every "
        "stream at the call: write it before waiting");
}

#define VALUES(X) X(32, uint32_t) X(64, uint64_t)
#define X(bits, type)                                                                              \
    HIP(hipStreamWaitValue##bits, (void *stream, void *p, type value, unsigned flags, type mask),  \
        (stream, p, value, flags, mask))                                                           \
    {                                                                                              \
        type have;                                                                                 \
        const int code = khip_check_span("hipStreamWaitValue" #bits, p, sizeof have, true);        \
        if (code) return code;                                                                     \
        memcpy(&have, p, sizeof have);                                                             \
        return wait_value(stream, p, have, value, flags, mask);                                    \
    }                                                                                              \
    HIP(hipStreamWriteValue##bits, (void *stream, void *p, type value, unsigned flags),            \
        (stream, p, value, flags))                                                                 \
    {                                                                                              \
        khip_stream *s;                                                                            \
        int code = khip_stream_of(stream, &s);                                                     \
        if (code == 0 && (flags || khip_capturing(s))) code = E_InvalidValue;                      \
        if (code == 0) code = khip_check_span("hipStreamWriteValue" #bits, p, sizeof value, true); \
        if (code == 0) memcpy(p, &value, sizeof value);                                            \
        return code;                                                                               \
    }
VALUES(X)
#undef X
