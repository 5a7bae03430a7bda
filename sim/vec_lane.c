// SPDX-License-Identifier: MIT
// Vector instructions that are no function of rows: between lanes and scalars, exchange, and those
// that do nothing.
#include "vec_table.h"

/* Lane, of 64, that a readlane or writelane names; undefined: the choice is. */
static unsigned chosen_lane(ks_wave *w, const ks_operand *o, bool *undefined)
{
    uint64_t u = 0, lane = ks_scalar_read(w, o, &u);
    *undefined = w->undefined_checked && (u & 63);
    return (unsigned)lane & 63;
}
static uint32_t origin_of(const ks_wave *w, uint32_t origin)
{
    return origin == KS_NO_ORIGIN ? w->inst ? w->inst->pc : 0 : origin;
}
static uint32_t undefined_at(const ks_wave *w, unsigned reg, unsigned lane)
{
    return w->undefined_checked && !w->v_clean[reg] ? w->vu[reg][lane] : 0;
}
static void read_lane(ks_wave *w, const ks_inst *in, unsigned lane, bool any)
{
    const ks_operand *d = &in->d[0], *s = &in->s[0];
    uint32_t value, u, origin = in->pc;
    if (s->where == KS_VGPR) {
        unsigned reg = s->reg;
        if (w->gpr_index_on && (w->s[KS_M0] >> 12 & 1u)) {
            reg += w->s[KS_M0] & 0xffu;
            reg = reg < ks_vgprs_of(w->launch->kernel) ? reg : 0;
        }
        value = w->v[reg][lane];
        u = undefined_at(w, reg, lane);
        origin = origin_of(w, w->v_origin[reg]);
    } else { /* LDS-direct has gone from these targets; a scalar is the same in every lane */
        uint64_t bits = 0;
        value = (uint32_t)ks_scalar_read(w, s, &bits);
        u = (uint32_t)bits;
    }
    if (any) u = ~0u;
    if (d->where != KS_SGPR) return;
    ks_scalar_write(w, d->reg, 1, value, w->undefined_checked ? u : 0, origin);
}
static void run_readlane(ks_wave *w, const ks_inst *in)
{
    bool any;
    unsigned lane = chosen_lane(w, &in->s[1], &any);
    read_lane(w, in, lane, any);
}
static void run_readfirstlane(ks_wave *w, const ks_inst *in)
{
    uint64_t exec = ks_exec_of(w);
    read_lane(w, in, exec ? (unsigned)__builtin_ctzll(exec) : 0, false);
}
static void run_writelane(ks_wave *w, const ks_inst *in)
{
    bool any;
    uint64_t u = 0, value = ks_scalar_read(w, &in->s[0], &u);
    unsigned lane = chosen_lane(w, &in->s[1], &any), reg = in->d[0].reg;
    w->v[reg][lane] = (uint32_t)value;
    if (!w->undefined_checked) return;
    uint32_t row[KS_LANES] = {0}, bits = any ? ~0u : (uint32_t)u;
    row[lane] = bits;
    /* An undefined choice may have hit any lane. */
    for (unsigned i = 0; any && i < KS_LANES; i++) row[i] = ~0u;
    ks_rows_written(w, reg, 1, bits ? row : NULL, any ? ~0ull : 1ull << lane);
}
static void run_swap(ks_wave *w, const ks_inst *in)
{
    unsigned a = in->d[0].reg, b = in->s[0].reg;
    const uint32_t *mask = w->exec_row;
    for (unsigned i = 0; i < KS_LANES; i++) {
        uint32_t flip = (w->v[a][i] ^ w->v[b][i]) & mask[i];
        w->v[a][i] ^= flip;
        w->v[b][i] ^= flip;
    }
    if (!w->undefined_checked || (w->v_clean[a] && w->v_clean[b])) return;
    uint32_t row[2][KS_LANES], origin = w->v_origin[a];
    for (unsigned i = 0; i < KS_LANES; i++) {
        row[0][i] = undefined_at(w, b, i);
        row[1][i] = undefined_at(w, a, i);
    }
    ks_rows_written(w, a, 1, row[0], ks_exec_of(w));
    ks_rows_written(w, b, 1, row[1], ks_exec_of(w));
    w->v_origin[a] = origin_of(w, w->v_origin[b]);
    w->v_origin[b] = origin_of(w, origin);
}
static void run_nothing(ks_wave *w, const ks_inst *in)
{
    (void)w;
    (void)in;
}

#define WORD {KS_B32, 0}
/* name, function, flags, destinations, sources */
#define LANE_OPS(X)                                                            \
    X(v_readlane_b32, run_readlane, KS_F_NO_EXEC, (WORD), (WORD, WORD))        \
    X(v_readfirstlane_b32, run_readfirstlane, KS_F_NO_EXEC, (WORD), (WORD))    \
    X(v_writelane_b32, run_writelane, KS_F_NO_EXEC, (WORD), (WORD, WORD))      \
    X(v_swap_b32, run_swap, KS_F_DST_IN, (WORD, WORD), (WORD, WORD))           \
    X(v_nop, run_nothing, KS_F_NO_EXEC, (), ())                                \
    X(v_clrexcp, run_nothing, KS_F_NO_EXEC, (), ())
static const ks_op lane_ops[] = {
#define X(nm, fn, fl, dst, src)                                                                    \
    {.name = #nm, .exec = fn, .flags = fl, .class = KS_VALU_OP, .d = {KS_STRIP dst},               \
     .s = {KS_STRIP src}},
    LANE_OPS(X)
#undef X
};
ks_op_table KS_V(ks_lane_ops)(void)
{
    return (ks_op_table){lane_ops, sizeof(lane_ops) / sizeof(lane_ops[0])};
}
