// SPDX-License-Identifier: MIT
// A graph captured from two streams (fork and join by events), launched twice, with a callback
// after it; nothing runs while it is captured.
#include <hip/hip_runtime.h>
#include <vector>
#include "check.h"

__global__ void scale(int *p, int n, int factor)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] *= factor;
}

__global__ void add(const int *a, const int *b, int *sum, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) sum[i] = a[i] + b[i];
}

static void finished(hipStream_t, hipError_t status, void *user)
{
    *static_cast<int *>(user) = status == hipSuccess;
}

int main()
{
    const int n = 1000, bytes = n * sizeof(int), groups = (n + 127) / 128;
    std::vector<int> a(n), b(n), out(n, -1);
    int done = 0;
    for (int i = 0; i < n; i++) {
        a[i] = i;
        b[i] = 3 * i;
    }
    int *da, *db, *dc;
    CHECK(hipMalloc(&da, bytes));
    CHECK(hipMalloc(&db, bytes));
    CHECK(hipMalloc(&dc, bytes));
    hipStream_t main_stream, side;
    hipEvent_t fork, join;
    CHECK(hipStreamCreateWithFlags(&main_stream, hipStreamNonBlocking));
    CHECK(hipStreamCreateWithFlags(&side, hipStreamNonBlocking));
    CHECK(hipEventCreateWithFlags(&fork, hipEventDisableTiming));
    CHECK(hipEventCreateWithFlags(&join, hipEventDisableTiming));

    CHECK(hipStreamBeginCapture(main_stream, hipStreamCaptureModeThreadLocal));
    CHECK(hipEventRecord(fork, main_stream));
    CHECK(hipStreamWaitEvent(side, fork, 0));
    CHECK(hipMemcpyAsync(da, a.data(), bytes, hipMemcpyHostToDevice, main_stream));
    scale<<<groups, 128, 0, main_stream>>>(da, n, 2);
    CHECK(hipMemcpyAsync(db, b.data(), bytes, hipMemcpyHostToDevice, side));
    scale<<<groups, 128, 0, side>>>(db, n, 5);
    CHECK(hipEventRecord(join, side));
    CHECK(hipStreamWaitEvent(main_stream, join, 0));
    CHECK(hipMemsetAsync(dc, 0xff, bytes, main_stream));
    add<<<groups, 128, 0, main_stream>>>(da, db, dc, n);
    CHECK(hipMemcpyAsync(out.data(), dc, bytes, hipMemcpyDeviceToHost, main_stream));
    hipGraph_t graph;
    CHECK(hipStreamEndCapture(main_stream, &graph));
    if (out[0] != -1) {
        puts("something ran during capture");
        return 1;
    }
    hipGraphExec_t exec;
    CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    CHECK(hipGraphDestroy(graph));
    for (int turn = 0; turn < 2; turn++) {
        CHECK(hipGraphLaunch(exec, main_stream));
        CHECK(hipStreamAddCallback(main_stream, finished, &done, 0));
        CHECK(hipStreamSynchronize(main_stream));
        if (!done) return 1;
        done = 0;
        for (int i = 0; i < n; i++)
            if (out[i] != 2 * a[i] + 5 * b[i]) {
                printf("launch %d, element %d: %d\n", turn, i, out[i]);
                return 1;
            }
        for (int i = 0; i < n; i++) b[i] = i - 7; /* read again by the next launch */
    }
    CHECK(hipGraphExecDestroy(exec));
    CHECK(hipEventDestroy(fork));
    CHECK(hipEventDestroy(join));
    CHECK(hipStreamDestroy(main_stream));
    CHECK(hipStreamDestroy(side));
    CHECK(hipFree(da));
    CHECK(hipFree(db));
    CHECK(hipFree(dc));
    puts("ok");
    return 0;
}
