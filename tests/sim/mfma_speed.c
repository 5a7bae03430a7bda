// SPDX-License-Identifier: MIT
// Times kernels/gemm_f16.hip on the simulator: usage mfma_speed OBJECT N SECONDS.  The product of N x N matrices of
// small whole numbers is compared with the host's; more processor time than SECONDS is a failure.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef void *handle;
int hipInit(unsigned), hipMalloc(void **, size_t), hipFree(void *), hipDeviceSynchronize(void);
int hipMemcpy(void *, const void *, size_t, int), hipModuleLoad(handle *, const char *), hipModuleUnload(handle);
int hipModuleGetFunction(handle *, handle, const char *);
int hipModuleLaunchKernel(handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, handle, void **,
                          void **);
enum { TO_DEVICE = 1, TO_HOST = 2, TILE = 128 };

/* Whole numbers from -4 to 4 and their f16 codes. */
static void fill(int16_t *value, uint16_t *code, size_t count)
{
    static const uint16_t codes[9] = { 0xc400, 0xc200, 0xc000, 0xbc00, 0x0000, 0x3c00, 0x4000, 0x4200, 0x4400 };
    static uint32_t seed = 1;
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        const unsigned v = (seed >> 16) % 9;
        value[i] = (int16_t)((int)v - 4);
        code[i] = codes[v];
    }
}
static size_t wrong(const int16_t *a, const int16_t *b, const float *c, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            int sum = 0;
            for (size_t k = 0; k < n; k++) sum += a[i * n + k] * b[j * n + k];
            count += c[i * n + j] != (float)sum;
        }
    return count;
}

int main(int argc, char **argv)
{
    if (argc != 4) return 2;
    const unsigned n = (unsigned)atoi(argv[2]);
    const size_t count = (size_t)n * n;
    int16_t *value = malloc(2 * count * sizeof(*value));
    uint16_t *code = malloc(2 * count * sizeof(*code));
    float *c = malloc(count * sizeof(*c));
    handle module, kernel;
    void *da, *db, *dc;
    if (!value || !code || !c) return 2;
    fill(value, code, 2 * count);
    if (hipInit(0) || hipModuleLoad(&module, argv[1]) || hipModuleGetFunction(&kernel, module, "gemm_f16") ||
        hipMalloc(&da, count * 2) || hipMalloc(&db, count * 2) || hipMalloc(&dc, count * 4) ||
        hipMemcpy(da, code, count * 2, TO_DEVICE) || hipMemcpy(db, code + count, count * 2, TO_DEVICE)) {
        printf("no device, or the object could not be loaded\n");
        return 1;
    }
    unsigned size = n;
    void *arg[] = { &da, &db, &dc, &size, &size };
    const clock_t start = clock();
    int error = hipModuleLaunchKernel(kernel, n / TILE, n / TILE, 1, 256, 1, 1, 0, NULL, arg, NULL);
    if (!error) error = hipDeviceSynchronize();
    const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    if (!error) error = hipMemcpy(c, dc, count * 4, TO_HOST);
    const size_t bad = error ? 0 : wrong(value, value + count, c, n);
    printf("%u^3 f16 128x128: %.2f s\n", n, seconds);
    if (error) printf("hipError_t %d\n", error);
    if (bad) printf("%zu of %zu elements are wrong\n", bad, count);
    hipFree(da), hipFree(db), hipFree(dc);
    hipModuleUnload(module);
    free(value), free(code), free(c);
    return error || bad || seconds > atof(argv[3]);
}
