// SPDX-License-Identifier: MIT
// Vector ALU encodings of GFX9: VOP1, VOP2, VOPC with their literal, SDWA and DPP words, VOP3,
// VOP3P and the matrix instructions.  Operand types are the op table's; implicit VCC and old
// destinations become operands here.
#include <string.h>
#include "object.h"

enum { SRC_SDWA = 249, SRC_DPP = 250, SRC_VGPR = 256, ROW_NEWBCAST = 0x150 };

static bool is_mask(ks_spec spec)
{
    return spec.type == KS_MASK;
}
static void vcc(ks_decoder *d, ks_operand *o)
{
    ks_dec_sgpr(d, o, KS_VCC, (ks_spec){KS_MASK, 0});
}
static unsigned source_count(const ks_op *op)
{
    unsigned n = 0;
    while (n < 4 && op->s[n].type != KS_NONE) n++;
    return n;
}
/* What an instruction's own fields do not hold: a mask that is VCC, and the old destination. */
static void implicit_sources(ks_decoder *d, unsigned from)
{
    ks_inst *in = d->inst;
    unsigned n = source_count(d->op);
    for (unsigned i = from; i < n; i++) {
        if (is_mask(d->op->s[i]))
            vcc(d, &in->s[i]);
        else if (d->op->flags & KS_F_DST_IN && i + 1 == n)
            in->s[i] = in->d[0], in->s[i].type = d->op->s[i].type;
        else
            d->bad = true;
    }
    in->ns = (uint8_t)n;
}
static void destination(ks_decoder *d, unsigned reg)
{
    const ks_op *op = d->op;
    ks_inst *in = d->inst;
    if (op->d[0].type == KS_NONE) return;
    if (is_mask(op->d[0]) || ks_dec_is(d, "v_readlane_b32") || ks_dec_is(d, "v_readfirstlane_b32"))
        ks_dec_sgpr(d, &in->d[0], reg, op->d[0]);
    else
        ks_dec_vgpr(d, &in->d[0], reg, false, op->d[0]);
    in->nd = 1;
}

