// SPDX-License-Identifier: MIT
// Scalar instructions one by one: results and SCC against values worked out by hand from the ISA's text, undefined bits,
// EXEC, jumps, hardware registers, indexed registers and scalar loads.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "scalar.h"
#include "scalar_rows.h"

/* ---- A wave without a launch ---- */
enum { D = 10, A = 20, B = 30, CODE = 64 };
static ks_wave *w;
static ks_group group;
static ks_launch launch;
static ks_object object;
static uint32_t code[CODE], index_of[CODE];
static char kernel_name[] = "none";
static const ks_kernel kernel = {.name = kernel_name, .object = &object};

/* What the instructions since setup have found: how often, and the last. */
static struct {
    unsigned count;
    kilnsim_kind kind;
    char text[KS_TEXT];
} found;
static void visit(const kilnsim_finding *f, void *unused)
{
    (void)unused;
    found.count++;
    found.kind = f->kind;
    snprintf(found.text, sizeof found.text, "%s", f->text);
}
static void collect(void)
{
    ks_report_end(&launch);
    kilnsim_findings(visit, NULL);
    kilnsim_findings_clear();
}

static void set(unsigned reg, uint64_t value, uint64_t undefined)
{
    w->s[reg] = (uint32_t)value;
    w->s[reg + 1] = (uint32_t)(value >> 32);
    w->su[reg] = (uint32_t)undefined;
    w->su[reg + 1] = (uint32_t)(undefined >> 32);
    w->s_origin[reg] = w->s_origin[reg + 1] = KS_NO_ORIGIN;
}
static uint64_t undefined_of(unsigned reg)
{
    return (uint64_t)w->su[reg + 1] << 32 | w->su[reg];
}
static int setup(void **state)
{
    (void)state;
    memset(&found, 0, sizeof found);
    memset(w->s, 0, sizeof w->s);
    memset(w->su, 0, sizeof w->su);
    for (unsigned i = 0; i < KS_SREGS; i++)
        w->s_origin[i] = KS_NO_ORIGIN;
    w->scc = w->scc_u = w->gpr_index_on = false;
    w->scc_origin = KS_NO_ORIGIN;
    w->undefined_checked = true;
    w->state = KS_RUNNING;
    w->ip = 1;
    w->mode = 0;
    w->index = 0;
    w->live = UINT64_MAX;
    w->executed = 100;
    ks_exec_set(w, UINT64_MAX);
    group.stop = 0;
    group.index = 0;
    group.wave_count = 2;
    launch.stop = 0;
    return 0;
}
static const ks_op *find(const char *name)
{
    const ks_op *op = ks_find_op(name, strlen(name));
    if (!op)
        fail_msg("no %s", name);
    return op;
}
static ks_operand sgpr(unsigned reg, ks_spec spec)
{
    ks_operand o = {.where = KS_SGPR, .type = spec.type, .reg = (uint16_t)reg};
    o.count = spec.count ? spec.count : ks_types[spec.type].regs;
    return o;
}
/* d = D, sources A and B, as its row has them. */
static ks_inst make(const char *name)
{
    const ks_op *op = find(name);
    ks_inst inst = {.run = op->exec, .op = op, .pc = 8, .bytes = 4, .target = KS_NO_TARGET};
    if (op->d[0].type != KS_NONE) {
        inst.d[0] = sgpr(D, op->d[0]);
        inst.nd = 1;
    }
    for (unsigned i = 0; i < 2 && op->s[i].type != KS_NONE; i++) {
        inst.s[i] = sgpr(i ? B : A, op->s[i]);
        inst.ns++;
    }
    return inst;
}
static void run(const ks_inst *inst)
{
    w->inst = inst;
    inst->run(w, inst);
    collect();
}
static void run_name(const char *name)
{
    ks_inst inst = make(name);
    run(&inst);
}

