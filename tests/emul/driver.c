// SPDX-License-Identifier: MIT
// A runtime (libkilnsim.so, device sim:gfx942) whose code objects are shared objects: kernels
// compiled for the CPU with -DKILN_EMULATE.  Loading one is dlopen, launching one is fibers_run;
// device memory is the host's.  Threads of a block run in ascending order in one launch and in
// descending order in the next.
#define _GNU_SOURCE
#include "fibers.h"
#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    OK = 0,
    INVALID = 1,
    NO_MEMORY = 2,
    INVALID_IMAGE = 200,
    NOT_FOUND = 500,
    LAUNCH_FAILURE = 719,
    UNSUPPORTED = 801
};
enum { UNITS = 4, ATTRIBUTE_UNITS = 63 };

/* ---- one device ---- */
int hipInit(unsigned flags)
{
    return flags ? INVALID : OK;
}
int hipGetDeviceCount(int *n)
{
    *n = 1;
    return OK;
}
int hipDeviceGet(int *device, int ordinal)
{
    *device = ordinal;
    return ordinal ? INVALID : OK;
}
int hipGetDevice(int *device)
{
    *device = 0;
    return OK;
}
int hipSetDevice(int device)
{
    return device ? INVALID : OK;
}
int hipDeviceTotalMem(size_t *size, int device)
{
    (void)device;
    *size = (size_t)1 << 32;
    return OK;
}
const char *hipGetErrorString(int code)
{
    return code == LAUNCH_FAILURE ? "threads of a block met at different barriers" : "emulated";
}

int hipDeviceGetName(char *name, int len, int device)
{
    (void)device;
    snprintf(name, (size_t)len, "emulation");
    return OK;
}

int hipDeviceGetAttribute(int *value, int attribute, int device)
{
    (void)device;
    *value = attribute == ATTRIBUTE_UNITS ? UNITS : 0;
    return OK;
}

int hipGetDevicePropertiesR0600(void *properties, int device)
{
    (void)device;
    memcpy(properties, "gfx942", sizeof "gfx942");
    return OK;
}

/* ---- memory ---- */
int hipMalloc(void **p, size_t size)
{
    *p = aligned_alloc(256, (size + 256) / 256 * 256);
    return *p ? OK : NO_MEMORY;
}

int hipFree(void *p)
{
    free(p);
    return OK;
}

static int copy(void *to, const void *from, size_t size, void *stream)
{
    (void)stream;
    if (size) memcpy(to, from, size);
    return OK;
}
int hipMemcpyHtoDAsync(void *to, const void *from, size_t size, void *stream)
{
    return copy(to, from, size, stream);
}
int hipMemcpyDtoHAsync(void *to, const void *from, size_t size, void *stream)
{
    return copy(to, from, size, stream);
}

/* ---- modules: the image's size is where its last part, the section headers, ends ---- */
int hipModuleLoadData(void **module, const void *image)
{
    Elf64_Ehdr header;
    char path[64];
    memcpy(&header, image, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_machine != EM_X86_64)
        return INVALID_IMAGE;
    const size_t size = header.e_shoff + (size_t)header.e_shnum * header.e_shentsize;
    const int fd =
        memfd_create("kernel", MFD_CLOEXEC); /* stays open: dlopen knows a file by its name */
    if (fd < 0) return NO_MEMORY;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    *module = write(fd, image, size) == (ssize_t)size ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!*module) fprintf(stderr, "emulation: %s\n", dlerror());
    return *module ? OK : INVALID_IMAGE;
}

int hipModuleGetFunction(void **function, void *module, const char *name)
{
    *function = dlsym(module, name);
    return *function ? OK : NOT_FOUND;
}

int hipModuleUnload(void *module)
{
    return dlclose(module) ? INVALID : OK;
}

int hipModuleLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                          unsigned by, unsigned bz, unsigned lds, void *stream, void **params,
                          void **extra)
{
    (void)stream, (void)extra;
    if (by != 1 || bz != 1 || lds) return INVALID;
    /* Fewer blocks than asked for, so that each walks over several tiles; kernels take any grid. */
    const unsigned blocks[3] = {gx > 3 ? 3 : gx, gy > 2 ? 2 : gy, gz};
    kiln_kernel_fn *kernel;
    memcpy(&kernel, &function, sizeof kernel);
    static unsigned launches;
    return fibers_run(kernel, params[0], blocks, bx, launches++ % 2) ? OK : LAUNCH_FAILURE;
}

/* ---- streams and events: everything is done when it returns.  No graphs. ---- */
static int none(void **handle)
{
    static int one;
    if (handle) *handle = &one;
    return OK;
}
int hipStreamCreateWithFlags(void **stream, unsigned flags)
{
    (void)flags;
    return none(stream);
}
int hipStreamDestroy(void *stream)
{
    (void)stream;
    return OK;
}
int hipStreamSynchronize(void *stream)
{
    (void)stream;
    return OK;
}
int hipEventCreateWithFlags(void **event, unsigned flags)
{
    (void)flags;
    return none(event);
}
int hipEventDestroy(void *event)
{
    (void)event;
    return OK;
}
int hipEventRecord(void *event, void *stream)
{
    (void)event, (void)stream;
    return OK;
}
int hipEventSynchronize(void *event)
{
    (void)event;
    return OK;
}
int hipEventElapsedTime(float *ms, void *start, void *stop)
{
    (void)start, (void)stop;
    *ms = 0;
    return OK;
}
int hipThreadExchangeStreamCaptureMode(int *mode)
{
    (void)mode;
    return OK;
}
int hipStreamBeginCapture(void *stream, int mode)
{
    (void)stream, (void)mode;
    return UNSUPPORTED;
}
int hipStreamEndCapture(void *stream, void **graph)
{
    (void)stream, (void)graph;
    return UNSUPPORTED;
}
int hipGraphInstantiate(void **exec, void *graph, void *node, void *text, size_t size)
{
    (void)exec, (void)graph, (void)node, (void)text, (void)size;
    return UNSUPPORTED;
}
int hipGraphLaunch(void *exec, void *stream)
{
    (void)exec, (void)stream;
    return UNSUPPORTED;
}
int hipGraphDestroy(void *graph)
{
    (void)graph;
    return OK;
}
int hipGraphExecDestroy(void *exec)
{
    (void)exec;
    return OK;
}
