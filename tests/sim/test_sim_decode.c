// SPDX-License-Identifier: MIT
// Decoding against LLVM's printed text: every opcode of every encoding of both targets, with fields
// drawn by a fixed generator; and whether the op tables have every instruction that LLVM knows.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "decode_text.h"
#include "object.h"

enum { PRINTER = 19, SLOT = 5, SAMPLES = 96, MAX_OPS = 1024, SHOWN = 25 };
/* Encodings by their first word: value, bits of the opcode field, words that belong to it. */
static const struct {
    ks_encoding encoding;
    uint32_t value;
    unsigned low, bits;
} encodings[] = {
    {KS_SOP1, 0xbe800000, 8, 8},      {KS_SOP2, 0x80000000, 23, 7},
    {KS_SOPK, 0xb0000000, 23, 5},     {KS_SOPC, 0xbf000000, 16, 7},
    {KS_SOPP, 0xbf800000, 16, 7},     {KS_SMEM_ENC, 0xc0000000, 18, 8},
    {KS_VOP1, 0x7e000000, 9, 8},      {KS_VOP2, 0x00000000, 25, 6},
    {KS_VOPC, 0x7c000000, 17, 8},     {KS_VOP3, 0xd0000000, 16, 10},
    {KS_VOP3P, 0xd3800000, 16, 7},    {KS_DS, 0xd8000000, 17, 8},
    {KS_FLAT_ENC, 0xdc000000, 18, 7}, {KS_MUBUF, 0xe0000000, 18, 7},
};
/* What LLVM knows and no compiler emits for HIP: prefixes of names. */
static const char *const left_out[] = {
    /* images, formats and exports, which the targets' compute code has no use for */
    "buffer_load_format",
    "buffer_store_format",
    "tbuffer_",
    "image_",
    "exp",
    /* scalar stores, atomics and probes, gone from later targets and never emitted */
    "s_store",
    "s_atomic",
    "s_buffer_store",
    "s_buffer_atomic",
    "s_scratch",
    "s_atc_probe",
    "s_dcache_discard",
    /* forks, debugger branches, thread traces, privileged control */
    "s_cbranch_g_fork",
    "s_cbranch_i_fork",
    "s_cbranch_join",
    "s_cbranch_cdbg",
    "s_rfe",
    "s_setvskip",
    "s_endpgm_ordered_ps_done",
    "s_setkill",
    "s_sendmsghalt",
    /* global data share, stores from LDS, a screen's parts */
    "ds_gws",
    "ds_ordered_count",
    "ds_condxchg32",
    "buffer_store_lds",
    "v_screen_partition",
};
static uint32_t state;
static uint32_t draw(void) /* Marsaglia's xorshift */
{
    state ^= state << 13;
    state ^= state >> 17;
    return state ^= state << 5;
}
/* Refused with reason: a special register where only a vector register can be, and what no matrix
 * form has. */
static bool rightly_refused(const printed *p)
{
    static const char *const halves[] = {"0x3800", "0xb800", "0x3c00", "0xbc00", "0x4000",
                                         "0xc000", "0x4400", "0xc400", "0x3118"};
    bool narrow = strstr(p->name, "i16") || strstr(p->name, "u16") || strstr(p->name, "rev_b16") ||
                  !strncmp(p->name, "v_ldexp_f16", 11);
    bool special = false, modifier = false, packed = !strncmp(p->name, "v_dot2c_f32_f16", 15);
    for (unsigned i = 0; i < p->operands; i++) {
        special |= !strncmp(p->operand[i], "src_", 4);
        const char *tuple = strpbrk(p->operand[i], "va");
        if (tuple && tuple[1] == '[' && strtoul(tuple + 2, NULL, 10) % 2)
            return true; /* must be even */
        if (narrow && strchr(p->operand[i], '.')) return true;
        for (size_t h = 0; h < sizeof halves / sizeof *halves; h++)
            if (!strcmp(p->operand[i], halves[h])) /* an inline float for a 16-bit integer */
                return true;
    }
    for (unsigned i = 0; i < p->modifiers; i++)
        modifier |= strcspn(p->modifier[i], ":") == 4; /* cbsz, abid, blgp */
    if (!strncmp(p->name, "v_mfma", 6) || !strncmp(p->name, "v_smfmac", 8))
        return special || modifier;
    if (!strncmp(p->name, "flat_", 5))
        return p->modifiers &&
               strtol(p->modifier[0] + strcspn(p->modifier[0], ":") + 1, NULL, 10) > 4095;
    return packed ||
           (special && (!strncmp(p->operand[0], "src_", 4) || !strcmp(p->name, "v_swap_b32") ||
                        !strncmp(p->name, "v_accvgpr", 9)));
}
/* LLVM prints operands that later targets have, and says of some itself that they cannot be. */
static bool not_of_gfx9(const char *text)
{
    static const char *const words[] = {"null",
                                        "src_pops_exiting_wave_id",
                                        "src_lds_direct",
                                        "src_flat_scratch_base",
                                        "/*",
                                        "Warning",
                                        ":102]",
                                        ":103]",
                                        ":104]"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(text, words[i])) return true;
    return strstr(text, "sext(") && !strstr(text, "_sel:");
}
static bool is_left_out(const char *name)
{
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
        if (!strncmp(name, left_out[i], strlen(left_out[i]))) return true;
    return false;
}

