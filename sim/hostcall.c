// SPDX-License-Identifier: MIT
// What a kernel asks of the host while it runs, by the protocol of AMD's device libraries: a wave
// takes a packet from a stack in the buffer that hidden_hostcall_buffer points at, fills it, puts
// it on another stack, sends an interrupt and waits for a flag.  Here the interrupt is the moment
// at which the host answers, in the wave's own thread.  Services: printf (hostcall_printf.c),
// memory for malloc, calls of functions of the host.  Malloc itself runs in the kernel: what it is
// given from here are slabs and large blocks, and a zeroed hidden_heap_v1 to keep its books in.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "sim.h"

enum {
    PACKETS = 8192, /* a power of two; a wave has one at a time, and 4864 may be resident */
    WORDS = 8,      /* of a lane */
    LAUNCH_FAILURE = 719,
};

/* ---- the buffer, as the device sees it ---- */

typedef struct packet {
    uint64_t next, lanes; /* index of the next, with a tag above; EXEC of the wave */
    uint32_t service, waiting;
} packet;
typedef struct payload {
    uint64_t word[KS_LANES][WORDS];
} payload;
typedef struct doorbell { /* amd_signal_t */
    int64_t kind, value;
    uint64_t mailbox;
    uint32_t event, reserved;
    uint64_t start, end, queue, reserved2;
} doorbell;
typedef struct shared {
    packet *packets;
    payload *payloads;
    doorbell *doorbell;
    uint64_t free, ready, mask; /* stacks: index and tag of their tops */
    /* what it points at */
    doorbell bell;
    uint64_t mailbox;
    packet packet[PACKETS];
    payload payload[PACKETS];
} shared;

/* ---- the host's side of it ---- */

typedef struct message { /* a printf that is still being said */
    uint64_t *word;
    size_t count, room;
    bool live;
    size_t next; /* of those that are not */
} message;
typedef struct queue {
    shared *at;
    pthread_mutex_t mutex; /* workgroups of one launch may run on several threads */
    message *message;
    size_t messages, silent; /* how many; the first that is not live, messages: none */
    bool used;               /* since the stacks were filled */
    struct queue *next;
} queue;
static struct {
    pthread_mutex_t mutex;
    queue *busy, *idle;
} all = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void end_message(queue *q, size_t i)
{
    if (!q->message[i].live) return;
    q->message[i].live = false;
    q->message[i].next = q->silent;
    q->silent = i;
}

static void fill_stacks(queue *q)
{
    shared *s = q->at;
    s->packet[0].next = 0;
    for (uint64_t i = 1; i < PACKETS; i++) /* index 0 needs a tag: 0 is the end */
        s->packet[i].next = i > 1 ? i - 1 : PACKETS;
    s->free = PACKETS - 1;
    s->ready = 0;
    for (size_t i = 0; i < q->messages; i++) end_message(q, i);
    q->used = false;
}

/* Pages that no wave writes take no memory. */
static queue *new_queue(void)
{
    queue *q = calloc(1, sizeof *q);
    void *p = mmap(NULL, sizeof(shared), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!q || p == MAP_FAILED || !ks_register(p, sizeof(shared), KS_KERNARG)) {
        if (p != MAP_FAILED) munmap(p, sizeof(shared));
        free(q);
        return NULL;
    }
    shared *s = q->at = p;
    s->packets = s->packet;
    s->payloads = s->payload;
    s->doorbell = &s->bell;
    s->bell.mailbox = (uint64_t)(uintptr_t)&s->mailbox;
    s->mask = PACKETS - 1;
    pthread_mutex_init(&q->mutex, NULL);
    fill_stacks(q);
    return q;
}

void *ks_hostcall_take(void)
{
    pthread_mutex_lock(&all.mutex);
    queue *q = all.idle;
    if (q)
        all.idle = q->next;
    else
        q = new_queue();
    if (q) {
        q->next = all.busy;
        all.busy = q;
    }
    pthread_mutex_unlock(&all.mutex);
    if (!q) return NULL;
    if (q->used || q->at->free != PACKETS - 1) fill_stacks(q); /* a launch may have been stopped */
    return q->at;
}

