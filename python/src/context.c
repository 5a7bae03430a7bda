// SPDX-License-Identifier: MIT
// One context for each device, opened when a tensor of it comes or it is asked for by name. Opening
// modules anew retires them: those of the host are closed when nobody uses them any more, a GPU's
// are kept, for its kernels may be queued or in graphs.
#include "binding.h"
#include <stdlib.h>
#include <string.h>

static kp_ctx *contexts;
static kp_ctx *host, *gpu[2][16]; /* of tensors' devices: CUDA, ROCm */
static struct {
    char *modules, *tuning;
    int threads;
} config;

/* ---- signatures ---- */

static int by_order(const void *px, const void *py)
{
    const kp_signature *x = px, *y = py;
    int order = strcmp(x->op, y->op);
    if (!order) order = memcmp(x->type, y->type, sizeof x->type);
    if (!order) order = memcmp(x->layout, y->layout, sizeof x->layout);
    for (int i = 0; i < 2 && !order; i++)
        order = (x->fixed[i] > y->fixed[i]) - (x->fixed[i] < y->fixed[i]);
    return order;
}

/* What the kernels that run here were compiled for, each once. */
static bool list_signatures(kp_ctx *c)
{
    const kiln_kernel *kernel;
    size_t room = 0, n = 0;
    for (size_t i = 0; kiln_kernel_at(c->ctx, i, &kernel) == KILN_OK; i++) {
        kiln_kernel_info info = {.struct_size = sizeof info};
        if (kiln_kernel_describe(kernel, &info) || !info.runnable) continue;
        kp_signature s = {.op = info.op, .fixed = {info.fixed[0], info.fixed[1]}};
        for (size_t t = 0; t < info.ntypes; t++) s.type[t] = (uint8_t)info.type[t];
        for (size_t l = 0; l < info.nlayouts; l++) s.layout[l] = (uint8_t)info.layout[l];
        if (n && by_order(&s, &c->signature[n - 1]) == 0) continue;
        if (n == room) {
            kp_signature *more = realloc(c->signature, (room = 2 * room + 64) * sizeof *more);
            if (!more) return PyErr_NoMemory() != NULL;
            c->signature = more;
        }
        c->signature[n++] = s;
    }
    if (n) qsort(c->signature, n, sizeof *c->signature, by_order);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || by_order(&c->signature[i], &c->signature[c->nsignatures - 1]))
            c->signature[c->nsignatures++] = c->signature[i];
    return true;
}

/* ---- opening and closing ---- */

static void destroy(kp_ctx *c)
{
    for (kp_scratch *s = c->scratch, *next; s; s = next) {
        next = s->next;
        kiln_free(c->ctx, s->memory);
        free(s);
    }
    kiln_close(c->ctx);
    free(c->signature);
    free(c->spec);
    free(c);
}

static kp_ctx *open_context(const char *spec)
{
    kp_ctx *c = calloc(1, sizeof *c);
    if (!c || !(c->spec = strdup(spec))) {
        free(c);
        PyErr_NoMemory();
        return NULL;
    }
    const kiln_config k = {.struct_size = sizeof k,
                           .device = *spec ? spec : NULL,
                           .module_path = config.modules,
                           .tuning = config.tuning,
                           .threads = config.threads};
    c->info.struct_size = sizeof c->info;
    kiln_status status = kiln_open(&c->ctx, &k);
    if (status == KILN_OK) status = kiln_device_describe(c->ctx, &c->info);
    if (status || !list_signatures(c)) {
        if (status) kp_raise(status);
        destroy(c);
        return NULL;
    }
    c->host = !strcmp(c->info.vendor, "host");
    c->next = contexts;
    contexts = c;
    return c;
}

kp_ctx *kp_context(const char *spec)
{
    for (kp_ctx *c = contexts; c; c = c->next)
        if (!c->retired && !strcmp(c->spec, spec)) return c;
    return open_context(spec);
}

kp_ctx *kp_context_of(int device, int id)
{
    char spec[32];
    if (device == KP_HOST) return host ? host : (host = kp_context("host"));
    if (kp.forked) {
        PyErr_SetString(
            PyExc_RuntimeError,
            "this process was forked off one that had opened Kiln: a GPU is not to be had in "
            "such a child; start processes with multiprocessing's 'spawn'");
        return NULL;
    }
    if (id < 0 || id >= 16) {
        PyErr_Format(PyExc_ValueError, "the tensors are on device %d, and Kiln counts up to 15",
                     id);
        return NULL;
    }
    kp_ctx **slot = &gpu[device == KP_ROCM][id];
    if (*slot) return *slot;
    const char *asked = getenv("KILN_DEVICE");
    if (device == KP_ROCM && asked && !strncmp(asked, "sim:", 4)) return *slot = kp_context(asked);
    PyOS_snprintf(spec, sizeof spec, "%s:%d", device == KP_ROCM ? "amd" : "nvidia", id);
    return *slot = kp_context(spec);
}

static void unlink_context(const kp_ctx *gone)
{
    for (kp_ctx **at = &contexts; *at; at = &(*at)->next)
        if (*at == gone) {
            *at = gone->next;
            return;
        }
}

void kp_hold(kp_ctx *c)
{
    c->uses++;
}

void kp_release(kp_ctx *c)
{
    if (--c->uses || !c->retired || !c->host) return;
    unlink_context(c);
    destroy(c);
}

bool kp_configure(const char *modules, const char *tuning, int threads)
{
    char *const m = modules ? strdup(modules) : NULL, *const t = tuning ? strdup(tuning) : NULL;
    if ((modules && !m) || (tuning && !t)) {
        free(m), free(t);
        PyErr_NoMemory();
        return false;
    }
    free(config.modules), free(config.tuning);
    config.modules = m, config.tuning = t, config.threads = threads;
    kp.generation++;
    host = NULL;
    memset(gpu, 0, sizeof gpu);
    for (kp_ctx *c = contexts, *next; c; c = next) {
        next = c->next;
        c->retired = true;
        kp_hold(c);
        kp_release(c);
    }
    return true;
}

/* ---- workspaces ---- */

kp_scratch *kp_scratch_take(kp_ctx *c, size_t size, void *stream)
{
    for (kp_scratch *s = c->scratch; s; s = s->next)
        if (!s->busy && s->size >= size && (c->host || s->stream == stream)) {
            s->busy = true;
            return s;
        }
    kp_scratch *s = calloc(1, sizeof *s);
    if (!s) {
        PyErr_NoMemory();
        return NULL;
    }
    const kiln_status status = kiln_malloc(c->ctx, size, &s->memory);
    if (status) {
        free(s);
        kp_raise(status);
        return NULL;
    }
    *s = (kp_scratch){
        .next = c->scratch, .memory = s->memory, .stream = stream, .size = size, .busy = true};
    return c->scratch = s;
}
