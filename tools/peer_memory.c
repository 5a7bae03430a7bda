// SPDX-License-Identifier: MIT
// The least a host kernel can take where memory is the limit: every input is read once, nothing is
// computed.  Where there are no products the outputs are as large as the inputs, and written, too.
#include "peer.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_THREADS = 256, LANES = 8, STREAMS = 4 };
#if defined(__x86_64__) && defined(__gnu_linux__)
#define WIDEST __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define WIDEST
#endif
typedef uint64_t lanes __attribute__((vector_size(8 * LANES), aligned(8)));

typedef struct part { /* one thread's share of one launch */
    const kh_shape *shape;
    kiln_args args;
    int index, of;
    uint64_t sum;
} part;

/* Four streams at once keep more cache lines under way than one. */
WIDEST static uint64_t read_bytes(const char *from, size_t size)
{
    lanes sum[STREAMS] = {{0}}, x;
    const size_t share = size / STREAMS / sizeof x * sizeof x;
    uint64_t total = 0;
    for (size_t at = 0; at < share; at += sizeof x)
        for (size_t s = 0; s < STREAMS; s++) {
            memcpy(&x, from + s * share + at, sizeof x);
            sum[s] += x;
        }
    for (int s = 0; s < STREAMS; s++)
        for (int i = 0; i < LANES; i++) total += sum[s][i];
    for (size_t at = STREAMS * share; at < size; at++) total += (unsigned char)from[at];
    return total;
}

static void *read_part(void *arg)
{
    part *p = arg;
    for (int i = 0; i < p->shape->count; i++) {
        const kh_operand *o = &p->shape->operand[i];
        const size_t bytes = kh_span(o), of = (size_t)p->of, index = (size_t)p->index;
        const size_t from = bytes / of * index,
                     to = index + 1 == of ? bytes : bytes / of * (index + 1);
        char *at = (char *)kh_pointer(&p->args, o) + from;
        if (!o->out)
            p->sum += read_bytes(at, to - from);
        else if (p->shape->op.summed < 0)
            memset(at, (int)(p->sum & 1), to - from);
    }
    return NULL;
}

static kiln_status launch(kh_runner *r, size_t set, void *stream)
{
    const int threads = *(const int *)r->self;
    pthread_t thread[MAX_THREADS];
    part parts[MAX_THREADS];
    int started = 1;
    (void)stream;
    for (int i = 0; i < threads; i++)
        parts[i] = (part){.shape = kh_sets_shape(r->sets),
                          .args = *kh_sets_args(r->sets, set),
                          .index = i,
                          .of = threads};
    while (started < threads && !pthread_create(&thread[started], NULL, read_part, &parts[started]))
        started++;
    read_part(&parts[0]);
    for (int i = started; i < threads; i++) read_part(&parts[i]);
    for (int i = 1; i < started; i++) pthread_join(thread[i], NULL);
    for (int i = 0; i < threads; i++)
        __asm__ volatile("" : : "r"(parts[i].sum)); /* the reads must happen */
    return KILN_OK;
}

static void close_memory(kt_entry *entry)
{
    free(entry->runner.self);
}

int kt_memory(kh_sets *sets, const kt_peer_options *o, kt_entry *entry, char *why, size_t size)
{
    int threads = o->threads;
    kiln_device_info device = {.struct_size = sizeof device};
    int *count = malloc(sizeof *count);
    if (!count) return snprintf(why, size, "out of memory"), 1;
    if (!threads && !kiln_device_describe(kh_sets_ctx(sets), &device)) threads = device.units;
    const double worth = kh_bytes(kh_sets_shape(sets)) / (4 << 20) +
                         1; /* starting a thread takes as long as 4 MiB */
    if (threads > worth) threads = (int)worth;
    *count = threads < 1 ? 1 : threads > MAX_THREADS ? MAX_THREADS : threads;
    entry->runner = (kh_runner){.launch = launch, .sets = sets, .self = count};
    entry->close = close_memory;
    snprintf(entry->note, sizeof entry->note, "%s",
             kh_sets_shape(sets)->op.summed < 0
                 ? "reads the inputs and writes the outputs once, computes nothing"
                 : "reads the inputs once, computes nothing");
    return 0;
}
