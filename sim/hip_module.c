// SPDX-License-Identifier: MIT
// Modules: an ELF, or clang's bundle of several of which one is for the device.  Loading decodes
// the whole object (object.c), so that what is wrong with it is known here.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "hip.h"

/* ---- bundles: "__CLANG_OFFLOAD_BUNDLE__", a count, then per entry offset, size, length and name
 * ---- */

static const char bundle_magic[] = "__CLANG_OFFLOAD_BUNDLE__";
static const char compressed_magic[] = "CCOB";
enum { MAGIC = sizeof bundle_magic - 1, MOST_ENTRIES = 256, MOST_NAME = 256 };
static const size_t most_bytes = (size_t)1 << 31; /* of a bundle whose size nobody tells */

/* A reader that stops at the end of the image. */
typedef struct reader {
    const uint8_t *at;
    size_t left;
    bool bad;
} reader;

static uint64_t take64(reader *r)
{
    uint64_t v = 0;
    if (r->left < sizeof v) {
        r->bad = true;
        return 0;
    }
    memcpy(&v, r->at, sizeof v);
    r->at += sizeof v;
    r->left -= sizeof v;
    return v;
}

static const char *take_text(reader *r, uint64_t size)
{
    const char *text = (const char *)r->at;
    if (size > r->left || size > MOST_NAME) {
        r->bad = true;
        return "";
    }
    r->at += size;
    r->left -= size;
    return text;
}

/* How well "hipv4-amdgcn-amd-amdhsa--gfx942:xnack-" suits the device "gfx942:sramecc+:xnack-": 0
 * not at all, else one more than the number of features that it insists on, which must all be the
 * device's. */
static int suits(const char *name, size_t size, const char *device)
{
    char copy[MOST_NAME + 1], *rest = NULL;
    snprintf(copy, sizeof copy, "%.*s", (int)size, name);
    if (strncmp(copy, "hip", 3) != 0) return 0;
    char *target = strstr(copy, "gfx");
    if (!target) return 0;
    const size_t arch = strcspn(device, ":");
    char *part = strtok_r(target, ":", &rest);
    if (!part || strlen(part) != arch || strncmp(part, device, arch) != 0) return 0;
    int features = 1;
    for (part = strtok_r(NULL, ":", &rest); part; part = strtok_r(NULL, ":", &rest)) {
        if (!strstr(device + arch, part)) return 0;
        features++;
    }
    return features;
}

/* What a bundle has, for the message. */
static void add_name(char *have, size_t room, const char *name, size_t size)
{
    const char *target = memmem(name, size, "gfx", 3);
    if (!target) return;
    const size_t used = strlen(have);
    snprintf(have + used, room - used, " %.*s", (int)(size - (size_t)(target - name)), target);
}

static int from_bundle(const uint8_t *image, size_t size, const khip_chip *chip, const void **elf,
                       size_t *elf_size)
{
    if (size > most_bytes) size = most_bytes;
    reader r = {image + MAGIC, size - MAGIC, false};
    const uint64_t count = take64(&r);
    char have[KS_TEXT / 2] = "";
    int best = 0;
    for (uint64_t i = 0; i < count && i < MOST_ENTRIES && !r.bad; i++) {
        const uint64_t offset = take64(&r), bytes = take64(&r), length = take64(&r);
        const char *name = take_text(&r, length);
        if (r.bad || offset > size || bytes > size - offset) {
            r.bad = true;
            break;
        }
        const int fit = suits(name, length, chip->target);
        add_name(have, sizeof have, name, length);
        if (fit <= best) continue;
        best = fit;
        *elf = image + offset;
        *elf_size = bytes;
    }
    if (best) return 0;
    if (r.bad) return khip_refuse(E_InvalidImage, "loading a bundle: it is damaged or cut off");
    return khip_refuse(E_NoBinaryForGpu,
                       "loading a bundle: it has nothing for %s, only%s: compile with "
                       "--offload-arch=%.*s, or choose a device with KILN_SIM=arch=...",
                       chip->target, *have ? have : " host code", (int)strcspn(chip->target, ":"),
                       chip->target);
}

/* ---- modules ---- */

void khip_module_retain(khip_module *m)
{
    atomic_fetch_add(&m->users, 1);
}

void khip_module_release(khip_module *m)
{
    if (!m || atomic_fetch_sub(&m->users, 1) > 1) return;
    for (uint32_t i = 0; m->function && i < m->object->kernel_count; i++)
        khip_handle_remove(&m->function[i], KHIP_FUNCTION);
    ks_object_free(m->object);
    free(m->function);
    free(m);
}

static int add_functions(khip_module *m)
{
    const uint32_t count = m->object->kernel_count;
    m->function = calloc(count ? count : 1, sizeof *m->function);
    if (!m->function) return E_OutOfMemory;
    for (uint32_t i = 0; i < count; i++) {
        m->function[i] = (khip_function){m, &m->object->kernel[i]};
        if (!khip_handle_add(&m->function[i], KHIP_FUNCTION)) return E_OutOfMemory;
    }
    return 0;
}

