// SPDX-License-Identifier: MIT
// Runs a vector instruction: fetches sources as rows (vec_fetch.c), calls the op's pure function,
// finishes and stores its results under EXEC.  Undefined bits: where a source has some, the
// function is called again with other values in their place, and result bits that then differ are
// undefined; so what a bit does not depend on cannot taint it.
#include <fenv.h>
#include "vec_lanes.h"

#if defined(FE_UPWARD) && defined(FE_DOWNWARD) && defined(FE_TOWARDZERO)
static const int rounding[4] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
#endif

static unsigned op_regs(const ks_operand *o)
{
    return o->count ? o->count : ks_types[o->type].regs;
}

/* s_set_gpr_idx: M0 has the index and, from bit 12, to which of src0, src1, src2, dst it is added.
   Past the wave's registers v0 is read and nothing is written. */
static void gpr_index(ks_job *j)
{
    const ks_inst *in = j->in;
    unsigned end = ks_vgprs_of(j->w->launch->kernel);
    unsigned m0 = j->w->s[KS_M0], index = m0 & 0xffu;
    for (unsigned n = 0; n < in->ns && n < 3; n++)
        if (in->s[n].where == KS_VGPR && (m0 >> (12 + n) & 1u)) {
            unsigned reg = j->s[n] + index;
            j->s[n] = (uint16_t)(reg + op_regs(&in->s[n]) <= end ? reg : 0);
        }
    if (in->d[0].where == KS_VGPR && (m0 >> 15 & 1u)) {
        unsigned reg = j->d[0] + index;
        if (reg + op_regs(&in->d[0]) <= end)
            j->d[0] = (uint16_t)reg;
        else
            j->lanes = 0;
        if (j->flags & KS_F_DST_IN) j->s[in->ns - 1] = j->d[0];
    }
}

/* Whether the sources need more than their rows as they are. */
static bool is_fancy(const ks_wave *w, const ks_inst *in, uint32_t flags)
{
    if (in->op->class == KS_MFMA_OP) return false;
    if (in->dpp | in->sdwa | in->abs | in->neg | in->neg_hi | (in->op_sel & 7) | (flags & KS_F_MIX))
        return true;
    unsigned all = (1u << in->ns) - 1;
    return (in->encoding == KS_VOP3P && (in->op_sel_hi & all) != all) || (w->mode & 0x50u) != 0x50u;
}

/* The function itself, in MODE's rounding direction; then omod, clamp and denormals. */
static void evaluate(ks_job *j)
{
    const ks_inst *in = j->in;
    const ks_op *op = in->op;
    if (op->class == KS_MFMA_OP) {
        op->lanes(&j->k);
        return;
    }
    uint32_t mode = j->w->mode;
    unsigned type = in->d[0].type;
    unsigned round = ks_mode_round(mode, type == KS_F32 || type == KS_V2F32);
    if (round) {
        fesetround(rounding[round]);
        op->lanes(&j->k);
        fesetround(FE_TONEAREST);
    } else {
        op->lanes(&j->k);
    }
    if ((mode & 0xa0u) != 0xa0u || in->clamp || in->omod)
        for (unsigned n = 0; n < in->nd; n++) KS_V(ks_finish)(j, n);
}

static bool overlaps(unsigned a, unsigned a_count, unsigned b, unsigned b_count)
{
    return a < b + b_count && b < a + a_count;
}

/* Whether the function may write its result into the register itself: all lanes, the whole
   register, and for functions that look at other lanes no source there except the same registers as
   accumulator. */
static bool in_place(const ks_job *j, unsigned n)
{
    const ks_inst *in = j->in;
    const ks_operand *d = &in->d[n];
    if (d->where != KS_VGPR || j->lanes != ~0ull || (j->part && n == 0)) return false;
    if (in->op->class == KS_MFMA_OP) /* these read C as they go, other sources before */
        return in->s[2].where != KS_VGPR || j->s[2] == j->d[n] ||
               !overlaps(j->s[2], op_regs(&in->s[2]), j->d[n], op_regs(d));
    if (!(j->flags & KS_F_WHOLE)) return true;
    for (unsigned i = 0; i < in->ns; i++)
        if (in->s[i].where == KS_VGPR && overlaps(j->s[i], op_regs(&in->s[i]), j->d[n], op_regs(d)))
            return false;
    return true;
}

