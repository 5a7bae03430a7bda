// SPDX-License-Identifier: MIT
// Undefined bits through vector instructions: exact where bits only move, origins kept, nothing
// said where it does not matter.
#include "kilnsim.h"
#include "lanes_wave.h"

static void assert_undefined(unsigned reg, uint32_t bits, uint64_t lanes)
{
    for (unsigned l = 0; l < KS_LANES; l++)
        if (undefined_bits(reg, l) != (on(lanes, l) ? bits : 0))
            fail_msg("%s v%u lane %u: undefined %x, want %x", now->name, reg, l,
                     undefined_bits(reg, l), on(lanes, l) ? bits : 0);
    bool any = false;
    for (unsigned l = 0; l < KS_LANES; l++) any |= bits && on(lanes, l);
    assert_int_equal(w->v_clean[reg], !any);
}
static void test_undefined_bits(void **state)
{
    (void)state;
    const uint64_t odd = 0xaaaaaaaaaaaaaaaaull;
    EACH_VARIANT
    {
        reset();
        undefine(1, 0x00ff00ffu, odd, KS_NO_ORIGIN);
        RUN("v_mov_b32", 1, 1, vgpr(10), vgpr(1));
        assert_undefined(10, 0x00ff00ffu, odd);
        assert_int_equal(w->v_origin[10], 0x40); /* nobody had read it before */
        w->v_origin[1] = 0x1234;
        RUN("v_and_b32", 1, 2, vgpr(11), constant(0xf0f), vgpr(1));
        assert_undefined(11, 0x0000000fu, odd);
        assert_int_equal(w->v_origin[11], 0x1234);
        RUN("v_or_b32", 1, 2, vgpr(12), constant(0xffff), vgpr(1));
        assert_undefined(12, 0x00ff0000u, odd);
        RUN("v_lshlrev_b32", 1, 2, vgpr(13), constant(4), vgpr(1));
        assert_undefined(13, 0x0ff00ff0u, odd);
        RUN("v_perm_b32", 1, 3, vgpr(14), vgpr(2), vgpr(1), constant(0x0c070100));
        assert_undefined(14, 0x000000ffu, odd);
        RUN("v_xor_b32", 1, 2, vgpr(15), vgpr(1), vgpr(1)); /* whatever it holds, this is 0 */
        assert_undefined(15, 0, 0);
        RUN("v_lshrrev_b32", 1, 2, vgpr(16), constant(24), vgpr(1));
        assert_undefined(16, 0, 0);
        RUN("v_bfe_u32", 1, 3, vgpr(17), vgpr(1), constant(4), constant(8));
        assert_undefined(17, 0x0000000fu, odd);
        RUN("v_lshlrev_b64", 1, 2, vgpr(18), constant(32), vgpr(1));
        assert_undefined(18, 0, 0);
        assert_undefined(19, 0x00ff00ffu, odd);
        /* A sum's bits below the lowest undefined one are defined. */
        undefine(2, 0xffff0000u, 1, 7);
        RUN("v_add_u32", 1, 2, vgpr(20), vgpr(2), vgpr(3));
        assert_int_equal(undefined_bits(20, 0) & 0xffff, 0);
        assert_int_not_equal(undefined_bits(20, 0), 0);
        assert_int_equal(undefined_bits(20, 1), 0);
        /* Defined again by being written. */
        RUN("v_mov_b32", 1, 1, vgpr(10), constant(5));
        assert_undefined(10, 0, 0);
    }
}
static void test_undefined_exec(void **state)
{
    (void)state;
    EACH_VARIANT
    {
        reset();
        undefine(10, ~0u, ~0ull, KS_NO_ORIGIN);
        ks_exec_set(w, 0xffffffff);
        RUN("v_mov_b32", 1, 1, vgpr(10), constant(1));
        assert_undefined(10, ~0u, 0xffffffff00000000ull);
        RUN("v_add_u32", 1, 2, vgpr(11), vgpr(10), vgpr(10)); /* lanes that are off do not matter */
        assert_undefined(11, 0, 0);
        ks_exec_set(w, ~0ull << 32);
        RUN("v_mov_b32", 1, 1, vgpr(12), vgpr(10));
        assert_undefined(12, ~0u, ~0ull << 32);
        RUN("v_mov_b32", 1, 1, vgpr(10), constant(1));
        assert_undefined(10, 0, 0);
        /* Through DPP from the lanes above. */
        ks_exec_set(w, ~0ull);
        undefine(1, 0xff, 1ull << 5, 9);
        ks_inst in = make(find("v_mov_b32"), 1, 1, OPERANDS(vgpr(13), vgpr(1)));
        in.dpp = true;
        in.dpp_ctrl = 0x103;
        run(&in);
        assert_undefined(13, 0xff, 1ull << 2);
        /* From a lane that is on but not written itself. */
        undefine(1, 0xff, 1ull << 15, 9);
        in.dpp_ctrl = 0x142;
        in.row_mask = 2;
        run(&in);
        assert_undefined(13, 0xff, 0xffff0004);
        /* Lanes that are off keep what they have. */
        undefine(1, ~0u, ~0ull, 9);
        ks_exec_set(w, 0xff);
        RUN("v_mov_b32", 1, 1, vgpr(16), vgpr(1));
        assert_undefined(16, ~0u, 0xff);
        ks_exec_set(w, ~0ull);
        /* Into the parts of registers, and what these keep. */
        undefine(14, 0xffffffffu, 1, 9);
        ks_inst part = make(find("v_mad_u16"), 1, 3, OPERANDS(vgpr(14), vgpr(2), vgpr(3), vgpr(4)));
        run(&part);
        assert_undefined(14, 0xffff0000u, 1);
        part.op_sel = 8;
        run(&part);
        assert_undefined(14, 0, 0);
        undefine(15, 0xffffffffu, ~0ull, 9);
        ks_inst sdwa = make(find("v_mov_b32"), 1, 1, OPERANDS(vgpr(15), vgpr(2)));
        sdwa.sdwa = true;
        sdwa.dst_sel = 1, sdwa.dst_unused = 2;
        run(&sdwa);
        assert_undefined(15, 0xffff00ffu, ~0ull);
    }
}
static void test_undefined_masks(void **state)
{
    (void)state;
    EACH_VARIANT
    {
        reset();
        undefine(1, ~0u, 0xf0, KS_NO_ORIGIN);
        for (unsigned l = 0; l < KS_LANES; l++) w->v[5][l] = w->v[4][l] ^ 0xff;
        RUN("v_cmp_eq_u32", 1, 2, sgpr(20), vgpr(1),
            constant(77)); /* none of the usual fills is 77 */
        assert_int_equal(w->su[20], 0xf0);
        assert_int_equal(w->su[21], 0);
        assert_int_equal(w->s_origin[20], 0x40);
        RUN("v_cmp_le_u32", 1, 2, sgpr(22), constant(0), vgpr(1)); /* always true */
        assert_int_equal(w->su[22], 0);
        memcpy(w->v[41], w->v[2], sizeof(w->v[41]));
        RUN("v_cmp_eq_u64", 1, 2, sgpr(24), vgpr(1), vgpr(40)); /* upper words are the same */
        assert_int_equal(w->su[24], 0xf0);
        RUN("v_cmp_eq_u64", 1, 2, sgpr(26), vgpr(1), vgpr(50)); /* and here they differ */
        assert_int_equal(w->su[26], 0);
        /* Each has an undefined bit where the other has none, and both have one. */
        undefine(40, 5, ~0ull, 9);
        undefine(41, 6, ~0ull, 9);
        for (unsigned l = 0; l < KS_LANES; l++) w->v[40][l] = 4, w->v[41][l] = 3;
        RUN("v_cmp_eq_u32", 1, 2, sgpr(28), vgpr(40), vgpr(41));
        assert_int_equal(w->su[28], ~0u);
        /* A choice by an undefined mask, between values that differ in eight bits. */
        RUN("v_cndmask_b32", 1, 3, vgpr(6), vgpr(4), vgpr(5), sgpr(20));
        assert_undefined(6, 0xff, 0xf0);
        RUN("v_cndmask_b32", 1, 3, vgpr(7), vgpr(4), vgpr(4), sgpr(20));
        assert_undefined(7, 0, 0);
        w->su[20] = 0;
        RUN("v_cndmask_b32", 1, 3, vgpr(8), vgpr(1), vgpr(5),
            sgpr(20)); /* only where it is chosen */
        assert_undefined(8, ~0u, 0xf0 & ~pair(20));
    }
}
static void test_undefined_scalars(void **state)
{
    (void)state;
    EACH_VARIANT {
        reset();
        undefine(1, ~0u, 0xf0, KS_NO_ORIGIN);
        w->su[9] = 0xf;
        w->s_origin[9] = 0x77;
        RUN("v_mov_b32", 1, 1, vgpr(9), sgpr(9));
        assert_undefined(9, 0xf, ~0ull);
        assert_int_equal(w->v_origin[9], 0x77);
        ks_exec_set(w, 0xfff0);
        RUN("v_readfirstlane_b32", 1, 1, sgpr(30), vgpr(1));
        assert_int_equal(w->su[30], ~0u);
        RUN("v_readlane_b32", 1, 2, sgpr(30), vgpr(1), constant(8));
        assert_int_equal(w->su[30], 0);
        w->su[5] = 32; /* which lane is not known */
        RUN("v_readlane_b32", 1, 2, sgpr(30), vgpr(2), sgpr(5));
        assert_int_equal(w->su[30], ~0u);
        w->su[31] = 3;
        RUN("v_writelane_b32", 1, 2, vgpr(30), sgpr(31), constant(60));
        assert_undefined(30, 3, 1ull << 60);
        undefine(32, 0xff, 0xff, 5);
        RUN("v_swap_b32", 1, 1, vgpr(32), vgpr(33));
        assert_undefined(32, 0xff, 0xf);
        assert_undefined(33, 0xff, 0xf0);
        /* Unchecked: nothing is looked at. */
        w->undefined_checked = false;
        undefine(1, ~0u, ~0ull, 3);
        ks_exec_set(w, ~0ull);
        RUN("v_mov_b32", 1, 1, vgpr(34), vgpr(1));
        assert_int_equal(w->v_clean[34], 1);
    }
}
static unsigned found;
static void visit(const kilnsim_finding *f, void *user)
{
    (void)user;
    found += f->kind == KILNSIM_UNDEFINED && f->pc == 0x40;
}
/* EXEC from an undefined comparison is a finding; a defined one is none. */
static void test_undefined_finding(void **state)
{
    (void)state;
    EACH_VARIANT
    {
        found = 0;
        reset();
        kilnsim_findings_clear();
        RUN("v_cmpx_eq_u32", 1, 2, sgpr(20), vgpr(1), vgpr(2));
        ks_report_end(&launch);
        kilnsim_findings(visit, NULL);
        assert_int_equal(found, 0);
        reset();
        undefine(1, ~0u, 1, KS_NO_ORIGIN);
        RUN("v_cmpx_lt_u32", 1, 2, sgpr(20), vgpr(1), vgpr(2));
        ks_report_end(&launch);
        kilnsim_findings(visit, NULL);
        assert_int_equal(found, 1);
        group.stop = 0;
        launch.stop = 0;
        w->state = KS_RUNNING;
        kilnsim_findings_clear();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_undefined_bits),
        cmocka_unit_test(test_undefined_exec),
        cmocka_unit_test(test_undefined_masks),
        cmocka_unit_test(test_undefined_scalars),
        cmocka_unit_test(test_undefined_finding),
    };
    return cmocka_run_group_tests(tests, begin_tests, end_tests);
}