static int load_elf(const void *elf, size_t size, int device, khip_module **out)
{
    ks_error error = {0};
    khip_module *m = calloc(1, sizeof *m);
    if (!m) return E_OutOfMemory;
    m->users = 1;
    m->device = device;
    m->object = ks_object_load(elf, size, khip_device_of(device)->arch, &error);
    if (!m->object) {
        free(m);
        return khip_refuse(error.hip ? error.hip : E_InvalidImage, "%s", error.text);
    }
    const int code = add_functions(m);
    if (code)
        khip_module_release(m);
    else
        *out = m;
    return code;
}

static bool begins(const void *image, size_t size, const char *magic, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (i >= size || ((const char *)image)[i] != magic[i]) return false;
    return true;
}

int khip_module_load(const void *image, size_t size, int device, khip_module **out)
{
    const khip_device *d = khip_device_of(device);
    if (!image || !out) return E_InvalidValue;
    if (!d) return E_InvalidDevice;
    if (begins(image, size, compressed_magic, strlen(compressed_magic)))
        return khip_refuse(E_InvalidImage, "loading a bundle: it is compressed: compile with "
                                           "-no-offload-compress (no --offload-compress)");
    if (!begins(image, size, bundle_magic, MAGIC)) return load_elf(image, size, device, out);
    const void *elf = NULL;
    size_t elf_size = 0;
    const int code = from_bundle(image, size, d->chip, &elf, &elf_size);
    return code ? code : load_elf(elf, elf_size, device, out);
}

khip_function *khip_module_function(khip_module *m, const char *name)
{
    const ks_kernel *k = ks_object_kernel(m->object, name);
    return k ? &m->function[k - m->object->kernel] : NULL;
}

/* ---- entry points ---- */

static int load_handle(void **out, const void *image, size_t size)
{
    khip_module *m = NULL;
    const int unsafe = khip_unsafe();
    if (unsafe) return unsafe;
    if (!out || !image) return E_InvalidValue;
    const int code = khip_module_load(image, size, khip_current(), &m);
    if (code) return code;
    if (!khip_handle_add(m, KHIP_MODULE)) {
        khip_module_release(m);
        return E_OutOfMemory;
    }
    *out = m;
    return 0;
}

HIP(hipModuleLoadData, (void **out, const void *image), (out, image))
{
    return load_handle(out, image, SIZE_MAX);
}

HIP(hipModuleLoadDataEx, (void **out, const void *image, unsigned count, int *option, void **value),
    (out, image, count, option, value))
{
    (void)count, (void)option, (void)value; /* of a compiler that does not run here */
    return load_handle(out, image, SIZE_MAX);
}

/* A file's bytes; the caller frees them. */
static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rbe");
    uint8_t *bytes = NULL;
    long end = -1;
    if (f && fseek(f, 0, SEEK_END) == 0) end = ftell(f);
    if (end > 0 && fseek(f, 0, SEEK_SET) == 0) bytes = malloc((size_t)end);
    *size = bytes ? fread(bytes, 1, (size_t)end, f) : 0;
    if (f) fclose(f);
    if (bytes && *size == (size_t)end) return bytes;
    free(bytes);
    return NULL;
}

HIP(hipModuleLoad, (void **out, const char *path), (out, path))
{
    size_t size;
    if (!out || !path) return E_InvalidValue;
    uint8_t *bytes = read_file(path, &size);
    if (!bytes) return E_FileNotFound;
    const int code = load_handle(out, bytes, size);
    free(bytes);
    return code;
}

HIP(hipModuleUnload, (void *module), (module))
{
    const int code = khip_unsafe();
    if (code) return code;
    if (!khip_handle_remove(module, KHIP_MODULE)) return E_InvalidHandle;
    khip_module_release(module);
    return 0;
}

HIP(hipModuleGetFunction, (void **out, void *module, const char *name), (out, module, name))
{
    if (!out || !name) return E_InvalidValue;
    if (!khip_handle_is(module, KHIP_MODULE)) return E_InvalidHandle;
    *out = khip_module_function(module, name);
    return *out ? 0 : E_NotFound;
}

HIP(hipModuleGetGlobal, (void **address, size_t *size, void *module, const char *name),
    (address, size, module, name))
{
    const khip_module *m = module;
    if (!name || (!address && !size)) return E_InvalidValue;
    if (!khip_handle_is(module, KHIP_MODULE)) return E_InvalidHandle;
    const ks_symbol *s = ks_object_symbol(m->object, name);
    if (!s) return E_NotFound;
    if (address) *address = (void *)(uintptr_t)s->address;
    if (size) *size = s->size;
    return 0;
}
