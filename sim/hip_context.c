// SPDX-License-Identifier: MIT
// Contexts, as programs in the driver's style use them: each only stands for its device.
#include <stdlib.h>
#include "hip.h"

typedef struct context {
    int device;
    unsigned flags;
} context;
enum { DEPTH = 16, API_VERSION = 4 };
#define X(n) {.device = n},
static context primary[KHIP_DEVICES] = {KHIP_EACH_DEVICE(X)};
#undef X
static unsigned retained[KHIP_DEVICES]; /* under khip_lock */
static _Thread_local struct {
    context *at[DEPTH];
    int count;
} stack;

static bool is_context(const void *p)
{
    for (int i = 0; i < KHIP_DEVICES; i++)
        if (p == &primary[i]) return true;
    return khip_handle_is(p, KHIP_CONTEXT);
}

static int push(context *c)
{
    if (stack.count == DEPTH) return E_OutOfMemory;
    const int code = khip_set_device(c->device);
    if (code == 0) stack.at[stack.count++] = c;
    return code;
}

/* After a change of the stack: its top's device is the thread's. */
static int follow(void)
{
    return stack.count ? khip_set_device(stack.at[stack.count - 1]->device) : 0;
}

HIP(hipCtxCreate, (void **out, unsigned flags, int device), (out, flags, device))
{
    if (!out) return E_InvalidValue;
    if (!khip_device_of(device)) return E_InvalidDevice;
    context *c = malloc(sizeof *c);
    if (!c) return E_OutOfMemory;
    *c = (context){device, flags};
    int code = khip_handle_add(c, KHIP_CONTEXT) ? push(c) : E_OutOfMemory;
    if (code) {
        khip_handle_remove(c, KHIP_CONTEXT);
        free(c);
    } else {
        *out = c;
    }
    return code;
}

HIP(hipCtxDestroy, (void *handle), (handle))
{
    if (!khip_handle_remove(handle, KHIP_CONTEXT)) return E_InvalidContext;
    int kept = 0;
    for (int i = 0; i < stack.count; i++)
        if (stack.at[i] != handle) stack.at[kept++] = stack.at[i];
    stack.count = kept;
    free(handle);
    return follow();
}

HIP(hipCtxPushCurrent, (void *handle), (handle))
{
    return is_context(handle) ? push(handle) : E_InvalidContext;
}

HIP(hipCtxPopCurrent, (void **out), (out))
{
    if (!stack.count) return E_InvalidContext;
    context *c = stack.at[--stack.count];
    if (out) *out = c;
    return follow();
}

HIP(hipCtxSetCurrent, (void *handle), (handle))
{
    if (handle && !is_context(handle)) return E_InvalidContext;
    if (stack.count) stack.count--;
    return handle ? push(handle) : 0;
}

HIP(hipCtxGetCurrent, (void **out), (out))
{
    if (!out) return E_InvalidValue;
    *out = stack.count ? stack.at[stack.count - 1] : NULL;
    return 0;
}

HIP(hipCtxGetDevice, (int *device), (device))
{
    if (!device) return E_InvalidValue;
    *device = khip_current();
    return 0;
}

HIP(hipCtxGetApiVersion, (void *handle, unsigned *version), (handle, version))
{
    if (!version) return E_InvalidValue;
    if (handle && !is_context(handle)) return E_InvalidContext;
    *version = API_VERSION;
    return 0;
}

HIP(hipCtxGetFlags, (unsigned *flags), (flags))
{
    if (!flags) return E_InvalidValue;
    *flags = stack.count ? stack.at[stack.count - 1]->flags : 0;
    return 0;
}

/* ---- the one that each device always has ---- */

HIP(hipDevicePrimaryCtxRetain, (void **out, int device), (out, device))
{
    if (!out) return E_InvalidValue;
    if (!khip_device_of(device)) return E_InvalidDevice;
    khip_lock();
    retained[device]++;
    khip_unlock();
    *out = &primary[device];
    return 0;
}

HIP(hipDevicePrimaryCtxRelease, (int device), (device))
{
    int code = 0;
    if (!khip_device_of(device)) return E_InvalidDevice;
    khip_lock();
    if (retained[device])
        retained[device]--;
    else
        code = E_InvalidContext;
    khip_unlock();
    return code;
}

HIP(hipDevicePrimaryCtxReset, (int device), (device))
{
    return khip_device_of(device) ? 0 : E_InvalidDevice;
}

HIP(hipDevicePrimaryCtxGetState, (int device, unsigned *flags, int *active),
    (device, flags, active))
{
    if (!khip_device_of(device)) return E_InvalidDevice;
    if (!flags || !active) return E_InvalidValue;
    khip_lock();
    *flags = primary[device].flags;
    *active = retained[device] != 0;
    khip_unlock();
    return 0;
}

HIP(hipDevicePrimaryCtxSetFlags, (int device, unsigned flags), (device, flags))
{
    if (!khip_device_of(device)) return E_InvalidDevice;
    khip_lock();
    primary[device].flags = flags;
    khip_unlock();
    return 0;
}

/* ---- peers: of the current device ---- */

HIP(hipCtxEnablePeerAccess, (void *peer, unsigned flags), (peer, flags))
{
    return is_context(peer) ? khip_enable_peer(((context *)peer)->device, flags) : E_InvalidContext;
}

HIP(hipCtxDisablePeerAccess, (void *peer), (peer))
{
    return is_context(peer) ? khip_disable_peer(((context *)peer)->device) : E_InvalidContext;
}
