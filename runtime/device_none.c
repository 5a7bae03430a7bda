// SPDX-License-Identifier: MIT
// A device that is not here, none:TARGET:UNITS: problems are found and explained for it; it has no
// memory and launches nothing.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

static kiln_status absent(const kr_device *dev)
{
    return kr_fail(KILN_NO_DEVICE, "%s is not here: problems are only found and explained for it",
                   dev->info.name);
}

static void none_close(kr_device *dev)
{
    free(dev);
}

static kiln_status none_load(kr_device *dev, kiln_kernel *kernel)
{
    (void)kernel;
    return absent(dev);
}

static void none_unload(kr_device *dev, kiln_kernel *kernel)
{
    (void)dev, (void)kernel;
}

static kiln_status none_launch(kr_device *dev, const kr_launch *launch, void *stream)
{
    (void)launch, (void)stream;
    return absent(dev);
}

static kiln_status none_malloc(kr_device *dev, size_t size, void **out)
{
    (void)size, (void)out;
    return absent(dev);
}

static kiln_status none_handle(kr_device *dev, void *handle)
{
    (void)handle;
    return absent(dev);
}

static kiln_status none_copy(kr_device *dev, void *to, const void *from, size_t size)
{
    (void)to, (void)from, (void)size;
    return absent(dev);
}

static kiln_status none_stream_create(kr_device *dev, void **out)
{
    (void)out;
    return absent(dev);
}

static kiln_status none_graph_end(kr_device *dev, void *stream, void **graph)
{
    (void)stream, (void)graph;
    return absent(dev);
}

static kiln_status none_graph_replay(kr_device *dev, void *graph, void *stream, double *seconds)
{
    (void)graph, (void)stream, (void)seconds;
    return absent(dev);
}

static const kr_device_ops none_ops = {
    .close = none_close,
    .load = none_load,
    .unload = none_unload,
    .launch = none_launch,
    .malloc = none_malloc,
    .free = none_handle,
    .upload = none_copy,
    .download = none_copy,
    .stream_create = none_stream_create,
    .stream_destroy = none_handle,
    .synchronize = none_handle,
    .graph_begin = none_handle,
    .graph_end = none_graph_end,
    .graph_replay = none_graph_replay,
    .graph_destroy = none_handle,
};

kiln_status kr_device_open_none(const char *target, size_t length, int units, kr_device **out)
{
    kr_device *dev = calloc(1, sizeof *dev);
    if (!dev) return kr_fail(KILN_NO_MEMORY, "no memory for a device");
    kiln_device_info *info = &dev->info;
    dev->ops = &none_ops;
    info->struct_size = sizeof *info;
    info->units = units;
    snprintf(info->target, sizeof info->target, "%.*s", (int)length, target);
    snprintf(info->name, sizeof info->name, "a device for %s with %d units", info->target, units);
    snprintf(info->vendor, sizeof info->vendor, "none");
    *out = dev;
    return KILN_OK;
}
