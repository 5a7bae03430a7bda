// SPDX-License-Identifier: MIT
// DS instructions: LDS by address + offset, pairs of addresses, and exchanges of lanes that touch
// no memory.
#include <string.h>
#include "memory.h"

enum { HIP_UNKNOWN = 719 };

/* Global data share is not there, but for global wave sync (gws.c). */
static bool begin(ks_access *a, ks_wave *w, const ks_inst *in)
{
    if (in->gds) {
        ks_report(w, in, KILNSIM_UNKNOWN, -1, 0,
                  "global data share, which these targets do not have: use LDS");
        ks_stop(w, HIP_UNKNOWN);
        return false;
    }
    bool some = ks_access_begin(a, w, in);
    a->space = KS_SPACE_LDS;
    return some;
}

static void addresses(ks_access *a, uint32_t offset)
{
    const uint32_t *u, *row = ks_rows_read(a->w, &a->in->s[0], 0, &u);
    for (unsigned l = 0; l < KS_LANES; l++) a->offset[l] = row[l] + offset;
    ks_access_settle(a);
    ks_mem_defined_address(a, &a->in->s[0], u, 1);
}

static void perform(ks_access *a, const ks_operand *data, unsigned reg)
{
    if (!a->lanes) return;
    if (a->flags & KS_F_ATOMIC) {
        uint64_t wanted = a->lanes;
        ks_mem_atomic(a, data);
        if (a->flags & KS_F_LOAD) ks_mem_returned(a, reg, wanted);
    } else {
        if (a->flags & KS_F_STORE) ks_access_data(a, data, 0);
        ks_mem_perform(a, reg);
    }
}

void ks_run_ds(ks_wave *w, const ks_inst *in)
{
    ks_access a;
    if (!begin(&a, w, in)) return;
    addresses(&a, (uint32_t)in->offset);
    ks_mem_lost(&a, in->d[0].reg, a.flags & KS_F_LOAD);
    perform(&a, &in->s[1], in->d[0].reg);
}

/* read2, write2, wrxchg2, and their st64 forms: the first address, then the second; all registers
   are read before any is written. */
void ks_run_ds_pair(ks_wave *w, const ks_inst *in)
{
    ks_access a, b;
    if (!begin(&a, w, in) || !begin(&b, w, in)) return;
    unsigned words = a.bytes / 4u, reg = in->d[0].reg;
    addresses(&a, (uint32_t)in->offset * a.mem->unit);
    ks_mem_lost(&a, reg, a.flags & KS_F_LOAD);
    ks_mem_lost(&a, reg + words, a.flags & KS_F_LOAD);
    if (!a.lanes) return;
    uint64_t wanted = b.lanes = a.lanes;
    for (unsigned l = 0; l < KS_LANES; l++)
        b.offset[l] = a.offset[l] + (uint32_t)(in->offset1 - in->offset) * a.mem->unit;
    if (a.flags & KS_F_ATOMIC) {
        ks_mem_atomic(&a, &in->s[1]);
        ks_mem_atomic(&b, &in->s[2]);
        ks_mem_returned(&a, reg, wanted);
        ks_mem_returned(&b, reg + words, wanted);
        return;
    }
    perform(&a, &in->s[1], reg);
    perform(&b, &in->s[2], reg + words);
}

/* Address: M0[15:0] + offset + 4 * lane. */
void ks_run_ds_addtid(ks_wave *w, const ks_inst *in)
{
    ks_access a;
    if (!begin(&a, w, in) ||
        !ks_mem_defined_scalar(&a, w->su[KS_M0] & 0xffff, "M0", w->s_origin[KS_M0]))
        return;
    for (uint32_t l = 0; l < KS_LANES; l++)
        a.offset[l] = (w->s[KS_M0] & 0xffff) + (uint32_t)in->offset + 4 * l;
    ks_access_settle(&a);
    perform(&a, &in->s[1], in->d[0].reg);
}

/* ds_append, ds_consume: the word at M0[15:0] + offset grows or shrinks by the number of active
   lanes, once for the wave; every lane gets its old value. */
void ks_run_ds_count(ks_wave *w, const ks_inst *in)
{
    ks_access a;
    if (!begin(&a, w, in) ||
        !ks_mem_defined_scalar(&a, w->su[KS_M0] & 0xffff, "M0", w->s_origin[KS_M0]))
        return;
    uint64_t exec = a.lanes;
    unsigned first = ks_first_lane(exec), reg = in->d[0].reg;
    ks_operand count = {.where = KS_CONST,
                        .type = KS_U32,
                        .count = 1,
                        .value = (uint64_t)__builtin_popcountll(exec)};
    a.lanes = 1ull << first;
    a.offset[first] = (w->s[KS_M0] & 0xffff) + (uint32_t)in->offset;
    ks_access_settle(&a);
    ks_mem_atomic(&a, &count);
    ks_mem_returned(&a, reg, 1ull << first);
    uint32_t value = w->v[reg][first], undefined[KS_LANES];
    bool clean = !w->undefined_checked || w->v_clean[reg];
    for (unsigned l = 0; l < KS_LANES; l++) undefined[l] = clean ? 0 : w->vu[reg][first];
    KS_EACH_LANE (l, exec) {
        w->v[reg][l] = value;
    }
    ks_rows_written(w, reg, 1, clean ? NULL : undefined, exec);
}

