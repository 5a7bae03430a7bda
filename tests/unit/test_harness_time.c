// SPDX-License-Identifier: MIT
// The timing protocol on runners whose time is known: they sleep, by a clock that only sleep moves
// on, so that no other work of the machine is timed.  Who is replayed, who is given up, and that
// sets are walked over in turn.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>
#include <cmocka.h>

static struct timespec elapsed;

static int fake_gettime(struct timespec *t)
{
    *t = elapsed;
    return 0;
}

static int fake_sleep(const struct timespec *t)
{
    elapsed.tv_sec += t->tv_sec + (elapsed.tv_nsec + t->tv_nsec) / 1000000000;
    elapsed.tv_nsec = (elapsed.tv_nsec + t->tv_nsec) % 1000000000;
    return 0;
}

#define clock_gettime(clock, t) fake_gettime(t)
#define nanosleep(t, rest)      fake_sleep(t)
#include "harness_parts.c"
#include "harness_values.c" // which harness_time.c calls
#include "harness_indices.c"
#include "harness_time.c"

enum { SETS = 3 };
typedef struct sleeper {
    double seconds;
    size_t launches[SETS];
} sleeper;

static kiln_status fall_asleep(kh_runner *r, size_t set, void *stream)
{
    sleeper *s = r->self;
    (void)stream;
    s->launches[set]++;
    pause_for(s->seconds);
    return KILN_OK;
}

static kiln_status refuse(kh_runner *r, size_t set, void *stream)
{
    (void)r, (void)set, (void)stream;
    return KILN_DRIVER;
}

static kh_sets sets = {.on_host = 1, .count = SETS};
static const kh_protocol brief = {.seconds = 0.05, .idle = -1, .replay = 0.002};

static void medians(void **state)
{
    sleeper quick = {.seconds = 0.0005}, slow = {.seconds = 0.02};
    kh_runner r[] = {{.launch = fall_asleep, .sets = &sets, .self = &quick},
                     {.launch = fall_asleep, .sets = &sets, .self = &slow}};
    (void)state;
    assert_int_equal(kh_time(r, 2, &brief), KILN_OK);
    assert_true(r[0].replays >= FEW_REPLAYS && r[0].replays == r[1].replays);
    assert_true(r[0].seconds > 0.000499999 && r[1].seconds > 0.0199999);
    assert_true(r[0].seconds < r[1].seconds);
    for (int i = 0; i + 1 < SETS; i++) /* whole walks, but for the launches that warm up */
        assert_true(quick.launches[i] >= quick.launches[i + 1]);
    assert_true(quick.launches[SETS - 1] > 0);
}

static void the_hopeless(void **state)
{
    sleeper quick = {.seconds = 0.0005}, slow = {.seconds = 0.02};
    kh_runner r[] = {{.launch = fall_asleep, .sets = &sets, .self = &slow},
                     {.launch = fall_asleep, .sets = &sets, .self = &quick}};
    kh_protocol p = brief;
    (void)state;
    p.hopeless = 3;
    assert_int_equal(kh_time(r, 2, &p), KILN_OK);
    assert_int_equal(r[0].replays, 0);
    assert_true(r[0].seconds > 0.0199999); /* by its first launches */
    assert_true(r[1].replays > 0);
    assert_int_equal(kh_time(r, 1, &p), KILN_OK); /* alone it is the fastest */
    assert_true(r[0].replays > 0);
    p.best = 0.0005;
    assert_int_equal(kh_time(r, 1, &p), KILN_OK); /* an earlier one was faster */
    assert_int_equal(r[0].replays, 0);
}

/* One that fails, at once or in its third round, does not keep the others from their times. */
static kiln_status tire(kh_runner *r, size_t set, void *stream)
{
    sleeper *s = r->self;
    return s->launches[0] > 20 ? KILN_DRIVER : fall_asleep(r, set, stream);
}

static void failures(void **state)
{
    sleeper quick = {.seconds = 0.0005}, tired = {.seconds = 0.0005};
    kh_runner r[] = {{.launch = refuse, .sets = &sets},
                     {.launch = fall_asleep, .sets = &sets, .self = &quick},
                     {.launch = tire, .sets = &sets, .self = &tired}};
    (void)state;
    assert_int_equal(kh_time(r, 3, &brief), KILN_DRIVER);
    assert_int_equal(r[0].status, KILN_DRIVER);
    assert_int_equal(r[1].status, KILN_OK);
    assert_int_equal(r[2].status, KILN_DRIVER);
    assert_true(r[1].replays > 0 && r[1].seconds > 0.000499999);
}

/* Addresses are what a problem promises, and no more of it below what allocators give. */
static void places(void **state)
{
    static const kh_shape s = {.operand = {{.span = 35, .size = 2, .align = 2},
                                           {.span = 5000, .size = 4, .align = 64},
                                           {.span = 0, .size = 1, .align = 1},
                                           {.span = 9, .size = 1, .align = 256},
                                           {.span = 9, .size = 1, .align = 1024}},
                               .count = 5,
                               .inputs = 4};
    size_t start[KH_MAX_OPERANDS];
    const size_t total = layout(&s, start);
    (void)state;
    for (int i = 0; i < s.count; i++) {
        const kh_operand *o = &s.operand[i];
        assert_int_equal(start[i] % 4096, o->align < KH_ALLOCATED ? o->align : 0);
        assert_true(start[i] + (size_t)o->span * o->size <
                    (i + 1 < s.count ? start[i + 1] : total));
    }
}

int main(void)
{
    const kiln_config host = {.struct_size = sizeof host, .device = "host"};
    if (kiln_open(&sets.ctx, &host)) return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(medians), cmocka_unit_test(the_hopeless),
                                       cmocka_unit_test(failures), cmocka_unit_test(places)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    kiln_close(sets.ctx);
    return failed;
}
