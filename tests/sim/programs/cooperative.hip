// SPDX-License-Identifier: MIT
// grid.sync() of cooperative groups: each round needs what other workgroups have written before the barrier, so that a
// barrier that lets one pass too early gives another sum.  And what is refused: more workgroups than the device holds.
#include <hip/hip_runtime.h>
#include <hip/hip_cooperative_groups.h>
#include <vector>
#include "check.h"

namespace cg = cooperative_groups;

__global__ void rounds(unsigned *a, unsigned *b, unsigned *flags, int count)
{
    cg::grid_group grid = cg::this_grid();
    const unsigned i = grid.thread_rank(), n = grid.size();
    if (i == 0) *flags = grid.is_valid();
    for (int r = 0; r < count; r++) {
        b[i] = a[(i * 37 + 11) % n] * 3 + a[n - 1 - i];
        grid.sync();
        a[i] = b[(i + n / 2) % n] + r;
        grid.sync();
    }
}

__global__ void alone(unsigned *flags)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) *flags = cg::this_grid().is_valid();
}

static int run(unsigned groups, unsigned threads, int count)
{
    const unsigned n = groups * threads;
    std::vector<unsigned> a(n), b(n), got(n);
    for (unsigned i = 0; i < n; i++) a[i] = i * 2654435761u;
    unsigned *da, *db, *flags, valid = 7;
    CHECK(hipMalloc(&da, n * sizeof(unsigned)));
    CHECK(hipMalloc(&db, n * sizeof(unsigned)));
    CHECK(hipMalloc(&flags, sizeof(unsigned)));
    CHECK(hipMemcpy(da, a.data(), n * sizeof(unsigned), hipMemcpyHostToDevice));
    void *args[] = {&da, &db, &flags, &count};
    CHECK(hipLaunchCooperativeKernel(reinterpret_cast<const void *>(rounds), dim3(groups), dim3(threads), args, 0, 0));
    CHECK(hipDeviceSynchronize());
    CHECK(hipMemcpy(got.data(), da, n * sizeof(unsigned), hipMemcpyDeviceToHost));
    CHECK(hipMemcpy(&valid, flags, sizeof valid, hipMemcpyDeviceToHost));
    for (int r = 0; r < count; r++) {
        for (unsigned i = 0; i < n; i++) b[i] = a[(i * 37 + 11) % n] * 3 + a[n - 1 - i];
        for (unsigned i = 0; i < n; i++) a[i] = b[(i + n / 2) % n] + r;
    }
    CHECK(hipFree(da));
    CHECK(hipFree(db));
    CHECK(hipFree(flags));
    if (valid != 1) printf("grid.is_valid() is %u in a cooperative launch\n", valid);
    for (unsigned i = 0; i < n; i++)
        if (got[i] != a[i]) {
            printf("%u workgroups of %u: element %u is %u instead of %u\n", groups, threads, i, got[i], a[i]);
            return 1;
        }
    return valid != 1;
}

int main()
{
    int supported = 0, of_unit = 0, units = 0, device;
    CHECK(hipGetDevice(&device));
    CHECK(hipDeviceGetAttribute(&supported, hipDeviceAttributeCooperativeLaunch, device));
    CHECK(hipDeviceGetAttribute(&units, hipDeviceAttributeMultiprocessorCount, device));
    CHECK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&of_unit, rounds, 1024, 0));
    if (!supported || of_unit < 1) {
        printf("cooperative launches: %d, %d workgroups on a unit\n", supported, of_unit);
        return 1;
    }
    for (int again = 0; again < 3; again++)
        if (run(1, 64, 2) || run(13, 100, 5) || run(64, 256, 3)) return 1;

    unsigned *p, valid = 7;
    int count = 1;
    CHECK(hipMalloc(&p, 1 << 20));
    void *args[] = {&p, &p, &p, &count};
    const hipError_t e = hipLaunchCooperativeKernel(reinterpret_cast<const void *>(rounds), dim3(of_unit * units + 1),
                                                    dim3(1024), args, 0, 0);
    if (e != hipErrorCooperativeLaunchTooLarge) {
        printf("too many workgroups: %s\n", hipGetErrorString(e));
        return 1;
    }
    (void)hipGetLastError();
    alone<<<2, 64>>>(p);
    CHECK(hipMemcpy(&valid, p, sizeof valid, hipMemcpyDeviceToHost));
    CHECK(hipFree(p));
    if (valid) {
        printf("grid.is_valid() is %u in an ordinary launch\n", valid);
        return 1;
    }
    puts("ok");
    return 0;
}
