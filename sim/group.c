// SPDX-License-Identifier: MIT
// Workgroups: their memory, which is kept from one to the next, and their waves, which take turns on one host thread
// (each until it ends, waits, or has run for a slice), so that a run never depends on the host's timing.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "group.h"
#include "replay.h"

/* ---- Memory ---- */
enum { SLOTS_KEPT = 16 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static ks_slot *kept;
static unsigned kept_count;

typedef struct wave_memory {
    ks_wave wave;
    uint32_t undefined[KS_VREGS][KS_LANES];
} wave_memory;

static void wave_free(ks_wave *w)
{
    if (!w)
        return;
    if (w->waits)
        ks_waits_free(w);
    free(w->scratch);
    free(w->scratch_undefined);
    munmap(w, sizeof(wave_memory));
}
static void slot_free(ks_slot *s)
{
    s->group.wave_count = KS_MAX_WAVES; /* of larger workgroups before, too */
    if (s->group.shadow)
        ks_lds_shadow_free(&s->group);
    ks_replay_free(&s->group);
    for (unsigned i = 0; i < KS_MAX_WAVES; i++)
        wave_free(s->wave[i]);
    free(s->group.lds);
    free(s);
}
static void *aligned(size_t size)
{
    return aligned_alloc(64, (size + 63) & ~(size_t)63);
}
/* Pages that a kernel does not touch (registers that it does not have) take no memory: hundreds of workgroups may be
   resident. */
static ks_wave *wave_new(void)
{
    void *p = mmap(NULL, sizeof(wave_memory), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    wave_memory *m = p;
    m->wave.vu = m->undefined;
    return &m->wave;
}
static bool scratch_fit(ks_slot *s, unsigned i, size_t size)
{
    ks_wave *w = s->wave[i];
    if (size <= s->scratch_size[i])
        return true;
    free(w->scratch);
    free(w->scratch_undefined);
    w->scratch = aligned(size);
    w->scratch_undefined = aligned(size);
    s->scratch_size[i] = w->scratch && w->scratch_undefined ? size : 0;
    return s->scratch_size[i];
}
static bool slot_fit(ks_slot *s, const ks_launch *l)
{
    uint64_t items = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    uint32_t waves = (uint32_t)((items + KS_LANES - 1) / KS_LANES);
    s->group.wave = s->wave;
    s->group.wave_count = waves;
    if (!s->group.lds)
        s->group.lds = aligned(KS_MAX_LDS);
    for (unsigned i = 0; i < waves; i++) {
        if (!s->wave[i])
            s->wave[i] = wave_new();
        if (!s->wave[i] || !scratch_fit(s, i, (size_t)l->scratch * KS_LANES))
            return false;
    }
    return s->group.lds;
}
ks_slot *ks_slot_take(ks_launch *l)
{
    pthread_mutex_lock(&mutex);
    ks_slot *s = kept;
    if (s) {
        kept = s->next;
        kept_count--;
    }
    pthread_mutex_unlock(&mutex);
    if (!s)
        s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    memset(&s->group.counters, 0, sizeof s->group.counters);
    if (slot_fit(s, l))
        return s;
    slot_free(s);
    return NULL;
}
void ks_slot_give(ks_slot *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&mutex);
    bool keep = kept_count < SLOTS_KEPT;
    if (keep) {
        s->next = kept;
        kept = s;
        kept_count++;
    }
    pthread_mutex_unlock(&mutex);
    if (!keep)
        slot_free(s);
}
void ks_slots_free(void)
{
    pthread_mutex_lock(&mutex);
    while (kept) {
        ks_slot *s = kept;
        kept = s->next;
        slot_free(s);
    }
    kept_count = 0;
    pthread_mutex_unlock(&mutex);
}

/* ---- Start ---- */
static void poison_lds(ks_group *g)
{
    const uint32_t poison = KS_POISON;
    for (size_t i = 0; i < g->launch->lds; i += sizeof poison)
        memcpy(g->lds + i, &poison, sizeof poison);
}
static bool checks_issue(void)
{
    const ks_options *o = ks_options_get();
    return o->check[KILNSIM_WAIT] || o->check[KILNSIM_HAZARD] || o->check[KILNSIM_RACE];
}
bool ks_group_start(ks_slot *s, ks_launch *l, uint64_t index)
{
    ks_group *g = &s->group;
    g->launch = l;
    g->index = index;
    g->id[0] = (uint32_t)(index % l->grid[0]);
    g->id[1] = (uint32_t)(index / l->grid[0] % l->grid[1]);
    g->id[2] = (uint32_t)(index / l->grid[0] / l->grid[1]);
    g->stop = 0;
    g->epoch = 0;
    poison_lds(g);
    if (!ks_lds_shadow_create(g) || !ks_replay_begin(g))
        return false;
    for (unsigned i = 0; i < g->wave_count; i++) {
        ks_wave *w = g->wave[i];
        w->group = g;
        w->launch = l;
        w->index = i;
        ks_wave_start(w);
        if (checks_issue() && !ks_waits_create(w))
            return false;
    }
    ks_cost_group(g);
    return true;
}

/* ---- Running ---- */
void ks_stop(ks_wave *w, int hip)
{
    uint64_t mine = w->group->index << 16 | (uint32_t)hip, now = atomic_load(&w->launch->stop);
    if (!w->group->stop)
        w->group->stop = hip;
    w->state = KS_ENDED;
    while ((!now || now >> 16 > w->group->index) && !atomic_compare_exchange_weak(&w->launch->stop, &now, mine))
        ;
}
/* An earlier workgroup has stopped the launch. */
static bool overtaken(const ks_group *g)
{
    uint64_t stop = atomic_load_explicit(&g->launch->stop, memory_order_relaxed);
    return (stop && stop >> 16 < g->index) || ks_pool_closing();
}
static void past_limit(ks_wave *w, const ks_inst *inst, uint64_t limit)
{
    ks_report(w, inst, KILNSIM_ENDLESS, -1, 0, "%llu instructions of one wave without an end: look at the loop "
              "(KILN_SIM=limit=N sets the limit)", (unsigned long long)limit);
    ks_stop(w, KS_LAUNCH_TIMEOUT);
}
static void past_code(ks_wave *w, const ks_inst *inst)
{
    enum { LAUNCH_FAILURE = 719 };
    ks_report(w, inst, KILNSIM_TRAP, -1, 0, "the wave ran past the end of the code: s_endpgm is missing");
    ks_stop(w, LAUNCH_FAILURE);
}
/* Runs a wave until it waits or ends, count instructions at the most. */
static void run_some(ks_wave *w, uint64_t count)
{
    const ks_inst *code = w->launch->object->inst;
    const uint32_t end = w->launch->object->inst_count;
    uint64_t *counted = w->group->counters.count;
    const bool checked = checks_issue();
    for (; count && w->state == KS_RUNNING; count--) {
        if (w->ip >= end) {
            past_code(w, w->inst);
            return;
        }
        const ks_inst *inst = code + w->ip++;
        w->inst = inst;
        w->executed++;
        counted[inst->op->class]++;
        if (checked)
            ks_check_issue(w, inst);
        inst->run(w, inst);
        if (w->trace)
            ks_trace_add(w, inst);
    }
}
static void run_wave(ks_wave *w, uint64_t limit)
{
    uint64_t left = limit > w->executed ? limit - w->executed : 0;
    if (!left)
        past_limit(w, w->inst, limit);
    else
        run_some(w, left < KS_SLICE ? left : KS_SLICE);
}

/* A wave that has read the same value at the same place POLLS times waits for another one: it lets the others run
   first, so that waiting costs little.  (One that only looks so is as right, and a little slower.) */
void ks_polled(ks_wave *w, const ks_inst *inst, const uint32_t *rows, unsigned count, uint64_t lanes)
{
    enum { POLLS = 8 };
    struct ks_poll *p = &w->poll[inst->pc / 8 % (sizeof w->poll / sizeof *w->poll)];
    uint32_t hash = (uint32_t)lanes ^ (uint32_t)(lanes >> 32);
    for (unsigned i = 0; i < count * KS_LANES; i++)
        if (lanes >> i % KS_LANES & 1)
            hash = (hash ^ rows[i]) * 0x01000193u + i;
    if (p->pc != inst->pc || p->hash != hash)
        *p = (struct ks_poll){.pc = inst->pc, .hash = hash};
    else if (++p->times >= POLLS) {
        p->times = 0;
        if (w->state == KS_RUNNING)
            w->state = KS_YIELDED;
    }
}

typedef struct census {
    unsigned waiting, yielded, ended;
} census;
static census count_states(const ks_group *g)
{
    census c = {0};
    for (unsigned i = g->wave_count; i-- > 0;) {
        ks_wave *w = g->wave[i];
        c.ended += w->state == KS_ENDED;
        c.yielded += w->state == KS_YIELDED || w->state == KS_AT_GWS;
        c.waiting += w->state == KS_AT_BARRIER;
    }
    return c;
}
/* Every wave that has not ended waits: on with them.  s_barrier waits for no wave that has ended ("if some waves in
   the threadgroup have already terminated, this waits on only the surviving waves": AMD's ISA documents). */
static void pass_barrier(ks_group *g)
{
    ks_lds_barrier_passed(g);
    for (unsigned i = 0; i < g->wave_count; i++)
        if (g->wave[i]->state == KS_AT_BARRIER)
            g->wave[i]->state = KS_RUNNING;
}
static void wake(ks_group *g)
{
    for (unsigned i = 0; i < g->wave_count; i++)
        if (g->wave[i]->state == KS_YIELDED || (g->wave[i]->state == KS_AT_GWS && ks_gws_ready(g->wave[i])))
            g->wave[i]->state = KS_RUNNING;
}
bool ks_group_step(ks_group *g, bool resumable)
{
    const uint64_t limit = ks_options_get()->limit;
    g->moved = false;
    wake(g);
    for (unsigned round = 1;; round++) {
        for (unsigned i = 0; i < g->wave_count; i++) {
            if (g->wave[i]->state == KS_RUNNING) {
                run_wave(g->wave[i], limit);
                g->moved = true;
            }
            if (g->stop || overtaken(g))
                return true;
        }
        census c = count_states(g);
        if (c.ended == g->wave_count)
            return true;
        if (c.waiting + c.ended == g->wave_count)
            pass_barrier(g);
        else if (resumable && (c.yielded || round >= KS_ROUNDS))
            return false;
        wake(g);
    }
}
