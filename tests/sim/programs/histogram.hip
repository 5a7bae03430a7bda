// SPDX-License-Identifier: MIT
// A histogram with atomics: bins of a workgroup in LDS, then added to those in global memory.
#include <hip/hip_runtime.h>
#include <cstring>
#include <vector>
#include "check.h"

const int BINS = 64;

__global__ void histogram(const unsigned char *data, int n, unsigned *bins, unsigned *largest)
{
    __shared__ unsigned local[BINS];
    for (int i = threadIdx.x; i < BINS; i += blockDim.x) local[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&local[data[i] % BINS], 1u);
        atomicMax(largest, static_cast<unsigned>(data[i]));
    }
    __syncthreads();
    for (int i = threadIdx.x; i < BINS; i += blockDim.x)
        if (local[i]) atomicAdd(&bins[i], local[i]);
}

int main()
{
    const int n = 20011;
    std::vector<unsigned char> data(n);
    unsigned expected[BINS] = {}, bins[BINS], largest = 0, most = 0, seed = 1;
    for (auto &d : data) {
        seed = seed * 1664525u + 1013904223u;
        d = static_cast<unsigned char>(seed >> 24);
        expected[d % BINS]++;
        if (d > most) most = d;
    }
    unsigned char *in;
    unsigned *out, *top;
    CHECK(hipMalloc(&in, n));
    CHECK(hipMalloc(&out, sizeof bins));
    CHECK(hipMalloc(&top, sizeof largest));
    CHECK(hipMemcpy(in, data.data(), n, hipMemcpyHostToDevice));
    CHECK(hipMemset(out, 0, sizeof bins));
    CHECK(hipMemset(top, 0, sizeof largest));
    hipLaunchKernelGGL(histogram, dim3(7), dim3(192), 0, 0, in, n, out, top);
    CHECK(hipGetLastError());
    CHECK(hipMemcpy(bins, out, sizeof bins, hipMemcpyDeviceToHost));
    CHECK(hipMemcpy(&largest, top, sizeof largest, hipMemcpyDeviceToHost));
    CHECK(hipFree(in));
    CHECK(hipFree(out));
    CHECK(hipFree(top));
    if (memcmp(bins, expected, sizeof bins) != 0 || largest != most) {
        puts("the bins differ");
        return 1;
    }
    puts("ok");
    return 0;
}
