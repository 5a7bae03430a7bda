// SPDX-License-Identifier: MIT
// Launches of programs made of hand-built instructions: what a wave finds when it starts, barriers, limits, workgroups
// that wait for each other, errors that do not depend on threads, and what is refused.  Where a program looks at the
// wave, its instruction is a C function.
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "group.h"
#include "object.h"

enum { MOST = 32, LIMIT = 300000 };
typedef struct program {
    ks_object object;
    ks_kernel kernel;
    ks_inst inst[MOST];
    uint32_t word[MOST], index_of[MOST];
} program;

static program *begin(void)
{
    static char name[] = "hand";
    program *p = calloc(1, sizeof *p);
    assert_non_null(p);
    p->object = (ks_object){.arch = KS_GFX942, .inst = p->inst, .index_of = p->index_of, .code = (uint8_t *)p->word};
    p->kernel = (ks_kernel){.name = name, .object = &p->object, .max_threads = 1024, .rsrc3 = 63};
    return p;
}
static void end(program *p)
{
    ks_lines_free(p->object.lines);
    free(p);
}
static ks_inst *add(program *p, const ks_op *op)
{
    uint32_t n = p->object.inst_count++;
    assert_true(n < MOST);
    p->word[n] = 0xbf800000;
    p->index_of[n] = n;
    p->object.code_size = 4 * (n + 1);
    p->inst[n] = (ks_inst){.run = op->exec, .op = op, .pc = 4 * n, .bytes = 4, .target = KS_NO_TARGET, .word = {0xbf800000}};
    return &p->inst[n];
}
static ks_inst *named(program *p, const char *name)
{
    const ks_op *op = ks_find_op(name, strlen(name));
    if (!op)
        fail_msg("no %s", name);
    return add(p, op);
}
/* An instruction that calls run. */
static void calls(program *p, ks_exec *run)
{
    static const ks_op op = {.name = "s_nop", .class = KS_NOP_OP};
    add(p, &op)->run = run;
}
static void jump(program *p, const char *name, uint32_t target)
{
    named(p, name)->target = target;
}

static struct {
    unsigned count;
    kilnsim_kind kind;
    uint32_t group, wave;
    uint64_t pc;
    char text[KS_TEXT];
} found;
static void visit(const kilnsim_finding *f, void *unused)
{
    (void)unused;
    found.count++;
    found.kind = f->kind;
    found.group = f->group[0];
    found.wave = f->wave;
    found.pc = f->pc;
    snprintf(found.text, sizeof found.text, "%s", f->text);
}
static ks_error error;
static int launch_as(const program *p, uint32_t groups, uint32_t items, bool cooperative)
{
    const uint32_t grid[3] = {groups, 1, 1}, block[3] = {items, 1, 1};
    memset(&error, 0, sizeof error);
    memset(&found, 0, sizeof found);
    int result = ks_launch_run(&p->kernel, grid, block, 0, NULL, cooperative, &error);
    kilnsim_findings(visit, NULL);
    kilnsim_findings_clear();
    return result;
}
static int launch(const program *p, uint32_t groups, uint32_t items)
{
    return launch_as(p, groups, items, false);
}

