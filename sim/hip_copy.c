// SPDX-License-Identifier: MIT
// Copies and fills.  Each is an operation of a stream (hip_stream.c); the forms without a stream
// use the legacy one.  Both sides are checked against the allocations before a byte moves.
#include <string.h>
#include "hip.h"

enum { HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, BY_ADDRESS, NO_CU = 1024 };

int khip_check_span(const char *what, const void *p, size_t size, bool needed)
{
    ks_range r;
    const uint64_t at = (uint64_t)(uintptr_t)p;
    if (size == 0) return 0;
    if (!p) return E_InvalidValue;
    const bool inside = ks_find_range(at, &r);
    if (!inside && !needed) return 0;
    if (!inside) {
        ks_report_host(KILNSIM_BOUNDS, at,
                       "%s: the address is in no allocation: pass what "
                       "hipMalloc gave, or the right hipMemcpyKind",
                       what);
        return E_InvalidValue;
    }
    if (r.freed) {
        if (!needed && r.kind == KS_HOST) return 0; /* the program's own again */
        ks_report_host(KILNSIM_FREED, at, "%s: allocation %u was freed before this call", what,
                       r.id);
        return E_InvalidValue;
    }
    if (size <= r.end - at) return 0;
    ks_report_host(KILNSIM_BOUNDS, r.end,
                   "%s: %zu bytes from byte %llu of allocation %u, which has %llu: %llu too many",
                   what, size, (unsigned long long)(at - r.begin), r.id,
                   (unsigned long long)(r.end - r.begin),
                   (unsigned long long)(size - (r.end - at)));
    return E_InvalidValue;
}

/* Bytes from the first to the last of a pitched box; false: it wraps around. */
static bool extent(size_t width, size_t height, size_t depth, size_t pitch, size_t slice,
                   size_t *out)
{
    size_t rows = 0, slices = 0;
    *out = 0;
    if (!width || !height || !depth) return true;
    if (__builtin_mul_overflow(height - 1, pitch, &rows)) return false;
    if (__builtin_mul_overflow(depth - 1, slice, &slices)) return false;
    return !__builtin_add_overflow(rows, slices, out) && !__builtin_add_overflow(*out, width, out);
}

static bool known_kind(int kind)
{
    return (kind >= HOST_TO_HOST && kind <= BY_ADDRESS) || kind == NO_CU;
}

int khip_check_copy(const khip_copy *c)
{
    size_t to, from;
    if (!known_kind(c->kind)) return E_InvalidMemcpyDirection;
    if ((c->height > 1 || c->depth > 1) && (c->width > c->to_pitch || c->width > c->from_pitch))
        return E_InvalidPitchValue;
    if (!extent(c->width, c->height, c->depth, c->to_pitch, c->to_slice, &to) ||
        !extent(c->width, c->height, c->depth, c->from_pitch, c->from_slice, &from))
        return E_InvalidValue;
    const bool device = c->kind == DEVICE_TO_DEVICE || c->kind == NO_CU;
    const int code =
        khip_check_span("copy, destination", c->to, to, device || c->kind == HOST_TO_DEVICE);
    return code ? code
                : khip_check_span("copy, source", c->from, from,
                                  device || c->kind == DEVICE_TO_HOST);
}

int khip_copy_run(const khip_copy *c)
{
    const int code = khip_check_copy(c);
    if (code) return code;
    if (!c->width || !c->height || !c->depth) return 0;
    for (size_t z = 0; z < c->depth; z++)
        for (size_t y = 0; y < c->height; y++) {
            char *to = (char *)c->to + z * c->to_slice + y * c->to_pitch;
            const char *from = (const char *)c->from + z * c->from_slice + y * c->from_pitch;
            memmove(to, from, c->width);
            ks_memory_copied(to, from, c->width);
        }
    return 0;
}

int khip_check_set(const khip_set *s)
{
    size_t row, all;
    if (__builtin_mul_overflow(s->width, s->size, &row)) return E_InvalidValue;
    if ((s->height > 1 || s->depth > 1) && row > s->pitch) return E_InvalidPitchValue;
    if ((uintptr_t)s->to % s->size) return E_InvalidValue;
    if (!extent(row, s->height, s->depth, s->pitch, s->slice, &all)) return E_InvalidValue;
    return khip_check_span("fill", s->to, all, true);
}

