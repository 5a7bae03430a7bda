// SPDX-License-Identifier: MIT
// Threads that help host kernels: one pool for the process, of as many as the widest host context
// wants, made when a kernel is loaded and joined when the last host context closes.  Whoever
// launches does the steps itself; helpers that are free take some of them.  So nobody waits for a
// thread that has not begun, several launches share the helpers, and a launch without any (a forked
// child has none of its parent's threads, and makes its own) only takes longer.
//   Waiting: a short spin where there are cores enough, then sleep, so that on a busy machine the
// thread that is waited for gets the core.
#define _GNU_SOURCE
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "internal.h"

enum {
    MOST_HELPERS = 1023,
    CALLS = 16,  /* that have helpers at the same time; more go without */
    SPINS = 1000 /* pauses before sleep: some 10 to 50 us */
};

/* A call's state: helpers that may still join, helpers inside, whether its caller sleeps. */
#define WANTED     0x00000fffu
#define INSIDE     0x00001000u /* one of them */
#define ASLEEP     0x80000000u
#define ALL_INSIDE (ASLEEP - INSIDE)

/* Calls are the pool's and never freed: a helper may look at one that is over, and must join (by
 * compare and swap of the state) before it reads the rest. */
typedef struct call {
    _Alignas(64) atomic_bool taken;
    atomic_uint state;
    kiln_step step;
    const void *job;
    long long count;
    _Alignas(64) atomic_llong next; /* step */
} call;

static struct {
    call call[CALLS];
    _Alignas(64) atomic_uint posted; /* counts calls; idle helpers wait for its next value */
    atomic_uint asleep;              /* helpers */
    atomic_uint ready; /* how many helpers were asked for, or there is no making more */
    atomic_int spins;
    atomic_bool closing;
    pthread_mutex_t mutex; /* of what follows */
    pthread_t helper[MOST_HELPERS];
    unsigned helpers, users;
    bool forks; /* are seen */
} pool = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* ---- waiting ---- */

static void pause_core(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Until *word is no longer `seen`, or for no reason. */
static void futex_wait(atomic_uint *word, unsigned seen)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static void futex_wake(atomic_uint *word, unsigned count)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

/* ---- helpers ---- */

static void run(call *c, int thread)
{
    for (long long i;
         (i = atomic_fetch_add_explicit(&c->next, 1, memory_order_relaxed)) < c->count;)
        c->step(c->job, i, thread);
}

/* The thread's number in the call; 0: it takes no more. */
static unsigned join(call *c)
{
    unsigned state = atomic_load_explicit(&c->state, memory_order_relaxed);
    while (state & WANTED)
        if (atomic_compare_exchange_weak_explicit(&c->state, &state, state - 1 + INSIDE,
                                                  memory_order_acquire, memory_order_relaxed))
            return state & WANTED;
    return 0;
}

static void leave(call *c)
{
    const unsigned state = atomic_fetch_sub_explicit(&c->state, INSIDE, memory_order_acq_rel);
    if (state & ASLEEP && (state & ALL_INSIDE) == INSIDE) futex_wake(&c->state, 1);
}

static bool help_someone(void)
{
    bool helped = false;
    for (int i = 0; i < CALLS; i++) {
        call *c = &pool.call[i];
        const unsigned thread = join(c);
        if (thread == 0) continue;
        run(c, (int)thread);
        leave(c);
        helped = true;
    }
    return helped;
}

/* `asleep` and `posted` change in opposite orders here and in `post`: one of the two is seen. */
static void await_call(unsigned seen)
{
    for (int i = atomic_load_explicit(&pool.spins, memory_order_relaxed); i > 0; i--) {
        if (atomic_load_explicit(&pool.posted, memory_order_relaxed) != seen) return;
        pause_core();
    }
    atomic_fetch_add(&pool.asleep, 1);
    futex_wait(&pool.posted, seen);
    atomic_fetch_sub(&pool.asleep, 1);
}

static void *help(void *unused)
{
    for (;;) {
        const unsigned seen = atomic_load(&pool.posted);
        if (atomic_load(&pool.closing)) return unused;
        if (!help_someone()) await_call(seen);
    }
}

static void post(unsigned helpers)
{
    atomic_fetch_add(&pool.posted, 1);
    if (atomic_load(&pool.asleep)) futex_wake(&pool.posted, helpers);
}

/* ---- making and joining them, under the mutex ---- */

static int cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/* Signals are for the program's own threads.  Fewer helpers than wanted are slower, not wrong. */
static void make_helpers(unsigned wanted)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool.helpers < wanted &&
           pthread_create(&pool.helper[pool.helpers], NULL, help, NULL) == 0)
        pool.helpers++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    atomic_store(&pool.spins, (int)pool.helpers < cores() ? SPINS : 0);
    atomic_store(&pool.ready, wanted);
}

