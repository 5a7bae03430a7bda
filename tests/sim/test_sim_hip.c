// SPDX-License-Identifier: MIT
// HIP's entry points on the simulator, called as programs call them: devices, memory, copies,
// streams, events, bad arguments.  What needs device code is in test_sim_hip_code.c.
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "hip.h"
#include "hip_calls.h"

#define OK(call) assert_int_equal(call, 0)
#define FAILS(code, call)                                                                          \
    do {                                                                                           \
        hipGetLastError();                                                                         \
        assert_int_equal(call, code);                                                              \
        assert_int_equal(hipGetLastError(), code);                                                 \
    } while (0)

/* ---- findings ---- */

static void keep(const kilnsim_finding *f, void *user)
{
    kilnsim_finding *to = user;
    *to = *f;
}

/* Exactly one finding since the last call, of that kind; its text has the words. */
static void found(kilnsim_kind kind, const char *words)
{
    kilnsim_finding f;
    assert_int_equal(kilnsim_findings(keep, &f), 1);
    assert_int_equal(f.kind, kind);
    assert_non_null(strstr(f.text, words));
    kilnsim_findings_clear();
}

static void nothing_found(void)
{
    assert_int_equal(kilnsim_findings(NULL, NULL), 0);
}

/* ---- errors ---- */

static void errors_have_names(void **state)
{
    (void)state;
    assert_string_equal(hipGetErrorName(0), "hipSuccess");
    assert_string_equal(hipGetErrorName(700), "hipErrorIllegalAddress");
    assert_string_equal(hipGetErrorName(98), "hipErrorInvalidDeviceFunction");
    assert_string_equal(hipGetErrorString(0), "no error");
    assert_string_equal(hipGetErrorString(2), "out of memory");
    assert_string_equal(hipGetErrorName(123456), "hipErrorUnknown");
    assert_string_equal(hipGetErrorString(-1), "unknown error");
}

/* As in ROCm 5 and 6; tests/sim/exports.sh has 7's, where it stays until it is asked for. */
static void the_next_call_overwrites_the_last_error(void **state)
{
    (void)state;
    int count;
    hipGetLastError();
    assert_int_equal(hipGetDeviceCount(NULL), E_InvalidValue);
    assert_int_equal(hipPeekAtLastError(), E_InvalidValue);
    assert_int_equal(hipGetLastError(), E_InvalidValue);
    assert_int_equal(hipGetLastError(), 0);
    assert_int_equal(hipGetDeviceCount(NULL), E_InvalidValue);
    OK(hipGetDeviceCount(&count));
    assert_int_equal(hipGetLastError(), 0);
}

/* ---- devices ---- */

static void two_devices(void **state)
{
    (void)state;
    int count = 0, device = -1, value = -1;
    char name[64], small[4], id[32];
    OK(hipInit(0));
    FAILS(E_InvalidValue, hipInit(1));
    OK(hipGetDeviceCount(&count));
    assert_int_equal(count, 2);
    OK(hipGetDevice(&device));
    assert_int_equal(device, 0);
    OK(hipSetDevice(1));
    OK(hipGetDevice(&device));
    assert_int_equal(device, 1);
    FAILS(E_InvalidDevice, hipSetDevice(2));
    FAILS(E_InvalidDevice, hipSetDevice(-1));
    OK(hipSetDevice(0));
    FAILS(E_InvalidDevice, hipDeviceGet(&device, 7));
    OK(hipDeviceGetName(name, sizeof name, 0));
    assert_non_null(strstr(name, "MI300X"));
    OK(hipDeviceGetName(small, sizeof small, 1));
    assert_string_equal(small, "AMD");
    FAILS(E_InvalidValue, hipDeviceGetName(NULL, 9, 0));
    enum { L2 = 19, UNITS = 63, WARP = 87, UNKNOWN = 9000 };
    OK(hipDeviceGetAttribute(&value, UNITS, 0));
    assert_int_equal(value, 304);
    OK(hipDeviceGetAttribute(&value, UNITS, 1));
    assert_int_equal(value, 104);
    OK(hipDeviceGetAttribute(&value, L2, 1));
    assert_int_equal(value, 8 << 20);
    OK(hipDeviceGetAttribute(&value, WARP, 0));
    assert_int_equal(value, 64);
    FAILS(E_InvalidValue, hipDeviceGetAttribute(&value, UNKNOWN, 0));
    FAILS(E_InvalidDevice, hipDeviceGetAttribute(&value, WARP, 2));
    OK(hipDeviceGetPCIBusId(id, sizeof id, 1));
    OK(hipDeviceGetByPCIBusId(&device, id));
    assert_int_equal(device, 1);
    FAILS(E_InvalidValue, hipDeviceGetByPCIBusId(&device, "nonsense"));
}

