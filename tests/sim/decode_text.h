// SPDX-License-Identifier: MIT
// LLVM's printed instruction against a decoded one: operands in printed order (registers, how many,
// constants by value), and every modifier that is printed.  Knows nothing of encodings: a statement
// of its own.
#ifndef DECODE_TEXT_H
#define DECODE_TEXT_H
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sim.h"

enum { TEXT_PARTS = 24, TEXT_PART = 96 };
typedef struct printed {
    char name[64];
    unsigned operands, modifiers;
    char operand[TEXT_PARTS][TEXT_PART], modifier[TEXT_PARTS][TEXT_PART];
} printed;

static const char *const text_arch_slc[KS_ARCH_COUNT] = {"slc", "nt"};
static const char *const text_arch_scc[KS_ARCH_COUNT] = {"scc", "sc1"};

static const char *text_glc(const ks_inst *in, ks_arch arch)
{
    return arch == KS_GFX90A || in->encoding == KS_SMEM_ENC ? "glc" : "sc0";
}

/* Operands are separated by commas outside brackets; modifiers follow the last one, separated by
 * blanks. */
static void text_split(const char *text, printed *p)
{
    memset(p, 0, sizeof *p);
    text += strspn(text, " \t");
    size_t n = strcspn(text, " \t");
    snprintf(p->name, sizeof p->name, "%.*s", (int)n, text);
    text += n;
    bool last = !strncmp(p->name, "buffer_inv", 10) || !strncmp(p->name, "buffer_wb", 9);
    while (*(text += strspn(text, " \t"))) {
        size_t end = 0;
        for (int depth = 0; text[end] && (depth || (text[end] != ',' && text[end] != ' ')); end++)
            depth +=
                (text[end] == '[' || text[end] == '(') - (text[end] == ']' || text[end] == ')');
        unsigned *count = last ? &p->modifiers : &p->operands;
        char(*into)[TEXT_PART] = last ? p->modifier : p->operand;
        if (*count < TEXT_PARTS) snprintf(into[(*count)++], TEXT_PART, "%.*s", (int)end, text);
        text += end;
        if (*text == ',')
            text++;
        else
            last = true;
    }
}
/* "name:[a,b,c]" as bits, and how many. */
static unsigned text_bits(const char *s, unsigned *count)
{
    unsigned bits = 0;
    *count = 0;
    for (s = strchr(s, '['); s && *s && *s != ']'; s++)
        if (*s == '0' || *s == '1') bits |= (unsigned)(*s - '0') << (*count)++;
    return bits;
}
static unsigned text_number(const char *s)
{
    const char *colon = strchr(s, ':');
    return colon ? (unsigned)strtol(colon + 1, NULL, 0) : 0;
}