/* ---- The word after VOP1, VOP2 and VOPC ---- */
static void sdwa_word(ks_decoder *d, unsigned *src0, unsigned *src1, bool compare)
{
    ks_inst *in = d->inst;
    uint32_t w = d->w[d->words++];
    in->sdwa = true;
    if (!compare) {
        in->dst_sel = (uint8_t)ks_bits(w, 8, 3);
        in->dst_unused = (uint8_t)ks_bits(w, 11, 2);
        in->clamp = (uint8_t)ks_bits(w, 13, 1);
        in->omod = (uint8_t)ks_bits(w, 14, 2);
    }
    in->src_sel[0] = (uint8_t)ks_bits(w, 16, 3);
    in->src_sel[1] = (uint8_t)ks_bits(w, 24, 3);
    in->sext = (uint8_t)(ks_bits(w, 19, 1) | ks_bits(w, 27, 1) << 1);
    in->neg = (uint8_t)(ks_bits(w, 20, 1) | ks_bits(w, 28, 1) << 1);
    in->abs = (uint8_t)(ks_bits(w, 21, 1) | ks_bits(w, 29, 1) << 1);
    *src0 = ks_bits(w, 0, 8) + (ks_bits(w, 23, 1) ? 0 : SRC_VGPR);
    if (ks_bits(w, 31, 1)) /* the second source is an SGPR or a constant, too */
        *src1 -= SRC_VGPR;
    if (*src0 == 255 || *src1 == 255) d->bad = true; /* no room for a literal */
}
static void dpp_word(ks_decoder *d, unsigned *src0)
{
    ks_inst *in = d->inst;
    uint32_t w = d->w[d->words++];
    in->dpp = true;
    in->dpp_ctrl = (uint16_t)ks_bits(w, 8, 9);
    in->bound_ctrl = ks_bits(w, 19, 1);
    in->neg = (uint8_t)(ks_bits(w, 20, 1) | ks_bits(w, 22, 1) << 1);
    in->abs = (uint8_t)(ks_bits(w, 21, 1) | ks_bits(w, 23, 1) << 1);
    in->bank_mask = (uint8_t)ks_bits(w, 24, 4);
    in->row_mask = (uint8_t)ks_bits(w, 28, 4);
    *src0 = ks_bits(w, 0, 8) + SRC_VGPR;
    bool wide = ks_types[d->op->d[0].type].bits == 64 || ks_types[d->op->s[0].type].bits == 64;
    if (wide && (in->dpp_ctrl < ROW_NEWBCAST || in->dpp_ctrl >= ROW_NEWBCAST + 16))
        d->bad = true; /* 64-bit units know no other way */
}
static void vop1(ks_decoder *d)
{
    ks_inst *in = d->inst;
    const ks_op *op = d->op;
    unsigned src0 = ks_bits(d->w[0], 0, 9), src1 = SRC_VGPR, dst = ks_bits(d->w[0], 17, 8);
    bool acc = ks_dec_is(d, "v_accvgpr_mov_b32");
    if (op->s[0].type == KS_NONE) /* v_nop */
        return;
    if (src0 == SRC_SDWA)
        sdwa_word(d, &src0, &src1, false);
    else if (src0 == SRC_DPP)
        dpp_word(d, &src0);
    if (acc && op->d[0].type != KS_NONE) {
        ks_dec_vgpr(d, &in->d[0], dst, true, op->d[0]);
        ks_dec_vgpr(d, &in->s[0], src0 & 255, true, op->s[0]);
        in->nd = in->ns = 1;
        d->bad |= src0 < SRC_VGPR;
        return;
    }
    destination(d, dst);
    ks_dec_source(d, &in->s[0], src0, op->s[0]);
    if (op->d[1].type != KS_NONE) { /* v_swap_b32: both registers are read and written */
        ks_dec_vgpr(d, &in->d[1], src0 & 255, false, op->d[1]);
        d->bad |= src0 < SRC_VGPR;
        in->nd = 2;
    }
    implicit_sources(d, 1);
}
static void vop2(ks_decoder *d)
{
    ks_inst *in = d->inst;
    const ks_op *op = d->op;
    unsigned src0 = ks_bits(d->w[0], 0, 9), src1 = ks_bits(d->w[0], 9, 8) + SRC_VGPR;
    if (op->flags & KS_F_LITERAL_K)
        ks_dec_literal(d); /* before a source takes the same one */
    else if (src0 == SRC_SDWA)
        sdwa_word(d, &src0, &src1, false);
    else if (src0 == SRC_DPP)
        dpp_word(d, &src0);
    destination(d, ks_bits(d->w[0], 17, 8));
    ks_dec_source(d, &in->s[0], src0, op->s[0]);
    if (op->flags & KS_F_LITERAL_K) {
        /* fmamk: src0 * K + src1; fmaak: src0 * src1 + K */
        bool middle = strstr(op->name, "mk_") != NULL;
        ks_dec_const(&in->s[middle ? 1 : 2], ks_dec_literal(d), op->s[middle ? 1 : 2]);
        ks_dec_source(d, &in->s[middle ? 2 : 1], src1, op->s[middle ? 2 : 1]);
        in->ns = 3;
        return;
    }
    ks_dec_source(d, &in->s[1], src1, op->s[1]);
    if (is_mask(op->d[1])) {
        vcc(d, &in->d[1]);
        in->nd = 2;
    }
    implicit_sources(d, 2);
}
static void vopc(ks_decoder *d)
{
    ks_inst *in = d->inst;
    const ks_op *op = d->op;
    unsigned src0 = ks_bits(d->w[0], 0, 9), src1 = ks_bits(d->w[0], 9, 8) + SRC_VGPR, dst = KS_VCC;
    if (src0 == SRC_SDWA) {
        sdwa_word(d, &src0, &src1, true);
        if (ks_bits(d->w[1], 15, 1)) dst = ks_bits(d->w[1], 8, 7);
    } else if (src0 == SRC_DPP) {
        dpp_word(d, &src0);
    }
    ks_dec_sgpr(d, &in->d[0], dst, op->d[0]);
    in->nd = 1;
    ks_dec_source(d, &in->s[0], src0, op->s[0]);
    ks_dec_source(d, &in->s[1], src1, op->s[1]);
    implicit_sources(d, 2);
}

