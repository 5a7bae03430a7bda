// SPDX-License-Identifier: MIT
// malloc and free in kernels: small blocks and large ones, used by other kernels, freed by a third;
// what is too much is NULL; wrong uses are found.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstring>
#include <set>
#include <vector>
#include "check.h"

__global__ void take(int **block, const size_t *bytes, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    block[i] = (int *)malloc(bytes[i]);
    if (!block[i]) return;
    block[i][0] = i;
    block[i][bytes[i] / 4 - 1] = i;
}

__global__ void use(int *const *block, const size_t *bytes, int n, int *wrong)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (!block[i] || block[i][0] != i || block[i][bytes[i] / 4 - 1] != i) atomicAdd(wrong, 1);
}

__global__ void give(int **block, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) free(block[i]);
}

__global__ void made_by_new(double *out)
{
    double *p = new double[8];
    for (int i = 0; i < 8; i++) p[i] = threadIdx.x + i;
    out[threadIdx.x] = p[7];
    delete[] p;
}

__global__ void too_much(int **block)
{
    if (threadIdx.x == 0) block[0] = (int *)malloc(1ull << 50);
    if (threadIdx.x == 1) block[1] = (int *)malloc(0);
}

/* Blocks of 1 MB until there are no more. */
__global__ void all_of_it(int **block, int most, int *count)
{
    for (*count = 0; *count < most; ++*count)
        if (!(block[*count] = (int *)malloc(1 << 20))) break;
}

__global__ void outside(int **block)
{
    block[0][5000 / 4] = 1;
}

static int run_all(int **block, const size_t *bytes, int n, int *wrong)
{
    const int groups = (n + 127) / 128;
    take<<<groups, 128>>>(block, bytes, n);
    CHECK(hipDeviceSynchronize());
    use<<<groups, 128>>>(block, bytes, n, wrong);
    CHECK(hipDeviceSynchronize());
    std::vector<int *> at(n);
    CHECK(hipMemcpy(at.data(), block, n * sizeof(int *), hipMemcpyDeviceToHost));
    if (std::set<int *>(at.begin(), at.end()).size() != (size_t)n) {
        std::puts("two blocks are one");
        return 1;
    }
    give<<<groups, 128>>>(block, n);
    CHECK(hipDeviceSynchronize());
    return 0;
}

static int exhaust(int **block, int *count, int most)
{
    int first = 0, second = 0;
    all_of_it<<<1, 1>>>(block, most, count);
    CHECK(hipMemcpy(&first, count, sizeof first, hipMemcpyDeviceToHost));
    give<<<(first + 127) / 128, 128>>>(block, first);
    all_of_it<<<1, 1>>>(block, most, count);
    CHECK(hipMemcpy(&second, count, sizeof second, hipMemcpyDeviceToHost));
    give<<<(second + 127) / 128, 128>>>(block, second);
    CHECK(hipDeviceSynchronize());
    if (first == 0 || first == most || first != second) {
        std::printf("%d blocks, then %d\n", first, second);
        return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    enum { N = 300 };
    static const size_t sizes[] = {4, 16, 24, 100, 1000, 3072, 3076, 5000, 100000};
    std::vector<size_t> bytes(N);
    for (int i = 0; i < N; i++) bytes[i] = sizes[i % 9];
    int **block, *wrong, bad = 0;
    int *at[2] = {(int *)1, (int *)1};
    size_t *given;
    double *out, made[64];
    CHECK(hipMalloc(&block, N * sizeof *block));
    CHECK(hipMalloc(&given, N * sizeof *given));
    CHECK(hipMalloc(&wrong, sizeof *wrong));
    CHECK(hipMalloc(&out, sizeof made));
    CHECK(hipMemset(wrong, 0, sizeof *wrong));
    CHECK(hipMemcpy(given, bytes.data(), N * sizeof *given, hipMemcpyHostToDevice));
    for (int i = 0; i < 2; i++)
        if (run_all(block, given, N, wrong)) return 1;
    CHECK(hipMemcpy(&bad, wrong, sizeof bad, hipMemcpyDeviceToHost));
    made_by_new<<<1, 64>>>(out);
    CHECK(hipMemcpy(made, out, sizeof made, hipMemcpyDeviceToHost));
    too_much<<<1, 64>>>(block);
    CHECK(hipMemcpy(at, block, sizeof at, hipMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++) bad += made[i] != i + 7;
    if (bad || at[0] || at[1]) {
        std::printf("%d wrong, %p, %p\n", bad, (void *)at[0], (void *)at[1]);
        return 1;
    }
    if (argc > 1 && std::strcmp(argv[1], "exhaust") == 0 && exhaust(block, wrong, N)) return 1;
    if (argc > 1 && std::strcmp(argv[1], "outside") == 0) {
        bytes[0] = 5000;
        CHECK(hipMemcpy(given, bytes.data(), sizeof bytes[0], hipMemcpyHostToDevice));
        take<<<1, 1>>>(block, given, 1);
        outside<<<1, 1>>>(block);
        if (hipDeviceSynchronize() != hipErrorIllegalAddress) return 1;
    }
    CHECK(hipFree(block));
    CHECK(hipFree(given));
    CHECK(hipFree(wrong));
    CHECK(hipFree(out));
    std::puts("ok");
    return 0;
}
