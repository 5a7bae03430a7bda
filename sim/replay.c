// SPDX-License-Identifier: MIT
// Races between a load and a store in LDS matter where the loaded value does.  Whether it does is
// not known when the race is: the load may long be over when the store comes.  So such findings are
// held back (check_lds.c), and when the workgroup has ended it is run again, what it has stored to
// global memory taken back, with the bytes that raced undefined.  Runs do not depend on time, so
// the second is the first; a finding whose bytes reach an address, a branch, EXEC or stored data is
// reported, the others are dropped.  Workgroups that see what others do cannot run again: there,
// and where too much would have to be kept, every race is reported.
#include <stdlib.h>
#include <string.h>
#include "group.h"
#include "memory.h"
#include "replay.h"

enum {
    MOST_SUSPECTS = 4096,
    MOST_HELD = 64,
    MOST_OLD = 1 << 26, /* bytes of what is to be taken back */
    RACE_ERROR = 719,   /* hipErrorLaunchFailure */
};

typedef struct held { /* a finding */
    const ks_inst *inst;
    uint64_t address, executed;
    uint32_t wave;
    int lane;
    bool used;
    char text[KS_TEXT];
} held;
typedef struct suspect { /* a load that raced */
    uint64_t executed;
    uint32_t wave, part, held;
    uint32_t pc;
    bool reached;
    uint16_t bytes[KS_LANES]; /* that raced */
} suspect;
typedef struct old { /* global memory before a store */
    uint64_t lanes, at[KS_LANES];
    uint32_t bytes, unused; /* of a lane */
} old;
struct ks_replay {
    held *held[MOST_HELD];
    suspect *suspect;
    uint8_t *old; /* `old`s, each with its rows and its size in bytes (8) behind it */
    size_t held_count, suspect_count, suspect_room, old_size, old_room;
    bool lost;    /* not all could be kept, or taken back */
    bool on;      /* the second run */
    bool stopped; /* ... which need not go on: the launch has failed */
};

/* ---- The first run ---- */
static bool comes_back(const ks_launch *l)
{
    return l->lds && !l->kernel->serial && !l->cooperative;
}
bool ks_replay_possible(const ks_group *g)
{
    return g->replay && comes_back(g->launch);
}
bool ks_replay_on(const ks_group *g)
{
    return g->replay && g->replay->on;
}
bool ks_replay_begin(ks_group *g)
{
    ks_replay *r = g->replay;
    if (ks_replay_on(g)) return true;
    if (!r && g->wave_count > 1 && comes_back(g->launch) && ks_options_get()->check[KILNSIM_RACE])
        r = g->replay = calloc(1, sizeof(*r));
    if (!r)
        return g->wave_count < 2 || !comes_back(g->launch) ||
               !ks_options_get()->check[KILNSIM_RACE];
    while (r->held_count) free(r->held[--r->held_count]);
    r->suspect_count = r->old_size = 0;
    r->lost = r->stopped = false;
    return true;
}
void ks_replay_free(ks_group *g)
{
    ks_replay *r = g->replay;
    if (!r) return;
    while (r->held_count) free(r->held[--r->held_count]);
    free(r->suspect);
    free(r->old);
    free(r);
    g->replay = NULL;
}

/* Room for `more` bytes behind those in use of a growing array; false: there is none. */
static bool grow(void *bytes, size_t *room, size_t used, size_t more, size_t most)
{
    void **at = bytes;
    if (*room - used >= more) return true;
    size_t size = *room ? 2 * *room : 1 << 12;
    while (size - used < more) size *= 2;
    void *p = size <= most ? realloc(*at, size) : NULL;
    if (!p) return false;
    *at = p;
    *room = size;
    return true;
}

void ks_replay_store(const ks_access *a)
{
    ks_replay *r = a->w->group->replay;
    if (!r || r->on || r->lost || !comes_back(a->w->launch)) return;
    const uint32_t words = a->bytes < 4 ? 1 : a->bytes / 4;
    const uint64_t size = sizeof(old) + words * KS_LANES * sizeof(uint32_t),
                   all = size + sizeof(size);
    if (!grow(&r->old, &r->old_room, r->old_size, all, MOST_OLD)) {
        r->lost = true;
        return;
    }
    old *o = (old *)(void *)(r->old + r->old_size);
    o->lanes = a->lanes;
    o->bytes = a->bytes;
    memcpy(o->at, a->at, sizeof(o->at));
    ks_gather((uint32_t *)(void *)(o + 1), a->at, a->lanes, a->bytes);
    memcpy(r->old + r->old_size + size, &size, sizeof(size));
    r->old_size += all;
}
void ks_replay_atomic(const ks_access *a)
{
    ks_replay *r = a->w->group->replay;
    if (r && !r->on) r->lost = true;
}

