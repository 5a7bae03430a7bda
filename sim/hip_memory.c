// SPDX-License-Identifier: MIT
// Allocation and what is known of a pointer.  Device memory is host memory (alloc.c): a device
// address is a host address, and every allocation is known to the byte.
#include <stdlib.h>
#include <string.h>
#include "hip.h"

enum {
    ALIGN = 256,      /* of hipMalloc */
    PITCH_ALIGN = 128 /* of a row of hipMallocPitch */
};

/* ---- allocation ---- */

static int owner_of(const ks_range *r)
{
    return r->owner ? r->owner - 1 : 0;
}

static int allocate(void **out, size_t size, ks_memory_kind kind, unsigned flags)
{
    const int device = khip_current();
    if (!out) return E_InvalidValue;
    *out = NULL;
    if (size == 0) return 0;
    const khip_device *d = khip_device_of(device);
    const size_t live = ks_alloc_live_on((unsigned)device),
                 all = d ? (size_t)khip_total_memory(d) : 0;
    if (live > all || size > all - live) return E_OutOfMemory;
    *out = ks_alloc(size, ALIGN, kind);
    if (!*out) return E_OutOfMemory;
    ks_note(*out, (unsigned)device, flags);
    return 0;
}

int khip_allocate(void **out, size_t size, ks_memory_kind kind)
{
    return allocate(out, size, kind, 0);
}

/* As AMD's runtime does, each of the functions that free takes what any of those that allocate
 * gave. */
static int release(void *p, ks_memory_kind wanted)
{
    ks_range r;
    if (!p) return 0;
    const bool known = ks_find_range((uint64_t)(uintptr_t)p, &r);
    const bool theirs = known && (r.kind == KS_DEVICE || r.kind == KS_HOST || r.kind == KS_MANAGED);
    return ks_free(p, theirs ? (ks_memory_kind)r.kind : wanted);
}

HIP(hipMalloc, (void **out, size_t size), (out, size))
{
    const int code = khip_unsafe();
    return code ? code : khip_allocate(out, size, KS_DEVICE);
}

HIP(hipExtMallocWithFlags, (void **out, size_t size, unsigned flags), (out, size, flags))
{
    enum { KNOWN = 0x0b }; /* fine-grained, signal, contiguous */
    const int code = khip_unsafe();
    if (code) return code;
    return flags & ~(unsigned)KNOWN ? E_InvalidValue : khip_allocate(out, size, KS_DEVICE);
}

HIP(hipFree, (void *p), (p))
{
    const int code = p ? khip_unsafe() : 0;
    return code ? code : release(p, KS_DEVICE);
}

HIP(hipMallocManaged, (void **out, size_t size, unsigned flags), (out, size, flags))
{
    enum { GLOBAL = 1, HOST = 2, SINGLE = 4 };
    const int code = khip_unsafe();
    if (code) return code;
    if (flags != GLOBAL && flags != HOST && flags != SINGLE) return E_InvalidValue;
    return size ? khip_allocate(out, size, KS_MANAGED) : E_InvalidValue;
}

HIP(hipHostMalloc, (void **out, size_t size, unsigned flags), (out, size, flags))
{
    const unsigned coherence = 0xc0000000u; /* coherent, non-coherent */
    const int code = khip_unsafe();
    if (code) return code;
    return (flags & coherence) == coherence ? E_InvalidValue : allocate(out, size, KS_HOST, flags);
}
HIP_TOO(hipHostAlloc, hipHostMalloc, (void **out, size_t size, unsigned flags))
HIP_TOO(hipExtHostAlloc, hipHostMalloc, (void **out, size_t size, unsigned flags))

HIP(hipMallocHost, (void **out, size_t size), (out, size))
{
    const int code = khip_unsafe();
    return code ? code : khip_allocate(out, size, KS_HOST);
}
HIP_TOO(hipMemAllocHost, hipMallocHost, (void **out, size_t size))

HIP(hipHostFree, (void *p), (p))
{
    return release(p, KS_HOST);
}
HIP_TOO(hipFreeHost, hipHostFree, (void *p))

HIP(hipMallocPitch, (void **out, size_t *pitch, size_t width, size_t height),
    (out, pitch, width, height))
{
    const int unsafe = khip_unsafe();
    if (unsafe) return unsafe;
    if (!out || !pitch || width > SIZE_MAX / 2) return E_InvalidValue;
    const size_t row = (width + PITCH_ALIGN - 1) / PITCH_ALIGN * PITCH_ALIGN;
    if (height && row > SIZE_MAX / 2 / height) return E_OutOfMemory;
    const int code = khip_allocate(out, row * height, KS_DEVICE);
    if (code == 0) *pitch = row;
    return code;
}