/* ---- Results ---- */
static void test_results(void **state)
{
    for (const row *r = rows; r < rows + ROWS; r++) {
        setup(state);
        set(A, r->a, 0);
        set(B, r->b, 0);
        set(D, r->old, 0);
        w->scc = r->scc;
        ks_inst inst = make(r->name);
        run(&inst);
        uint64_t mask = inst.nd && inst.d[0].count == 2 ? ONES : 0xffffffff, d = ks_s64(w, D) & mask;
        if ((inst.nd && d != r->d) || w->scc != r->scc_after || undefined_of(D) || w->scc_u)
            fail_msg("%s 0x%llx, 0x%llx (%d): 0x%llx scc %d instead of 0x%llx scc %d", r->name, (unsigned long long)r->a,
                     (unsigned long long)r->b, r->scc, (unsigned long long)d, w->scc, (unsigned long long)r->d,
                     r->scc_after);
    }
    assert_int_equal(found.count, 0);
}
static void test_exec_results(void **state)
{
    for (unsigned i = 0; i < EXECS; i++) {
        setup(state);
        set(A, 0xf0f0, 0);
        ks_exec_set(w, 0xff00);
        run_name(execs[i].name);
        assert_int_equal(ks_s64(w, D), execs[i].d);
        assert_int_equal(ks_exec_of(w), execs[i].exec);
        assert_true(w->scc);
        for (unsigned l = 0; l < KS_LANES; l++)
            assert_int_equal(w->exec_row[l], -(uint32_t)(execs[i].exec >> l & 1));
    }
    ks_exec_set(w, 0x0f);
    set(A, 0xf0, 0);
    run_name("s_and_saveexec_b64");
    assert_false(w->scc);
    assert_int_equal(ks_exec_of(w), 0);
}
static void sorted(ks_op_table t)
{
    for (size_t i = 1; i < t.count; i++)
        if (strcmp(t.op[i - 1].name, t.op[i].name) >= 0)
            fail_msg("%s stands before %s", t.op[i - 1].name, t.op[i].name);
}
/* No row of the ALU table without a value above. */
static void test_every_row(void **state)
{
    (void)state;
    ks_op_table t = ks_scalar_ops();
    for (size_t i = 0; i < t.count; i++) {
        bool seen = false;
        for (unsigned r = 0; r < ROWS; r++)
            seen |= !strcmp(rows[r].name, t.op[i].name);
        for (unsigned r = 0; r < EXECS; r++)
            seen |= !strcmp(execs[r].name, t.op[i].name);
        if (!seen)
            fail_msg("%s is not tested", t.op[i].name);
    }
    sorted(t);
    sorted(ks_flow_ops());
    sorted(ks_smem_ops());
}

