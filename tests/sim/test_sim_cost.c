// SPDX-License-Identifier: MIT
// The issue model on traces written by hand: each rule of it has a case whose cycles follow from
// the constants alone. Then occupancy, and that a trace cut short counts for all of it.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "cost.h"
#include "mfma.h"

#define C(name) ((double)ks_cost_constants[KS_COST_##name][KS_GFX942])
#define STEP    4.0
/* Instructions that the traces are made of. ORDER WORD */
enum {
    ADD,
    EXP,
    MATRIX,
    SADD,
    GLOBAL,
    DS,
    SLOAD,
    FLAT,
    WAIT_VM0,
    WAIT_VM1,
    WAIT_LGKM0,
    NOP3,
    SLEEP1,
    PRIO3,
    BARRIER,
    BRANCH,
    END,
    WORDS
};
static const ks_op ops[WORDS] = {
    [ADD] = {"v_add_f32", .class = KS_VALU_OP},
    [EXP] = {"v_exp_f32", .class = KS_TRANS_OP},
    [MATRIX] = {"v_mfma_f32_32x32x8_f16", .class = KS_MFMA_OP,
                .form = KS_ROW_v_mfma_f32_32x32x8_f16},
    [SADD] = {"s_add_u32", .class = KS_SALU_OP},
    [GLOBAL] = {"global_load_dword", .class = KS_GLOBAL_OP},
    [DS] = {"ds_read_b128", .class = KS_LDS_OP},
    [SLOAD] = {"s_load_dword", .class = KS_SMEM_OP},
    [FLAT] = {"flat_load_dword", .class = KS_FLAT_OP},
    [WAIT_VM0] = {"s_waitcnt", .class = KS_WAIT_OP},
    [WAIT_VM1] = {"s_waitcnt", .class = KS_WAIT_OP},
    [WAIT_LGKM0] = {"s_waitcnt", .class = KS_WAIT_OP},
    [NOP3] = {"s_nop", .class = KS_NOP_OP},
    [SLEEP1] = {"s_sleep", .class = KS_NOP_OP},
    [PRIO3] = {"s_setprio", .class = KS_NOP_OP},
    [BARRIER] = {"s_barrier", .class = KS_BARRIER_OP},
    [BRANCH] = {"s_cbranch_scc1", .class = KS_BRANCH_OP, .flags = KS_F_JUMP},
    [END] = {"s_endpgm", .class = KS_SALU_OP, .flags = KS_F_END},
};
static const int32_t imm[WORDS] = {
    [WAIT_VM0] = 0x0f70, [WAIT_VM1] = 0x0f71, [WAIT_LGKM0] = (int16_t)0xc07f,
    [NOP3] = 3,          [SLEEP1] = 1,        [PRIO3] = 3};
static ks_inst inst[WORDS];
static ks_object object = {.arch = KS_GFX942, .inst = inst, .inst_count = WORDS};
static ks_kernel kernel;
static ks_launch launch = {.object = &object, .kernel = &kernel};
static ks_cost cost;

static void reset(unsigned waves)
{
    for (unsigned i = 0; i < KS_MAX_WAVES; i++) free(cost.trace[i].at);
    cost = (ks_cost){.waves = waves};
    for (unsigned i = 0; i < WORDS; i++) inst[i] = (ks_inst){.op = &ops[i], .imm = imm[i]};
}
/* times instructions of a wave; aux: LDS cycles or segments. */
static void add(unsigned wave, unsigned word, uint32_t aux, unsigned times)
{
    ks_trace *t = &cost.trace[wave];
    for (; times; times--) {
        if (t->count == t->room) {
            t->room = t->room ? 2 * t->room : 64;
            t->at = realloc(t->at, t->room * sizeof(*t->at));
            assert_non_null(t->at);
        }
        t->at[t->count++] = (ks_trace_entry){word, aux};
        t->seen++;
    }
}
static double share;
static double cycles(unsigned groups)
{
    double out;
    for (unsigned i = 0; i < cost.waves; i++)
        if (cost.trace[i].at[cost.trace[i].count - 1].inst != END) add(i, END, 0, 1);
    assert_true(ks_cost_model(&launch, &cost, groups, &out, &share));
    return out;
}
/* The timeline of what was added, with `groups` workgroups on the unit. */
static ks_timeline timeline;
static const ks_event *events(unsigned groups)
{
    free(timeline.at);
    timeline = (ks_timeline){NULL, 0, 0, false};
    cost.timeline = &timeline;
    cycles(groups);
    cost.timeline = NULL;
    return timeline.at;
}
/* One wave: steps of what it does, and the end's. */
#define STEPS(n) (STEP * ((double)(n) + 1))
static void equal(double have, double want)
{
    if (have != want) fail_msg("%.0f cycles instead of %.0f", have, want);
}

