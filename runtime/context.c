// SPDX-License-Identifier: MIT
// kiln_open and kiln_close: which module files there are, which device, and the index of the
// device's rows by key.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

/* ---- module files ---- */

static kiln_status add_module(kiln_ctx *ctx, const char *path)
{
    kr_module *m;
    const kiln_status status = kr_module_open(path, &m);
    if (status == KILN_NO_MEMORY) return status;
    if (status)
        return kr_refuse(ctx, "%s", kiln_error())
                   ? KILN_OK
                   : kr_fail(KILN_NO_MEMORY, "no memory for a module");
    for (size_t i = 0; i < ctx->nmodules; i++) {
        if (ctx->module[i] != m) continue;
        kr_module_close(m); /* the same file by two folders */
        return KILN_OK;
    }
    kr_module **list = realloc(ctx->module, (ctx->nmodules + 1) * sizeof(kr_module *));
    if (!list) {
        kr_module_close(m);
        return kr_fail(KILN_NO_MEMORY, "no memory for a module");
    }
    ctx->module = list;
    list[ctx->nmodules++] = m;
    kr_log("opened %s: target %s, %u instances of %u ops", m->path, m->target, m->table->nrows,
           m->table->nops);
    return KILN_OK;
}

static int is_module_name(const struct dirent *entry)
{
    static const char prefix[] = "libkiln-";
    const size_t len = strlen(entry->d_name);
    return len > sizeof prefix + 2 && strncmp(entry->d_name, prefix, sizeof prefix - 1) == 0 &&
           strcmp(entry->d_name + len - 3, ".so") == 0;
}

/* own: the library's own folder, which need not exist. */
static kiln_status add_folder(kiln_ctx *ctx, const char *folder, bool own)
{
    struct dirent **entry;
    const int count = scandir(folder, &entry, is_module_name, alphasort);
    if (count < 0) {
        if (own)
            kr_log("no modules in %s: %s", folder, strerror(errno));
        else if (!kr_refuse(ctx, "%s: %s", folder, strerror(errno)))
            return kr_fail(KILN_NO_MEMORY, "no memory to open %s", folder);
        return KILN_OK;
    }
    kiln_status status = KILN_OK;
    for (int i = 0; i < count; i++) {
        char *path;
        if (status == KILN_OK) {
            if (asprintf(&path, "%s/%s", folder, entry[i]->d_name) < 0) {
                status = kr_fail(KILN_NO_MEMORY, "no memory to open %s", folder);
            } else {
                status = add_module(ctx, path);
                free(path);
            }
        }
        free(entry[i]);
    }
    free(entry);
    return status;
}

/* LIBDIR/kiln, LIBDIR being where this library lies. */
static kiln_status add_own_folder(kiln_ctx *ctx)
{
    Dl_info info;
    if (!dladdr((void *)(uintptr_t)kiln_open, &info) || !info.dli_fname) return KILN_OK;
    char *real = realpath(info.dli_fname, NULL), *folder = NULL;
    if (!real) return KILN_OK;
    kiln_status status;
    *strrchr(real, '/') = 0;
    if (asprintf(&folder, "%s/kiln", real) < 0) {
        status = kr_fail(KILN_NO_MEMORY, "no memory to open the library's modules");
    } else {
        status = add_folder(ctx, folder, true);
        free(folder);
    }
    free(real);
    return status;
}

static kiln_status add_modules(kiln_ctx *ctx, const kiln_config *config)
{
    kiln_status status = KILN_OK;
    if (!config || !config->only_module_path) status = add_own_folder(ctx);
    const char *path =
        config && config->module_path ? config->module_path : getenv("KILN_MODULE_PATH");
    if (status || !path || !*path) return status;
    char *copy = strdup(path), *rest = copy;
    if (!copy) return kr_fail(KILN_NO_MEMORY, "no memory for the module path");
    for (char *folder; status == KILN_OK && (folder = strsep(&rest, ":"));)
        if (*folder) status = add_folder(ctx, folder, false);
    free(copy);
    return status;
}

