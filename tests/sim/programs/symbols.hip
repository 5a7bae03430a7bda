// SPDX-License-Identifier: MIT
// Variables of device code: constant memory, device variables, managed ones; by copy and by
// address.
#include <hip/hip_runtime.h>
#include <cstring>
#include "check.h"

struct coefficients {
    float scale, shift;
    int steps[4];
};
__constant__ coefficients table;
__constant__ int primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
__device__ int counter = 100;
__device__ float results[64];
__managed__ int shared_value = 7;

__global__ void use(const float *in)
{
    const int i = threadIdx.x;
    results[i] = in[i] * table.scale + table.shift + table.steps[i % 4] + primes[i % 8];
    atomicAdd(&counter, 1);
    if (i == 0) shared_value *= 6;
}

int main()
{
    const coefficients host = {2.0f, 0.5f, {10, 20, 30, 40}};
    const int first[8] = {2, 3, 5, 7, 11, 13, 17, 19};
    float in[64], out[64], *device;
    int count = 0;
    size_t size = 0;
    void *address = nullptr;
    for (int i = 0; i < 64; i++) in[i] = 0.25f * i;
    if (shared_value != 7) return 1;
    CHECK(hipMalloc(&device, sizeof in));
    CHECK(hipMemcpy(device, in, sizeof in, hipMemcpyHostToDevice));
    CHECK(hipMemcpyToSymbol(HIP_SYMBOL(table), &host, sizeof host));
    use<<<1, 64>>>(device);
    CHECK(hipGetLastError());
    CHECK(hipDeviceSynchronize());
    CHECK(hipMemcpyFromSymbol(out, HIP_SYMBOL(results), sizeof out));
    CHECK(hipGetSymbolAddress(&address, HIP_SYMBOL(counter)));
    CHECK(hipGetSymbolSize(&size, HIP_SYMBOL(counter)));
    if (size != sizeof count) return 1;
    CHECK(hipMemcpy(&count, address, sizeof count, hipMemcpyDeviceToHost));
    CHECK(hipFree(device));
    for (int i = 0; i < 64; i++)
        if (out[i] != in[i] * 2.0f + 0.5f + host.steps[i % 4] + first[i % 8]) {
            printf("element %d: %g\n", i, out[i]);
            return 1;
        }
    if (count != 164 || shared_value != 42) {
        printf("counter %d, managed %d\n", count, shared_value);
        return 1;
    }
    puts("ok");
    return 0;
}
