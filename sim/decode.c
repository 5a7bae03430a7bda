// SPDX-License-Identifier: MIT
// The code of an object into ks_inst rows, in one pass: LLVM says the name and the length, the op
// tables say what operands it has, decode_*.c read them from its bits.  What any of the three does
// not know, or where they differ, becomes an instruction that reports itself and stops its launch
// when, and only when, it is reached.
#include <stdlib.h>
#include <string.h>
#include "mfma.h"
#include "object.h"

enum {
    KS_TEXT_LINE = 256,
    KS_FIRST_ROWS = 1024,
    KS_UNKNOWN_ERROR = 719 /* hipErrorLaunchFailure */
};

static void run_unknown(ks_wave *w, const ks_inst *in)
{
    char text[KS_TEXT_LINE];
    ks_object_text(w->launch->object, in->pc, text, sizeof text);
    ks_report(w, in, KILNSIM_UNKNOWN, -1, 0,
              "%s (words %08x %08x): the simulator does not execute this instruction, the launch "
              "stops here; compile without it",
              *text ? text : "not an instruction of this target", in->word[0], in->word[1]);
    ks_stop(w, KS_UNKNOWN_ERROR);
}
static const ks_op unknown_op = {.name = "unknown", .exec = run_unknown, .class = KS_SALU_OP};

typedef void decode_fn(ks_decoder *);
static decode_fn *const decoders[KS_ENCODING_COUNT] = {
    [KS_SOP1] = ks_dec_sop,      [KS_SOP2] = ks_dec_sop,    [KS_SOPK] = ks_dec_sop,
    [KS_SOPC] = ks_dec_sop,      [KS_SOPP] = ks_dec_sop,    [KS_SMEM_ENC] = ks_dec_smem,
    [KS_VOP1] = ks_dec_vop,      [KS_VOP2] = ks_dec_vop,    [KS_VOPC] = ks_dec_vop,
    [KS_VOP3] = ks_dec_vop,      [KS_VOP3P] = ks_dec_vop,   [KS_DS] = ks_dec_ds,
    [KS_FLAT_ENC] = ks_dec_flat, [KS_MUBUF] = ks_dec_mubuf,
};
/* Prefixes of the first word, the more special ones first: `bits` upper bits are `value`. */
static const struct {
    uint8_t bits, encoding;
    uint16_t value;
} prefixes[] = {
    {9, KS_SOP1, 0x17d},    {9, KS_SOPC, 0x17e},  {9, KS_SOPP, 0x17f}, {4, KS_SOPK, 0xb},
    {2, KS_SOP2, 2},        {7, KS_VOP1, 0x3f},   {7, KS_VOPC, 0x3e},  {1, KS_VOP2, 0},
    {6, KS_SMEM_ENC, 0x30}, {9, KS_VOP3P, 0x1a7}, {6, KS_VOP3, 0x34},  {6, KS_DS, 0x36},
    {6, KS_FLAT_ENC, 0x37}, {6, KS_MUBUF, 0x38},
};
ks_encoding ks_encoding_of(uint32_t word)
{
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (word >> (32 - prefixes[i].bits) == prefixes[i].value)
            return (ks_encoding)prefixes[i].encoding;
    return KS_ENCODING_COUNT;
}
/* LLVM's mnemonic without the encoding's name at its end. */
static const ks_op *find_op(const char *text)
{
    static const char *const suffixes[] = {"_dpp", "_sdwa", "_e64", "_e32"};
    text += strspn(text, " \t");
    size_t length = strcspn(text, " \t");
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t n = strlen(suffixes[i]);
        if (length > n && !memcmp(text + length - n, suffixes[i], n)) length -= n;
    }
    return ks_find_op(text, length);
}
static bool decode_fields(ks_decoder *d, size_t bytes)
{
    ks_inst *in = d->inst;
    ks_encoding encoding = ks_encoding_of(d->w[0]);
    if (encoding == KS_ENCODING_COUNT) return false;
    in->encoding = (uint8_t)encoding;
    in->op = d->op;
    d->words = 1;
    decoders[encoding](d);
    return !d->bad && d->words * 4 == bytes && !ks_mfma_bad_modifier(in, d->arch);
}
static void decode_one(ks_object *o, uint32_t pc, ks_inst *in)
{
    char text[KS_TEXT_LINE];
    uint32_t words[4] = {0};
    size_t left = o->code_size - pc;
    memcpy(words, o->code + pc, left < sizeof words ? left & ~3u : sizeof words);
    size_t bytes = ks_disasm_text(o->arch, o->code + pc, left, pc, text, sizeof text);
    const ks_op *op = bytes >= 4 && bytes <= 12 && bytes % 4 == 0 ? find_op(text) : NULL;
    ks_decoder d = {.arch = o->arch, .op = op, .inst = in, .w = words};
    *in = (ks_inst){.pc = pc, .target = KS_NO_TARGET};
    if (!op || !decode_fields(&d, bytes)) {
        *in = (ks_inst){.pc = pc, .target = KS_NO_TARGET, .encoding = KS_SOPP, .op = &unknown_op};
        bytes = bytes < 4 || bytes > 12 ? 4 : bytes & ~(size_t)3;
    }
    in->run = in->op->exec;
    in->bytes = (uint8_t)bytes;
    memcpy(in->word, words, bytes);
}
static void find_targets(ks_object *o)
{
    for (uint32_t i = 0; i < o->inst_count; i++) {
        ks_inst *in = &o->inst[i];
        if (!(in->op->flags & KS_F_JUMP) || (in->encoding != KS_SOPP && in->encoding != KS_SOPK))
            continue;
        int64_t pc = (int64_t)in->pc + 4 + 4 * (int64_t)in->imm;
        if (pc >= 0 && pc < (int64_t)o->code_size) in->target = o->index_of[pc / 4];
    }
}
bool ks_decode(ks_object *o, ks_error *error)
{
    uint32_t code_size = (uint32_t)o->code_size, room = 0; /* whole words */
    if (!code_size) return true;
    if (!ks_disasm_open(o->arch, error)) return false;
    o->index_of = malloc(code_size);
    bool memory = o->index_of != NULL;
    if (memory) memset(o->index_of, 0xff, code_size); /* KS_NO_TARGET */
    for (uint32_t pc = 0; memory && pc < code_size; o->inst_count++) {
        if (o->inst_count == room) {
            room = room ? 2 * room : KS_FIRST_ROWS;
            ks_inst *more = realloc(o->inst, room * sizeof *more);
            if (!(memory = more != NULL)) break;
            o->inst = more;
        }
        decode_one(o, pc, &o->inst[o->inst_count]);
        o->index_of[pc / 4] = o->inst_count;
        pc += o->inst[o->inst_count].bytes;
    }
    if (!memory) {
        ks_fail(error, KS_NO_MEMORY, "no memory for the decoded instructions of %u bytes of code",
                code_size);
        return false;
    }
    find_targets(o);
    return true;
}
