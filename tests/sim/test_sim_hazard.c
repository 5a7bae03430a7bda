// SPDX-License-Identifier: MIT
// Waits and wait states on instructions written by hand: each rule is found with one wait state too
// few and silent with enough; each counter keeps its order.  Instructions are stated as text,
// destinations before a "<", and know nothing of the decoder; the findings are caught here.
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "hazard.h"
#include "mfma.h"

/* ---- What was found ---- */
static struct {
    unsigned count;
    kilnsim_kind kind;
    uint32_t pc;
    char text[KS_TEXT];
} found;
void ks_report(ks_wave *w, const ks_inst *inst, kilnsim_kind kind, int lane, uint64_t address,
               const char *format, ...)
{
    (void)w, (void)lane, (void)address;
    va_list args;
    va_start(args, format);
    vsnprintf(found.text, sizeof(found.text), format, args);
    va_end(args);
    found.count++;
    found.kind = kind;
    found.pc = inst->pc;
}

void ks_object_line(ks_object *o, uint32_t pc, char *out, size_t size)
{
    (void)o, (void)pc;
    snprintf(out, size, "%s", ""); /* none here */
}

/* ---- Instructions ---- */
#define MATRIX(name)                                                                               \
    {                                                                                              \
#name, .class = KS_MFMA_OP, .form = KS_ROW_##name                                          \
    }
static const ks_op ops[] = {
    {"v_add_f32", .class = KS_VALU_OP},
    {"v_mov_b32", .class = KS_VALU_OP},
    {"v_exp_f32", .class = KS_TRANS_OP},
    {"v_rcp_f64", .class = KS_F64_OP},
    {"v_fma_f64", .class = KS_F64_OP},
    {"v_dot2_f32_f16", .class = KS_VALU_OP},
    {"v_dot4_i32_i8", .class = KS_VALU_OP},
    {"v_cmp_lt_f32", .class = KS_VALU_OP},
    {"v_cmpx_lt_f32", .class = KS_VALU_OP, .flags = KS_F_EXEC_OUT},
    {"v_cndmask_b32", .class = KS_VALU_OP},
    {"v_div_fmas_f32", .class = KS_VALU_OP},
    {"v_readlane_b32", .class = KS_VALU_OP},
    {"v_readfirstlane_b32", .class = KS_VALU_OP},
    {"v_writelane_b32", .class = KS_VALU_OP},
    {"v_accvgpr_write_b32", .class = KS_VALU_OP},
    {"s_mov_b32", .class = KS_SALU_OP},
    {"s_setreg_b32", .class = KS_SALU_OP},
    {"s_getreg_b32", .class = KS_SALU_OP},
    {"s_movrels_b32", .class = KS_SALU_OP},
    {"s_sendmsg", .class = KS_MESSAGE_OP},
    {"s_nop", .class = KS_NOP_OP},
    {"s_waitcnt", .class = KS_WAIT_OP},
    {"s_branch", .class = KS_BRANCH_OP, .flags = KS_F_JUMP},
    {"s_load_dword", .class = KS_SMEM_OP, .flags = KS_F_LOAD},
    {"global_load_dword", .class = KS_GLOBAL_OP, .flags = KS_F_LOAD},
    {"global_load_lds_dword", .class = KS_GLOBAL_OP, .flags = KS_F_LOAD | KS_F_LDS_DIRECT},
    {"global_store_dwordx4", .class = KS_GLOBAL_OP, .flags = KS_F_STORE},
    {"global_atomic_add", .class = KS_GLOBAL_OP, .flags = KS_F_ATOMIC},
    {"flat_load_dword", .class = KS_FLAT_OP, .flags = KS_F_LOAD},
    {"scratch_load_dword", .class = KS_SCRATCH_OP, .flags = KS_F_LOAD},
    {"buffer_store_dwordx4", .class = KS_BUFFER_OP, .flags = KS_F_STORE},
    {"buffer_wbl2", .class = KS_CACHE_OP},
    {"ds_read_b32", .class = KS_LDS_OP, .flags = KS_F_LOAD},
    {"ds_write_b32", .class = KS_LDS_OP, .flags = KS_F_STORE},
    MATRIX(v_mfma_f32_32x32x8_f16),
    MATRIX(v_mfma_f32_32x32x8f16),
    MATRIX(v_mfma_f32_16x16x16_f16),
    MATRIX(v_mfma_f32_16x16x16f16),
    MATRIX(v_mfma_f32_4x4x4_16b_f16),
    MATRIX(v_mfma_f32_4x4x4f16),
    MATRIX(v_mfma_f32_32x32x2_f32),
    MATRIX(v_mfma_f32_16x16x4_f32),
    MATRIX(v_mfma_f32_4x4x1_16b_f32),
    MATRIX(v_mfma_f64_16x16x4_f64),
    MATRIX(v_mfma_f64_4x4x4_4b_f64),
    MATRIX(v_mfma_f64_16x16x4f64),
    MATRIX(v_mfma_f64_4x4x4f64),
    MATRIX(v_smfmac_f32_32x32x16_f16),
};
enum { MOST = 128 };
static ks_inst code[MOST];
static unsigned length;