/* ---- The start ---- */
static uint32_t seen_waves;
static uint8_t *kernarg;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
#define CHECK(condition)                                                                                      \
    do {                                                                                                      \
        if (!(condition))                                                                                     \
            ks_report(w, inst, KILNSIM_TRAP, -1, 0, "%s", #condition);                                        \
    } while (0)
static uint64_t at(const ks_wave *w, unsigned reg)
{
    return w->su[reg] | w->su[reg + 1] ? 0 : ks_s64(w, reg);
}
static void count_wave(void)
{
    pthread_mutex_lock(&mutex);
    seen_waves++;
    pthread_mutex_unlock(&mutex);
}
static void look_at_sgprs(ks_wave *w, const ks_inst *inst)
{
    const ks_launch *l = w->launch;
    uint16_t packet[32];
    memcpy(packet, l->packet, sizeof packet);
    CHECK(at(w, 0) == 1ull << 63);                    /* private segment buffer: swizzled */
    CHECK(at(w, 2) == (0x00ea4facull << 32 | 64 * 48)); /* its size, and lanes added */
    CHECK(at(w, 4) == (uint64_t)(uintptr_t)l->packet);
    CHECK(at(w, 6) == (uint64_t)(uintptr_t)l->queue);
    CHECK(at(w, 8) == (uint64_t)(uintptr_t)kernarg);
    CHECK(at(w, 10) == 0 && !w->su[10]);              /* dispatch id */
    CHECK(w->s[14] == 48 && !w->su[14]);              /* after flat scratch's two */
    CHECK(w->s[16] == w->group->id[0] && !w->su[16]); /* s15 is the descriptor's to leave out */
    CHECK(w->s[17] == w->group->id[1] && w->s[18] == w->group->id[2]);
    CHECK((w->s[19] & 63) == w->group->wave_count && w->s[19] >> 31 == (w->index == 0));
    CHECK(w->s[20] == 0 && !w->su[20]);
    CHECK(w->su[15] == UINT32_MAX && w->su[21] == UINT32_MAX && w->s[21] == KS_POISON);
    CHECK(w->su[KS_VCC] == UINT32_MAX && w->su[KS_M0] == UINT32_MAX && w->scc_u);
    CHECK(w->s_origin[21] == KS_NO_ORIGIN && w->scc_origin == KS_NO_ORIGIN);
    CHECK(!w->su[KS_EXEC] && !w->su[KS_EXEC + 1]);
    CHECK(packet[0] == (2 | 1 << 8 | 2 << 9 | 2 << 11) && packet[1] == 3);
    CHECK(packet[2] == 20 && packet[3] == 5 && packet[4] == 2 && packet[6] == 60 && packet[8] == 10);
    CHECK(l->queue[8] >> 32 << 32 == KS_PRIVATE_BASE && l->queue[8] << 32 == KS_SHARED_BASE);
    ks_range r;
    CHECK(ks_find_range((uint64_t)(uintptr_t)l->packet, &r) && ks_find_range((uint64_t)(uintptr_t)l->queue, &r));
    CHECK(w->mode == (0xf0 | 1 << 8 | 1 << 9));
    count_wave();
}
/* v0 of lane i: x + 20 y + 100 z is its work-item's number; 200 work-items make three waves and eight lanes. */
static void look_at_vgprs(ks_wave *w, const ks_inst *inst)
{
    uint64_t live = w->index == 3 ? 0xff : UINT64_MAX;
    CHECK(w->live == live && ks_exec_of(w) == live);
    for (unsigned i = 0; i < KS_LANES; i++) {
        uint32_t id = w->v[0][i];
        bool exists = live >> i & 1;
        CHECK(w->exec_row[i] == -(uint32_t)exists);
        if (exists)
            CHECK((id & 1023) + 20 * (id >> 10 & 1023) + 100 * (id >> 20) == 64 * w->index + i && !w->vu[0][i]);
        else
            CHECK(w->vu[0][i] == UINT32_MAX);
        CHECK(w->v[1][i] == KS_POISON && w->vu[1][i] == UINT32_MAX && w->vu[KS_ACC + 7][i] == UINT32_MAX);
    }
    CHECK(w->v_clean[0] == (live == UINT64_MAX) && !w->v_clean[1] && !w->v_clean[KS_ACC]);
    CHECK(w->v_origin[1] == KS_NO_ORIGIN);
    for (unsigned i = 0; i < 48 * KS_LANES; i++)
        CHECK(w->scratch_undefined[i] == 0xff && w->scratch[i] == (uint8_t)(KS_POISON >> 8 * (i % 4)));
    for (unsigned i = 0; w->index == 0 && i < w->launch->lds; i++)
        CHECK(w->group->lds[i] == (uint8_t)(KS_POISON >> 8 * (i % 4)) && ks_lds_undefined(w->group)[i] == 0xff);
}
/* Leaves nothing as it was for the workgroup that gets this memory next. */
static void spoil(ks_wave *w, const ks_inst *inst)
{
    (void)inst;
    memset(w->v, 0x11, 9 * sizeof *w->v);
    memset(w->v_clean, 1, sizeof w->v_clean);
    memset(w->s, 0, sizeof w->s);
    memset(w->su, 0, sizeof w->su);
    memset(w->scratch, 0, (size_t)w->launch->scratch * KS_LANES);
    memset(w->scratch_undefined, 0, (size_t)w->launch->scratch * KS_LANES);
    memset(w->group->lds, 0, w->launch->lds);
    memset(ks_lds_undefined(w->group), 0, w->launch->lds);
    w->scc_u = false;
    w->mode = 0;
}
static void test_start(void **state)
{
    const uint32_t grid[3] = {3, 2, 2}, block[3] = {20, 5, 2};
    (void)state;
    program *p = begin();
    calls(p, look_at_sgprs);
    calls(p, look_at_vgprs);
    calls(p, spoil);
    named(p, "s_endpgm");
    p->kernel.properties = 0x7f;
    p->kernel.rsrc1 = 3 | 0xf0 << 12 | 1 << 21 | 1 << 23;          /* 32 registers */
    p->kernel.rsrc2 = 1 | 16 << 1 | 7 << 7 | 1 << 10 | 2 << 11;
    p->kernel.rsrc3 = 3;                                          /* 16 of them a0 and on */
    p->kernel.scratch = 40;
    p->kernel.lds = 512;
    p->kernel.kernarg_size = 16;
    kernarg = ks_alloc(16, 64, KS_KERNARG);
    assert_non_null(kernarg);
    seen_waves = 0;
    int result = ks_launch_run(&p->kernel, grid, block, 100, kernarg, false, &error);
    kilnsim_findings(visit, NULL);
    kilnsim_findings_clear();
    if (result)
        fail_msg("%s%s", found.text, error.text);
    assert_int_equal(seen_waves, 12 * 4);
    ks_free(kernarg, KS_KERNARG);
    end(p);
}
static void look_at_preloaded(ks_wave *w, const ks_inst *inst)
{
    CHECK(at(w, 0) == (uint64_t)(uintptr_t)kernarg);
    CHECK(at(w, 2) == 0x300000002 && w->su[4]); /* two words from the second on */
    count_wave();
}
/* Preloaded arguments; the code that would load them on older firmware, 256 bytes, is skipped. */
static void test_preload(void **state)
{
    enum { SKIPPED = 64 };
    static ks_inst inst[SKIPPED + 2];
    static uint32_t index_of[SKIPPED + 2];
    (void)state;
    program *p = begin();
    named(p, "s_trap");
    calls(p, look_at_preloaded);
    named(p, "s_endpgm");
    for (uint32_t i = 0; i < SKIPPED + 2; i++) {
        inst[i] = p->inst[i < SKIPPED ? 0 : i - SKIPPED + 1];
        inst[i].pc = 4 * i;
        index_of[i] = i;
    }
    p->object.inst = inst;
    p->object.index_of = index_of;
    p->object.inst_count = SKIPPED + 2;
    p->object.code_size = 4 * (SKIPPED + 2);
    p->kernel.properties = 1 << 3;
    p->kernel.preload = 2 | 1 << 7;
    p->kernel.rsrc2 = 4 << 1;
    p->kernel.kernarg_size = 12;
    kernarg = ks_alloc(16, 64, KS_KERNARG);
    memcpy(kernarg, (uint32_t[4]){1, 2, 3, 4}, 16);
    seen_waves = 0;
    const uint32_t one[3] = {1, 1, 1};
    assert_int_equal(ks_launch_run(&p->kernel, one, one, 0, kernarg, false, &error), 0);
    assert_int_equal(seen_waves, 1);
    ks_free(kernarg, KS_KERNARG);
    end(p);
}
static void test_hidden(void **state)
{
    const uint32_t grid[3] = {70000, 2, 3}, block[3] = {256, 4, 1};
    ks_arg args[] = {
        {0, 8, KS_ARG_EXPLICIT}, {8, 4, KS_ARG_BLOCK_COUNT_X}, {12, 4, KS_ARG_BLOCK_COUNT_Z}, {16, 2, KS_ARG_GROUP_SIZE_Y},
        {18, 2, KS_ARG_REMAINDER_X}, {24, 8, KS_ARG_GLOBAL_OFFSET_X}, {32, 2, KS_ARG_GRID_DIMS},
        {36, 4, KS_ARG_PRIVATE_BASE}, {40, 4, KS_ARG_SHARED_BASE}, {44, 4, KS_ARG_DYNAMIC_LDS_SIZE}, {48, 8, KS_ARG_OTHER},
        {60, 8, KS_ARG_BLOCK_COUNT_X}, {UINT32_MAX, 8, KS_ARG_OTHER}, /* of a damaged object: past the end */
    };
    uint8_t bytes[72];
    (void)state;
    ks_kernel k = {.args = args, .arg_count = sizeof args / sizeof *args, .kernarg_size = 64};
    memset(bytes, 0xcc, sizeof bytes);
    ks_fill_hidden(&k, grid, block, 77, bytes);
    uint32_t word[18];
    memcpy(word, bytes, sizeof word);
    assert_int_equal(word[0], 0xcccccccc);
    assert_int_equal(word[2], 70000);
    assert_int_equal(word[3], 3);
    assert_int_equal(word[4], 4);
    assert_int_equal(word[6] | word[7], 0);
    assert_int_equal(word[8] & 0xffff, 3);
    assert_int_equal(word[9], KS_PRIVATE_BASE >> 32);
    assert_int_equal(word[10], KS_SHARED_BASE >> 32);
    assert_int_equal(word[11], 77);
    assert_int_equal(word[12] | word[13], 0);
    assert_int_equal(word[15], 0xcccccccc);
    assert_int_equal(word[16], 0xcccccccc);
}

/* ---- Barriers ---- */
static unsigned order[64], steps;
static void step(ks_wave *w, const ks_inst *inst)
{
    (void)inst;
    if (steps < 64)
        order[steps++] = w->index + 10 * w->group->epoch;
}
static void test_barrier(void **state)
{
    static const unsigned expected[] = {0, 1, 2, 10, 11, 12, 20, 21, 22};
    (void)state;
    program *p = begin();
    calls(p, step);
    named(p, "s_barrier");
    calls(p, step);
    named(p, "s_barrier");
    calls(p, step);
    named(p, "s_endpgm");
    steps = 0;
    if (launch(p, 1, 192))
        fail_msg("%s%s", found.text, error.text);
    assert_int_equal(steps, 9);
    assert_memory_equal(order, expected, sizeof expected);
    assert_int_equal(found.count, 0);
    end(p);
}
static void only_first(ks_wave *w, const ks_inst *inst)
{
    (void)inst;
    w->scc = w->index == 0;
    w->scc_u = false;
}
/* s_barrier waits for those that have not ended. */
static void test_barrier_not_reached(void **state)
{
    (void)state;
    program *p = begin();
    calls(p, only_first);
    jump(p, "s_cbranch_scc1", 3);
    named(p, "s_endpgm");
    named(p, "s_barrier");
    calls(p, step);
    named(p, "s_endpgm");
    steps = 0;
    assert_int_equal(launch(p, 1, 256), 0);
    assert_int_equal(found.count, 0);
    assert_int_equal(steps, 1);
    assert_int_equal(order[0], 10);
    end(p);
}
static void half(ks_wave *w, const ks_inst *inst)
{
    (void)inst;
    ks_exec_set(w, ks_exec_of(w) & 0xffff);
}
static void all(ks_wave *w, const ks_inst *inst)
{
    (void)inst;
    ks_exec_set(w, w->live);
}
/* Lanes that miss a barrier must have ended: one that goes on is found at the next barrier or memory access. */
static void test_divergent_barrier(void **state)
{
    (void)state;
    program *p = begin();
    calls(p, half);
    named(p, "s_barrier");
    named(p, "s_barrier");
    calls(p, all);
    named(p, "s_endpgm");
    assert_int_equal(launch(p, 1, 20), 0);
    assert_int_equal(found.count, 0);
    end(p);
    p = begin();
    calls(p, half);
    named(p, "s_barrier");
    calls(p, all);
    named(p, "s_barrier");
    named(p, "s_endpgm");
    assert_int_equal(launch(p, 1, 16), 0); /* the lanes that do not exist need not reach it */
    assert_int_equal(launch(p, 1, 20), 719);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.kind, KILNSIM_BARRIER);
    assert_int_equal(found.pc, 4);
    assert_non_null(strstr(found.text, "4 of the wave's 20"));
    end(p);
}