/* ---- the index ---- */

const kr_group *kr_group_find(const kiln_ctx *ctx, uint64_t key)
{
    for (uint32_t at = (uint32_t)key & ctx->slot_mask; ctx->slot[at];
         at = (at + 1) & ctx->slot_mask) {
        const kr_group *g = &ctx->group[ctx->slot[at] - 1];
        if (g->key == key) return g;
    }
    return NULL;
}

static void add_group(kiln_ctx *ctx, uint64_t key, uint32_t first, uint32_t count)
{
    kr_group *g = &ctx->group[ctx->ngroups++];
    *g = (kr_group){.key = key, .first = first, .count = count};
    kr_group *same = (kr_group *)(uintptr_t)kr_group_find(ctx, key);
    if (same) {
        while (same->next) same = &ctx->group[same->next - 1];
        same->next = ctx->ngroups;
        return;
    }
    uint32_t at = (uint32_t)key & ctx->slot_mask;
    while (ctx->slot[at]) at = (at + 1) & ctx->slot_mask;
    ctx->slot[at] = ctx->ngroups;
}

/* Kernels of one key are neighbours in their module. */
static void index_kernels(kiln_ctx *ctx, uint32_t first)
{
    const kiln_kernel *k = ctx->kernel;
    for (uint32_t i = first, end; i < ctx->nkernels; i = end) {
        for (end = i + 1; end < ctx->nkernels && k[end].row->key == k[i].row->key;) end++;
        add_group(ctx, k[i].row->key, i, end - i);
    }
}

/* The rows of m, but for ops that mean something else in this context. */
static void add_kernels(kiln_ctx *ctx, const kr_module *m)
{
    const kiln_module *t = m->table;
    bool counts = false;
    for (uint32_t i = 0; i < t->nrows; i++) {
        const kiln_row *row = &t->rows[i];
        if (i == 0 || row->op != row[-1].op) counts = kr_op_counts(ctx, m, &t->ops[row->op]);
        if (!counts) continue;
        kiln_kernel *k = &ctx->kernel[ctx->nkernels++];
        k->ctx = ctx;
        k->module = m;
        k->row = row;
        k->op = &t->ops[row->op];
        k->schedule = &t->schedules[row->schedule];
    }
}

static kiln_status build_index(kiln_ctx *ctx)
{
    size_t rows = 0;
    uint32_t keys = 0;
    uint64_t id = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < ctx->nmodules; i++) {
        const kiln_module *t = ctx->module[i]->table;
        rows += t->nrows;
        id = (id ^ t->id) * 0x9e3779b97f4a7c15ull;
        id ^= id >> 31;
        for (uint32_t r = 0; r < t->nrows; r++)
            keys += r == 0 || t->rows[r].key != t->rows[r - 1].key;
    }
    ctx->registry_id = id;
    uint32_t slots = 16;
    while (slots < 2 * keys) slots *= 2;
    ctx->kernel = calloc(rows + 1, sizeof *ctx->kernel);
    ctx->group = malloc((keys + 1) * sizeof *ctx->group);
    ctx->slot = calloc(slots, sizeof *ctx->slot);
    ctx->slot_mask = slots - 1;
    if (!ctx->kernel || !ctx->group || !ctx->slot || rows > UINT32_MAX / 2)
        return kr_fail(KILN_NO_MEMORY, "no memory for an index of %zu instances", rows);
    for (size_t i = 0; i < ctx->nmodules; i++) {
        const uint32_t first = (uint32_t)ctx->nkernels;
        add_kernels(ctx, ctx->module[i]);
        if (strcmp(ctx->module[i]->target, ctx->device->info.target) == 0)
            index_kernels(ctx, first);
    }
    return KILN_OK;
}

/* ---- the device ---- */

static bool has_target(const kiln_ctx *ctx, const char *target)
{
    for (size_t i = 0; i < ctx->nmodules; i++)
        if (strcmp(ctx->module[i]->target, target) == 0) return true;
    return false;
}