static uint16_t number(const char **at)
{
    char *end;
    const unsigned long n = strtoul(*at, &end, 10);
    assert_true(end > *at);
    *at = end;
    return (uint16_t)n;
}
/* v4, v[4:7], a[0:15], s4, vcc, exec, m0, vccz, #5 (a constant), - (absent); a mask ends with "m".
 */
static ks_operand operand(const char **at)
{
    static const struct {
        const char *name;
        ks_operand o;
    } named[] = {
        {"vccz", {.where = KS_SPECIAL, .reg = KS_VCCZ, .count = 1}},
        {"execz", {.where = KS_SPECIAL, .reg = KS_EXECZ, .count = 1}},
        {"vcc", {.where = KS_SGPR, .reg = KS_VCC, .count = 2}},
        {"exec", {.where = KS_SGPR, .reg = KS_EXEC, .count = 2}},
        {"m0", {.where = KS_SGPR, .reg = KS_M0, .count = 1}},
        {"-", {.where = KS_ABSENT}},
    };
    ks_operand o = {.where = KS_CONST, .type = KS_B32, .count = 1};
    for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
        if (!strncmp(*at, named[i].name, strlen(named[i].name))) {
            *at += strlen(named[i].name);
            o = named[i].o;
            goto type;
        }
    const char file = *(*at)++;
    if (file == '#') {
        o.value = number(at);
        return o;
    }
    assert_non_null(strchr("vas", file));
    o.where = file == 's' ? KS_SGPR : KS_VGPR;
    const bool range = **at == '[';
    *at += range;
    o.reg = number(at);
    if (range) {
        assert_int_equal(*(*at)++, ':');
        o.count = (uint8_t)(number(at) - o.reg + 1);
        assert_int_equal(*(*at)++, ']');
    }
    o.reg = (uint16_t)(o.reg + (file == 'a' ? KS_ACC : 0));
type:
    if (**at == 'm') {
        o.type = KS_MASK;
        ++*at;
    }
    return o;
}
/* "v_add_f32 v0 < v1 v2 .dpp": one instruction; "/5" five wait states of s_nop. */
static void add(const char *text)
{
    ks_inst *in = &code[length];
    char name[64];
    int used = 0;
    assert_true(length < MOST);
    *in = (ks_inst){.pc = 0x100 + 4 * length, .bytes = 4};
    assert_int_equal(sscanf(text, "%63s%n", name, &used), 1);
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
        if (!strcmp(ops[i].name, name)) in->op = &ops[i];
    if (!in->op) fail_msg("no instruction %s", name);
    bool sources = !strchr(text, '<');
    for (const char *at = text + used; *at;) {
        if (*at == ' ')
            at++;
        else if (*at == '<')
            sources = true, at++;
        else if (!strncmp(at, ".dpp", 4))
            in->dpp = true, at += 4;
        else if (!strncmp(at, ".hi", 3))
            in->encoding = KS_VOP3, in->op_sel = 8, at += 3;
        else if (!strncmp(at, ".sdwa", 5))
            in->sdwa = true, in->dst_sel = 4, at += 5;
        else if (*at == '=')
            at++, in->imm = number(&at);
        else if (sources)
            in->s[in->ns++] = operand(&at);
        else
            in->d[in->nd++] = operand(&at);
    }
    if (in->op->flags & KS_F_LDS_DIRECT) in->lds = true;
    length++;
}
static void pad(unsigned states)
{
    while (states) {
        const unsigned n = states < 16 ? states : 16;
        char nop[32];
        snprintf(nop, sizeof(nop), "s_nop =%u", n - 1);
        add(nop);
        states -= n;
    }
}
static void run(ks_arch arch)
{
    static ks_object object;
    static ks_launch launch = {.object = &object};
    static ks_wave wave;
    object.arch = arch;
    wave.launch = &launch;
    assert_true(ks_waits_create(&wave));
    memset(&found, 0, sizeof(found));
    for (unsigned i = 0; i < length; i++) ks_check_issue(&wave, &code[i]);
    ks_waits_free(&wave);
}