/* ---- Ends ---- */
static void test_endless(void **state)
{
    (void)state;
    program *p = begin();
    named(p, "s_nop");
    jump(p, "s_branch", 0);
    assert_int_equal(launch(p, 3, 128), 702);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.kind, KILNSIM_ENDLESS);
    assert_int_equal(found.group, 0);
    assert_non_null(strstr(found.text, "300000 instructions"));
    end(p);
}
static void count_instruction(ks_wave *w, const ks_inst *inst)
{
    (void)inst;
    w->scc = w->executed < LIMIT - 3; /* ends as number LIMIT - 1 */
    w->scc_u = false;
}
/* Up to the limit is allowed, one more is not. */
static void test_limit(void **state)
{
    (void)state;
    for (unsigned extra = 1; extra <= 2; extra++) {
        program *p = begin();
        calls(p, count_instruction);
        jump(p, "s_cbranch_scc1", 0);
        for (unsigned i = 0; i < extra; i++)
            named(p, "s_nop");
        named(p, "s_endpgm");
        assert_int_equal(launch(p, 1, 64), extra == 1 ? 0 : 702);
        end(p);
    }
}
static void test_no_end(void **state)
{
    (void)state;
    program *p = begin();
    named(p, "s_nop");
    assert_int_equal(launch(p, 1, 64), 719);
    assert_int_equal(found.kind, KILNSIM_TRAP);
    assert_non_null(strstr(found.text, "s_endpgm"));
    end(p);
}
/* A wave waits in a loop, sleeping or not, for what another of its workgroup does later: no deadlock. */
static uint32_t flag[512];
static void wait_for_last(ks_wave *w, const ks_inst *inst)
{
    (void)inst;
    if (w->index == 3)
        flag[0] = 1;
    w->scc = !flag[0];
    w->scc_u = false;
}
static void test_waves_wait(void **state)
{
    (void)state;
    for (unsigned sleeps = 0; sleeps < 2; sleeps++) {
        program *p = begin();
        flag[0] = 0;
        named(p, sleeps ? "s_sleep" : "s_nop");
        calls(p, wait_for_last);
        jump(p, "s_cbranch_scc1", 0);
        named(p, "s_barrier");
        named(p, "s_endpgm");
        assert_int_equal(launch(p, 1, 256), 0);
        end(p);
    }
}

