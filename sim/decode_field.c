// SPDX-License-Identifier: MIT
// Operand fields of GFX9 encodings: scalar and vector registers, inline constants and literals as
// an operand's type has them ("Scalar Operands" and "Vector ALU Operands" of AMD's MI200 and CDNA3
// ISA documents).
#include <string.h>
#include "object.h"

enum { /* 9-bit source codes */
       SRC_SGPRS = 102,
       SRC_TTMP = 108,
       SRC_RESERVED = 125,
       SRC_INT = 128,
       SRC_NEGATIVE = 192,
       SRC_INT_END = 209,
       SRC_SHARED_BASE = 235,
       SRC_SHARED_LIMIT,
       SRC_PRIVATE_BASE,
       SRC_PRIVATE_LIMIT,
       SRC_FLOAT = 240,
       SRC_FLOAT_END = 249,
       SRC_LITERAL = 255,
       SRC_VGPR = 256
};
/* 0.5, -0.5, 1, -1, 2, -2, 4, -4, 1 / (2 pi) */
static const uint16_t inline_f16[] = {0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000,
                                      0xc000, 0x4400, 0xc400, 0x3118};
static const uint32_t inline_f32[] = {0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000,
                                      0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983};
static const uint64_t inline_f64[] = {0x3fe0000000000000, 0xbfe0000000000000, 0x3ff0000000000000,
                                      0xbff0000000000000, 0x4000000000000000, 0xc000000000000000,
                                      0x4010000000000000, 0xc010000000000000, 0x3fc45f306dc9c882};

ks_spec ks_spec_of(ks_spec spec, unsigned count)
{
    spec.count = (uint8_t)count;
    return spec;
}
static void operand_of(ks_operand *o, ks_where where, unsigned reg, ks_spec spec)
{
    *o = (ks_operand){.where = (uint8_t)where, .type = spec.type, .reg = (uint16_t)reg};
    o->count = spec.count ? spec.count : ks_types[spec.type].regs;
}
void ks_dec_sgpr(ks_decoder *d, ks_operand *o, unsigned reg, ks_spec spec)
{
    operand_of(o, KS_SGPR, reg, spec);
    unsigned end = reg < SRC_SGPRS ? SRC_SGPRS : KS_SREGS;
    unsigned align = o->count > 2 ? 4 : o->count;
    if (o->count > 2 && reg >= SRC_SGPRS && reg < SRC_TTMP)
        d->bad = true; /* flat_scratch, xnack_mask and vcc are pairs */
    if (reg == SRC_RESERVED || reg + o->count > end || reg % align) d->bad = true;
}
void ks_dec_vgpr(ks_decoder *d, ks_operand *o, unsigned reg, bool acc, ks_spec spec)
{
    operand_of(o, KS_VGPR, reg + (acc ? KS_ACC : 0), spec);
    bool odd = o->count > 1 && reg % 2; /* both targets want tuples at even registers */
    if (reg + o->count > KS_ACC || odd) d->bad = true;
}
void ks_dec_const(ks_operand *o, uint64_t value, ks_spec spec)
{
    operand_of(o, KS_CONST, 0, spec);
    const ks_type_info *t = &ks_types[spec.type];
    o->value = t->regs == 2                       ? value
               : t->bits == 16 && t->class != 'p' ? value & 0xffff
                                                  : value & 0xffffffff;
}
/* Packed f16 has its constant in the low half only.  What a 16-bit integer gets is told differently
   by LLVM and by the ISA documents, and no compiler asks for it. */
static uint64_t inline_float(ks_decoder *d, unsigned i, ks_type type)
{
    switch (type) {
    case KS_F16:
    case KS_V2F16:
        return inline_f16[i];
    case KS_B64:
    case KS_U64:
    case KS_I64:
    case KS_F64:
    case KS_MASK:
        return inline_f64[i];
    case KS_B16:
    case KS_U16:
    case KS_I16:
    case KS_V2I16:
    case KS_V2U16:
        d->bad = true;
        break;
    case KS_NONE:
    case KS_B32:
    case KS_U32:
    case KS_I32:
    case KS_F32:
    case KS_V2F32:
    case KS_V2B32:
    case KS_TYPE_COUNT:
        break;
    }
    return inline_f32[i];
}
uint32_t ks_dec_literal(ks_decoder *d)
{
    if (!d->literal) /* one literal: every operand that asks for it has the same */
        d->words++;
    d->literal = true;
    return d->w[d->words - 1];
}
static uint64_t literal_of(uint32_t literal, ks_type type)
{
    if (type == KS_F64) return (uint64_t)literal << 32;
    return type == KS_I64 ? (uint64_t)(int64_t)(int32_t)literal : literal;
}
static void special_source(ks_decoder *d, ks_operand *o, unsigned code, ks_spec spec)
{
    switch (code) {
    case SRC_SHARED_BASE:
        ks_dec_const(o, KS_SHARED_BASE, spec);
        break;
    case SRC_SHARED_LIMIT:
        ks_dec_const(o, KS_SHARED_BASE | 0xffffffff, spec);
        break;
    case SRC_PRIVATE_BASE:
        ks_dec_const(o, KS_PRIVATE_BASE, spec);
        break;
    case SRC_PRIVATE_LIMIT:
        ks_dec_const(o, KS_PRIVATE_BASE | 0xffffffff, spec);
        break;
    case KS_VCCZ:
    case KS_EXECZ:
    case KS_SCC:
        operand_of(o, KS_SPECIAL, code, spec);
        break;
    default:
        d->bad = true;
    }
}
void ks_dec_source(ks_decoder *d, ks_operand *o, unsigned code, ks_spec spec)
{
    if (code < KS_SREGS)
        ks_dec_sgpr(d, o, code, spec);
    else if (code >= SRC_VGPR)
        ks_dec_vgpr(d, o, code - SRC_VGPR, false, spec);
    else if (code < SRC_INT_END)
        ks_dec_const(o, code <= SRC_NEGATIVE ? code - SRC_INT : (uint64_t)SRC_NEGATIVE - code,
                     spec);
    else if (code >= SRC_FLOAT && code < SRC_FLOAT_END)
        ks_dec_const(o, inline_float(d, code - SRC_FLOAT, spec.type), spec);
    else if (code == SRC_LITERAL)
        ks_dec_const(o, literal_of(ks_dec_literal(d), spec.type), spec);
    else
        special_source(d, o, code, spec);
}
bool ks_dec_is(const ks_decoder *d, const char *name)
{
    return !strcmp(d->op->name, name);
}