HIP(hipMemAllocPitch, (void **out, size_t *pitch, size_t width, size_t height, unsigned element),
    (out, pitch, width, height, element))
{
    if (element != 4 && element != 8 && element != 16) return E_InvalidValue;
    return body_hipMallocPitch(out, pitch, width, height);
}

/* Ordered by the stream, that is, by the order of calls. */
HIP(hipMallocAsync, (void **out, size_t size, void *stream), (out, size, stream))
{
    khip_stream *s;
    const int code = khip_stream_or(stream, E_InvalidHandle, &s);
    if (code) return code;
    if (khip_capturing(s)) return E_StreamCaptureUnsupported;
    return khip_allocate(out, size, KS_DEVICE);
}

HIP(hipFreeAsync, (void *p, void *stream), (p, stream))
{
    khip_stream *s;
    const int code = khip_stream_or(stream, E_InvalidHandle, &s);
    if (code) return code;
    if (!p) return E_InvalidValue;
    return khip_capturing(s) ? E_StreamCaptureUnsupported : release(p, KS_DEVICE);
}

/* ---- memory of the program's own ---- */

HIP(hipHostRegister, (void *p, size_t size, unsigned flags), (p, size, flags))
{
    enum { KNOWN = 0xf }; /* portable, mapped, of a device, read-only or coarse-grained */
    ks_range r;
    const int code = khip_unsafe();
    if (code) return code;
    if (!p || !size || flags & ~(unsigned)KNOWN) return E_InvalidValue;
    if (ks_find_range((uint64_t)(uintptr_t)p, &r) && !r.freed) return E_HostMemoryAlreadyRegistered;
    if (!ks_register(p, size, KS_HOST)) return E_OutOfMemory;
    ks_note(p, (unsigned)khip_current(), flags);
    return 0;
}

HIP(hipHostUnregister, (void *p), (p))
{
    ks_range r;
    if (!p) return E_InvalidValue;
    const uint64_t at = (uint64_t)(uintptr_t)p;
    if (!ks_find_range(at, &r) || r.freed || r.begin != at || r.kind != KS_HOST)
        return E_HostMemoryNotRegistered;
    ks_unregister(p);
    return 0;
}

HIP(hipHostGetDevicePointer, (void **out, void *host, unsigned flags), (out, host, flags))
{
    ks_range r;
    if (!out || !host || flags) return E_InvalidValue;
    if (!ks_find_range((uint64_t)(uintptr_t)host, &r) || r.freed) return E_InvalidValue;
    *out = host;
    return 0;
}

HIP(hipHostGetFlags, (unsigned *flags, void *host), (flags, host))
{
    ks_range r;
    if (!flags || !host) return E_InvalidValue;
    if (!ks_find_range((uint64_t)(uintptr_t)host, &r) || r.freed || r.kind != KS_HOST)
        return E_InvalidValue;
    *flags = r.flags;
    return 0;
}

/* All host memory is everybody's at all times: there is nothing to attach. */
HIP(hipStreamAttachMemAsync, (void *stream, void *p, size_t size, unsigned flags),
    (stream, p, size, flags))
{
    enum { GLOBAL = 1, HOST = 2, SINGLE = 4 };
    khip_stream *s;
    ks_range r;
    const int code = khip_stream_of(stream, &s);
    if (code) return code;
    if (flags != GLOBAL && flags != HOST && flags != SINGLE) return E_InvalidValue;
    if (!p || !ks_find_range((uint64_t)(uintptr_t)p, &r) || r.freed) return E_InvalidValue;
    return size && size != r.end - r.begin ? E_InvalidValue : 0;
}

/* ---- questions ---- */

HIP(hipMemGetInfo, (size_t * free_bytes, size_t *total), (free_bytes, total))
{
    const khip_device *d = khip_device_of(khip_current());
    if (!free_bytes || !total) return E_InvalidValue;
    if (!d) return E_InvalidDevice;
    const size_t live = ks_alloc_live_on((unsigned)khip_current());
    *total = (size_t)khip_total_memory(d);
    *free_bytes = live < *total ? *total - live : 0;
    return 0;
}

static bool known(const void *p, ks_range *r)
{
    return p && ks_find_range((uint64_t)(uintptr_t)p, r) && !r->freed;
}

