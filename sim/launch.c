// SPDX-License-Identifier: MIT
// Launches: what is asked for is checked, then workgroups run: on several host threads in order of their index, or,
// where the kernel's workgroups may wait for each other (ks_kernel.serial), in turn on one.
// An error is that of the first workgroup in order which has one: those before it run to their end.
#include <fenv.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "group.h"
#include "replay.h"

/* ---- Hidden arguments ---- */
static uint64_t hidden_value(ks_hidden what, const uint32_t grid[3], const uint32_t block[3], uint32_t dynamic_lds)
{
    enum { DIMENSIONS = 3 };
    switch (what) {
    case KS_ARG_BLOCK_COUNT_X: case KS_ARG_BLOCK_COUNT_Y: case KS_ARG_BLOCK_COUNT_Z:
        return grid[what - KS_ARG_BLOCK_COUNT_X];
    case KS_ARG_GROUP_SIZE_X: case KS_ARG_GROUP_SIZE_Y: case KS_ARG_GROUP_SIZE_Z:
        return block[what - KS_ARG_GROUP_SIZE_X];
    case KS_ARG_GRID_DIMS:
        return DIMENSIONS;
    case KS_ARG_PRIVATE_BASE:
        return KS_PRIVATE_BASE >> 32;
    case KS_ARG_SHARED_BASE:
        return KS_SHARED_BASE >> 32;
    case KS_ARG_DYNAMIC_LDS_SIZE:
        return dynamic_lds;
    case KS_ARG_EXPLICIT: case KS_ARG_OTHER: case KS_ARG_PRINTF:
    case KS_ARG_HOSTCALL: case KS_ARG_HEAP: case KS_ARG_MULTIGRID_SYNC_ARG: /* ks_set_hidden's */
    case KS_ARG_REMAINDER_X: case KS_ARG_REMAINDER_Y: case KS_ARG_REMAINDER_Z: /* all workgroups are whole */
    case KS_ARG_GLOBAL_OFFSET_X: case KS_ARG_GLOBAL_OFFSET_Y: case KS_ARG_GLOBAL_OFFSET_Z:
        break;
    }
    return 0;
}
void ks_fill_hidden(const ks_kernel *k, const uint32_t grid[3], const uint32_t block[3], uint32_t dynamic_lds,
                    void *kernarg)
{
    for (uint32_t i = 0; i < k->arg_count; i++) {
        const ks_arg *a = &k->args[i];
        uint64_t value = hidden_value((ks_hidden)a->hidden, grid, block, dynamic_lds);
        if (a->hidden == KS_ARG_EXPLICIT || a->offset > k->kernarg_size || a->size > k->kernarg_size - a->offset)
            continue;
        memset((uint8_t *)kernarg + a->offset, 0, a->size);
        memcpy((uint8_t *)kernarg + a->offset, &value, a->size < sizeof value ? a->size : sizeof value);
    }
}
/* Whole and inside the segment: read_args has seen to that for kernels of a code object. */
static const ks_arg *find_hidden(const ks_kernel *k, ks_hidden what)
{
    for (uint32_t i = 0; i < k->arg_count; i++)
        if (k->args[i].hidden == what && k->args[i].size == sizeof(uint64_t))
            return &k->args[i];
    return NULL;
}
bool ks_has_hidden(const ks_kernel *k, ks_hidden what)
{
    return find_hidden(k, what);
}
void ks_set_hidden(const ks_kernel *k, ks_hidden what, void *kernarg, uint64_t value)
{
    const ks_arg *a = find_hidden(k, what);
    if (a)
        memcpy((uint8_t *)kernarg + a->offset, &value, sizeof value);
}
uint64_t ks_get_hidden(const ks_launch *l, ks_hidden what)
{
    const ks_arg *a = find_hidden(l->kernel, what);
    uint64_t value = 0;
    if (a)
        memcpy(&value, l->kernarg + a->offset, sizeof value);
    return value;
}

/* gfx90a's code has global wave sync, and only looks whether the launch is cooperative; other values than 1 mean that it
   spans several devices. */
void ks_fill_cooperative(const ks_kernel *k, const uint32_t grid[3], ks_grid_sync *sync, void *kernarg)
{
    *sync = (ks_grid_sync){.groups = grid[0] * grid[1] * grid[2]};
    ks_set_hidden(k, KS_ARG_MULTIGRID_SYNC_ARG, kernarg, k->object->arch == KS_GFX90A ? 1 : (uint64_t)(uintptr_t)sync);
}

