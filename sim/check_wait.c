// SPDX-License-Identifier: MIT
// Registers used before s_waitcnt says that what loads them is finished.  vmcnt counts global,
// buffer, scratch and flat accesses, which return in order but for flat; lgkmcnt counts LDS in
// order and flat, and SMEM in no order.  After s_waitcnt to N at most N events are left, so of
// those in order all but the last N are finished, whatever else there is; of the others nothing is
// known until N is 0.  A counter that is full holds back the next access.  Loads into LDS have no
// register: their wave must not touch those bytes before vmcnt says so.
#include <stdlib.h>
#include <string.h>
#include "hazard.h"

static unsigned number_of(const ks_operand *o)
{
    return o->where == KS_SGPR ? KS_VREGS + o->reg : o->reg;
}
static bool is_register(const ks_operand *o)
{
    return (o->where == KS_VGPR || o->where == KS_SGPR) && o->count;
}
static bool any_busy(const ks_waits *t, unsigned reg, unsigned count)
{
    const unsigned shift = reg % 64;
    uint64_t bits = t->busy[reg / 64] >> shift;
    if (shift + count > 64) bits |= t->busy[reg / 64 + 1] << (64 - shift);
    return bits & (count < 64 ? (1ull << count) - 1 : ~0ull);
}

/* ---- Loads in flight ---- */
static void finish(ks_waits *t, const ks_flight *f)
{
    for (unsigned r = f->reg; r < f->reg + f->count; r++)
        if (t->owner[r] == f->id) t->busy[r / 64] &= ~(1ull << r % 64);
    t->flying--;
}
static void finish_vm(ks_waits *t, uint32_t left)
{
    while (t->vm_count > left) {
        finish(t, &t->vm[t->vm_first]);
        t->vm_first = (t->vm_first + 1) % (KS_VM_MAX + 1);
        t->vm_count--;
    }
}
static void finish_ds(ks_waits *t, uint32_t left)
{
    while (t->ds_count > left) {
        finish(t, &t->ds[t->ds_first]);
        t->ds_first = (t->ds_first + 1) % (KS_LGKM_MAX + 1);
        t->ds_count--;
    }
}
/* FLAT and SMEM: need is what has come to 0. */
static void finish_loose(ks_waits *t, unsigned need)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < t->loose_count; i++) {
        ks_flight f = t->loose[i];
        f.needs = (uint8_t)(f.needs & ~need);
        if (f.needs)
            t->loose[kept++] = f;
        else
            finish(t, &f);
    }
    t->loose_count = kept;
}
static void wait_for(ks_waits *t, uint32_t vm, uint32_t lgkm)
{
    if (!t->flying) return;
    finish_vm(t, vm);
    finish_ds(t, lgkm);
    if (t->loose_count && (!vm || !lgkm))
        finish_loose(t, (vm ? 0u : KS_NEED_VM) | (lgkm ? 0u : KS_NEED_LGKM));
}
static void start(ks_waits *t, const ks_inst *inst, uint64_t kinds)
{
    const ks_operand *d = &inst->d[0];
    const bool loads = inst->nd && is_register(d);
    const bool vm = kinds & (KS_K_BY_VM | KS_K_BY_FLAT), lgkm = kinds & (KS_K_BY_DS | KS_K_BY_FLAT);
    t->vm_issued += vm;
    t->lgkm_issued += lgkm;
    const ks_flight f = {
        inst,
        t->next_id++,
        (uint16_t)(loads ? number_of(d) : 0),
        loads ? d->count : 0,
        (uint8_t)((vm ? KS_NEED_VM : 0) | (lgkm || (kinds & KS_K_BY_SMEM) ? KS_NEED_LGKM : 0)),
        t->vm_issued,
        t->lgkm_issued};
    for (unsigned r = f.reg; r < f.reg + f.count; r++) {
        t->busy[r / 64] |= 1ull << r % 64;
        t->owner[r] = f.id;
    }
    t->flying++;
    if (kinds & KS_K_BY_VM) {
        t->vm[(t->vm_first + t->vm_count++) % (KS_VM_MAX + 1)] = f;
        finish_vm(t, KS_VM_MAX);
    } else if (kinds & KS_K_BY_DS) {
        t->ds[(t->ds_first + t->ds_count++) % (KS_LGKM_MAX + 1)] = f;
        finish_ds(t, KS_LGKM_MAX);
    } else {
        if (t->loose_count == KS_LOOSE_MAX) { /* counters this full have let the oldest finish */
            finish(t, &t->loose[0]);
            memmove(t->loose, t->loose + 1, --t->loose_count * sizeof(f));
        }
        t->loose[t->loose_count++] = f;
    }
}

