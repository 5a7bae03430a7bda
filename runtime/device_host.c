// SPDX-License-Identifier: MIT
// The CPU as a device: memory is malloc's, a launch computes before it returns, a stream only knows
// whether it is being recorded, and a graph is a list of calls.  A handle is compared with the
// streams that were made here and followed only if it is one: others' are ignored.
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "internal.h"

typedef struct call {
    kiln_host_fn fn;
    _Alignas(16) unsigned char args[KR_MAX_ARGS];
} call;

typedef struct graph {
    call *call;
    size_t count, room;
} graph;

typedef struct stream {
    struct stream *next;
    graph *recording;
} stream;

typedef struct host {
    kr_device base;
    pthread_mutex_t mutex; /* guards the streams and what they record */
    stream *streams;
    _Atomic int recordings; /* while there are none, a launch looks no further */
} host;

static kiln_status no_memory(size_t size)
{
    return kr_fail(KILN_NO_MEMORY, "host memory ran out at %zu bytes", size);
}

/* ---- what this host is ---- */

static int threads_to_use(int wanted)
{
    if (wanted > 0) return wanted;
    const char *omp = getenv("OMP_NUM_THREADS"); /* "4", or "4,2" with nesting */
    const long n = omp ? strtol(omp, NULL, 10) : 0;
    if (n > 0 && n <= 4096) return (int)n;
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

/* The name of the first processor, and its MHz: 0 where the kernel does not say. */
static double read_cpu(char *out, size_t size)
{
    char line[256];
    double mhz = 0;
    FILE *f = fopen("/proc/cpuinfo", "re");
    snprintf(out, size, "CPU");
    while (f && fgets(line, sizeof line, f) && line[0] != '\n') {
        const char *colon = strchr(line, ':');
        if (!colon) continue;
        if (strncmp(line, "cpu MHz", 7) == 0) mhz = strtod(colon + 1, NULL);
        if (strncmp(line, "model name", 10) == 0)
            snprintf(out, size, "%.*s", (int)strcspn(colon + 1 + (colon[1] == ' '), "\n"),
                     colon + 1 + (colon[1] == ' '));
    }
    if (f) fclose(f);
    /* What an idle core runs at says little; where frequencies change, the one it can keep up is
     * told. */
    f = fopen("/sys/devices/system/cpu/cpu0/cpufreq/base_frequency", "re");
    if (f && fgets(line, sizeof line, f)) mhz = strtod(line, NULL) / 1000;
    if (f) fclose(f);
    return mhz;
}

/* Operations of a cycle, as the instruction set that host kernels choose has them: two units for
 * products; of i8, four with VNNI where f32 has one, else two that take a product and a sum. */
static void describe_rates(kr_device *dev, double mhz)
{
    int f32 = 8, i8 = 4;
#if defined(__x86_64__)
    const char *most = getenv("KILN_HOST_ISA");
    const bool plain = most && strcmp(most, "plain") == 0;
    if (!plain && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        f32 = 32, i8 = 32;
        if (!(most && strcmp(most, "avx2") == 0) && __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
            __builtin_cpu_supports("avx512vnni"))
            f32 = 64, i8 = 256;
    }
#endif
    dev->gflops = (int)(mhz * f32 / 1000 + 0.5);
    dev->gops = (int)(mhz * i8 / 1000 + 0.5);
}

static void describe(kr_device *dev, int threads)
{
    kiln_device_info *info = &dev->info;
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE),
               cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    info->struct_size = sizeof *info;
    describe_rates(dev, read_cpu(info->name, sizeof info->name));
    strcpy(info->vendor, "host");
    strcpy(info->target, "host");
    info->units = threads_to_use(threads);
    info->memory = pages > 0 && page > 0 ? (size_t)pages * (size_t)page : 0;
    info->l2 = cache > 0 ? (size_t)cache : 0;
}

static void free_graph(graph *g)
{
    if (g) free(g->call);
    free(g);
}

static void host_close(kr_device *dev)
{
    host *h = (host *)dev;
    kr_pool_close();
    while (h->streams) {
        stream *s = h->streams;
        h->streams = s->next;
        free_graph(s->recording);
        free(s);
    }
    pthread_mutex_destroy(&h->mutex);
    free(h);
}

/* The link that holds a stream of this device; NULL: the handle is none.  With the mutex held. */
static stream **find_stream(host *h, const void *handle)
{
    stream **link = &h->streams;
    while (*link && *link != handle) link = &(*link)->next;
    return *link ? link : NULL;
}

/* ---- kernels ---- */

static kiln_status host_load(kr_device *dev, kiln_kernel *k)
{
    kr_pool_ready(dev->info.units);
    k->code = (void *)k->row; /* nothing to free; says that it was loaded */
    const kiln_host_fn fn = k->module->table->host_fns[k->row->host_fn];
    atomic_store_explicit(&k->fn[0], (void *)(uintptr_t)fn, memory_order_release);
    return KILN_OK;
}

static void host_unload(kr_device *dev, kiln_kernel *k)
{
    (void)dev;
    (void)k;
}

static kiln_status record(graph *g, kiln_host_fn fn, const kr_launch *l)
{
    if (g->count == g->room) {
        const size_t room = g->room ? 2 * g->room : 64;
        call *list = realloc(g->call, room * sizeof *list);
        if (!list) return no_memory(room * sizeof *list);
        g->call = list;
        g->room = room;
    }
    call *c = &g->call[g->count++];
    c->fn = fn;
    memcpy(c->args, l->args, l->args_size);
    return KILN_OK;
}