HIP(hipMemGetAddressRange, (void **base, size_t *size, const void *p), (base, size, p))
{
    ks_range r;
    if (!known(p, &r)) return E_NotFound;
    if (base) *base = (void *)(uintptr_t)r.begin;
    if (size) *size = r.end - r.begin;
    return 0;
}

HIP(hipMemPtrGetInfo, (void *p, size_t *size), (p, size))
{
    ks_range r;
    if (!size) return E_InvalidValue;
    *size = 0;
    if (!p) return 0;
    if (!known(p, &r)) return E_InvalidValue;
    *size = r.end - r.begin;
    return 0;
}

/* hipMemoryType's numbers changed with ROCm 6.  ORDER: host, device, managed */
typedef enum place { ON_HOST, ON_DEVICE, ON_BOTH } place;
static int memory_type(place p)
{
    static const int until_5[] = {0, 1, 3}, since_6[] = {1, 2, 3};
    return khip_abi() < 6 ? until_5[p] : since_6[p];
}

static place place_of(const ks_range *r)
{
    return r->kind == KS_HOST ? ON_HOST : r->kind == KS_MANAGED ? ON_BOTH : ON_DEVICE;
}

typedef struct attributes { /* hipPointerAttribute_t */
    int type, device;
    void *on_device, *on_host;
    int managed;
    unsigned flags;
} attributes;

HIP(hipPointerGetAttributes, (attributes * out, const void *p), (out, p))
{
    ks_range r;
    if (!out || !p) return E_InvalidValue;
    memset(out, 0, sizeof *out);
    if (!known(p, &r)) {
        if (khip_abi() < 6) return E_InvalidValue;
        out->device = -2; /* hipInvalidDeviceId: memory that was never registered */
        out->on_host = (void *)(uintptr_t)p;
        return 0;
    }
    const place where = place_of(&r);
    out->type = memory_type(where);
    out->device = owner_of(&r);
    out->on_device = (void *)(uintptr_t)p;
    out->on_host = where == ON_DEVICE ? NULL : (void *)(uintptr_t)p;
    out->managed = where == ON_BOTH;
    out->flags = r.flags;
    return 0;
}

enum { /* hipPointer_attribute */
       POINTER_TYPE = 2,
       POINTER_DEVICE = 3,
       POINTER_HOST = 4,
       POINTER_MANAGED = 8,
       POINTER_ORDINAL = 9,
       POINTER_START = 11,
       POINTER_SIZE = 12,
};
HIP(hipPointerGetAttribute, (void *out, int attribute, void *p), (out, attribute, p))
{
    ks_range r;
    if (!out || !known(p, &r)) return E_InvalidValue;
    const place where = place_of(&r);
    const void *begin = (const void *)(uintptr_t)r.begin;
    const size_t size = r.end - r.begin;
    const int type = memory_type(where), device = owner_of(&r);
    const uint8_t managed = where == ON_BOTH;
    const void *host = where == ON_DEVICE ? NULL : p;
    switch (attribute) {
    case POINTER_TYPE:
        memcpy(out, &type, sizeof type);
        return 0;
    case POINTER_DEVICE:
        memcpy(out, &p, sizeof p);
        return 0;
    case POINTER_HOST:
        memcpy(out, &host, sizeof host);
        return host ? 0 : E_InvalidValue;
    case POINTER_MANAGED:
        memcpy(out, &managed, sizeof managed);
        return 0;
    case POINTER_ORDINAL:
        memcpy(out, &device, sizeof device);
        return 0;
    case POINTER_START:
        memcpy(out, &begin, sizeof begin);
        return 0;
    case POINTER_SIZE:
        memcpy(out, &size, sizeof size);
        return 0;
    default:
        return E_NotSupported;
    }
}

/* Hints about where managed memory should be: taken and without effect. */
HIP(hipMemAdvise, (const void *p, size_t size, int advice, int device), (p, size, advice, device))
{
    enum { ADVICES = 6, CPU = -1, COARSE = 100, FINE = 101 };
    if (advice < 1 || (advice > ADVICES && advice != COARSE && advice != FINE))
        return E_InvalidValue;
    if (device != CPU && !khip_device_of(device)) return E_InvalidDevice;
    return khip_check_span("hipMemAdvise", p, size, true);
}

HIP(hipMemPrefetchAsync, (const void *p, size_t size, int device, void *stream),
    (p, size, device, stream))
{
    enum { CPU = -1 };
    khip_stream *s;
    const int code = khip_stream_of(stream, &s);
    if (code) return code;
    if (device != CPU && !khip_device_of(device)) return E_InvalidDevice;
    return khip_check_span("hipMemPrefetchAsync", p, size, true);
}