/* ---- Words ---- */
static uint32_t aligned_vgpr(void)
{
    static const uint8_t alignment[] = {0xff, 0xfe, 0xfe, 0xfc};
    return draw() & 255 & alignment[draw() % 4];
}
static uint32_t sgpr(void)
{
    static const uint8_t alignment[] = {0x7f, 0x7e, 0x7c, 0x70};
    uint32_t r = draw() % 100 & alignment[draw() % 4];
    return draw() % 8 ? r : (uint32_t[]){106, 107, 124, 126, 127, 102, 104, 112}[draw() % 8];
}
static uint32_t source(void) /* nine bits */
{
    switch (draw() % 8) {
    case 0:
    case 1:
        return sgpr();
    case 2:
        return draw() % 2 ? 128 + draw() % 81 : (uint32_t[]){128, 192, 193, 208}[draw() % 4];
    case 3:
        return (uint32_t[]){240, 241, 242, 243, 244, 245, 246, 247,
                            248, 251, 252, 253, 255, 235, 236, 238}[draw() % 16];
    default:
        return 256 + aligned_vgpr();
    }
}
static uint32_t sparse_bits(void) /* modifiers: mostly none */
{
    return draw() & draw() & draw();
}
static void vop3_fields(uint32_t w[4], ks_encoding e, uint32_t op_bits)
{
    w[0] = op_bits | (draw() % 3 ? sparse_bits() & 0xff00u : draw() & 0xff00u) | aligned_vgpr();
    w[1] = (draw() % 3 ? sparse_bits() & 0xf8000000u : draw() & 0xf8000000u) | source() |
           source() << 9 | (draw() % 2 ? source() : 256 + aligned_vgpr()) << 18;
    if (e == KS_VOP3P && draw() % 2)
        w[1] = (w[1] & 0xf8000000u) | (256 + aligned_vgpr()) | (256 + aligned_vgpr()) << 9 |
               (draw() % 4 ? 256 + aligned_vgpr() : source()) << 18;
    if (draw() % 4 == 0) /* VOP3b: a pair of SGPRs above the destination */
        w[0] = (w[0] & ~0x7f00u) | sgpr() << 8;
    if (draw() % 4 == 0) /* a compare's destination */
        w[0] = (w[0] & ~0xffu) | sgpr();
    if (draw() % 4 == 0) /* a mask as third source */
        w[1] = (w[1] & ~(0x1ffu << 18)) | sgpr() << 18;
    if (draw() % 3 == 0) /* no third, no second source, no modifiers */
        w[1] &= draw() % 2 ? 0x3ffffu : 0x1ffu;
    if (e == KS_VOP3P && draw() % 8 == 0) /* v_accvgpr_read, v_accvgpr_write */
        w[0] = op_bits | 0x4000 | aligned_vgpr(), w[1] = 0x18000000 | source();
    if (e == KS_VOP3P && draw() % 4 == 0) { /* a matrix instruction: no modifiers but its files */
        w[0] = op_bits | (draw() & 0x8000) | (aligned_vgpr() & 0xdc);
        w[1] = (draw() & 0x18000000) | (256 + (aligned_vgpr() & 0xfe)) |
               (256 + (aligned_vgpr() & 0xfe)) << 9;
        w[1] |= (draw() % 4 ? 256 + (aligned_vgpr() & 0xdc) : source() & 255) << 18;
    }
}
/* The word after VOP1, VOP2 and VOPC. */
static void sdwa_word(uint32_t w[4], ks_encoding e)
{
    w[1] = aligned_vgpr() | draw() % 7 << 8 | draw() % 3 << 11 | (sparse_bits() & 0xe000u) |
           draw() % 7 << 16 | (sparse_bits() & 0x380000u) | draw() % 7 << 24 |
           (sparse_bits() & 0x38000000u); /* selections up to 6, few other bits */
    if (draw() % 8 == 0) w[1] = (w[1] & ~255u) | 1u << 23 | sgpr();
    if (e != KS_VOP1 && draw() % 8 == 0) {
        w[0] = (w[0] & ~(255u << 9)) | sgpr() << 9;
        w[1] |= 1u << 31;
    }
    if (e == KS_VOPC) w[1] = (w[1] & ~0xff00u) | (draw() % 2 ? 0x8000u | sgpr() << 8 : 0);
}
static void dpp_word(uint32_t w[4])
{
    static const uint16_t controls[] = {0x101, 0x11f, 0x125, 0x130, 0x134, 0x138, 0x13c,
                                        0x140, 0x141, 0x142, 0x143, 0x150, 0x15f};
    uint32_t control = draw() % 2 ? draw() & 255 : controls[draw() % 13];
    w[1] = aligned_vgpr() | control << 8 | (draw() & 0xff080000u) | (sparse_bits() & 0xf00000u);
}
static void vop_fields(uint32_t w[4], ks_encoding e, uint32_t op_bits)
{
    uint32_t src0 = source();
    if (draw() % 3 == 0) src0 = 249 + draw() % 2; /* SDWA, DPP */
    w[0] = op_bits | src0;
    if (e == KS_VOP1 && draw() % 16 == 0) {
        w[0] = op_bits; /* no operands */
        return;
    }
    if (e != KS_VOPC) w[0] |= aligned_vgpr() << 17;
    if (e != KS_VOP1) w[0] |= aligned_vgpr() << 9;
    w[1] = draw();
    if (src0 == 249)
        sdwa_word(w, e);
    else if (src0 == 250)
        dpp_word(w);
}
static void memory_fields(uint32_t w[4], ks_encoding e, uint32_t op_bits)
{
    if (e == KS_DS) {
        w[0] = op_bits | (draw() & 0xffff) | (draw() % 4 ? 0 : draw() & 1u << 25) |
               (draw() % 16 ? 0 : 1u << 16);
        w[1] = aligned_vgpr() | aligned_vgpr() << 8 | aligned_vgpr() << 16 | aligned_vgpr() << 24;
        if (draw() % 2)
            w[1] &= (uint32_t[]){
                0x0000ffff, 0xff0000ff, 0xff00ffff, 0xff000000, 0x0000ff00, 0}[draw() % 6];
        if (draw() % 16 == 0) w[0] = op_bits, w[1] = 0;
    } else if (e == KS_FLAT_ENC) {
        w[0] = op_bits | (draw() & 0x1fff) | draw() % 3 << 14 | (sparse_bits() & 0x02032000u);
        if (!(w[0] >> 14 & 3) && draw() % 8) w[0] &= ~0x3000u;
        w[1] = aligned_vgpr() | aligned_vgpr() << 8 | (draw() % 2 ? 0x7fu : sgpr()) << 16 |
               (draw() % 4 ? 0 : draw() & 1u << 23) | aligned_vgpr() << 24;
        if (!(w[0] >> 14 & 3)) w[1] = (w[1] & ~0x7f0000u) | (draw() % 2 ? 0x7f0000 : 0);
        if (draw() % 2) /* a load, a store */
            w[1] &= draw() % 2 ? ~0xff00u : ~0xff000000u;
    } else {
        w[0] = op_bits | (draw() & 0x3fff) | (sparse_bits() & 0x3c000u);
        w[1] = aligned_vgpr() | aligned_vgpr() << 8 | draw() % 25 << 16 |
               (draw() % 4 ? 0 : draw() & 1u << 23) |
               (draw() % 2 ? sgpr() : 128 + draw() % 81) << 24;
    }
}
static void draw_words(uint32_t w[4], ks_encoding e, uint32_t op_bits)
{
    memset(w, 0, 16);
    switch (e) {
    case KS_SOP1:
    case KS_SOP2:
    case KS_SOPC:
    case KS_SOPK:
        w[0] = op_bits | (e == KS_SOP1 ? sgpr() << 16 : 0);
        if (e == KS_SOPK)
            w[0] |= sgpr() << 16 | (draw() & 0xffff);
        else
            w[0] |= source() & 255;
        if (e == KS_SOP2) w[0] |= sgpr() << 16;
        if (e == KS_SOP2 || e == KS_SOPC) w[0] |= (draw() % 2 ? sgpr() : source() & 255) << 8;
        w[1] = draw();
        break;
    case KS_SOPP:
        w[0] = op_bits | (draw() % 2 ? draw() & 0xffff : 0);
        break;
    case KS_SMEM_ENC:
        w[0] = op_bits | sgpr() >> 1 | sgpr() << 6 | (draw() & 1u << 16) |
               (draw() % 3 ? 1u << 17 : 0) | (draw() % 3 ? 0 : 1u << 14);
        w[1] = (draw() & 0x1fffff) | sgpr() << 25;
        if (!(w[0] >> 17 & 1)) w[1] = (w[1] & ~0x1fffffu) | sgpr();
        break;
    case KS_VOP1:
    case KS_VOP2:
    case KS_VOPC:
        vop_fields(w, e, op_bits);
        break;
    case KS_VOP3:
    case KS_VOP3P:
        vop3_fields(w, e, op_bits);
        break;
    case KS_DS:
    case KS_FLAT_ENC:
    case KS_MUBUF:
        memory_fields(w, e, op_bits);
        break;
    case KS_ENCODING_COUNT:
        break;
    }
}