static kiln_status host_launch(kr_device *dev, const kr_launch *l, void *handle)
{
    host *h = (host *)dev;
    const kiln_host_fn fn =
        (kiln_host_fn)(uintptr_t)atomic_load_explicit(&l->kernel->fn[0], memory_order_acquire);
    if (handle && atomic_load_explicit(&h->recordings, memory_order_relaxed)) {
        kiln_status status = KILN_OK;
        pthread_mutex_lock(&h->mutex);
        stream **s = find_stream(h, handle);
        const bool recorded = s && (*s)->recording;
        if (recorded) status = record((*s)->recording, fn, l);
        pthread_mutex_unlock(&h->mutex);
        if (recorded) return status;
    }
    fn(l->args, kr_pool_each);
    return KILN_OK;
}

/* ---- memory ---- */

static kiln_status host_malloc(kr_device *dev, size_t size, void **out)
{
    (void)dev;
    *out = size > SIZE_MAX - 256 ? NULL : aligned_alloc(256, (size + 255) & ~(size_t)255);
    return *out ? KILN_OK : no_memory(size);
}

static kiln_status host_free(kr_device *dev, void *p)
{
    (void)dev;
    free(p);
    return KILN_OK;
}

static kiln_status host_copy(kr_device *dev, void *to, const void *from, size_t size)
{
    (void)dev;
    memcpy(to, from, size);
    return KILN_OK;
}

/* ---- streams and graphs ---- */

static kiln_status host_stream_create(kr_device *dev, void **out)
{
    host *h = (host *)dev;
    stream *s = calloc(1, sizeof *s);
    if (!s) return no_memory(sizeof *s);
    pthread_mutex_lock(&h->mutex);
    s->next = h->streams;
    h->streams = s;
    pthread_mutex_unlock(&h->mutex);
    *out = s;
    return KILN_OK;
}

static kiln_status host_graph_destroy(kr_device *dev, void *handle)
{
    (void)dev;
    free_graph(handle);
    return KILN_OK;
}

static kiln_status no_stream(const char *function)
{
    return kr_fail(KILN_INVALID, "%s: not a stream that kiln_stream_create made on this device",
                   function);
}

static kiln_status host_stream_destroy(kr_device *dev, void *handle)
{
    host *h = (host *)dev;
    pthread_mutex_lock(&h->mutex);
    stream **link = find_stream(h, handle), *s = link ? *link : NULL;
    if (s) *link = s->next;
    if (s && s->recording) h->recordings--;
    pthread_mutex_unlock(&h->mutex);
    if (!s) return no_stream("kiln_stream_destroy");
    free_graph(s->recording);
    free(s);
    return KILN_OK;
}

static kiln_status host_synchronize(kr_device *dev, void *handle)
{
    (void)dev;
    (void)handle;
    return KILN_OK;
}

static kiln_status host_graph_begin(kr_device *dev, void *handle)
{
    host *h = (host *)dev;
    kiln_status status = KILN_OK;
    pthread_mutex_lock(&h->mutex);
    stream **s = find_stream(h, handle);
    if (!s)
        status = no_stream("kiln_graph_begin");
    else if ((*s)->recording)
        status = kr_fail(KILN_INVALID, "kiln_graph_begin: this stream is being recorded already");
    else if (!((*s)->recording = calloc(1, sizeof(graph))))
        status = no_memory(sizeof(graph));
    else
        h->recordings++;
    pthread_mutex_unlock(&h->mutex);
    return status;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static kiln_status host_graph_replay(kr_device *dev, void *handle, void *stream_handle,
                                     double *seconds)
{
    (void)dev;
    (void)stream_handle;
    const graph *g = handle;
    const double start = now();
    for (size_t i = 0; i < g->count; i++) g->call[i].fn(g->call[i].args, kr_pool_each);
    if (seconds) *seconds = now() - start;
    return KILN_OK;
}

static kiln_status host_graph_end(kr_device *dev, void *handle, void **out)
{
    host *h = (host *)dev;
    pthread_mutex_lock(&h->mutex);
    stream **s = find_stream(h, handle);
    graph *g = s ? (*s)->recording : NULL;
    if (g) {
        (*s)->recording = NULL;
        h->recordings--;
    }
    pthread_mutex_unlock(&h->mutex);
    if (!s) return no_stream("kiln_graph_end");
    if (!g) return kr_fail(KILN_INVALID, "kiln_graph_end: this stream is not being recorded");
    *out = g;
    return host_graph_replay(dev, g, NULL, NULL);
}

static const kr_device_ops host_ops = {
    .close = host_close,
    .load = host_load,
    .unload = host_unload,
    .launch = host_launch,
    .malloc = host_malloc,
    .free = host_free,
    .upload = host_copy,
    .download = host_copy,
    .stream_create = host_stream_create,
    .stream_destroy = host_stream_destroy,
    .synchronize = host_synchronize,
    .graph_begin = host_graph_begin,
    .graph_end = host_graph_end,
    .graph_replay = host_graph_replay,
    .graph_destroy = host_graph_destroy,
};

kiln_status kr_device_open_host(int threads, kr_device **out)
{
    host *h = calloc(1, sizeof *h);
    if (!h) return no_memory(sizeof *h);
    const kiln_status status = kr_pool_open();
    if (status) {
        free(h);
        return status;
    }
    pthread_mutex_init(&h->mutex, NULL);
    h->base.ops = &host_ops;
    describe(&h->base, threads);
    *out = &h->base;
    return KILN_OK;
}
