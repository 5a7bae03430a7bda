// SPDX-License-Identifier: MIT
// Races in LDS: accesses of two waves to a byte, one of them a store, that no barrier orders; and
// two lanes of one store that write different values to a byte.  Atomics do not race with atomics.
// A load races only if its value is used, which replay.c finds out.
//
// Between two barriers (an epoch) each word has a bit per wave that has stored to it (low half) and
// one per wave that has loaded from it (high half).  Accesses of whole words only OR their wave's
// bit into them and look at the others'.  Narrow or unaligned accesses split a word: its entry
// becomes SPLIT and its four bytes have entries of their own. Which instructions race is looked up
// in the waves' logs of the epoch.  What a wave has not waited for when it comes to the barrier
// stays in its log and counts in the next epoch too.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "memory.h"
#include "replay.h"

enum {
    WORDS = KS_MAX_LDS / 4,
    LOG_FIRST = 64,
    LOG_MOST = 4096, /* entries of a wave and epoch; when full, the older half goes */
    LANE_BITS = 6,
};
#define SPLIT                                                                                      \
    0xffffffffu /* all waves have stored: never an entry, since the second store is a race */

typedef struct entry {
    const ks_inst *in;
    ks_load load;
    uint64_t lanes, number; /* of its counter: done when ks_wave_progress is there */
    uint16_t address[KS_LANES];
    uint8_t bytes;
    bool write, atomic, by_vm;
    bool late;    /* its wave came to the barrier without waiting for it */
    bool carried; /* ... to the last barrier */
} entry;

typedef struct ks_lds_log {
    entry *e;
    size_t count, room;
    bool arrived; /* at the barrier */
    uint64_t executed; /* the instruction whose accesses are counted */
    uint32_t part;
} ks_lds_log;

typedef struct ks_lds_shadow {
    uint32_t word[WORDS];
    uint16_t atomic[WORDS]; /* waves with atomics there */
    bool atomics;           /* any in this epoch */
    uint8_t undefined[KS_MAX_LDS];
    uint32_t *byte; /* [KS_MAX_LDS], at the first split */
    uint32_t
        *stamp; /* [KS_MAX_LDS] by unit of a store: serial << LANE_BITS | lane that stored last */
    uint32_t serial;
} ks_lds_shadow;

typedef struct access { /* an access with what it means for entries */
    ks_wave *w;
    const ks_inst *in;
    const ks_lds_access *x;
    uint32_t own, others; /* this wave's bit; bits that make a race */
    ks_load load;
    bool again; /* carried over a barrier: nothing is found */
    bool reported;
    unsigned held; /* where it was held back instead */
} access;

bool ks_lds_shadow_create(ks_group *g)
{
    ks_lds_shadow *s = g->shadow;
    if (!s) s = g->shadow = calloc(1, sizeof(*s));
    if (!s) return false;
    size_t lds = g->launch->lds < KS_MAX_LDS ? (g->launch->lds + 3u) & ~3u : KS_MAX_LDS;
    memset(s->word, 0, lds);
    memset(s->atomic, 0, lds / 2);
    memset(s->undefined, 0xff, lds);
    s->atomics = false;
    for (uint32_t i = 0; i < g->wave_count; i++)
        if (g->wave[i]->lds_log) {
            g->wave[i]->lds_log->count = 0;
            g->wave[i]->lds_log->arrived = false;
            g->wave[i]->lds_log->executed = 0;
        }
    return true;
}

void ks_lds_shadow_free(ks_group *g)
{
    for (uint32_t i = 0; g->wave && i < g->wave_count; i++)
        if (g->wave[i] && g->wave[i]->lds_log) {
            free(g->wave[i]->lds_log->e);
            free(g->wave[i]->lds_log);
            g->wave[i]->lds_log = NULL;
        }
    if (g->shadow) {
        free(g->shadow->byte);
        free(g->shadow->stamp);
    }
    free(g->shadow);
    g->shadow = NULL;
}

uint8_t *ks_lds_undefined(ks_group *g)
{
    return g->shadow ? g->shadow->undefined : NULL;
}

/* ---- Logs ---- */
static ks_lds_log *log_of(ks_wave *w)
{
    if (!w->lds_log) w->lds_log = calloc(1, sizeof(*w->lds_log));
    return w->lds_log;
}

