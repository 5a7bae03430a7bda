// SPDX-License-Identifier: MIT
// Work in parts that do not depend on each other, done by as many threads as there are cores.
#include "harness.h"
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { MAX_THREADS = 16 };
typedef struct team {
    kh_part *work;
    void *arg;
    int64_t parts;
    atomic_llong next;
} team;

static void *take_parts(void *arg)
{
    team *t = arg;
    int64_t part;
    while ((part = atomic_fetch_add(&t->next, 1)) < t->parts) t->work(t->arg, part);
    return NULL;
}

int kh_threads(void)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores < MAX_THREADS ? (int)cores : MAX_THREADS;
}

void kh_parts(int64_t parts, kh_part *work, void *arg)
{
    pthread_t thread[MAX_THREADS];
    team t = {.work = work, .arg = arg, .parts = parts};
    int threads = kh_threads(), started = 1;
    if (threads > parts) threads = (int)parts;
    while (started < threads && !pthread_create(&thread[started], NULL, take_parts, &t)) started++;
    take_parts(&t);
    for (int i = 1; i < started; i++) pthread_join(thread[i], NULL);
}
