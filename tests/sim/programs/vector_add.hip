// SPDX-License-Identifier: MIT
// Vector add with <<<>>>, one element a work-item, the last workgroup not full; in two streams with
// events.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>
#include "check.h"

__global__ void add(const float *a, const float *b, float *c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

int main()
{
    const int n = 10007;
    std::vector<float> a(n), b(n), c(n);
    for (int i = 0; i < n; i++) {
        a[i] = 0.5f * i;
        b[i] = 1000.0f - i;
    }
    float *da, *db, *dc;
    CHECK(hipMalloc(&da, n * sizeof(float)));
    CHECK(hipMalloc(&db, n * sizeof(float)));
    CHECK(hipMalloc(&dc, n * sizeof(float)));

    hipStream_t copies, kernels;
    hipEvent_t uploaded, start, stop;
    CHECK(hipStreamCreate(&copies));
    CHECK(hipStreamCreateWithFlags(&kernels, hipStreamNonBlocking));
    CHECK(hipEventCreateWithFlags(&uploaded, hipEventDisableTiming));
    CHECK(hipEventCreate(&start));
    CHECK(hipEventCreate(&stop));

    CHECK(hipMemcpyAsync(da, a.data(), n * sizeof(float), hipMemcpyHostToDevice, copies));
    CHECK(hipMemcpyAsync(db, b.data(), n * sizeof(float), hipMemcpyHostToDevice, copies));
    CHECK(hipEventRecord(uploaded, copies));
    CHECK(hipStreamWaitEvent(kernels, uploaded, 0));
    CHECK(hipEventRecord(start, kernels));
    add<<<(n + 255) / 256, 256, 0, kernels>>>(da, db, dc, n);
    CHECK(hipGetLastError());
    CHECK(hipEventRecord(stop, kernels));
    CHECK(hipMemcpyAsync(c.data(), dc, n * sizeof(float), hipMemcpyDeviceToHost, kernels));
    CHECK(hipStreamSynchronize(kernels));
    float ms = -1;
    CHECK(hipEventElapsedTime(&ms, start, stop));
    if (!(ms >= 0)) return 1;

    for (int i = 0; i < n; i++)
        if (c[i] != a[i] + b[i]) {
            std::printf("element %d: %g instead of %g\n", i, c[i], a[i] + b[i]);
            return 1;
        }
    CHECK(hipEventDestroy(uploaded));
    CHECK(hipEventDestroy(start));
    CHECK(hipEventDestroy(stop));
    CHECK(hipStreamDestroy(copies));
    CHECK(hipStreamDestroy(kernels));
    CHECK(hipFree(da));
    CHECK(hipFree(db));
    CHECK(hipFree(dc));
    std::puts("ok");
    return 0;
}
