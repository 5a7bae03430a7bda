// SPDX-License-Identifier: MIT
// Binds a GPU driver's entry points by name, once per process and driver, and turns its error codes
// into statuses.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "driver.h"

static const struct symbol {
    const char *field, *nv, *amd;
    size_t offset;
} symbol[] = {
#define X(field, result, arguments, nv, amd) {#field, nv, amd, offsetof(kr_driver, field)},
    KR_ENTRY_POINTS(X)
#undef X
};

enum { FILES = 5 };
static const struct library {
    const char *vendor, *file[FILES];
} library[] = {
    {"nvidia", {"libcuda.so.1"}},
    {"amd", {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"}},
    {"sim", {"libkilnsim.so", "libkilnsim.so.0"}},
};
enum { LIBRARIES = sizeof library / sizeof *library };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static kr_driver table[LIBRARIES]; /* each set once; bound where vendor is set */

/* A simulator may lie beside this library instead of on the linker's path. */
static void *open_beside(const char *file)
{
    Dl_info info;
    if (!dladdr((void *)(uintptr_t)kr_driver_bind, &info) || !info.dli_fname) return NULL;
    char path[4096];
    const char *slash = strrchr(info.dli_fname, '/');
    const int len = slash ? (int)(slash - info.dli_fname) : 1;
    if (snprintf(path, sizeof path, "%.*s/%s", len, slash ? info.dli_fname : ".", file) >=
        (int)sizeof path)
        return NULL;
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static kiln_status bind_symbols(void *dl, const char *file, bool nvidia, kr_driver *d)
{
    for (size_t i = 0; i < sizeof symbol / sizeof *symbol; i++) {
        const char *name = nvidia ? symbol[i].nv : symbol[i].amd;
        const bool optional = *name == '?';
        void *p = *name ? dlsym(dl, name + optional) : NULL;
        if (!p && *name && !optional)
            return kr_fail(KILN_NO_DEVICE, "%s has no %s: a newer driver is needed", file, name);
        memcpy((char *)d + symbol[i].offset, &p, sizeof p);
    }
    return KILN_OK;
}

static const char *error_text(const kr_driver *d, int code)
{
    const char *text = NULL;
    if (d->nvidia)
        d->error_nv(code, &text);
    else
        text = d->error_amd(code);
    return text ? text : "unknown";
}

static kiln_status bind_library(const struct library *l, kr_driver *d)
{
    const char *file = NULL;
    void *dl = NULL;
    for (int i = 0; i < FILES && l->file[i] && !dl; i++) {
        file = l->file[i];
        dl = dlopen(file, RTLD_NOW | RTLD_LOCAL);
        if (!dl && strcmp(l->vendor, "sim") == 0) dl = open_beside(file);
    }
    if (!dl && strcmp(l->vendor, "sim") == 0)
        return kr_fail(KILN_NO_DEVICE,
                       "the simulator is not there: no %s beside libkiln or on the linker's path "
                       "(LD_LIBRARY_PATH); `make` builds it",
                       l->file[0]);
    if (!dl) return kr_fail(KILN_NO_DEVICE, "no %s driver: %s is not there", l->vendor, l->file[0]);
    kr_driver bound = {.nvidia = strcmp(l->vendor, "nvidia") == 0};
    kiln_status status = bind_symbols(dl, file, bound.nvidia, &bound);
    if (status == KILN_OK) {
        const int code = bound.init(0);
        if (code)
            status = kr_fail(KILN_NO_DEVICE, "no %s device: %s says %s (error %d)", l->vendor, file,
                             error_text(&bound, code), code);
    }
    if (status) return status; /* the library stays: drivers do not take unloading well */
    bound.vendor = l->vendor;
    int version = 0;
    bound.early = bound.launch_ex && bound.version && bound.version(&version) == 0 &&
                  version >= NV_EARLY_VERSION;
    *d = bound;
    kr_log("driver %s: %s", l->vendor, file);
    return KILN_OK;
}

const kr_driver *kr_driver_bind(const char *vendor)
{
    const kr_driver *d = NULL;
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < LIBRARIES; i++)
        if (strcmp(library[i].vendor, vendor) == 0 &&
            (table[i].vendor || bind_library(&library[i], &table[i]) == KILN_OK))
            d = &table[i];
    pthread_mutex_unlock(&mutex);
    return d;
}

kiln_status kr_driver_check(const kr_driver *d, int code, const char *what)
{
    if (code == 0) return KILN_OK;
    const kiln_status status = code == ERROR_OUT_OF_MEMORY ? KILN_NO_MEMORY
                               : code == ERROR_INVALID_IMAGE || code == ERROR_NO_BINARY
                                   ? KILN_BAD_MODULE
                                   : KILN_DRIVER;
    return kr_fail(status, "%s: %s error %d: %s", what, d->nvidia ? "CUDA" : "HIP", code,
                   error_text(d, code));
}