/* ---- Checks ---- */
typedef struct ks_need { /* what would have to be waited for */
    uint32_t vm, lgkm;
    const ks_inst *load;
    unsigned reg;
    bool written;
} ks_need;
/* The load that a register waits for: its queue's number for it becomes part of the need. */
static void add_need(const ks_waits *t, unsigned reg, bool written, uint64_t same_order, ks_need *n)
{
    const uint32_t id = t->owner[reg];
    const ks_inst *load = NULL;
    uint32_t vm = KS_VM_MAX, lgkm = KS_LGKM_MAX;
    for (uint32_t i = 0; i < t->vm_count; i++) {
        const ks_flight *f = &t->vm[(t->vm_first + i) % (KS_VM_MAX + 1)];
        if (f->id != id) continue;
        if (written && (same_order & KS_K_BY_VM))
            return; /* two loads into one register, in order */
        load = f->inst, vm = t->vm_count - 1 - i;
    }
    for (uint32_t i = 0; i < t->ds_count; i++) {
        const ks_flight *f = &t->ds[(t->ds_first + i) % (KS_LGKM_MAX + 1)];
        if (f->id != id) continue;
        if (written && (same_order & KS_K_BY_DS)) return;
        load = f->inst, lgkm = t->ds_count - 1 - i;
    }
    for (uint32_t i = 0; i < t->loose_count; i++) {
        if (t->loose[i].id != id) continue;
        load = t->loose[i].inst;
        vm = t->loose[i].needs & KS_NEED_VM ? 0 : vm;
        lgkm = t->loose[i].needs & KS_NEED_LGKM ? 0 : lgkm;
    }
    if (!n->load) n->load = load, n->reg = reg, n->written = written;
    n->vm = vm < n->vm ? vm : n->vm;
    n->lgkm = lgkm < n->lgkm ? lgkm : n->lgkm;
}
static void add_needs(const ks_waits *t, const ks_operand *o, bool written, uint64_t kinds,
                      ks_need *n)
{
    if (!is_register(o) || !any_busy(t, number_of(o), o->count)) return;
    for (unsigned r = number_of(o); r < number_of(o) + o->count; r++)
        if (t->busy[r / 64] >> r % 64 & 1) add_need(t, r, written, kinds, n);
}
static void check_registers(ks_wave *w, ks_waits *t, const ks_inst *inst, uint64_t kinds)
{
    ks_need n = {KS_VM_MAX, KS_LGKM_MAX, NULL, 0, false};
    for (unsigned i = 0; i < inst->ns; i++) add_needs(t, &inst->s[i], false, kinds, &n);
    for (unsigned i = 0; i < inst->nd; i++) add_needs(t, &inst->d[i], true, kinds, &n);
    if (!n.load) return;
    char vm[16] = "", lgkm[16] = "", place[256];
    if (n.vm < KS_VM_MAX) snprintf(vm, sizeof(vm), " vmcnt(%u)", n.vm);
    if (n.lgkm < KS_LGKM_MAX) snprintf(lgkm, sizeof(lgkm), " lgkmcnt(%u)", n.lgkm);
    ks_place(w, n.load, place, sizeof(place));
    const unsigned reg = n.reg < KS_ACC     ? n.reg
                         : n.reg < KS_VREGS ? n.reg - KS_ACC
                                            : n.reg - KS_VREGS;
    ks_report(w, inst, KILNSIM_WAIT, -1, 0,
              "%c%u is %s while %s at 0x%x%s is still loading it: insert s_waitcnt%s%s",
              n.reg < KS_ACC     ? 'v'
              : n.reg < KS_VREGS ? 'a'
                                 : 's',
              reg, n.written ? "written" : "read", n.load->op->name, n.load->pc, place, vm, lgkm);
    wait_for(t, n.vm, n.lgkm); /* so that one missing s_waitcnt is one finding */
}
void ks_check_issue(ks_wave *w, const ks_inst *inst)
{
    ks_waits *t = w->waits;
    if (!t) return;
    uint64_t kinds = __atomic_load_n(&inst->check, __ATOMIC_RELAXED);
    if (!kinds) kinds = ks_hazard_kinds(inst, t->arch);
    if (t->flying) {
        if (kinds & KS_K_WAIT) {
            const uint32_t imm = (uint32_t)inst->imm;
            wait_for(t, (imm & 15) | (imm >> 10 & 0x30), imm >> 8 & 15);
        } else {
            check_registers(w, t, inst, kinds);
        }
    }
    ks_hazard_check(w, t, inst, kinds);
    if (kinds & KS_K_COUNTED) start(t, inst, kinds);
}

