// SPDX-License-Identifier: MIT
// Workgroups that run a second time to see whether a value that raced is used: replay.c.
#ifndef KS_REPLAY_H
#define KS_REPLAY_H
#include "sim.h"

typedef struct ks_replay ks_replay;
struct ks_access;
struct ks_slot;
typedef struct ks_load { /* one execution of an LDS load; part: which of the instruction's accesses
                          */
    uint64_t executed;
    uint32_t wave, part, pc;
} ks_load;

bool ks_replay_begin(ks_group *);     /* a workgroup starts; false: no memory */
void ks_replay_end(struct ks_slot *); /* it has ended: again, then what it found is reported */
void ks_replay_free(ks_group *);
/* Whether findings may be held back; whether this is the second run. */
bool ks_replay_possible(const ks_group *);
bool ks_replay_on(const ks_group *);
/* Global memory is about to be changed. */
void ks_replay_store(const struct ks_access *);
void ks_replay_atomic(const struct ks_access *);
/* A finding that stands if a suspect's value is used: its number. One for each instruction. */
unsigned ks_replay_hold(ks_wave *, const ks_inst *, int lane, uint64_t address, const char *text);
void ks_replay_suspect(ks_group *, const ks_load *, unsigned lane, uint16_t bytes,
                       unsigned finding);
/* The second run: registers that a suspect has loaded become undefined; a value that is undefined
   from that instruction on is used: true in the second run, where nothing else is reported. */
void ks_replay_taint(const struct ks_access *, unsigned reg, unsigned part);
bool ks_replay_used(ks_wave *, uint32_t origin);
#endif
