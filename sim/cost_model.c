// SPDX-License-Identifier: MIT
// Time of one compute unit, from traces: waves issue in order, four cycles a step; in a step each
// SIMD issues at most one instruction to each of its ports, each from another wave, the oldest or
// most important first (MI200 and CDNA3 ISA, ROCm Compute Profiler's "Pipeline descriptions").  A
// matrix instruction keeps its SIMD's matrix unit for its passes; LDS and vector memory are one
// pipe each for all four SIMDs; loads come back after a latency, and s_waitcnt, barriers and s_nop
// hold a wave back as they do in hardware.  What is not here: caches, DRAM, other compute units,
// instruction fetch.
#include <stdlib.h>
#include <string.h>
#include "cost.h"
#include "mfma.h"

/* What an instruction needs. ORDER PORT */
typedef enum port { VALU, SALU, VMEM, LDS, BRANCH, NO_PORT } port;
typedef enum effect {
    PLAIN,
    MATRIX,
    MEMORY,
    SHARED,
    SCALAR,
    JUMP,
    WAIT,
    IDLE,
    SYNC,
    PRIORITY,
    END
} effect;
typedef struct step { /* of an instruction */
    uint8_t port, effect;
    uint16_t busy; /* steps of its port's unit */
    bool flat, known;
} step;
typedef struct queue { /* when each of those in flight will be there: in order */
    uint64_t at[64];
    uint32_t first, count;
} queue;
typedef struct runner { /* a wave */
    const ks_trace *trace;
    uint32_t at, group;
    uint64_t ready; /* the step when it may issue */
    uint8_t priority;
    bool at_barrier, ended;
    queue vm, lds;
    uint64_t loose; /* step when all SMEM and FLAT are there */
} runner;
typedef struct unit {
    ks_arch arch;
    const ks_inst *inst;
    step *step;
    runner *wave;
    uint32_t waves, per_group, left;
    uint64_t latency; /* of global memory, in cycles */
    uint64_t now;     /* in steps */
    uint64_t wake;    /* the step when those that a barrier has just let go may issue */
    uint64_t valu_free[8], matrix_free[8], matrix_busy; /* by SIMD, in steps */
    uint64_t lds_free, memory_free, scalar_free;        /* in cycles */
    ks_timeline *timeline;
} unit;
enum { STEP = 4, NEVER_WAITS = 63 };
#define CONSTANT(u, name) ks_cost_constants[KS_COST_##name][(u)->arch]