void ks_hostcall_give(void *buffer)
{
    pthread_mutex_lock(&all.mutex);
    for (queue **at = &all.busy; *at; at = &(*at)->next) {
        queue *q = *at;
        if (q->at != buffer) continue;
        *at = q->next;
        q->next = all.idle;
        all.idle = q;
        break;
    }
    pthread_mutex_unlock(&all.mutex);
}

static queue *queue_of(uint64_t address)
{
    pthread_mutex_lock(&all.mutex);
    queue *q = all.busy;
    while (q && (uint64_t)(uintptr_t)q->at != address) q = q->next;
    pthread_mutex_unlock(&all.mutex);
    return q;
}

/* ---- printf ---- */

/* The first word of each part: flags, how many words of text follow, and which message it is of. */
enum { FIRST = 1, LAST = 2, COUNT_AT = 5, COUNT_MASK = 7, ID_AT = 8 };

static message *new_message(queue *q, size_t *id)
{
    if (q->silent == q->messages) {
        const size_t room = 2 * q->messages + 64;
        message *more = realloc(q->message, room * sizeof *more);
        if (!more) return NULL;
        q->message = more;
        for (size_t i = q->messages; i < room; i++) more[i] = (message){.next = i + 1};
        q->messages = room;
    }
    message *m = &q->message[ *id = q->silent];
    q->silent = m->next;
    m->live = true;
    m->count = 0;
    return m;
}

static bool append(message *m, const uint64_t *word, size_t count)
{
    if (m->count + count > m->room) {
        const size_t room = 2 * m->room + 16;
        uint64_t *more = realloc(m->word, room * sizeof *more);
        if (!more) return false;
        m->word = more;
        m->room = room;
    }
    memcpy(m->word + m->count, word, count * sizeof *word);
    m->count += count;
    return true;
}

static int64_t print(const message *m)
{
    enum { TO_STDERR = 1 };
    if (!m->count || m->word[0] & ~(uint64_t)TO_STDERR) return -1;
    return ks_hostcall_print(m->word[0] ? stderr : stdout, m->word + 1, m->count - 1);
}

/* NULL, or what is wrong. */
static const char *hear(queue *q, uint64_t *word)
{
    const uint64_t what = word[0];
    size_t id = (size_t)(what >> ID_AT);
    message *m = what & FIRST ? new_message(q, &id) : id < q->messages ? &q->message[id] : NULL;
    if (!m && what & FIRST) return "no memory for the text of a printf";
    if (!m || !m->live) return "a printf goes on that never began: this is another protocol";
    word[0] = (uint64_t)id << ID_AT | (what & ((1u << ID_AT) - 1) & ~(uint64_t)FIRST);
    const bool heard = append(m, word + 1, what >> COUNT_AT & COUNT_MASK);
    if (!(what & LAST) && heard) return NULL;
    if (heard) word[0] = (uint64_t)print(m);
    end_message(q, id);
    return heard ? NULL : "no memory for the text of a printf";
}

/* ---- memory ---- */

static struct {
    pthread_mutex_t mutex;
    void *books[KS_MOST_DEVICES];
    size_t given, raised; /* bytes; what the program has raised the option's limit to */
} heap = {.mutex = PTHREAD_MUTEX_INITIALIZER};

void *ks_heap(unsigned device)
{
    enum { SIZE = 128 << 10, ALIGN = 4096 };
    pthread_mutex_lock(&heap.mutex);
    void *p = heap.books[device];
    if (!p && (p = ks_alloc(SIZE, ALIGN, KS_HEAP))) heap.books[device] = memset(p, 0, SIZE);
    pthread_mutex_unlock(&heap.mutex);
    return p;
}