/* Counts the accesses of the instruction that runs. */
static unsigned next_part(ks_wave *w)
{
    ks_lds_log *log = log_of(w);
    if (!log) return 0;
    log->part = log->executed == w->executed ? log->part + 1 : 0;
    log->executed = w->executed;
    return log->part;
}
unsigned ks_lds_part(const ks_wave *w)
{
    return w->lds_log ? w->lds_log->part : 0;
}

static entry *new_entry(ks_wave *w)
{
    ks_lds_log *log = log_of(w);
    if (!log) return NULL;
    if (log->count == log->room && log->room < LOG_MOST) {
        size_t room = log->room ? log->room * 2 : LOG_FIRST;
        entry *more = realloc(log->e, room * sizeof(entry));
        if (more) {
            log->e = more;
            log->room = room;
        }
    }
    if (log->count == log->room && log->room) {
        size_t half = log->room / 2;
        memmove(log->e, log->e + half, (log->room - half) * sizeof(entry));
        log->count -= half;
    }
    return log->room ? &log->e[log->count++] : NULL;
}

static void note(ks_wave *w, const ks_inst *in, const ks_lds_access *x, const ks_load *load)
{
    entry *e = new_entry(w);
    if (!e) return;
    ks_progress p = ks_wave_progress(w);
    e->in = in;
    e->load = *load;
    e->lanes = x->lanes;
    e->number = x->by_vm ? p.vm_issued : p.lgkm_issued;
    for (unsigned l = 0; l < KS_LANES; l++) e->address[l] = (uint16_t)x->address[l];
    e->bytes = (uint8_t)x->bytes;
    e->write = x->write;
    e->atomic = x->atomic;
    e->by_vm = x->by_vm;
    e->late = e->carried = false;
}

/* The lane of an entry that touches bytes [from, to); -1: none. */
static int lane_touching(const entry *e, uint32_t from, uint32_t to)
{
    for (unsigned l = 0; l < KS_LANES; l++)
        if (e->lanes >> l & 1 && e->address[l] < to && e->address[l] + (uint32_t)e->bytes > from)
            return (int)l;
    return -1;
}

/* ---- Findings ---- */
static const char *verb(bool write, bool atomic)
{
    return atomic ? "atomic" : write ? "store" : "load";
}

/* The newest access of another wave to these bytes that races with this one. */
static const entry *culprit(const access *a, uint32_t from, uint32_t to, unsigned *wave, int *lane)
{
    const ks_group *g = a->w->group;
    for (unsigned i = 0; i < g->wave_count; i++) {
        const ks_lds_log *log = i == a->w->index ? NULL : g->wave[i]->lds_log;
        for (size_t j = log ? log->count : 0; j-- > 0;) {
            const entry *e = &log->e[j];
            if ((!e->write && !a->x->write) || (e->atomic && a->x->atomic)) continue;
            *lane = lane_touching(e, from, to);
            if (*lane >= 0) {
                *wave = i;
                return e;
            }
        }
    }
    return NULL;
}

/* What is to be said; the LDS byte. */
static uint32_t describe(const access *a, uint32_t from, uint32_t to, char *text, size_t size)
{
    unsigned wave = 0;
    int other = -1;
    char line[256] = "";
    const entry *e = culprit(a, from, to, &wave, &other);
    const char *mine = verb(a->x->write, a->x->atomic);
    if (!e) {
        snprintf(text, size,
                 "%s of wave %u at LDS byte %u races with an earlier access of another wave: put "
                 "a barrier between them",
                 mine, a->w->index, from);
        return from;
    }
    ks_object_line(a->w->launch->object, e->in->pc, line, sizeof(line));
    if (e->address[other] > from) from = e->address[other];
    snprintf(
        text, size,
        "%s of wave %u at LDS byte %u races with the %s of wave %u, lane %d, at pc 0x%x%s%s: %s",
        mine, a->w->index, from, verb(e->write, e->atomic), wave, other, e->in->pc,
        line[0] ? ", " : "", line,
        !e->carried ? "put a barrier between them"
        : e->by_vm  ? "wait for that (s_waitcnt vmcnt(0)) before the barrier"
                    : "wait for that (s_waitcnt lgkmcnt(0)) before the barrier");
    return from;
}

