// SPDX-License-Identifier: MIT
// Code objects and launches on a GPU.  A kernel's first parameter is its family's arguments by
// value; where its row declares tensor maps, the second is an array of them.
#define XXH_INLINE_ALL
#include <string.h>
#include <xxhash.h>
#include "driver.h"

/* ---- loading ---- */

static kiln_status check_code(const kiln_kernel *k, uint64_t offset, size_t size, uint64_t hash)
{
    if (XXH3_64bits(k->module->table->code + offset, size) == hash) return KILN_OK;
    return kr_fail(KILN_BAD_MODULE, "%s: its code object in %s is damaged; build the module again",
                   kr_kernel_name(k), k->module->path);
}

/* What a function must be allowed before it may be launched so: set once, not per launch. */
static void allow(const kr_device *dev, void *fn)
{
    const kr_driver *d = kr_driver_of(dev);
    int device, most = 0, used = 0;
    if (!d->nvidia || d->device_get(&device, dev->ordinal)) return;
    if (d->device_attribute(&most, NV_ATTR_SHARED_OPTIN, device) == 0 &&
        d->function_get(&used, NV_FUNC_STATIC_SHARED, fn) == 0 &&
        most - used > NV_STATIC_SHARED_LIMIT)
        d->function_set(fn, NV_FUNC_MAX_DYNAMIC_SHARED, most - used);
    if (d->launch_ex) d->function_set(fn, NV_FUNC_NON_PORTABLE_CLUSTER, 1);
}

static kiln_status load_functions(kr_device *dev, kiln_kernel *k, void *code)
{
    const kr_driver *d = kr_driver_of(dev);
    void *fn[KILN_MAX_STAGES] = {NULL};
    for (int i = 0; i < KILN_MAX_STAGES; i++) {
        const char *symbol = kr_str(k->module, k->row->symbol[i]);
        if (!*symbol) continue;
        const kiln_status status =
            kr_driver_check(d, d->module_function(&fn[i], code, symbol), kr_kernel_name(k));
        if (status) return status;
        allow(dev, fn[i]);
    }
    k->code = code;
    for (int i = KILN_MAX_STAGES - 1; i >= 0; i--)
        atomic_store_explicit(&k->fn[i], fn[i], memory_order_release);
    return KILN_OK;
}

/* A code object has several kernels in it; the first of them to be loaded loads it for all. */
static void *loaded_by_another(const kiln_kernel *k)
{
    for (size_t i = 0; i < k->ctx->nkernels; i++) {
        const kiln_kernel *other = &k->ctx->kernel[i];
        if (other->code && other->module == k->module &&
            other->row->code_offset == k->row->code_offset &&
            other->row->code_size == k->row->code_size)
            return other->code;
    }
    return NULL;
}

/* The module's kernel that copies what maps cannot take: once for all of its kernels that want it.
 */
static kiln_status load_realign(kr_device *dev, kiln_kernel *k)
{
    const kr_driver *d = kr_driver_of(dev);
    const kiln_object *code = &k->module->table->realign;
    for (size_t i = 0; i < k->ctx->nkernels && !k->realign; i++)
        if (k->ctx->kernel[i].module == k->module) k->realign = k->ctx->kernel[i].realign;
    if (k->realign) return KILN_OK;
    kiln_status status = check_code(k, code->offset, code->size, code->hash);
    if (status) return status;
    status =
        kr_driver_check(d, d->module_load(&k->realign_code, k->module->table->code + code->offset),
                        KILN_REALIGN_SYMBOL);
    if (status) return status;
    status =
        kr_driver_check(d, d->module_function(&k->realign, k->realign_code, KILN_REALIGN_SYMBOL),
                        KILN_REALIGN_SYMBOL);
    if (status) {
        d->module_unload(k->realign_code);
        k->realign = k->realign_code = NULL;
    }
    return status;
}

kiln_status kr_gpu_load(kr_device *dev, kiln_kernel *k)
{
    const kr_driver *d = kr_driver_of(dev);
    kr_scope scope;
    void *code = loaded_by_another(k);
    const bool shared = code != NULL;
    kiln_status status =
        shared ? KILN_OK : check_code(k, k->row->code_offset, k->row->code_size, k->row->code_hash);
    if (status) return status;
    status = kr_enter(dev, &scope);
    if (status) return status;
    /* Loading must not spoil a capture that goes on in this thread, nor be refused for it. */
    int mode = CAPTURE_RELAXED;
    const bool exchanged = d->capture_mode(&mode) == 0;
    if (k->row->realigns) status = load_realign(dev, k);
    if (status == KILN_OK && !shared)
        status =
            kr_driver_check(d, d->module_load(&code, k->module->table->code + k->row->code_offset),
                            kr_kernel_name(k));
    if (status == KILN_OK) {
        status = load_functions(dev, k, code);
        if (status && !shared) d->module_unload(code);
    }
    k->shared = shared && status == KILN_OK;
    if (exchanged) d->capture_mode(&mode);
    kr_leave(dev, &scope);
    return status;
}

void kr_gpu_unload(kr_device *dev, kiln_kernel *k)
{
    kr_scope scope;
    if ((k->shared && !k->realign_code) || kr_enter(dev, &scope)) return;
    if (k->code && !k->shared) kr_driver_of(dev)->module_unload(k->code);
    if (k->realign_code) kr_driver_of(dev)->module_unload(k->realign_code);
    kr_leave(dev, &scope);
    k->code = k->realign = k->realign_code = NULL;
}

