// SPDX-License-Identifier: MIT
// The threads that help host kernels: every step is done once, by threads with numbers of their
// own; many callers at once; forked children; and no thread stays behind.
#define _GNU_SOURCE
#include <dirent.h>
#include <sys/wait.h>
#include "runtime_host_test.h"

enum { MOST = 64, STEPS = 3000 };

/* Steps done; each numbered thread is in one step at a time. */
typedef struct tally {
    atomic_int done[STEPS], inside[MOST], wrong;
    int threads;
} tally;

static void step(const void *job, long long i, int thread)
{
    tally *t = (tally *)(uintptr_t)job;
    if (thread < 0 || thread >= t->threads || atomic_exchange(&t->inside[thread], 1))
        atomic_fetch_add(&t->wrong, 1);
    atomic_fetch_add(&t->done[i], 1);
    for (volatile int n = 0; n < 50 + (i % 7) * 20; n++) continue;
    atomic_store(&t->inside[thread], 0);
}

static int count_wrong(int threads, long long count)
{
    tally *t = calloc(1, sizeof *t);
    t->threads = threads > 1 ? threads : 1;
    kr_pool_each(threads, count, step, t);
    int wrong = t->wrong;
    for (int i = 0; i < STEPS; i++) wrong += t->done[i] != (i < count);
    free(t);
    return wrong;
}

static void test_every_step_once(void **state)
{
    (void)state;
    static const int threads[] = {-1, 0, 1, 2, 3, 5, 17, MOST};
    static const int counts[] = {0, 1, 2, 3, 16, 63, 64, 65, STEPS};
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++)
        for (size_t j = 0; j < sizeof counts / sizeof *counts; j++)
            assert_int_equal(count_wrong(threads[i], counts[j]), 0);
}

/* ---- more callers than the pool has places, some of which fork ---- */

/* The sanitizers' allocator is not made for children of a process in which others allocate. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { FORKS_WITH_THREADS = 0 };
#else
enum { FORKS_WITH_THREADS = 1 };
#endif
enum { CALLERS = 24 };

/* 0 where a child of this process, which has no helpers, does as its parent did, twice. */
static int child_fails(void)
{
    const pid_t child = fork();
    if (child < 0) return 1;
    if (child == 0) {
        alarm(60);
        _exit(count_wrong(3, 100) || count_wrong(6, STEPS));
    }
    int status;
    return waitpid(child, &status, 0) != child || status != 0;
}

static void *call(void *arg)
{
    int wrong = 0;
    for (int i = 0; i < 20; i++) wrong += count_wrong(1 + i % 5, 100 + i);
    if (FORKS_WITH_THREADS && (intptr_t)arg % 8 == 0) wrong += child_fails();
    return (void *)(intptr_t)wrong;
}

static void test_many_callers(void **state)
{
    (void)state;
    pthread_t id[CALLERS];
    for (intptr_t i = 0; i < CALLERS; i++)
        assert_int_equal(pthread_create(&id[i], NULL, call, (void *)i), 0);
    intptr_t wrong = 0;
    for (int i = 0; i < CALLERS; i++) {
        void *result;
        pthread_join(id[i], &result);
        wrong += (intptr_t)result;
    }
    assert_int_equal(wrong, 0);
}

/* ---- through kiln.h ---- */

static int launch_fails(kiln_ctx *c)
{
    static float a[64 * 8], b[64 * 8], bias[64], e[64 * 64];
    for (int i = 0; i < 64 * 8; i++) a[i] = b[i] = 1;
    memset(e, 0, sizeof e);
    kiln_problem p;
    const kiln_kernel *k;
    const kiln_args args = {.struct_size = sizeof args, .a = a, .b = {b}, .d = {bias}, .e = e};
    if (kiln_problem_parse("bias_relu f32,f32,f32 rcr m=64 n=64 k=8", &p) || kiln_find(c, &p, &k) ||
        kiln_launch(c, k, &p, &args, NULL))
        return 1;
    for (int i = 0; i < 64 * 64; i++)
        if (e[i] != 8) return 1;
    return 0;
}

static kiln_ctx *open_threads(int threads)
{
    kiln_ctx *c;
    kiln_config config = test_config("host");
    config.threads = threads;
    assert_ok(kiln_open(&c, &config));
    return c;
}

/* A child launches with its parent's context and with one of its own, forks in its turn, and ends
 * by exit, which closes nothing, or after closing. */
static void test_fork(void **state)
{
    (void)state;
    kiln_ctx *c = open_threads(4);
    assert_int_equal(launch_fails(c), 0);
    for (int i = 0; i < 4; i++) {
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            alarm(60);
            int wrong = 0;
            if (i > 0) wrong += launch_fails(c);
            if (i > 1) {
                kiln_ctx *own = open_threads(3);
                wrong += launch_fails(own) + child_fails();
                kiln_close(own);
                kiln_close(c);
            }
            if (i == 3) _exit(wrong);
            test_folder[0] = 0; /* the parent's */
            exit(wrong);
        }
        int status = 1;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        assert_int_equal(launch_fails(c), 0);
    }
    kiln_close(c);
}

static int count_threads(void)
{
    DIR *d = opendir("/proc/self/task");
    int n = 0;
    if (!d) return -1;
    for (const struct dirent *e; (e = readdir(d));) n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

/* A joined thread may be listed a moment longer. */
static int threads_become(int n)
{
    int now = count_threads();
    for (int i = 0; i < 1000 && now != n; i++, now = count_threads()) usleep(10000);
    return now;
}

/* Helpers are there from the first loaded kernel to the last context's end, and are shared. */
static void test_no_thread_stays(void **state)
{
    (void)state;
    kiln_close(ctx);
    ctx = NULL;
    threads_become(1);
    const int before = count_threads(); /* a sanitizer has one, too */
    for (int i = 0; i < 3; i++) {
        kiln_ctx *one = open_threads(4), *two = open_threads(6);
        assert_int_equal(threads_become(before), before);
        assert_int_equal(launch_fails(one), 0);
        assert_int_equal(threads_become(before + 3), before + 3);
        assert_int_equal(launch_fails(two), 0);
        assert_int_equal(threads_become(before + 5), before + 5);
        kiln_close(one);
        assert_int_equal(launch_fails(two), 0);
        assert_int_equal(threads_become(before + 5), before + 5);
        kiln_close(two);
        assert_int_equal(threads_become(before), before);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_step_once),
        cmocka_unit_test(test_many_callers),
        cmocka_unit_test(test_fork),
        cmocka_unit_test(test_no_thread_stays),
    };
    return cmocka_run_group_tests(tests, open_host, close_host);
}