/* ---- Undefined bits: of a and b and SCC; of D and SCC after ---- */
static const struct {
    const char *name;
    uint64_t a, a_u, b, b_u;
    int scc_u;
    uint64_t d_u;
    int scc_u_after;
} unknowns[] = {
    { "s_mov_b32", 0x1234, 0xff, 0, 0, 0, 0xff, 0 },
    { "s_and_b32", 0, 0xffffffff, 0xf0, 0, 0, 0xf0, 1 },
    { "s_and_b32", 0, 0xffffffff, 0, 0, 0, 0, 0 },
    { "s_or_b32", 0, 0xffffffff, 0xf0, 0, 0, 0xffffff0f, 0 }, /* not zero whatever they are */
    { "s_add_u32", 0, 0x1, 0x0f, 0, 0, 0x1f, 0 },               /* carries on to bit 4 */
    { "s_add_u32", 0xffffffff, 0x80000000, 1, 0, 0, 0x80000000, 1 },
    { "s_lshl_b32", 0, 0xff, 8, 0, 0, 0xff00, 1 },
    { "s_lshr_b64", 0, 0xffffffff, 32, 0, 0, 0, 0 },
    { "s_cmp_eq_u32", 0, 0xffffffff, 0x12345678, 0, 0, 0, 1 }, /* met by no chance value */
    { "s_cmp_lg_u32", 0x100, 0xff, 0x200, 0, 0, 0, 0 },        /* a defined bit differs */
    { "s_cmp_lt_u32", 0, 0xffffffff, 0, 0, 0, 0, 0 },          /* nothing is below 0 */
    { "s_cselect_b32", 5, 0, 5, 0, 1, 0, 1 },                  /* SCC stays undefined, the result is not */
    { "s_cselect_b32", 5, 0, 4, 0, 1, 1, 1 },
    { "s_addc_u32", 0, 0, 0, 0, 1, 1, 0 },
    { "s_bfe_u32", 0, 0xf0, 0x00080004, 0, 0, 0x0f, 1 },
    { "s_bcnt1_i32_b32", 0xff, 0xf00, 0, 0, 0, 0x7, 0 }, /* 8 to 12 */
    { "s_mul_i32", 0, 0xffffffff, 0, 0, 0, 0, 0 },
};
static void test_undefined(void **state)
{
    for (unsigned i = 0; i < sizeof unknowns / sizeof *unknowns; i++) {
        setup(state);
        set(A, unknowns[i].a, unknowns[i].a_u);
        set(B, unknowns[i].b, unknowns[i].b_u);
        w->scc_u = unknowns[i].scc_u;
        ks_inst inst = make(unknowns[i].name);
        run(&inst);
        if (undefined_of(D) != unknowns[i].d_u || w->scc_u != unknowns[i].scc_u_after)
            fail_msg("%s (row %u): undefined 0x%llx scc %d instead of 0x%llx scc %d", unknowns[i].name, i,
                     (unsigned long long)undefined_of(D), w->scc_u, (unsigned long long)unknowns[i].d_u,
                     unknowns[i].scc_u_after);
        if (unknowns[i].d_u)
            assert_int_equal(w->s_origin[D], 8);
    }
    assert_int_equal(found.count, 0);
}
static void test_undefined_same_register(void **state)
{
    static const char *const names[] = {"s_xor_b32", "s_sub_u32", "s_xor_b64", "s_andn2_b32"};
    for (unsigned i = 0; i < 4; i++) {
        setup(state);
        set(A, 0x5555, ONES);
        ks_inst inst = make(names[i]);
        inst.s[1] = inst.s[0];
        run(&inst);
        assert_int_equal(undefined_of(D), 0);
    }
}
/* What was first read at pc 8 is still known by that after two moves, and in the finding's text. */
static void test_origin(void **state)
{
    (void)state;
    set(A, 0, 0xff);
    run_name("s_mov_b32");
    ks_inst next = make("s_add_u32");
    next.pc = 12;
    next.s[0].reg = D;
    run(&next);
    assert_int_equal(w->s_origin[D], 8);
    ks_inst compare = make("s_cmp_eq_u32");
    compare.pc = 16;
    compare.s[0].reg = D;
    run(&compare);
    assert_true(w->scc_u);
    ks_inst branch = make("s_cbranch_scc1");
    branch.pc = 20;
    branch.target = 5;
    assert_int_equal(found.count, 0);
    run(&branch);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.kind, KILNSIM_UNDEFINED);
    assert_non_null(strstr(found.text, "first read at 0x8"));
}
static void test_undefined_exec(void **state)
{
    (void)state;
    set(A, 0xf, 0x3);
    ks_exec_set(w, 0xf0);
    run_name("s_and_saveexec_b64");
    assert_int_equal(found.count, 0); /* those bits are cleared in any case */
    run_name("s_or_saveexec_b64");
    assert_int_equal(found.count, 1);
    assert_int_equal(found.kind, KILNSIM_UNDEFINED);
    ks_inst move = make("s_mov_b64");
    move.d[0].reg = KS_EXEC;
    run(&move);
    assert_int_equal(found.count, 2);
    assert_int_equal(ks_exec_of(w), 0xf);
    assert_int_equal(w->su[KS_EXEC], 0);
}
static void test_half_exec(void **state)
{
    (void)state;
    ks_inst move = make("s_mov_b32");
    move.d[0].reg = KS_EXEC + 1;
    set(A, 0x10, 0);
    run(&move);
    assert_int_equal(ks_exec_of(w), 0x10ffffffffull);
    assert_int_equal(w->exec_row[36], UINT32_MAX);
    assert_int_equal(w->exec_row[37], 0);
    move.d[0].reg = KS_EXEC;
    run(&move);
    assert_int_equal(ks_exec_of(w), 0x1000000010ull);
}
static void test_unchecked(void **state)
{
    (void)state;
    w->undefined_checked = false;
    set(A, 0xf, 0x3);
    run_name("s_or_saveexec_b64");
    assert_int_equal(found.count, 0);
}