/* The architecture where programs built against AMD's headers read it. */
static void both_property_layouts(void **state)
{
    (void)state;
    enum { OLD = 396, NEW = 1160, OLD_SIZE = 792, NEW_SIZE = 1472, GUARD = 64 };
    char p[NEW_SIZE + GUARD];
    memset(p, 0x5a, sizeof p);
    OK(hipGetDeviceProperties(p, 1));
    assert_string_equal(p + OLD, "gfx90a:sramecc+:xnack-");
    for (int i = 0; i < GUARD; i++) assert_int_equal(p[OLD_SIZE + i], 0x5a);
    memset(p, 0x5a, sizeof p);
    OK(hipGetDevicePropertiesR0600(p, 0));
    assert_string_equal(p + NEW, "gfx942:sramecc+:xnack-");
    for (int i = 0; i < GUARD; i++) assert_int_equal(p[NEW_SIZE + i], 0x5a);
    FAILS(E_InvalidValue, hipGetDeviceProperties(NULL, 0));
    FAILS(E_InvalidDevice, hipGetDevicePropertiesR0600(p, 5));
}

static void contexts_stand_for_devices(void **state)
{
    (void)state;
    ptr context, popped, now;
    int device;
    OK(hipCtxCreate(&context, 0, 1));
    OK(hipCtxGetDevice(&device));
    assert_int_equal(device, 1);
    OK(hipCtxGetCurrent(&now));
    assert_ptr_equal(now, context);
    OK(hipCtxPopCurrent(&popped));
    assert_ptr_equal(popped, context);
    FAILS(E_InvalidContext, hipCtxPopCurrent(&popped));
    OK(hipCtxDestroy(context));
    FAILS(E_InvalidContext, hipCtxDestroy(context));
    FAILS(E_InvalidDevice, hipCtxCreate(&context, 0, 9));
    OK(hipSetDevice(0));
}

/* ---- memory ---- */

static void allocation(void **state)
{
    (void)state;
    ptr p = &p, q;
    size_t before, after, total, size;
    OK(hipMalloc(&p, 0));
    assert_null(p);
    OK(hipFree(NULL));
    FAILS(E_InvalidValue, hipMalloc(NULL, 4));
    FAILS(E_OutOfMemory, hipMalloc(&p, SIZE_MAX / 2));
    OK(hipMemGetInfo(&before, &total));
    OK(hipMalloc(&p, 1000));
    assert_int_equal((uintptr_t)p % 256, 0);
    OK(hipMemGetInfo(&after, &total));
    assert_int_equal(before - after, 1000);
    OK(hipMemGetAddressRange(&q, &size, (char *)p + 999));
    assert_ptr_equal(q, p);
    assert_int_equal(size, 1000);
    FAILS(E_NotFound, hipMemGetAddressRange(&q, &size, (char *)p + 1000));
    OK(hipFree(p));
    nothing_found();
    FAILS(E_InvalidValue, hipFree(p));
    found(KILNSIM_DOUBLE_FREE, "");
    OK(hipMalloc(&p, 64));
    FAILS(E_InvalidValue, hipFree((char *)p + 8));
    kilnsim_findings_clear();
    OK(hipFree(p));
    FAILS(E_InvalidValue, hipMallocManaged(&p, 16, 0));
    OK(hipMallocManaged(&p, 16, 1));
    memset(p, 1, 16); /* the host's too */
    OK(hipFree(p));
    OK(hipHostMalloc(&p, 16, 0));
    OK(hipHostFree(p));
    OK(hipHostMalloc(&p, 16, 0));
    OK(hipFree(p)); /* AMD's own samples do */
    ptr pool;
    OK(hipMallocAsync(&p, 16, NULL));
    OK(hipFreeAsync(p, NULL));
    OK(hipDeviceGetDefaultMemPool(&pool, 0));
    OK(hipMallocFromPoolAsync(&p, 16, pool, NULL));
    OK(hipFree(p));
    FAILS(E_InvalidValue, hipMallocFromPoolAsync(&p, 16, &p, NULL));
    nothing_found();
}