/* ---- Workgroups ---- */
enum { CHAIN = 400 };
static void wait_for_next(ks_wave *w, const ks_inst *inst)
{
    (void)inst;
    w->scc = !flag[w->group->index + 1];
    w->scc_u = false;
}
static void tell(ks_wave *w, const ks_inst *inst)
{
    (void)inst;
    flag[w->group->index] = flag[w->group->index + 1] + 1;
}
static void wait_for_previous(ks_wave *w, const ks_inst *inst)
{
    (void)inst;
    w->scc = !flag[CHAIN - w->group->index];
    w->scc_u = false;
}
static void tell_next(ks_wave *w, const ks_inst *inst)
{
    (void)inst;
    flag[CHAIN - w->group->index - 1] = flag[CHAIN - w->group->index] + 1;
}
static program *chain(ks_exec *wait, ks_exec *then)
{
    program *p = begin();
    jump(p, "s_branch", 2);
    named(p, "s_sleep");
    calls(p, wait);
    jump(p, "s_cbranch_scc1", 1);
    calls(p, then);
    named(p, "s_endpgm");
    p->kernel.serial = true;
    return p;
}
/* Each waits for the one after it, the last for nothing; the other way round; and for what nobody ever does. */
static void test_chain(void **state)
{
    (void)state;
    program *p = chain(wait_for_next, tell), *back = chain(wait_for_previous, tell_next);
    memset(flag, 0, sizeof flag);
    flag[CHAIN] = 1;
    assert_int_equal(launch(p, CHAIN, 128), 0);
    assert_true(flag[0] > CHAIN);
    memset(flag, 0, sizeof flag);
    flag[CHAIN] = 1;
    assert_int_equal(launch(back, CHAIN, 128), 0);
    assert_true(flag[0] > CHAIN);
    memset(flag, 0, sizeof flag);
    assert_int_equal(launch(p, 4, 64), 702);
    assert_int_equal(found.kind, KILNSIM_ENDLESS);
    end(p);
    end(back);
}
static void turns(ks_wave *w, const ks_inst *inst)
{
    (void)inst;
    if (steps < 64)
        order[steps++] = (unsigned)w->group->index;
}
/* Serial workgroups that do not wait run one after the other. */
static void test_in_turn(void **state)
{
    (void)state;
    program *p = begin();
    calls(p, turns);
    named(p, "s_barrier");
    calls(p, turns);
    named(p, "s_endpgm");
    p->kernel.serial = true;
    steps = 0;
    assert_int_equal(launch(p, 16, 128), 0);
    assert_int_equal(steps, 64);
    for (unsigned i = 0; i < 64; i++)
        assert_int_equal(order[i], i / 4);
    end(p);
}
/* Global wave sync: no workgroup passes before all are there; one that never comes, or a launch that is not
   cooperative, is a finding. */
