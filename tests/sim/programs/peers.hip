// SPDX-License-Identifier: MIT
// Several equal devices: a thread for each, their memory, streams and variables, copies and loads
// between them.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <thread>
#include <vector>
#include "check.h"

__device__ int variable;
__constant__ int table[100];

__global__ void fill(int *p, int n, int value)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = value + i + variable + table[99];
}

__global__ void add(int *to, const int *from, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] += from[i];
}

enum { N = 1000, MOST = 8 };
static int *memory[MOST];
static int failed[MOST];

static int work(int device)
{
    hipStream_t stream;
    int current = -1;
    CHECK(hipSetDevice(device));
    const int own = 1000 * device;
    CHECK(hipMemcpyToSymbol(HIP_SYMBOL(variable), &own, sizeof own));
    CHECK(hipMalloc(&memory[device], N * sizeof(int)));
    CHECK(hipStreamCreate(&stream));
    fill<<<(N + 63) / 64, 64, 0, stream>>>(memory[device], N, 7);
    CHECK(hipStreamSynchronize(stream));
    CHECK(hipStreamDestroy(stream));
    CHECK(hipGetDevice(&current));
    return current != device;
}

int main()
{
    int count = 0, can = 0;
    CHECK(hipGetDeviceCount(&count));
    std::vector<std::thread> threads;
    for (int d = 0; d < count; d++) threads.emplace_back([d] { failed[d] = work(d); });
    for (auto &t : threads) t.join();
    for (int d = 0; d < count; d++)
        if (failed[d]) return 1;

    hipDeviceProp_t first, last;
    CHECK(hipGetDeviceProperties(&first, 0));
    CHECK(hipGetDeviceProperties(&last, count - 1));
    if (count < 2 || first.multiProcessorCount != last.multiProcessorCount ||
        first.pciBusID == last.pciBusID) {
        std::puts("the devices are not equal, or one");
        return 1;
    }
    hipFuncAttributes about;
    CHECK(hipFuncGetAttributes(&about, (const void *)fill));
    if (about.constSizeBytes != sizeof(int) * 100) {
        std::printf("%zu bytes of constants\n", about.constSizeBytes);
        return 1;
    }
    CHECK(hipSetDevice(0));
    CHECK(hipDeviceCanAccessPeer(&can, 0, 1));
    if (!can) return 1;
    CHECK(hipDeviceEnablePeerAccess(1, 0));
    add<<<(N + 63) / 64, 64>>>(memory[0], memory[1], N); /* the other's memory */
    int *copy;
    CHECK(hipMalloc(&copy, N * sizeof(int)));
    CHECK(hipMemcpyPeer(copy, 0, memory[count - 1], count - 1, N * sizeof(int)));
    std::vector<int> sum(N), got(N);
    CHECK(hipMemcpy(sum.data(), memory[0], N * sizeof(int), hipMemcpyDefault));
    CHECK(hipMemcpy(got.data(), copy, N * sizeof(int), hipMemcpyDefault));
    for (int i = 0; i < N; i++)
        if (sum[i] != 1014 + 2 * i || got[i] != 7 + i + 1000 * (count - 1)) {
            std::printf("element %d: %d and %d\n", i, sum[i], got[i]);
            return 1;
        }
    hipPointerAttribute_t where;
    CHECK(hipPointerGetAttributes(&where, memory[count - 1]));
    if (where.device != count - 1) return 1;
    for (int d = 0; d < count; d++) CHECK(hipFree(memory[d]));
    CHECK(hipFree(copy));
    std::puts("ok");
    return 0;
}
