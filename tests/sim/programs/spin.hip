// SPDX-License-Identifier: MIT
// Workgroups that wait for each other without the runtime's help: a barrier of counters, spun on without s_sleep; and waves
// of one workgroup that wait for a flag in LDS.
#include <hip/hip_runtime.h>
#include <vector>
#include "check.h"

__device__ void wait_for_all(unsigned *count, unsigned groups, unsigned round)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(count, 1);
        while (__hip_atomic_load(count, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) < groups * round) {}
    }
    __syncthreads();
}

__global__ void barrier(unsigned *count, unsigned *a, int rounds)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    for (int r = 1; r <= rounds; r++) {
        const unsigned x = __hip_atomic_load(&a[(i + blockDim.x) % n], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
        wait_for_all(count, gridDim.x, 2 * r - 1);
        __hip_atomic_store(&a[i], x + 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
        wait_for_all(count, gridDim.x, 2 * r);
    }
}

__global__ void relay(unsigned *out, int rounds)
{
    __shared__ unsigned turn;
    if (threadIdx.x == 0) turn = 0;
    __syncthreads();
    const unsigned wave = threadIdx.x / 64, waves = blockDim.x / 64;
    for (unsigned r = 0; r < (unsigned)rounds; r++) {
        const unsigned mine = r * waves + wave;
        while (atomicCAS(&turn, mine, mine) != mine) {}
        if (threadIdx.x % 64 == 0) atomicAdd(&turn, 1);
    }
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = turn;
}

int main()
{
    const unsigned groups = 64, threads = 256, n = groups * threads;
    const int rounds = 10;
    std::vector<unsigned> host(n);
    for (unsigned i = 0; i < n; i++) host[i] = i;
    unsigned *count, *a, turns = 0;
    CHECK(hipMalloc(&count, sizeof(unsigned)));
    CHECK(hipMalloc(&a, n * sizeof(unsigned)));
    CHECK(hipMemset(count, 0, sizeof(unsigned)));
    CHECK(hipMemcpy(a, host.data(), n * sizeof(unsigned), hipMemcpyHostToDevice));
    barrier<<<groups, threads>>>(count, a, rounds);
    CHECK(hipMemcpy(host.data(), a, n * sizeof(unsigned), hipMemcpyDeviceToHost));
    for (unsigned i = 0; i < n; i++)
        if (host[i] != (i + rounds * threads) % n + rounds) {
            printf("element %u is %u\n", i, host[i]);
            return 1;
        }
    relay<<<1, 512>>>(a, 100);
    CHECK(hipMemcpy(&turns, a, sizeof turns, hipMemcpyDeviceToHost));
    CHECK(hipFree(count));
    CHECK(hipFree(a));
    if (turns != 800) {
        printf("%u turns\n", turns);
        return 1;
    }
    puts("ok");
    return 0;
}
