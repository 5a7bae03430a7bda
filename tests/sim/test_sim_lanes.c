// SPDX-License-Identifier: MIT
// What all vector instructions have in common: EXEC, modifiers, DPP, SDWA, halves of registers.
// Instructions are made by hand and expected values computed here, lane by lane.
#include <math.h>
#include "lanes_wave.h"

/* ---- EXEC ---- */
static const uint64_t execs[] = {
    ~0ull, 0, 1, 1ull << 63, 0x00ff00ff12345678ull, 0xaaaaaaaa55555555ull};
static void test_exec(void **state)
{
    (void)state;
    EACH_VARIANT
    for (unsigned e = 0; e < sizeof(execs) / sizeof(execs[0]); e++) {
        reset();
        remember();
        ks_exec_set(w, execs[e]);
        for (unsigned l = 0; l < KS_LANES; l++)
            assert_int_equal(w->exec_row[l], on(execs[e], l) ? ~0u : 0);
        ks_inst add = make(find("v_add_u32"), 1, 2, OPERANDS(vgpr(3), vgpr(1), vgpr(2)));
        ks_inst wide = make(find("v_lshlrev_b64"), 1, 2, OPERANDS(vgpr(6), constant(8), vgpr(5)));
        ks_inst over = make(find("v_mad_u64_u32"), 2, 3,
                            OPERANDS(vgpr(9), sgpr(20), vgpr(9), vgpr(10), vgpr(8)));
        ks_inst carry =
            make(find("v_add_co_u32"), 2, 2, OPERANDS(vgpr(12), sgpr(KS_VCC), vgpr(12), sgpr(7)));
        run(&add);
        run(&wide);
        run(&over);
        run(&carry);
        uint64_t vcc = 0;
        for (unsigned l = 0; l < KS_LANES; l++) {
            uint64_t shifted = ((uint64_t)before[6][l] << 32 | before[5][l]) << 8;
            uint64_t c = (uint64_t)before[9][l] << 32 | before[8][l];
            uint64_t sum = (uint64_t)before[9][l] * before[10][l] + c,
                     add1 = (uint64_t)before[12][l] + w->s[7];
            bool yes = on(execs[e], l);
            vcc |= (uint64_t)(yes && add1 >> 32) << l;
            assert_int_equal(w->v[3][l], yes ? before[1][l] + before[2][l] : before[3][l]);
            assert_int_equal(w->v[6][l], yes ? (uint32_t)shifted : before[6][l]);
            assert_int_equal(w->v[7][l], yes ? (uint32_t)(shifted >> 32) : before[7][l]);
            assert_int_equal(w->v[9][l], yes ? (uint32_t)sum : before[9][l]);
            assert_int_equal(w->v[10][l], yes ? (uint32_t)(sum >> 32) : before[10][l]);
            assert_int_equal(w->v[12][l], yes ? (uint32_t)add1 : before[12][l]);
        }
        assert_int_equal(pair(KS_VCC), vcc);
        assert_int_equal(ks_exec_of(w), execs[e]);
    }
}
/* A comparison may name EXEC itself; v_cmpx writes it and its other destination. */
static void test_exec_written(void **state)
{
    (void)state;
    EACH_VARIANT
    {
        reset();
        ks_exec_set(w, 0x0123456789abcdefull);
        uint64_t want = 0;
        for (unsigned l = 0; l < KS_LANES; l++)
            want |= (uint64_t)(on(0x0123456789abcdefull, l) && w->v[1][l] < w->v[2][l]) << l;
        ks_inst cmp = make(find("v_cmp_lt_u32"), 1, 2, OPERANDS(sgpr(KS_EXEC), vgpr(1), vgpr(2)));
        run(&cmp);
        assert_int_equal(ks_exec_of(w), want);
        for (unsigned l = 0; l < KS_LANES; l++)
            assert_int_equal(w->exec_row[l], on(want, l) ? ~0u : 0);
        ks_inst mask =
            make(find("v_cndmask_b32"), 1, 3, OPERANDS(vgpr(4), vgpr(5), vgpr(6), sgpr(KS_EXEC)));
        remember();
        run(&mask);
        for (unsigned l = 0; l < KS_LANES; l++)
            assert_int_equal(w->v[4][l], on(want, l) ? before[6][l] : before[4][l]);
    }
}