static void report_race(access *a, unsigned lane, uint32_t from, uint32_t to)
{
    char text[KS_TEXT];
    if (a->reported) return;
    a->reported = true;
    from = describe(a, from, to, text, sizeof(text));
    ks_report(a->w, a->in, KILNSIM_RACE, (int)lane, from, "%s", text);
}
static unsigned hold_race(access *a, unsigned lane, uint32_t from, uint32_t to)
{
    char text[KS_TEXT];
    if (!a->reported) {
        from = describe(a, from, to, text, sizeof(text));
        a->held = ks_replay_hold(a->w, a->in, (int)lane, from, text);
    }
    a->reported = true;
    return a->held;
}

/* Bytes of an access at address that are in [from, to), as bits. */
static uint16_t bytes_within(uint32_t address, uint32_t bytes, uint32_t from, uint32_t to)
{
    uint32_t bits = 0;
    for (uint32_t b = 0; b < bytes; b++)
        bits |= (uint32_t)(address + b >= from && address + b < to) << b;
    return (uint16_t)bits;
}

/* A store after loads of others: those are suspects. false: it is not loads that it races with. */
static bool suspect_loads(access *a, unsigned lane, uint32_t from, uint32_t to)
{
    ks_group *g = a->w->group;
    bool loads = false;
    for (unsigned i = 0; i < g->wave_count; i++) {
        const ks_lds_log *log = i == a->w->index ? NULL : g->wave[i]->lds_log;
        for (size_t j = log ? log->count : 0; j-- > 0;) {
            const entry *e = &log->e[j];
            if (lane_touching(e, from, to) < 0 || (e->atomic && a->x->atomic)) continue;
            if (e->write || e->atomic) return false;
            const unsigned held = hold_race(a, lane, from, to);
            loads = true;
            for (unsigned l = 0; l < KS_LANES; l++) {
                const uint16_t bytes =
                    e->lanes >> l & 1 ? bytes_within(e->address[l], e->bytes, from, to) : 0;
                if (bytes) ks_replay_suspect(g, &e->load, l, bytes, held);
            }
        }
    }
    return loads;
}

/* Two stores race whatever they store; of a load and a store it depends on what becomes of the
 * loaded value (replay.c). */
static void race(access *a, unsigned lane, uint32_t from, uint32_t to)
{
    ks_group *g = a->w->group;
    if (a->again) return;
    if (!ks_replay_possible(g))
        report_race(a, lane, from, to);
    else if (!a->x->write && !a->x->atomic)
        ks_replay_suspect(g, &a->load, lane,
                          bytes_within(a->x->address[lane], a->x->bytes, from, to),
                          hold_race(a, lane, from, to));
    else if (!suspect_loads(a, lane, from, to))
        report_race(a, lane, from, to);
}

/* ---- Entries ---- */
/* ORs add into the entries of whole words; what stood in any of them. */
typedef uint32_t four __attribute__((vector_size(16)));
static uint32_t touch_fours(uint32_t *word, const uint32_t *address, uint32_t add)
{
    four seen = {0}, more = {add, add, add, add};
    for (unsigned l = 0; l < KS_LANES; l++) {
        four e;
        memcpy(&e, &word[address[l] / 4], sizeof(e));
        seen |= e;
        e |= more;
        memcpy(&word[address[l] / 4], &e, sizeof(e));
    }
    return seen[0] | seen[1] | seen[2] | seen[3];
}
static uint32_t touch_words(uint32_t *word, const uint32_t *address, uint32_t add, unsigned words)
{
    uint32_t seen = 0;
    for (unsigned l = 0; l < KS_LANES; l++)
        for (unsigned i = 0; i < words; i++) {
            uint32_t *e = &word[address[l] / 4 + i];
            seen |= *e;
            *e |= add;
        }
    return seen;
}
static uint32_t touch(uint32_t *word, const uint32_t *address, uint32_t add, unsigned bytes)
{
    switch (bytes) {
    case 4:
        return touch_words(word, address, add, 1);
    case 8:
        return touch_words(word, address, add, 2);
    case 12:
        return touch_words(word, address, add, 3);
    default:
        return touch_fours(word, address, add);
    }
}