static bool has_targets_like(const kiln_ctx *ctx, const char *prefix)
{
    for (size_t i = 0; i < ctx->nmodules; i++)
        if (strncmp(ctx->module[i]->target, prefix, strlen(prefix)) == 0) return true;
    return false;
}

/* A GPU that a module was compiled for, else the host.  Drivers are slow to start: only where a
 * module may need them. */
static kiln_status open_best_device(kiln_ctx *ctx, int threads)
{
    static const struct {
        const char *name, *targets;
    } vendor[] = {{"nvidia", "sm_"}, {"amd", "gfx"}};
    for (size_t i = 0; i < sizeof vendor / sizeof *vendor; i++) {
        if (!has_targets_like(ctx, vendor[i].targets)) continue;
        if (kr_device_open(vendor[i].name, threads, &ctx->device)) continue;
        if (has_target(ctx, ctx->device->info.target)) return KILN_OK;
        kr_log("%s passed over: no module for %s", ctx->device->info.name,
               ctx->device->info.target);
        ctx->device->ops->close(ctx->device);
        ctx->device = NULL;
    }
    return kr_device_open("host", threads, &ctx->device);
}

static kiln_status open_device(kiln_ctx *ctx, const kiln_config *config)
{
    const char *spec = config && config->device ? config->device : getenv("KILN_DEVICE");
    const int threads = config ? config->threads : 0;
    if (threads < 0) return kr_fail(KILN_INVALID, "kiln_config.threads is negative (%d)", threads);
    const kiln_status status = spec && *spec ? kr_device_open(spec, threads, &ctx->device)
                                             : open_best_device(ctx, threads);
    if (status == KILN_OK)
        kr_log("device %s: target %s, %d units", ctx->device->info.name, ctx->device->info.target,
               ctx->device->info.units);
    return status;
}

/* ---- opening and closing ---- */

kiln_status kiln_open(kiln_ctx **out, const kiln_config *config)
{
    if (!out) return kr_fail(KILN_INVALID, "kiln_open needs a place for the context");
    *out = NULL;
    kiln_config room;
    if (config && !(config = kr_struct_in("kiln_config", config, sizeof *config, &room)))
        return KILN_INVALID;
    kiln_ctx *ctx = calloc(1, sizeof *ctx);
    if (!ctx) return kr_fail(KILN_NO_MEMORY, "no memory for a context");
    pthread_mutex_init(&ctx->load, NULL);
    kiln_status status = add_modules(ctx, config);
    if (status == KILN_OK) status = open_device(ctx, config);
    if (status == KILN_OK) status = kr_ops_settle(ctx);
    if (status == KILN_OK) status = build_index(ctx);
    if (status) {
        kiln_close(ctx);
        return status;
    }
    kr_first_open(ctx, config);
    kr_tuning_open(ctx, config);
    if (kr_log_failure()) kr_refuse(ctx, "%s", kr_log_failure());
    *out = ctx;
    return KILN_OK;
}

void kiln_close(kiln_ctx *ctx)
{
    if (!ctx) return;
    if (ctx->device) {
        for (size_t i = 0; ctx->kernel && i < ctx->nkernels; i++)
            if (ctx->kernel[i].code || ctx->kernel[i].realign_code)
                ctx->device->ops->unload(ctx->device, &ctx->kernel[i]);
        ctx->device->ops->close(ctx->device);
    }
    kr_first_close(ctx);
    kr_ops_release(ctx);
    for (size_t i = 0; i < ctx->nmodules; i++) kr_module_close(ctx->module[i]);
    for (size_t i = 0; i < ctx->nrefused; i++) free(ctx->refused[i]);
    pthread_mutex_destroy(&ctx->load);
    free(ctx->module);
    free(ctx->refused);
    free(ctx->kernel);
    free(ctx->group);
    free(ctx->slot);
    free(ctx->tuned);
    free(ctx);
}
