// SPDX-License-Identifier: MIT
// Findings: which instance is kept, in which order, what is printed, what is counted.  The waves
// are made up: only who they are matters.
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "hip.h"
#include "object.h"

enum { CODE = 16, GROUPS = 8, WAVES = 4 };
static const char *self; /* this program's file */
static uint32_t word[CODE], index_of[CODE];
static ks_inst inst[CODE];
static char name[] = "kernel", other_name[] = "other";
static ks_object object;
static ks_kernel kernel, other;

static void make_code(void)
{
    for (uint32_t i = 0; i < CODE; i++) {
        word[i] = 0xbf800000; /* s_nop 0 */
        index_of[i] = i;
        inst[i] = (ks_inst){.pc = 4 * i, .bytes = 4};
    }
    object = (ks_object){.arch = KS_GFX942,
                         .inst = inst,
                         .inst_count = CODE,
                         .index_of = index_of,
                         .code = (uint8_t *)word,
                         .code_size = sizeof word};
    kernel = (ks_kernel){.name = name, .object = &object};
    other = (ks_kernel){.name = other_name, .object = &object};
}

/* One launch of GROUPS workgroups in a row, with WAVES waves each. */
typedef struct crowd {
    ks_launch launch;
    ks_group group[GROUPS];
    ks_wave *wave[GROUPS][WAVES];
} crowd;

static crowd *gather(const ks_kernel *k)
{
    crowd *c = calloc(1, sizeof *c);
    ks_disasm_open(KS_GFX942, NULL); /* once KILN_SIM is set: it reads that */
    assert_non_null(c);
    c->launch = (ks_launch){.kernel = k, .object = &object, .grid = {GROUPS, 1, 1}};
    for (uint32_t g = 0; g < GROUPS; g++) {
        c->group[g] = (ks_group){.launch = &c->launch, .id = {g, 0, 0}, .index = g};
        for (uint32_t w = 0; w < WAVES; w++) {
            ks_wave *wave = aligned_alloc(64, sizeof *wave);
            assert_non_null(wave);
            memset(wave, 0, sizeof *wave);
            wave->group = &c->group[g];
            wave->launch = &c->launch;
            wave->index = w;
            c->wave[g][w] = wave;
        }
    }
    return c;
}

static int end(crowd *c)
{
    const int error = ks_report_end(&c->launch);
    for (int g = 0; g < GROUPS; g++)
        for (int w = 0; w < WAVES; w++) free(c->wave[g][w]);
    free(c);
    return error;
}

typedef struct kept {
    kilnsim_finding f[32];
    size_t count;
} kept;

static void keep(const kilnsim_finding *f, void *user)
{
    kept *k = user;
    if (k->count < 32) k->f[k->count++] = *f;
}

static kept all(void)
{
    kept k = {.count = 0};
    const size_t count = kilnsim_findings(keep, &k);
    assert_int_equal(count, k.count);
    return k;
}

/* ---- cases ---- */

static void nothing_is_nothing(void **state)
{
    (void)state;
    assert_int_equal(end(gather(&kernel)), 0);
    assert_int_equal(all().count, 0);
}

static void first_instance_is_kept(void **state)
{
    (void)state;
    crowd *c = gather(&kernel);
    const struct {
        int group, wave, executed, lane;
    } seen[] = {{5, 0, 1, 0}, {2, 3, 9, 7}, {2, 1, 8, 0}, {2, 1, 4, 9},
                {2, 1, 4, 3}, {2, 1, 4, 5}, {3, 0, 0, 0}};
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++) {
        ks_wave *w = c->wave[seen[i].group][seen[i].wave];
        w->executed = (uint64_t)seen[i].executed;
        ks_report(w, &inst[3], KILNSIM_UNDEFINED, seen[i].lane, 1000 + i, "instance %zu", i);
    }
    c->launch.stop = 0; /* as if they were not errors */
    assert_int_equal(end(c), 719);
    const kept k = all();
    assert_int_equal(k.count, 1);
    assert_string_equal(k.f[0].text, "instance 4");
    assert_int_equal(k.f[0].group[0], 2);
    assert_int_equal(k.f[0].wave, 1);
    assert_int_equal(k.f[0].lane, 3);
    assert_int_equal(k.f[0].address, 1004);
    assert_int_equal(k.f[0].times, 7);
    assert_int_equal(k.f[0].pc, 12);
    assert_string_equal(k.f[0].kernel, "kernel");
    assert_string_equal(k.f[0].instruction, "s_nop 0");
    assert_string_equal(k.f[0].line, "");
    kilnsim_findings_clear();
    assert_int_equal(all().count, 0);
}