static void one_wave(void **state)
{
    static const struct {
        unsigned word, times;
        double steps; /* of each */
    } cases[] = {{ADD, 100, 1}, {EXP, 100, 4}, {SADD, 100, 1}, {NOP3, 100, 4}, {SLEEP1, 10, 17}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        reset(1);
        add(0, cases[i].word, 0, cases[i].times);
        /* a unit that is still busy does not hold back the end */
        const double tail = cases[i].word == EXP ? cases[i].steps - 1 : 0;
        equal(cycles(1), STEPS(cases[i].times * cases[i].steps - tail));
    }
}
static void ports(void **state)
{
    (void)state;
    reset(4); /* a SIMD each */
    for (unsigned w = 0; w < 4; w++) add(w, ADD, 0, 100);
    equal(cycles(1), STEPS(100));
    equal(cycles(2), STEPS(200)); /* two on each: their one VALU; the end goes beside it */
    reset(8);
    for (unsigned w = 0; w < 8; w++)
        add(w, w < 4 ? ADD : SADD, 0, 100); /* different ports of one SIMD */
    equal(cycles(1), STEP * 102);
}
static void matrix_unit(void **state)
{
    (void)state;
    reset(4);
    for (unsigned w = 0; w < 4; w++) add(w, MATRIX, 0, 100);
    equal(cycles(1), STEPS(99 * 8 + 1));
    assert_true(share > 0.99);
    reset(4); /* other vector instructions go beside it */
    for (unsigned w = 0; w < 4; w++)
        for (unsigned i = 0; i < 100; i++) add(w, MATRIX, 0, 1), add(w, ADD, 0, 7);
    equal(cycles(1), STEPS(100 * 8));
    reset(4); /* and of another wave */
    for (unsigned w = 0; w < 4; w++) add(w, MATRIX, 0, 100);
    equal(cycles(2), STEPS(199 * 8 + 1));
    reset(1);
    add(0, MATRIX, 0, 100);
    cycles(1);
    assert_true(share > 0.24 && share < 0.26); /* one SIMD of four */
}
static void lds_unit(void **state)
{
    (void)state;
    reset(4);
    for (unsigned w = 0; w < 4; w++) add(w, DS, 16, 10), add(w, WAIT_LGKM0, 0, 1);
    /* 40 accesses of 16 cycles through one unit, then the latency, then wait and end */
    equal(cycles(1), 40 * 16 + C(LDS_LATENCY) + STEPS(1));
    reset(1);
    add(0, DS, 4, 1);
    equal(cycles(1), STEPS(1)); /* nobody waits for it */
}
static void global_memory(void **state)
{
    (void)state;
    reset(1);
    add(0, GLOBAL, 16, 1), add(0, WAIT_VM0, 0, 1);
    equal(cycles(1), 16 * C(SEGMENT_CYCLES) + C(GLOBAL_LATENCY) + STEPS(1));
    reset(1); /* few segments: the addresses take longer */
    add(0, GLOBAL, 1, 1), add(0, WAIT_VM0, 0, 1);
    equal(cycles(1), C(ADDRESS_CYCLES) + C(GLOBAL_LATENCY) + STEPS(1));
    reset(1); /* the first of two */
    add(0, GLOBAL, 16, 1), add(0, GLOBAL, 160, 1), add(0, WAIT_VM1, 0, 1);
    equal(cycles(1), 16 * C(SEGMENT_CYCLES) + C(GLOBAL_LATENCY) + STEPS(1));
    reset(1); /* flat: lgkmcnt too */
    add(0, FLAT, 16, 1), add(0, WAIT_LGKM0, 0, 1);
    equal(cycles(1), 16 * C(SEGMENT_CYCLES) + C(GLOBAL_LATENCY) + STEPS(1));
    reset(1);
    add(0, SLOAD, 0, 1), add(0, WAIT_LGKM0, 0, 1);
    equal(cycles(1), C(SCALAR_CYCLES) + C(SCALAR_LATENCY) + STEPS(1));
    reset(1); /* the sixty-fourth waits for the first */
    add(0, GLOBAL, 1, 64);
    equal(cycles(1), C(ADDRESS_CYCLES) + C(GLOBAL_LATENCY) + STEPS(1));
}
static void barriers(void **state)
{
    (void)state;
    reset(4);
    for (unsigned w = 0; w < 4; w++) {
        add(w, ADD, 0, w == 2 ? 100 : 1);
        add(w, BARRIER, 0, 1);
        add(w, ADD, 0, w == 3 ? 50 : 1);
    }
    equal(cycles(1), STEPS(100 + C(BARRIER) + 50));
    reset(2); /* another wave's end opens it, too */
    add(0, BARRIER, 0, 1), add(0, ADD, 0, 10);
    add(1, ADD, 0, 30);
    equal(cycles(1), STEPS(30 + C(BARRIER) + 10));
}
static void branches(void **state)
{
    (void)state;
    reset(1);
    for (unsigned i = 0; i < 10; i++)
        add(0, ADD, 0, 1), add(0, BRANCH, 0, 1); /* each goes back to ADD */
    add(0, END, 0, 1);                           /* the last falls through */
    equal(cycles(1), STEPS(10 + 9 * C(BRANCH) + 1));
}
static void priorities(void **state)
{
    (void)state;
    for (unsigned raised = 0; raised < 2; raised++) {
        reset(8); /* waves 0 and 4 share a SIMD; 4 has more to do after its vector instructions */
        for (unsigned w = 0; w < 8; w++) add(w, raised && w == 4 ? PRIO3 : SADD, 0, 1);
        add(0, ADD, 0, 100);
        add(4, ADD, 0, 100), add(4, NOP3, 0, 30);
        equal(cycles(1), raised ? STEPS(1 + 100 + 120) : STEPS(1 + 200 + 120));
    }
}
static void cut_short(void **state)
{
    (void)state;
    reset(1);
    add(0, ADD, 0, 100);
    cost.trace[0].seen = 1000 - 1;
    const double whole = cycles(1);
    equal(whole, STEPS(100) * 1000 / 101);
}
static void occupancy(void **state)
{
    static const struct {
        unsigned registers, threads, lds, groups, waves;
    } cases[] = {
        {512, 256, 0, 1, 1},
        {256, 256, 0, 2, 2},
        {128, 256, 0, 4, 4},
        {168, 256, 0, 3, 3},
        {64, 256, 0, 8, 8},
        {8, 64, 0, 32, 8},
        {8, 1024, 0, 2, 8},
        {64, 256, 32768, 2, 2},
        {64, 256, 32769, 1, 1},
        {64, 256, 65536, 1, 1},
        {512, 512, 0, 1, 2 /* it ran */},
        {8, 128, 0, 16, 8},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        kernel.rsrc1 = cases[i].registers / 8 - 1;
        launch.block[0] = cases[i].threads, launch.block[1] = launch.block[2] = 1;
        launch.lds = cases[i].lds;
        const ks_occupancy o = ks_cost_occupancy(&launch);
        if (o.groups_per_cu != cases[i].groups || o.waves_per_simd != cases[i].waves)
            fail_msg("%u registers, %u threads, %u bytes of LDS: %u groups, %u waves",
                     cases[i].registers, cases[i].threads, cases[i].lds, o.groups_per_cu,
                     o.waves_per_simd);
    }
}