/* ---- Instructions ---- */
/* LLVM's WriteTrans32, WriteTrans64 and WriteFloatCvt. */
static bool quarter_rate(const char *name)
{
    // clang-format off
    static const char *const begins[] = {
        "v_exp_", "v_log_", "v_rcp_", "v_rsq_", "v_sqrt_", "v_sin_", "v_cos_",
        "v_cvt_f16_f32", "v_cvt_f32_f16", "v_cvt_f32_bf8", "v_cvt_f32_fp8", "v_cvt_pk_f32_",
        "v_cvt_pk_bf8_", "v_cvt_pk_fp8_", "v_cvt_sr_", "v_cvt_f32_i32", "v_cvt_f32_u32",
        "v_cvt_i32_f32", "v_cvt_u32_f32", "v_cvt_flr_", "v_cvt_rpi_", "v_cvt_off_",
    };
    // clang-format on
    for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
        if (!strncmp(name, begins[i], strlen(begins[i]))) return true;
    return false;
}
/* By class; what the rest of an instruction adds is step_of's. */
static const struct {
    uint8_t port, effect;
} class_step[KS_CLASS_COUNT] = {
    [KS_SALU_OP] = {SALU, PLAIN},      [KS_BRANCH_OP] = {BRANCH, JUMP},
    [KS_WAIT_OP] = {NO_PORT, WAIT},    [KS_NOP_OP] = {NO_PORT, IDLE},
    [KS_BARRIER_OP] = {NO_PORT, SYNC}, [KS_MESSAGE_OP] = {BRANCH, PLAIN},
    [KS_SMEM_OP] = {SALU, SCALAR},     [KS_VALU_OP] = {VALU, PLAIN},
    [KS_TRANS_OP] = {VALU, PLAIN},     [KS_F64_OP] = {VALU, PLAIN},
    [KS_MFMA_OP] = {VALU, MATRIX},     [KS_LDS_OP] = {LDS, SHARED},
    [KS_GLOBAL_OP] = {VMEM, MEMORY},   [KS_FLAT_OP] = {VMEM, MEMORY},
    [KS_BUFFER_OP] = {VMEM, MEMORY},   [KS_SCRATCH_OP] = {VMEM, MEMORY},
    [KS_CACHE_OP] = {VMEM, MEMORY},
};
const char *ks_cost_unit(const ks_inst *inst)
{
    static const char *const of_port[] = {[VALU] = "VALU", [SALU] = "SALU", [VMEM] = "memory",
                                          [LDS] = "LDS",   [BRANCH] = "",   [NO_PORT] = ""};
    const unsigned is = class_step[inst->op->class].effect;
    if (is == MATRIX || is == SCALAR) return is == MATRIX ? "MFMA" : "scalar memory";
    return is == PLAIN || is == MEMORY || is == SHARED ? of_port[class_step[inst->op->class].port]
                                                       : "";
}
/* s_nop and s_sleep: steps until the wave goes on; s_setprio: its new priority. */
static void idle_step(step *s, const ks_inst *inst)
{
    const char *name = inst->op->name;
    if (!strcmp(name, "s_nop")) s->busy = (uint16_t)((inst->imm & 15) + 1);
    if (!strcmp(name, "s_sleep")) s->busy = (uint16_t)((inst->imm & 127) * 64 / STEP + 1);
    if (!strcmp(name, "s_setprio")) {
        s->effect = PRIORITY;
        s->busy = (uint16_t)(inst->imm & 3);
    }
}
static step step_of(const unit *u, const ks_inst *inst)
{
    const ks_op *op = inst->op;
    step s = {.port = class_step[op->class].port,
              .effect = class_step[op->class].effect,
              .busy = 1,
              .flat = op->class == KS_FLAT_OP,
              .known = true};
    if (op->class == KS_MFMA_OP) s.busy = ks_mfma_form_of(op)->cycles[u->arch] / STEP;
    if (s.port == VALU && s.effect == PLAIN && quarter_rate(op->name))
        s.busy = (uint16_t)CONSTANT(u, QUARTER_RATE);
    if (op->class == KS_NOP_OP) idle_step(&s, inst);
    if (op->class == KS_SALU_OP && (op->flags & (KS_F_END | KS_F_JUMP)))
        s.effect = op->flags & KS_F_END ? END : JUMP;
    return s;
}

/* ---- Queues ---- */
static uint64_t in_steps(uint64_t cycles)
{
    return (cycles + STEP - 1) / STEP;
}
static void drain(queue *q, uint64_t now)
{
    while (q->count && q->at[q->first] <= now) {
        q->first = (q->first + 1) % 64;
        q->count--;
    }
}
/* The step when no more than `left` are in flight. */
static uint64_t when_left(const queue *q, uint32_t left)
{
    return q->count > left ? q->at[(q->first + q->count - left - 1) % 64] : 0;
}
static void add(queue *q, uint64_t at)
{
    const uint64_t before = q->count ? q->at[(q->first + q->count - 1) % 64] : 0;
    q->at[(q->first + q->count++) % 64] = at > before ? at : before;
}
static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* ---- Waves ---- */
static uint64_t wait_until(const runner *w, int32_t imm)
{
    const uint32_t bits = (uint32_t)imm, vm = (bits & 15) | (bits >> 10 & 0x30),
                   lgkm = bits >> 8 & 15;
    uint64_t until = later(when_left(&w->vm, vm), when_left(&w->lds, lgkm));
    return lgkm ? until : later(until, w->loose);
}
/* The step when the wave's next instruction can go, as far as the wave and its units are concerned;
 * now at the least. */
