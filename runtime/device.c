// SPDX-License-Identifier: MIT
// Which device a text names, and the public functions for device memory, streams and graphs:
// checks, then the device's own function.
#include <stdlib.h>
#include <string.h>
#include "internal.h"

/* ---- naming a device ---- */

static bool read_ordinal(const char *text, int *ordinal)
{
    char *end;
    if (*text < '0' || *text > '9') return false;
    const long v = strtol(text, &end, 10);
    *ordinal = (int)v;
    return *end == 0 && v <= 1000;
}

/* What a spec looks like, and what there is here to open. */
static kiln_status bad_spec(const char *spec)
{
    char names[400];
    kr_text text = {names, sizeof names, 0};
    kr_put(&text, "host");
    kr_gpu_list("nvidia", &text);
    kr_gpu_list("amd", &text);
    kr_gpu_list("sim", &text);
    return kr_fail(
        KILN_INVALID,
        "no device '%.60s': a device is host, amd[:i], nvidia[:i], sim:ARCH or none:TARGET:UNITS, "
        "and here there are: %s",
        spec, names);
}

kiln_status kr_device_open(const char *spec, int threads, kr_device **out)
{
    const char *colon = strchr(spec, ':');
    const size_t len = colon ? (size_t)(colon - spec) : strlen(spec);
    int ordinal = 0;
    *out = NULL;
    if (strcmp(spec, "host") == 0) return kr_device_open_host(threads, out);
    if (len == 3 && memcmp(spec, "sim", 3) == 0 && colon && colon[1])
        return kr_device_open_gpu("sim", 0, colon + 1, out);
    if (len == 4 && memcmp(spec, "none", 4) == 0 && colon) {
        const char *target = colon + 1, *units = strchr(target, ':');
        if (units && units > target && units - target < 32 && read_ordinal(units + 1, &ordinal) &&
            ordinal > 0)
            return kr_device_open_none(target, (size_t)(units - target), ordinal, out);
    }
    const bool amd = len == 3 && memcmp(spec, "amd", 3) == 0,
               nvidia = len == 6 && memcmp(spec, "nvidia", 6) == 0;
    if ((amd || nvidia) && (!colon || read_ordinal(colon + 1, &ordinal)))
        return kr_device_open_gpu(amd ? "amd" : "nvidia", ordinal, NULL, out);
    return bad_spec(spec);
}

/* ---- public ---- */

#define CHECK(ctx, ok, what)                                                                       \
    do {                                                                                           \
        if (!(ctx)) return kr_fail(KILN_INVALID, "%s: the context is NULL", __func__);             \
        if (!(ok)) return kr_fail(KILN_INVALID, "%s: %s", __func__, what);                         \
    } while (0)

kiln_status kiln_malloc(kiln_ctx *ctx, size_t size, void **out)
{
    CHECK(ctx, out, "needs a place for the pointer");
    *out = NULL;
    if (size > PTRDIFF_MAX)
        return kr_fail(KILN_NO_MEMORY, "kiln_malloc: %zu bytes are more than any device has", size);
    return ctx->device->ops->malloc(ctx->device, size ? size : 1, out);
}

kiln_status kiln_free(kiln_ctx *ctx, void *p)
{
    CHECK(ctx, true, "");
    return p ? ctx->device->ops->free(ctx->device, p) : KILN_OK;
}

kiln_status kiln_upload(kiln_ctx *ctx, void *device, const void *host, size_t size)
{
    CHECK(ctx, size == 0 || (device && host), "a pointer is NULL");
    return size ? ctx->device->ops->upload(ctx->device, device, host, size) : KILN_OK;
}

kiln_status kiln_download(kiln_ctx *ctx, void *host, const void *device, size_t size)
{
    CHECK(ctx, size == 0 || (device && host), "a pointer is NULL");
    return size ? ctx->device->ops->download(ctx->device, host, device, size) : KILN_OK;
}

kiln_status kiln_stream_create(kiln_ctx *ctx, void **out)
{
    CHECK(ctx, out, "needs a place for the stream");
    *out = NULL;
    return ctx->device->ops->stream_create(ctx->device, out);
}

kiln_status kiln_stream_destroy(kiln_ctx *ctx, void *stream)
{
    CHECK(ctx, true, "");
    return stream ? ctx->device->ops->stream_destroy(ctx->device, stream) : KILN_OK;
}

kiln_status kiln_synchronize(kiln_ctx *ctx, void *stream)
{
    CHECK(ctx, true, "");
    return ctx->device->ops->synchronize(ctx->device, stream);
}

kiln_status kiln_graph_begin(kiln_ctx *ctx, void *stream)
{
    CHECK(ctx, stream, "the default stream cannot be captured: make one with kiln_stream_create");
    const kiln_status status = ctx->device->ops->graph_begin(ctx->device, stream);
    if (status == KILN_OK) atomic_fetch_add_explicit(&ctx->recording, 1, memory_order_relaxed);
    return status;
}

kiln_status kiln_graph_end(kiln_ctx *ctx, void *stream, void **graph)
{
    CHECK(ctx, stream && graph, "needs the stream of kiln_graph_begin and a place for the graph");
    *graph = NULL;
    const kiln_status status = ctx->device->ops->graph_end(ctx->device, stream, graph);
    /* What could not be ended is recorded no longer; what was never begun has nothing to end. */
    int n = atomic_load_explicit(&ctx->recording, memory_order_relaxed);
    while (status != KILN_INVALID && n > 0 &&
           !atomic_compare_exchange_weak(&ctx->recording, &n, n - 1))
        ;
    return status;
}

kiln_status kiln_graph_replay(kiln_ctx *ctx, void *graph, void *stream, double *seconds)
{
    CHECK(ctx, graph, "the graph is NULL");
    return ctx->device->ops->graph_replay(ctx->device, graph, stream, seconds);
}

kiln_status kiln_graph_destroy(kiln_ctx *ctx, void *graph)
{
    CHECK(ctx, true, "");
    return graph ? ctx->device->ops->graph_destroy(ctx->device, graph) : KILN_OK;
}