/* ---- Control flow ---- */
static void test_branches(void **state)
{
    static const struct {
        const char *name;
        int scc;
        uint64_t vcc, exec;
        int taken;
    } t[] = {
        { "s_branch", 0, 0, 0, 1 },
        { "s_cbranch_scc0", 0, 0, 0, 1 }, { "s_cbranch_scc0", 1, 0, 0, 0 },
        { "s_cbranch_scc1", 0, 0, 0, 0 }, { "s_cbranch_scc1", 1, 0, 0, 1 },
        { "s_cbranch_vccz", 0, 0, 0, 1 }, { "s_cbranch_vccz", 0, 1ull << 40, 0, 0 },
        { "s_cbranch_vccnz", 0, 0, 0, 0 }, { "s_cbranch_vccnz", 0, 1ull << 40, 0, 1 },
        { "s_cbranch_execz", 0, 0, 0, 1 }, { "s_cbranch_execz", 0, 0, 1ull << 63, 0 },
        { "s_cbranch_execnz", 0, 0, 0, 0 }, { "s_cbranch_execnz", 0, 0, 1ull << 63, 1 },
        { "s_cbranch_cdbgsys", 1, 1, 1, 0 },
    };
    for (unsigned i = 0; i < sizeof t / sizeof *t; i++) {
        setup(state);
        w->scc = t[i].scc;
        set(KS_VCC, t[i].vcc, 0);
        ks_exec_set(w, t[i].exec);
        ks_inst branch = make(t[i].name);
        branch.target = 9;
        run(&branch);
        assert_int_equal(w->ip, t[i].taken ? 9 : 1);
    }
    assert_int_equal(found.count, 0);
}
/* A defined bit of VCC that is set decides, whatever the undefined ones are. */
static void test_undefined_vcc(void **state)
{
    (void)state;
    ks_inst branch = make("s_cbranch_vccnz");
    branch.target = 9;
    set(KS_VCC, 0x3, 0x2);
    run(&branch);
    assert_int_equal(found.count, 0);
    set(KS_VCC, 0x2, 0x2);
    run(&branch);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.kind, KILNSIM_UNDEFINED);
}
static void test_bad_branch(void **state)
{
    (void)state;
    run_name("s_branch");
    assert_int_equal(found.kind, KILNSIM_TRAP);
    assert_int_equal(w->state, KS_ENDED);
    assert_int_equal(group.stop, KS_LAUNCH_FAILURE);
    assert_int_equal(launch.stop, KS_LAUNCH_FAILURE);
}
static uint64_t address(unsigned pc)
{
    return (uint64_t)(uintptr_t)object.code + pc;
}
static void test_calls(void **state)
{
    (void)state;
    run_name("s_getpc_b64");
    assert_int_equal(ks_s64(w, D), address(12));
    set(A, address(40), 0);
    run_name("s_swappc_b64");
    assert_int_equal(ks_s64(w, D), address(12));
    assert_int_equal(w->ip, 10);
    ks_inst back = make("s_setpc_b64");
    back.s[0].reg = D;
    run(&back);
    assert_int_equal(w->ip, 3);
    ks_inst call = make("s_call_b64");
    call.target = 6;
    run(&call);
    assert_int_equal(w->ip, 6);
    assert_int_equal(ks_s64(w, D), address(12));
    assert_int_equal(found.count, 0);
}
static void test_bad_jumps(void **state)
{
    const struct {
        uint64_t to, undefined;
        kilnsim_kind kind;
    } t[] = {
        { address(4 * CODE), 0, KILNSIM_TRAP }, { address(0) - 4, 0, KILNSIM_TRAP }, { address(42), 0, KILNSIM_TRAP },
        { address(44), 0, KILNSIM_TRAP } /* in the middle of one */, { 0, 0, KILNSIM_TRAP },
        { address(40), 1ull << 63, KILNSIM_UNDEFINED },
    };
    for (unsigned i = 0; i < sizeof t / sizeof *t; i++) {
        setup(state);
        set(A, t[i].to, t[i].undefined);
        run_name(i % 2 ? "s_setpc_b64" : "s_swappc_b64");
        assert_int_equal(found.count, 1);
        assert_int_equal(found.kind, t[i].kind);
        assert_int_equal(w->state, KS_ENDED);
    }
}
static void test_states(void **state)
{
    run_name("s_endpgm");
    assert_int_equal(w->state, KS_ENDED);
    setup(state);
    run_name("s_sleep");
    assert_int_equal(w->state, KS_YIELDED);
    setup(state);
    run_name("s_trap");
    assert_int_equal(found.kind, KILNSIM_TRAP);
    assert_int_equal(w->state, KS_ENDED);
    setup(state);
    ks_inst message = make("s_sendmsg");
    message.imm = 1;
    run(&message);
    assert_int_equal(w->state, KS_RUNNING);
    assert_int_equal(found.count, 0);
    message.imm = 3;
    run(&message);
    assert_int_equal(found.kind, KILNSIM_UNKNOWN);
    assert_int_equal(w->state, KS_ENDED);
}
static void test_clocks(void **state)
{
    (void)state;
    run_name("s_memtime");
    uint64_t first = ks_s64(w, D);
    w->executed += 1000;
    run_name("s_memtime");
    assert_int_equal(ks_s64(w, D) - first, 4000);
    run_name("s_memrealtime");
    assert_int_equal(ks_s64(w, D) - (1 << 30), 275); /* long after its start */
}

