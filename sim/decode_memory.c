// SPDX-License-Identifier: MIT
// Vector memory encodings of GFX9: DS, FLAT with GLOBAL and SCRATCH, MUBUF.  Registers of data come
// from the op table, those of addresses from the encoding (a global address is a pair, an offset
// beside a scalar base one register).
#include <stdio.h>
#include <string.h>
#include "object.h"

enum { SEG_FLAT, SEG_SCRATCH, SEG_GLOBAL, NO_SADDR = 0x7f };
static const ks_spec address32 = {KS_U32, 1}, address64 = {KS_U64, 2};

static void register_of(ks_decoder *d, ks_operand *o, unsigned reg, bool acc, ks_spec spec)
{
    if (spec.type != KS_NONE) ks_dec_vgpr(d, o, reg, acc, spec);
}
static uint8_t last_source(const ks_inst *in)
{
    uint8_t n = 4;
    while (n && in->s[n - 1].where == KS_ABSENT) n--;
    return n;
}
static bool returns(const ks_decoder *d)
{
    return d->op->d[0].type != KS_NONE && !d->inst->lds &&
           (!(d->op->flags & KS_F_ATOMIC) || d->inst->sc0);
}
void ks_dec_ds(ks_decoder *d)
{
    ks_inst *in = d->inst;
    const ks_op *op = d->op;
    bool acc = ks_bits(d->w[0], 25, 1);
    bool pair =
        strstr(op->name, "read2") || strstr(op->name, "write2") || strstr(op->name, "wrxchg2");
    d->words = 2;
    in->offset = (int32_t)ks_bits(d->w[0], 0, pair ? 8 : 16);
    in->offset1 = pair ? (int32_t)ks_bits(d->w[0], 8, 8) : 0;
    in->gds = ks_bits(d->w[0], 16, 1);
    register_of(d, &in->s[0], ks_bits(d->w[1], 0, 8), false, op->s[0]);
    register_of(d, &in->s[1], ks_bits(d->w[1], 8, 8), acc, op->s[1]);
    register_of(d, &in->s[2], ks_bits(d->w[1], 16, 8), acc, op->s[2]);
    in->ns = last_source(in);
    in->has_vaddr = in->s[0].where != KS_ABSENT;
    if (op->d[0].type != KS_NONE) {
        ks_dec_vgpr(d, &in->d[0], ks_bits(d->w[1], 24, 8), acc, op->d[0]);
        in->nd = 1;
    }
}
static void flat_address(ks_decoder *d, unsigned seg)
{
    ks_inst *in = d->inst;
    unsigned vaddr = ks_bits(d->w[1], 0, 8), saddr = ks_bits(d->w[1], 16, 7);
    bool bit13 = ks_bits(d->w[0], 13, 1);
    in->has_saddr = seg != SEG_FLAT && saddr != NO_SADDR;
    in->has_vaddr = true;
    ks_spec vspec = address64, sspec = address64;
    if (seg == SEG_SCRATCH) { /* gfx942 says in bit 13 whether there is a vector address, gfx90a has
                                 one or the other */
        in->has_vaddr = d->arch == KS_GFX942 ? bit13 : !in->has_saddr;
        vspec = sspec = address32;
    } else if (in->has_saddr) {
        vspec = address32;
    }
    if (in->has_vaddr) ks_dec_vgpr(d, &in->s[0], vaddr, false, vspec);
    if (in->has_saddr) ks_dec_sgpr(d, &in->s[1], saddr, sspec);
}
/* LDS-direct loads have opcodes of their own on gfx942, on gfx90a a bit: one name for both. */
static void lds_direct(ks_decoder *d)
{
    char name[64];
    const char *what = strstr(d->op->name, "_load_");
    int length = what ? snprintf(name, sizeof name, "%.*s_load_lds_%s", (int)(what - d->op->name),
                                 d->op->name, what + strlen("_load_"))
                      : 0;
    const ks_op *direct = length > 0 ? ks_find_op(name, (size_t)length) : NULL;
    if (direct)
        d->op = d->inst->op = direct;
    else
        d->bad = true;
}
void ks_dec_flat(ks_decoder *d)
{
    ks_inst *in = d->inst;
    unsigned seg = ks_bits(d->w[0], 14, 2);
    if (d->arch == KS_GFX90A && ks_bits(d->w[0], 13, 1)) lds_direct(d);
    const ks_op *op = d->op;
    bool acc = ks_bits(d->w[1], 23, 1);
    d->words = 2;
    in->sc0 = ks_bits(d->w[0], 16, 1);
    in->nt = ks_bits(d->w[0], 17, 1);
    in->sc1 = ks_bits(d->w[0], 25, 1);
    in->offset =
        seg == SEG_FLAT ? (int32_t)ks_bits(d->w[0], 0, 12) : (int32_t)(d->w[0] << 19) >> 19;
    in->lds = op->flags & KS_F_LDS_DIRECT;
    if (seg == SEG_FLAT && ks_bits(d->w[0], 12, 1))
        d->bad = true; /* an offset of 12 bits; the thirteenth is a sign elsewhere */
    flat_address(d, seg);
    register_of(d, &in->s[2], ks_bits(d->w[1], 8, 8), acc, op->s[2]);
    in->ns = last_source(in);
    if (returns(d)) {
        ks_dec_vgpr(d, &in->d[0], ks_bits(d->w[1], 24, 8), acc, op->d[0]);
        in->nd = 1;
    }
}
void ks_dec_mubuf(ks_decoder *d)
{
    ks_inst *in = d->inst;
    const ks_op *op = d->op;
    bool acc = ks_bits(d->w[1], 23, 1);
    unsigned vdata = ks_bits(d->w[1], 8, 8);
    d->words = 2;
    in->offset = (int32_t)ks_bits(d->w[0], 0, 12);
    in->offen = ks_bits(d->w[0], 12, 1);
    in->idxen = ks_bits(d->w[0], 13, 1);
    in->sc0 = ks_bits(d->w[0], 14, 1);
    in->sc1 = ks_bits(d->w[0], 15, 1);
    in->lds = ks_bits(d->w[0], 16, 1);
    in->nt = ks_bits(d->w[0], 17, 1);
    if (op->s[1].type == KS_NONE) /* buffer_inv and the like */
        return;
    unsigned vaddrs = (unsigned)in->offen + in->idxen;
    in->has_vaddr = vaddrs;
    if (vaddrs)
        ks_dec_vgpr(d, &in->s[0], ks_bits(d->w[1], 0, 8), false, ks_spec_of(address32, vaddrs));
    ks_dec_sgpr(d, &in->s[1], ks_bits(d->w[1], 16, 5) << 2, ks_spec_of(op->s[1], 4));
    unsigned soffset = ks_bits(d->w[1], 24, 8);
    if (soffset == 255)
        d->bad = true;
    else
        ks_dec_source(d, &in->s[2], soffset, address32);
    register_of(d, &in->s[3], vdata, acc, op->s[3]);
    in->ns = last_source(in);
    if (returns(d)) {
        ks_dec_vgpr(d, &in->d[0], vdata, acc, op->d[0]);
        in->nd = 1;
    }
}