const char *ks_remedy(const ks_launch *l, uint64_t address, const char *usual)
{
    enum { FIRST_PAGE = 4096 };
    if (address >= FIRST_PAGE || !ks_has_hidden(l->kernel, KS_ARG_PRINTF))
        return usual;
    return "the simulator has no buffer for printf of -mprintf-kind=buffered: compile with -mprintf-kind=hostcall";
}

/* ---- What is asked for ---- */
typedef struct request {
    const ks_kernel *kernel;
    const uint32_t *grid, *block;
    uint64_t items, lds, scratch; /* work-items of a workgroup; bytes of a workgroup, of a lane */
    const void *kernarg;
} request;

static uint64_t lanes_bytes(const ks_kernel *k)
{
    enum { DYNAMIC_STACK = 1 << 11 };
    uint64_t bytes = (uint64_t)k->scratch + (k->properties & DYNAMIC_STACK ? KS_STACK : 0);
    return (bytes + 15) & ~15ull;
}
/* Waves that fit on a compute unit by their registers: four SIMDs of 512. */
static uint64_t waves_that_fit(const ks_kernel *k)
{
    uint32_t registers = ((k->rsrc1 & 63) + 1) * 8, waves = 512 / registers;
    return 4 * (waves < 8 ? waves : 8);
}
static const char *shown(const request *q, char name[KS_NAME])
{
    ks_name_text(q->kernel->name, name);
    return name;
}
static bool sizes_ok(const request *q, ks_error *e)
{
    static const char axis[] = "xyz";
    char name[KS_NAME];
    for (int i = 0; i < 3; i++) {
        uint64_t all = (uint64_t)q->grid[i] * q->block[i];
        if (!q->grid[i] || !q->block[i]) {
            ks_fail(e, KS_INVALID_CONFIGURATION, "%s: grid (%u,%u,%u) of blocks (%u,%u,%u): all six must be 1 at least",
                    shown(q, name), q->grid[0], q->grid[1], q->grid[2], q->block[0], q->block[1], q->block[2]);
            return false;
        }
        if (all > UINT32_MAX) {
            ks_fail(e, KS_INVALID_CONFIGURATION, "%s: %llu work-items along %c: at most 4294967295: make the grid smaller",
                    shown(q, name), (unsigned long long)all, axis[i]);
            return false;
        }
    }
    if ((uint64_t)q->grid[0] * q->grid[1] > (UINT64_MAX >> 16) / q->grid[2]) {
        ks_fail(e, KS_INVALID_CONFIGURATION, "%s: grid (%u,%u,%u): too many blocks: make it smaller", shown(q, name),
                q->grid[0], q->grid[1], q->grid[2]);
        return false;
    }
    return true;
}
static bool request_ok(const request *q, ks_error *e)
{
    enum { MOST_ITEMS = KS_MAX_WAVES * KS_LANES };
    char name[KS_NAME];
    uint64_t most = q->kernel->max_threads && q->kernel->max_threads < MOST_ITEMS ? q->kernel->max_threads : MOST_ITEMS;
    uint64_t waves = (q->items + KS_LANES - 1) / KS_LANES, fit = waves_that_fit(q->kernel);
    if (q->items > most)
        ks_fail(e, KS_INVALID_CONFIGURATION, "%s: block of %llu work-items: it was compiled for %llu at most: make the block "
                "smaller, or compile with __launch_bounds__(%llu)", shown(q, name), (unsigned long long)q->items,
                (unsigned long long)most, (unsigned long long)q->items);
    else if (q->lds > KS_MAX_LDS)
        ks_fail(e, KS_OUT_OF_RESOURCES, "%s: %llu bytes of LDS (%u fixed): a workgroup has %u: use less", shown(q, name),
                (unsigned long long)q->lds, q->kernel->lds, KS_MAX_LDS);
    else if (q->scratch > KS_MAX_SCRATCH)
        ks_fail(e, KS_OUT_OF_RESOURCES, "%s: %llu bytes of private memory for a work-item: %u at most: use fewer or smaller "
                "arrays", shown(q, name), (unsigned long long)q->scratch, KS_MAX_SCRATCH);
    else if (waves > fit)
        ks_fail(e, KS_OUT_OF_RESOURCES, "%s: %llu waves of %u vector registers: %llu fit on a compute unit: make the block "
                "smaller", shown(q, name), (unsigned long long)waves, ((q->kernel->rsrc1 & 63) + 1) * 8, (unsigned long long)fit);
    else if (q->kernel->vgprs_used > ks_vgprs_of(q->kernel) || q->kernel->agprs_used > ks_agprs_of(q->kernel))
        ks_fail(e, KS_BAD_IMAGE, "%s: it uses %u and %u vector and accumulation registers, its descriptor gives %u and %u: "
                "raise .amdhsa_next_free_vgpr or .amdhsa_accum_offset", shown(q, name), q->kernel->vgprs_used, q->kernel->agprs_used,
                ks_vgprs_of(q->kernel), ks_agprs_of(q->kernel));
    else if (q->kernel->kernarg_size && !q->kernarg)
        ks_fail(e, KS_INVALID_VALUE, "%s: no kernel arguments: it has %u bytes of them", shown(q, name), q->kernel->kernarg_size);
    else
        return true;
    return false;
}

