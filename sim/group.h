// SPDX-License-Identifier: MIT
// What launch.c, pool.c, group.c and dispatch.c share: the memory of a workgroup, reused from one to the next.
#ifndef KS_GROUP_H
#define KS_GROUP_H
#include "sim.h"

enum { /* hipError_t */
    KS_INVALID_VALUE = 1, KS_OUT_OF_MEMORY = 2, KS_INVALID_CONFIGURATION = 9, KS_BAD_IMAGE = 200,
    KS_OUT_OF_RESOURCES = 701, KS_LAUNCH_TIMEOUT = 702
};
enum {
    KS_SLICE = 1 << 16,        /* instructions after which a wave lets others of its workgroup run */
    KS_ROUNDS = 8,             /* slices of its waves after which a workgroup lets others run */
    KS_STACK = 16384,          /* bytes of a lane where the code object does not know how many it needs */
    KS_MAX_SCRATCH = 1 << 17,  /* bytes of a lane */
    KS_CODE_PRELOAD_SKIP = 256 /* bytes of code that load what firmware has preloaded */
};

typedef struct ks_slot { /* a workgroup's memory */
    ks_group group;
    ks_wave *wave[KS_MAX_WAVES];
    size_t scratch_size[KS_MAX_WAVES]; /* bytes that wave[i]->scratch has */
    struct ks_slot *next;
} ks_slot;

/* group.c.  A slot fit for this launch; NULL: no memory. Its counters are zero. */
ks_slot *ks_slot_take(ks_launch *);
void ks_slot_give(ks_slot *);
void ks_slots_free(void);
/* Makes it the workgroup of this index, about to start. false: no memory. */
bool ks_group_start(ks_slot *, ks_launch *, uint64_t index);
/* Runs it on; true: it has ended.  resumable: false as soon as a wave sleeps, or after some slices. */
bool ks_group_step(ks_group *, bool resumable);

/* dispatch.c */
void ks_packet_fill(ks_launch *);
void ks_queue_fill(ks_launch *);
/* Registers of a wave as its launch leaves them to the first instruction. */
void ks_wave_start(ks_wave *);

/* pool.c: runs `work` on this thread and others of the pool, at most count in all, until each has returned. */
void ks_pool_run(void (*work)(void *), void *data, uint64_t count);
/* The process ends while another thread's launch is still running: it is to end soon. */
bool ks_pool_closing(void);
#endif
