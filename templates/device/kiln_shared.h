// SPDX-License-Identifier: MIT
// Atomic operations on memory that a block's threads share.  Barriers order them with loads and
// stores.
#ifndef KILN_SHARED_H
#define KILN_SHARED_H
#include "kiln_device.h"

// *to = the lesser of *to and x.
static KILN_DEVICE void kiln_shared_least(int *to, int x)
{
#if defined(KILN_GPU_NVIDIA)
    asm volatile("red.shared.min.s32 [%0], %1;"
                 :: "r"((unsigned)__cvta_generic_to_shared(to)), "r"(x) : "memory");
#elif defined(KILN_GPU_AMD)
    __hip_atomic_fetch_min(to, x, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
#else // tests/emul: one thread of the process runs all of a block's
    *to = x < *to ? x : *to;
#endif
}
#endif