/* ---- Wait states ---- */
enum { A = 1 << KS_GFX90A, M = 1 << KS_GFX942 };
static const struct rule {
    const char *first, *second;
    int arches, need;
} rules[] = {
    /* 4.5: manually inserted wait states */
    {"s_setreg_b32 s0 =1", "s_getreg_b32 s1 < =1", A | M, 2},
    {"s_setreg_b32 s0 =1", "s_setreg_b32 s1 =1", A | M, 2},
    {"s_setreg_b32 s0 =1", "s_setreg_b32 s1 =2", A | M, 0},
    {"v_cmp_lt_f32 vcc < v0 v1", "v_add_f32 v2 < vccz v3", A | M, 5},
    {"v_cmpx_lt_f32 vcc < v0 v1", "v_add_f32 v2 < execz v3", A | M, 5},
    {"v_cmp_lt_f32 s[4:5] < v0 v1", "v_add_f32 v2 < vccz v3", A | M, 0},
    {"v_readfirstlane_b32 s4 < v0", "v_readlane_b32 s5 < v1 s4", A | M, 4},
    {"v_readfirstlane_b32 s4 < v0", "v_writelane_b32 v2 < s6 s4", A | M, 4},
    {"s_mov_b32 s4 < s5", "v_readlane_b32 s5 < v1 s4", A | M, 0},
    {"v_cmp_lt_f32 vcc < v0 v1", "v_div_fmas_f32 v2 < v3 v4 v5 vccm", A | M, 4},
    {"v_cmp_lt_f32 s[4:5] < v0 v1", "v_div_fmas_f32 v2 < v3 v4 v5 vccm", A | M, 0},
    {"global_store_dwordx4 < v[0:1] - v[4:7]", "v_mov_b32 v6 < v9", A, 1},
    {"global_store_dwordx4 < v[0:1] - v[4:7]", "v_mov_b32 v6 < v9", M, 2},
    {"global_store_dwordx4 < v[0:1] - v[4:7]", "v_mov_b32 v1 < v9", A | M, 0},
    {"buffer_store_dwordx4 < v0 s[8:11] #0 v[4:7]", "v_mov_b32 v4 < v9", A, 1},
    {"buffer_store_dwordx4 < v0 s[8:11] #0 v[4:7]", "v_mov_b32 v4 < v9", M, 2},
    {"buffer_store_dwordx4 < v0 s[8:11] s4 v[4:7]", "v_mov_b32 v4 < v9", A | M, 0},
    {"v_readfirstlane_b32 s4 < v0", "global_load_dword v1 < v2 s[4:5]", A | M, 5},
    {"v_readfirstlane_b32 s8 < v0", "buffer_store_dwordx4 < v0 s[8:11] #0 v[4:7]", A | M, 5},
    {"v_readfirstlane_b32 m0 < v0", "global_load_lds_dword < v[0:1]", A | M, 5},
    {"s_mov_b32 s4 < s6", "global_load_dword v1 < v2 s[4:5]", A | M, 0},
    {"s_mov_b32 m0 < s6", "global_load_lds_dword < v[0:1]", A | M, 1},
    {"s_mov_b32 m0 < s6", "s_sendmsg =1", A | M, 1},
    {"s_mov_b32 m0 < s6", "s_movrels_b32 s1 < s2", A | M, 1},
    {"v_mov_b32 v1 < v9", "v_add_f32 v2 < v1 v3 .dpp", A | M, 2},
    {"v_mov_b32 v1 < v9", "v_add_f32 v2 < v4 v3 .dpp", A | M, 0},
    {"v_cmpx_lt_f32 vcc < v0 v1", "v_add_f32 v2 < v5 v3 .dpp", A | M, 5},
    {"v_readfirstlane_b32 s4 < v0", "v_add_f32 v2 < s4 v3", M, 2},
    {"v_readfirstlane_b32 s4 < v0", "v_add_f32 v2 < s4 v3", A, 0},
    {"v_cmp_lt_f32 vcc < v0 v1", "v_cndmask_b32 v2 < v3 v4 vccm", A | M, 0},
    {"v_cmpx_lt_f32 vcc < v0 v1", "v_mov_b32 v2 < exec", M, 2},
    {"v_cmpx_lt_f32 vcc < v0 v1", "v_readfirstlane_b32 s4 < v7", M, 4},
    {"v_cmpx_lt_f32 vcc < v0 v1", "v_readfirstlane_b32 s4 < v7", A, 0},
    {"v_mov_b32 v1 < v9", "v_readlane_b32 s5 < v1 #3", M, 1},
    {"v_mov_b32 v1 < v9", "v_readlane_b32 s5 < v1 #3", A, 0},
    {"v_add_f32 v1 < v8 v9 .hi", "v_mov_b32 v2 < v1", M, 1},
    {"v_add_f32 v1 < v8 v9 .sdwa", "v_mov_b32 v2 < v1", M, 1},
    {"v_add_f32 v1 < v8 v9 .sdwa", "v_mov_b32 v2 < v1", A, 0},
    {"v_exp_f32 v1 < v9", "v_add_f32 v2 < v1 v3", M, 1},
    {"v_rcp_f64 v[2:3] < v[4:5]", "v_fma_f64 v[8:9] < v[2:3] v[4:5] v[6:7]", M, 1},
    {"v_exp_f32 v1 < v9", "v_exp_f32 v2 < v1", A | M, 0},
    {"v_exp_f32 v1 < v9", "v_add_f32 v2 < v1 v3", A, 0},
    /* 7.5: around matrix instructions and dot products */
    {"v_mov_b32 v1 < v9", "v_mfma_f32_32x32x8_f16 a[0:15] < v[0:1] v[2:3] a[0:15]", M, 2},
    {"v_accvgpr_write_b32 a3 < v9", "v_mfma_f32_32x32x8f16 a[0:15] < v[0:1] v[2:3] a[0:15]", A, 2},
    {"v_cmpx_lt_f32 vcc < v0 v1", "v_mfma_f32_32x32x8_f16 a[0:15] < v[4:5] v[2:3] a[0:15]", M, 4},
    {"v_dot2_f32_f16 v1 < v2 v3 v4", "v_dot2_f32_f16 v5 < v6 v7 v1", A | M, 0},
    {"v_dot2_f32_f16 v1 < v2 v3 v4", "v_dot2_f32_f16 v5 < v1 v7 v8", A | M, 3},
    {"v_dot2_f32_f16 v1 < v2 v3 v4", "v_dot4_i32_i8 v5 < v6 v7 v1", A | M, 3},
    {"v_dot2_f32_f16 v1 < v2 v3 v4", "v_add_f32 v5 < v1 v7", A | M, 3},
    {"v_dot2_f32_f16 v1 < v2 v3 v4", "v_mov_b32 v1 < v7", A | M, 3},
    {"v_dot2_f32_f16 v4 < v2 v3 v4", "global_store_dwordx4 < v[0:1] - v[4:7]", A | M, 3},
    /* gfx942: XDL, passes 2, 4, 8 */
    {"v_mfma_f32_4x4x4_16b_f16 a[0:3] < v[0:1] v[2:3] a[0:3]",
     "v_mfma_f32_4x4x4_16b_f16 a[0:3] < v[0:1] v[2:3] a[0:3]", M, 2},
    {"v_mfma_f32_16x16x16_f16 a[0:3] < v[0:1] v[2:3] a[0:3]",
     "v_mfma_f32_16x16x16_f16 a[0:3] < v[0:1] v[2:3] a[0:3]", M, 0},
    {"v_mfma_f32_32x32x8_f16 a[0:15] < v[0:1] v[2:3] a[0:15]",
     "v_mfma_f32_32x32x8_f16 a[16:31] < v[4:5] v[2:3] a[0:15]", M, 0},
    {"v_mfma_f32_4x4x4_16b_f16 a[0:3] < v[0:1] v[2:3] a[0:3]",
     "v_mfma_f32_4x4x4_16b_f16 a[2:5] < v[0:1] v[2:3] a[2:5]", M, 3},
    {"v_mfma_f32_16x16x16_f16 a[0:3] < v[0:1] v[2:3] a[0:3]",
     "v_mfma_f32_16x16x16_f16 a[2:5] < v[0:1] v[2:3] a[2:5]", M, 5},
    {"v_mfma_f32_32x32x8_f16 a[0:15] < v[0:1] v[2:3] a[0:15]",
     "v_mfma_f32_16x16x16_f16 a[4:7] < v[0:1] v[2:3] a[4:7]", M, 9},
    {"v_mfma_f32_4x4x4_16b_f16 a[0:3] < v[0:1] v[2:3] a[0:3]",
     "v_mfma_f32_16x16x16_f16 a[4:7] < a[0:1] v[2:3] a[4:7]", M, 5},
    {"v_mfma_f32_16x16x16_f16 a[0:3] < v[0:1] v[2:3] a[0:3]",
     "v_mfma_f32_16x16x16_f16 a[4:7] < v[0:1] a[0:1] a[4:7]", M, 7},
    {"v_mfma_f32_32x32x8_f16 a[0:15] < v[0:1] v[2:3] a[0:15]",
     "v_mfma_f32_16x16x16_f16 a[16:19] < a[14:15] v[2:3] #0", M, 11},
    {"v_mfma_f32_32x32x8_f16 a[0:15] < v[0:1] v[2:3] #0", "v_mov_b32 v0 < a15", M, 11},
    {"v_mfma_f32_16x16x16_f16 a[0:3] < v[0:1] v[2:3] #0", "v_mov_b32 v0 < a3", M, 7},
    {"v_mfma_f32_4x4x4_16b_f16 a[0:3] < v[0:1] v[2:3] #0", "v_mov_b32 v0 < a3", M, 5},
    {"v_mfma_f32_32x32x8_f16 v[4:19] < v[0:1] v[2:3] #0", "global_store_dwordx4 < v[0:1] - v[4:7]",
     M, 11},
    {"v_mfma_f32_32x32x8_f16 v[4:19] < v[0:1] v[2:3] #0", "ds_write_b32 < v30 v4", M, 11},
    {"v_mfma_f32_32x32x8_f16 v[4:19] < v[0:1] v[2:3] #0", "v_mov_b32 v4 < v20", M, 11},
    {"v_mfma_f32_32x32x8_f16 v[4:19] < v[0:1] v[2:3] v[20:35]", "v_mov_b32 v22 < v40", M, 7},
    {"v_mfma_f32_16x16x16_f16 v[4:7] < v[0:1] v[2:3] v[20:23]", "v_mov_b32 v22 < v40", M, 3},
    {"v_mfma_f32_4x4x4_16b_f16 v[4:7] < v[0:1] v[2:3] v[20:23]", "v_mov_b32 v22 < v40", M, 1},
    {"v_mfma_f32_32x32x8_f16 v[4:19] < v[0:1] v[2:3] v[20:35]", "v_mov_b32 v0 < v40", M, 0},
    {"v_smfmac_f32_32x32x16_f16 v[4:19] < v[0:1] v[40:43] v60 v[4:19]",
     "v_smfmac_f32_32x32x16_f16 v[4:19] < v[0:1] v[40:43] v60 v[4:19]", M, 0},
    {"v_smfmac_f32_32x32x16_f16 v[4:19] < v[0:1] v[40:43] v60 v[4:19]",
     "v_smfmac_f32_32x32x16_f16 v[64:79] < v[0:1] v[40:43] v5 v[64:79]", M, 11},
    /* gfx942: f32 matrices, passes 2, 8, 16 */
    {"v_mfma_f32_4x4x1_16b_f32 a[0:3] < v0 v2 a[0:3]",
     "v_mfma_f32_4x4x1_16b_f32 a[2:5] < v0 v2 a[2:5]", M, 2},
    {"v_mfma_f32_32x32x2_f32 a[0:15] < v0 v2 a[0:15]",
     "v_mfma_f32_16x16x4_f32 a[4:7] < v0 v2 a[4:7]", M, 16},
    {"v_mfma_f32_32x32x2_f32 a[0:15] < v0 v2 a[0:15]",
     "v_mfma_f32_16x16x16_f16 a[4:7] < v[0:1] v[2:3] a[4:7]", M, 0},
    {"v_mfma_f32_16x16x4_f32 a[0:3] < v0 v2 a[0:3]", "v_mfma_f32_16x16x4_f32 a[4:7] < a0 v2 a[4:7]",
     M, 10},
    {"v_mfma_f32_32x32x2_f32 a[0:15] < v0 v2 a[0:15]", "v_mov_b32 v0 < a15", M, 18},
    {"v_mfma_f32_32x32x2_f32 a[0:15] < v0 v2 a[0:15]", "v_mov_b32 a15 < v9", M, 18},
    {"v_mfma_f32_32x32x2_f32 v[4:19] < v0 v2 v[20:35]", "v_mov_b32 v22 < v40", M, 0},
    /* gfx90a: passes 2, 8, 16 */
    {"v_mfma_f32_4x4x4f16 a[0:3] < v[0:1] v[2:3] a[0:3]",
     "v_mfma_f32_4x4x4f16 a[0:3] < v[0:1] v[2:3] a[0:3]", A, 0},
    {"v_mfma_f32_4x4x4f16 a[0:3] < v[0:1] v[2:3] a[0:3]",
     "v_mfma_f32_4x4x4f16 a[2:5] < v[0:1] v[2:3] a[2:5]", A, 2},
    {"v_mfma_f32_16x16x16f16 a[0:3] < v[0:1] v[2:3] a[0:3]",
     "v_mfma_f32_16x16x16f16 a[2:5] < v[0:1] v[2:3] a[2:5]", A, 8},
    {"v_mfma_f32_32x32x8f16 a[0:15] < v[0:1] v[2:3] a[0:15]",
     "v_mfma_f32_16x16x16f16 a[2:5] < v[0:1] v[2:3] a[2:5]", A, 16},
    {"v_mfma_f32_32x32x8f16 a[0:15] < v[0:1] v[2:3] a[0:15]",
     "v_mfma_f64_16x16x4f64 a[8:15] < v[0:1] v[2:3] a[8:15]", A, 17},
    {"v_mfma_f32_32x32x8f16 a[0:15] < v[0:1] v[2:3] a[0:15]",
     "v_mfma_f32_16x16x16f16 a[16:19] < a[0:1] v[2:3] #0", A, 19},
    {"v_mfma_f32_32x32x8f16 a[0:15] < v[0:1] v[2:3] a[0:15]", "v_mov_b32 v9 < a15", A, 19},
    {"v_mfma_f32_16x16x16f16 a[0:3] < v[0:1] v[2:3] a[0:3]", "v_mov_b32 a0 < v9", A, 11},
    {"v_mfma_f32_4x4x4f16 v[4:7] < v[0:1] v[2:3] #0", "ds_write_b32 < v30 v4", A, 5},
    {"v_mfma_f32_32x32x8f16 v[4:19] < v[0:1] v[2:3] v[20:35]", "v_mov_b32 v22 < v40", A, 15},
    /* f64, on both */
    {"v_mfma_f64_4x4x4_4b_f64 a[0:1] < v[0:1] v[2:3] a[0:1]",
     "v_mfma_f64_4x4x4_4b_f64 a[0:1] < v[0:1] v[2:3] a[0:1]", M, 4},
    {"v_mfma_f64_4x4x4f64 a[0:1] < v[0:1] v[2:3] a[0:1]",
     "v_mfma_f64_16x16x4f64 a[0:7] < v[0:1] v[2:3] a[0:7]", A, 4},
    {"v_mfma_f64_16x16x4f64 a[0:7] < v[0:1] v[2:3] a[0:7]",
     "v_mfma_f64_16x16x4f64 a[0:7] < v[0:1] v[2:3] a[0:7]", A, 0},
    {"v_mfma_f64_16x16x4_f64 a[0:7] < v[0:1] v[2:3] a[0:7]",
     "v_mfma_f64_16x16x4_f64 a[2:9] < v[0:1] v[2:3] a[2:9]", M, 9},
    {"v_mfma_f64_16x16x4_f64 a[0:7] < v[0:1] v[2:3] a[0:7]",
     "v_mfma_f32_16x16x16_f16 a[2:5] < v[0:1] v[2:3] a[2:5]", M, 0},
    {"v_mfma_f64_4x4x4f64 a[0:1] < v[0:1] v[2:3] a[0:1]",
     "v_mfma_f64_4x4x4f64 a[4:5] < a[0:1] v[2:3] a[4:5]", A, 6},
    {"v_mfma_f64_16x16x4f64 a[0:7] < v[0:1] v[2:3] a[0:7]",
     "v_mfma_f64_4x4x4f64 a[8:9] < a[0:1] v[2:3] a[8:9]", A, 11},
    {"v_mfma_f64_4x4x4_4b_f64 a[0:1] < v[0:1] v[2:3] #0", "v_mov_b32 v9 < a1", M, 6},
    {"v_mfma_f64_16x16x4_f64 a[0:7] < v[0:1] v[2:3] #0", "v_mov_b32 v9 < a1", M, 11},
    {"v_mfma_f64_4x4x4f64 v[4:5] < v[0:1] v[2:3] #0", "ds_write_b32 < v30 v4", A, 9},
    {"v_mfma_f64_16x16x4f64 v[4:11] < v[0:1] v[2:3] #0", "ds_write_b32 < v30 v4", A, 18},
    {"v_mfma_f64_16x16x4f64 v[4:11] < v[0:1] v[2:3] #0", "v_mov_b32 v4 < v9", A, 11},
    {"v_mfma_f64_16x16x4_f64 v[4:11] < v[0:1] v[2:3] #0", "v_mov_b32 v11 < v20", M, 11},
    {"v_mfma_f64_4x4x4_4b_f64 v[4:5] < v[0:1] v[2:3] #0", "v_mov_b32 v4 < v9", M, 6},
    {"v_mfma_f64_16x16x4f64 v[4:11] < v[0:1] v[2:3] #0",
     "v_fma_f64 v[20:21] < v[22:23] v[24:25] v[26:27]", A, 2},
};

