// SPDX-License-Identifier: MIT
// A GPU behind either driver: opening it, its memory, streams and graphs.  Every entry makes the
// device current on the calling thread and puts the caller's back, so that libkiln can live beside
// a framework.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "driver.h"

typedef struct graph {
    void *exec, *start, *stop;
} graph;

/* ---- the current device ---- */

kiln_status kr_enter(const kr_device *dev, kr_scope *s)
{
    const kr_driver *d = kr_driver_of(dev);
    s->changed = false;
    if (d->nvidia) {
        int code = d->context_get(&s->context);
        if (code == 0 && s->context != dev->context) {
            code = d->context_push(dev->context);
            s->changed = code == 0;
        }
        return kr_driver_check(d, code, "making the device current");
    }
    int code = d->device_current(&s->ordinal);
    if (code == 0 && s->ordinal != dev->ordinal) {
        code = d->device_set(dev->ordinal);
        s->changed = code == 0;
    }
    return kr_driver_check(d, code, "making the device current");
}

void kr_leave(const kr_device *dev, const kr_scope *s)
{
    const kr_driver *d = kr_driver_of(dev);
    void *ours;
    if (!s->changed) return;
    if (d->nvidia)
        d->context_pop(&ours);
    else
        d->device_set(s->ordinal);
}

/* One driver call on the device. */
#define ON_DEVICE(dev, what, call)                                                                 \
    do {                                                                                           \
        kr_scope scope_;                                                                           \
        kiln_status status_ = kr_enter(dev, &scope_);                                              \
        if (status_) return status_;                                                               \
        const int code_ = (call);                                                                  \
        kr_leave(dev, &scope_);                                                                    \
        return kr_driver_check(kr_driver_of(dev), code_, what);                                    \
    } while (0)

/* ---- memory and streams ---- */

static kiln_status gpu_malloc(kr_device *dev, size_t size, void **out)
{
    ON_DEVICE(dev, "kiln_malloc", kr_driver_of(dev)->malloc(out, size));
}

static kiln_status gpu_free(kr_device *dev, void *p)
{
    ON_DEVICE(dev, "kiln_free", kr_driver_of(dev)->free(p));
}

static int upload_and_wait(const kr_driver *d, void *to, const void *from, size_t size)
{
    const int code = d->upload(to, from, size, NULL);
    return code ? code : d->stream_synchronize(NULL);
}

static int download_and_wait(const kr_driver *d, void *to, const void *from, size_t size)
{
    const int code = d->download(to, from, size, NULL);
    return code ? code : d->stream_synchronize(NULL);
}

static kiln_status gpu_upload(kr_device *dev, void *to, const void *from, size_t size)
{
    ON_DEVICE(dev, "kiln_upload", upload_and_wait(kr_driver_of(dev), to, from, size));
}

static kiln_status gpu_download(kr_device *dev, void *to, const void *from, size_t size)
{
    ON_DEVICE(dev, "kiln_download", download_and_wait(kr_driver_of(dev), to, from, size));
}

static kiln_status gpu_stream_create(kr_device *dev, void **out)
{
    ON_DEVICE(dev, "kiln_stream_create",
              kr_driver_of(dev)->stream_create(out, STREAM_NON_BLOCKING));
}

static kiln_status gpu_stream_destroy(kr_device *dev, void *stream)
{
    ON_DEVICE(dev, "kiln_stream_destroy", kr_driver_of(dev)->stream_destroy(stream));
}

static kiln_status gpu_synchronize(kr_device *dev, void *stream)
{
    ON_DEVICE(dev, "kiln_synchronize", kr_driver_of(dev)->stream_synchronize(stream));
}

/* ---- graphs ---- */

static void release(const kr_driver *d, graph *g)
{
    if (g->exec) d->graph_exec_destroy(g->exec);
    if (g->start) d->event_destroy(g->start);
    if (g->stop) d->event_destroy(g->stop);
    free(g);
}

static kiln_status gpu_graph_begin(kr_device *dev, void *stream)
{
    ON_DEVICE(dev, "kiln_graph_begin",
              kr_driver_of(dev)->capture_begin(stream, CAPTURE_THREAD_LOCAL));
}