static bool split(ks_lds_shadow *s, uint32_t x)
{
    if (s->word[x] == SPLIT) return true;
    if (!s->byte) s->byte = malloc(KS_MAX_LDS * sizeof(*s->byte));
    if (!s->byte) return false;
    for (unsigned i = 0; i < 4; i++) s->byte[x * 4 + i] = s->word[x];
    s->word[x] = SPLIT;
    return true;
}

/* One lane's bytes [from, to) within word x, entry by entry. */
static void touch_part(access *a, unsigned lane, uint32_t x, uint32_t from, uint32_t to,
                       uint32_t add)
{
    ks_lds_shadow *s = a->w->group->shadow;
    bool whole = to - from == 4;
    if ((!whole && !split(s, x)) ||
        (s->atomics && !a->x->atomic && s->atomic[x] & (0xffffu & ~a->own)))
        race(a, lane, from, to);
    if (s->word[x] != SPLIT) {
        if (s->word[x] & a->others) {
            race(a, lane, from, to);
            s->word[x] = 0;
        }
        s->word[x] |= add;
        return;
    }
    for (uint32_t i = from; i < to; i++) {
        if (s->byte[i] & a->others) {
            race(a, lane, i, i + 1);
            s->byte[i] = 0;
        }
        s->byte[i] |= add;
    }
}

static void touch_slowly(access *a, uint32_t add)
{
    for (unsigned l = 0; l < KS_LANES; l++) {
        uint32_t from = a->x->address[l], end = from + a->x->bytes;
        if (!(a->x->lanes >> l & 1)) continue;
        while (from < end) {
            uint32_t x = from / 4, to = x * 4 + 4 < end ? x * 4 + 4 : end;
            touch_part(a, l, x, from, to, add);
            from = to;
        }
    }
}

static bool whole_words(const ks_lds_access *x)
{
    uint32_t bits = 0;
    for (unsigned l = 0; l < KS_LANES; l++) bits |= x->address[l];
    return x->bytes >= 4 && !(bits & 3);
}

static void enter(access *a)
{
    ks_lds_shadow *s = a->w->group->shadow;
    const ks_lds_access *x = a->x;
    uint32_t add = x->atomic ? 0 : x->write ? a->own : a->own << 16, seen = 0;
    bool whole = whole_words(x);
    if (whole) seen = touch(s->word, x->address, add, x->bytes);
    if (!whole || seen & a->others || (s->atomics && !x->atomic)) touch_slowly(a, add);
    if (x->atomic) {
        s->atomics = true;
        for (unsigned l = 0; l < KS_LANES; l++)
            for (uint32_t i = x->address[l] / 4; i <= (x->address[l] + x->bytes - 1) / 4; i++)
                s->atomic[i] |= (uint16_t)a->own;
    }
}

/* ---- Two lanes of one store ---- */
static bool rising(const ks_lds_access *x)
{
    bool overlap = false;
    for (unsigned l = 1; l < KS_LANES; l++) overlap |= x->address[l] < x->address[l - 1] + x->bytes;
    return !overlap && x->lanes == ~0ull;
}

/* Byte i of what a lane stores. */
static uint8_t byte_of(const ks_lds_access *x, unsigned lane, uint32_t i)
{
    return (uint8_t)(x->data[i / 4 * KS_LANES + lane] >> i % 4 * 8);
}

/* Two lanes that store to the same unit: a finding where they differ. */
static void compare_lanes(access *a, unsigned one, unsigned two)
{
    const ks_lds_access *x = a->x;
    uint32_t from = x->address[one] > x->address[two] ? x->address[one] : x->address[two];
    uint32_t end =
        (x->address[one] < x->address[two] ? x->address[one] : x->address[two]) + x->bytes;
    for (uint32_t at = from; at < end; at++) {
        uint8_t p = byte_of(x, one, at - x->address[one]),
                q = byte_of(x, two, at - x->address[two]);
        if (p == q) continue;
        a->reported = true;
        ks_report(
            a->w, a->in, KILNSIM_RACE, (int)two, at,
            "lanes %u and %u of one store write 0x%x and 0x%x to LDS byte %u: let one lane store",
            one, two, p, q, at);
        return;
    }
}

/* Stores are looked at in units that all their addresses are multiples of: one of their size, or
 * words, or bytes. */