static unsigned findings_with(const struct rule *r, ks_arch arch, unsigned states)
{
    length = 0;
    add(r->first);
    pad(states);
    add(r->second);
    add(r->second); /* one missing s_nop is one finding */
    run(arch);
    return found.count;
}
static void wait_states(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        for (ks_arch arch = 0; arch < KS_ARCH_COUNT; arch++) {
            const struct rule *r = &rules[i];
            if (!(r->arches & 1 << arch)) continue;
            /* the second one after itself is another question: leave it out where it would matter
             */
            const unsigned enough = findings_with(r, arch, (unsigned)r->need);
            const bool own = found.count && found.pc == code[length - 1].pc;
            if (enough && !own)
                fail_msg("target %d: %s | %s: %u wait states should do: %s", (int)arch, r->first,
                         r->second, (unsigned)r->need, found.text);
            if (!r->need) continue;
            const unsigned few = findings_with(r, arch, (unsigned)r->need - 1);
            char needed[32];
            snprintf(needed, sizeof(needed), "; %d needed", r->need);
            if (few != 1 + enough || found.kind != KILNSIM_HAZARD)
                fail_msg("target %d: %s | %s: %u findings with %d wait states instead of %d",
                         (int)arch, r->first, r->second, few, r->need - 1, r->need);
            if (!enough && !strstr(found.text, needed))
                fail_msg("%s | %s: %s", r->first, r->second, found.text);
        }
}
static void gfx90a_vmem_after_dgemm(void **state)
{
    (void)state;
    for (unsigned states = 0; states < 2; states++) {
        length = 0;
        add("v_mov_b32 v4 < v9");
        add("v_mfma_f64_4x4x4f64 a[0:1] < v[0:1] v[2:3] a[0:1]");
        pad(states);
        add("ds_write_b32 < v30 v4");
        run(KS_GFX90A);
        assert_int_equal(found.count, 1 - states);
        for (unsigned i = 0; i < length; i++) code[i].check = 0;
        run(KS_GFX942);
        assert_int_equal(found.count, 0);
    }
}
/* A long loop of products into sixteen tiles, as a GEMM has it: silent; and any instruction counts
 * as a wait state. */
