// SPDX-License-Identifier: MIT
// A small pool of host threads that help a launching thread with its workgroups.  Made when first needed, joined when
// the library goes.  Several host threads may launch at once: each works on its own launch, helpers go where there is
// work.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <unistd.h>
#include "group.h"

typedef struct task {
    void (*work)(void *);
    void *data;
    uint64_t wanted; /* helpers that may still join */
    unsigned inside; /* helpers at work */
    struct task *next;
} task;

enum { MOST_HELPERS = 255 };
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t more, left; /* there is work; a helper has left a task */
    task *tasks;
    pthread_t helper[MOST_HELPERS];
    unsigned helpers;
    atomic_bool closing;
    pid_t process;
} pool = {.mutex = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER, .left = PTHREAD_COND_INITIALIZER};

static task *open_task(void)
{
    for (task *t = pool.tasks; t; t = t->next)
        if (t->wanted)
            return t;
    return NULL;
}
static void *help(void *unused)
{
    pthread_mutex_lock(&pool.mutex);
    while (!ks_pool_closing()) {
        task *t = open_task();
        if (!t) {
            pthread_cond_wait(&pool.more, &pool.mutex);
            continue;
        }
        t->wanted--;
        t->inside++;
        pthread_mutex_unlock(&pool.mutex);
        t->work(t->data);
        pthread_mutex_lock(&pool.mutex);
        t->inside--;
        pthread_cond_broadcast(&pool.left);
    }
    pthread_mutex_unlock(&pool.mutex);
    return unused;
}
/* Cores that this process may use. */
static unsigned cores(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : (int)sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (unsigned)count : 1;
}
static unsigned helpers_wanted(void)
{
    unsigned threads = ks_options_get()->threads ? ks_options_get()->threads : cores();
    return threads - 1 < MOST_HELPERS ? threads - 1 : MOST_HELPERS;
}
bool ks_pool_closing(void)
{
    return atomic_load_explicit(&pool.closing, memory_order_relaxed);
}
/* A forked child has none of its parent's threads. */
static void make_helpers(void)
{
    if (pool.process != getpid()) {
        pool.helpers = 0;
        pool.process = getpid();
    }
    for (unsigned n = helpers_wanted(); pool.helpers < n; pool.helpers++)
        if (pthread_create(&pool.helper[pool.helpers], NULL, help, NULL) != 0)
            break; /* fewer are slower, not wrong */
}
static void add(task *t)
{
    task **end = &pool.tasks;
    while (*end)
        end = &(*end)->next;
    *end = t;
}
static void take_out(const task *t)
{
    task **at = &pool.tasks;
    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
}
void ks_pool_run(void (*work)(void *), void *data, uint64_t count)
{
    task t = {.work = work, .data = data, .wanted = count - 1};
    if (count < 2) {
        work(data);
        return;
    }
    pthread_mutex_lock(&pool.mutex);
    make_helpers();
    add(&t);
    pthread_cond_broadcast(&pool.more);
    pthread_mutex_unlock(&pool.mutex);
    work(data);
    pthread_mutex_lock(&pool.mutex);
    t.wanted = 0;
    while (t.inside)
        pthread_cond_wait(&pool.left, &pool.mutex);
    take_out(&t);
    pthread_mutex_unlock(&pool.mutex);
}
/* A forked child has copies of its parent's locks, taken by threads that it does not have. */
__attribute__((destructor)) static void close_pool(void)
{
    if (pool.process && pool.process != getpid())
        return;
    pthread_mutex_lock(&pool.mutex);
    pool.closing = true;
    pthread_cond_broadcast(&pool.more);
    pthread_mutex_unlock(&pool.mutex);
    for (unsigned i = 0; i < pool.helpers; i++)
        pthread_join(pool.helper[i], NULL);
    ks_slots_free();
}