/* ---- Comparing ---- */
static bool name_is(const ks_inst *in, const char *name)
{
    return !strcmp(in->op->name, name);
}
/* The operands in the order in which LLVM prints them, and the source number of each (-1: a
 * destination). */
static unsigned printed_order(const ks_inst *in, const ks_operand *out[8], int index[8])
{
    static const uint8_t plain[] = {0, 1, 2, 3}, data_second[] = {0, 2, 1},
                         data_first[] = {3, 0, 1, 2};
    unsigned n = 0, sources = in->ns;
    const uint8_t *order = plain;
    bool memory = in->encoding == KS_FLAT_ENC || in->encoding == KS_MUBUF;
    if (memory)
        order = in->encoding == KS_MUBUF       ? data_first
                : in->op->s[2].type != KS_NONE ? data_second
                                               : plain;
    if (in->op->flags & KS_F_DST_IN) sources--;
    if (name_is(in, "v_div_fmas_f32") || name_is(in, "v_div_fmas_f64"))
        sources--; /* VCC, which is not printed */
    if (in->encoding == KS_MUBUF && in->ns) sources = 4;
    if (in->encoding == KS_FLAT_ENC) sources = in->op->s[2].type != KS_NONE ? 3 : 2;
    bool same_register = in->encoding == KS_MUBUF && in->nd && in->s[3].where != KS_ABSENT;
    for (unsigned i = 0; i < in->nd && !same_register; i++)
        if (!name_is(in, "v_swap_b32") || !i) out[n] = &in->d[i], index[n++] = -1;
    for (unsigned i = 0; i < sources; i++) {
        const ks_operand *o = &in->s[order[i]];
        bool flat_off = in->encoding == KS_FLAT_ENC && order[i] < 2 && o->where == KS_ABSENT &&
                        !(in->word[0] >> 14 & 3 ? false : order[i] == 1);
        bool buffer_off = in->encoding == KS_MUBUF && order[i] == 0 && o->where == KS_ABSENT;
        if (o->where != KS_ABSENT || flat_off || buffer_off) out[n] = o, index[n++] = order[i];
    }
    return n;
}
static bool same_memory_flags(const ks_inst *in, const printed *p, ks_arch arch)
{
    bool offset = false, seen[3] = {false};
    const char *const flags[3] = {text_glc(in, arch), text_arch_slc[arch], text_arch_scc[arch]};
    for (unsigned i = 0; i < p->modifiers; i++) {
        offset |= text_starts(p->modifier[i], "offset");
        for (int k = 0; k < 3; k++) seen[k] |= !strcmp(p->modifier[i], flags[k]);
    }
    if (!offset && (in->offset || in->offset1)) return false;
    return in->encoding == KS_DS || (seen[0] == in->sc0 && seen[1] == in->nt && seen[2] == in->sc1);
}
static bool same_packed_flags(const ks_inst *in, const printed *p)
{
    unsigned mask = (1u << (in->ns - (in->op->flags & KS_F_DST_IN ? 1 : 0))) - 1, seen = 0;
    for (unsigned i = 0; i < p->modifiers; i++)
        seen |= text_starts(p->modifier[i], "op_sel:")      ? 1u
                : text_starts(p->modifier[i], "op_sel_hi:") ? 2u
                : text_starts(p->modifier[i], "neg_lo:")    ? 4u
                : text_starts(p->modifier[i], "neg_hi:")    ? 8u
                                                            : 0;
    return (seen & 1 || !(in->op_sel & mask)) && (seen & 2 || (in->op_sel_hi & mask) == mask) &&
           (seen & 4 || !(in->neg & mask)) && (seen & 8 || !(in->neg_hi & mask));
}
static const char *difference(const ks_inst *in, const char *text, ks_arch arch)
{
    static char why[160];
    printed p;
    const ks_operand *order[8];
    int index[8];
    text_split(text, &p);
    if (in->encoding == KS_SOPP) {
        char *end;
        long v = strtol(p.operand[0], &end, 0);
        return p.operands == 1 && !*end && (int16_t)v != in->imm ? "its constant" : NULL;
    }
    if (in->op->flags & KS_F_DST_IN && in->encoding >= KS_VOP1 &&
        in->s[in->ns - 1].reg != in->d[0].reg)
        return "the old destination is not its last source";
    if (text_starts(p.name, "v_div_fmas") && (in->s[3].reg != KS_VCC || in->s[3].type != KS_MASK))
        return "VCC is not its last source";
    if (text_starts(p.name, "v_cmp") &&
        text_starts(p.name, "v_cmpx") != !!(in->op->flags & KS_F_EXEC_OUT))
        return "whether it writes EXEC";
    unsigned n = printed_order(in, order, index), k = 0;
    if (name_is(in, "s_getreg_b32") || name_is(in, "s_setreg_b32") ||
        name_is(in, "s_setreg_imm32_b32") || name_is(in, "s_call_b64") ||
        name_is(in, "s_set_gpr_idx_on") || name_is(in, "ds_swizzle_b32"))
        p.modifiers = 0; /* fields that are printed in words of their own */
    for (unsigned i = 0; i < p.operands; i++) {
        const char *s = p.operand[i];
        if (text_starts(s, "hwreg(") || text_starts(s, "gpr_idx(") ||
            (name_is(in, "s_call_b64") && i == 1) || (name_is(in, "s_set_gpr_idx_on") && i == 1))
            continue;
        if (in->encoding == KS_SMEM_ENC && k == n && (int32_t)strtol(s, NULL, 0) == in->offset)
            continue;
        if (k >= n) {
            snprintf(why, sizeof why, "operand %s is printed and not decoded", s);
            return why;
        }
        const ks_operand *o = order[k];
        bool ok = !strcmp(s, "off") ? o->where == KS_ABSENT : text_operand(s, o, in, index[k]);
        k++;
        if (!ok) {
            snprintf(why, sizeof why, "operand %s: where %u, reg %u, count %u, type %s, value %llx",
                     s, o->where, o->reg, o->count, ks_types[o->type].name,
                     (unsigned long long)o->value);
            return why;
        }
    }
    if (k != n) return "an operand is decoded and not printed";
    for (unsigned i = 0; i < p.modifiers; i++)
        if (!text_one_modifier(p.modifier[i], in, arch)) {
            snprintf(why, sizeof why, "modifier %s", p.modifier[i]);
            return why;
        }
    bool memory = (in->encoding == KS_DS && !name_is(in, "ds_swizzle_b32")) ||
                  in->encoding == KS_FLAT_ENC || in->encoding == KS_MUBUF;
    if (memory && in->ns && !same_memory_flags(in, &p, arch))
        return "a flag or offset is decoded and not printed";
    if (in->encoding == KS_VOP3P && in->op->class != KS_MFMA_OP &&
        !text_starts(in->op->name, "v_accvgpr") && !(in->op->flags & KS_F_MIX) &&
        !same_packed_flags(in, &p))
        return "a packed modifier is decoded and not printed";
    return NULL;
}

