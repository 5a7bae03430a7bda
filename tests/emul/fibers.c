// SPDX-License-Identifier: MIT
// Fibers on ucontext.  A barrier is a switch back to the scheduler, which runs every thread of the
// block up to the next barrier before any goes on: what threads see of each other is what a GPU
// guarantees, no more.
#include "fibers.h"
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { THREADS_MAX = 1024, STACK = 65536 };

kiln_emulated kiln_running;

static struct {
    ucontext_t scheduler, fiber[THREADS_MAX];
    char *stacks;
    bool done[THREADS_MAX];
    kiln_kernel_fn *kernel;
    const kiln_gemm_args *args;
} s;

void kiln_yield(void)
{
    unsigned thread = kiln_running.thread;
    swapcontext(&s.fiber[thread], &s.scheduler);
}

static void fiber_main(void)
{
    unsigned thread = kiln_running.thread;
    s.kernel(*s.args);
    s.done[thread] = true;
    kiln_running.thread = thread;
}

static bool run_block(unsigned threads, bool backwards)
{
    for (unsigned i = 0; i < threads; i++) {
        s.done[i] = false;
        getcontext(&s.fiber[i]);
        s.fiber[i].uc_stack.ss_sp = s.stacks + (size_t)i * STACK;
        s.fiber[i].uc_stack.ss_size = STACK;
        s.fiber[i].uc_link = &s.scheduler;
        makecontext(&s.fiber[i], fiber_main, 0);
    }
    for (unsigned done = 0; done == 0;) {
        for (unsigned i = 0; i < threads; i++) {
            kiln_running.thread = backwards ? threads - 1 - i : i;
            swapcontext(&s.scheduler, &s.fiber[kiln_running.thread]);
        }
        for (unsigned i = 0; i < threads; i++) done += s.done[i];
        if (done && done != threads) return false;
    }
    return true;
}

bool fibers_run(kiln_kernel_fn *kernel, const kiln_gemm_args *args, const unsigned blocks[3],
                unsigned threads, bool backwards)
{
    if (threads > THREADS_MAX) return false;
    if (!s.stacks && !(s.stacks = malloc((size_t)THREADS_MAX * STACK))) return false;
    s.kernel = kernel;
    s.args = args;
    memcpy(kiln_running.blocks, blocks, sizeof kiln_running.blocks);
    for (unsigned z = 0; z < blocks[2]; z++)
        for (unsigned y = 0; y < blocks[1]; y++)
            for (unsigned x = 0; x < blocks[0]; x++) {
                kiln_running.block[0] = x, kiln_running.block[1] = y, kiln_running.block[2] = z;
                if (!run_block(threads, backwards)) return false;
            }
    return true;
}

void fibers_free(void)
{
    free(s.stacks);
    s.stacks = NULL;
}
