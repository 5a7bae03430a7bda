// SPDX-License-Identifier: MIT
// A program with a bug: one work-item too many writes.  It must be told by error code, and where.
#include <hip/hip_runtime.h>
#include "check.h"

__global__ void fill(int *p, int n)
{
    const int i = threadIdx.x;
    if (i <= n) p[i] = i; /* the bug */
}

int main()
{
    int *p;
    CHECK(hipMalloc(&p, 40 * sizeof(int)));
    fill<<<1, 64>>>(p, 40);
    if (hipGetLastError() != hipErrorIllegalAddress) return 1;
    if (hipDeviceSynchronize() != hipErrorIllegalAddress) return 1;
    if (hipDeviceSynchronize() != hipSuccess) return 1;
    CHECK(hipFree(p));
    puts("ok");
    return 0;
}
