// SPDX-License-Identifier: MIT
// Pricing a launch: counts of all its workgroups, and the trace of one in the middle, of which
// cost_model.c fills a compute unit.  Nothing here runs unless the launch is priced
// (KILN_SIM=cost=on, kilnsim_cost_enable).
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cost.h"
#include "hip.h"
#include "mfma.h"

enum { MOST_ENTRIES = 1 << 22 }; /* of a workgroup: 32 MiB */
const uint32_t ks_cost_constants[KS_COST_CONSTANT_COUNT][KS_ARCH_COUNT] = {
#define X(name, a, b, unit, source) {a, b},
    KS_COST_CONSTANTS(X)
#undef X
};
static atomic_int enabled, timelines;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
enum { MOST_KEPT = 64 };
static struct {
    kilnsim_cost cost;
    char *kernel;
    kilnsim_event *event; /* NULL: no timeline was wanted */
    size_t events;
    char *text;    /* of the events */
} kept[MOST_KEPT]; /* a ring */
static size_t kept_ever;

/* ---- Traces ---- */
ks_cost *ks_cost_begin(const ks_launch *l)
{
    if (!atomic_load(&enabled) && !ks_options_get()->cost) return NULL;
    ks_cost *c = calloc(1, sizeof(*c));
    if (!c) return NULL; /* unpriced, then */
    const uint64_t items = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    c->waves = (uint32_t)((items + KS_LANES - 1) / KS_LANES);
    if (atomic_load(&timelines)) c->timeline = calloc(1, sizeof(*c->timeline));
    c->sample =
        l->grid[0] / 2 + l->grid[0] * (l->grid[1] / 2 + (uint64_t)l->grid[1] * (l->grid[2] / 2));
    for (uint32_t i = 0; i < c->waves; i++) c->trace[i].most = MOST_ENTRIES / c->waves;
    return c;
}
void ks_cost_group(ks_group *g)
{
    ks_cost *c = g->launch->cost;
    for (uint32_t i = 0; i < g->wave_count; i++)
        g->wave[i]->trace = !c ? NULL : c->sample == g->index ? &c->trace[i] : &c->none;
}
static bool grow(ks_trace *t)
{
    uint32_t room = t->room ? 2 * t->room : 4096;
    if (room > t->most) room = t->most;
    ks_trace_entry *more = room > t->room ? realloc(t->at, room * sizeof(*more)) : NULL;
    if (!more) return false;
    t->at = more;
    t->room = room;
    return true;
}
void ks_trace_add(ks_wave *w, const ks_inst *inst)
{
    ks_trace *t = w->trace;
    if (inst->op->class == KS_MFMA_OP)
        w->group->counters.mfma_cycles +=
            ks_mfma_form_of(inst->op)->cycles[w->launch->object->arch];
    if (t->most) {
        t->seen++;
        if (t->count < t->room || grow(t))
            t->at[t->count++] =
                (ks_trace_entry){(uint32_t)(inst - w->launch->object->inst), w->aux};
    }
    w->aux = 0;
}

/* ---- Occupancy ---- */
static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}
ks_occupancy ks_cost_occupancy(const ks_launch *l)
{
    const ks_arch arch = l->object->arch;
#define CONSTANT(name) ks_cost_constants[KS_COST_##name][arch]
    const uint32_t items = l->block[0] * l->block[1] * l->block[2],
                   waves = (items + KS_LANES - 1) / KS_LANES;
    const uint32_t registers = ((l->kernel->rsrc1 & 63) + 1) * CONSTANT(REGISTER_STEP);
    const uint32_t slots =
        CONSTANT(SIMDS) * smaller(CONSTANT(WAVE_SLOTS), CONSTANT(REGISTERS) / registers);
    const uint32_t lds =
        (l->lds + CONSTANT(LDS_STEP) - 1) / CONSTANT(LDS_STEP) * CONSTANT(LDS_STEP);
    uint32_t groups = slots / waves;
    if (lds) groups = smaller(groups, CONSTANT(LDS_BYTES) / lds);
    if (waves > 1) groups = smaller(groups, CONSTANT(GROUPS));
    if (!groups) groups = 1; /* it ran */
    return (ks_occupancy){groups, (groups * waves + CONSTANT(SIMDS) - 1) / CONSTANT(SIMDS)};
#undef CONSTANT
}