static void is_event(const ks_event *e, unsigned word, double ready, double issue, double from,
                     double to, double done)
{
    const double have[] = {(double)e->ready, (double)e->issue, (double)e->from, (double)e->to,
                           (double)e->done},
                 want[] = {ready, issue, from, to, done};
    static const char *const name[] = {"ready", "issue", "from", "to", "done"};
    assert_int_equal(e->inst, word);
    for (int i = 0; i < 5; i++)
        if (have[i] != want[i])
            fail_msg("%s: %s %.0f instead of %.0f", ops[word].name, name[i], have[i], want[i]);
}
static void a_timeline(void **state)
{
    (void)state;
    const double matrix = ks_mfma_form_of(&ops[MATRIX])->cycles[KS_GFX942];
    const double back = STEP + 8 + C(GLOBAL_LATENCY); /* of a load of 8 segments, at step 1 */
    reset(1);
    add(0, SADD, 0, 1);
    add(0, GLOBAL, 8, 1);
    add(0, MATRIX, 0, 2);
    add(0, WAIT_VM0, 0, 1);
    const ks_event *e = events(1);
    assert_int_equal(timeline.count, 6);
    is_event(&e[0], SADD, 0, 0, 0, STEP, 0);
    is_event(&e[1], GLOBAL, STEP, STEP, STEP, STEP + 8, back);
    is_event(&e[2], MATRIX, 2 * STEP, 2 * STEP, 2 * STEP, 2 * STEP + matrix, 0);
    /* the second one waits for the unit, and what follows it for the load */
    is_event(&e[3], MATRIX, 3 * STEP, 2 * STEP + matrix, 2 * STEP + matrix, 2 * STEP + 2 * matrix,
             0);
    is_event(&e[4], WAIT_VM0, 3 * STEP + matrix, back, back, back, 0);
    is_event(&e[5], END, back + STEP, back + STEP, back + STEP, back + STEP, 0);
    assert_string_equal(ks_cost_unit(&inst[MATRIX]), "MFMA");
    assert_string_equal(ks_cost_unit(&inst[GLOBAL]), "memory");
    assert_string_equal(ks_cost_unit(&inst[SLOAD]), "scalar memory");
    assert_string_equal(ks_cost_unit(&inst[WAIT_VM0]), "");
    assert_string_equal(ks_cost_unit(&inst[BARRIER]), "");
}
/* One workgroup alone is told of, with what the others on the unit make it wait for. */
static void timeline_of_one(void **state)
{
    (void)state;
    reset(2);
    for (unsigned w = 0; w < 2; w++) {
        add(w, DS, 64, 1);
        add(w, BARRIER, 0, 1);
        add(w, SADD, 0, 1);
    }
    const ks_event *e = events(2);
    assert_int_equal(timeline.count, 8);
    uint64_t last = 0;
    for (size_t i = 0; i < timeline.count; i++) {
        assert_true(e[i].wave < 2 && e[i].issue >= last && e[i].issue >= e[i].ready);
        last = e[i].issue;
        if (e[i].inst == DS) assert_int_equal(e[i].to - e[i].from, 64);
    }
    assert_int_equal(cost.trace[0].count, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_wave),      cmocka_unit_test(ports),
        cmocka_unit_test(matrix_unit),   cmocka_unit_test(lds_unit),
        cmocka_unit_test(global_memory), cmocka_unit_test(barriers),
        cmocka_unit_test(branches),      cmocka_unit_test(priorities),
        cmocka_unit_test(cut_short),     cmocka_unit_test(occupancy),
        cmocka_unit_test(a_timeline),    cmocka_unit_test(timeline_of_one),
    };
    const int failed = cmocka_run_group_tests_name("sim_cost", tests, NULL, NULL);
    reset(0);
    free(timeline.at);
    return failed;
}
