// SPDX-License-Identifier: MIT
// What a compiler's <<<>>> program registers before main: its device code, and for each kernel and
// variable the host's address that stands for it.  Code is loaded when a device first needs it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "hip.h"

enum { WRAPPER_MAGIC = 0x48495046 /* "HIPF" */ };
typedef struct wrapper {
    uint32_t magic, version;
    const void *binary;
    const void *unused;
} wrapper;

typedef enum entry_kind { KERNEL, VARIABLE, CONSTANT, MANAGED } entry_kind;
typedef struct entry {
    const void *host;
    char *name;
    entry_kind kind;
    size_t size;
    void *memory; /* MANAGED: what *host points at */
} entry;
typedef struct fat {
    const void *binary;
    pthread_mutex_t mutex;
    khip_module *module[KHIP_DEVICES];
    entry *entry;
    size_t count;
    char *refused; /* a surface or texture that it has: nothing of it can run */
    struct fat *next;
} fat;
static fat *fats; /* under khip_lock */

/* ---- registration: it cannot fail, so that what is wrong is told at first use ---- */

KHIP_API void **__hipRegisterFatBinary(const void *data);
KHIP_API void __hipUnregisterFatBinary(void **handle);
KHIP_API void __hipRegisterFunction(void **handle, const void *host, char *device, const char *name,
                                    unsigned limit, void *tid, void *bid, khip_dim *block,
                                    khip_dim *grid, int *size);
KHIP_API void __hipRegisterVar(void **handle, void *host, char *host_name, char *name, int external,
                               size_t size, int constant, int global);
KHIP_API void __hipRegisterManagedVar(void *handle, void **host, void *initial, const char *name,
                                      size_t size, unsigned align);
KHIP_API void __hipRegisterSurface(void **handle, void *host, char *host_name, char *name, int type,
                                   int external);
typedef struct channel { /* hipChannelFormatDesc */
    int x, y, z, w, kind;
} channel;
KHIP_API channel hipCreateChannelDesc(int x, int y, int z, int w, int kind);
KHIP_API void __hipRegisterTexture(void **handle, void *host, char *host_name, char *name, int type,
                                   int normalised, int external);

void **__hipRegisterFatBinary(const void *data)
{
    const wrapper *w = data;
    if (!w || w->magic != WRAPPER_MAGIC) return NULL;
    fat *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    f->binary = w->binary;
    pthread_mutex_init(&f->mutex, NULL);
    if (!khip_handle_add(f, KHIP_FAT)) {
        free(f);
        return NULL;
    }
    khip_lock();
    f->next = fats;
    fats = f;
    khip_unlock();
    return (void **)f;
}

static entry *add(void *handle, const void *host, const char *name, entry_kind kind, size_t size)
{
    fat *f = handle;
    if (!khip_handle_is(f, KHIP_FAT) || !host || !name) return NULL;
    entry *e = NULL;
    khip_lock();
    entry *more = realloc(f->entry, (f->count + 1) * sizeof *more);
    char *copy = strdup(name);
    if (more) f->entry = more;
    if (more && copy) {
        e = &f->entry[f->count++];
        *e = (entry){host, copy, kind, size, NULL};
    } else {
        free(copy);
    }
    khip_unlock();
    return e;
}

void __hipRegisterFunction(void **handle, const void *host, char *device, const char *name,
                           unsigned limit, void *tid, void *bid, khip_dim *block, khip_dim *grid,
                           int *size)
{
    (void)device, (void)limit, (void)tid, (void)bid, (void)block, (void)grid, (void)size;
    add(handle, host, name, KERNEL, 0);
}

void __hipRegisterVar(void **handle, void *host, char *host_name, char *name, int external,
                      size_t size, int constant, int global)
{
    (void)host_name, (void)external, (void)global;
    add(handle, host, name, constant ? CONSTANT : VARIABLE, size);
}

/* The host reads and writes it through *host from the program's first line on. */
void __hipRegisterManagedVar(void *handle, void **host, void *initial, const char *name,
                             size_t size, unsigned align)
{
    enum { LEAST = 16 };
    const size_t step = align > LEAST ? align : LEAST;
    const size_t room = (size + step - 1) / step * step;
    void *memory = aligned_alloc(step, room ? room : step);
    if (memory && initial) memcpy(memory, initial, size);
    entry *e = memory ? add(handle, host, name, MANAGED, size) : NULL;
    if (!e || !ks_register(memory, size, KS_MANAGED)) {
        if (e) e->kind = VARIABLE;
        free(memory);
        return;
    }
    e->memory = memory;
    *host = memory;
}

static void refuse(void *handle, const char *what, const char *name)
{
    fat *f = handle;
    if (!khip_handle_is(f, KHIP_FAT) || f->refused) return;
    char text[KS_TEXT];
    ks_error e;
    ks_fail(&e, E_NotSupported,
            "%s '%.200s': the simulator has no texture units: read global memory instead", what,
            name ? name : "");
    snprintf(text, sizeof text, "%s", e.text);
    f->refused = strdup(text);
}

