// SPDX-License-Identifier: MIT
// What kernels for Hopper see of its emulation: their place in the grid, barriers, the copy engine,
// the matrix unit. Addresses of shared memory are offsets in a block's own and, from bit 24 on, its
// rank in the cluster, as an H200's are: also those of the block that runs. Everything asynchronous
// is done as late as the kernel's waits allow, or at a random time before: what a kernel reads too
// early, or overwrites too early, is wrong.  One cluster at a time; its threads are fibers of one
// thread of the process.
#ifndef KILN_EMULATOR_H
#define KILN_EMULATOR_H
#include <stdint.h>

enum { KE_RANK = 24, KE_OFFSET = (1 << KE_RANK) - 1 };
typedef struct ke_place {
    unsigned thread, block[3], grid[3];
    unsigned rank, blocks; // in and of the cluster
    char *shared;
} ke_place;

// One thread's part of wgmma m64nNk(32 bytes): its sums, and descriptors of X's 64 rows (or its
// registers) and Y's N.
// Coordinates of a box in a tensor map, the contiguous dimension first.
typedef struct ke_place_of_box {
    int rank, of[5];
} ke_place_of_box;
typedef struct ke_wgmma {
    void *sum; // N / 2 of f32, or of i32
    uint64_t x, y;
    unsigned x_register[4];
    int n;
    const char *types; // of sums, X, Y, as in the instruction's name: "f32.bf16.bf16"
    bool x_in_registers, x_along_k, y_along_k, add;
    int between; // registers of `sum` that are others', behind each four
} ke_wgmma;

extern "C" {
extern ke_place *ke_here; // of the thread that runs
char *ke_at(unsigned address);
void ke_barrier(int id, int threads); // 0 threads: all
void ke_barrier_arrive(int id, int threads);
void ke_warp_barrier(void);
float ke_other_lane(float x, int mask); // what lane ^ mask gave
void ke_cluster_arrive(void);
void ke_cluster_wait(void);
void ke_mbarrier_init(unsigned barrier, unsigned arrivals);
void ke_mbarrier_arrive(unsigned barrier, unsigned bytes); // and waits for so many bytes more
void ke_mbarrier_sent(unsigned barrier, unsigned bytes);
void ke_mbarrier_wait(unsigned barrier, unsigned phase);
unsigned ke_mbarrier_test(unsigned barrier, unsigned phase); // 1: that phase has ended
void ke_tma_load(unsigned to, const void *map, ke_place_of_box from, unsigned barrier,
                 unsigned mask); // mask 0: here
void ke_tma_store(const void *map, unsigned from, ke_place_of_box to);
void ke_tma_store_commit(void);
void ke_tma_store_wait(int pending);
void ke_copy(unsigned to, const void *from, unsigned width,
             unsigned bytes); // zeros from `bytes` on
void ke_copy_commit(void);
void ke_copy_wait(int pending);
void ke_copy_arrive(unsigned barrier); // once those so far are there
unsigned ke_of_lane(unsigned x, unsigned lane); // what another lane of the warp gave
void ke_stmatrix(unsigned address, const unsigned *word, int matrices, bool turned);
void ke_ldmatrix(unsigned address, unsigned *word, int matrices, bool turned);
// mma of 32 bytes along K: a lane's four sums, and its registers of X and, behind four, of Y.
void ke_mma(void *sum, const unsigned *own, const char *types);
void ke_wgmma_issue(const ke_wgmma &);
void ke_wgmma_commit(void);
void ke_wgmma_wait(int pending);
}
#endif
