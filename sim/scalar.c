// SPDX-License-Identifier: MIT
// Scalar registers and the framework of scalar instructions.  An instruction is a pure function of its sources, SCC
// and EXEC (scalar_ops.c); where a source has undefined bits, it is evaluated again with other values of them, and what
// differs is undefined in its result.
#include "replay.h"
#include "scalar.h"

static uint64_t special(const ks_wave *w, unsigned reg, uint64_t *undefined)
{
    switch (reg) {
    case KS_VCCZ: {
        uint64_t u = (uint64_t)w->su[KS_VCC + 1] << 32 | w->su[KS_VCC], vcc = ks_s64(w, KS_VCC);
        *undefined = u && !(vcc & ~u); /* a defined bit that is set decides */
        return !vcc;
    }
    case KS_EXECZ:
        return !ks_exec_of(w);
    case KS_SCC:
        *undefined = w->scc_u;
        return w->scc;
    }
    return 0;
}
uint64_t ks_scalar_read(ks_wave *w, const ks_operand *o, uint64_t *undefined)
{
    *undefined = 0;
    switch ((ks_where)o->where) {
    case KS_SGPR:
        if (o->count < 2) {
            *undefined = w->su[o->reg];
            return w->s[o->reg];
        }
        *undefined = (uint64_t)w->su[o->reg + 1] << 32 | w->su[o->reg];
        return ks_s64(w, o->reg);
    case KS_CONST:
        return o->value;
    case KS_SPECIAL:
        return special(w, o->reg, undefined);
    case KS_VGPR:
    case KS_ABSENT:
        break;
    }
    return 0;
}
static void write_exec(ks_wave *w, unsigned reg, unsigned count, uint64_t value, uint64_t undefined, uint32_t origin)
{
    uint64_t exec = ks_exec_of(w);
    if (undefined && w->undefined_checked)
        ks_report_undefined(w, w->inst, "EXEC", origin);
    if (count == 2)
        exec = value;
    else if (reg == KS_EXEC)
        exec = (exec & ~0xffffffffull) | (uint32_t)value;
    else
        exec = (exec & 0xffffffffull) | value << 32;
    ks_exec_set(w, exec);
}
void ks_scalar_write(ks_wave *w, unsigned reg, unsigned count, uint64_t value, uint64_t undefined, uint32_t origin)
{
    if (reg >= KS_EXEC) {
        write_exec(w, reg, count, value, undefined, origin);
        return;
    }
    if (undefined && origin == KS_NO_ORIGIN)
        origin = w->inst->pc;
    for (unsigned i = 0; i < count; i++) {
        w->s[reg + i] = (uint32_t)(value >> 32 * i);
        w->su[reg + i] = (uint32_t)(undefined >> 32 * i);
        w->s_origin[reg + i] = origin;
    }
}

uint32_t ks_scalar_origin(const ks_wave *w, const ks_operand *o)
{
    bool vccz = o->where == KS_SPECIAL && o->reg == KS_VCCZ;
    if (o->where == KS_SPECIAL && o->reg == KS_SCC)
        return w->scc_origin;
    if (o->where != KS_SGPR && !vccz)
        return KS_NO_ORIGIN;
    unsigned reg = vccz ? KS_VCC : o->reg, count = vccz ? 2 : o->count;
    for (unsigned i = 0; i < count; i++)
        if (w->su[reg + i] && w->s_origin[reg + i] != KS_NO_ORIGIN)
            return w->s_origin[reg + i];
    return KS_NO_ORIGIN;
}
void ks_report_undefined(ks_wave *w, const ks_inst *inst, const char *what, uint32_t origin)
{
    char line[256] = "";
    if (origin == KS_NO_ORIGIN)
        origin = inst->pc;
    if (ks_replay_used(w, origin))
        return;
    if (w->launch->object && origin != inst->pc)
        ks_object_line(w->launch->object, origin, line, sizeof line);
    ks_report(w, inst, KILNSIM_UNDEFINED, -1, 0,
              "%s depends on a register or byte of memory that was never written (first read at 0x%x%s%s): "
              "give it a value first", what, origin, *line ? ", " : "", line);
}
bool ks_scalar_need(ks_wave *w, const ks_inst *inst, const ks_operand *o, const char *what, uint64_t *value)
{
    uint64_t undefined;
    *value = ks_scalar_read(w, o, &undefined);
    if (!undefined || !w->undefined_checked)
        return true;
    ks_report_undefined(w, inst, what, ks_scalar_origin(w, o));
    return false;
}

/* ---- Evaluation with other values of undefined bits ---- */
enum { FILL_ZERO, FILL_ONES, FILL_OTHER, FILL_HASH, FILL_COUNT = 16 };
typedef struct sources {
    const ks_operand *o[3];
    uint64_t value[3], undefined[3]; /* s[0], s[1]; [2]: the old destination */
    bool scc_in;
} sources;