static atomic_uint arrived, early;
static void arrive(ks_wave *w, const ks_inst *inst)
{
    (void)inst;
    if (w->index == 0)
        atomic_fetch_add(&arrived, 1);
}
static void passed(ks_wave *w, const ks_inst *inst)
{
    (void)inst;
    if (atomic_load(&arrived) % w->launch->grid[0] != 0)
        atomic_fetch_add(&early, 1);
}
static void from_second_group(ks_wave *w, const ks_inst *inst)
{
    (void)inst;
    w->scc = w->group->index == 0;
    w->scc_u = false;
}
static void leader(ks_wave *w, const ks_inst *inst)
{
    (void)inst;
    w->scc = w->index != 0;
    w->scc_u = false;
    w->su[KS_M0] = w->s[KS_M0] = 0;
}
static void grid_sync(program *p)
{
    named(p, "s_barrier");
    calls(p, leader);
    jump(p, "s_cbranch_scc1", p->object.inst_count + 2);
    ks_inst *sync = named(p, "ds_gws_barrier");
    sync->s[0] = (ks_operand){.where = KS_CONST, .type = KS_U32, .count = 1, .value = 9};
    sync->ns = 1;
    sync->gds = true;
    named(p, "s_barrier");
}
static void test_grid_sync(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 3; kind++) {
        program *p = begin();
        unsigned end_at = 0;
        if (kind == 1) { /* the first workgroup ends at once */
            calls(p, from_second_group);
            jump(p, "s_cbranch_scc1", 0);
            end_at = p->object.inst_count - 1;
        }
        for (int i = 0; i < 2; i++) {
            calls(p, arrive);
            grid_sync(p);
            calls(p, passed);
            grid_sync(p);
        }
        if (kind == 1)
            p->inst[end_at].target = p->object.inst_count;
        named(p, "s_endpgm");
        atomic_store(&arrived, 0);
        atomic_store(&early, 0);
        assert_int_equal(launch_as(p, 10, 128, kind != 2), kind ? 719 : 0);
        assert_int_equal(atomic_load(&early), 0);
        assert_int_equal(found.count, kind ? 1 : 0);
        if (kind == 0)
            assert_int_equal(atomic_load(&arrived), 20);
        else
            assert_int_equal(found.kind, KILNSIM_BARRIER);
        if (kind == 1)
            assert_non_null(strstr(found.text, "1 of the launch's 10 workgroups ended"));
        if (kind == 2)
            assert_non_null(strstr(found.text, "hipLaunchCooperativeKernel"));
        end(p);
    }
}
/* Workgroup 37 fails when one from 40 on, on another thread, has failed in another way. */
static atomic_uint failed;
static void fail_in_two_ways(ks_wave *w, const ks_inst *inst)
{
    if (w->group->index >= 40) {
        ks_report(w, inst, KILNSIM_ENDLESS, -1, 0, "at once");
        atomic_fetch_add(&failed, 1);
    }
    if (w->group->index != 37)
        return;
    for (unsigned i = 0; i < 5000 && !failed; i++)
        usleep(1000);
    ks_report(w, inst, KILNSIM_TRAP, -1, 0, "late");
}
static void test_first_error(void **state)
{
    (void)state;
    program *p = begin();
    calls(p, fail_in_two_ways);
    named(p, "s_endpgm");
    for (unsigned i = 0; i < 30; i++) {
        atomic_store(&failed, 0);
        assert_int_equal(launch(p, 500, 64), 719);
        assert_true(failed);
        assert_int_equal(found.count, 1);
        assert_int_equal(found.group, 37);
        assert_string_equal(found.text, "late");
    }
    end(p);
}
static atomic_uint total;
static void add_up(ks_wave *w, const ks_inst *inst)
{
    (void)inst;
    atomic_fetch_add(&total, (unsigned)w->group->index + 1);
}
static void *launcher(void *data)
{
    const uint32_t grid[3] = {100, 3, 2}, block[3] = {70, 1, 1};
    ks_error e;
    for (unsigned i = 0; i < 20; i++)
        if (ks_launch_run(&((program *)data)->kernel, grid, block, 0, NULL, false, &e))
            return data;
    return NULL;
}
static void test_many_launches(void **state)
{
    enum { THREADS = 6 };
    pthread_t thread[THREADS];
    (void)state;
    program *p = begin();
    calls(p, add_up);
    named(p, "s_endpgm");
    atomic_store(&total, 0);
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, launcher, p), 0);
    for (unsigned i = 0; i < THREADS; i++) {
        void *bad = NULL;
        pthread_join(thread[i], &bad);
        assert_null(bad);
    }
    assert_int_equal(total, THREADS * 20 * 2 * (600 * 601 / 2));
    end(p);
}