static void order_is_by_instruction_then_kind(void **state)
{
    (void)state;
    crowd *c = gather(&kernel);
    ks_wave *w = c->wave[0][0];
    ks_report(w, &inst[2], KILNSIM_RACE, 0, 0, "third");
    ks_report(w, &inst[1], KILNSIM_UNDEFINED, -1, 0, "second");
    ks_report(w, &inst[2], KILNSIM_WAIT, -1, 0, "fourth");
    ks_report(w, &inst[1], KILNSIM_FREED, 0, 0, "first");
    ks_report(w, NULL, KILNSIM_BARRIER, -1, 0, "last: no instruction");
    c->launch.stop = 0;
    assert_int_equal(end(c), 700);
    const kept k = all();
    assert_int_equal(k.count, 5);
    static const char *const text[] = {"first", "second", "third", "fourth",
                                       "last: no instruction"};
    for (int i = 0; i < 5; i++) assert_string_equal(k.f[i].text, text[i]);
    assert_string_equal(k.f[4].instruction, "");
    kilnsim_findings_clear();
}

static void repeats_are_counted_over_launches(void **state)
{
    (void)state;
    for (int launch = 0; launch < 3; launch++) {
        crowd *c = gather(launch < 2 ? &kernel : &other);
        ks_report(c->wave[0][0], &inst[0], KILNSIM_BOUNDS, 0, 8, "launch %d", launch);
        assert_int_equal(end(c), 700);
    }
    const kept k = all();
    assert_int_equal(k.count, 2);
    assert_string_equal(k.f[0].text, "launch 0");
    assert_int_equal(k.f[0].times, 2);
    assert_string_equal(k.f[1].kernel, "other");
    kilnsim_findings_clear();
}

/* A finding that is an error stops its workgroup; what later ones found depends on luck. */
static void later_groups_of_a_stopped_launch_do_not_count(void **state)
{
    (void)state;
    crowd *c = gather(&kernel);
    ks_report(c->wave[6][0], &inst[1], KILNSIM_TRAP, -1, 0, "late");
    ks_report(c->wave[3][0], &inst[5], KILNSIM_ENDLESS, -1, 0, "the one");
    assert_int_equal(c->launch.stop >> 16, 3);
    assert_int_equal(c->launch.stop & 0xffff, 702);
    assert_int_equal(end(c), 702);
    const kept k = all();
    assert_int_equal(k.count, 1);
    assert_string_equal(k.f[0].text, "the one");
    kilnsim_findings_clear();
}

static void findings_of_the_host(void **state)
{
    (void)state;
    ks_report_host(KILNSIM_DOUBLE_FREE, 0x1234, "block %d", 7);
    ks_report_host(KILNSIM_DOUBLE_FREE, 0x1234, "block %d", 7);
    ks_report_host(KILNSIM_DOUBLE_FREE, 0x1234, "block %d", 8);
    const kept k = all();
    assert_int_equal(k.count, 2);
    assert_string_equal(k.f[0].text, "block 7");
    assert_int_equal(k.f[0].times, 2);
    assert_string_equal(k.f[0].kernel, "");
    assert_int_equal(k.f[0].lane, -1);
    kilnsim_findings_clear();
}

/* ---- many threads ---- */

static crowd *shared;

static void *report_all(void *user)
{
    const int mine = *(int *)user;
    for (int turn = 0; turn < 200; turn++)
        for (int w = 0; w < WAVES; w++)
            for (int pc = 0; pc < CODE; pc++)
                ks_report(shared->wave[mine][w], &inst[pc], KILNSIM_LEAK, turn % 64, 0, "group %d",
                          mine);
    return NULL;
}

static void threads_do_not_change_the_result(void **state)
{
    (void)state;
    pthread_t thread[GROUPS];
    int number[GROUPS];
    shared = gather(&kernel);
    for (int i = GROUPS; i-- > 0;) {
        number[i] = i;
        assert_int_equal(pthread_create(&thread[i], NULL, report_all, &number[i]), 0);
    }
    for (int i = 0; i < GROUPS; i++) pthread_join(thread[i], NULL);
    assert_int_equal(end(shared), 0); /* a leak is no error */
    const kept k = all();
    assert_int_equal(k.count, CODE);
    for (int i = 0; i < CODE; i++) {
        assert_int_equal(k.f[i].pc, 4 * i);
        assert_string_equal(k.f[i].text, "group 0");
        assert_int_equal(k.f[i].lane, 0);
        assert_int_equal(k.f[i].times, GROUPS * WAVES * 200);
    }
    kilnsim_findings_clear();
}