static void pointers_are_told_apart(void **state)
{
    (void)state;
    struct {
        int type, device;
        void *on_device, *on_host;
        int managed;
        unsigned flags;
    } a;
    enum { UNREGISTERED, HOST, DEVICE, MANAGED }; /* of ROCm 6, which an unnamed library is */
    ptr p;
    static int plain[4];
    OK(hipSetDevice(1));
    OK(hipMalloc(&p, 16));
    OK(hipSetDevice(0));
    OK(hipPointerGetAttributes(&a, (char *)p + 4));
    assert_int_equal(a.type, DEVICE);
    assert_int_equal(a.device, 1);
    assert_null(a.on_host);
    OK(hipFree(p));
    OK(hipHostMalloc(&p, 16, 0));
    OK(hipPointerGetAttributes(&a, p));
    assert_int_equal(a.type, HOST);
    assert_ptr_equal(a.on_host, p);
    OK(hipHostFree(p));
    OK(hipMallocManaged(&p, 16, 1));
    OK(hipPointerGetAttributes(&a, p));
    assert_int_equal(a.type, MANAGED);
    assert_int_equal(a.managed, 1);
    OK(hipFree(p));
    OK(hipPointerGetAttributes(&a, plain));
    assert_int_equal(a.type, UNREGISTERED);
    OK(hipHostRegister(plain, sizeof plain, 0));
    FAILS(E_HostMemoryAlreadyRegistered, hipHostRegister(plain, sizeof plain, 0));
    OK(hipPointerGetAttributes(&a, plain));
    assert_int_equal(a.type, HOST);
    OK(hipHostUnregister(plain));
    FAILS(E_HostMemoryNotRegistered, hipHostUnregister(plain));
    FAILS(E_InvalidValue, hipPointerGetAttributes(NULL, plain));
    nothing_found();
}

/* ---- copies ---- */

static void copies_go_everywhere(void **state)
{
    (void)state;
    ptr a, b;
    unsigned char from[100], to[100];
    for (int i = 0; i < 100; i++) from[i] = (unsigned char)i;
    OK(hipMalloc(&a, 100));
    OK(hipMalloc(&b, 100));
    OK(hipMemcpy(a, from, 100, H2D));
    OK(hipMemcpy(b, a, 100, D2D));
    OK(hipMemcpy(to, b, 100, D2H));
    assert_memory_equal(to, from, 100);
    memset(to, 0, 100);
    OK(hipMemcpy(to, b, 100, BY_ADDRESS));
    assert_memory_equal(to, from, 100);
    memset(to, 0, 100);
    OK(hipMemcpy(to, from, 100, H2H));
    assert_memory_equal(to, from, 100);
    OK(hipMemcpy(a, from, 0, H2D));
    /* 5 rows of 7 bytes out of rows of 10, into rows of 20 */
    OK(hipMemset(a, 0xee, 100));
    OK(hipMemcpy2D(a, 20, from, 10, 7, 5, H2D));
    OK(hipMemcpyDtoH(to, a, 100));
    for (int y = 0; y < 5; y++)
        for (int x = 0; x < 20; x++)
            assert_int_equal(to[20 * y + x], x < 7 ? from[10 * y + x] : 0xee);
    OK(hipFree(a));
    OK(hipFree(b));
    nothing_found();
}

