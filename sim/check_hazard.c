// SPDX-License-Identifier: MIT
// Too few wait states between two instructions.  The rules are hazard_table.h's.  Most instructions
// are done with two tests: do the last five wait states hold a kind that some rule makes this one
// wait for, and did a matrix instruction write or read its registers a moment ago?  Only then are
// the rules gone through.  s_nop N is N + 1 wait states, a branch that is taken KS_TAKEN_STATES,
// every other instruction one, s_waitcnt too, as the compilers count.
#include <pthread.h>
#include <string.h>
#include "hazard_table.h"
#include "mfma.h"

#define K(kind) KS_K_##kind
#define MATRIX  KS_K_MATRIX
#define DGEMM   (KS_K_DGEMM4 | KS_K_DGEMM16)
enum {
    BIT_GFX90A = 1 << KS_GFX90A,
    BIT_GFX942 = 1 << KS_GFX942,
    BIT_BOTH = BIT_GFX90A | BIT_GFX942
};
#define X(arches, first, second, relation, per_pass, more)                                         \
    {BIT_##arches, first, second, KS_REL_##relation, per_pass, more},
const ks_rule ks_rules[] = {KS_HAZARDS(X)};
#undef X
const size_t ks_rule_count = sizeof(ks_rules) / sizeof(ks_rules[0]);
static const char *const relation_text[KS_RELATION_COUNT] = {
#define X(name, text) text,
    KS_RELATIONS(X)
#undef X
};
#define KS_PRODUCERS (KS_SHORT_MASK | KS_K_MATRIX)

/* What names alone say; the first row that the name begins with counts. */
static const struct named {
    const char *begins;
    uint64_t kinds;
} named[] = {
    {"v_dot", KS_K_DOT},
    {"v_exp_", KS_K_TRANS},
    {"v_log_", KS_K_TRANS},
    {"v_rcp_", KS_K_TRANS},
    {"v_rsq_", KS_K_TRANS},
    {"v_sqrt_", KS_K_TRANS},
    {"v_sin_", KS_K_TRANS},
    {"v_cos_", KS_K_TRANS},
    {"v_readlane_", KS_K_LANE | KS_K_READ_LANE | KS_K_SELECT},
    {"v_readfirstlane_", KS_K_LANE | KS_K_READ_LANE},
    {"v_writelane_", KS_K_LANE | KS_K_SELECT},
    {"v_div_fmas_", KS_K_FMAS},
    {"v_fma_f64", KS_K_FMA64},
    {"v_fmac_f64", KS_K_FMA64},
    {"s_setreg_", KS_K_SETREG},
    {"s_getreg_", KS_K_GETREG},
    {"s_sendmsg", KS_K_READS_M0},
    {"s_movrel", KS_K_READS_M0},
    {"ds_read_addtid_", KS_K_READS_M0},
    {"ds_write_addtid_", KS_K_READS_M0},
    {"s_waitcnt", KS_K_WAIT},
    {"buffer_wbl2", KS_K_BY_VM},
};

static unsigned passes(const ks_inst *inst, ks_arch arch)
{
    return ks_mfma_form_of(inst->op)->cycles[arch] / 4u;
}
static const ks_operand *addend(const ks_inst *inst)
{
    return &inst->s[ks_mfma_form_of(inst->op)->sparse ? 3 : 2];
}

/* ---- Kinds ---- */
static uint64_t kinds_of_class(const ks_inst *inst, ks_arch arch)
{
    switch ((ks_class)inst->op->class) {
    case KS_VALU_OP:
    case KS_TRANS_OP:
    case KS_F64_OP:
        return KS_K_VALU;
    case KS_MFMA_OP: {
        const ks_mfma_form *f = ks_mfma_form_of(inst->op);
        if (f->a == KS_MFMA_F64) return f->m == 4 ? KS_K_DGEMM4 : KS_K_DGEMM16;
        return f->a == KS_MFMA_F32 && arch == KS_GFX942 ? KS_K_SGEMM : KS_K_XDL;
    }
    case KS_GLOBAL_OP:
    case KS_BUFFER_OP:
    case KS_SCRATCH_OP:
        return KS_K_VMEM | KS_K_BY_VM;
    case KS_FLAT_OP:
        return KS_K_VMEM | KS_K_BY_FLAT;
    case KS_LDS_OP:
        return KS_K_DS | KS_K_BY_DS;
    case KS_SMEM_OP:
        return inst->nd ? KS_K_BY_SMEM : 0;
    case KS_SALU_OP:
    case KS_BRANCH_OP:
    case KS_WAIT_OP:
    case KS_NOP_OP:
    case KS_BARRIER_OP:
    case KS_MESSAGE_OP:
    case KS_CACHE_OP:
    case KS_CLASS_COUNT:
        break;
    }
    return 0;
}
static uint64_t kinds_of_name(const char *name)
{
    for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
        if (!strncmp(name, named[i].begins, strlen(named[i].begins))) return named[i].kinds;
    return 0;
}
static uint64_t kinds_of_results(const ks_inst *inst, uint64_t kinds)
{
    enum { DWORD = 6, OP_SEL_RESULT = 8 };
    const bool valu = kinds & KS_K_VALU;
    uint64_t more = 0;
    for (unsigned i = 0; i < inst->nd; i++) {
        const ks_operand *d = &inst->d[i];
        const bool exec = d->where == KS_SGPR && ks_overlap(d->reg, d->count, KS_EXEC, 2);
        if (d->where == KS_VGPR && valu) {
            more |= kinds & KS_K_DOT ? 0 : KS_K_WRITES_V;
            if (inst->sdwa ? inst->dst_sel != DWORD
                           : inst->encoding == KS_VOP3 && (inst->op_sel & OP_SEL_RESULT))
                more |= KS_K_MOVES;
        }
        if (d->where == KS_SGPR && valu)
            more |= exec ? KS_K_WRITES_S | KS_K_WRITES_EXEC : KS_K_WRITES_S;
        if (d->where == KS_SGPR && inst->op->class == KS_SALU_OP &&
            ks_overlap(d->reg, d->count, KS_M0, 1))
            more |= KS_K_SALU_M0;
    }
    if (valu && (inst->op->flags & KS_F_EXEC_OUT)) more |= KS_K_WRITES_EXEC;
    return more;
}
/* The data of a store of more than 64 bits; a buffer store whose offset is in an SGPR takes its
 * time anyway. */
static const ks_operand *wide_data(const ks_inst *inst)
{
    const bool buffer = inst->op->class == KS_BUFFER_OP;
    const ks_operand *data = &inst->s[buffer ? 3 : 2];
    if (!(inst->op->flags & (KS_F_STORE | KS_F_ATOMIC)) || (buffer && inst->s[2].where == KS_SGPR))
        return NULL;
    return data->where == KS_VGPR && data->count > 2 ? data : NULL;
}
static bool has(const ks_operand *o, unsigned n, ks_where where)
{
    for (unsigned i = 0; i < n; i++)
        if (o[i].where == where) return true;
    return false;
}
/* Whether this relation can hold for that second instruction at all. */
static bool possible(ks_relation r, const ks_inst *c)
{
    switch (r) {
    case KS_REL_V_READ:
    case KS_REL_V_READ_PAST_DGEMM:
    case KS_REL_V_AB_SAME_OP:
    case KS_REL_AB:
    case KS_REL_C_SAME:
    case KS_REL_C_SAME_2:
    case KS_REL_C_PART:
        return has(c->s, c->ns, KS_VGPR);
    case KS_REL_V_WRITE:
    case KS_REL_WRITE_C:
    case KS_REL_WRITE_DATA:
        return has(c->d, c->nd, KS_VGPR);
    case KS_REL_S_CONST:
    case KS_REL_EXEC_READ:
        for (unsigned i = 0; i < c->ns; i++)
            if (c->s[i].where == KS_SGPR && c->s[i].type != KS_MASK) return true;
        return false;
    case KS_REL_S_LANE:
        return has(c->s, c->ns, KS_SGPR);
    case KS_REL_ZERO_FLAG:
        return has(c->s, c->ns, KS_SPECIAL);
    case KS_REL_V_USE_OTHER_OP:
    case KS_REL_S_READ:
    case KS_REL_VCC:
    case KS_REL_EXEC:
    case KS_REL_M0:
    case KS_REL_HWREG:
    case KS_REL_NEXT:
    case KS_RELATION_COUNT:
        break;
    }
    return true;
}
static uint64_t wants_and_reach(const ks_inst *inst, ks_arch arch, uint64_t kinds)
{
    uint64_t wants = 0;
    int reach = 0;
    for (size_t i = 0; i < ks_rule_count; i++) {
        const ks_rule *r = &ks_rules[i];
        if (!(r->arches & 1 << arch)) continue;
        if ((r->second & kinds) && possible((ks_relation)r->relation, inst))
            wants |= r->first & KS_SHORT_MASK;
        if (!(r->first & kinds & MATRIX)) continue;
        const int need = r->per_pass * (int)passes(inst, arch) + r->more;
        if (need > reach) reach = need;
    }
    return wants << KS_WANTS_SHIFT | (uint64_t)(reach > KS_LONGEST ? KS_LONGEST : reach)
                                         << KS_REACH_SHIFT;
}
uint64_t ks_hazard_kinds(const ks_inst *inst, ks_arch arch)
{
    uint64_t kinds = 0, states = 1;
    if (inst->op) {
        const uint64_t vector_names = KS_K_DOT | KS_K_TRANS | KS_K_FMA64;
        kinds = kinds_of_class(inst, arch);
        const uint64_t by_name = kinds_of_name(inst->op->name);
        kinds |= kinds & KS_K_VALU ? by_name : by_name & ~vector_names;
        if ((kinds & KS_K_VALU) && !(kinds & KS_K_TRANS)) kinds |= KS_K_NO_TRANS;
        kinds |= kinds_of_results(inst, kinds);
        if (inst->dpp) kinds |= KS_K_DPP;
        if (kinds & KS_K_VMEM) {
            if (wide_data(inst)) kinds |= KS_K_WIDE_STORE;
            if (inst->lds || (inst->op->flags & KS_F_LDS_DIRECT)) kinds |= KS_K_READS_M0;
        }
        if ((kinds & KS_K_DS) && inst->gds) kinds |= KS_K_READS_M0;
        if (inst->op->class == KS_NOP_OP && !strcmp(inst->op->name, "s_nop"))
            states = (uint64_t)(inst->imm & 15) + 1;
        kinds |= wants_and_reach(inst, arch, kinds);
    }
    kinds |= states << KS_STATES_SHIFT | 1ull << KS_KNOWN_SHIFT;
    __atomic_store_n(&((ks_inst *)(uintptr_t)inst)->check, kinds, __ATOMIC_RELAXED);
    return kinds;
}

/* ---- Relations ---- */
static bool meets(const ks_operand *a, unsigned an, const ks_operand *b, unsigned bn,
                  ks_where where)
{
    for (unsigned i = 0; i < an; i++)
        for (unsigned k = 0; k < bn; k++)
            if (a[i].where == where && b[k].where == where &&
                ks_overlap(a[i].reg, a[i].count, b[k].reg, b[k].count))
                return true;
    return false;
}
static bool reads(const ks_inst *c, const ks_inst *p)
{
    return meets(c->s, c->ns, p->d, p->nd, KS_VGPR);
}
static bool writes_scalar(const ks_inst *p, unsigned reg, unsigned count)
{
    for (unsigned i = 0; i < p->nd; i++)
        if (p->d[i].where == KS_SGPR && ks_overlap(p->d[i].reg, p->d[i].count, reg, count))
            return true;
    return false;
}
static bool reads_as_constant(const ks_inst *c, const ks_inst *p)
{
    for (unsigned i = 0; i < c->ns; i++)
        if (c->s[i].type != KS_MASK && meets(&c->s[i], 1, p->d, p->nd, KS_SGPR)) return true;
    return false;
}
static bool reads_flag(const ks_inst *c, const ks_near *p)
{
    for (unsigned i = 0; i < c->ns; i++)
        if (c->s[i].where == KS_SPECIAL &&
            ((c->s[i].reg == KS_VCCZ && writes_scalar(p->inst, KS_VCC, 2)) ||
             (c->s[i].reg == KS_EXECZ && (p->kinds & KS_K_WRITES_EXEC))))
            return true;
    return false;
}
static bool reads_a_or_b(const ks_inst *c, const ks_inst *p)
{
    const unsigned n = ks_mfma_form_of(c->op)->sparse ? 3 : 2;
    return meets(c->s, n, p->d, p->nd, KS_VGPR);
}
static bool reads_same(const ks_inst *c, const ks_inst *p)
{
    const ks_operand *a = addend(c);
    return a->where == KS_VGPR && a->reg == p->d[0].reg && a->count == p->d[0].count;
}
static bool related(ks_relation r, const ks_near *first, const ks_inst *c, uint64_t kinds,
                    ks_arch arch)
{
    const ks_inst *p = first->inst;
    const ks_operand exec = {.where = KS_SGPR, .reg = KS_EXEC, .count = 2};
    switch (r) {
    case KS_REL_V_READ:
    case KS_REL_V_READ_PAST_DGEMM:
        return reads(c, p);
    case KS_REL_V_WRITE:
        return meets(c->d, c->nd, p->d, p->nd, KS_VGPR);
    case KS_REL_V_USE_OTHER_OP:
        return c->op != p->op && (reads(c, p) || ((kinds & (KS_K_VALU | MATRIX)) &&
                                                  meets(c->d, c->nd, p->d, p->nd, KS_VGPR)));
    case KS_REL_V_AB_SAME_OP:
        return c->op == p->op && meets(c->s, 2, p->d, p->nd, KS_VGPR);
    case KS_REL_AB:
        return reads_a_or_b(c, p);
    case KS_REL_C_SAME:
        return reads_same(c, p);
    case KS_REL_C_SAME_2:
        return passes(p, arch) == 2 && reads_same(c, p);
    case KS_REL_C_PART:
        return !reads_same(c, p) && meets(addend(c), 1, p->d, p->nd, KS_VGPR);
    case KS_REL_WRITE_C:
        return meets(c->d, c->nd, addend(p), 1, KS_VGPR);
    case KS_REL_WRITE_DATA:
        return meets(c->d, c->nd, wide_data(p), 1, KS_VGPR);
    case KS_REL_S_READ:
        return meets(c->s, c->ns, p->d, p->nd, KS_SGPR) ||
               ((kinds & KS_K_READS_M0) && writes_scalar(p, KS_M0, 1));
    case KS_REL_S_CONST:
        return reads_as_constant(c, p);
    case KS_REL_S_LANE:
        return c->ns > 1 && meets(&c->s[1], 1, p->d, p->nd, KS_SGPR);
    case KS_REL_VCC:
        return writes_scalar(p, KS_VCC, 2);
    case KS_REL_EXEC_READ:
        return meets(c->s, c->ns, &exec, 1, KS_SGPR);
    case KS_REL_ZERO_FLAG:
        return reads_flag(c, first);
    case KS_REL_HWREG:
        return ((p->imm ^ c->imm) & 63) == 0;
    case KS_REL_EXEC:
    case KS_REL_M0:
    case KS_REL_NEXT:
    case KS_RELATION_COUNT:
        break;
    }
    return true;
}

/* ---- Checks ---- */
static uint64_t windows[KS_ARCH_COUNT]; /* of ks_waits.recent: the kinds that some rule looks for
                                           that far back */
enum { MOST_RULES = 16 };
static struct { /* of a target: the rules about a first instruction of this kind */
    uint8_t count, rule[MOST_RULES];
} about[KS_ARCH_COUNT][KS_BIT_DGEMM16 + 1];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void index_rule(ks_arch arch, uint8_t i)
{
    const ks_rule *r = &ks_rules[i];
    for (unsigned kind = 0; kind <= KS_BIT_DGEMM16; kind++)
        if ((r->first >> kind & 1) && about[arch][kind].count < MOST_RULES)
            about[arch][kind].rule[about[arch][kind].count++] = i;
    for (int n = 0; !r->per_pass && n < r->more && n < KS_SHORT_STATES; n++)
        windows[arch] |= (r->first & KS_SHORT_MASK) << n * KS_SHORT;
}
static void index_rules(void)
{
    for (ks_arch arch = 0; arch < KS_ARCH_COUNT; arch++)
        for (size_t i = 0; i < ks_rule_count; i++)
            if (ks_rules[i].arches & 1 << arch) index_rule(arch, (uint8_t)i);
}
void ks_hazard_reset(ks_waits *t)
{
    pthread_once(&once, index_rules);
    t->clock = 0;
    t->recent = 0;
    t->matrix_until = 0;
    t->near_count = 0;
    t->follows = NULL;
    memset(t->written_until, 0, sizeof(t->written_until));
    memset(t->read_until, 0, sizeof(t->read_until));
}

static void report(ks_wave *w, ks_waits *t, const ks_inst *inst, const ks_near *first,
                   const ks_rule *rule, int need)
{
    const int between = (int)(t->clock - first->at) - 1, missing = need - between;
    char nops[32], place[256];
    if (missing > 16)
        snprintf(nops, sizeof(nops), "s_nop 15 and s_nop %d", missing - 17);
    else
        snprintf(nops, sizeof(nops), "s_nop %d", missing - 1);
    ks_place(w, first->inst, place, sizeof(place));
    ks_report(w, inst, KILNSIM_HAZARD, -1, 0,
              "%s comes %d wait state%s after %s at 0x%x%s and %s; %d needed: insert %s",
              inst->op->name, between, between == 1 ? "" : "s", first->inst->op->name,
              first->inst->pc, place, relation_text[rule->relation], need, nops);
    /* What follows is judged as if they were there, so that one missing s_nop is one finding. */
    t->clock += (uint64_t)missing;
    t->recent = missing < KS_SHORT_STATES ? t->recent << missing * KS_SHORT : 0;
}
typedef struct verdict {
    const ks_near *first;
    const ks_rule *rule;
    int need, missing;
} verdict;
/* The rules about one earlier instruction: the one that is broken most. */
static void judge_pair(const ks_waits *t, const ks_near *first, const ks_inst *inst, uint64_t kinds,
                       uint64_t firsts, bool past_dgemm, verdict *worst)
{
    const int between = (int)(t->clock - first->at) - 1;
    for (uint64_t left = firsts; left; left &= left - 1) {
        const unsigned kind = (unsigned)__builtin_ctzll(left);
        for (unsigned i = 0; i < about[t->arch][kind].count; i++) {
            const ks_rule *r = &ks_rules[about[t->arch][kind].rule[i]];
            if (!(r->second & kinds)) continue;
            const int need = r->more + (r->per_pass ? (int)passes(first->inst, t->arch) : 0);
            if (need - between <= worst->missing ||
                (r->relation == KS_REL_V_READ_PAST_DGEMM && !past_dgemm) ||
                !related((ks_relation)r->relation, first, inst, kinds, t->arch))
                continue;
            *worst = (verdict){first, r, need, need - between};
        }
    }
}
/* matrix: one of these may matter, from as far back as any does. */
static void judge(ks_wave *w, ks_waits *t, const ks_inst *inst, uint64_t kinds, bool matrix)
{
    verdict worst = {NULL, NULL, 0, 0};
    const uint64_t wants = (kinds >> KS_WANTS_SHIFT & KS_SHORT_MASK) | (matrix ? MATRIX : 0);
    const int farthest = matrix ? KS_LONGEST : KS_SHORT_STATES;
    bool past_dgemm = false;
    for (uint32_t n = t->near_count; n > 0 && t->near_count - n < KS_NEAR; n--) {
        const ks_near *first = &t->near[(n - 1) % KS_NEAR];
        if ((int)(t->clock - first->at) - 1 >= farthest) break;
        if (first->kinds & wants)
            judge_pair(t, first, inst, kinds, first->kinds & wants, past_dgemm, &worst);
        past_dgemm |= (first->kinds & DGEMM) != 0;
    }
    if (worst.first) report(w, t, inst, worst.first, worst.rule, worst.need);
}

static bool any_after(const uint64_t *until, const ks_operand *o, uint64_t clock)
{
    uint64_t most = 0;
    for (unsigned i = 0; i < o->count; i++)
        most = until[o->reg + i] > most ? until[o->reg + i] : most;
    return most > clock;
}
/* The addend is exactly what one earlier instruction wrote: forwarded, unless that had two passes
 * or was 4x4 of f64. */
static bool forwarded(const ks_waits *t, const ks_operand *c)
{
    const uint64_t *until = t->written_until + c->reg;
    const ks_near *n = &t->near[t->writer[c->reg]];
    if (n->inst->d[0].reg != c->reg || n->inst->d[0].count != c->count) return false;
    for (unsigned i = 1; i < c->count; i++)
        if (until[i] != until[0]) return false;
    return !(n->kinds & KS_K_DGEMM4) && passes(n->inst, t->arch) > 2;
}
static bool near_matrix(const ks_waits *t, const ks_inst *inst, uint64_t kinds)
{
    const ks_operand *c = kinds & MATRIX ? addend(inst) : NULL;
    for (unsigned i = 0; i < inst->ns; i++) {
        const ks_operand *s = &inst->s[i];
        if (s->where == KS_VGPR && any_after(t->written_until, s, t->clock) &&
            !(s == c && forwarded(t, s)))
            return true;
    }
    for (unsigned i = 0; !c && i < inst->nd; i++)
        if (inst->d[i].where == KS_VGPR && (any_after(t->written_until, &inst->d[i], t->clock) ||
                                            any_after(t->read_until, &inst->d[i], t->clock)))
            return true;
    return (kinds & KS_K_FMA64) != 0;
}

static void note_matrix(ks_waits *t, const ks_inst *inst, uint64_t kinds)
{
    const ks_operand *c = addend(inst), *d = &inst->d[0];
    const uint64_t until = t->clock + 1 + (kinds >> KS_REACH_SHIFT & 31);
    if (until > t->matrix_until) t->matrix_until = until;
    for (unsigned i = 0; i < d->count; i++) {
        t->written_until[d->reg + i] = until;
        t->writer[d->reg + i] = (uint8_t)(t->near_count % KS_NEAR);
    }
    for (unsigned i = 0; c->where == KS_VGPR && i < c->count; i++)
        t->read_until[c->reg + i] = until;
}
void ks_hazard_check(ks_wave *w, ks_waits *t, const ks_inst *inst, uint64_t kinds)
{
    if (inst != t->follows) { /* by a branch */
        t->recent = t->recent << (KS_TAKEN_STATES - 1) * KS_SHORT;
        t->clock += KS_TAKEN_STATES - 1;
    }
    t->follows = inst + 1;
    const uint64_t recent = t->recent & windows[t->arch];
    const uint64_t folded = recent | recent >> KS_SHORT | recent >> 2 * KS_SHORT |
                            recent >> 3 * KS_SHORT | recent >> 4 * KS_SHORT;
    const uint64_t states = kinds >> KS_STATES_SHIFT & 31;
    const bool matrix = t->clock < t->matrix_until &&
                        (kinds & (KS_K_VALU | KS_K_VMEM | KS_K_DS | MATRIX)) &&
                        near_matrix(t, inst, kinds);
    if (matrix || (folded & KS_SHORT_MASK & kinds >> KS_WANTS_SHIFT))
        judge(w, t, inst, kinds, matrix);
    t->recent =
        states < KS_SHORT_STATES ? t->recent << states * KS_SHORT | (kinds & KS_SHORT_MASK) : 0;
    if (kinds & KS_PRODUCERS) {
        if (kinds & MATRIX) note_matrix(t, inst, kinds);
        t->near[t->near_count++ % KS_NEAR] = (ks_near){inst, kinds, t->clock};
    }
    t->clock += states;
}