static void silent_loop(void **state)
{
    (void)state;
    length = 0;
    for (unsigned i = 0; i < 32; i++) {
        char text[128];
        snprintf(text, sizeof(text), "v_mfma_f32_32x32x8_f16 a[%u:%u] < v[0:1] v[2:3] a[%u:%u]",
                 i % 8 * 16, i % 8 * 16 + 15, i % 8 * 16, i % 8 * 16 + 15);
        add(text);
    }
    run(KS_GFX942);
    assert_int_equal(found.count, 0);
    add("v_mov_b32 v9 < a127");
    run(KS_GFX942);
    assert_int_equal(found.count, 1);
    assert_non_null(
        strstr(found.text, "comes 0 wait states after v_mfma_f32_32x32x8_f16 at 0x17c"));
    assert_non_null(strstr(found.text, "insert s_nop 10"));
    length--;
    for (unsigned i = 0; i < 11; i++) add("s_mov_b32 s0 < s1");
    add("v_mov_b32 v9 < a127");
    run(KS_GFX942);
    assert_int_equal(found.count, 0);
}

/* An instruction that does not stand behind the last one was reached by a branch, which took four
   wait states. */
static void taken_branch(void **state)
{
    (void)state;
    static ks_object object = {.arch = KS_GFX942};
    static ks_launch launch = {.object = &object};
    static ks_wave wave = {.launch = &launch};
    for (unsigned between = 0; between < 2; between++) {
        length = 0;
        add("v_readfirstlane_b32 s4 < v0"); /* 5 before s4 is an address */
        pad(between);
        add("s_branch");
        add("v_mov_b32 v9 < v8"); /* not reached */
        add("global_load_dword v1 < v2 s[4:5]");
        assert_true(ks_waits_create(&wave));
        memset(&found, 0, sizeof(found));
        for (unsigned i = 0; i < length; i++)
            if (strcmp(code[i].op->name, "v_mov_b32")) ks_check_issue(&wave, &code[i]);
        assert_int_equal(found.count, 1 - between);
        ks_waits_free(&wave);
    }
}