/* ---- Hardware registers ---- */
static uint32_t getreg(unsigned id, unsigned offset, unsigned size)
{
    ks_inst inst = make("s_getreg_b32");
    inst.imm = (int16_t)(id | offset << 6 | (size - 1) << 11);
    run(&inst);
    return w->s[D];
}
static void setreg(unsigned id, unsigned offset, unsigned size, uint32_t value)
{
    ks_inst inst = make("s_setreg_b32");
    inst.imm = (int16_t)(id | offset << 6 | (size - 1) << 11);
    set(A, value, 0);
    run(&inst);
}
static void test_mode(void **state)
{
    (void)state;
    w->mode = 0x2f0;
    assert_int_equal(getreg(1, 0, 32), 0x2f0);
    assert_int_equal(getreg(1, 4, 4), 0xf);
    setreg(1, 4, 2, 0);
    assert_int_equal(w->mode, 0x2c0);
    setreg(1, 0, 4, 0xfffffff5); /* only four of them */
    assert_int_equal(w->mode, 0x2c5);
    setreg(1, 0, 32, 0x1f0);
    assert_int_equal(w->mode, 0x1f0);
    setreg(1, 27, 1, 1);
    assert_true(w->gpr_index_on);
    assert_int_equal(w->mode, 0x1f0);
    setreg(3, 0, 32, UINT32_MAX); /* TRAPSTS: no effect */
    assert_int_equal(w->mode, 0x1f0);
    ks_inst literal = make("s_setreg_imm32_b32");
    literal.imm = 1 | 3 << 11;
    literal.s[0] = (ks_operand){.where = KS_CONST, .type = KS_B32, .count = 1, .value = 0xa};
    run(&literal);
    assert_int_equal(w->mode, 0x1fa);
    set(A, 0, 1);
    ks_inst unknown = make("s_setreg_b32");
    unknown.imm = 1;
    run(&unknown);
    assert_int_equal(found.kind, KILNSIM_UNDEFINED);
}
static void test_other_hwregs(void **state)
{
    (void)state;
    group.index = 19;
    w->index = 6;
    object.arch = KS_GFX942;
    assert_int_equal(getreg(20, 0, 4), 3);               /* XCC_ID: in turn over eight */
    assert_int_equal(getreg(4, 4, 2), 2);                 /* SIMD_ID */
    assert_int_equal(getreg(4, 8, 4), 2);                 /* CU_ID: the third workgroup of that XCC */
    assert_int_equal(getreg(15, 0, 16) << 16, KS_PRIVATE_BASE >> 32);
    assert_int_equal(getreg(15, 16, 16) << 16, KS_SHARED_BASE >> 32);
    assert_int_equal(getreg(3, 0, 32), 0);
    w->scc = true;
    assert_int_equal(getreg(2, 0, 1), 1);
    object.arch = KS_GFX90A;
    assert_int_equal(getreg(20, 0, 4), 0);
}
static void test_gpr_index(void **state)
{
    (void)state;
    set(KS_M0, 0xabcd1234, 0);
    set(A, 0x777, 0);
    ks_inst on = make("s_set_gpr_idx_on");
    on.word[0] = 0xbf110914;
    run(&on);
    assert_true(w->gpr_index_on);
    assert_int_equal(w->s[KS_M0], 0xabcd9277);
    set(A, 0x101, 0);
    run_name("s_set_gpr_idx_idx");
    assert_int_equal(w->s[KS_M0], 0xabcd9201);
    ks_inst mode = make("s_set_gpr_idx_mode");
    mode.imm = 3;
    run(&mode);
    assert_int_equal(w->s[KS_M0], 0xabcd3201);
    run_name("s_set_gpr_idx_off");
    assert_false(w->gpr_index_on);
}
static void test_movrel(void **state)
{
    (void)state;
    set(KS_M0, 3, 0);
    set(A + 3, 0x5555, 0xf0);
    run_name("s_movrels_b32");
    assert_int_equal(w->s[D], 0x5555);
    assert_int_equal(w->su[D], 0xf0);
    set(KS_M0, 2, 0);
    set(A, 0x123456789, 0);
    run_name("s_movreld_b64");
    assert_int_equal(ks_s64(w, D + 2), 0x123456789);
    assert_int_equal(found.count, 0);
    set(KS_M0, 100, 0);
    run_name("s_movrels_b32");
    assert_int_equal(found.kind, KILNSIM_TRAP);
    set(KS_M0, 1, 2);
    run_name("s_movreld_b32");
    assert_int_equal(found.kind, KILNSIM_UNDEFINED);
}