/* ---- launching ---- */

/* CUlaunchConfig and CUlaunchAttribute, as cuLaunchKernelEx takes them. */
typedef struct launch_attribute {
    int id;
    char pad[4];
    union {
        u32 cluster[3];
        int early; /* programmatic stream serialization */
        char whole[64];
    } value;
} launch_attribute;
typedef struct launch_config {
    u32 grid[3], block[3], lds;
    void *stream;
    launch_attribute *attribute;
    u32 attributes;
} launch_config;
enum { LAUNCH_CLUSTER = 4, LAUNCH_EARLY = 6 };

static bool is_empty(const kiln_stage_plan *s)
{
    return !s->grid[0] || !s->grid[1] || !s->grid[2];
}

static bool has_cluster(const kiln_stage_plan *s)
{
    return (uint64_t)s->cluster[0] * s->cluster[1] * s->cluster[2] > 1;
}

static int launch_stage(const kr_driver *d, void *fn, const kiln_stage_plan *s, void *stream,
                        void **params)
{
    launch_attribute attribute[2];
    u32 n = 0;
    if (has_cluster(s))
        attribute[n++] = (launch_attribute){
            .id = LAUNCH_CLUSTER, .value.cluster = {s->cluster[0], s->cluster[1], s->cluster[2]}};
    if (s->early && d->early)
        attribute[n++] = (launch_attribute){.id = LAUNCH_EARLY, .value.early = 1};
    if (n == 0)
        return d->launch(fn, s->grid[0], s->grid[1], s->grid[2], s->block[0], s->block[1],
                         s->block[2], s->lds, stream, params, NULL);
    const launch_config config = {{s->grid[0], s->grid[1], s->grid[2]},
                                  {s->block[0], s->block[1], s->block[2]},
                                  s->lds,
                                  stream,
                                  attribute,
                                  n};
    return d->launch_ex(&config, fn, params, NULL);
}

/* Copies of tensors that no map takes, ahead of the kernel or behind it. */
static int copy(const kr_driver *d, void *fn, const kiln_realign_args *args, uint32_t blocks,
                void *stream)
{
    const kiln_stage_plan s = {
        .grid = {blocks, 1, 1}, .block = {KILN_REALIGN_THREADS, 1, 1}, .early = 1};
    void *params[1] = {(void *)(uintptr_t)args};
    return launch_stage(d, fn, &s, stream, params);
}

static kiln_status launch(const kr_device *dev, const kr_launch *l, void *stream)
{
    _Alignas(KR_MAP_ALIGN) uint64_t map[KR_MAX_MAPS][KR_MAP_WORDS];
    const kr_driver *d = kr_driver_of(dev);
    const kiln_kernel *k = l->kernel;
    const kiln_row *r = k->row;
    if (r->maps && !d->encode_map)
        return kr_fail(KILN_NOT_SUPPORTED, "%s needs tensor maps, which this driver does not have",
                       kr_kernel_name(k));
    for (int i = 0; i < r->maps; i++) {
        const kiln_map *m = &k->module->table->map[r->first_map + (uint32_t)i];
        const kiln_tensor_row *t = &k->op->tensor[m->operand];
        if (t->out && !r->realigns && !m->optional && !kr_map_takes(t, &l->view->t[m->operand]))
            return kr_fail(KILN_NOT_SUPPORTED,
                           "%s writes %s by tensor map: its lines must begin and end at multiples "
                           "of %d bytes, else the map writes behind them",
                           kr_kernel_name(k), kr_str(k->module, t->name), KR_MAP_PIECE);
        const int code = kr_map_make(d, dev->maps, l, m, map[i]);
        if (code) return kr_driver_check(d, code, kr_kernel_name(k));
    }
    const kr_realigned *const copies = l->realigned;
    if (copies->n && copies->in.parts) {
        const int code = copy(d, k->realign, &copies->in, copies->in_blocks, stream);
        if (code) return kr_driver_check(d, code, kr_kernel_name(k));
    }
    void *params[2] = {(void *)(uintptr_t)l->args, map};
    for (uint32_t i = 0; i < l->plan->stages; i++) {
        const kiln_stage_plan *s = &l->plan->stage[i];
        if (is_empty(s)) continue;
        if (has_cluster(s) && !d->launch_ex)
            return kr_fail(KILN_NOT_SUPPORTED, "%s needs clusters, which this driver does not have",
                           kr_kernel_name(k));
        void *fn = atomic_load_explicit(&k->fn[i], memory_order_relaxed);
        if (!fn)
            return kr_fail(KILN_BAD_MODULE, "%s plans stage %u, but names no symbol for it",
                           kr_kernel_name(k), i + 1);
        const int code = launch_stage(d, fn, s, stream, params);
        if (code) return kr_driver_check(d, code, kr_kernel_name(k));
    }
    if (copies->n && copies->out.parts) {
        const int code = copy(d, k->realign, &copies->out, copies->out_blocks, stream);
        if (code) return kr_driver_check(d, code, kr_kernel_name(k));
    }
    return KILN_OK;
}

kiln_status kr_gpu_launch(kr_device *dev, const kr_launch *l, void *stream)
{
    kr_scope scope;
    kiln_status status = kr_enter(dev, &scope);
    if (status) return status;
    status = launch(dev, l, stream);
    kr_leave(dev, &scope);
    return status;
}