static uint32_t unit_size(const ks_lds_access *x)
{
    uint32_t bits = 0, unit = x->bytes == 12 ? 4 : x->bytes;
    for (unsigned l = 0; l < KS_LANES; l++) bits |= x->address[l];
    return !(bits & (unit - 1)) ? unit : !(bits & 3) ? 4 : 1;
}

static void check_lanes(access *a)
{
    ks_lds_shadow *s = a->w->group->shadow;
    const ks_lds_access *x = a->x;
    if (rising(x)) return;
    if (!s->stamp) s->stamp = calloc(KS_MAX_LDS, sizeof(*s->stamp));
    if (!s->stamp) return;
    if (++s->serial >> (32 - LANE_BITS)) {
        memset(s->stamp, 0, KS_MAX_LDS * sizeof(*s->stamp));
        s->serial = 1;
    }
    uint32_t unit = unit_size(x), count = x->bytes / unit, *stamp = s->stamp,
             now = s->serial << LANE_BITS;
    unsigned shift = (unsigned)__builtin_ctz(unit);
    KS_EACH_LANE (l, x->lanes) {
        uint32_t first = x->address[l] >> shift;
        for (uint32_t i = first; i < first + count; i++) {
            if (stamp[i] >= now && !a->reported) compare_lanes(a, stamp[i] - now, l);
            stamp[i] = now | l;
        }
    }
}

void ks_lds_check(ks_wave *w, const ks_inst *in, const ks_lds_access *x)
{
    ks_check_direct(w, in, x);
    if (!ks_options_get()->check[KILNSIM_RACE] || !w->group->shadow) return;
    uint32_t own = 1u << w->index;
    access a = {.w = w, .in = in, .x = x, .own = own};
    a.load = (ks_load){w->executed, w->index, next_part(w), in->pc};
    if (ks_replay_on(w->group)) return;
    a.others = x->write ? ~(own | own << 16) : 0xffffu & ~own;
    if (x->write && !x->atomic && x->data) check_lanes(&a);
    if (w->group->wave_count < 2) return;
    a.reported = false;
    enter(&a);
    note(w, in, x, &a.load);
}

/* ---- Barriers ---- */
void ks_lds_barrier_arrive(ks_wave *w)
{
    ks_lds_log *log = w->lds_log;
    if (!log) return;
    ks_progress p = ks_wave_progress(w);
    for (size_t i = 0; i < log->count; i++) {
        entry *e = &log->e[i];
        e->late = e->number > (e->by_vm ? p.vm_done : p.lgkm_done);
    }
    log->arrived = true;
}

/* Of a wave that has ended nothing is late: the hardware waits then. */
static void keep_late(ks_lds_log *log)
{
    size_t kept = 0;
    for (size_t i = 0; log->arrived && i < log->count; i++)
        if (log->e[i].late) {
            log->e[kept] = log->e[i];
            log->e[kept++].carried = true;
        }
    log->count = kept;
    log->arrived = false;
}

/* Entries that were carried over a barrier: found races were reported before it. */
static void enter_again(ks_wave *w, const entry *e)
{
    uint32_t address[KS_LANES], own = 1u << w->index;
    for (unsigned l = 0; l < KS_LANES; l++) address[l] = e->address[l];
    ks_lds_access x = {.address = address,
                       .bytes = e->bytes,
                       .lanes = e->lanes,
                       .write = e->write,
                       .atomic = e->atomic,
                       .by_vm = e->by_vm};
    access a = {.w = w, .in = e->in, .x = &x, .own = own, .again = true};
    enter(&a);
}

void ks_lds_barrier_passed(ks_group *g)
{
    ks_lds_shadow *s = g->shadow;
    g->epoch++;
    if (!s || g->wave_count < 2) return;
    size_t lds = g->launch->lds < KS_MAX_LDS ? (g->launch->lds + 3u) & ~3u : KS_MAX_LDS;
    memset(s->word, 0, lds);
    if (s->atomics) memset(s->atomic, 0, lds / 2);
    s->atomics = false;
    for (uint32_t i = 0; i < g->wave_count; i++) {
        ks_lds_log *log = g->wave[i]->lds_log;
        if (!log) continue;
        keep_late(log);
        for (size_t j = 0; j < log->count; j++) enter_again(g->wave[i], &log->e[j]);
    }
}