/* ---- The test ---- */
typedef struct tally {
    unsigned compared, refused, differ, missing;
    uint8_t *seen; /* by ks_op_at's number */
} tally;
static void op_seen(tally *t, const ks_op *op)
{
    static const ks_op *last; /* they come in runs */
    static const tally *of;
    if (op == last && t == of) return;
    last = op;
    of = t;
    for (size_t i = 0; ks_op_at(i); i++)
        if (ks_op_at(i) == op) t->seen[i] = 1;
}
static void check_slot(const ks_object *o, unsigned slot, tally *t, char *last_missing)
{
    char text[256];
    uint32_t pc = slot * SLOT * 4;
    size_t bytes = ks_disasm_text(o->arch, o->code + pc, 16, pc, text, sizeof text);
    const ks_inst *in = &o->inst[o->index_of[pc / 4]];
    printed p;
    text_split(text, &p);
    if (!bytes || is_left_out(p.name) || not_of_gfx9(text)) return;
    if (!strcmp(in->op->name, "unknown")) {
        if (rightly_refused(&p)) return;
        static const char *const suffixes[] = {"_dpp", "_sdwa", "_e64", "_e32"};
        size_t n = strlen(p.name);
        for (size_t i = 0; i < 4; i++)
            if (n > strlen(suffixes[i]) && !strcmp(p.name + n - strlen(suffixes[i]), suffixes[i]))
                n -= strlen(suffixes[i]), p.name[n] = 0;
        bool missing = !ks_find_op(p.name, n);
        t->missing += missing;
        t->refused += !missing;
        if (missing && strcmp(last_missing, p.name) != 0)
            print_message("# no row: %s\n", strcpy(last_missing, p.name));
        else if (!missing && t->refused < SHOWN)
            print_message("# refused: %08x %08x %s\n", in->word[0],
                          ((const uint32_t *)(o->code + pc))[1], text);
        return;
    }
    const char *why = bytes != in->bytes ? "its length" : difference(in, text, o->arch);
    t->compared++;
    op_seen(t, in->op);
    if (why && t->differ++ < SHOWN)
        print_message("# %08x %08x %s: %s\n", in->word[0], in->word[1], text, why);
}
static void compare(ks_arch arch, tally *t)
{
    ks_error error;
    assert_true(ks_disasm_open(arch, &error));
    static uint32_t code[MAX_OPS * SLOT];
    char last_missing[64] = "";
    for (size_t e = 0; e < sizeof encodings / sizeof *encodings; e++)
        for (uint32_t op = 0; op < 1u << encodings[e].bits; op++) {
            uint32_t op_bits = encodings[e].value | op << encodings[e].low;
            if (ks_encoding_of(op_bits) != encodings[e].encoding) continue;
            state = 0x9e3779b9u ^ (uint32_t)(e << 16 | op);
            for (unsigned i = 0; i < SAMPLES; i++) {
                uint32_t *w = code + i * SLOT;
                draw_words(w, encodings[e].encoding, op_bits);
                w[3] = w[4] = 0xbf800000; /* s_nop */
            }
            ks_object o = {.arch = arch, .code = (uint8_t *)code, .code_size = SAMPLES * SLOT * 4};
            assert_true(ks_decode(&o, &error));
            for (unsigned i = 0; i < SAMPLES; i++) check_slot(&o, i, t, last_missing);
            free(o.inst);
            free(o.index_of);
        }
}
static tally tallies[KS_ARCH_COUNT];
static void test_operands(ks_arch arch)
{
    tally *t = &tallies[arch];
    t->seen = calloc(1 << 14, 1);
    assert_non_null(t->seen);
    compare(arch, t);
    print_message("# %s: %u instructions compared, %u differ, %u refused, %u without a row\n",
                  ks_arch_names[arch], t->compared, t->differ, t->refused, t->missing);
    assert_int_equal(t->differ, 0);
    assert_int_equal(t->refused, 0);
    assert_true(t->compared > 30000);
}
static void test_gfx90a(void **s)
{
    (void)s;
    test_operands(KS_GFX90A);
}
static void test_gfx942(void **s)
{
    (void)s;
    test_operands(KS_GFX942);
}
static void test_complete(void **s)
{
    (void)s;
    assert_int_equal(tallies[KS_GFX90A].missing, 0);
    assert_int_equal(tallies[KS_GFX942].missing, 0);
}
/* A row that LLVM never names is a misspelt one. */
static void test_every_row(void **s)
{
    (void)s;
    unsigned unseen = 0;
    for (size_t i = 0; ks_op_at(i); i++)
        if (!tallies[KS_GFX90A].seen[i] && !tallies[KS_GFX942].seen[i] &&
            !is_left_out(ks_op_at(i)->name)) {
            print_message("# never seen: %s\n", ks_op_at(i)->name);
            unseen++;
        }
    assert_int_equal(unseen, 0);
}
static int free_seen(void **s)
{
    (void)s;
    free(tallies[KS_GFX90A].seen);
    free(tallies[KS_GFX942].seen);
    return 0;
}
/* Words of no meaning at all: LLVM must not be asked what it cannot bear, and what it names must
 * decode or be refused. */