static uint64_t can_issue(unit *u, runner *w, const step *s, const ks_inst *inst, uint32_t simd)
{
    uint64_t at = later(w->ready, u->now);
    drain(&w->vm, u->now);
    drain(&w->lds, u->now);
    switch ((effect)s->effect) {
    case PLAIN:
        return s->port == VALU ? later(at, u->valu_free[simd]) : at;
    case MATRIX:
        return later(at, later(u->valu_free[simd], u->matrix_free[simd]));
    case MEMORY:
        return later(at, when_left(&w->vm, NEVER_WAITS - 1));
    case SHARED:
        return later(at, when_left(&w->lds, 14));
    case WAIT:
        return later(at, wait_until(w, inst->imm));
    case SCALAR:
    case JUMP:
    case IDLE:
    case SYNC:
    case PRIORITY:
    case END:
        break;
    }
    return at;
}
static void release(unit *u, uint32_t group)
{
    runner *first = u->wave + group * u->per_group;
    for (uint32_t i = 0; i < u->per_group; i++)
        if (!first[i].ended && !first[i].at_barrier) return;
    for (uint32_t i = 0; i < u->per_group; i++) {
        if (first[i].at_barrier) u->wake = first[i].ready = u->now + CONSTANT(u, BARRIER);
        first[i].at_barrier = false;
    }
}
static void end(unit *u, runner *w)
{
    w->ended = true;
    u->left--;
    release(u, w->group);
}
static void access_lds(unit *u, runner *w, uint32_t cycles)
{
    u->lds_free = later(u->lds_free, u->now * STEP) + later(cycles, 1);
    add(&w->lds, in_steps(u->lds_free + CONSTANT(u, LDS_LATENCY)));
}
static void access_memory(unit *u, runner *w, uint32_t segments, bool flat)
{
    const uint64_t cycles =
        later((uint64_t)segments * CONSTANT(u, SEGMENT_CYCLES), CONSTANT(u, ADDRESS_CYCLES));
    u->memory_free = later(u->memory_free, u->now * STEP) + cycles;
    add(&w->vm, in_steps(u->memory_free + u->latency));
    if (flat) w->loose = later(w->loose, w->vm.at[(w->vm.first + w->vm.count - 1) % 64]);
}
static void access_scalar(unit *u, runner *w)
{
    u->scalar_free = later(u->scalar_free, u->now * STEP) + CONSTANT(u, SCALAR_CYCLES);
    w->loose = later(w->loose, in_steps(u->scalar_free + CONSTANT(u, SCALAR_LATENCY)));
}
/* ---- The timeline ---- */
static ks_event *add_event(ks_timeline *t)
{
    if (t->count == t->room) {
        const size_t room = t->room ? 2 * t->room : 4096;
        ks_event *more = realloc(t->at, room * sizeof(*more));
        if (!more) {
            t->cut = true;
            return NULL;
        }
        t->at = more;
        t->room = room;
    }
    return &t->at[t->count++];
}
/* The cycle when the pipe that a step is for is free; NULL: it is for none. */
static const uint64_t *pipe_of(const unit *u, const step *s)
{
    if (s->effect == MEMORY) return &u->memory_free;
    if (s->effect == SHARED) return &u->lds_free;
    return s->effect == SCALAR ? &u->scalar_free : NULL;
}
/* Before w's next instruction is issued: what is known of it by then. */
static ks_event *begin_event(unit *u, const runner *w, const step *s)
{
    const uint64_t *pipe = pipe_of(u, s), now = u->now * STEP;
    if (!u->timeline || w->group) return NULL;
    ks_event *e = add_event(u->timeline);
    if (!e) return NULL;
    *e = (ks_event){.inst = w->trace->at[w->at].inst,
                    .wave = (uint32_t)(w - u->wave),
                    .ready = w->ready * STEP,
                    .issue = now,
                    .from = pipe ? later(*pipe, now) : now};
    return e;
}
/* Once it is issued: its unit's time, and when its data is there. */
static void end_event(const unit *u, const runner *w, const step *s, ks_event *e)
{
    const uint64_t *pipe = pipe_of(u, s);
    if (!e) return;
    e->to = e->from;
    if (pipe)
        e->to = *pipe;
    else if ((s->effect == PLAIN || s->effect == MATRIX) && s->port != BRANCH)
        e->to += (uint64_t)s->busy * STEP;
    if (s->effect == MEMORY) e->done = when_left(&w->vm, 0) * STEP;
    if (s->effect == SHARED) e->done = when_left(&w->lds, 0) * STEP;
    if (s->effect == SCALAR)
        e->done = in_steps(u->scalar_free + CONSTANT(u, SCALAR_LATENCY)) * STEP;
}
static void issue(unit *u, runner *w, const step *s, uint32_t simd)
{
    ks_event *event = begin_event(u, w, s);
    const ks_trace_entry *e = &w->trace->at[w->at++];
    w->ready = u->now + 1;
    switch ((effect)s->effect) {
    case PLAIN:
        if (s->port == VALU) u->valu_free[simd] = u->now + s->busy;
        break;
    case MATRIX:
        u->valu_free[simd] = u->now + 1;
        u->matrix_free[simd] = u->now + s->busy;
        u->matrix_busy += s->busy;
        break;
    case MEMORY:
        access_memory(u, w, e->aux, s->flat);
        break;
    case SHARED:
        access_lds(u, w, e->aux);
        break;
    case SCALAR:
        access_scalar(u, w);
        break;
    case JUMP:
        if (w->at < w->trace->count && e[1].inst != e->inst + 1)
            w->ready = u->now + CONSTANT(u, BRANCH);
        break;
    case WAIT:
        break;
    case IDLE:
        w->ready = u->now + s->busy;
        break;
    case PRIORITY:
        w->priority = (uint8_t)s->busy;
        break;
    case SYNC:
        w->at_barrier = true;
        release(u, w->group);
        break;
    case END:
        break;
    }
    end_event(u, w, s, event);
    if (s->effect == END || w->at == w->trace->count) end(u, w);
}
/* The SIMD's next step: what it can issue now; the step when it next can. */
static uint64_t run_simd(unit *u, uint32_t simd)
{
    const uint32_t simds = CONSTANT(u, SIMDS);
    uint64_t next = UINT64_MAX;
    bool taken[NO_PORT] = {false};
    for (int priority = 3; priority >= 0; priority--)
        for (uint32_t i = simd; i < u->waves; i += simds) {
            runner *w = &u->wave[i];
            if (w->ended || w->at_barrier || w->priority != priority) continue;
            const uint32_t index = w->trace->at[w->at].inst;
            step *s = &u->step[index];
            if (!s->known) *s = step_of(u, u->inst + index);
            uint64_t at = w->ready > u->now ? w->ready : can_issue(u, w, s, u->inst + index, simd);
            if (at == u->now && s->port != NO_PORT && taken[s->port]) at++;
            if (at == u->now) {
                if (s->port != NO_PORT) taken[s->port] = true;
                issue(u, w, s, simd);
                at = u->now + 1;
            }
            next = at < next ? at : next;
        }
    return next;
}
static void run(unit *u)
{
    const uint32_t simds = CONSTANT(u, SIMDS);
    while (u->left) {
        uint64_t next = UINT64_MAX;
        u->wake = UINT64_MAX;
        for (uint32_t simd = 0; simd < simds; simd++) {
            const uint64_t at = run_simd(u, simd);
            next = at < next ? at : next;
        }
        next = next < u->wake ? next : u->wake;
        if (next == UINT64_MAX)
            break; /* no wave can go on: nothing that ran to its end gets here */
        if (u->left) u->now = next;
    }
}