/* ---- Two-word encodings ---- */
static void three_sources(ks_decoder *d)
{
    ks_inst *in = d->inst;
    const ks_op *op = d->op;
    unsigned n = source_count(op), explicit = op->flags & KS_F_DST_IN ? n - 1 : n;
    if (explicit > 3) explicit = 3;
    for (unsigned i = 0; i < explicit; i++) {
        unsigned code = ks_bits(d->w[1], 9 * i, 9);
        if (code == 255)
            d->bad = true; /* GFX9 has no literal here */
        else
            ks_dec_source(d, &in->s[i], code, op->s[i]);
    }
    implicit_sources(d, explicit);
}
static void vop3(ks_decoder *d)
{
    ks_inst *in = d->inst;
    d->words = 2;
    destination(d, ks_bits(d->w[0], 0, 8));
    in->clamp = (uint8_t)ks_bits(d->w[0], 15, 1);
    in->omod = (uint8_t)ks_bits(d->w[1], 27, 2);
    in->neg = (uint8_t)ks_bits(d->w[1], 29, 3);
    if (is_mask(d->op->d[1])) { /* VOP3b */
        ks_dec_sgpr(d, &in->d[1], ks_bits(d->w[0], 8, 7), d->op->d[1]);
        in->nd = 2;
    } else {
        in->abs = (uint8_t)ks_bits(d->w[0], 8, 3);
        in->op_sel = (uint8_t)ks_bits(d->w[0], 11, 4);
    }
    three_sources(d);
}
static void accvgpr(ks_decoder *d, bool read)
{
    ks_inst *in = d->inst;
    unsigned src0 = ks_bits(d->w[1], 0, 9);
    ks_dec_vgpr(d, &in->d[0], ks_bits(d->w[0], 0, 8), !read, d->op->d[0]);
    if (read) {
        ks_dec_vgpr(d, &in->s[0], src0 & 255, true, d->op->s[0]);
        d->bad |= src0 < SRC_VGPR;
    } else {
        ks_dec_source(d, &in->s[0], src0, d->op->s[0]);
    }
    in->nd = in->ns = 1;
}
static void mfma(ks_decoder *d)
{
    ks_inst *in = d->inst;
    const ks_op *op = d->op;
    bool acc_cd = ks_bits(d->w[0], 15, 1);
    unsigned acc = ks_bits(d->w[1], 27, 2), n = source_count(op);
    in->cbsz = (uint8_t)ks_bits(d->w[0], 8, 3);
    in->abid = (uint8_t)ks_bits(d->w[0], 11, 4);
    in->blgp = (uint8_t)ks_bits(d->w[1], 29, 3);
    ks_dec_vgpr(d, &in->d[0], ks_bits(d->w[0], 0, 8), acc_cd, op->d[0]);
    in->nd = 1;
    bool sparse = op->flags & KS_F_DST_IN; /* src2 is the index register, C the destination */
    for (unsigned i = 0; i < 3 && i < n; i++) {
        unsigned code = ks_bits(d->w[1], 9 * i, 9);
        bool in_acc = i < 2 ? acc >> i & 1 : acc_cd && !sparse;
        if (code >= SRC_VGPR)
            ks_dec_vgpr(d, &in->s[i], code & 255, in_acc, op->s[i]);
        else if (i == 2 && !sparse && code >= KS_SREGS && code != 255)
            ks_dec_source(d, &in->s[i], code, op->s[i]); /* an inline constant as C */
        else
            d->bad = true;
    }
    implicit_sources(d, n < 3 ? n : 3);
}
static void vop3p(ks_decoder *d)
{
    ks_inst *in = d->inst;
    d->words = 2;
    if (d->op->class == KS_MFMA_OP && strncmp(d->op->name, "v_accvgpr", 9)) {
        mfma(d);
        return;
    }
    if (ks_dec_is(d, "v_accvgpr_read_b32") || ks_dec_is(d, "v_accvgpr_write_b32")) {
        accvgpr(d, ks_dec_is(d, "v_accvgpr_read_b32"));
        return;
    }
    destination(d, ks_bits(d->w[0], 0, 8));
    in->neg_hi = (uint8_t)ks_bits(d->w[0], 8, 3);
    in->op_sel = (uint8_t)ks_bits(d->w[0], 11, 3);
    in->op_sel_hi = (uint8_t)(ks_bits(d->w[1], 27, 2) | ks_bits(d->w[0], 14, 1) << 2);
    in->clamp = (uint8_t)ks_bits(d->w[0], 15, 1);
    in->neg = (uint8_t)ks_bits(d->w[1], 29, 3);
    three_sources(d);
}
/* What abs and neg of the older encodings do to packed halves is written nowhere. */
static void packed_modifiers(ks_decoder *d)
{
    const ks_inst *in = d->inst;
    for (unsigned i = 0; i < in->ns; i++)
        if ((in->neg | in->abs) >> i & 1 && ks_types[in->s[i].type].class == 'p') d->bad = true;
}
void ks_dec_vop(ks_decoder *d)
{
    switch ((ks_encoding)d->inst->encoding) {
    case KS_VOP1:
        vop1(d);
        break;
    case KS_VOP2:
        vop2(d);
        break;
    case KS_VOPC:
        vopc(d);
        break;
    case KS_VOP3:
        vop3(d);
        break;
    case KS_VOP3P:
        vop3p(d);
        break;
    case KS_SOP1:
    case KS_SOP2:
    case KS_SOPK:
    case KS_SOPC:
    case KS_SOPP:
    case KS_SMEM_ENC:
    case KS_DS:
    case KS_FLAT_ENC:
    case KS_MUBUF:
    case KS_ENCODING_COUNT:
        d->bad = true;
    }
    if (d->inst->encoding != KS_VOP3P) packed_modifiers(d);
}