/* ---- Operands ---- */
static bool text_register(const char *s, char *file, unsigned *reg, unsigned *count)
{
    static const struct {
        const char *name;
        uint8_t reg, count;
    } special[] = {
        {"vcc", 106, 2},
        {"vcc_lo", 106, 1},
        {"vcc_hi", 107, 1},
        {"exec", 126, 2},
        {"exec_lo", 126, 1},
        {"exec_hi", 127, 1},
        {"m0", 124, 1},
        {"flat_scratch", 102, 2},
        {"flat_scratch_lo", 102, 1},
        {"flat_scratch_hi", 103, 1},
        {"xnack_mask", 104, 2},
        {"xnack_mask_lo", 104, 1},
        {"xnack_mask_hi", 105, 1},
    };
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        if (!strcmp(s, special[i].name)) {
            *file = 's', *reg = special[i].reg, *count = special[i].count;
            return true;
        }
    unsigned base = 0, last;
    if (!strncmp(s, "ttmp", 4)) {
        base = 108, *file = 's', s += 4;
    } else if (*s == 'v' || *s == 'a' || *s == 's') {
        *file = *s++;
    } else {
        return false;
    }
    char end;
    if (sscanf(s, "[%u:%u]", reg, &last) == 2)
        *count = last - *reg + 1;
    else if (sscanf(s, "%u%c", reg, &end) == 1)
        *count = 1;
    else
        return false;
    *reg += base;
    return true;
}
static uint64_t text_float_bits(double x, unsigned type)
{
    uint64_t b64;
    uint32_t b32;
    float f = (float)x;
    memcpy(&b64, &x, 8);
    memcpy(&b32, &f, 4);
    if (ks_types[type].bits == 64) return b64;
    if (type != KS_F16 && type != KS_V2F16) return b32;
    if (fabs(x) < 0.4) /* 1 / (2 pi) */
        return 0x3118;
    return (b32 >> 16 & 0x8000) | ((b32 >> 23 & 255) - 112) << 10;
}
static uint64_t text_mask(unsigned type)
{
    const ks_type_info *t = &ks_types[type];
    return t->regs == 2 ? ~0ull : t->bits == 16 && t->class != 'p' ? 0xffff : 0xffffffff;
}
static bool text_constant(const char *s, const ks_operand *o, bool simm16)
{
    bool wide = ks_types[o->type].regs == 2;
    uint64_t mask = text_mask(o->type);
    char *end;
    if (!strncmp(s, "0x", 2)) {
        uint64_t v = strtoull(s, &end, 16);
        if (*end) return false;
        if (simm16) v = (uint64_t)(int64_t)(int16_t)v;
        if (o->value == (v & mask) || (o->type == KS_F64 && o->value == v << 32)) return true;
        return wide && o->value == (uint64_t)(int64_t)(int32_t)v;
    }
    if (strchr(s, '.')) {
        double v = strtod(s, &end);
        uint64_t bits = text_float_bits(v, o->type);
        if (fabs(v - 0.15915494309189532) < 1e-7)
            bits = o->type == KS_F64 || o->type == KS_B64 || o->type == KS_U64 || o->type == KS_I64
                       ? 0x3fc45f306dc9c882
                   : o->type == KS_F16 || o->type == KS_V2F16 ? 0x3118
                                                              : 0x3e22f983;
        return !*end && o->value == (bits & mask);
    }
    uint64_t v = (uint64_t)strtoll(s, &end, 10);
    return !*end && end != s && o->value == (v & mask);
}
static bool text_special(const char *s, const ks_operand *o)
{
    static const struct {
        const char *name;
        uint64_t value;
    } bases[] = {{"src_shared_base", KS_SHARED_BASE},
                 {"src_shared_limit", KS_SHARED_BASE | 0xffffffff},
                 {"src_private_base", KS_PRIVATE_BASE},
                 {"src_private_limit", KS_PRIVATE_BASE | 0xffffffff}};
    if (!strcmp(s, "src_vccz") || !strcmp(s, "src_execz") || !strcmp(s, "src_scc"))
        return o->where == KS_SPECIAL && o->reg == (s[4] == 'v'   ? KS_VCCZ
                                                    : s[4] == 'e' ? KS_EXECZ
                                                                  : KS_SCC);
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++)
        if (!strcmp(s, bases[i].name))
            return o->where == KS_CONST && o->value == (bases[i].value & text_mask(o->type));
    return false;
}
/* index: which source, for its modifiers; -1: a destination. */
static bool text_operand(const char *text, const ks_operand *o, const ks_inst *in, int index)
{
    char buffer[TEXT_PART], *s = buffer;
    bool neg = false, abs = false, sext = false;
    snprintf(buffer, sizeof buffer, "%s", text);
    if (s[0] == '-' && !isdigit((unsigned char)s[1])) neg = true, s++;
    if (!strncmp(s, "neg(", 4) || !strncmp(s, "sext(", 5)) {
        neg |= *s == 'n', sext = *s == 's';
        s = strchr(s, '(') + 1;
        s[strlen(s) - 1] = 0;
    }
    if (*s == '|') {
        abs = true, s++;
        s[strlen(s) - 1] = 0;
    }
    if (index >= 0 && in->encoding != KS_VOP3P) {
        bool is_float = ks_types[o->type].class == 'f';
        if ((neg && !(in->neg >> index & 1)) || (abs && !(in->abs >> index & 1)) ||
            sext != (in->sext >> index & 1))
            return false;
        if (is_float && (neg != (in->neg >> index & 1) || abs != (in->abs >> index & 1)))
            return false;                            /* would be applied though it is not there */
        if (!is_float && (neg || abs)) return false; /* would not be applied */
    }
    char file;
    unsigned reg, count;
    if (text_register(s, &file, &reg, &count))
        return o->where == (file == 's' ? KS_SGPR : KS_VGPR) &&
               o->reg == reg + (file == 'a' ? KS_ACC : 0) && o->count == count;
    if (text_special(s, o)) return true;
    return o->where == KS_CONST && text_constant(s, o, in->encoding == KS_SOPK && in->bytes == 4);
}