/* ---- Between lanes and scalars ---- */
static void test_lanes(void **state)
{
    (void)state;
    EACH_VARIANT
    {
        reset();
        w->s[5] = 64 + 17;
        ks_inst read = make(find("v_readlane_b32"), 1, 2, OPERANDS(sgpr(30), vgpr(1), sgpr(5)));
        run(&read);
        assert_int_equal(w->s[30], w->v[1][17]);
        ks_inst first_lane = make(find("v_readfirstlane_b32"), 1, 1, OPERANDS(sgpr(31), vgpr(2)));
        ks_exec_set(w, 0xf0ull << 32);
        run(&first_lane);
        assert_int_equal(w->s[31], w->v[2][36]);
        ks_exec_set(w, 0);
        run(&first_lane);
        assert_int_equal(w->s[31], w->v[2][0]);
        remember();
        ks_inst write =
            make(find("v_writelane_b32"), 1, 2, OPERANDS(vgpr(3), sgpr(9), constant(63)));
        run(&write);
        for (unsigned l = 0; l < KS_LANES; l++)
            assert_int_equal(w->v[3][l], l == 63 ? w->s[9] : before[3][l]);
        ks_exec_set(w, 0xffff0000ffff0000ull);
        ks_inst swap = make(find("v_swap_b32"), 1, 1, OPERANDS(vgpr(6), vgpr(7)));
        run(&swap);
        for (unsigned l = 0; l < KS_LANES; l++) {
            assert_int_equal(w->v[6][l], before[l & 16 ? 7 : 6][l]);
            assert_int_equal(w->v[7][l], before[l & 16 ? 6 : 7][l]);
        }
    }
}

/* ---- DPP ---- */
static int source_lane(unsigned ctrl, int l)
{
    int row = l / 16 * 16, n = (int)ctrl % 16, at = l % 16;
    if (ctrl < 0x100) return l / 4 * 4 + (int)(ctrl >> 2 * (l % 4)) % 4;
    if (ctrl > 0x100 && ctrl < 0x110) return at + n > 15 ? -1 : l + n;
    if (ctrl > 0x110 && ctrl < 0x120) return at - n < 0 ? -1 : l - n;
    if (ctrl > 0x120 && ctrl < 0x130) return row + (at + 16 - n) % 16;
    switch (ctrl) {
    case 0x130:
        return l == 63 ? -1 : l + 1;
    case 0x134:
        return (l + 1) % 64;
    case 0x138:
        return l - 1;
    case 0x13c:
        return (l + 63) % 64;
    case 0x140:
        return row + 15 - at;
    case 0x141:
        return l / 8 * 8 + 7 - l % 8;
    case 0x142:
        return l < 16 ? -1 : row - 1;
    case 0x143:
        return l < 32 ? -1 : 31;
    default:
        return row + n;
    }
}
static void check_dpp(unsigned ctrl, uint64_t exec, unsigned rows, unsigned banks, bool zero)
{
    reset();
    remember();
    ks_exec_set(w, exec);
    ks_inst in = make(find("v_sub_u32"), 1, 2, OPERANDS(vgpr(3), vgpr(1), vgpr(2)));
    in.encoding = KS_VOP2;
    in.dpp = true;
    in.dpp_ctrl = (uint16_t)ctrl;
    in.row_mask = (uint8_t)rows;
    in.bank_mask = (uint8_t)banks;
    in.bound_ctrl = zero;
    run(&in);
    for (unsigned l = 0; l < KS_LANES; l++) {
        int from = source_lane(ctrl, (int)l);
        bool valid = from >= 0 && on(exec, (unsigned)from);
        bool written =
            on(exec, l) && (rows >> l / 16 & 1u) && (banks >> l % 16 / 4 & 1u) && (valid || zero);
        uint32_t want = (valid ? before[1][from] : 0) - before[2][l];
        if (w->v[3][l] != (written ? want : before[3][l]))
            fail_msg("%s ctrl 0x%x exec %llx lane %u", now->name, ctrl, (unsigned long long)exec,
                     l);
    }
}
static void test_dpp(void **state)
{
    (void)state;
    EACH_VARIANT
    {
        for (unsigned ctrl = 0; ctrl < 0x160; ctrl++) {
            bool reserved = ctrl == 0x100 || ctrl == 0x110 || ctrl == 0x120 ||
                            (ctrl > 0x130 && ctrl < 0x140 && ctrl % 4) ||
                            (ctrl > 0x143 && ctrl < 0x150);
            for (unsigned n = 0; n < 4 && !reserved; n++)
                check_dpp(ctrl, n & 1 ? 0xfff0f3ff7fffef37ull : ~0ull, n == 3 ? 0xa : 0xf,
                          n == 3 ? 0x5 : 0xf, n & 2);
        }
        /* Two registers; a mask; the sign changes of what was moved. */
        reset();
        remember();
        ks_inst mov = make(find("v_mov_b64"), 1, 1, OPERANDS(vgpr(4), vgpr(8)));
        mov.encoding = KS_VOP1;
        mov.dpp = true;
        mov.dpp_ctrl = 0x155;
        run(&mov);
        ks_inst cmp = make(find("v_cmp_eq_u32"), 1, 2, OPERANDS(sgpr(KS_VCC), vgpr(1), vgpr(1)));
        cmp.dpp = true;
        cmp.dpp_ctrl = 0x111;
        run(&cmp);
        ks_op op = by_hand(first, KS_F32, KS_F32, 0);
        ks_inst neg = make(&op, 1, 1, OPERANDS(vgpr(6), vgpr(7)));
        neg.dpp = true;
        neg.dpp_ctrl = 0x140;
        neg.neg = neg.abs = 1;
        run(&neg);
        for (unsigned l = 0; l < KS_LANES; l++) {
            assert_int_equal(w->v[4][l], before[8][l / 16 * 16 + 5]);
            assert_int_equal(w->v[5][l], before[9][l / 16 * 16 + 5]);
            assert_int_equal(w->v[6][l], before[7][l ^ 15] | 0x80000000u);
            if (l % 16 == 0) /* no source, not written: comparisons have 0 there */
                assert_false(on(pair(KS_VCC), l));
        }
    }
}