static void join_helpers(void)
{
    atomic_store(&pool.closing, true);
    post(INT_MAX);
    while (pool.helpers > 0) pthread_join(pool.helper[--pool.helpers], NULL);
    atomic_store(&pool.closing, false);
    atomic_store(&pool.ready, 0);
}

void kr_pool_ready(int threads)
{
    const unsigned wanted = threads <= 1             ? 0
                            : threads > MOST_HELPERS ? MOST_HELPERS
                                                     : (unsigned)threads - 1;
    if (atomic_load_explicit(&pool.ready, memory_order_relaxed) >= wanted) return;
    pthread_mutex_lock(&pool.mutex);
    if (atomic_load(&pool.ready) < wanted) make_helpers(wanted);
    pthread_mutex_unlock(&pool.mutex);
}

/* ---- a forked child: no helpers, and nobody in a call ---- */

static void before_fork(void)
{
    pthread_mutex_lock(&pool.mutex);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&pool.mutex);
}

static void in_child(void)
{
    pool.helpers = 0;
    atomic_store(&pool.ready, 0);
    atomic_store(&pool.asleep, 0);
    for (int i = 0; i < CALLS; i++) {
        atomic_store(&pool.call[i].state, 0);
        atomic_store(&pool.call[i].taken, false);
    }
    pthread_mutex_unlock(&pool.mutex);
}

/* ---- users: host contexts ---- */

kiln_status kr_pool_open(void)
{
    pthread_mutex_lock(&pool.mutex);
    if (!pool.forks) pool.forks = pthread_atfork(before_fork, after_fork, in_child) == 0;
    const bool good = pool.forks;
    if (good) pool.users++;
    pthread_mutex_unlock(&pool.mutex);
    return good ? KILN_OK : kr_fail(KILN_NO_MEMORY, "no memory to open the host");
}

void kr_pool_close(void)
{
    pthread_mutex_lock(&pool.mutex);
    if (--pool.users == 0) join_helpers();
    pthread_mutex_unlock(&pool.mutex);
}

/* The code goes while contexts are open: at the program's end, or by dlclose.  From here on calls
 * do without helpers. */
__attribute__((destructor)) static void library_goes(void)
{
    if (pthread_mutex_trylock(&pool.mutex) != 0) return; /* exit() in the middle of the above */
    join_helpers();
    atomic_store(&pool.ready, UINT_MAX);
    pthread_mutex_unlock(&pool.mutex);
}

/* ---- calls ---- */

static call *take_call(void)
{
    for (int i = 0; i < CALLS; i++)
        if (!atomic_load_explicit(&pool.call[i].taken, memory_order_relaxed) &&
            !atomic_exchange_explicit(&pool.call[i].taken, true, memory_order_acquire))
            return &pool.call[i];
    return NULL;
}

/* Until all helpers have left. */
static void await_helpers(call *c)
{
    unsigned state = atomic_load_explicit(&c->state, memory_order_acquire);
    for (int i = atomic_load_explicit(&pool.spins, memory_order_relaxed);
         i > 0 && state & ALL_INSIDE; i--) {
        pause_core();
        state = atomic_load_explicit(&c->state, memory_order_acquire);
    }
    while (state & ALL_INSIDE) {
        state = atomic_fetch_or_explicit(&c->state, ASLEEP, memory_order_acquire) | ASLEEP;
        if (state & ALL_INSIDE) futex_wait(&c->state, state);
        state = atomic_load_explicit(&c->state, memory_order_acquire);
    }
}

void kr_pool_each(int threads, long long count, kiln_step step, const void *job)
{
    const long long most = threads < MOST_HELPERS ? threads : MOST_HELPERS;
    const unsigned wanted = (unsigned)(count < most ? count : most) - 1;
    call *const c = threads > 1 && count > 1 ? take_call() : NULL;
    if (!c) {
        for (long long i = 0; i < count; i++) step(job, i, 0);
        return;
    }
    kr_pool_ready(threads);
    c->step = step;
    c->job = job;
    c->count = count;
    atomic_store_explicit(&c->next, 0, memory_order_relaxed);
    atomic_store_explicit(&c->state, wanted, memory_order_release);
    post(wanted);
    run(c, 0);
    atomic_fetch_and_explicit(&c->state, ~WANTED, memory_order_relaxed); /* no more come */
    await_helpers(c);
    atomic_store_explicit(&c->state, 0, memory_order_relaxed);
    atomic_store_explicit(&c->taken, false, memory_order_release);
}
