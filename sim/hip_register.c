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
    kh_module *module[KH_DEVICES];
    entry *entry;
    size_t count;
    char *refused; /* a surface or texture that it has: nothing of it can run */
    struct fat *next;
} fat;
static fat *fats; /* under kh_lock */

/* ---- registration: it cannot fail, so that what is wrong is told at first use ---- */

KH_API void **__hipRegisterFatBinary(const void *data);
KH_API void __hipUnregisterFatBinary(void **handle);
KH_API void __hipRegisterFunction(void **handle, const void *host, char *device, const char *name,
                                  unsigned limit, void *tid, void *bid, kh_dim *block, kh_dim *grid,
                                  int *size);
KH_API void __hipRegisterVar(void **handle, void *host, char *host_name, char *name, int external,
                             size_t size, int constant, int global);
KH_API void __hipRegisterManagedVar(void *handle, void **host, void *initial, const char *name,
                                    size_t size, unsigned align);
KH_API void __hipRegisterSurface(void **handle, void *host, char *host_name, char *name, int type,
                                 int external);
typedef struct channel { /* hipChannelFormatDesc */
    int x, y, z, w, kind;
} channel;
KH_API channel hipCreateChannelDesc(int x, int y, int z, int w, int kind);
KH_API void __hipRegisterTexture(void **handle, void *host, char *host_name, char *name, int type,
                                 int normalised, int external);

void **__hipRegisterFatBinary(const void *data)
{
    const wrapper *w = data;
    if (!w || w->magic != WRAPPER_MAGIC) return NULL;
    fat *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    f->binary = w->binary;
    pthread_mutex_init(&f->mutex, NULL);
    if (!kh_handle_add(f, KH_FAT)) {
        free(f);
        return NULL;
    }
    kh_lock();
    f->next = fats;
    fats = f;
    kh_unlock();
    return (void **)f;
}

static entry *add(void *handle, const void *host, const char *name, entry_kind kind, size_t size)
{
    fat *f = handle;
    if (!kh_handle_is(f, KH_FAT) || !host || !name) return NULL;
    entry *e = NULL;
    kh_lock();
    entry *more = realloc(f->entry, (f->count + 1) * sizeof *more);
    char *copy = strdup(name);
    if (more) f->entry = more;
    if (more && copy) {
        e = &f->entry[f->count++];
        *e = (entry){host, copy, kind, size, NULL};
    } else {
        free(copy);
    }
    kh_unlock();
    return e;
}

void __hipRegisterFunction(void **handle, const void *host, char *device, const char *name,
                           unsigned limit, void *tid, void *bid, kh_dim *block, kh_dim *grid,
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
    if (!kh_handle_is(f, KH_FAT) || f->refused) return;
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
    if (!kh_handle_remove(f, KH_FAT)) return;
    kh_lock();
    for (fat **at = &fats; *at; at = &(*at)->next) {
        if (*at != f) continue;
        *at = f->next;
        break;
    }
    kh_unlock();
    for (int i = 0; i < KH_DEVICES; i++) kh_module_release(f->module[i]);
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
static void set_managed(const fat *f, const kh_module *m)
{
    for (size_t i = 0; i < f->count; i++) {
        const entry *e = &f->entry[i];
        const ks_symbol *s = e->memory ? ks_object_symbol(m->object, e->name) : NULL;
        if (s && s->size >= sizeof e->memory)
            memcpy((void *)(uintptr_t)s->address, &e->memory, sizeof e->memory);
    }
}

static int load(fat *f, kh_module **out)
{
    const int device = kh_current();
    int code = 0;
    if (f->refused) return kh_refuse(E_NotSupported, "%s", f->refused);
    pthread_mutex_lock(&f->mutex);
    if (!f->module[device]) {
        code = kh_module_load(f->binary, SIZE_MAX, device, &f->module[device]);
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
    kh_lock();
    for (fat *f = fats; f && !found; f = f->next)
        for (size_t i = 0; i < f->count && !found; i++)
            if (f->entry[i].host == host) {
                found = f;
                *out = f->entry[i];
            }
    kh_unlock();
    return found;
}

int kh_registered_function(const void *host, kh_function **out)
{
    entry e;
    kh_module *m;
    fat *f = host ? find(host, &e) : NULL;
    if (!f || e.kind != KERNEL) return E_InvalidDeviceFunction;
    const int code = load(f, &m);
    if (code) return code;
    *out = kh_module_function(m, e.name);
    if (*out) return 0;
    return kh_refuse(E_InvalidDeviceFunction, "kernel '%.200s' is not in the program's code for %s",
                     e.name, kh_device_of(kh_current())->chip->target);
}

int kh_registered_symbol(const void *host, uint64_t *address, size_t *size)
{
    entry e;
    kh_module *m;
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

size_t kh_registered_constants(const kh_module *m)
{
    size_t sum = 0;
    kh_lock();
    for (const fat *f = fats; f; f = f->next)
        for (size_t i = 0; i < f->count && f->module[m->device] == m; i++)
            if (f->entry[i].kind == CONSTANT) sum += f->entry[i].size;
    kh_unlock();
    return sum;
}

HIP(hipGetFuncBySymbol, (void **out, const void *host), (out, host))
{
    kh_function *f;
    if (!out) return E_InvalidValue;
    const int code = kh_registered_function(host, &f);
    if (code == 0) *out = f;
    return code;
}

HIP(hipGetSymbolAddress, (void **out, const void *symbol), (out, symbol))
{
    uint64_t address;
    size_t size;
    if (!out) return E_InvalidValue;
    const int code = kh_registered_symbol(symbol, &address, &size);
    if (code == 0) *out = (void *)(uintptr_t)address;
    return code;
}

HIP(hipGetSymbolSize, (size_t * out, const void *symbol), (out, symbol))
{
    uint64_t address;
    size_t size;
    if (!out) return E_InvalidValue;
    const int code = kh_registered_symbol(symbol, &address, &size);
    if (code == 0) *out = size;
    return code;
}