static void copies_stay_in_bounds(void **state)
{
    (void)state;
    ptr p, freed;
    char host[256] = {0}, same[64];
    OK(hipMalloc(&p, 64));
    OK(hipMemset(p, 7, 64));
    FAILS(E_InvalidValue, hipMemcpy(p, host, 65, H2D));
    found(KILNSIM_BOUNDS, "1 too many");
    FAILS(E_InvalidValue, hipMemcpyHtoD((char *)p + 60, host, 8));
    found(KILNSIM_BOUNDS, "8 bytes from byte 60");
    OK(hipMemcpyDtoH(same, p, 64)); /* nothing was written */
    for (int i = 0; i < 64; i++) assert_int_equal(same[i], 7);
    FAILS(E_InvalidValue, hipMemcpy(host, p, 100, D2H));
    found(KILNSIM_BOUNDS, "source");
    FAILS(E_InvalidValue, hipMemcpy(host, host + 128, 8, D2H));
    found(KILNSIM_BOUNDS, "in no allocation");
    FAILS(E_InvalidValue, hipMemcpy2D(p, 16, host, 16, 10, 5, H2D)); /* ends at 74 */
    found(KILNSIM_BOUNDS, "74 bytes");
    OK(hipMemcpy2D(p, 18, host, 18, 10, 4, H2D)); /* ends at 64: the last row's rest is not there */
    FAILS(E_InvalidPitchValue, hipMemcpy2D(p, 8, host, 16, 10, 2, H2D));
    FAILS(E_InvalidValue, hipMemcpy2D(p, SIZE_MAX / 2, host, SIZE_MAX / 2, 10, 5, H2D));
    FAILS(E_InvalidMemcpyDirection, hipMemcpy(p, host, 4, 5));
    FAILS(E_InvalidMemcpyDirection, hipMemcpy(p, host, 4, -1));
    FAILS(E_InvalidValue, hipMemcpy(NULL, host, 4, H2D));
    FAILS(E_InvalidValue, hipMemcpy(p, NULL, 4, H2D));
    kilnsim_findings_clear();
    OK(hipMalloc(&freed, 64));
    OK(hipFree(freed));
    FAILS(E_InvalidValue, hipMemcpy(freed, host, 4, H2D));
    found(KILNSIM_FREED, "freed before");
    OK(hipFree(p));
}

static void fills(void **state)
{
    (void)state;
    ptr p;
    unsigned char to[32];
    uint16_t half[16];
    uint32_t word[8];
    OK(hipMalloc(&p, 32));
    OK(hipMemset(p, 0x1ff, 32));
    OK(hipMemcpyDtoH(to, p, 32));
    for (int i = 0; i < 32; i++) assert_int_equal(to[i], 0xff);
    OK(hipMemsetD16((char *)p + 2, 0x1234, 3));
    OK(hipMemcpyDtoH(half, p, 32));
    for (int i = 0; i < 16; i++) assert_int_equal(half[i], i >= 1 && i < 4 ? 0x1234 : 0xffff);
    OK(hipMemsetD32(p, 0x12345678, 8));
    OK(hipMemcpyDtoH(word, p, 32));
    for (int i = 0; i < 8; i++) assert_int_equal(word[i], 0x12345678);
    OK(hipMemset2D(p, 8, 1, 3, 4));
    OK(hipMemcpyDtoH(to, p, 32));
    for (int i = 0; i < 32; i++) assert_int_equal(to[i] == 1, i % 8 < 3);
    FAILS(E_InvalidValue, hipMemsetD32((char *)p + 2, 0, 1)); /* not aligned */
    FAILS(E_InvalidValue, hipMemsetD32(p, 0, 9));
    found(KILNSIM_BOUNDS, "fill");
    FAILS(E_InvalidValue, hipMemsetD32(p, 0, SIZE_MAX / 2));
    FAILS(E_InvalidValue, hipMemset(to, 0, 4)); /* the host's own */
    found(KILNSIM_BOUNDS, "in no allocation");
    OK(hipFree(p));
}

/* ---- streams and events ---- */

static void called(void *user)
{
    ++*(int *)user;
}

static void called_back(void *stream, int status, void *user)
{
    (void)stream;
    *(int *)user = status == 0 ? 1 : -1;
}