/* ---- Results ---- */
static const char *target_name(ks_arch arch)
{
    switch (arch) {
    case KS_GFX90A:
        return "gfx90a";
    case KS_GFX942:
        return "gfx942";
    case KS_ARCH_COUNT:
        break;
    }
    return "";
}
_Static_assert(KS_CLASS_COUNT <= KILNSIM_CLASS_MAX, "room for every class");
static void forget_one(size_t at)
{
    free(kept[at].kernel);
    free(kept[at].event);
    free(kept[at].text);
    kept[at].kernel = kept[at].text = NULL;
    kept[at].event = NULL;
}

/* ---- Timelines ---- */
enum { INST_TEXT = 192, NO_TEXT = -1 }; /* bytes of an instruction and of its line */
typedef struct texts {                  /* of the instructions of an object, each once */
    long *of;                           /* bytes into text, by index; NO_TEXT: not yet */
    char *text;
    size_t used, room;
} texts;
static bool has_text(texts *t, ks_object *object, uint32_t inst)
{
    if (t->of[inst] != NO_TEXT) return true;
    if (t->room - t->used < 2 * INST_TEXT) {
        const size_t room = t->room ? 2 * t->room : 1 << 16;
        char *more = realloc(t->text, room);
        if (!more) return false;
        t->text = more;
        t->room = room;
    }
    t->of[inst] = (long)t->used;
    for (int line = 0; line < 2; line++) {
        char *at = t->text + t->used;
        *at = 0;
        (line ? ks_object_line : ks_object_text)(object, object->inst[inst].pc, at, INST_TEXT);
        t->used += strlen(at) + 1;
    }
    return true;
}
/* What a program is given of a timeline; NULL: no memory.  *text has its strings. */
static kilnsim_event *events_of(const ks_launch *l, char **text)
{
    ks_object *object = l->object;
    const ks_timeline *t = l->cost->timeline;
    const uint32_t simds = ks_cost_constants[KS_COST_SIMDS][object->arch];
    texts all = {malloc((object->inst_count + 1) * sizeof(*all.of)), NULL, 0, 0};
    kilnsim_event *event = t->cut ? NULL : malloc((t->count + 1) * sizeof(*event));
    bool good = all.of && event;
    for (size_t i = 0; all.of && i < object->inst_count; i++) all.of[i] = NO_TEXT;
    for (size_t i = 0; good && i < t->count; i++) good = has_text(&all, object, t->at[i].inst);
    for (size_t i = 0; good && i < t->count; i++) {
        const ks_event *from = &t->at[i];
        const ks_inst *inst = &object->inst[from->inst];
        const char *text_of = all.text + all.of[from->inst];
        event[i] = (kilnsim_event){.instruction = text_of,
                                   .line = text_of + strlen(text_of) + 1,
                                   .class_name = ks_class_names[inst->op->class],
                                   .unit = from->to > from->from ? ks_cost_unit(inst) : "",
                                   .pc = inst->pc,
                                   .wave = from->wave,
                                   .simd = from->wave % simds,
                                   .ready = from->ready,
                                   .issue = from->issue,
                                   .from = from->from,
                                   .to = from->to,
                                   .done = from->done};
    }
    free(all.of);
    if (good) {
        *text = all.text;
        return event;
    }
    free(all.text);
    free(event);
    return NULL;
}