static int instantiate(const kr_driver *d, void *stream, graph *g)
{
    void *captured = NULL;
    int code = d->capture_end(stream, &captured);
    if (code) return code;
    code = d->nvidia ? d->graph_instantiate_nv(&g->exec, captured, 0)
                     : d->graph_instantiate_amd(&g->exec, captured, NULL, NULL, 0);
    d->graph_destroy(captured);
    if (code == 0) code = d->event_create(&g->start, 0);
    if (code == 0) code = d->event_create(&g->stop, 0);
    return code;
}

static kiln_status gpu_graph_end(kr_device *dev, void *stream, void **out)
{
    const kr_driver *d = kr_driver_of(dev);
    kr_scope scope;
    kiln_status status = kr_enter(dev, &scope);
    if (status) return status;
    graph *g = calloc(1, sizeof *g);
    if (!g) {
        status = kr_fail(KILN_NO_MEMORY, "no memory for a graph");
    } else {
        status = kr_driver_check(d, instantiate(d, stream, g), "kiln_graph_end");
        if (status)
            release(d, g);
        else
            *out = g;
    }
    kr_leave(dev, &scope);
    return status;
}

static int replay(const kr_driver *d, const graph *g, void *stream, double *seconds)
{
    float ms = 0;
    if (!seconds) return d->graph_launch(g->exec, stream);
    int code = d->event_record(g->start, stream);
    if (code == 0) code = d->graph_launch(g->exec, stream);
    if (code == 0) code = d->event_record(g->stop, stream);
    if (code == 0) code = d->event_synchronize(g->stop);
    if (code == 0) code = d->event_elapsed(&ms, g->start, g->stop);
    *seconds = (double)ms * 1e-3;
    return code;
}

static kiln_status gpu_graph_replay(kr_device *dev, void *handle, void *stream, double *seconds)
{
    ON_DEVICE(dev, "kiln_graph_replay", replay(kr_driver_of(dev), handle, stream, seconds));
}

static kiln_status gpu_graph_destroy(kr_device *dev, void *handle)
{
    kr_scope scope;
    const kiln_status status = kr_enter(dev, &scope);
    if (status) return status;
    release(kr_driver_of(dev), handle);
    kr_leave(dev, &scope);
    return KILN_OK;
}

/* Copies and launches on the default stream spoil a capture on a stream that waits for it, which
 * the driver says when it is asked for the default one; other captures go on beside calls of a
 * thread in relaxed mode. */
static bool gpu_apart(kr_device *dev, int *mode)
{
    enum { UNCHANGED = -1 };
    const kr_driver *d = kr_driver_of(dev);
    kr_scope scope;
    int captures = 0;
    if (kr_enter(dev, &scope)) return false;
    const bool clear = !d->capture_status || (d->capture_status(NULL, &captures) == 0 && !captures);
    *mode = CAPTURE_RELAXED;
    if (!clear || d->capture_mode(mode)) *mode = UNCHANGED;
    kr_leave(dev, &scope);
    return clear;
}

static void gpu_rejoin(kr_device *dev, int mode)
{
    kr_scope scope;
    if (mode < 0 || kr_enter(dev, &scope)) return;
    kr_driver_of(dev)->capture_mode(&mode);
    kr_leave(dev, &scope);
}

/* ---- opening ---- */

static void gpu_close(kr_device *dev)
{
    const kr_driver *d = kr_driver_of(dev);
    int device;
    if (dev->context && d->device_get(&device, dev->ordinal) == 0) d->context_release(device);
    kr_maps_free(dev->maps);
    free(dev);
}

static const kr_device_ops gpu_ops = {
    .close = gpu_close,
    .load = kr_gpu_load,
    .unload = kr_gpu_unload,
    .launch = kr_gpu_launch,
    .malloc = gpu_malloc,
    .free = gpu_free,
    .upload = gpu_upload,
    .download = gpu_download,
    .stream_create = gpu_stream_create,
    .stream_destroy = gpu_stream_destroy,
    .synchronize = gpu_synchronize,
    .graph_begin = gpu_graph_begin,
    .graph_end = gpu_graph_end,
    .graph_replay = gpu_graph_replay,
    .graph_destroy = gpu_graph_destroy,
    .apart = gpu_apart,
    .rejoin = gpu_rejoin,
};