static void set_row(char *to, const khip_set *s)
{
    ks_memory_written(to, s->width * s->size);
    if (s->size == 1) {
        memset(to, (int)(s->value & 0xff), s->width);
        return;
    }
    for (size_t i = 0; i < s->width; i++) memcpy(to + i * s->size, &s->value, s->size);
}

int khip_set_run(const khip_set *s)
{
    const int code = khip_check_set(s);
    if (code || !s->width) return code;
    for (size_t z = 0; z < s->depth; z++)
        for (size_t y = 0; y < s->height; y++)
            set_row((char *)s->to + z * s->slice + y * s->pitch, s);
    return 0;
}

/* ---- submission: checked at the call, also where the stream is capturing ---- */

static int copy_on(const khip_copy *c, void *stream)
{
    khip_stream *s;
    int code = khip_stream_of(stream, &s);
    if (code == 0) code = khip_check_copy(c);
    if (code || !c->width || !c->height || !c->depth) return code;
    return khip_submit(s, &(khip_op){.kind = KHIP_OP_COPY, .copy = *c});
}

static int copy_now(const khip_copy *c)
{
    const int code = khip_unsafe();
    return code ? code : copy_on(c, NULL);
}

static int set_on(const khip_set *v, void *stream)
{
    khip_stream *s;
    int code = khip_stream_of(stream, &s);
    if (code == 0) code = khip_check_set(v);
    if (code || !v->width || !v->height || !v->depth) return code;
    return khip_submit(s, &(khip_op){.kind = KHIP_OP_SET, .set = *v});
}

static int set_now(const khip_set *v)
{
    const int code = khip_unsafe();
    return code ? code : set_on(v, NULL);
}

/* ---- lines ---- */

static khip_copy line(void *to, const void *from, size_t size, int kind)
{
    return (khip_copy){to, from, size, 1, 1, size, size, 0, 0, kind};
}

HIP(hipMemcpy, (void *to, const void *from, size_t size, int kind), (to, from, size, kind))
{
    const khip_copy c = line(to, from, size, kind);
    return copy_now(&c);
}
HIP_TOO(hipMemcpy_spt, hipMemcpy, (void *to, const void *from, size_t size, int kind))

HIP(hipMemcpyAsync, (void *to, const void *from, size_t size, int kind, void *stream),
    (to, from, size, kind, stream))
{
    const khip_copy c = line(to, from, size, kind);
    return copy_on(&c, stream);
}
HIP_TOO(hipMemcpyAsync_spt, hipMemcpyAsync,
        (void *to, const void *from, size_t size, int kind, void *stream))
HIP_TOO(hipMemcpyWithStream, hipMemcpyAsync,
        (void *to, const void *from, size_t size, int kind, void *stream))

/* name, what HIP calls the direction */
#define DIRECTIONS(X)                                                                              \
    X(hipMemcpyHtoD, HOST_TO_DEVICE)                                                               \
    X(hipMemcpyDtoH, DEVICE_TO_HOST)                                                               \
    X(hipMemcpyDtoD, DEVICE_TO_DEVICE)
#define X(name, kind)                                                                              \
    HIP(name, (void *to, const void *from, size_t size), (to, from, size))                         \
    {                                                                                              \
        const khip_copy c = line(to, from, size, kind);                                            \
        return copy_now(&c);                                                                       \
    }                                                                                              \
    HIP(name##Async, (void *to, const void *from, size_t size, void *stream),                      \
        (to, from, size, stream))                                                                  \
    {                                                                                              \
        const khip_copy c = line(to, from, size, kind);                                            \
        return copy_on(&c, stream);                                                                \
    }
DIRECTIONS(X)
#undef X

HIP(hipMemcpyPeer, (void *to, int to_device, const void *from, int from_device, size_t size),
    (to, to_device, from, from_device, size))
{
    if (!khip_device_of(to_device) || !khip_device_of(from_device)) return E_InvalidDevice;
    const khip_copy c = line(to, from, size, DEVICE_TO_DEVICE);
    return copy_now(&c);
}

