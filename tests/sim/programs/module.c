// SPDX-License-Identifier: MIT
// The module interface from plain C: hipModuleLoad, functions and variables by name, arguments as
// pointers and as one buffer.  module FILE: a code object of module_kernels.hip, or a bundle.
#include <hip/hip_runtime_api.h>
#include <stddef.h>
#include "check.h"

enum { N = 500, THREADS = 128 };

int main(int argc, char **argv)
{
    float x[N], y[N], *dx, *dy;
    hipModule_t module;
    hipFunction_t axpy, missing;
    hipDeviceptr_t bias;
    hipDevice_t device;
    size_t size;
    int threads = 0;
    if (argc != 2) return 2;
    CHECK(hipInit(0));
    CHECK(hipDeviceGet(&device, 0));
    CHECK(hipModuleLoad(&module, argv[1]));
    CHECK(hipModuleGetFunction(&axpy, module, "axpy"));
    if (hipModuleGetFunction(&missing, module, "nothing") != hipErrorNotFound) return 1;
    CHECK(hipModuleGetGlobal(&bias, &size, module, "bias"));
    if (size != sizeof(float)) return 1;
    CHECK(hipFuncGetAttribute(&threads, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, axpy));
    if (threads < THREADS) return 1;
    for (int i = 0; i < N; i++) {
        x[i] = (float)i;
        y[i] = 0.5f * (float)i;
    }
    CHECK(hipMalloc((void **)&dx, sizeof x));
    CHECK(hipMalloc((void **)&dy, sizeof y));
    hipPointerAttribute_t
        attributes; /* numbered otherwise since ROCm 6: as this program was built */
    CHECK(hipPointerGetAttributes(&attributes, dx));
#if HIP_VERSION_MAJOR >= 6
    if (attributes.type != hipMemoryTypeDevice) return 1;
#else
    if (attributes.memoryType != hipMemoryTypeDevice) return 1;
#endif
    CHECK(hipMemcpyHtoD(dx, x, sizeof x));
    CHECK(hipMemcpyHtoD(dy, y, sizeof y));
    float ten = 10, a = 2;
    int n = N;
    CHECK(hipMemcpyHtoD(bias, &ten, sizeof ten));

    void *params[] = {&a, &dx, &dy, &n};
    CHECK(hipModuleLaunchKernel(axpy, (N + THREADS - 1) / THREADS, 1, 1, THREADS, 1, 1, 0, NULL,
                                params, NULL));
    struct {
        float a;
        float *x, *y;
        int n;
    } packed = {3, dx, dy, N};
    size_t bytes = sizeof packed;
    void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     HIP_LAUNCH_PARAM_END};
    CHECK(hipModuleLaunchKernel(axpy, (N + THREADS - 1) / THREADS, 1, 1, THREADS, 1, 1, 0, NULL,
                                NULL, extra));
    CHECK(hipMemcpyDtoH(y, dy, sizeof y));
    for (int i = 0; i < N; i++)
        if (y[i] != 0.5f * x[i] + 5 * x[i] + 20) {
            printf("element %d: %g\n", i, y[i]);
            return 1;
        }
    CHECK(hipFree(dx));
    CHECK(hipFree(dy));
    CHECK(hipModuleUnload(module));
    puts("ok");
    return 0;
}
