// SPDX-License-Identifier: MIT
// What the emulated driver (driver.cc) sees of the emulation (emulator.cc).
#ifndef KILN_EMULATOR_ENGINE_H
#define KILN_EMULATOR_ENGINE_H
#include <stdint.h>

enum { KE_SHARED = 232448 }; // bytes of shared memory that a block may have

// A tensor map, in the 128 bytes that the driver's has.
struct ke_tensor_map {
    uint64_t magic;
    char *base;
    int64_t dim[5], stride[5];       // elements; bytes
    int box[5], rank, size, swizzle; // elements; bytes of one; bits of an address's row that count
};
const uint64_t KE_MAGIC = 0x70616d726f736e74;
static_assert(sizeof(ke_tensor_map) <= 128, "a tensor map is 128 bytes");

// Random numbers start anew: another order of threads and copies.
void ke_seed(unsigned seed);
// Runs a kernel of one or two pointers: grid and cluster in blocks, one row of threads a block.
// Returns CUDA's error code.
int ke_launch(void *function, const unsigned *grid, const unsigned *threads,
              const unsigned *cluster, unsigned shared, void **parameters);
#endif