/* ---- What is refused ---- */
static void refused(const program *p, const uint32_t grid[3], const uint32_t block[3], uint32_t lds, int code,
                    const char *text)
{
    memset(&error, 0, sizeof error);
    assert_int_equal(ks_launch_run(&p->kernel, grid, block, lds, NULL, false, &error), code);
    assert_int_equal(error.hip, code);
    if (!strstr(error.text, text))
        fail_msg("\"%s\" is not in \"%s\"", text, error.text);
}
static void test_refusals(void **state)
{
    const uint32_t one[3] = {1, 1, 1}, zero[3] = {1, 0, 1}, huge[3] = {UINT32_MAX, 1, 1}, two[3] = {2, 1, 1};
    const uint32_t most[3] = {1u << 30, 1u << 30, 1}, deep[3] = {1u << 20, 1u << 20, 1u << 20};
    const uint32_t big[3] = {1025, 1, 1}, wide[3] = {65536, 65536, 65536}, block[3] = {256, 1, 1}, full[3] = {1024, 1, 1};
    (void)state;
    program *p = begin();
    named(p, "s_endpgm");
    refused(p, zero, one, 0, KS_INVALID_CONFIGURATION, "at least");
    refused(p, one, zero, 0, KS_INVALID_CONFIGURATION, "at least");
    refused(p, huge, two, 0, KS_INVALID_CONFIGURATION, "along x");
    refused(p, most, one, 0, KS_INVALID_CONFIGURATION, "too many blocks");
    refused(p, deep, one, 0, KS_INVALID_CONFIGURATION, "too many blocks");
    refused(p, one, big, 0, KS_INVALID_CONFIGURATION, "1025 work-items");
    refused(p, one, wide, 0, KS_INVALID_CONFIGURATION, "work-items");
    refused(p, one, one, 65537, KS_OUT_OF_RESOURCES, "65537 bytes of LDS");
    refused(p, one, one, UINT32_MAX, KS_OUT_OF_RESOURCES, "bytes of LDS");
    p->kernel.max_threads = 128;
    refused(p, one, block, 0, KS_INVALID_CONFIGURATION, "compiled for 128");
    p->kernel.max_threads = 1024;
    p->kernel.vgprs_used = 9;
    refused(p, one, one, 0, KS_BAD_IMAGE, "9 and 0 vector and accumulation registers, its descriptor gives 8 and 0");
    p->kernel.vgprs_used = 8;
    p->kernel.agprs_used = 1;
    refused(p, one, one, 0, KS_BAD_IMAGE, "descriptor gives 8 and 0");
    p->kernel.agprs_used = 0;
    p->kernel.rsrc1 = 63; /* 512 registers: one wave on each SIMD */
    assert_int_equal(ks_launch_run(&p->kernel, one, block, 0, NULL, false, &error), 0);
    refused(p, one, full, 0, KS_OUT_OF_RESOURCES, "4 fit on a compute unit");
    p->kernel.scratch = 1 << 20;
    refused(p, one, one, 0, KS_OUT_OF_RESOURCES, "private memory");
    p->kernel.scratch = 0;
    p->kernel.kernarg_size = 8;
    refused(p, one, one, 0, KS_INVALID_VALUE, "kernel arguments");
    end(p);
}
int main(void)
{
    setenv("KILN_SIM", "log=off,threads=4,limit=300000", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_start), cmocka_unit_test(test_preload), cmocka_unit_test(test_hidden),
        cmocka_unit_test(test_barrier), cmocka_unit_test(test_grid_sync), cmocka_unit_test(test_barrier_not_reached), cmocka_unit_test(test_divergent_barrier),
        cmocka_unit_test(test_endless), cmocka_unit_test(test_limit), cmocka_unit_test(test_no_end),
        cmocka_unit_test(test_waves_wait), cmocka_unit_test(test_chain), cmocka_unit_test(test_in_turn),
        cmocka_unit_test(test_first_error), cmocka_unit_test(test_many_launches), cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