static void streams(void **state)
{
    (void)state;
    ptr s;
    unsigned flags = 9;
    int calls = 0;
    OK(hipStreamCreateWithFlags(&s, 1));
    OK(hipStreamGetFlags(s, &flags));
    assert_int_equal(flags, 1);
    OK(hipStreamQuery(s));
    OK(hipStreamSynchronize(s));
    OK(hipStreamSynchronize(NULL));
    OK(hipStreamSynchronize((ptr)1)); /* legacy */
    OK(hipStreamSynchronize((ptr)2)); /* per thread */
    OK(hipLaunchHostFunc(s, called, &calls));
    assert_int_equal(calls, 1);
    OK(hipStreamAddCallback(s, called_back, &calls, 0));
    assert_int_equal(calls, 1);
    FAILS(E_InvalidValue, hipStreamAddCallback(s, NULL, NULL, 0));
    FAILS(E_InvalidValue, hipLaunchHostFunc(s, NULL, NULL));
    FAILS(E_InvalidValue, hipStreamCreateWithFlags(&s, 8));
    FAILS(E_InvalidValue, hipStreamCreate(NULL));
    OK(hipStreamDestroy(s));
    FAILS(E_ContextIsDestroyed, hipStreamDestroy(s)); /* as AMD's runtime calls it */
    FAILS(E_ContextIsDestroyed, hipStreamSynchronize(s));
    FAILS(E_ContextIsDestroyed, hipStreamSynchronize(&calls));
    FAILS(E_ContextIsDestroyed, hipMemsetAsync(&calls, 0, 1, s));
    FAILS(E_InvalidHandle, hipStreamDestroy(NULL));
    FAILS(E_InvalidHandle, hipStreamDestroy((ptr)1));
    FAILS(E_InvalidHandle, hipMallocAsync(&s, 16, s)); /* pools have another word for it */
}

static void registered_memory_keeps_its_flags(void **state)
{
    (void)state;
    static char memory[64];
    struct {
        int type, device;
        ptr on_device, on_host;
        int managed;
        unsigned flags;
    } what;
    unsigned flags = 0;
    ptr p;
    FAILS(E_InvalidValue, hipHostRegister(memory, sizeof memory, 16));
    FAILS(E_InvalidValue, hipHostGetFlags(&flags, memory));
    OK(hipHostRegister(memory, sizeof memory, 3)); /* portable, mapped */
    OK(hipHostGetFlags(&flags, memory + 5));
    assert_int_equal(flags, 3);
    OK(hipPointerGetAttributes(&what, memory));
    assert_int_equal(what.flags, 3);
    FAILS(E_HostMemoryAlreadyRegistered, hipHostRegister(memory, sizeof memory, 0));
    OK(hipHostUnregister(memory));
    OK(hipHostMalloc(&p, 64, 0x40000000));
    OK(hipHostGetFlags(&flags, p));
    assert_int_equal(flags, 0x40000000);
    OK(hipHostFree(p));
    FAILS(E_InvalidValue, hipHostMalloc(&p, 64, 0xc0000000)); /* coherent and not */
}

static void *enable_again(void *user)
{
    *(int *)user = hipDeviceEnablePeerAccess(1, 0);
    return NULL;
}

static void devices_are_peers(void **state)
{
    (void)state;
    pthread_t thread;
    int value = -1, code = 0;
    uint32_t type = 0, hops = 0;
    size_t free0, free1, total, now;
    ptr p;
    OK(hipSetDevice(0));
    OK(hipDeviceEnablePeerAccess(1, 0));
    assert_int_equal(pthread_create(&thread, NULL, enable_again, &code), 0);
    pthread_join(thread, NULL);
    assert_int_equal(code, E_PeerAccessAlreadyEnabled); /* it is the process's */
    OK(hipDeviceDisablePeerAccess(1));
    FAILS(E_PeerAccessNotEnabled, hipDeviceDisablePeerAccess(1));
    FAILS(E_InvalidDevice, hipDeviceEnablePeerAccess(0, 0));
    OK(hipDeviceGetP2PAttribute(&value, 1, 0, 1));
    assert_int_equal(value, 1);
    FAILS(E_InvalidValue, hipDeviceGetP2PAttribute(&value, 4, 0, 1));
    FAILS(E_InvalidDevice, hipDeviceGetP2PAttribute(&value, 1, 0, 0));
    OK(hipExtGetLinkTypeAndHopCount(0, 1, &type, &hops));
    assert_int_equal(hops, 1);

    OK(hipMemGetInfo(&free0, &total)); /* each has its own memory */
    OK(hipSetDevice(1));
    OK(hipMemGetInfo(&free1, &total));
    OK(hipMalloc(&p, 4096));
    OK(hipMemGetInfo(&now, &total));
    assert_int_equal(free1 - now, 4096);
    OK(hipSetDevice(0));
    OK(hipMemGetInfo(&now, &total));
    assert_int_equal(now, free0);
    OK(hipFree(p)); /* from whichever device */
    OK(hipSetDevice(1));
    OK(hipMemGetInfo(&now, &total));
    assert_int_equal(now, free1);
    OK(hipSetDevice(0));
}