/* ---- SDWA ---- */
static uint32_t selected(uint32_t v, unsigned sel, bool sext)
{
    uint32_t part = sel < 4 ? v >> 8 * sel & 255u : sel < 6 ? v >> 16 * (sel - 4) & 65535u : v;
    uint32_t sign = sel < 4 ? 128u : sel < 6 ? 32768u : 0;
    return sext && (part & sign) ? part - 2 * sign : part;
}
static uint32_t placed(uint32_t v, uint32_t old, unsigned sel, unsigned unused)
{
    unsigned bytes = sel < 4 ? 1 : 2, at = sel < 4 ? sel : 2 * (sel - 4);
    uint32_t d = 0;
    if (sel == 6) return v;
    for (unsigned b = 0; b < 4; b++) {
        uint32_t byte = b >= at && b < at + bytes        ? v >> 8 * (b - at) & 255u
                        : unused == 2                    ? old >> 8 * b & 255u
                        : unused == 1 && b >= at + bytes ? ((v >> (8 * bytes - 1) & 1u) ? 255u : 0)
                                                         : 0;
        d |= byte << 8 * b;
    }
    return d;
}
static void test_sdwa(void **state)
{
    (void)state;
    EACH_VARIANT
    for (unsigned n = 0; n < 7 * 7 * 7 * 3 * 4; n += 5) {
        unsigned s0 = n % 7, s1 = n / 7 % 7, d = n / 49 % 7, unused = n / 343 % 3, sext = n / 1029;
        reset();
        remember();
        ks_exec_set(w, 0xf7ffffff0fffffffull);
        ks_inst in = make(find("v_add_u32"), 1, 2, OPERANDS(vgpr(3), vgpr(1), vgpr(2)));
        in.encoding = KS_VOP2;
        in.sdwa = true;
        in.src_sel[0] = (uint8_t)s0, in.src_sel[1] = (uint8_t)s1;
        in.dst_sel = (uint8_t)d, in.dst_unused = (uint8_t)unused;
        in.sext = (uint8_t)sext;
        run(&in);
        for (unsigned l = 0; l < KS_LANES; l++) {
            uint32_t v =
                selected(before[1][l], s0, sext & 1) + selected(before[2][l], s1, sext & 2);
            uint32_t want =
                on(0xf7ffffff0fffffffull, l) ? placed(v, before[3][l], d, unused) : before[3][l];
            if (w->v[3][l] != want)
                fail_msg("%s %u %u -> %u unused %u sext %u lane %u: got %x, want %x", now->name, s0,
                         s1, d, unused, sext, l, w->v[3][l], want);
        }
    }
}
/* SDWA of half a register as f16, its sign changed there. */
static void test_sdwa_f16(void **state)
{
    (void)state;
    EACH_VARIANT
    {
        reset();
        remember();
        ks_op op = by_hand(first, KS_F16, KS_F16, 0);
        ks_inst in = make(&op, 1, 1, OPERANDS(vgpr(3), vgpr(1)));
        in.encoding = KS_VOP1;
        in.sdwa = true;
        in.src_sel[0] = 5;
        in.dst_sel = 4, in.dst_unused = 2;
        in.neg = 1;
        run(&in);
        for (unsigned l = 0; l < KS_LANES; l++)
            assert_int_equal(w->v[3][l],
                             (before[3][l] & 0xffff0000u) | ((before[1][l] >> 16) ^ 0x8000u));
    }
}