/* ---- Results ---- */
static bool merge_undefined(ks_wave *w, unsigned reg, const uint32_t *undefined,
                            const uint32_t *mask)
{
    uint32_t *u = w->vu[reg], any = 0;
    bool was_clean = w->v_clean[reg];
    for (int i = 0; i < KS_LANES; i++) {
        uint32_t old = was_clean ? 0 : u[i];
        u[i] = (old & ~mask[i]) | (undefined[i] & mask[i]);
        any |= u[i];
    }
    w->v_clean[reg] = any == 0;
    return ks_any(undefined, mask) != 0;
}
static void clear_undefined(ks_job *j, unsigned reg)
{
    ks_wave *w = j->w;
    if (w->v_clean[reg]) return;
    if (j->lanes == ~0ull) {
        w->v_clean[reg] = 1;
        return;
    }
    uint32_t any = 0, *u = w->vu[reg];
    for (int i = 0; i < KS_LANES; i++) any |= u[i] &= ~j->mask[i];
    w->v_clean[reg] = any == 0;
}

static void blend(uint32_t *to, const uint32_t *row, const uint32_t *mask)
{
    KS_VECTOR_LOOP
    for (int i = 0; i < KS_LANES; i++) to[i] = (to[i] & ~mask[i]) | (row[i] & mask[i]);
}
static void store_vector(ks_job *j, unsigned n, const uint32_t *undefined, uint32_t origin)
{
    ks_wave *w = j->w;
    bool part = j->part && n == 0;
    for (unsigned r = 0; r < op_regs(&j->in->d[n]); r++) {
        unsigned reg = j->d[n] + r;
        uint32_t *row = j->k.d[n] + r * KS_LANES, *to = w->v[reg];
        if (part) KS_V(ks_place)(j, row, to);
        if (row != to) {
            if (j->lanes == ~0ull)
                memcpy(to, row, KS_LANES * 4);
            else
                blend(to, row, j->mask);
        }
        if (!w->undefined_checked) continue;
        if (!undefined) {
            clear_undefined(j, reg);
            continue;
        }
        uint32_t u[KS_LANES], none[KS_LANES] = {0};
        memcpy(u, undefined + r * KS_LANES, sizeof(u));
        if (part) KS_V(ks_place)(j, u, w->v_clean[reg] ? none : w->vu[reg]);
        if (merge_undefined(w, reg, u, j->mask)) w->v_origin[reg] = origin;
    }
}

static void store_mask(ks_job *j, unsigned n, const uint32_t *undefined, uint32_t origin)
{
    ks_wave *w = j->w;
    const ks_operand *d = &j->in->d[n];
    uint64_t bits = ks_gather_mask(j->k.d[n]) & j->lanes;
    uint64_t u = undefined ? ks_gather_mask(undefined) & j->lanes : 0;
    if (d->where == KS_SGPR) ks_scalar_write(w, d->reg, 2, bits, u, origin);
    if ((j->flags & KS_F_EXEC_OUT) && d->reg != KS_EXEC)
        ks_scalar_write(w, KS_EXEC, 2, bits, u, origin);
}

static void store(ks_job *j, const uint32_t *const undefined[2], uint32_t origin)
{
    /* A carry or mask goes last: EXEC may be among them. */
    for (unsigned n = 0; n < j->in->nd; n++)
        if (j->in->d[n].where == KS_VGPR) store_vector(j, n, undefined[n], origin);
    for (unsigned n = 0; n < j->in->nd; n++)
        if (j->in->d[n].where != KS_VGPR) store_mask(j, n, undefined[n], origin);
}