/* The first device of the wanted architecture; -1 and a text: none. */
static int find_arch(const kr_driver *d, int count, const char *arch)
{
    char have[160] = "";
    kr_text text = {have, sizeof have, 0};
    for (int i = 0; i < count; i++) {
        char target[32];
        int device;
        if (d->device_get(&device, i)) continue;
        kr_gpu_target(d, device, target, sizeof target);
        if (strcmp(target, arch) == 0) return i;
        kr_put(&text, " %s", target);
    }
    kr_fail(KILN_NO_DEVICE, "the simulator has no %.40s; it has%s", arch,
            *have ? have : " nothing");
    return -1;
}

void kr_gpu_list(const char *vendor, kr_text *text)
{
    const kr_driver *d = kr_driver_bind(vendor);
    const bool simulated = strcmp(vendor, "sim") == 0;
    int count = 0;
    if (!d || d->device_count(&count)) return;
    for (int i = 0; i < count; i++) {
        char target[32] = "";
        int device;
        if (d->device_get(&device, i)) continue;
        kr_gpu_target(d, device, target, sizeof target);
        if (simulated)
            kr_put(text, ", sim:%s", target);
        else
            kr_put(text, ", %s:%d (%s)", vendor, i, *target ? target : "no target of Kiln's");
    }
}

/* GB/s: memory of NVIDIA's moves two words a cycle.  What AMD's drivers call its clock differs
 * between them: 0. */
static int memory_rate(const kr_driver *d, int device)
{
    int khz = 0, bits = 0;
    if (!d->nvidia || d->device_attribute(&khz, NV_ATTR_MEMORY_CLOCK, device) ||
        d->device_attribute(&bits, NV_ATTR_MEMORY_WIDTH, device) || khz < 0 || bits < 0)
        return 0;
    return (int)(2.0 * khz * bits / 8 / 1e6);
}

static kiln_status describe(kr_device *dev)
{
    const kr_driver *d = kr_driver_of(dev);
    kiln_device_info *info = &dev->info;
    int device, l2 = 0;
    kiln_status status =
        kr_driver_check(d, d->device_get(&device, dev->ordinal), "opening the device");
    if (status) return status;
    info->struct_size = sizeof *info;
    snprintf(info->vendor, sizeof info->vendor, "%s", d->nvidia ? "nvidia" : "amd");
    if (d->device_name(info->name, (int)sizeof info->name - 1, device))
        snprintf(info->name, sizeof info->name, "GPU");
    kr_gpu_target(d, device, info->target, sizeof info->target);
    if (d->device_memory(&info->memory, device)) info->memory = 0;
    if (d->device_attribute(&l2, d->nvidia ? NV_ATTR_L2 : AMD_ATTR_L2, device) == 0 && l2 > 0)
        info->l2 = (size_t)l2;
    info->gbps = memory_rate(d, device);
    status = kr_driver_check(
        d,
        d->device_attribute(&info->units,
                            d->nvidia ? NV_ATTR_MULTIPROCESSORS : AMD_ATTR_MULTIPROCESSORS, device),
        "asking for compute units");
    if (status == KILN_OK && d->nvidia)
        status = kr_driver_check(d, d->context_retain(&dev->context, device), "making a context");
    return status;
}

kiln_status kr_device_open_gpu(const char *vendor, int ordinal, const char *arch, kr_device **out)
{
    const kr_driver *d = kr_driver_bind(vendor);
    int count = 0;
    if (!d) return KILN_NO_DEVICE;
    if (d->device_count(&count) || count < 1)
        return kr_fail(KILN_NO_DEVICE, "there is a driver for %s, but no device", vendor);
    if (arch) ordinal = find_arch(d, count, arch);
    if (ordinal < 0) return KILN_NO_DEVICE;
    if (ordinal >= count)
        return kr_fail(KILN_NO_DEVICE, "%s:%d is not there: devices 0 to %d are", vendor, ordinal,
                       count - 1);
    kr_device *dev = calloc(1, sizeof *dev);
    if (!dev) return kr_fail(KILN_NO_MEMORY, "no memory for a device");
    dev->ops = &gpu_ops;
    dev->driver = d;
    dev->ordinal = ordinal;
    kiln_status status = describe(dev);
    if (status == KILN_OK && d->encode_map && !(dev->maps = kr_maps_new(KR_MAP_SETS))) {
        gpu_close(dev);
        return kr_fail(KILN_NO_MEMORY, "no memory for a device");
    }
    if (status)
        free(dev);
    else
        *out = dev;
    return status;
}