static uint32_t hash(uint32_t n, uint32_t reg)
{
    uint32_t h = (n << 8 ^ reg) * 0x9e3779b1u;
    h = (h ^ h >> 15) * 0x85ebca6bu;
    return h ^ h >> 13;
}
/* A register has the same fill wherever it is read, so that x ^ x is found to be defined. */
static uint64_t fill(const sources *s, unsigned source, unsigned n)
{
    unsigned reg = s->o[source]->reg;
    switch (n) {
    case FILL_ZERO: return 0;
    case FILL_ONES: return UINT64_MAX;
    case FILL_OTHER: return s->value[source ? 0 : 1]; /* equality is seldom met by chance */
    default: return (uint64_t)hash(n, reg + 1) << 32 | hash(n, reg);
    }
}
typedef struct result { /* what differs from the first evaluation */
    uint64_t d, exec;
    bool scc;
} result;
static void evaluate(ks_scalar *k, const ks_inst *inst, const ks_scalar *first, result *differs)
{
    inst->op->scalar(k);
    differs->d |= k->d ^ first->d;
    differs->scc |= k->scc != first->scc;
    if (inst->op->flags & KS_F_EXEC_OUT)
        differs->exec |= k->s[2] ^ first->s[2];
}
static ks_scalar given(const ks_wave *w, const ks_inst *inst, const sources *s)
{
    ks_scalar k = {.scc = w->scc, .inst = inst, .s = {s->value[0], s->value[1], s->value[2]}};
    return k;
}
/* One bit, counted from register reg, in every source that has its register. */
static void flip(ks_scalar *k, const sources *s, unsigned reg, unsigned bit)
{
    for (unsigned i = 0; i < 3; i++)
        for (unsigned half = 0; s->undefined[i] && half < 2; half++)
            if (s->o[i]->reg + half == reg + bit / 32)
                k->s[i] ^= (1ull << bit % 32 << 32 * half) & s->undefined[i];
}
static uint32_t origin_of(const ks_wave *w, const ks_inst *inst, const sources *s)
{
    for (unsigned i = 0; i < 3; i++)
        if (s->undefined[i]) {
            uint32_t origin = ks_scalar_origin(w, s->o[i]);
            if (origin != KS_NO_ORIGIN)
                return origin;
        }
    return s->scc_in && w->scc_u && w->scc_origin != KS_NO_ORIGIN ? w->scc_origin : inst->pc;
}
static void finish(ks_wave *w, const ks_inst *inst, const ks_scalar *k, const result *u, uint32_t origin)
{
    uint32_t flags = inst->op->flags;
    if (inst->nd)
        ks_scalar_write(w, inst->d[0].reg, inst->d[0].count, k->d, u->d, origin);
    if (flags & KS_F_SCC_OUT) {
        w->scc = k->scc;
        w->scc_u = u->scc;
        w->scc_origin = origin;
    }
    if (flags & KS_F_EXEC_OUT)
        write_exec(w, KS_EXEC, 2, k->s[2], u->exec, origin);
}
static void run_undefined(ks_wave *w, const ks_inst *inst, const sources *s)
{
    ks_scalar first = given(w, inst, s);
    bool scc_u = s->scc_in && w->scc_u;
    result differs = {0};
    inst->op->scalar(&first);
    for (unsigned n = 0; n < FILL_COUNT; n++) {
        ks_scalar k = given(w, inst, s);
        for (unsigned i = 0; i < 3; i++)
            if (s->undefined[i])
                k.s[i] = (k.s[i] & ~s->undefined[i]) | (fill(s, i, n) & s->undefined[i]);
        if (scc_u)
            k.scc = n & 1;
        evaluate(&k, inst, &first, &differs);
    }
    for (unsigned i = 0; i < 3; i++)
        for (uint64_t left = s->undefined[i]; left; left &= left - 1) {
            ks_scalar k = given(w, inst, s);
            flip(&k, s, s->o[i]->reg, (unsigned)__builtin_ctzll(left));
            evaluate(&k, inst, &first, &differs);
        }
    if (scc_u) {
        ks_scalar k = given(w, inst, s);
        k.scc = !k.scc;
        evaluate(&k, inst, &first, &differs);
    }
    finish(w, inst, &first, &differs, origin_of(w, inst, s));
}
void ks_run_scalar(ks_wave *w, const ks_inst *inst)
{
    static const result defined;
    uint32_t flags = inst->op->flags;
    sources s;
    uint64_t any = 0;
    s.scc_in = flags & KS_F_SCC_IN;
    s.value[0] = s.value[1] = s.value[2] = 0;
    s.undefined[0] = s.undefined[1] = s.undefined[2] = 0;
    for (unsigned i = 0; i < 2 && i < inst->ns; i++) {
        s.o[i] = &inst->s[i];
        s.value[i] = ks_scalar_read(w, s.o[i], &s.undefined[i]);
        any |= s.undefined[i];
    }
    if (flags & KS_F_EXEC_IN) {
        s.value[2] = ks_exec_of(w);
    } else if (flags & KS_F_DST_IN) {
        s.o[2] = &inst->d[0];
        s.value[2] = ks_scalar_read(w, s.o[2], &s.undefined[2]);
        any |= s.undefined[2];
    }
    if ((any || (s.scc_in && w->scc_u)) && w->undefined_checked) {
        run_undefined(w, inst, &s);
        return;
    }
    ks_scalar k = given(w, inst, &s);
    inst->op->scalar(&k);
    finish(w, inst, &k, &defined, KS_NO_ORIGIN);
}
