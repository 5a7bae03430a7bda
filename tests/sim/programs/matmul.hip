// SPDX-License-Identifier: MIT
// C = A B in half precision with float sums, tiles in LDS; class templates, vectors, structures by
// value, the compiler's limits and what the runtime says of the kernel.
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
#include <vector>
#include "check.h"

template <typename T> struct matrix {
    T *data;
    int rows, columns;
    __host__ __device__ T &operator()(int r, int c) const
    {
        return data[r * columns + c];
    }
};

template <typename T, int TILE>
__global__ void __launch_bounds__(TILE *TILE)
    multiply(matrix<const T> a, matrix<const T> b, matrix<float> c)
{
    __shared__ T ta[TILE][TILE + 1], tb[TILE][TILE + 1];
    const int r = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < a.columns; k += TILE) {
        const int ka = k + threadIdx.x, kb = k + threadIdx.y;
        ta[threadIdx.y][threadIdx.x] = r < a.rows && ka < a.columns ? a(r, ka) : T(0.0f);
        tb[threadIdx.y][threadIdx.x] = kb < b.rows && col < b.columns ? b(kb, col) : T(0.0f);
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += static_cast<float>(ta[threadIdx.y][i]) * static_cast<float>(tb[i][threadIdx.x]);
        __syncthreads();
    }
    if (r < c.rows && col < c.columns) c(r, col) = sum;
}

int main()
{
    const int M = 70, N = 50, K = 90, TILE = 16;
    std::vector<__half> a(M * K), b(K * N);
    std::vector<float> c(M * N);
    for (int i = 0; i < M * K; i++) a[i] = __float2half(static_cast<float>(i % 13 - 6) * 0.5f);
    for (int i = 0; i < K * N; i++) b[i] = __float2half(static_cast<float>(i % 7 - 3) * 0.25f);
    __half *da, *db;
    float *dc;
    CHECK(hipMalloc(&da, a.size() * sizeof(__half)));
    CHECK(hipMalloc(&db, b.size() * sizeof(__half)));
    CHECK(hipMalloc(&dc, c.size() * sizeof(float)));
    CHECK(hipMemcpy(da, a.data(), a.size() * sizeof(__half), hipMemcpyHostToDevice));
    CHECK(hipMemcpy(db, b.data(), b.size() * sizeof(__half), hipMemcpyHostToDevice));
    auto kernel = multiply<__half, TILE>;
    kernel<<<dim3((N + TILE - 1) / TILE, (M + TILE - 1) / TILE), dim3(TILE, TILE)>>>(
        {da, M, K}, {db, K, N}, {dc, M, N});
    CHECK(hipGetLastError());
    CHECK(hipMemcpy(c.data(), dc, c.size() * sizeof(float), hipMemcpyDeviceToHost));
    hipFuncAttributes attributes;
    CHECK(hipFuncGetAttributes(&attributes, reinterpret_cast<const void *>(kernel)));
    int groups = 0;
    CHECK(hipOccupancyMaxActiveBlocksPerMultiprocessor(
        &groups, reinterpret_cast<const void *>(kernel), TILE * TILE, 0));
    if (attributes.maxThreadsPerBlock != TILE * TILE || attributes.numRegs < 1 || groups < 1 ||
        attributes.sharedSizeBytes < 2 * TILE * TILE * sizeof(__half)) {
        printf("attributes: %d threads, %d registers, %zu bytes of LDS, %d workgroups\n",
               attributes.maxThreadsPerBlock, attributes.numRegs, attributes.sharedSizeBytes,
               groups);
        return 1;
    }
    CHECK(hipFree(da));
    CHECK(hipFree(db));
    CHECK(hipFree(dc));
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            float sum = 0; /* multiples of 1/8 and small: exact in any order */
            for (int k = 0; k < K; k++)
                sum += __half2float(a[m * K + k]) * __half2float(b[k * N + n]);
            if (c[m * N + n] != sum) {
                printf("C[%d, %d] = %g instead of %g\n", m, n, c[m * N + n], sum);
                return 1;
            }
        }
    puts("ok");
    return 0;
}