/* ---- what is printed: in a process of its own ---- */

static void child(const char *options, const char *file)
{
    char text[600];
    snprintf(text, sizeof text, "%s,log=%s", options, file);
    setenv("KILN_SIM", text, 1);
    crowd *c = gather(&kernel);
    ks_report(c->wave[1][2], &inst[2], KILNSIM_BOUNDS, 5, 0xabc, "four bytes too far");
    ks_report(c->wave[1][2], &inst[2], KILNSIM_BOUNDS, 6, 0xabc, "four bytes too far");
    const int error = end(c);
    ks_report_refusal("a refusal");
    ks_report_refusal("a refusal");
    ks_report_host(KILNSIM_LEAK, 0, "a block");
    exit(error ? 1 : 0); /* with the library's own end */
}

/* Runs it in a child, whose exit status it returns; what was printed goes to out. */
static int printed(const char *options, char *out, size_t size)
{
    char file[] = "/tmp/kilnsim-report-XXXXXX", command[4096];
    const int fd = mkstemp(file);
    assert_true(fd >= 0);
    close(fd);
    snprintf(command, sizeof command, "'%s' '%s' '%s'", self, options, file);
    const int status = system(command);
    FILE *f = fopen(file, "r");
    assert_non_null(f);
    out[fread(out, 1, size - 1, f)] = 0;
    fclose(f);
    unlink(file);
    return status;
}

static void text_of_findings(void **state)
{
    (void)state;
    char out[4096];
    assert_int_not_equal(printed("races=on", out, sizeof out), 0);
    assert_string_equal(out, "kilnsim: bounds: global access outside every allocation\n"
                             "  kernel, workgroup (1,0,0) wave 2 lane 5, address 0xabc, and 1 more "
                             "times\n"
                             "  s_nop 0  at 0x8\n"
                             "  four bytes too far\n"
                             "kilnsim: a refusal\n"
                             "kilnsim: leaks: memory still allocated at exit\n"
                             "  a block\n"
                             "kilnsim: 2 findings: 1 bounds, 1 leaks\n");
    assert_int_equal(printed("errors=off", out, sizeof out), 0);
    assert_non_null(strstr(out, "bounds"));
    assert_int_equal(printed("bounds=off,leaks=off", out, sizeof out), 0);
    assert_string_equal(out, "kilnsim: a refusal\n");
}

static void names(void **state)
{
    static const char *const cases[][2] = {
        {"plain", "plain"},
        {"_Z6squarePfi", "square(float*, int)"},
        {"_Zbroken", "_Zbroken"},
        {"_ZN12_GLOBAL__N_16squareEPfi", "(anonymous namespace)::square(float*, int)"},
    };
    char out[KS_NAME], second[KS_NAME], wide[3000] = "_Z6kernelILi1";
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ks_name_text(cases[i][0], out);
        assert_string_equal(out, cases[i][1]);
    }
    /* instances of a template with many arguments: short, and told apart */
    for (int i = 0; i < 200; i++) strcat(wide, "ELi1");
    strcat(wide, "EEvPf");
    ks_name_text(wide, out);
    wide[12] = '2';
    ks_name_text(wide, second);
    assert_memory_equal(out, "void kernel<...>(...) #", 23);
    assert_memory_equal(second, out, 23);
    assert_string_not_equal(second, out);
    memset(wide, 'x', sizeof wide - 1);
    ks_name_text(wide, out);
    assert_non_null(strstr(out, "xxx...xxx"));
    assert_true(strlen(out) < KS_NAME);
}

int main(int argc, char **argv)
{
    self = argv[0];
    make_code();
    if (argc == 3) child(argv[1], argv[2]);
    setenv("KILN_SIM", "log=off", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_nothing),
        cmocka_unit_test(names),
        cmocka_unit_test(first_instance_is_kept),
        cmocka_unit_test(order_is_by_instruction_then_kind),
        cmocka_unit_test(repeats_are_counted_over_launches),
        cmocka_unit_test(later_groups_of_a_stopped_launch_do_not_count),
        cmocka_unit_test(findings_of_the_host),
        cmocka_unit_test(threads_do_not_change_the_result),
        cmocka_unit_test(text_of_findings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
