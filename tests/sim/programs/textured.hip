// SPDX-License-Identifier: MIT
// A texture reference: registered before main, refused when something of the program is to run.
#include <hip/hip_runtime.h>
#include "check.h"

texture<float, hipTextureType1D, hipReadModeElementType> image;

__global__ void nothing(int *p)
{
    *p = 1;
}

int main()
{
    int *p;
    CHECK(hipMalloc(&p, sizeof *p));
    nothing<<<1, 1>>>(p);
    if (hipGetLastError() != hipErrorNotSupported) return 1;
    CHECK(hipFree(p));
    puts("ok");
    return 0;
}