/* How much longer the kernel is than what there was room to trace. */
static double rest(const ks_cost *c)
{
    double most = 1;
    for (uint32_t i = 0; i < c->waves; i++) {
        const ks_trace *t = &c->trace[i];
        if (t->count && (double)t->seen / t->count > most) most = (double)t->seen / t->count;
    }
    return most;
}
bool ks_cost_model(const ks_launch *l, const ks_cost *c, uint32_t groups, double *cycles,
                   double *matrix_share)
{
    unit u = {.arch = l->object->arch,
              .inst = l->object->inst,
              .waves = groups * c->waves,
              .per_group = c->waves,
              .latency = ks_options_get()->latency,
              .timeline = c->timeline};
    if (!u.latency) u.latency = CONSTANT(&u, GLOBAL_LATENCY);
    u.step = calloc(l->object->inst_count, sizeof(*u.step));
    u.wave = calloc(u.waves, sizeof(*u.wave));
    if (u.step && u.wave) {
        for (uint32_t i = 0; i < u.waves; i++) {
            u.wave[i].trace = &c->trace[i % c->waves];
            u.wave[i].group = i / c->waves;
            u.wave[i].ended = !u.wave[i].trace->count;
            u.left += !u.wave[i].ended;
        }
        run(&u);
        const double steps = (double)(u.now + 1);
        *cycles = steps * rest(c) * (double)STEP;
        *matrix_share = (double)u.matrix_busy / (steps * CONSTANT(&u, SIMDS));
    }
    const bool done = u.step && u.wave;
    free(u.step);
    free(u.wave);
    return done;
}