static void test_noise(void **s)
{
    (void)s;
    enum { WORDS = 1 << 14 };
    static uint32_t code[WORDS];
    ks_error error;
    unsigned known = 0;
    state = 0x2545f491;
    for (unsigned round = 0; round < 8; round++) {
        for (unsigned i = 0; i < WORDS; i++)
            code[i] =
                round & 1 && i & 1 ? draw() : encodings[draw() % 14].value | (draw() & 0x7ffffff);
        ks_object o = {.arch = round & 2 ? KS_GFX90A : KS_GFX942,
                       .code = (uint8_t *)code,
                       .code_size = sizeof code};
        assert_true(ks_decode(&o, &error));
        for (uint32_t i = 0; i < o.inst_count; i++) {
            const ks_inst *in = &o.inst[i];
            known += !!strcmp(in->op->name, "unknown");
            assert_non_null(in->run);
            assert_true(in->target == KS_NO_TARGET || in->target < o.inst_count);
            for (unsigned k = 0; k < 6; k++) {
                const ks_operand *v = k < 2 ? &in->d[k] : &in->s[k - 2];
                assert_true(v->where != KS_SGPR || v->reg + v->count <= KS_SREGS);
                assert_true(v->where != KS_VGPR || v->reg + v->count <= KS_VREGS);
            }
        }
        free(o.inst);
        free(o.index_of);
    }
    assert_true(known > WORDS);
}
/* The texts compared with are those of one LLVM; others print a few things otherwise. */
static bool other_printer(void)
{
    unsigned version = ks_disasm_version();
    if (version != PRINTER)
        print_message("# LLVM %u, where the texts of %u are known\n", version, PRINTER);
    return version != PRINTER;
}
int main(void)
{
    if (other_printer()) {
        const struct CMUnitTest noise[] = {cmocka_unit_test(test_noise)};
        return ks_disasm_version() ? cmocka_run_group_tests(noise, NULL, NULL) : 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gfx90a),   cmocka_unit_test(test_gfx942),
        cmocka_unit_test(test_complete), cmocka_unit_test(test_every_row),
        cmocka_unit_test(test_noise),
    };
    return cmocka_run_group_tests(tests, NULL, free_seen);
}