static void what_is_not_there_says_so(void **state)
{
    (void)state;
    int major = 0, minor = -1;
    FAILS(E_NotSupported, hipMallocArray());
    FAILS(E_NotSupported, hipIpcGetMemHandle());
    assert_int_equal(hiprtcCompileProgram(), 11);
    assert_string_equal(hiprtcGetErrorString(11), "HIPRTC_ERROR_INTERNAL_ERROR");
    assert_int_equal(hiprtcVersion(&major, &minor), 0);
    assert_int_equal(major, 6);
    assert_string_equal(hipApiName(3), "unknown");
    assert_null(hipKernelNameRef(&major));
    assert_null(hipKernelNameRefByPtr(&major, NULL));
    assert_true(__gnu_h2f_ieee(0x3c00) == 1.0f);
    assert_int_equal(__gnu_f2h_ieee(65504.0f), 0x7bff);
}

static void events(void **state)
{
    (void)state;
    ptr a, b, untimed;
    float ms = -1;
    OK(hipEventCreate(&a));
    OK(hipEventCreate(&b));
    OK(hipEventCreateWithFlags(&untimed, 2));
    FAILS(E_InvalidHandle, hipEventElapsedTime(&ms, a, b)); /* not recorded yet */
    OK(hipEventRecord(a, NULL));
    OK(hipEventQuery(a));
    OK(hipEventRecord(b, NULL));
    OK(hipEventRecord(untimed, NULL));
    OK(hipEventSynchronize(b));
    OK(hipEventElapsedTime(&ms, a, b));
    assert_true(ms >= 0 && ms < 1000);
    FAILS(E_InvalidHandle, hipEventElapsedTime(&ms, a, untimed));
    FAILS(E_InvalidValue, hipEventElapsedTime(NULL, a, b));
    OK(hipStreamWaitEvent(NULL, a, 0));
    FAILS(E_InvalidHandle, hipEventRecord(&ms, NULL));
    FAILS(E_InvalidHandle, hipEventRecord(NULL, NULL));
    FAILS(E_NotSupported, hipEventCreateWithFlags(&a, 4 | 2)); /* of several processes */
    FAILS(E_InvalidValue, hipEventCreateWithFlags(&a, 0x100));
    OK(hipEventDestroy(a));
    FAILS(E_InvalidHandle, hipEventDestroy(a));
    FAILS(E_InvalidHandle, hipEventElapsedTime(&ms, a, b));
    OK(hipEventDestroy(b));
    OK(hipEventDestroy(untimed));
}

/* ---- capture without device code ---- */