/* ---- Undefined bits ---- */
/* The origin of a source's undefined bits that may matter; false: it has none. */
static bool tainted(const ks_job *j, const ks_operand *o, unsigned reg, bool any_lane,
                    uint32_t *origin)
{
    const ks_wave *w = j->w;
    unsigned count = op_regs(o);
    if (o->where == KS_VGPR) {
        for (unsigned r = 0; r < count; r++)
            if (!w->v_clean[reg + r]) {
                static const uint32_t all[KS_LANES] = {[0 ... KS_LANES - 1] = ~0u};
                if (!ks_any(w->vu[reg + r], any_lane ? all : j->mask)) continue;
                *origin = w->v_origin[reg + r];
                return true;
            }
        return false;
    }
    if (o->where == KS_SGPR)
        for (unsigned r = 0; r < count; r++)
            if (w->su[o->reg + r]) {
                *origin = w->s_origin[o->reg + r];
                return true;
            }
    if (o->where == KS_SPECIAL) {
        uint64_t u = 0;
        ks_scalar_read(j->w, o, &u);
        *origin = j->in->pc;
        return u != 0;
    }
    return false;
}
static bool any_tainted(const ks_job *j, uint32_t *origin)
{
    const ks_inst *in = j->in;
    bool any_lane = (j->flags & (KS_F_WHOLE | KS_F_NO_EXEC)) || in->dpp;
    for (unsigned n = 0; n < in->ns; n++)
        if (tainted(j, &in->s[n], j->s[n], any_lane, origin)) goto found;
    if (!j->part || !tainted(j, &in->d[0], j->d[0], false, origin)) return false;
found:
    if (*origin == KS_NO_ORIGIN) *origin = in->pc;
    return true;
}

static void run_undefined(ks_job *j, uint32_t origin)
{
    ks_wave *w = j->w;
    const ks_inst *in = j->in;
    const uint32_t *undefined[2] = {NULL, NULL};
    uint32_t *result[2];
    for (j->fill = KS_FILL_ACTUAL; j->fill < KS_FILLS; j->fill++) {
        for (unsigned n = 0; n < in->ns; n++) j->k.s[n] = KS_V(ks_fetch)(j, n);
        for (unsigned n = 0; n < in->nd; n++)
            j->k.d[n] = w->temp[(j->fill ? KS_T_AGAIN : KS_T_RESULT) + n][0];
        evaluate(j);
        for (unsigned n = 0; n < in->nd; n++) {
            uint32_t *u = w->temp[KS_T_UNDEFINED + n][0], *d = j->k.d[n];
            unsigned count = op_regs(&in->d[n]) * KS_LANES;
            if (in->d[n].type == KS_MASK) count = KS_LANES;
            if (j->fill == KS_FILL_ACTUAL) {
                result[n] = d;
                undefined[n] = memset(u, 0, count * 4);
            } else {
                for (unsigned i = 0; i < count; i++) u[i] |= d[i] ^ result[n][i];
            }
        }
    }
    for (unsigned n = 0; n < in->nd; n++) j->k.d[n] = result[n];
    store(j, undefined, origin);
}

void KS_V(ks_run_lanes)(ks_wave *w, const ks_inst *in)
{
    static const uint32_t *const none[2] = {NULL, NULL};
    static const uint32_t all[KS_LANES] = {[0 ... KS_LANES - 1] = ~0u};
    uint32_t flags = in->op->flags, origin = 0, partial[KS_LANES];
    ks_job j;
    j.w = w;
    j.in = in;
    j.flags = flags;
    j.fill = KS_FILL_ACTUAL;
    j.lanes = (flags & KS_F_NO_EXEC) ? ~0ull : ks_exec_of(w);
    j.mask = w->exec_row;
    j.part = ks_is_part(in, flags);
    j.k.mode = w->mode;
    j.k.arch = w->launch->object->arch;
    j.k.inst = in;
    for (unsigned n = 0; n < in->ns; n++) j.s[n] = in->s[n].reg;
    for (unsigned n = 0; n < in->nd; n++) j.d[n] = in->d[n].reg;
    if (w->gpr_index_on) gpr_index(&j);
    if (in->dpp) KS_V(ks_dpp_lanes)(&j);
    if (flags & KS_F_NO_EXEC) {
        j.mask = all;
    } else if (in->dpp || w->gpr_index_on) {
        ks_spread_mask(partial, j.lanes, ~0u);
        j.mask = partial;
    }
    if (w->undefined_checked && any_tainted(&j, &origin)) {
        run_undefined(&j, origin);
        return;
    }
    bool fancy = is_fancy(w, in, flags);
    for (unsigned n = 0; n < in->ns; n++)
        j.k.s[n] = fancy ? KS_V(ks_fetch)(&j, n) : KS_V(ks_fetch_plain)(&j, n);
    for (unsigned n = 0; n < in->nd; n++)
        j.k.d[n] = in_place(&j, n) ? w->v[j.d[n]] : w->temp[KS_T_RESULT + n][0];
    evaluate(&j);
    store(&j, none, 0);
}
