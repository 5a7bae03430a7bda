// SPDX-License-Identifier: MIT
// A matrix transposed through padded tiles of LDS; pitched memory and two-dimensional copies.
#include <hip/hip_runtime.h>
#include <vector>
#include "check.h"

const int TILE = 32, ROWS = 8;

__global__ void transpose(const float *in, size_t in_pitch, float *out, size_t out_pitch, int width,
                          int height)
{
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += ROWS)
        if (x < width && y + i < height)
            tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * in_pitch + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += ROWS)
        if (x < height && y + i < width)
            out[(y + i) * out_pitch + x] = tile[threadIdx.x][threadIdx.y + i];
}

int main()
{
    const int width = 150, height = 77;
    std::vector<float> in(width * height), out(width * height);
    for (int i = 0; i < width * height; i++) in[i] = static_cast<float>(i);
    float *a, *b;
    size_t pa, pb;
    CHECK(hipMallocPitch(reinterpret_cast<void **>(&a), &pa, width * sizeof(float), height));
    CHECK(hipMallocPitch(reinterpret_cast<void **>(&b), &pb, height * sizeof(float), width));
    CHECK(hipMemcpy2D(a, pa, in.data(), width * sizeof(float), width * sizeof(float), height,
                      hipMemcpyHostToDevice));
    transpose<<<dim3((width + TILE - 1) / TILE, (height + TILE - 1) / TILE), dim3(TILE, ROWS)>>>(
        a, pa / sizeof(float), b, pb / sizeof(float), width, height);
    CHECK(hipGetLastError());
    CHECK(hipMemcpy2D(out.data(), height * sizeof(float), b, pb, height * sizeof(float), width,
                      hipMemcpyDeviceToHost));
    CHECK(hipFree(a));
    CHECK(hipFree(b));
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            if (out[x * height + y] != in[y * width + x]) {
                printf("row %d, column %d: %g\n", y, x, out[x * height + y]);
                return 1;
            }
    puts("ok");
    return 0;
}
