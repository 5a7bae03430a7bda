// SPDX-License-Identifier: MIT
// Waves that load words of a neighbour which it stores at that time, and make nothing of them: no race, and a workgroup
// that the simulator runs twice to see that has changed global memory once.
#include <hip/hip_runtime.h>
#include <vector>
#include "check.h"

enum { THREADS = 256, ROUNDS = 3, PART = 64 };

__global__ void sums(unsigned *a, unsigned char *bytes, uint4 *wide)
{
    __shared__ unsigned lds[THREADS + 4];
    const unsigned t = threadIdx.x, i = blockIdx.x * THREADS + t;
    for (unsigned r = 0; r < ROUNDS; r++) {
        lds[t] = a[i];
        __builtin_amdgcn_wave_barrier();
        /* three words from here on; of those past the wave's part none counts */
        unsigned sum = 0;
        for (unsigned k = 0; k < 3; k++) {
            const unsigned x = lds[t + k];
            sum += t % PART + k < PART ? x : 0;
        }
        a[i] = a[i] * 3 + sum;
        bytes[i] += 1;
        wide[i].x += sum;
        wide[i].w = wide[i].x ^ wide[i].y;
        __syncthreads();
    }
}

int main()
{
    const unsigned n = 24 * THREADS;
    std::vector<unsigned> a(n), got(n);
    std::vector<unsigned char> bytes(n, 7);
    std::vector<uint4> wide(n, make_uint4(1, 2, 3, 4)), got_wide(n);
    for (unsigned i = 0; i < n; i++) a[i] = i * 2654435761u;
    unsigned *da;
    unsigned char *db;
    uint4 *dw;
    CHECK(hipMalloc(&da, n * sizeof(unsigned)));
    CHECK(hipMalloc(&db, n));
    CHECK(hipMalloc(&dw, n * sizeof(uint4)));
    CHECK(hipMemcpy(da, a.data(), n * sizeof(unsigned), hipMemcpyHostToDevice));
    CHECK(hipMemcpy(db, bytes.data(), n, hipMemcpyHostToDevice));
    CHECK(hipMemcpy(dw, wide.data(), n * sizeof(uint4), hipMemcpyHostToDevice));
    sums<<<n / THREADS, THREADS>>>(da, db, dw);
    CHECK(hipGetLastError());
    CHECK(hipMemcpy(got.data(), da, n * sizeof(unsigned), hipMemcpyDeviceToHost));
    CHECK(hipMemcpy(bytes.data(), db, n, hipMemcpyDeviceToHost));
    CHECK(hipMemcpy(got_wide.data(), dw, n * sizeof(uint4), hipMemcpyDeviceToHost));
    CHECK(hipFree(da));
    CHECK(hipFree(db));
    CHECK(hipFree(dw));
    for (unsigned r = 0; r < ROUNDS; r++) {
        const std::vector<unsigned> old = a;
        for (unsigned i = 0; i < n; i++) {
            unsigned sum = 0;
            for (unsigned k = 0; k < 3 && i % PART + k < PART; k++) sum += old[i + k];
            a[i] = old[i] * 3 + sum;
            wide[i].x += sum;
            wide[i].w = wide[i].x ^ wide[i].y;
        }
    }
    for (unsigned i = 0; i < n; i++)
        if (got[i] != a[i] || bytes[i] != 7 + ROUNDS || got_wide[i].x != wide[i].x || got_wide[i].w != wide[i].w) {
            printf("element %u: %u instead of %u; %d, %u instead of %u\n", i, got[i], a[i], bytes[i], got_wide[i].x,
                   wide[i].x);
            return 1;
        }
    puts("ok");
    return 0;
}