HIP(hipMemcpyPeerAsync,
    (void *to, int to_device, const void *from, int from_device, size_t size, void *stream),
    (to, to_device, from, from_device, size, stream))
{
    if (!khip_device_of(to_device) || !khip_device_of(from_device)) return E_InvalidDevice;
    const khip_copy c = line(to, from, size, DEVICE_TO_DEVICE);
    return copy_on(&c, stream);
}

/* ---- rows and planes ---- */

static khip_copy rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                      size_t height, int kind)
{
    return (khip_copy){to, from, width, height, 1, to_pitch, from_pitch, 0, 0, kind};
}

HIP(hipMemcpy2D,
    (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
     int kind),
    (to, to_pitch, from, from_pitch, width, height, kind))
{
    const khip_copy c = rows(to, to_pitch, from, from_pitch, width, height, kind);
    return copy_now(&c);
}
HIP_TOO(hipMemcpy2D_spt, hipMemcpy2D,
        (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
         size_t height, int kind))

HIP(hipMemcpy2DAsync,
    (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
     int kind, void *stream),
    (to, to_pitch, from, from_pitch, width, height, kind, stream))
{
    const khip_copy c = rows(to, to_pitch, from, from_pitch, width, height, kind);
    return copy_on(&c, stream);
}
HIP_TOO(hipMemcpy2DAsync_spt, hipMemcpy2DAsync,
        (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
         size_t height, int kind, void *stream))

typedef struct param_side {
    size_t x, y;
    int type;
    const void *host;
    void *device, *array;
    size_t pitch;
} param_side;
typedef struct param_2d { /* hip_Memcpy2D */
    param_side from, to;
    size_t width, height;
} param_2d;

static bool side(const param_side *s, const void **out)
{
    const char *base = s->device ? s->device : s->host;
    *out = base ? base + s->y * s->pitch + s->x : NULL;
    return !s->array && base;
}

static int param_copy(const param_2d *p, khip_copy *c)
{
    const void *to, *from;
    if (!p) return E_InvalidValue;
    if (p->from.array || p->to.array)
        return khip_refuse(E_NotSupported, "hipMemcpyParam2D: arrays are textures' memory, which "
                                           "the simulator does not have: copy to linear memory");
    if (!side(&p->from, &from) || !side(&p->to, &to)) return E_InvalidValue;
    *c = rows((void *)(uintptr_t)to, p->to.pitch, from, p->from.pitch, p->width, p->height,
              BY_ADDRESS);
    return 0;
}

HIP(hipMemcpyParam2D, (const param_2d *p), (p))
{
    khip_copy c;
    const int code = param_copy(p, &c);
    return code ? code : copy_now(&c);
}

HIP(hipMemcpyParam2DAsync, (const param_2d *p, void *stream), (p, stream))
{
    khip_copy c;
    const int code = param_copy(p, &c);
    return code ? code : copy_on(&c, stream);
}

typedef struct pitched { /* hipPitchedPtr */
    void *at;
    size_t pitch, width, height;
} pitched;
typedef struct box { /* hipExtent, hipPos */
    size_t x, y, z;
} box;
typedef struct param_3d { /* hipMemcpy3DParms */
    void *from_array;
    box from_at;
    pitched from;
    void *to_array;
    box to_at;
    pitched to;
    box size;
    int kind;
} param_3d;

int khip_copy_box(const void *memcpy_3d, khip_copy *c)
{
    const param_3d *p = memcpy_3d;
    if (!p || !p->from.at || !p->to.at) return E_InvalidValue;
    if (p->from_array || p->to_array)
        return khip_refuse(E_NotSupported, "hipMemcpy3D: arrays are textures' memory, which the "
                                           "simulator does not have: copy to linear memory");
    const size_t from_slice = p->from.pitch * p->from.height, to_slice = p->to.pitch * p->to.height;
    *c = (khip_copy){(char *)p->to.at + p->to_at.z * to_slice + p->to_at.y * p->to.pitch +
                         p->to_at.x,
                     (char *)p->from.at + p->from_at.z * from_slice + p->from_at.y * p->from.pitch +
                         p->from_at.x,
                     p->size.x,
                     p->size.y,
                     p->size.z,
                     p->to.pitch,
                     p->from.pitch,
                     to_slice,
                     from_slice,
                     p->kind};
    return 0;
}