/* ---- Running ---- */
typedef struct job {
    ks_launch *launch;
    uint64_t groups;
    atomic_uint_fast64_t next;
    atomic_bool no_memory;
    pthread_mutex_t mutex; /* of launch->counters */
} job;

static void add_counters(job *j, const ks_group *g)
{
    ks_counters *sum = &j->launch->counters;
    const ks_counters *c = &g->counters;
    pthread_mutex_lock(&j->mutex);
    for (int i = 0; i < KS_CLASS_COUNT; i++)
        sum->count[i] += c->count[i];
    sum->mfma_cycles += c->mfma_cycles;
    sum->lds_cycles += c->lds_cycles;
    sum->lds_ideal_cycles += c->lds_ideal_cycles;
    sum->segments += c->segments;
    sum->segments_needed += c->segments_needed;
    sum->global_bytes += c->global_bytes;
    pthread_mutex_unlock(&j->mutex);
}
static bool wanted(const job *j, uint64_t index)
{
    uint64_t stop = atomic_load(&j->launch->stop);
    return index < j->groups && (!stop || index < stop >> 16) && !atomic_load(&j->no_memory);
}
static void run_groups(void *data)
{
    job *j = data;
    fenv_t before;
    ks_slot *s = ks_slot_take(j->launch);
    if (!s) {
        atomic_store(&j->no_memory, true);
        return;
    }
    fegetenv(&before);
    fesetenv(FE_DFL_ENV); /* whatever the program has set */
    for (uint64_t i; wanted(j, i = atomic_fetch_add(&j->next, 1));) {
        if (!ks_group_start(s, j->launch, i)) {
            atomic_store(&j->no_memory, true);
            break;
        }
        while (!ks_group_step(&s->group, false))
            ;
        ks_replay_end(s);
    }
    fesetenv(&before);
    add_counters(j, &s->group);
    ks_slot_give(s);
}

/* Workgroups in turn on one thread: when all that have been started wait, as many more are started.  The turns go up
   and down, so that chains of workgroups that wait for the next or for the last one are done in few of them.
   Hardware has room for no more than RESIDENT waves.  A cooperative launch's workgroups are all there from the start. */
enum { RESIDENT = 304 * 4 * 4, MOST_UNITS = 1024, MOST_RESIDENT = MOST_UNITS * 4 * 8 };
typedef struct turns {
    ks_slot *slot[MOST_RESIDENT];
    unsigned count;
    bool down;
} turns;

