// SPDX-License-Identifier: MIT
// FLAT, GLOBAL and SCRATCH instructions: addresses.
//   GLOBAL  vaddr (64 bits) + offset, or saddr (64) + vaddr (32, unsigned) + offset
//   FLAT    vaddr (64) + offset; the upper 32 bits may say LDS or private memory
//   SCRATCH vaddr (32) + saddr (32) + offset, either may be missing: bytes of the lane's private
//   memory
// The offset of FLAT has 12 bits, that of the others 13 with sign (decode_memory.c).  Atomics return with sc0 (glc) only.
#include <string.h>
#include "memory.h"

static void far_addresses(ks_access *a)
{
    const ks_inst *in = a->in;
    const ks_operand *v = &in->s[0], *s = &in->s[1];
    const uint32_t *u = NULL, *rows = ks_rows_read(a->w, v, 0, &u);
    uint64_t offset = (uint64_t)(int64_t)in->offset;
    if (in->has_saddr) {
        uint64_t su = 0, base = ks_scalar_read(a->w, s, &su) + offset;
        if (!ks_mem_defined_scalar(a, su, "the scalar address",
                                   s->where == KS_SGPR ? a->w->s_origin[s->reg] : KS_NO_ORIGIN))
            a->lanes = 0;
        for (unsigned l = 0; l < KS_LANES; l++) a->at[l] = base + rows[l];
    } else {
        for (unsigned l = 0; l < KS_LANES; l++)
            a->at[l] = ((uint64_t)rows[KS_LANES + l] << 32 | rows[l]) + offset;
    }
    ks_mem_defined_address(a, v, u, in->has_saddr ? 1 : 2);
}

/* Where lanes of a FLAT instruction go, by the apertures. */
static uint64_t lanes_of(const ks_access *a, ks_space space)
{
    uint64_t lds = 0, scratch = 0;
    for (unsigned l = 0; l < KS_LANES; l++) {
        lds |= (uint64_t)(a->at[l] >> 32 == KS_SHARED_BASE >> 32) << l;
        scratch |= (uint64_t)(a->at[l] >> 32 == KS_PRIVATE_BASE >> 32) << l;
    }
    return a->lanes & (space == KS_SPACE_LDS       ? lds
                       : space == KS_SPACE_SCRATCH ? scratch
                                                   : ~(lds | scratch));
}

static void put_to_lds(ks_access *a, const uint32_t *rows, const uint32_t *undefined,
                       uint64_t lanes)
{
    ks_access to = {.w = a->w,
                    .in = a->in,
                    .mem = a->mem,
                    .space = KS_SPACE_LDS,
                    .flags = KS_F_STORE,
                    .bytes = 4,
                    .lanes = lanes,
                    .rows = rows,
                    .undefined = undefined,
                    .by_vm = true};
    for (uint32_t l = 0; l < KS_LANES; l++)
        to.offset[l] = (a->w->s[KS_M0] & 0xffff) + (uint32_t)a->in->offset + 4 * l;
    ks_access_settle(&to);
    ks_mem_place(&to);
    if (to.lanes) ks_mem_store(&to);
}

static void fetch(ks_access *a, void *unused)
{
    (void)unused;
    ks_gather(a->temp[0][0], a->at, a->lanes, a->bytes);
    if (a->w->undefined_checked) ks_mem_undefined(a, a->temp[1][0]);
}

/* "LDS_ADDR = LDSbase + M0[15:0] + inst_offset + ThreadID * 4": narrow values are extended to a
 * word each. */
void ks_mem_to_lds(ks_access *a, uint64_t zero)
{
    uint64_t wanted = a->lanes;
    uint32_t *row = a->temp[0][0], *undefined = a->temp[1][0];
    if (!ks_mem_defined_scalar(a, a->w->su[KS_M0] & 0xffff, "M0", a->w->s_origin[KS_M0])) return;
    memset(row, 0, sizeof(a->temp[0][0]));
    memset(undefined, 0, sizeof(a->temp[1][0]));
    if (a->lanes) ks_mem_place(a);
    if (a->lanes && a->w->launch->cost) ks_mem_cost(a);
    if (a->lanes) ks_mem_parts(a, fetch, NULL);
    if (a->bytes < 4) ks_mem_extend(a, row);
    if (a->bytes < 4) ks_mem_extend(a, undefined);
    KS_EACH_LANE (l, wanted & ~a->lanes) {
        row[l] = KS_POISON;
    }
    put_to_lds(a, row, undefined, wanted | zero);
}

static void perform(ks_access *a, ks_space space, uint64_t lanes)
{
    const ks_inst *in = a->in;
    if (!lanes) return;
    a->space = space;
    a->lanes = lanes;
    if (space != KS_SPACE_GLOBAL)
        for (unsigned l = 0; l < KS_LANES; l++) a->offset[l] = (uint32_t)a->at[l];
    ks_access_settle(a);
    if (a->flags & KS_F_ATOMIC) {
        ks_mem_atomic(a, &in->s[2]);
        if (in->sc0) ks_mem_returned(a, in->d[0].reg, lanes);
    } else if (a->flags & KS_F_LDS_DIRECT) {
        ks_mem_to_lds(a, 0);
    } else {
        if (a->flags & KS_F_STORE) ks_access_data(a, &in->s[2], 0);
        ks_mem_perform(a, in->d[0].reg);
    }
}

static bool returns(const ks_access *a)
{
    return a->flags & KS_F_ATOMIC ? a->in->sc0 : a->flags & KS_F_LOAD;
}

void ks_run_flat(ks_wave *w, const ks_inst *in)
{
    ks_access a;
    if (!ks_access_begin(&a, w, in)) return;
    far_addresses(&a);
    ks_mem_lost(&a, in->d[0].reg, returns(&a));
    if (in->op->class != KS_FLAT_OP) {
        perform(&a, KS_SPACE_GLOBAL, a.lanes);
        return;
    }
    uint64_t lds = lanes_of(&a, KS_SPACE_LDS), scratch = lanes_of(&a, KS_SPACE_SCRATCH);
    uint64_t far = lanes_of(&a, KS_SPACE_GLOBAL), at[KS_LANES];
    memcpy(at, a.at, sizeof(at));
    perform(&a, KS_SPACE_GLOBAL, far);
    memcpy(a.at, at, sizeof(at));
    perform(&a, KS_SPACE_LDS, lds);
    memcpy(a.at, at, sizeof(at));
    perform(&a, KS_SPACE_SCRATCH, scratch);
}

void ks_run_scratch(ks_wave *w, const ks_inst *in)
{
    ks_access a;
    if (!ks_access_begin(&a, w, in)) return;
    uint32_t base = (uint32_t)in->offset;
    if (in->has_saddr) {
        uint64_t su = 0;
        base += (uint32_t)ks_scalar_read(w, &in->s[1], &su);
        if (!ks_mem_defined_scalar(&a, (uint32_t)su, "the scalar address",
                                   w->s_origin[in->s[1].reg % KS_SREGS]))
            a.lanes = 0;
    }
    for (unsigned l = 0; l < KS_LANES; l++) a.at[l] = base;
    if (in->has_vaddr) {
        const uint32_t *u, *row = ks_rows_read(w, &in->s[0], 0, &u);
        for (unsigned l = 0; l < KS_LANES; l++) a.at[l] = base + row[l];
        ks_mem_defined_address(&a, &in->s[0], u, 1);
    }
    ks_mem_lost(&a, in->d[0].reg, returns(&a));
    perform(&a, KS_SPACE_SCRATCH, a.lanes);
}
