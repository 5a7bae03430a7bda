// SPDX-License-Identifier: MIT
// Scalar encodings of GFX9: SOP1, SOP2, SOPK, SOPC, SOPP and SMEM.  Which operands an instruction
// has is the op table's word, where their fields are is the encoding's.
#include "object.h"

enum { SOFFSET_BIT = 14, GLC_BIT = 16, IMM_BIT = 17 };

static void destination(ks_decoder *d, unsigned reg)
{
    if (d->op->d[0].type == KS_NONE) return;
    ks_dec_sgpr(d, &d->inst->d[0], reg, d->op->d[0]);
    d->inst->nd = 1;
}
static void old_destination(ks_decoder *d)
{
    if (d->op->flags & KS_F_DST_IN) d->inst->s[d->inst->ns++] = d->inst->d[0];
}
/* 8-bit source fields, one after the other from bit 0; count: how many the encoding has. */
static void sources(ks_decoder *d, unsigned count)
{
    ks_inst *in = d->inst;
    for (unsigned i = 0; i < count && d->op->s[i].type != KS_NONE; i++) {
        ks_dec_source(d, &in->s[i], ks_bits(d->w[0], 8 * i, 8), d->op->s[i]);
        in->ns++;
    }
}
static void sop1(ks_decoder *d)
{
    destination(d, ks_bits(d->w[0], 16, 7));
    sources(d, 1);
    old_destination(d);
}
static void sop2(ks_decoder *d)
{
    destination(d, ks_bits(d->w[0], 16, 7));
    sources(d, 2);
    old_destination(d);
}
static void sopc(ks_decoder *d)
{
    if (ks_dec_is(d, "s_set_gpr_idx_on")) { /* its second source is bits, not an operand */
        d->inst->imm = (int32_t)ks_bits(d->w[0], 8, 8);
        sources(d, 1);
        if (d->op->s[1].type != KS_NONE) {
            ks_dec_const(&d->inst->s[1], (uint64_t)d->inst->imm, d->op->s[1]);
            d->inst->ns = 2;
        }
        return;
    }
    sources(d, 2);
}
/* With a destination: the constant, then the old destination where it is read.  Without: the
   register that is compared or given to the hardware register, then the constant. */
static void sopk(ks_decoder *d)
{
    ks_inst *in = d->inst;
    const ks_op *op = d->op;
    unsigned reg = ks_bits(d->w[0], 16, 7);
    in->imm = (int16_t)(d->w[0] & 0xffff);
    destination(d, reg);
    if (ks_dec_is(d, "s_setreg_imm32_b32")) {
        uint32_t literal = ks_dec_literal(d);
        ks_dec_const(&in->s[in->ns++], literal, (ks_spec){KS_B32, 0});
        return;
    }
    if (!in->nd && op->s[0].type != KS_NONE) ks_dec_sgpr(d, &in->s[in->ns++], reg, op->s[0]);
    ks_spec spec = op->s[in->ns];
    if (spec.type != KS_NONE) {
        ks_dec_const(&in->s[in->ns++], (uint64_t)(int64_t)in->imm, spec);
    }
    old_destination(d);
}
void ks_dec_sop(ks_decoder *d)
{
    switch ((ks_encoding)d->inst->encoding) {
    case KS_SOP1:
        sop1(d);
        break;
    case KS_SOP2:
        sop2(d);
        break;
    case KS_SOPC:
        sopc(d);
        break;
    case KS_SOPK:
        sopk(d);
        break;
    case KS_SOPP:
        d->inst->imm = (int16_t)(d->w[0] & 0xffff);
        break;
    case KS_SMEM_ENC:
    case KS_VOP1:
    case KS_VOP2:
    case KS_VOPC:
    case KS_VOP3:
    case KS_VOP3P:
    case KS_DS:
    case KS_FLAT_ENC:
    case KS_MUBUF:
    case KS_ENCODING_COUNT:
        d->bad = true;
    }
}
void ks_dec_smem(ks_decoder *d)
{
    ks_inst *in = d->inst;
    const ks_op *op = d->op;
    unsigned data = ks_bits(d->w[0], 6, 7);
    bool soffset = ks_bits(d->w[0], SOFFSET_BIT, 1), imm = ks_bits(d->w[0], IMM_BIT, 1);
    d->words = 2;
    in->sc0 = ks_bits(d->w[0], GLC_BIT, 1);
    if (imm) in->offset = (int32_t)(d->w[1] << 11) >> 11;
    if (op->s[0].type != KS_NONE) {
        ks_dec_sgpr(d, &in->s[0], ks_bits(d->w[0], 0, 6) << 1, op->s[0]);
        in->ns = 1;
    }
    if (in->ns && op->s[1].type != KS_NONE && (soffset || !imm)) {
        unsigned reg = soffset ? ks_bits(d->w[1], 25, 7) : ks_bits(d->w[1], 0, 7);
        ks_dec_sgpr(d, &in->s[1], reg, op->s[1]);
        in->has_saddr = true;
        in->ns = 2;
    }
    if (op->s[2].type != KS_NONE) {
        ks_dec_sgpr(d, &in->s[2], data, op->s[2]);
        in->ns = 3;
    }
    if (op->d[0].type != KS_NONE && (!(op->flags & KS_F_ATOMIC) || in->sc0)) {
        ks_dec_sgpr(d, &in->d[0], data, op->d[0]);
        in->nd = 1;
    }
}