static void captured_work_waits_for_the_launch(void **state)
{
    (void)state;
    ptr s, p, graph, exec;
    int status = -1, calls = 0;
    char host[16], from[16];
    memset(from, 3, 16);
    memset(host, 0, 16);
    OK(hipStreamCreate(&s));
    OK(hipMalloc(&p, 16));
    OK(hipMemset(p, 9, 16));
    OK(hipStreamBeginCapture(s, 1));
    FAILS(E_IllegalState, hipStreamBeginCapture(s, 1));
    OK(hipStreamIsCapturing(s, &status));
    assert_int_equal(status, 1);
    OK(hipMemcpyHtoDAsync(p, from, 16, s));
    OK(hipMemsetAsync(p, 5, 8, s));
    OK(hipLaunchHostFunc(s, called, &calls));
    OK(hipMemcpyDtoHAsync(host, p, 16, s));
    OK(hipStreamEndCapture(s, &graph));
    OK(hipStreamIsCapturing(s, &status));
    assert_int_equal(status, 0);
    assert_int_equal(calls, 0);
    assert_int_equal(host[0], 0);
    OK(hipMemcpy(host, p, 16, D2H));
    assert_int_equal(host[0], 9);
    OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    OK(hipGraphDestroy(graph));
    FAILS(E_InvalidValue, hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    for (int turn = 1; turn <= 2; turn++) {
        OK(hipGraphLaunch(exec, s));
        assert_int_equal(calls, turn);
        for (int i = 0; i < 16; i++) assert_int_equal(host[i], i < 8 ? 5 : 3);
        memset(host, 0, 16);
    }
    OK(hipGraphExecDestroy(exec));
    FAILS(E_InvalidValue, hipGraphLaunch(exec, s));
    FAILS(E_InvalidValue, hipGraphExecDestroy(exec));
    OK(hipFree(p));
    OK(hipStreamDestroy(s));
}

static void forks_must_be_joined(void **state)
{
    (void)state;
    ptr s, t, fork, join, graph, p;
    OK(hipStreamCreate(&s));
    OK(hipStreamCreate(&t));
    OK(hipEventCreate(&fork));
    OK(hipEventCreate(&join));
    OK(hipMalloc(&p, 16));
    for (int joined = 0; joined < 2; joined++) {
        OK(hipStreamBeginCapture(s, 1));
        OK(hipEventRecord(fork, s));
        OK(hipStreamWaitEvent(t, fork, 0));
        OK(hipMemsetAsync(p, 1, 4, t));
        OK(hipEventRecord(join, t));
        FAILS(E_CapturedEvent, hipEventSynchronize(join));
        FAILS(E_StreamCaptureUnmatched, hipStreamEndCapture(t, &graph));
        if (joined) OK(hipStreamWaitEvent(s, join, 0));
        assert_int_equal(hipStreamEndCapture(s, &graph), joined ? 0 : E_StreamCaptureUnjoined);
        OK(hipMemsetAsync(p, 1, 4, t)); /* no longer captures */
        if (joined)
            OK(hipGraphDestroy(graph));
        else
            assert_null(graph);
    }
    OK(hipFree(p));
    OK(hipEventDestroy(fork));
    OK(hipEventDestroy(join));
    OK(hipStreamDestroy(s));
    OK(hipStreamDestroy(t));
}

static void forbidden_calls_spoil_a_capture(void **state)
{
    (void)state;
    ptr s, graph, p, event;
    int mode = 2, status;
    enum { GLOBAL, THREAD_LOCAL, RELAXED, INVALID = 2 };
    OK(hipStreamCreate(&s));
    OK(hipEventCreate(&event));
    FAILS(E_StreamCaptureUnsupported, hipStreamBeginCapture(NULL, GLOBAL));
    FAILS(E_IllegalState, hipStreamEndCapture(s, &graph));
    FAILS(E_InvalidValue, hipStreamBeginCapture(s, 7));

    OK(hipStreamBeginCapture(s, GLOBAL));
    FAILS(E_StreamCaptureUnsupported, hipMalloc(&p, 16));
    OK(hipStreamIsCapturing(s, &status));
    assert_int_equal(status, INVALID);
    FAILS(E_StreamCaptureInvalidated, hipStreamEndCapture(s, &graph));

    OK(hipStreamBeginCapture(s, THREAD_LOCAL));
    FAILS(E_StreamCaptureUnsupported, hipStreamSynchronize(s));
    FAILS(E_StreamCaptureInvalidated, hipStreamEndCapture(s, &graph));

    /* What kiln's loader does: relaxed for the time of a load. */
    OK(hipStreamBeginCapture(s, THREAD_LOCAL));
    OK(hipThreadExchangeStreamCaptureMode(&mode));
    assert_int_equal(mode, GLOBAL);
    OK(hipMalloc(&p, 16));
    OK(hipFree(p));
    OK(hipThreadExchangeStreamCaptureMode(&mode));
    assert_int_equal(mode, RELAXED);
    OK(hipStreamEndCapture(s, &graph));
    OK(hipGraphDestroy(graph));

    OK(hipStreamBeginCapture(s, RELAXED));
    OK(hipMalloc(&p, 16));
    OK(hipEventRecord(event, NULL)); /* outside the capture */
    FAILS(E_StreamCaptureIsolation, hipStreamWaitEvent(s, event, 0));
    FAILS(E_StreamCaptureInvalidated, hipStreamEndCapture(s, &graph));
    FAILS(E_InvalidValue, hipStreamEndCapture(s, NULL));
    OK(hipFree(p));
    OK(hipEventDestroy(event));
    OK(hipStreamDestroy(s));
}

/* A thread that begins a capture in its own stream, and is gone. */
static void *begin_and_leave(void *user)
{
    return hipStreamBeginCapture((ptr)2, 2) == 0 ? user : NULL;
}

static void a_stream_of_each_thread(void **state)
{
    (void)state;
    const ptr mine = (ptr)2;
    ptr p, graph, exec, event;
    char host[4] = {0};
    pthread_t thread;
    void *result = NULL;
    OK(hipMalloc(&p, 4));
    OK(hipEventCreate(&event));
    OK(hipStreamBeginCapture(mine, 2));
    OK(hipEventRecord(event, mine));
    FAILS(E_StreamCaptureImplicit, hipStreamWaitEvent(NULL, event, 0));
    OK(hipMemsetAsync(p, 6, 4, mine));
    OK(hipMemcpyDtoHAsync(host, p, 4, mine));
    assert_int_equal(pthread_create(&thread, NULL, begin_and_leave, host), 0);
    pthread_join(thread, &result);
    assert_non_null(result); /* its stream is another */
    OK(hipStreamEndCapture(mine, &graph));
    OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    OK(hipGraphLaunch(exec, mine));
    assert_int_equal(host[3], 6);
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphDestroy(graph));
    OK(hipEventDestroy(event));
    OK(hipFree(p));
}