void __hipRegisterSurface(void **handle, void *host, char *host_name, char *name, int type,
                          int external)
{
    (void)host, (void)host_name, (void)type, (void)external;
    refuse(handle, "surface", name);
}

void __hipRegisterTexture(void **handle, void *host, char *host_name, char *name, int type,
                          int normalised, int external)
{
    (void)host, (void)host_name, (void)type, (void)normalised, (void)external;
    refuse(handle, "texture", name);
}

/* Texture references are initialised with it before main. */
channel hipCreateChannelDesc(int x, int y, int z, int w, int kind)
{
    return (channel){x, y, z, w, kind};
}

void __hipUnregisterFatBinary(void **handle)
{
    fat *f = (fat *)handle;
    if (!khip_handle_remove(f, KHIP_FAT)) return;
    khip_lock();
    for (fat **at = &fats; *at; at = &(*at)->next) {
        if (*at != f) continue;
        *at = f->next;
        break;
    }
    khip_unlock();
    for (int i = 0; i < KHIP_DEVICES; i++) khip_module_release(f->module[i]);
    for (size_t i = 0; i < f->count; i++) {
        if (f->entry[i].memory) ks_unregister(f->entry[i].memory);
        free(f->entry[i].memory);
        free(f->entry[i].name);
    }
    pthread_mutex_destroy(&f->mutex);
    free(f->entry);
    free(f->refused);
    free(f);
}

/* ---- use ---- */

/* A managed variable is a pointer in device code. */
static void set_managed(const fat *f, const khip_module *m)
{
    for (size_t i = 0; i < f->count; i++) {
        const entry *e = &f->entry[i];
        const ks_symbol *s = e->memory ? ks_object_symbol(m->object, e->name) : NULL;
        if (s && s->size >= sizeof e->memory)
            memcpy((void *)(uintptr_t)s->address, &e->memory, sizeof e->memory);
    }
}

static int load(fat *f, khip_module **out)
{
    const int device = khip_current();
    int code = 0;
    if (f->refused) return khip_refuse(E_NotSupported, "%s", f->refused);
    pthread_mutex_lock(&f->mutex);
    if (!f->module[device]) {
        code = khip_module_load(f->binary, SIZE_MAX, device, &f->module[device]);
        if (code == 0) set_managed(f, f->module[device]);
    }
    pthread_mutex_unlock(&f->mutex);
    *out = f->module[device];
    return code;
}

/* The entry of a host address; NULL: none. */
static fat *find(const void *host, entry *out)
{
    fat *found = NULL;
    khip_lock();
    for (fat *f = fats; f && !found; f = f->next)
        for (size_t i = 0; i < f->count && !found; i++)
            if (f->entry[i].host == host) {
                found = f;
                *out = f->entry[i];
            }
    khip_unlock();
    return found;
}

int khip_registered_function(const void *host, khip_function **out)
{
    entry e;
    khip_module *m;
    fat *f = host ? find(host, &e) : NULL;
    if (!f || e.kind != KERNEL) return E_InvalidDeviceFunction;
    const int code = load(f, &m);
    if (code) return code;
    *out = khip_module_function(m, e.name);
    if (*out) return 0;
    return khip_refuse(E_InvalidDeviceFunction,
                       "kernel '%.200s' is not in the program's code for %s", e.name,
                       khip_device_of(khip_current())->chip->target);
}

int khip_registered_symbol(const void *host, uint64_t *address, size_t *size)
{
    entry e;
    khip_module *m;
    fat *f = host ? find(host, &e) : NULL;
    if (!f || e.kind == KERNEL) return E_InvalidSymbol;
    if (e.kind == MANAGED) {
        *address = (uint64_t)(uintptr_t)e.memory;
        *size = e.size;
        return 0;
    }
    const int code = load(f, &m);
    if (code) return code;
    const ks_symbol *s = ks_object_symbol(m->object, e.name);
    if (!s) return E_InvalidSymbol;
    *address = s->address;
    *size = s->size;
    return 0;
}

size_t khip_registered_constants(const khip_module *m)
{
    size_t sum = 0;
    khip_lock();
    for (const fat *f = fats; f; f = f->next)
        for (size_t i = 0; i < f->count && f->module[m->device] == m; i++)
            if (f->entry[i].kind == CONSTANT) sum += f->entry[i].size;
    khip_unlock();
    return sum;
}

HIP(hipGetFuncBySymbol, (void **out, const void *host), (out, host))
{
    khip_function *f;
    if (!out) return E_InvalidValue;
    const int code = khip_registered_function(host, &f);
    if (code == 0) *out = f;
    return code;
}

HIP(hipGetSymbolAddress, (void **out, const void *symbol), (out, symbol))
{
    uint64_t address;
    size_t size;
    if (!out) return E_InvalidValue;
    const int code = khip_registered_symbol(symbol, &address, &size);
    if (code == 0) *out = (void *)(uintptr_t)address;
    return code;
}

HIP(hipGetSymbolSize, (size_t * out, const void *symbol), (out, symbol))
{
    uint64_t address;
    size_t size;
    if (!out) return E_InvalidValue;
    const int code = khip_registered_symbol(symbol, &address, &size);
    if (code == 0) *out = size;
    return code;
}
