// SPDX-License-Identifier: MIT
// Memory pools: every allocation is made at the call and is an allocation like others, so that a
// pool has only its attributes.
#include <stdlib.h>
#include <string.h>
#include "hip.h"

enum { REUSE_FIRST = 1, REUSE_LAST = 3, RELEASE_THRESHOLD = 4, READ_ONLY_LAST = 8 };
typedef struct pool {
    int device;
    int reuse[REUSE_LAST];
    uint64_t threshold;
} pool;
#define X(n) {n, {1, 1, 1}, 0},
static pool standard[KHIP_DEVICES] = {KHIP_EACH_DEVICE(X)};
#undef X
#define X(n) &standard[n],
static pool *chosen[KHIP_DEVICES] = {KHIP_EACH_DEVICE(X)}; /* under khip_lock */
#undef X

static bool is_pool(const void *p)
{
    for (int i = 0; i < KHIP_DEVICES; i++)
        if (p == &standard[i]) return true;
    return khip_handle_is(p, KHIP_POOL);
}

HIP(hipDeviceGetDefaultMemPool, (void **out, int device), (out, device))
{
    if (!out) return E_InvalidValue;
    if (!khip_device_of(device)) return E_InvalidDevice;
    *out = &standard[device];
    return 0;
}

HIP(hipDeviceGetMemPool, (void **out, int device), (out, device))
{
    if (!out) return E_InvalidValue;
    if (!khip_device_of(device)) return E_InvalidDevice;
    khip_lock();
    *out = chosen[device];
    khip_unlock();
    return 0;
}

HIP(hipDeviceSetMemPool, (int device, void *handle), (device, handle))
{
    if (!khip_device_of(device)) return E_InvalidDevice;
    if (!is_pool(handle)) return E_InvalidValue;
    khip_lock();
    chosen[device] = handle;
    khip_unlock();
    return 0;
}

typedef struct properties { /* hipMemPoolProps; the rest is of other processes and systems */
    int allocation, handles, place_type, place;
} properties;
HIP(hipMemPoolCreate, (void **out, const properties *p), (out, p))
{
    enum { PINNED = 1, ON_DEVICE = 1 };
    if (!out || !p || p->allocation != PINNED || p->place_type != ON_DEVICE) return E_InvalidValue;
    if (p->handles)
        return khip_refuse(E_NotSupported, "hipMemPoolCreate: memory shared with other processes: "
                                           "the simulator's device is this process's own");
    if (!khip_device_of(p->place)) return E_InvalidDevice;
    pool *fresh = malloc(sizeof *fresh);
    if (!fresh) return E_OutOfMemory;
    *fresh = (pool){p->place, {1, 1, 1}, 0};
    if (!khip_handle_add(fresh, KHIP_POOL)) {
        free(fresh);
        return E_OutOfMemory;
    }
    *out = fresh;
    return 0;
}

HIP(hipMemPoolDestroy, (void *handle), (handle))
{
    if (!khip_handle_remove(handle, KHIP_POOL)) return E_InvalidValue;
    khip_lock();
    for (int i = 0; i < KHIP_DEVICES; i++)
        if (chosen[i] == handle) chosen[i] = &standard[i];
    khip_unlock();
    free(handle);
    return 0;
}

HIP(hipMemPoolTrimTo, (void *handle, size_t bytes), (handle, bytes))
{
    (void)bytes;
    return is_pool(handle) ? 0 : E_InvalidValue;
}

HIP(hipMemPoolSetAttribute, (void *handle, int attribute, void *value), (handle, attribute, value))
{
    pool *p = handle;
    if (!is_pool(p) || !value) return E_InvalidValue;
    if (attribute >= REUSE_FIRST && attribute <= REUSE_LAST)
        memcpy(&p->reuse[attribute - REUSE_FIRST], value, sizeof(int));
    else if (attribute == RELEASE_THRESHOLD)
        memcpy(&p->threshold, value, sizeof p->threshold);
    else if (attribute < REUSE_FIRST || attribute > READ_ONLY_LAST)
        return E_InvalidValue;
    return 0;
}

/* What is reserved and what is used is what the program has allocated. */
HIP(hipMemPoolGetAttribute, (void *handle, int attribute, void *value), (handle, attribute, value))
{
    const pool *p = handle;
    if (!is_pool(p) || !value) return E_InvalidValue;
    if (attribute < REUSE_FIRST || attribute > READ_ONLY_LAST) return E_InvalidValue;
    const uint64_t n = attribute == RELEASE_THRESHOLD ? p->threshold : ks_alloc_live();
    if (attribute <= REUSE_LAST)
        memcpy(value, &p->reuse[attribute - REUSE_FIRST], sizeof(int));
    else
        memcpy(value, &n, sizeof n);
    return 0;
}

/* Every device reaches every pool: who may is noted nowhere. */
typedef struct place { /* hipMemLocation */
    int type, device;
} place;
typedef struct access { /* hipMemAccessDesc */
    place where;
    int flags;
} access;
enum { MAY_READ = 1, MAY_WRITE = 3 };
HIP(hipMemPoolSetAccess, (void *handle, const access *wanted, size_t count),
    (handle, wanted, count))
{
    if (!is_pool(handle) || (count && !wanted)) return E_InvalidValue;
    for (size_t i = 0; i < count; i++) {
        if (!khip_device_of(wanted[i].where.device)) return E_InvalidDevice;
        if (wanted[i].flags && wanted[i].flags != MAY_READ && wanted[i].flags != MAY_WRITE)
            return E_InvalidValue;
    }
    return 0;
}

HIP(hipMemPoolGetAccess, (int *flags, void *handle, const place *where), (flags, handle, where))
{
    if (!flags || !is_pool(handle) || !where) return E_InvalidValue;
    if (!khip_device_of(where->device)) return E_InvalidDevice;
    *flags = MAY_WRITE;
    return 0;
}

HIP(hipMallocFromPoolAsync, (void **out, size_t size, void *handle, void *stream),
    (out, size, handle, stream))
{
    khip_stream *s;
    const int code = khip_stream_or(stream, E_InvalidHandle, &s);
    if (code) return code;
    if (!is_pool(handle)) return E_InvalidValue;
    return khip_capturing(s) ? E_StreamCaptureUnsupported : khip_allocate(out, size, KS_DEVICE);
}