static void keep(const ks_launch *l, const ks_occupancy *o, double cycles, double share)
{
    enum { KHZ = 1000 }; /* of a megahertz */
    const ks_counters *n = &l->counters;
    const khip_chip *chip = khip_chip_of(l->object->arch);
    const uint64_t groups = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    char *text = NULL;
    kilnsim_event *event = l->cost->timeline ? events_of(l, &text) : NULL;
    pthread_mutex_lock(&mutex);
    const size_t at = kept_ever++ % MOST_KEPT;
    kilnsim_cost *c = &kept[at].cost;
    forget_one(at);
    kept[at].event = event;
    kept[at].events = event ? l->cost->timeline->count : 0;
    kept[at].text = text;
    kept[at].kernel = strdup(l->kernel->name);
    *c = (kilnsim_cost){.struct_size = sizeof(*c),
                        .kernel = kept[at].kernel ? kept[at].kernel : "",
                        .target = target_name(l->object->arch),
                        .groups = groups,
                        .waves = groups * l->cost->waves,
                        .class_count = KS_CLASS_COUNT,
                        .mfma_cycles = n->mfma_cycles,
                        .lds_cycles = n->lds_cycles,
                        .lds_ideal_cycles = n->lds_ideal_cycles,
                        .segments = n->segments,
                        .segments_needed = n->segments_needed,
                        .global_bytes = n->global_bytes,
                        .groups_per_cu = o->groups_per_cu,
                        .waves_per_simd = o->waves_per_simd,
                        .modelled_cycles = cycles,
                        .modelled_matrix_share = share,
                        .clock_mhz = (uint32_t)(chip->clock / KHZ),
                        .compute_units = (uint32_t)chip->units};
    for (int i = 0; i < KS_CLASS_COUNT; i++) {
        c->class_name[i] = ks_class_names[i];
        c->count[i] = n->count[i];
    }
    pthread_mutex_unlock(&mutex);
}
static void print(const ks_launch *l, const ks_occupancy *o, double cycles, double share)
{
    const ks_counters *n = &l->counters;
    const unsigned thousandths = (unsigned)(share * 1000 + 0.5); /* a point in every locale */
    char text[KS_TEXT], name[KS_NAME];
    ks_name_text(l->kernel->name, name);
    snprintf(
        text, sizeof(text),
        "cost: %s, %u workgroups on a unit: modelled cycles %.0f, modelled matrix share %u.%03u; "
        "of "
        "the launch: "
        "matrix cycles %llu, LDS cycles %llu (%llu without conflicts), segments %llu (%llu needed)",
        name, o->groups_per_cu, cycles, thousandths / 1000, thousandths % 1000,
        (unsigned long long)n->mfma_cycles, (unsigned long long)n->lds_cycles,
        (unsigned long long)n->lds_ideal_cycles, (unsigned long long)n->segments,
        (unsigned long long)n->segments_needed);
    ks_report_refusal(text);
}
void ks_cost_end(ks_launch *l, int error)
{
    ks_cost *c = l->cost;
    if (!c) return;
    const uint64_t groups = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    const ks_occupancy o = ks_cost_occupancy(l);
    double cycles, share;
    if (!error && ks_cost_model(l, c, groups < o.groups_per_cu ? (uint32_t)groups : o.groups_per_cu,
                                &cycles, &share)) {
        keep(l, &o, cycles, share);
        if (ks_options_get()->cost) print(l, &o, cycles, share);
    }
    for (uint32_t i = 0; i < c->waves; i++) free(c->trace[i].at);
    if (c->timeline) free(c->timeline->at);
    free(c->timeline);
    free(c);
    l->cost = NULL;
}

__attribute__((destructor)) static void forget(void)
{
    for (size_t i = 0; i < MOST_KEPT; i++) forget_one(i);
}

KHIP_API void kilnsim_cost_enable(int on);
KHIP_API int kilnsim_cost_last(kilnsim_cost *);
KHIP_API size_t kilnsim_costs(void (*visit)(const kilnsim_cost *, void *), void *user);
KHIP_API void kilnsim_timeline_enable(int on);
KHIP_API size_t kilnsim_timeline(size_t launch, void (*visit)(const kilnsim_event *, void *),
                                 void *user);
void kilnsim_cost_enable(int on)
{
    pthread_mutex_lock(&mutex);
    if (on) kept_ever = 0;
    pthread_mutex_unlock(&mutex);
    atomic_store(&enabled, on);
}
int kilnsim_cost_last(kilnsim_cost *out)
{
    if (!out) return 0;
    pthread_mutex_lock(&mutex);
    const size_t size = out->struct_size;
    const bool have = kept_ever && size >= sizeof(size);
    if (have) {
        const kilnsim_cost *last = &kept[(kept_ever - 1) % MOST_KEPT].cost;
        memcpy(out, last, size < sizeof(*last) ? size : sizeof(*last));
        out->struct_size = size;
    }
    pthread_mutex_unlock(&mutex);
    return have;
}
size_t kilnsim_costs(void (*visit)(const kilnsim_cost *, void *), void *user)
{
    pthread_mutex_lock(&mutex);
    const size_t count = kept_ever < MOST_KEPT ? kept_ever : MOST_KEPT;
    for (size_t i = kept_ever - count; visit && i < kept_ever; i++)
        visit(&kept[i % MOST_KEPT].cost, user);
    pthread_mutex_unlock(&mutex);
    return count;
}
void kilnsim_timeline_enable(int on)
{
    atomic_store(&timelines, on);
}
size_t kilnsim_timeline(size_t launch, void (*visit)(const kilnsim_event *, void *), void *user)
{
    size_t events = 0;
    pthread_mutex_lock(&mutex);
    const size_t count = kept_ever < MOST_KEPT ? kept_ever : MOST_KEPT;
    if (launch < count) {
        const size_t at = (kept_ever - count + launch) % MOST_KEPT;
        events = kept[at].events;
        for (size_t i = 0; visit && i < events; i++) visit(&kept[at].event[i], user);
    }
    pthread_mutex_unlock(&mutex);
    return events;
}