HIP(hipMemcpy3D, (const param_3d *p), (p))
{
    khip_copy c;
    const int code = khip_copy_box(p, &c);
    return code ? code : copy_now(&c);
}
HIP_TOO(hipMemcpy3D_spt, hipMemcpy3D, (const param_3d *p))

HIP(hipMemcpy3DAsync, (const param_3d *p, void *stream), (p, stream))
{
    khip_copy c;
    const int code = khip_copy_box(p, &c);
    return code ? code : copy_on(&c, stream);
}
HIP_TOO(hipMemcpy3DAsync_spt, hipMemcpy3DAsync, (const param_3d *p, void *stream))

/* ---- symbols ---- */

/* The address of [offset, offset + size) in a registered variable. */
static int in_symbol(const void *symbol, size_t size, size_t offset, char **out)
{
    uint64_t address;
    size_t have;
    const int code = khip_registered_symbol(symbol, &address, &have);
    if (code) return code;
    *out = (char *)(uintptr_t)address + offset;
    if (offset <= have && size <= have - offset) return 0;
    ks_report_host(KILNSIM_BOUNDS, address + have,
                   "copy, symbol: %zu bytes at byte %zu of a variable of %zu bytes", size, offset,
                   have);
    return E_InvalidValue;
}

static int to_symbol(const void *symbol, const void *from, size_t size, size_t offset, int kind,
                     khip_copy *c)
{
    char *to;
    if (kind != HOST_TO_DEVICE && kind != DEVICE_TO_DEVICE && kind != BY_ADDRESS)
        return E_InvalidMemcpyDirection;
    const int code = in_symbol(symbol, size, offset, &to);
    if (code == 0) *c = line(to, from, size, kind);
    return code;
}

static int from_symbol(void *to, const void *symbol, size_t size, size_t offset, int kind,
                       khip_copy *c)
{
    char *from;
    if (kind != DEVICE_TO_HOST && kind != DEVICE_TO_DEVICE && kind != BY_ADDRESS)
        return E_InvalidMemcpyDirection;
    const int code = in_symbol(symbol, size, offset, &from);
    if (code == 0) *c = line(to, from, size, kind);
    return code;
}

HIP(hipMemcpyToSymbol, (const void *symbol, const void *from, size_t size, size_t offset, int kind),
    (symbol, from, size, offset, kind))
{
    khip_copy c;
    const int code = to_symbol(symbol, from, size, offset, kind, &c);
    return code ? code : copy_now(&c);
}
HIP_TOO(hipMemcpyToSymbol_spt, hipMemcpyToSymbol,
        (const void *symbol, const void *from, size_t size, size_t offset, int kind))

HIP(hipMemcpyToSymbolAsync,
    (const void *symbol, const void *from, size_t size, size_t offset, int kind, void *stream),
    (symbol, from, size, offset, kind, stream))
{
    khip_copy c;
    const int code = to_symbol(symbol, from, size, offset, kind, &c);
    return code ? code : copy_on(&c, stream);
}
HIP_TOO(hipMemcpyToSymbolAsync_spt, hipMemcpyToSymbolAsync,
        (const void *symbol, const void *from, size_t size, size_t offset, int kind, void *stream))

HIP(hipMemcpyFromSymbol, (void *to, const void *symbol, size_t size, size_t offset, int kind),
    (to, symbol, size, offset, kind))
{
    khip_copy c;
    const int code = from_symbol(to, symbol, size, offset, kind, &c);
    return code ? code : copy_now(&c);
}
HIP_TOO(hipMemcpyFromSymbol_spt, hipMemcpyFromSymbol,
        (void *to, const void *symbol, size_t size, size_t offset, int kind))

