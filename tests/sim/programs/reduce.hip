// SPDX-License-Identifier: MIT
// Sums of several types: a tree in dynamic LDS, then lane shuffles, one partial sum a workgroup; a
// second launch adds those up.
#include <hip/hip_runtime.h>
#include <vector>
#include "check.h"

template <typename T> __global__ void reduce(const T *in, T *out, int n)
{
    extern __shared__ char memory[];
    T *part = reinterpret_cast<T *>(memory);
    const int t = threadIdx.x;
    T sum = 0;
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) sum += in[i];
    part[t] = sum;
    __syncthreads();
    for (int step = blockDim.x / 2; step >= 64; step /= 2) {
        if (t < step) part[t] += part[t + step];
        __syncthreads();
    }
    if (t < 64) {
        T v = part[t];
        for (int step = 32; step > 0; step /= 2) v += __shfl_down(v, step);
        if (t == 0) out[blockIdx.x] = v;
    }
}

template <typename T> static int run(const char *name, int n)
{
    const int groups = 24, threads = 256;
    std::vector<T> host(n);
    T expected = 0, sum = -1;
    for (int i = 0; i < n; i++) {
        host[i] = static_cast<T>(i % 17 - 5); /* small whole numbers: exact in every type */
        expected += host[i];
    }
    T *in, *parts, *out;
    CHECK(hipMalloc(&in, n * sizeof(T)));
    CHECK(hipMalloc(&parts, groups * sizeof(T)));
    CHECK(hipMalloc(&out, sizeof(T)));
    CHECK(hipMemcpy(in, host.data(), n * sizeof(T), hipMemcpyHostToDevice));
    reduce<T><<<groups, threads, threads * sizeof(T)>>>(in, parts, n);
    CHECK(hipGetLastError());
    reduce<T><<<1, threads, threads * sizeof(T)>>>(parts, out, groups);
    CHECK(hipGetLastError());
    CHECK(hipDeviceSynchronize());
    CHECK(hipMemcpy(&sum, out, sizeof sum, hipMemcpyDeviceToHost));
    CHECK(hipFree(in));
    CHECK(hipFree(parts));
    CHECK(hipFree(out));
    if (sum == expected) return 0;
    printf("%s: %g instead of %g\n", name, (double)sum, (double)expected);
    return 1;
}

int main()
{
    if (run<int>("int", 30011) || run<float>("float", 30011) || run<double>("double", 10007) ||
        run<long long>("long long", 10007))
        return 1;
    puts("ok");
    return 0;
}