static size_t limit(void)
{
    const size_t most = ks_options_get()->heap;
    return heap.raised > most ? heap.raised : most;
}

size_t ks_heap_limit(size_t raise)
{
    pthread_mutex_lock(&heap.mutex);
    if (raise > heap.raised) heap.raised = raise;
    const size_t most = limit();
    pthread_mutex_unlock(&heap.mutex);
    return most;
}

/* Slabs are found by the addresses of their blocks, and all else by being at the start of a page.
 */
static uint64_t give_memory(uint64_t size)
{
    enum { SLAB = 2 << 20, PAGE = 4096 };
    void *p = NULL;
    pthread_mutex_lock(&heap.mutex);
    const size_t most = limit();
    if (size && heap.given <= most && size <= most - heap.given)
        p = ks_alloc(size, size == SLAB ? SLAB : PAGE, KS_HEAP);
    if (p) heap.given += size;
    pthread_mutex_unlock(&heap.mutex);
    return (uint64_t)(uintptr_t)p;
}

static void take_memory(uint64_t address)
{
    ks_range r;
    const bool known = ks_find_range(address, &r);
    if (ks_free((void *)(uintptr_t)address, KS_HEAP) || !known) return; /* it has told why */
    pthread_mutex_lock(&heap.mutex);
    heap.given -= r.end - r.begin;
    pthread_mutex_unlock(&heap.mutex);
}

/* ---- answers ---- */

enum service { CALL = 1, PRINTF = 2, MEMORY = 3, SANITIZER = 4 };

/* A function of the host, with seven words; it writes two. */
static const char *call(uint64_t *word)
{
    Dl_info info;
    uint64_t out[2] = {0};
    void (*function)(uint64_t *, const uint64_t *);
    memcpy(&function, word, sizeof function);
    if (!dladdr((void *)(uintptr_t)word[0], &info))
        return "the kernel calls a function of the host at an address that is in none of the "
               "program's files: pass the address of a function";
    function(out, word + 1);
    memcpy(word, out, sizeof out);
    return NULL;
}

static const char *serve(queue *q, uint32_t service, uint64_t *word)
{
    switch (service) {
    case CALL:
        return call(word);
    case PRINTF:
        return hear(q, word);
    case MEMORY:
        if (word[0])
            take_memory(word[0]);
        else
            word[0] = give_memory(word[1]);
        return NULL;
    case SANITIZER:
        return "the address sanitizer reports: the simulator's own checks say more, compile "
               "without it";
    default:
        return "it asks the host for a service that is not known: the object is newer than the "
               "simulator";
    }
}

static void answer(queue *q, packet *p, payload *data, ks_wave *w, const ks_inst *inst)
{
    for (uint64_t lanes = p->lanes; lanes; lanes &= lanes - 1) {
        const int lane = __builtin_ctzll(lanes);
        const char *wrong = serve(q, p->service, data->word[lane]);
        if (!wrong) continue;
        ks_report(w, inst, KILNSIM_UNKNOWN, lane, 0, "hostcall %u: %s", p->service, wrong);
        ks_stop(w, LAUNCH_FAILURE);
        return;
    }
}

void ks_hostcall_answer(ks_wave *w, const ks_inst *inst)
{
    queue *q = queue_of(ks_get_hidden(w->launch, KS_ARG_HOSTCALL));
    if (!q) return; /* an interrupt of the program's own */
    shared *s = q->at;
    pthread_mutex_lock(&q->mutex);
    uint64_t at = __atomic_exchange_n(&s->ready, 0, __ATOMIC_ACQUIRE);
    q->used = true;
    for (unsigned i = 0; at && i < PACKETS; i++) { /* a stack that a kernel has tied into a ring */
        packet *p = &s->packet[at & (PACKETS - 1)];
        at = p->next;
        answer(q, p, &s->payload[p - s->packet], w, inst);
        __atomic_fetch_and(&p->waiting, ~1u, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&q->mutex);
}
