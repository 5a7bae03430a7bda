// SPDX-License-Identifier: MIT
// The handles that programs hold: a hash set of live addresses with their type, so that a stale or
// foreign handle is an error code and nothing worse.
#include <stdlib.h>
#include "hip.h"

typedef struct slot {
    const void *handle; /* NULL: free; TOMB: was used */
    khip_type type;
} slot;
static struct {
    pthread_mutex_t mutex;
    slot *slot;
    size_t size, used; /* size: a power of two; used: live and tombs */
} table = {.mutex = PTHREAD_MUTEX_INITIALIZER};
static const char tomb;
#define TOMB ((const void *)&tomb)

static size_t first(const void *handle)
{
    return (size_t)(((uintptr_t)handle >> 4) * 0x9e3779b97f4a7c15ull >> 17) & (table.size - 1);
}

static slot *find(const void *handle)
{
    if (!handle || table.size == 0) return NULL;
    for (size_t i = first(handle); table.slot[i].handle; i = (i + 1) & (table.size - 1))
        if (table.slot[i].handle == handle) return &table.slot[i];
    return NULL;
}

static void put(const void *handle, khip_type type)
{
    size_t i = first(handle);
    while (table.slot[i].handle) i = (i + 1) & (table.size - 1);
    table.slot[i] = (slot){handle, type};
    table.used++;
}

static bool grow(void)
{
    enum { START = 64 };
    slot *old = table.slot;
    const size_t size = table.size;
    slot *more = calloc(size ? 2 * size : START, sizeof *more);
    if (!more) return false;
    table.slot = more;
    table.size = size ? 2 * size : START;
    table.used = 0;
    for (size_t i = 0; i < size; i++)
        if (old[i].handle && old[i].handle != TOMB) put(old[i].handle, old[i].type);
    free(old);
    return true;
}

bool khip_handle_add(void *handle, khip_type type)
{
    pthread_mutex_lock(&table.mutex);
    const bool ok = 2 * table.used < table.size || grow();
    if (ok) put(handle, type);
    pthread_mutex_unlock(&table.mutex);
    return ok;
}

bool khip_handle_is(const void *handle, khip_type type)
{
    pthread_mutex_lock(&table.mutex);
    const slot *s = find(handle);
    const bool is = s && s->type == type;
    pthread_mutex_unlock(&table.mutex);
    return is;
}

bool khip_handle_remove(void *handle, khip_type type)
{
    pthread_mutex_lock(&table.mutex);
    slot *s = find(handle);
    const bool is = s && s->type == type;
    if (is) s->handle = TOMB;
    pthread_mutex_unlock(&table.mutex);
    return is;
}

static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER;

void khip_lock(void)
{
    pthread_mutex_lock(&shared);
}

void khip_unlock(void)
{
    pthread_mutex_unlock(&shared);
}
