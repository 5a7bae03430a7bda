// SPDX-License-Identifier: MIT
// The GPU's primitives on the CPU, for kernels compiled with -DKILN_EMULATE: kiln_device.h reads
// this in place of its own.  A block's threads are fibers of one thread; kiln_barrier gives way to
// the next.  emulate.c holds the scheduler.
#ifndef KILN_EMULATE_H
#define KILN_EMULATE_H

#define KILN_DEVICE inline
#define KILN_SHARED
#define KILN_KERNEL(threads, blocks) extern "C" void

typedef struct kiln_emulated {
    unsigned thread, block[3], blocks[3]; /* of the running fiber */
} kiln_emulated;

#ifdef __cplusplus
extern "C" {
#endif
extern kiln_emulated kiln_running;
void kiln_yield(void);
#ifdef __cplusplus
}

static inline unsigned kiln_thread(void)
{
    return kiln_running.thread;
}
static inline unsigned kiln_block_x(void)
{
    return kiln_running.block[0];
}
static inline unsigned kiln_block_y(void)
{
    return kiln_running.block[1];
}
static inline unsigned kiln_block_z(void)
{
    return kiln_running.block[2];
}
static inline unsigned kiln_blocks_x(unsigned)
{
    return kiln_running.blocks[0];
}
static inline unsigned kiln_blocks_y(void)
{
    return kiln_running.blocks[1];
}
static inline void kiln_barrier(void)
{
    kiln_yield();
}
#endif
#endif
