// SPDX-License-Identifier: MIT
// printf in kernels: conversions, lanes in order, each wave's lines in its order, more of it than
// any buffer holds, assert.  Prints what tests/sim/programs.sh compares.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstring>
#include "check.h"

__global__ void conversions(const char *given)
{
    const int lane = threadIdx.x;
    printf("lane %d of %u: %s %s %f %5.1e|%-4d|%c %lld %%\n", lane, (unsigned)blockDim.x, "text",
           lane & 1 ? "odd" : "even, and longer than one packet of seven words can hold",
           0.5 * lane, 1e6 * lane, -lane, 'a' + lane, (long long)lane << 40);
    if (lane == 0) printf("%s|%p\n", given, (void *)0x1000);
}

__global__ void divergent()
{
    const int lane = threadIdx.x;
    if (lane % 3 == 0)
        printf("third %d\n", lane);
    else if (lane < 5)
        printf("other %d\n", lane);
}

__global__ void waves()
{
    for (int i = 0; i < 3; i++)
        if (threadIdx.x % 64 == 0)
            printf("block %d wave %d line %d\n", (int)blockIdx.x, (int)threadIdx.x / 64, i);
}

/* Seven characters of every lane of 64 waves, 40 times. */
__global__ void many(int *returned)
{
    int sum = 0;
    for (int i = 0; i < 40; i++)
        sum += printf("%06d\n", (int)(blockIdx.x * blockDim.x + threadIdx.x));
    atomicAdd(returned, sum);
}

int main(int argc, char **argv)
{
    char *given;
    int *returned, value = 0;
    CHECK(hipMalloc(&given, 16));
    CHECK(hipMemcpy(given, "from memory", 12, hipMemcpyHostToDevice));
    CHECK(hipMalloc(&returned, sizeof *returned));
    CHECK(hipMemset(returned, 0, sizeof *returned));
    if (argc > 1 && std::strcmp(argv[1], "many") == 0) {
        many<<<16, 256>>>(returned);
        CHECK(hipDeviceSynchronize());
        CHECK(hipMemcpy(&value, returned, sizeof value, hipMemcpyDeviceToHost));
        std::printf("returned %d\n", value);
    } else {
        conversions<<<1, 3>>>(given);
        CHECK(hipDeviceSynchronize());
        divergent<<<1, 8>>>();
        CHECK(hipDeviceSynchronize());
        waves<<<2, 128>>>();
        CHECK(hipDeviceSynchronize());
        std::puts("ok");
    }
    CHECK(hipFree(given));
    CHECK(hipFree(returned));
    return 0;
}
