// SPDX-License-Identifier: MIT
// Device code of module.c.
#include <hip/hip_runtime.h>

__device__ float bias = 1;

extern "C" __global__ void axpy(float a, const float *x, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i] + bias;
}