/* ---- s_waitcnt ---- */
static const char *waitcnt(unsigned vm, unsigned lgkm)
{
    static char text[32];
    snprintf(text, sizeof(text), "s_waitcnt =%u",
             (vm & 15) | (vm & 48) << 10 | 7u << 4 | lgkm << 8);
    return text;
}
enum { ANY_VM = 63, ANY_LGKM = 15 };
static void expect(const char *use, const char *needed)
{
    add(use);
    run(KS_GFX942);
    if (!needed && found.count) fail_msg("%s: %s", use, found.text);
    if (needed) {
        assert_int_equal(found.count, 1);
        assert_int_equal(found.kind, KILNSIM_WAIT);
        if (!strstr(found.text, needed)) fail_msg("%s: %s instead of %s", use, found.text, needed);
    }
    length--;
}
static void memory_returns_in_order(void **state)
{
    (void)state;
    length = 0;
    add("global_load_dword v1 < v[30:31]");
    add("global_load_dword a1 < v[30:31]");
    add("global_atomic_add < v[30:31] - v29");
    expect("v_mov_b32 v5 < v1", "v1 is read while global_load_dword at 0x100 is still loading it: "
                                "insert s_waitcnt vmcnt(2)");
    expect("v_mov_b32 v1 < v5", "v1 is written while");
    expect("ds_write_b32 < v1 v6", "vmcnt(2)");
    expect("v_mov_b32 v5 < a1", "a1 is read while global_load_dword at 0x104 is still loading it: "
                                "insert s_waitcnt vmcnt(1)");
    expect("v_mov_b32 v5 < v2", NULL);
    expect("global_load_dword v1 < v[30:31]", NULL); /* in order: the later one stays */
    expect("ds_read_b32 v1 < v7", "vmcnt(2)");
    add(waitcnt(2, ANY_LGKM));
    expect("v_mov_b32 v5 < v1", NULL);
    expect("v_mov_b32 v5 < a1", "vmcnt(1)");
    add(waitcnt(ANY_VM, 0));
    expect("v_mov_b32 v5 < a1", "vmcnt(1)");
    add(waitcnt(0, ANY_LGKM));
    expect("v_mov_b32 v5 < a1", NULL);
}
static void two_loads_into_one(void **state)
{
    (void)state;
    length = 0;
    add("global_load_dword v1 < v[30:31]");
    add("global_load_dword v1 < v[30:31]");
    add(waitcnt(1, ANY_LGKM));
    expect("v_mov_b32 v5 < v1",
           "global_load_dword at 0x104 is still loading it: insert s_waitcnt vmcnt(0)");
}
static void both_counters_in_one_finding(void **state)
{
    (void)state;
    length = 0;
    add("global_load_dword v1 < v[30:31]");
    add("ds_read_b32 v2 < v30");
    add("ds_read_b32 v3 < v30");
    expect("v_add_f32 v5 < v1 v2", "insert s_waitcnt vmcnt(0) lgkmcnt(1)");
    add("v_add_f32 v5 < v1 v2"); /* and it is as if that had been waited for */
    expect("v_add_f32 v6 < v2 v1", "vmcnt(0) lgkmcnt(1)");
}
static void scalar_loads_have_no_order(void **state)
{
    (void)state;
    length = 0;
    add("ds_read_b32 v1 < v30");
    add("ds_read_b32 v2 < v30");
    add("s_load_dword s4 < s[0:1]");
    add("s_load_dword s5 < s[0:1]");
    expect(
        "s_mov_b32 s6 < s4",
        "s4 is read while s_load_dword at 0x108 is still loading it: insert s_waitcnt lgkmcnt(0)");
    expect("s_mov_b32 s5 < s6", "s5 is written while");
    add(waitcnt(ANY_VM, 1));
    expect("s_mov_b32 s6 < s4", "lgkmcnt(0)");
    expect("v_mov_b32 v5 < v1",
           NULL); /* no more than one is left, so not the first of two in order */
    expect("v_mov_b32 v5 < v2", "lgkmcnt(0)");
    add(waitcnt(0, ANY_LGKM));
    expect("s_mov_b32 s6 < s4", "lgkmcnt(0)");
    add(waitcnt(ANY_VM, 0));
    expect("s_mov_b32 s6 < s4", NULL);
}
static void flat_needs_both(void **state)
{
    (void)state;
    length = 0;
    add("flat_load_dword v1 < v[30:31]");
    add("global_load_dword v2 < v[30:31]");
    expect("v_mov_b32 v5 < v1", "vmcnt(0) lgkmcnt(0)");
    add(waitcnt(1, ANY_LGKM));
    expect("v_mov_b32 v5 < v1", "vmcnt(0) lgkmcnt(0)");
    add(waitcnt(0, ANY_LGKM));
    expect("v_mov_b32 v5 < v1", "insert s_waitcnt lgkmcnt(0)");
    expect("v_mov_b32 v5 < v2", NULL);
    add(waitcnt(ANY_VM, 0));
    expect("v_mov_b32 v5 < v1", NULL);
}
static void full_counters_hold_back(void **state)
{
    (void)state;
    length = 0;
    add("ds_read_b32 v1 < v30");
    for (unsigned i = 0; i < 14; i++) add("ds_write_b32 < v30 v29");
    expect("v_mov_b32 v5 < v1", "lgkmcnt(14)");
    add("ds_write_b32 < v30 v29");
    expect("v_mov_b32 v5 < v1", NULL);
    length = 0;
    add("scratch_load_dword v1 < v30");
    for (unsigned i = 0; i < 62; i++) add("buffer_wbl2");
    expect("v_mov_b32 v5 < v1", "vmcnt(62)");
    add("global_load_lds_dword < v[30:31]");
    expect("v_mov_b32 v5 < v1", NULL);
}
static void progress(void **state)
{
    (void)state;
    ks_object object = {.arch = KS_GFX942};
    ks_launch launch = {.object = &object};
    ks_wave *w = calloc(1, sizeof(*w));
    assert_non_null(w);
    w->launch = &launch;
    assert_true(ks_waits_create(w));
    length = 0;
    add("ds_write_b32 < v30 v29");           /* lgkm 1 */
    add("flat_load_dword v1 < v[30:31]");    /* lgkm 2, vm 1 */
    add("s_load_dword s4 < s[0:1]");         /* neither: no LDS */
    add("global_load_lds_dword < v[30:31]"); /* vm 2 */
    add("ds_write_b32 < v30 v29");           /* lgkm 3 */
    for (unsigned i = 0; i < length; i++) ks_check_issue(w, &code[i]);
    ks_progress p = ks_wave_progress(w);
    assert_int_equal(p.lgkm_issued, 3);
    assert_int_equal(p.vm_issued, 2);
    assert_int_equal(p.lgkm_done, 0);
    assert_int_equal(p.vm_done, 0);
    add(waitcnt(0, 1));
    ks_check_issue(w, &code[length - 1]);
    p = ks_wave_progress(w);
    assert_int_equal(p.lgkm_done, 1); /* the flat load may be left */
    assert_int_equal(p.vm_done, 2);
    add(waitcnt(0, 0));
    ks_check_issue(w, &code[length - 1]);
    p = ks_wave_progress(w);
    assert_int_equal(p.lgkm_done, 3);
    ks_waits_free(w);
    free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wait_states),
        cmocka_unit_test(gfx90a_vmem_after_dgemm),
        cmocka_unit_test(silent_loop),
        cmocka_unit_test(taken_branch),
        cmocka_unit_test(memory_returns_in_order),
        cmocka_unit_test(two_loads_into_one),
        cmocka_unit_test(both_counters_in_one_finding),
        cmocka_unit_test(scalar_loads_have_no_order),
        cmocka_unit_test(flat_needs_both),
        cmocka_unit_test(full_counters_hold_back),
        cmocka_unit_test(progress),
    };
    return cmocka_run_group_tests_name("sim_hazard", tests, NULL, NULL);
}