unsigned ks_replay_hold(ks_wave *w, const ks_inst *inst, int lane, uint64_t address,
                        const char *text)
{
    ks_replay *r = w->group->replay;
    for (unsigned i = 0; i < r->held_count; i++)
        if (r->held[i]->inst == inst) return i;
    held *h = r->held_count < MOST_HELD ? calloc(1, sizeof(*h)) : NULL;
    if (!h) {
        r->lost = true;
        return 0;
    }
    *h = (held){
        .inst = inst, .address = address, .executed = w->executed, .wave = w->index, .lane = lane};
    memcpy(h->text, text, strnlen(text, sizeof(h->text) - 1));
    r->held[r->held_count] = h;
    return (unsigned)r->held_count++;
}
void ks_replay_suspect(ks_group *g, const ks_load *load, unsigned lane, uint16_t bytes,
                       unsigned finding)
{
    ks_replay *r = g->replay;
    suspect *s = NULL;
    for (size_t i = r->suspect_count; !s && i-- > 0;)
        if (r->suspect[i].executed == load->executed && r->suspect[i].wave == load->wave &&
            r->suspect[i].part == load->part)
            s = &r->suspect[i];
    if (!s) {
        if (!grow(&r->suspect, &r->suspect_room, r->suspect_count * sizeof(*s), sizeof(*s),
                  MOST_SUSPECTS * sizeof(*s))) {
            r->lost = true;
            return;
        }
        s = &r->suspect[r->suspect_count++];
        *s = (suspect){.executed = load->executed,
                       .wave = load->wave,
                       .part = load->part,
                       .held = finding,
                       .pc = load->pc};
    }
    s->bytes[lane] |= bytes;
}

/* ---- The second run ---- */
void ks_replay_taint(const ks_access *a, unsigned reg, unsigned part)
{
    ks_wave *w = a->w;
    ks_replay *r = w->group->replay;
    uint32_t rows[4][KS_LANES] = {{0}};
    const unsigned count = a->bytes < 4 ? 1 : a->bytes / 4;
    for (size_t i = 0; i < r->suspect_count; i++) {
        suspect *s = &r->suspect[i];
        if (s->executed != w->executed || s->wave != w->index || s->part != part) continue;
        s->reached = true;
        uint64_t lanes = 0;
        for (unsigned l = 0; l < KS_LANES; l++) {
            if (s->bytes[l] && a->lanes >> l & 1) lanes |= 1ull << l;
            for (unsigned b = 0; b < a->bytes; b++)
                if (s->bytes[l] >> b & 1) rows[b / 4][l] |= a->bytes < 4 ? ~0u : 0xffu << b % 4 * 8;
        }
        if (lanes) ks_rows_written(w, reg, count, rows[0], lanes);
        return;
    }
}
bool ks_replay_used(ks_wave *w, uint32_t origin)
{
    ks_replay *r = w->group->replay;
    bool any = false;
    if (!ks_replay_on(w->group)) return false;
    for (size_t i = 0; i < r->suspect_count; i++)
        if (r->suspect[i].pc == origin && r->suspect[i].reached)
            any = r->held[r->suspect[i].held]->used = true;
    if (any && ks_options_get()->errors) { /* the launch has failed */
        w->group->replay->stopped = true;
        w->group->stop = RACE_ERROR;
        w->state = KS_ENDED;
    }
    return true;
}

static void take_back(ks_replay *r)
{
    while (r->old_size) {
        uint64_t size;
        memcpy(&size, r->old + r->old_size - sizeof(size), sizeof(size));
        r->old_size -= size + sizeof(size);
        const old *o = (const old *)(const void *)(r->old + r->old_size);
        ks_scatter((const uint32_t *)(const void *)(o + 1), o->at, o->lanes, o->bytes);
    }
}
/* false: it could not. */
static bool run_again(ks_slot *s)
{
    ks_group *g = &s->group;
    ks_replay *r = g->replay;
    const ks_counters counters = g->counters;
    const int stop = g->stop;
    if (r->lost) return false;
    take_back(r);
    r->on = true;
    bool done = ks_group_start(s, g->launch, g->index);
    for (unsigned i = 0; done && i < g->wave_count; i++) g->wave[i]->trace = NULL;
    while (done && !ks_group_step(g, false))
        ;
    r->on = false;
    g->counters = counters;
    g->stop = stop;
    return done;
}
void ks_replay_end(ks_slot *s)
{
    ks_group *g = &s->group;
    ks_replay *r = g->replay;
    if (!r || !r->held_count) return;
    const bool judged = run_again(s);
    bool any = false;
    for (size_t i = 0; i < r->held_count; i++) any |= r->held[i]->used;
    for (size_t i = 0; i < r->suspect_count;
         i++) /* not reached, and nothing has stopped it: another run */
        if (!r->suspect[i].reached && !any) r->held[r->suspect[i].held]->used = true;
    for (size_t i = 0; i < r->held_count; i++) {
        const held *h = r->held[i];
        ks_wave *w = g->wave[h->wave];
        w->executed = h->executed;
        if (!judged || h->used)
            ks_report(w, h->inst, KILNSIM_RACE, h->lane, h->address, "%s", h->text);
    }
}
