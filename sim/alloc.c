// SPDX-License-Identifier: MIT
// Device memory: the host's, with guard space on both sides, so that an access a little outside
// hits nothing, and kept back for a while after it is freed, so that its use is found.  Ranges of
// all memory that kernels may touch stand in one sorted array under a read-write lock; a thread
// looks in its own few last ranges first, which are good as long as nothing has changed.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "sim.h"

#define MOST (SIZE_MAX >> 25) /* bytes: more than any host has, and sums of it cannot overflow */
enum {
    GUARD = 4096,      /* bytes on each side */
    LEAST_ALIGN = 256, /* hipMalloc's */
    RECENT = 4,        /* ranges that a thread remembers */
    INVALID = 1,       /* hipErrorInvalidValue */
};
static const uint32_t freed_pattern =
    0x7fdddfddu; /* a NaN in f16, bf16 and f32, and never mistaken for KS_POISON */

typedef struct block {
    ks_range range;
    void *base;     /* of the host's memory; NULL: somebody else's */
    void *shadow;   /* of undefined bits, from range.begin on; NULL: all are defined */
    uint64_t turn;  /* freed: when */
    uint32_t users; /* registered memory: how often */
} block;

static struct {
    pthread_rwlock_t lock;
    block *b;                          /* by address */
    size_t count, room, live, kept;    /* bytes: allocated; freed but kept back */
    size_t of_device[KS_MOST_DEVICES]; /* bytes of those allocated that ks_note told of */
    uint64_t turn;
    uint32_t last_id;
    _Atomic uint64_t version; /* of the array */
} heap = {.lock = PTHREAD_RWLOCK_INITIALIZER, .version = 1};

static _Thread_local struct {
    uint64_t version;
    unsigned next;
    ks_range range[RECENT];
} recent;