/* ---- abs, neg, op_sel ---- */
static void test_signs(void **state)
{
    (void)state;
    static const struct {
        uint8_t type;
        uint32_t low, high; /* sign bits in the first and the second register */
    } types[] = {{KS_F32, 0x80000000u, 0},
                 {KS_F16, 0x8000u, 0},
                 {KS_F64, 0, 0x80000000u},
                 {KS_B32, 0x80000000u, 0}};
    EACH_VARIANT
    for (unsigned t = 0; t < 4; t++)
        for (unsigned m = 0; m < 4; m++)
            for (unsigned scalar = 0; scalar < 2; scalar++) {
                reset();
                remember();
                ks_op op = by_hand(second, types[t].type, types[t].type, 0);
                ks_inst in =
                    make(&op, 1, 2, OPERANDS(vgpr(4), vgpr(1), scalar ? sgpr(8) : vgpr(2)));
                in.abs = (uint8_t)((m & 1) << 1), in.neg = (uint8_t)((m >> 1) << 1);
                run(&in);
                for (unsigned l = 0; l < KS_LANES; l++) {
                    uint32_t v[2] = {scalar ? w->s[8] : before[2][l],
                                     scalar ? w->s[9] : before[3][l]};
                    v[0] = ((m & 1) ? v[0] & ~types[t].low : v[0]) ^ ((m & 2) ? types[t].low : 0);
                    v[1] = ((m & 1) ? v[1] & ~types[t].high : v[1]) ^ ((m & 2) ? types[t].high : 0);
                    assert_int_equal(w->v[4][l], v[0]);
                    if (types[t].high) assert_int_equal(w->v[5][l], v[1]);
                }
            }
}
static void test_op_sel(void **state)
{
    (void)state;
    EACH_VARIANT
    for (unsigned sel = 0; sel < 16; sel++) {
        reset();
        remember();
        ks_exec_set(w, 0xfffffffffffffff7ull);
        ks_inst in = make(find("v_mad_u16"), 1, 3, OPERANDS(vgpr(4), vgpr(1), sgpr(8), vgpr(3)));
        in.op_sel = (uint8_t)sel;
        run(&in);
        for (unsigned l = 0; l < KS_LANES; l++) {
            uint32_t a = before[1][l] >> ((sel & 1) ? 16 : 0) & 0xffff,
                     b = w->s[8] >> ((sel & 2) ? 16 : 0) & 0xffff;
            uint32_t c = before[3][l] >> ((sel & 4) ? 16 : 0) & 0xffff, d = (a * b + c) & 0xffff,
                     old = before[4][l];
            uint32_t want = (sel & 8) ? (old & 0xffff) | d << 16 : (old & 0xffff0000u) | d;
            assert_int_equal(w->v[4][l], l == 3 ? old : want);
        }
    }
}
static void test_packed(void **state)
{
    (void)state;
    EACH_VARIANT
    for (unsigned n = 0; n < 4 * 4 * 4 * 4; n++) {
        unsigned sel = n & 3, sel_hi = n >> 2 & 3, neg = n >> 4 & 3, neg_hi = n >> 6;
        uint8_t types[2] = {KS_V2F16, KS_V2F32};
        for (unsigned t = 0; t < 2; t++) {
            reset();
            remember();
            ks_op op = by_hand(n & 1 ? first : second, types[t], types[t], 0);
            unsigned s = n & 1 ? 0 : 1, reg = s ? 6 : 2;
            ks_inst in = make(&op, 1, 2, OPERANDS(vgpr(10), vgpr(2), vgpr(6)));
            in.encoding = KS_VOP3P;
            in.op_sel = (uint8_t)sel, in.op_sel_hi = (uint8_t)sel_hi;
            in.neg = (uint8_t)neg, in.neg_hi = (uint8_t)neg_hi;
            run(&in);
            bool low = sel >> s & 1, high = sel_hi >> s & 1, n0 = neg >> s & 1,
                 n1 = neg_hi >> s & 1;
            for (unsigned l = 0; l < KS_LANES; l++) {
                uint32_t v = before[reg][l];
                if (t) {
                    assert_int_equal(w->v[10][l], before[reg + low][l] ^ (n0 ? 0x80000000u : 0));
                    assert_int_equal(w->v[11][l], before[reg + high][l] ^ (n1 ? 0x80000000u : 0));
                } else {
                    uint32_t a = (v >> (low ? 16 : 0) & 0xffff) ^ (n0 ? 0x8000u : 0);
                    uint32_t b = (v >> (high ? 16 : 0) & 0xffff) ^ (n1 ? 0x8000u : 0);
                    assert_int_equal(w->v[10][l], a | b << 16);
                }
            }
        }
    }
}
/* fma_mix: op_sel_hi says f16, op_sel which half, neg_hi abs. */
static void test_mix(void **state)
{
    (void)state;
    EACH_VARIANT
    for (unsigned n = 0; n < 16; n++) {
        reset();
        for (unsigned l = 0; l < KS_LANES;
             l++) /* 1.5 * 2^k, negative in odd lanes, in both halves */
            w->v[3][l] =
                ((l & 1) << 15 | (l % 30 + 1) << 10 | 0x200) * 0x10001u ^ 0x10000u * (l % 7);
        remember();
        ks_op op = by_hand(third, KS_F32, KS_F32, KS_F_MIX);
        ks_inst in = make(&op, 1, 3, OPERANDS(vgpr(4), vgpr(1), vgpr(2), vgpr(3)));
        in.encoding = KS_VOP3P;
        in.op_sel = (uint8_t)((n & 1) << 2), in.op_sel_hi = (uint8_t)((n >> 1 & 1) << 2);
        in.neg = (uint8_t)((n >> 2 & 1) << 2), in.neg_hi = (uint8_t)((n >> 3) << 2);
        run(&in);
        for (unsigned l = 0; l < KS_LANES; l++) {
            uint32_t v = before[3][l], h = n & 1 ? v >> 16 : v & 0xffff;
            double value = ldexp(1 + (h & 0x3ff) / 1024.0, (int)(h >> 10 & 31) - 15);
            uint32_t want = n & 2 ? bits32((float)(h & 0x8000 ? -value : value)) : v;
            want = (n & 8 ? want & 0x7fffffffu : want) ^ (n & 4 ? 0x80000000u : 0);
            assert_int_equal(w->v[4][l], want);
        }
    }
}
static void test_gpr_index(void **state)
{
    (void)state;
    EACH_VARIANT
    for (unsigned mode = 0; mode < 16; mode++) {
        reset();
        remember();
        w->gpr_index_on = true;
        w->s[KS_M0] = 5 | mode << 12;
        ks_inst in =
            make(find("v_add3_u32"), 1, 3, OPERANDS(vgpr(40), vgpr(10), vgpr(20), vgpr(30)));
        run(&in);
        for (unsigned l = 0; l < KS_LANES; l++) {
            uint32_t sum = before[10 + (mode & 1 ? 5 : 0)][l] + before[20 + (mode & 2 ? 5 : 0)][l] +
                           before[30 + (mode & 4 ? 5 : 0)][l];
            assert_int_equal(w->v[40][l], mode & 8 ? before[40][l] : sum);
            assert_int_equal(w->v[45][l], mode & 8 ? sum : before[45][l]);
        }
        w->s[KS_M0] = 250 | 8u << 12; /* a destination outside the file is not written */
        remember();
        run(&in);
        assert_memory_equal(w->v, before, sizeof(before));
        kernel.rsrc1 = kernel.rsrc3 = 5; /* 24 registers of each kind: past them v0 is read */
        w->s[KS_M0] = 14 | 1u << 12;
        in = make(find("v_mov_b32"), 1, 1, OPERANDS(vgpr(9), vgpr(10)));
        run(&in);
        for (unsigned l = 0; l < KS_LANES; l++) assert_int_equal(w->v[9][l], before[0][l]);
        w->s[KS_M0] = 15 | 8u << 12;
        remember();
        run(&in);
        assert_memory_equal(w->v, before, sizeof(before));
        kernel.rsrc1 = kernel.rsrc3 = 63;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exec),      cmocka_unit_test(test_exec_written),
        cmocka_unit_test(test_lanes),     cmocka_unit_test(test_dpp),
        cmocka_unit_test(test_sdwa),      cmocka_unit_test(test_sdwa_f16),
        cmocka_unit_test(test_signs),     cmocka_unit_test(test_op_sel),
        cmocka_unit_test(test_packed),    cmocka_unit_test(test_mix),
        cmocka_unit_test(test_gpr_index),
    };
    return cmocka_run_group_tests(tests, begin_tests, end_tests);
}
