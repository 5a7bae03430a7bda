// SPDX-License-Identifier: MIT
// The CUDA driver that libkiln binds (libcuda.so.1), on the emulation: what
// tests/unit/fake_driver.c has, and in place of what that only records the work.  A "code object"
// is a shared library of kernels compiled for this machine (tests/lib/hopper_cc.sh).  Calls are
// done when they return; graphs are not emulated.  KILN_EMULATOR_UNITS: multiprocessors, default 6;
// KILN_EMULATOR_SEED: of its order.
#include "engine.h"
#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern "C" {
int cuInit(unsigned)
{
    static bool once;
    if (!once) { // kernels find ke_... here, though libkiln opens its driver for itself
        Dl_info info;
        if (!dladdr((void *)cuInit, &info) ||
            !dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL))
            return 999;
        const char *seed = getenv("KILN_EMULATOR_SEED");
        ke_seed(seed ? (unsigned)strtoul(seed, nullptr, 0) : 1);
        once = true;
    }
    return 0;
}
// A kernel's fault shows when somebody waits for it, and ever after.
int cuStreamSynchronize(void *)
{
    return getenv("KILN_EMULATOR_LOST") ? 716 : 0;
}
int cuDeviceGetName(char *to, int size, int)
{
    return snprintf(to, (size_t)size, "Hopper, emulated"), 0;
}
int cuDeviceGetAttribute(int *v, int attribute, int)
{
    const char *units = getenv("KILN_EMULATOR_UNITS");
    *v = attribute == 16   ? units ? atoi(units) : 6
         : attribute == 38 ? 50 << 20
         : attribute == 75 ? 9
         : attribute == 97 ? KE_SHARED
                           : 0;
    return 0;
}
struct loaded {
    void *dl;
    int fd;
};
int cuModuleLoadData(void **module, const void *image)
{
    const Elf64_Ehdr *e = (const Elf64_Ehdr *)image;
    if (memcmp(e->e_ident, ELFMAG, SELFMAG) || e->e_machine != EM_X86_64) return 200;
    const int fd = memfd_create(
        "kernel", MFD_CLOEXEC); // open as long as the library is: its name must be its own
    const size_t size = e->e_shoff + (size_t)e->e_shnum * e->e_shentsize;
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    void *dl = fd >= 0 && write(fd, image, size) == (ssize_t)size
                   ? dlopen(path, RTLD_NOW | RTLD_LOCAL)
                   : nullptr;
    if (!dl) {
        fprintf(stderr, "emulator: a kernel that cannot be loaded: %s\n", dlerror());
        if (fd >= 0) close(fd);
        return 200;
    }
    *module = new loaded{dl, fd};
    return 0;
}
int cuModuleGetFunction(void **f, void *module, const char *name)
{
    return (*f = dlsym(((loaded *)module)->dl, name)) ? 0 : 500;
}
int cuModuleUnload(void *module)
{
    const loaded *m = (loaded *)module;
    dlclose(m->dl), close(m->fd);
    delete m;
    return 0;
}
int cuLaunchKernel(void *f, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void *, void **params, void **)
{
    const unsigned grid[] = {x, y, z}, threads[] = {bx, by, bz}, shape[] = {1, 1, 1};
    return ke_launch(f, grid, threads, shape, shared, params);
}
struct launch_attribute {
    int id;
    char pad[4];
    unsigned value[16];
};
struct launch_config {
    unsigned grid[3], block[3], shared;
    void *stream;
    const launch_attribute *attribute;
    unsigned attributes;
};
int cuLaunchKernelEx(const launch_config *c, void *f, void **params, void **)
{
    const unsigned one[] = {1, 1, 1}, *shape = one;
    for (unsigned i = 0; i < c->attributes; i++)
        if (c->attribute[i].id == 4) shape = c->attribute[i].value;
    // A unit has 1 KiB more than a block may have, and each of its blocks takes 1 KiB besides.
    const bool two_fit = c->shared && 2 * (c->shared + 1024) <= KE_SHARED + 1024;
    if (two_fit && getenv("KILN_EMULATOR_ALONE")) return 1;
    return ke_launch(f, c->grid, c->block, shape, c->shared, params);
}
int cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *base, const uint64_t *dim,
                           const uint64_t *stride, const unsigned *box,
                           const unsigned *element_stride, int interleave, int swizzle, int, int)
{
    static const int sizes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2};
    static const int bits[] = {0, 1, 3, 7};
    if (rank < 3 || rank > 5 || type < 0 || type > 9 || swizzle < 0 || swizzle > 3 || interleave ||
        box[rank - 1] != 1)
        return 1;
    ke_tensor_map m = {KE_MAGIC, (char *)base, {}, {}, {}, (int)rank, sizes[type], bits[swizzle]};
    const int inner = (int)box[0] * m.size;
    if ((uintptr_t)base % 16 || inner % 16 || (swizzle && inner > 16 << swizzle)) return 1;
    for (unsigned i = 0; i < rank; i++) {
        if (box[i] < 1 || box[i] > 256 || element_stride[i] != 1 || dim[i] < 1 ||
            dim[i] > (uint64_t)1 << 32 || (i > 0 && stride[i - 1] % 16))
            return 1;
        m.dim[i] = (int64_t)dim[i];
        m.stride[i] = i ? (int64_t)stride[i - 1] : m.size;
        m.box[i] = (int)box[i];
    }
    memset(map, 0, 128);
    memcpy(map, &m, sizeof m);
    return 0;
}
int cuTensorMapReplaceAddress(void *map, void *base)
{
    return ((ke_tensor_map *)map)->base = (char *)base, 0;
}
// Graphs are not emulated.
int cuStreamBeginCapture_v2(void *, int)
{
    return 801;
}
int cuGetErrorString(int code, const char **text)
{
    *text = code == 1     ? "invalid value"
            : code == 2   ? "out of memory"
            : code == 200 ? "not a kernel for the emulation"
            : code == 719 ? "the launch failed in the emulation"
            : code == 801 ? "not emulated"
                          : "unknown";
    return 0;
}
}