/* The first block that begins above address. */
static size_t above(uint64_t address)
{
    size_t low = 0, high = heap.count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (heap.b[mid].range.begin <= address)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static block *holder(uint64_t address)
{
    size_t i = above(address);
    if (i && address < heap.b[i - 1].range.end) return &heap.b[i - 1];
    return NULL;
}

static void changed(void)
{
    atomic_fetch_add_explicit(&heap.version, 1, memory_order_release);
}

static void take_out(size_t i)
{
    memmove(heap.b + i, heap.b + i + 1, (heap.count - i - 1) * sizeof(block));
    heap.count--;
    changed();
}

/* Puts a block in its place; false: no memory, or its bytes belong to another. */
static bool put_in(const block *b)
{
    size_t i = above(b->range.begin);
    if ((i && heap.b[i - 1].range.end > b->range.begin) ||
        (i < heap.count && heap.b[i].range.begin < b->range.end))
        return false;
    if (heap.count == heap.room) {
        size_t room = heap.room ? heap.room * 2 : 64;
        block *more = realloc(heap.b, room * sizeof(block));
        if (!more) return false;
        heap.b = more;
        heap.room = room;
    }
    memmove(heap.b + i + 1, heap.b + i, (heap.count - i) * sizeof(block));
    heap.b[i] = *b;
    heap.count++;
    changed();
    return true;
}

static void fill(void *p, size_t size, uint32_t pattern)
{
    uint8_t *to = p;
    size_t done = size < 4 ? size : 4;
    memcpy(to, &pattern, done);
    while (done < size) { /* doubles what is there */
        size_t n = done < size - done ? done : size - done;
        n = n < 1 << 16 ? n : 1 << 16;
        memcpy(to + done, to, n);
        done += n;
    }
}

static bool counts_as_program(uint8_t kind)
{
    return kind == KS_DEVICE || kind == KS_HOST || kind == KS_MANAGED;
}

/* A new allocation's memory: its base, and its first byte in *begin. */
static void *take(size_t size, size_t align, uint64_t *begin)
{
    if (align & (align - 1) || align > MOST || size > MOST) return NULL;
    align = align > LEAST_ALIGN ? align : LEAST_ALIGN;
    size_t before = align > GUARD ? align : GUARD, slack = before + GUARD + align;
    void *base = malloc(size + slack);
    if (base) *begin = ((uint64_t)(uintptr_t)base + before + align - 1) & ~(uint64_t)(align - 1);
    return base;
}

void *ks_alloc(size_t size, size_t align, ks_memory_kind kind)
{
    block b = {.range = {.kind = (uint8_t)kind}};
    b.base = take(size ? size : 1, align, &b.range.begin);
    if (!b.base) return NULL;
    b.range.end = b.range.begin + (size ? size : 1);
    void *p = (void *)(uintptr_t)b.range.begin;
    fill(p, size, KS_POISON);
    if (kind == KS_DEVICE && size && ks_options_get()->unwritten && (b.shadow = malloc(size))) {
        memset(b.shadow, 0xff, size);
        b.range.shadow = (intptr_t)b.shadow - (intptr_t)p;
    }
    pthread_rwlock_wrlock(&heap.lock);
    const bool named = counts_as_program(b.range.kind) || kind == KS_HEAP;
    b.range.id = named ? heap.last_id + 1 : 0;
    bool done = put_in(&b);
    if (done && named) heap.last_id++;
    if (done && counts_as_program(b.range.kind)) heap.live += size;
    pthread_rwlock_unlock(&heap.lock);
    if (done) return p;
    free(b.base);
    free(b.shadow);
    return NULL;
}

/* Gives the oldest of the freed memory back until no more than the option's bytes are kept. */
static void release_old(size_t most)
{
    while (heap.kept > most) {
        size_t oldest = heap.count;
        for (size_t i = 0; i < heap.count; i++)
            if (heap.b[i].range.freed &&
                (oldest == heap.count || heap.b[i].turn < heap.b[oldest].turn))
                oldest = i;
        if (oldest == heap.count) return;
        block b = heap.b[oldest];
        take_out(oldest);
        heap.kept -= b.range.end - b.range.begin;
        free(b.base);
        free(b.shadow);
    }
}

static int free_block(block *b, ks_memory_kind kind)
{
    size_t size = b->range.end - b->range.begin;
    if (counts_as_program(b->range.kind)) heap.live -= size;
    if (b->range.owner) heap.of_device[b->range.owner - 1] -= size;
    if (kind == KS_KERNARG) { /* the simulator's own: nobody holds its address */
        void *base = b->base;
        take_out((size_t)(b - heap.b));
        free(base);
        return 0;
    }
    fill((void *)(uintptr_t)b->range.begin, size, freed_pattern);
    b->range.freed = true;
    b->turn = ++heap.turn;
    heap.kept += size;
    changed();
    release_old(ks_options_get()->quarantine);
    return 0;
}

static bool of_the_same_kind(uint8_t a, ks_memory_kind b)
{
    return a == b || (a == KS_MANAGED && b == KS_DEVICE) || (a == KS_DEVICE && b == KS_MANAGED);
}

int ks_free(void *p, ks_memory_kind kind)
{
    uint64_t address = (uint64_t)(uintptr_t)p;
    ks_range r = {0};
    int error = 0;
    pthread_rwlock_wrlock(&heap.lock);
    block *b = holder(address);
    if (b) r = b->range;
    bool own = b && b->base;
    if (own && r.begin == address && !r.freed && of_the_same_kind(r.kind, kind))
        error = free_block(b, kind);
    else
        error = INVALID;
    pthread_rwlock_unlock(&heap.lock);
    if (!error) return 0;
    unsigned long long at = (unsigned long long)address, size = r.end - r.begin;
    if (!own)
        ks_report_host(KILNSIM_DOUBLE_FREE, address,
                       "0x%llx is freed and was never allocated: free what hipMalloc gave", at);
    else if (r.kind == KS_HEAP && kind != KS_HEAP)
        ks_report_host(KILNSIM_DOUBLE_FREE, address,
                       "0x%llx is memory of a kernel's malloc: free it with free in a kernel", at);
    else if (r.freed)
        ks_report_host(KILNSIM_DOUBLE_FREE, address,
                       "0x%llx (allocation %u, %llu bytes) is freed twice: free it once", at, r.id,
                       size);
    else if (r.begin != address)
        ks_report_host(KILNSIM_DOUBLE_FREE, address,
                       "0x%llx is freed, byte %llu of allocation %u (%llu bytes): free its first "
                       "byte's address",
                       at, (unsigned long long)(address - r.begin), r.id, size);
    else
        ks_report_host(KILNSIM_DOUBLE_FREE, address,
                       "0x%llx (allocation %u, %llu bytes) is %s memory: free it with %s", at, r.id,
                       size, r.kind == KS_HOST ? "host" : "device",
                       r.kind == KS_HOST ? "hipHostFree" : "hipFree");
    return error;
}

bool ks_register(void *p, size_t size, ks_memory_kind kind)
{
    uint64_t begin = (uint64_t)(uintptr_t)p;
    block b = {.range = {.begin = begin, .end = begin + size, .kind = (uint8_t)kind}, .users = 1};
    if (!p || !size || b.range.end < begin) return false;
    pthread_rwlock_wrlock(&heap.lock);
    block *there = holder(begin);
    bool done =
        there && !there->base && there->range.begin == begin && there->range.end == b.range.end;
    if (done)
        there->users++;
    else
        done = put_in(&b);
    pthread_rwlock_unlock(&heap.lock);
    return done;
}

void ks_unregister(void *p)
{
    uint64_t begin = (uint64_t)(uintptr_t)p;
    pthread_rwlock_wrlock(&heap.lock);
    block *b = holder(begin);
    if (b && !b->base && b->range.begin == begin && --b->users == 0) take_out((size_t)(b - heap.b));
    pthread_rwlock_unlock(&heap.lock);
}

void ks_note(const void *p, unsigned device, uint32_t flags)
{
    pthread_rwlock_wrlock(&heap.lock);
    block *b = holder((uint64_t)(uintptr_t)p);
    if (b && b->range.begin == (uint64_t)(uintptr_t)p && device < KS_MOST_DEVICES) {
        if (b->base && !b->range.owner) heap.of_device[device] += b->range.end - b->range.begin;
        b->range.owner = (uint8_t)(device + 1);
        b->range.flags = flags;
        changed();
    }
    pthread_rwlock_unlock(&heap.lock);
}

static bool look_up(uint64_t address, ks_range *out)
{
    size_t i = above(address);
    const ks_range *before = i ? &heap.b[i - 1].range : NULL,
                   *after = i < heap.count ? &heap.b[i].range : NULL;
    bool inside = before && address < before->end;
    *out = (ks_range){0};
    if (inside || (before && (!after || address - before->end <= after->begin - address)))
        *out = *before;
    else if (after)
        *out = *after;
    return inside;
}

bool ks_find_range(uint64_t address, ks_range *out)
{
    uint64_t version = atomic_load_explicit(&heap.version, memory_order_acquire);
    if (recent.version == version) {
        for (unsigned i = 0; i < RECENT; i++)
            if (address - recent.range[i].begin < recent.range[i].end - recent.range[i].begin) {
                *out = recent.range[i];
                return true;
            }
    }
    pthread_rwlock_rdlock(&heap.lock);
    version = atomic_load_explicit(&heap.version, memory_order_relaxed);
    bool inside = look_up(address, out);
    pthread_rwlock_unlock(&heap.lock);
    if (recent.version != version) memset(&recent, 0, sizeof(recent));
    recent.version = version;
    if (inside) recent.range[recent.next++ % RECENT] = *out;
    return inside;
}

/* The shadow of [p, p + size), which lies within one allocation; NULL: there is none. */
static void *shadow_of(const void *p, size_t size)
{
    ks_range r;
    const uint64_t address = (uint64_t)(uintptr_t)p;
    if (!ks_options_get()->unwritten || !ks_find_range(address, &r) || !r.shadow || r.freed ||
        size > r.end - address)
        return NULL;
    return (uint8_t *)(uintptr_t)p + r.shadow;
}

void ks_memory_written(void *p, size_t size)
{
    void *shadow = shadow_of(p, size);
    if (shadow) memset(shadow, 0, size);
}

void ks_memory_copied(void *to, const void *from, size_t size)
{
    void *shadow = shadow_of(to, size), *source = shadow_of(from, size);
    if (shadow && source)
        memmove(shadow, source, size);
    else if (shadow)
        memset(shadow, 0, size);
}

size_t ks_alloc_live(void)
{
    pthread_rwlock_rdlock(&heap.lock);
    size_t live = heap.live;
    pthread_rwlock_unlock(&heap.lock);
    return live;
}

size_t ks_alloc_live_on(unsigned device)
{
    pthread_rwlock_rdlock(&heap.lock);
    size_t live = device < KS_MOST_DEVICES ? heap.of_device[device] : 0;
    pthread_rwlock_unlock(&heap.lock);
    return live;
}

void ks_alloc_leaks(void)
{
    pthread_rwlock_rdlock(&heap.lock);
    size_t count = 0;
    ks_range *left = calloc(heap.count ? heap.count : 1, sizeof(ks_range));
    for (size_t i = 0; left && i < heap.count; i++)
        if (heap.b[i].base && !heap.b[i].range.freed && counts_as_program(heap.b[i].range.kind))
            left[count++] = heap.b[i].range;
    pthread_rwlock_unlock(&heap.lock);
    for (size_t i = 0; i < count; i++)
        ks_report_host(KILNSIM_LEAK, left[i].begin,
                       "allocation %u (%llu bytes) is still there at exit: free it", left[i].id,
                       (unsigned long long)(left[i].end - left[i].begin));
    free(left);
}