/* ---- Modifiers ---- */
static bool text_dpp(const char *m, unsigned ctrl)
{
    static const struct {
        const char *name;
        unsigned base;
    } kinds[] = {{"row_shl:", 0x100},  {"row_shr:", 0x110},     {"row_ror:", 0x120},
                 {"wave_shl:", 0x12f}, {"wave_rol:", 0x133},    {"wave_shr:", 0x137},
                 {"wave_ror:", 0x13b}, {"row_newbcast:", 0x150}};
    unsigned a, b, c, d;
    if (sscanf(m, "quad_perm:[%u,%u,%u,%u]", &a, &b, &c, &d) == 4)
        return ctrl == (a | b << 2 | c << 4 | d << 6);
    if (!strcmp(m, "row_mirror") || !strcmp(m, "row_half_mirror"))
        return ctrl == (m[4] == 'm' ? 0x140u : 0x141u);
    if (!strncmp(m, "row_bcast:", 10)) return ctrl == (text_number(m) == 15 ? 0x142u : 0x143u);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strncmp(m, kinds[i].name, strlen(kinds[i].name)))
            return ctrl == kinds[i].base + text_number(m);
    return false;
}
static unsigned text_sel(const char *m)
{
    static const char *const names[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3",
                                        "WORD_0", "WORD_1", "DWORD"};
    const char *s = strchr(m, ':') + 1;
    for (unsigned i = 0; i < 7; i++)
        if (!strcmp(s, names[i])) return i;
    return !strcmp(s, "UNUSED_SEXT") ? 1 : !strcmp(s, "UNUSED_PRESERVE") ? 2 : 0;
}
static bool text_starts(const char *s, const char *with)
{
    return !strncmp(s, with, strlen(with));
}
static bool text_one_modifier(const char *m, const ks_inst *in, ks_arch arch)
{
    const struct {
        const char *name;
        bool value;
    } flags[] = {{text_glc(in, arch), in->sc0},
                 {text_arch_slc[arch], in->nt},
                 {text_arch_scc[arch], in->sc1},
                 {"lds", in->lds},
                 {"offen", in->offen},
                 {"idxen", in->idxen},
                 {"gds", in->gds},
                 {"clamp", in->clamp},
                 {"mul:2", in->omod == 1},
                 {"mul:4", in->omod == 2},
                 {"div:2", in->omod == 3}};
    const struct {
        const char *name;
        unsigned value;
    } numbers[] = {{"offset:", (unsigned)in->offset},
                   {"offset0:", (unsigned)in->offset},
                   {"offset1:", (unsigned)in->offset1},
                   {"row_mask:", in->row_mask},
                   {"bank_mask:", in->bank_mask},
                   {"cbsz:", in->cbsz},
                   {"abid:", in->abid},
                   {"blgp:", in->blgp}};
    const struct {
        const char *name;
        unsigned value;
    } sels[] = {{"dst_sel:", in->dst_sel},
                {"dst_unused:", in->dst_unused},
                {"src0_sel:", in->src_sel[0]},
                {"src1_sel:", in->src_sel[1]}};
    const struct {
        const char *name;
        unsigned value;
    } lists[] = {{"op_sel:", in->op_sel},
                 {"op_sel_hi:", in->op_sel_hi},
                 {"neg_lo:", in->neg},
                 {"neg_hi:", in->neg_hi}};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (!strcmp(m, flags[i].name)) return flags[i].value;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (text_starts(m, numbers[i].name)) return numbers[i].value == text_number(m);
    for (size_t i = 0; i < sizeof sels / sizeof *sels; i++)
        if (text_starts(m, sels[i].name)) return sels[i].value == text_sel(m);
    unsigned count, bits = text_bits(m, &count);
    if (text_starts(m, "neg:")) /* of f64 matrix instructions */
        return in->blgp == bits;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        if (!text_starts(m, lists[i].name)) continue;
        unsigned value = lists[i].value, sources = in->encoding == KS_VOP3 ? count - 1 : count;
        if (in->encoding == KS_VOP3 &&
            (value >> 3 & 1) != bits >> sources) /* the last one is the destination's */
            return false;
        return ((value ^ bits) & ((1u << sources) - 1)) == 0;
    }
    if (text_starts(m, "bound_ctrl:")) return in->bound_ctrl;
    return in->dpp && text_dpp(m, in->dpp_ctrl);
}
#endif