HIP(hipMemcpyFromSymbolAsync,
    (void *to, const void *symbol, size_t size, size_t offset, int kind, void *stream),
    (to, symbol, size, offset, kind, stream))
{
    khip_copy c;
    const int code = from_symbol(to, symbol, size, offset, kind, &c);
    return code ? code : copy_on(&c, stream);
}
HIP_TOO(hipMemcpyFromSymbolAsync_spt, hipMemcpyFromSymbolAsync,
        (void *to, const void *symbol, size_t size, size_t offset, int kind, void *stream))

/* ---- fills ---- */

static khip_set fill(void *to, uint32_t value, size_t element, size_t count)
{
    return (khip_set){to, value, element, count, 1, 1, 0, 0};
}

/* name, type of the value, bytes of it */
#define FILLS(X)                                                                                   \
    X(hipMemset, int, 1)                                                                           \
    X(hipMemsetD8, unsigned char, 1)                                                               \
    X(hipMemsetD16, unsigned short, 2)                                                             \
    X(hipMemsetD32, int, 4)
#define X(name, type, bytes)                                                                       \
    HIP(name, (void *to, type value, size_t count), (to, value, count))                            \
    {                                                                                              \
        const khip_set s = fill(to, (uint32_t)value, bytes, count);                                \
        return set_now(&s);                                                                        \
    }                                                                                              \
    HIP(name##Async, (void *to, type value, size_t count, void *stream),                           \
        (to, value, count, stream))                                                                \
    {                                                                                              \
        const khip_set s = fill(to, (uint32_t)value, bytes, count);                                \
        return set_on(&s, stream);                                                                 \
    }
FILLS(X)
#undef X
HIP_TOO(hipMemset_spt, hipMemset, (void *to, int value, size_t count))
HIP_TOO(hipMemsetAsync_spt, hipMemsetAsync, (void *to, int value, size_t count, void *stream))

HIP(hipMemset2D, (void *to, size_t pitch, int value, size_t width, size_t height),
    (to, pitch, value, width, height))
{
    const khip_set s = {to, (uint32_t)value, 1, width, height, 1, pitch, 0};
    return set_now(&s);
}
HIP_TOO(hipMemset2D_spt, hipMemset2D,
        (void *to, size_t pitch, int value, size_t width, size_t height))

HIP(hipMemset2DAsync,
    (void *to, size_t pitch, int value, size_t width, size_t height, void *stream),
    (to, pitch, value, width, height, stream))
{
    const khip_set s = {to, (uint32_t)value, 1, width, height, 1, pitch, 0};
    return set_on(&s, stream);
}

HIP_TOO(hipMemset2DAsync_spt, hipMemset2DAsync,
        (void *to, size_t pitch, int value, size_t width, size_t height, void *stream))

static khip_set planes_of(const pitched *p, int value, const box *size)
{
    return (khip_set){p->at,   (uint32_t)value, 1,        size->x,
                      size->y, size->z,         p->pitch, p->pitch * p->height};
}

HIP(hipMemset3D, (pitched p, int value, box size), (p, value, size))
{
    const khip_set s = planes_of(&p, value, &size);
    return set_now(&s);
}

HIP(hipMemset3DAsync, (pitched p, int value, box size, void *stream), (p, value, size, stream))
{
    const khip_set s = planes_of(&p, value, &size);
    return set_on(&s, stream);
}
HIP_TOO(hipMemset3D_spt, hipMemset3D, (pitched p, int value, box size))
HIP_TOO(hipMemset3DAsync_spt, hipMemset3DAsync, (pitched p, int value, box size, void *stream))

/* Memory for such boxes. */
HIP(hipMalloc3D, (pitched * out, box size), (out, size))
{
    enum { ROW = 128 };
    size_t planes, bytes;
    const int unsafe = khip_unsafe();
    if (unsafe) return unsafe;
    if (!out || size.x > SIZE_MAX - ROW) return E_InvalidValue;
    const size_t pitch = (size.x + ROW - 1) / ROW * ROW;
    if (__builtin_mul_overflow(pitch, size.y, &planes) ||
        __builtin_mul_overflow(planes, size.z, &bytes))
        return E_OutOfMemory;
    *out = (pitched){NULL, pitch, size.x, size.y};
    return khip_allocate(&out->at, bytes, KS_DEVICE);
}