/* ---- Exchanges of lanes ---- */
/* What goes to each lane: the lane that it comes from, -1: 0. */
static void exchange(ks_wave *w, const ks_inst *in, const ks_operand *data,
                     const int8_t from[KS_LANES], const uint32_t *unknown)
{
    const uint32_t *u, *row = ks_rows_read(w, data, 1, &u);
    uint32_t value[KS_LANES], undefined[KS_LANES], any = 0;
    uint64_t exec = ks_exec_of(w);
    for (unsigned l = 0; l < KS_LANES; l++) {
        value[l] = from[l] < 0 ? 0 : row[from[l]];
        undefined[l] = (u && from[l] >= 0 ? u[from[l]] : 0) | (unknown ? unknown[l] : 0);
        any |= undefined[l];
    }
    KS_EACH_LANE (l, exec) {
        w->v[in->d[0].reg][l] = value[l];
    }
    ks_rows_written(w, in->d[0].reg, 1, any ? undefined : NULL, exec);
    w->aux = 2; /* passes through the LDS unit's exchange, without banks */
}

/* Bits 7:2 of address + offset choose the lane. Undefined bits there: which lane is not known. */
static const uint32_t *choices(ks_wave *w, const ks_inst *in, uint8_t lane[KS_LANES],
                               uint32_t *unknown)
{
    const uint32_t *u, *row = ks_rows_read(w, &in->s[0], 0, &u);
    for (unsigned l = 0; l < KS_LANES; l++) {
        lane[l] = (uint8_t)((row[l] + (uint32_t)in->offset) >> 2 & 63u);
        unknown[l] = u && (u[l] & 0xff) ? ~0u : 0;
    }
    return u ? unknown : NULL;
}

void ks_run_ds_bpermute(ks_wave *w, const ks_inst *in)
{
    uint8_t lane[KS_LANES];
    int8_t from[KS_LANES];
    uint32_t unknown[KS_LANES];
    uint64_t exec = ks_exec_of(w);
    const uint32_t *u = choices(w, in, lane, unknown);
    for (unsigned l = 0; l < KS_LANES; l++) from[l] = exec >> lane[l] & 1 ? (int8_t)lane[l] : -1;
    exchange(w, in, &in->s[1], from, u);
}

/* Of lanes that send to the same one, the highest wins. */
void ks_run_ds_permute(ks_wave *w, const ks_inst *in)
{
    uint8_t lane[KS_LANES];
    int8_t from[KS_LANES];
    uint32_t unknown[KS_LANES];
    uint64_t exec = ks_exec_of(w), lost = 0;
    const uint32_t *u = choices(w, in, lane, unknown);
    memset(from, -1, sizeof(from));
    KS_EACH_LANE (l, exec) {
        from[lane[l]] = (int8_t)l;
        lost |= unknown[l];
    }
    for (unsigned l = 0; l < KS_LANES;
         l++) /* a lane that may have sent anywhere may have changed any */
        unknown[l] = lost ? ~0u : 0;
    exchange(w, in, &in->s[1], from, u ? unknown : NULL);
}

static unsigned reversed(unsigned x)
{
    return (x & 1) << 4 | (x & 2) << 2 | (x & 4) | (x & 8) >> 2 | (x & 16) >> 4;
}

/* DS_SWIZZLE_B32 of the ISA documents: FFT, rotation, groups of 4, or and/or/xor masks within 32
 * lanes. */
static unsigned swizzled(unsigned offset, unsigned l)
{
    unsigned half = l & 32, low = offset & 31, mid = offset >> 5 & 31, high = offset >> 10 & 31;
    if (offset >= 0xe000) return half | reversed(l & 31) >> __builtin_popcount(low) | (l & low);
    if (offset >= 0xc000)
        return half | (((l & low) | ((offset & 0x400 ? l - mid : l + mid) & ~low)) & 31);
    if (offset & 0x8000) return (l & ~3u) | (offset >> (l & 3) * 2 & 3);
    return half | (((l & low) | mid) ^ high);
}

void ks_run_ds_swizzle(ks_wave *w, const ks_inst *in)
{
    int8_t from[KS_LANES];
    uint64_t exec = ks_exec_of(w);
    for (unsigned l = 0; l < KS_LANES; l++) {
        unsigned lane = swizzled((uint32_t)in->offset & 0xffff, l);
        from[l] = exec >> lane & 1 ? (int8_t)lane : -1;
    }
    exchange(w, in, &in->s[0], from, NULL);
}

void ks_run_ds_nop(ks_wave *w, const ks_inst *in)
{
    (void)in;
    w->aux = 0;
}