/* ---- Loads into LDS ---- */
/* The oldest access that vmcnt still counts. */
static uint64_t oldest_vm(const ks_waits *t)
{
    return t->vm_count ? t->vm[t->vm_first].vm : t->vm_issued + 1;
}
static void drop_finished(ks_waits *t)
{
    const uint64_t oldest = oldest_vm(t);
    while (t->direct_count && t->direct[t->direct_first].vm < oldest) {
        t->direct_first = (t->direct_first + 1) % (KS_VM_MAX + 1);
        t->direct_count--;
    }
}
/* A lane of the access that touches a byte which d has yet to write, that byte in *byte; -1: none.
 */
static int lane_of_direct(const ks_direct *d, const ks_lds_access *x, uint32_t *byte)
{
    for (unsigned l = 0; l < KS_LANES; l++) {
        if (!(x->lanes >> l & 1)) continue;
        for (uint32_t b = x->address[l]; b < x->address[l] + x->bytes; b++)
            if (b - d->base < 4 * KS_LANES && d->lanes >> (b - d->base) / 4 & 1) {
                *byte = b;
                return (int)l;
            }
    }
    return -1;
}
void ks_check_direct(ks_wave *w, const ks_inst *inst, const ks_lds_access *x)
{
    ks_waits *t = w->waits;
    if (!t) return;
    if (t->direct_count) drop_finished(t);
    if (x->by_vm) { /* in order among themselves */
        const uint32_t first = (uint32_t)__builtin_ctzll(x->lanes);
        if (t->direct_count > KS_VM_MAX) return;
        t->direct[(t->direct_first + t->direct_count++) % (KS_VM_MAX + 1)] =
            (ks_direct){inst, x->address[first] - 4 * first, x->lanes, t->vm_issued};
        return;
    }
    if (!t->direct_count) return;
    uint32_t from = UINT32_MAX, to = 0, byte;
    for (unsigned l = 0; l < KS_LANES; l++) { /* idle lanes have an address of the others */
        from = x->address[l] < from ? x->address[l] : from;
        to = x->address[l] + x->bytes > to ? x->address[l] + x->bytes : to;
    }
    for (uint32_t i = t->direct_count; i-- > 0;) { /* the newest asks for most */
        const ks_direct d = t->direct[(t->direct_first + i) % (KS_VM_MAX + 1)];
        if (d.base >= to || d.base + 4 * KS_LANES <= from) continue;
        const int lane = lane_of_direct(&d, x, &byte);
        if (lane < 0) continue;
        const uint32_t left = (uint32_t)(t->vm_issued - d.vm);
        char place[256];
        ks_place(w, d.inst, place, sizeof(place));
        ks_report(w, inst, KILNSIM_WAIT, lane, byte,
                  "LDS byte %u is %s while %s at 0x%x%s is still loading it: insert s_waitcnt "
                  "vmcnt(%u)",
                  byte, x->write ? "written" : "read", d.inst->op->name, d.inst->pc, place, left);
        wait_for(t, left, KS_LGKM_MAX);
        return;
    }
}

static uint64_t oldest_loose(const ks_waits *t, unsigned need, uint64_t oldest)
{
    for (uint32_t i = 0; i < t->loose_count; i++) {
        const ks_flight *f = &t->loose[i];
        if (!(f->needs & need) || !(f->needs & KS_NEED_VM || f->inst->op->class == KS_FLAT_OP))
            continue;
        const uint64_t number = need == KS_NEED_VM ? f->vm : f->lgkm;
        if (number < oldest) oldest = number;
    }
    return oldest;
}
ks_progress ks_wave_progress(const ks_wave *w)
{
    const ks_waits *t = w->waits;
    if (!t) return (ks_progress){0, 0, 0, 0};
    const uint64_t vm = oldest_vm(t);
    const uint64_t ds = t->ds_count ? t->ds[t->ds_first].lgkm : t->lgkm_issued + 1;
    return (ks_progress){t->lgkm_issued, oldest_loose(t, KS_NEED_LGKM, ds) - 1, t->vm_issued,
                         oldest_loose(t, KS_NEED_VM, vm) - 1};
}

bool ks_waits_create(ks_wave *w)
{
    ks_waits *t = w->waits ? w->waits : malloc(sizeof(*t));
    if (!t) return false;
    memset(t->busy, 0, sizeof(t->busy));
    t->arch = w->launch->object->arch;
    t->flying = t->next_id = 0;
    t->vm_first = t->vm_count = t->ds_first = t->ds_count = t->loose_count = 0;
    t->vm_issued = t->lgkm_issued = 0;
    t->direct_first = t->direct_count = 0;
    ks_hazard_reset(t);
    w->waits = t;
    return true;
}
void ks_waits_free(ks_wave *w)
{
    free(w->waits);
    w->waits = NULL;
}