static void graphs_by_hand(void **state)
{
    (void)state;
    struct {
        void *to;
        unsigned element;
        size_t height, pitch;
        unsigned value;
        size_t width;
    } ones = {.element = 4, .height = 1, .value = 0x01010101, .width = 4};
    ptr graph, exec, set, copy, empty, list[4] = {0}, p;
    unsigned char host[16] = {0};
    size_t count = 0;
    int type = -1;
    OK(hipMalloc(&p, 16));
    ones.to = p;
    OK(hipGraphCreate(&graph, 0));
    OK(hipGraphAddMemcpyNode1D(&copy, graph, NULL, 0, host, p, 16, D2H)); /* before what it needs */
    OK(hipGraphAddMemsetNode(&set, graph, NULL, 0, &ones));
    OK(hipGraphAddDependencies(graph, &set, &copy, 1));
    OK(hipGraphAddEmptyNode(&empty, graph, &copy, 1));
    OK(hipGraphGetNodes(graph, NULL, &count));
    assert_int_equal(count, 3);
    count = 4;
    OK(hipGraphGetNodes(graph, list, &count));
    assert_ptr_equal(list[0], copy);
    assert_null(list[3]);
    OK(hipGraphNodeGetType(set, &type));
    assert_int_equal(type, 2);
    OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    OK(hipGraphLaunch(exec, NULL));
    for (int i = 0; i < 16; i++) assert_int_equal(host[i], 1);
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphAddDependencies(graph, &empty, &set, 1)); /* a circle */
    FAILS(E_InvalidValue, hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    FAILS(E_InvalidValue, hipGraphAddDependencies(graph, &set, &set, 1));
    FAILS(E_InvalidValue, hipGraphAddEmptyNode(&empty, &p, NULL, 0));
    ones.element = 3;
    FAILS(E_InvalidValue, hipGraphAddMemsetNode(&set, graph, NULL, 0, &ones));
    OK(hipGraphDestroy(graph));
    FAILS(E_InvalidValue, hipGraphDestroy(graph));
    FAILS(E_InvalidValue, hipGraphNodeGetType(set, &type));
    OK(hipFree(p));
}

int main(void)
{
    setenv("KILN_SIM", "log=off", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_have_names),
        cmocka_unit_test(the_next_call_overwrites_the_last_error),
        cmocka_unit_test(two_devices),
        cmocka_unit_test(both_property_layouts),
        cmocka_unit_test(contexts_stand_for_devices),
        cmocka_unit_test(allocation),
        cmocka_unit_test(pointers_are_told_apart),
        cmocka_unit_test(copies_go_everywhere),
        cmocka_unit_test(copies_stay_in_bounds),
        cmocka_unit_test(fills),
        cmocka_unit_test(streams),
        cmocka_unit_test(registered_memory_keeps_its_flags),
        cmocka_unit_test(devices_are_peers),
        cmocka_unit_test(what_is_not_there_says_so),
        cmocka_unit_test(events),
        cmocka_unit_test(captured_work_waits_for_the_launch),
        cmocka_unit_test(forks_must_be_joined),
        cmocka_unit_test(forbidden_calls_spoil_a_capture),
        cmocka_unit_test(graphs_by_hand),
        cmocka_unit_test(a_stream_of_each_thread), /* last: leaves a capture */
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