/* ---- Scalar loads ---- */
static uint32_t *memory;
static void load(const char *name, uint64_t base, uint64_t high, int32_t offset, int soffset)
{
    ks_inst inst = make(name);
    set(A, base, 0);
    set(A + 2, high, 0);
    set(B, (uint64_t)soffset, 0);
    inst.offset = offset;
    inst.ns = soffset < 0 ? 1 : 2;
    run(&inst);
}
static void test_loads(void **state)
{
    uint64_t base = (uint64_t)(uintptr_t)memory;
    (void)state;
    load("s_load_dword", base, 0, 4, -1);
    assert_int_equal(w->s[D], 101);
    load("s_load_dwordx2", base + 2, 0, 9, -1); /* the lowest two bits count for nothing */
    assert_int_equal(w->s[D], 102);
    assert_int_equal(w->s[D + 1], 103);
    load("s_load_dwordx4", base + 64, 0, -64, 16);
    assert_int_equal(w->s[D], 104);
    assert_int_equal(w->s[D + 3], 107);
    load("s_load_dwordx8", base, 0, 0, -1);
    assert_int_equal(w->s[D + 7], 107);
    load("s_load_dwordx16", base, 0, 0, -1);
    assert_int_equal(w->s[D + 15], 115);
    assert_int_equal(found.count, 0);
    set(D, 0, 0);
    load("s_load_dwordx2", base, 0, 64 * 4 - 4, -1);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.kind, KILNSIM_BOUNDS);
    assert_int_equal(undefined_of(D), ONES);
    load("s_load_dword", base, 0, -4, -1);
    assert_int_equal(found.count, 2);
    load("s_load_dword", 0, 0, 0, -1);
    assert_int_equal(found.count, 3);
    ks_inst unknown = make("s_load_dword");
    set(A, base, 8);
    unknown.ns = 1;
    run(&unknown);
    assert_int_equal(found.kind, KILNSIM_UNDEFINED);
}
static void test_freed_load(void **state)
{
    (void)state;
    void *p = ks_alloc(256, 256, KS_DEVICE);
    assert_int_equal(ks_free(p, KS_DEVICE), 0);
    load("s_load_dword", (uint64_t)(uintptr_t)p, 0, 0, -1);
    assert_int_equal(found.kind, KILNSIM_FREED);
}
/* Eight bytes, then two records of 12: words past them are zero. */
static void test_buffer_loads(void **state)
{
    uint64_t base = (uint64_t)(uintptr_t)memory;
    (void)state;
    load("s_buffer_load_dwordx4", base, 8, 0, -1);
    assert_int_equal(w->s[D + 1], 101);
    assert_int_equal(w->s[D + 2], 0);
    load("s_buffer_load_dwordx8", base | 12ull << 48, 2, 8, 4);
    assert_int_equal(w->s[D], 103);
    assert_int_equal(w->s[D + 2], 105);
    assert_int_equal(w->s[D + 3], 0);
    load("s_buffer_load_dword", base, 8, 8, -1);
    assert_int_equal(w->s[D], 0);
    set(D, 5, 0);
    set(D + 1, 5, 0);
    load("s_buffer_load_dword", base, 16, 8, -1);
    assert_int_equal(w->s[D], 102);
    assert_int_equal(w->s[D + 1], 5);
    assert_int_equal(found.count, 0);
    load("s_buffer_load_dwordx2", base, 4096, 252, -1); /* the resource says more than there is */
    assert_int_equal(found.kind, KILNSIM_BOUNDS);
}