static bool admit(job *j, turns *t)
{
    uint64_t i = atomic_load(&j->next), most = j->launch->cooperative ? MOST_RESIDENT : RESIDENT;
    if (!wanted(j, i) || (t->count && (t->count + 1) * t->slot[0]->group.wave_count > most))
        return false;
    ks_slot *s = ks_slot_take(j->launch);
    if (s && ks_group_start(s, j->launch, i)) {
        atomic_store(&j->next, i + 1);
        t->slot[t->count++] = s;
        return true;
    }
    ks_slot_give(s);
    if (!t->count) /* else those that run may give some back */
        atomic_store(&j->no_memory, true);
    return false;
}
/* One turn of each; those that have ended leave.  false: nobody could move. */
static bool take_turns(job *j, turns *t)
{
    unsigned left = 0;
    bool moved = false;
    for (unsigned n = 0; n < t->count; n++) {
        unsigned i = t->down ? t->count - 1 - n : n;
        ks_slot *s = t->slot[i];
        bool ended = j->launch->stop || ks_group_step(&s->group, true);
        moved |= ended || s->group.moved;
        if (!ended)
            continue;
        add_counters(j, &s->group);
        ks_slot_give(s);
        t->slot[i] = NULL;
    }
    for (unsigned i = 0; i < t->count; i++)
        if (t->slot[i])
            t->slot[left++] = t->slot[i];
    t->count = left;
    t->down = !t->down;
    return moved;
}
/* All that are left wait for global wave sync, which hardware would do for ever. */
static void report_stuck(job *j, const turns *t)
{
    ks_wave *w = NULL;
    for (unsigned i = 0; !w; i++)
        w = t->slot[0]->group.wave[i]->state == KS_AT_GWS ? t->slot[0]->group.wave[i] : NULL;
    uint64_t ended = j->groups - t->count;
    if (atomic_load(&j->next) < j->groups)
        atomic_store(&j->no_memory, true);
    else
        ks_report(w, w->inst, KILNSIM_BARRIER, -1, 0, "waits for ever: %llu of the launch's %llu workgroups ended "
                  "without reaching it; let every workgroup call grid.sync() before it returns",
                  (unsigned long long)ended, (unsigned long long)j->groups);
    ks_stop(w, KS_LAUNCH_TIMEOUT);
}
static void run_in_turn(void *data)
{
    job *j = data;
    fenv_t before;
    turns *t = calloc(1, sizeof *t);
    if (!t) {
        atomic_store(&j->no_memory, true);
        return;
    }
    fegetenv(&before);
    fesetenv(FE_DFL_ENV);
    unsigned more = j->launch->cooperative ? MOST_RESIDENT : 1;
    for (; admit(j, t) || t->count; more = t->count ? t->count : 1) {
        for (unsigned i = 1; i < more && admit(j, t); i++)
            ;
        if (!take_turns(j, t) && t->count)
            report_stuck(j, t);
    }
    fesetenv(&before);
    free(t);
}
static int run(ks_launch *l, ks_error *e)
{
    job j = {.launch = l, .groups = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2],
             .mutex = PTHREAD_MUTEX_INITIALIZER};
    if (!ks_register(l->packet, sizeof l->packet + sizeof l->queue, KS_KERNARG)) {
        ks_fail(e, KS_OUT_OF_MEMORY, "%s: no memory for its dispatch packet", l->kernel->name);
        return KS_OUT_OF_MEMORY;
    }
    if (l->kernel->serial || l->cooperative)
        run_in_turn(&j);
    else
        ks_pool_run(run_groups, &j, j.groups);
    ks_unregister(l->packet);
    int found = ks_report_end(l);
    if (atomic_load(&j.no_memory)) {
        ks_fail(e, KS_OUT_OF_MEMORY, "%s: no memory for its workgroups: make the block smaller", l->kernel->name);
        return KS_OUT_OF_MEMORY;
    }
    uint64_t stop = atomic_load(&l->stop);
    return stop ? (int)(stop & 0xffff) : found;
}
int ks_launch_run(const ks_kernel *k, const uint32_t grid[3], const uint32_t block[3], uint32_t dynamic_lds,
                  const void *kernarg, bool cooperative, ks_error *e)
{
    request q = {.kernel = k, .grid = grid, .block = block, .kernarg = kernarg};
    q.items = (uint64_t)block[0] * block[1] > 1u << 20 ? 1u << 20 : (uint64_t)block[0] * block[1] * block[2];
    q.lds = (uint64_t)k->lds + dynamic_lds;
    q.scratch = lanes_bytes(k);
    if (!sizes_ok(&q, e) || !request_ok(&q, e))
        return e->hip;
    ks_launch l = {.kernel = k, .object = k->object, .lds = (uint32_t)q.lds, .scratch = (uint32_t)q.scratch,
                   .cooperative = cooperative, .kernarg = kernarg};
    l.gws[0].counter = grid[0] * grid[1] * grid[2] - 1;
    memcpy(l.grid, grid, sizeof l.grid);
    memcpy(l.block, block, sizeof l.block);
    ks_packet_fill(&l);
    ks_queue_fill(&l);
    l.cost = ks_cost_begin(&l);
    int error = run(&l, e);
    ks_cost_end(&l, error);
    return error;
}