static int begin_tests(void **state)
{
    (void)state;
    w = aligned_alloc(64, (sizeof *w + 63) & ~(size_t)63);
    memory = ks_alloc(64 * 4, 256, KS_DEVICE);
    if (!w || !memory)
        return -1;
    memset(w, 0, sizeof *w);
    for (unsigned i = 0; i < 64; i++)
        memory[i] = 100 + i;
    for (unsigned i = 0; i < CODE; i++)
        index_of[i] = i == 11 ? KS_NO_TARGET : i;
    object = (ks_object){.arch = KS_GFX90A, .code = (uint8_t *)code, .code_size = sizeof code, .index_of = index_of};
    launch.object = &object;
    launch.kernel = &kernel;
    w->launch = &launch;
    w->group = &group;
    group.launch = &launch;
    return 0;
}
static int finish(void **state)
{
    (void)state;
    ks_free(memory, KS_DEVICE);
    free(w);
    return 0;
}
#define TEST(name) cmocka_unit_test_setup(test_##name, setup)
int main(void)
{
    setenv("KILN_SIM", "log=off", 1);
    const struct CMUnitTest tests[] = {
        TEST(results), TEST(exec_results), TEST(every_row), TEST(undefined), TEST(undefined_same_register), TEST(origin),
        TEST(undefined_exec), TEST(half_exec), TEST(unchecked), TEST(branches), TEST(undefined_vcc), TEST(bad_branch),
        TEST(calls), TEST(bad_jumps), TEST(states), TEST(clocks), TEST(mode), TEST(other_hwregs), TEST(gpr_index),
        TEST(movrel), TEST(loads), TEST(freed_load), TEST(buffer_loads),
    };
    return cmocka_run_group_tests(tests, begin_tests, finish);
}
