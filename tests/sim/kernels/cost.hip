// SPDX-License-Identifier: MIT
// Loops for the cost model: what it says of them follows from the constants, and llvm-mca prices
// the same bodies.
#define GLOBAL(threads)                                                                            \
    extern "C" __attribute__((global))                                                             \
    __attribute__((amdgpu_flat_work_group_size(threads, threads)))
typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef _Float16 half8 __attribute__((ext_vector_type(8)));
typedef float float4 __attribute__((ext_vector_type(4)));
typedef float float16 __attribute__((ext_vector_type(16)));
#define MULTIPLY(c, a, b) c = __builtin_amdgcn_mfma_f32_32x32x8f16(a, b, c, 0, 0, 0)

/* Four chains of matrix instructions and nothing else. */
GLOBAL(256) void matrix(const half4 *a, const half4 *b, float16 *c, int n)
{
    const unsigned i = __builtin_amdgcn_workitem_id_x();
    const half4 p = a[i], q = b[i];
    float16 x[4] = {};
    for (int k = 0; k < n; k += 4) {
#pragma unroll
        for (int j = 0; j < 16; j++) MULTIPLY(x[j % 4], p, q);
    }
    c[i] = x[0] + x[1] + x[2] + x[3];
}
/* Two tiles from LDS for each four of them: enough for the LDS unit, too little at a time to hide
 * all latency. */
GLOBAL(256) void shared_matrix(const half8 *a, const half8 *b, float16 *c, int n)
{
    __attribute__((shared)) static half8 t[8][64];
    const unsigned i = __builtin_amdgcn_workitem_id_x(), lane = i % 64;
    t[i / 64][lane] = a[i];
    t[i / 64 + 4][lane] = b[i];
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    float16 x[2] = {};
    for (int k = 0; k < n; k++) {
        const half8 p = t[k % 4][lane], q = t[k % 4 + 4][lane];
        MULTIPLY(x[0], p.lo, q.lo);
        MULTIPLY(x[1], p.lo, q.hi);
        MULTIPLY(x[0], p.hi, q.hi);
        MULTIPLY(x[1], p.hi, q.lo);
    }
    c[i] = x[0] + x[1];
}
/* Vector instructions without matrices: one chain of each kind. */
GLOBAL(256) void vector(const float *a, const float *b, float *c, int n)
{
    const unsigned i = __builtin_amdgcn_workitem_id_x();
    float x = a[i], y = b[i];
    for (int k = 0; k < n; k++) {
        x = x * y + 1.0f;
        y = y * x + 0.5f;
        x = __builtin_amdgcn_exp2f(x);
        y = __builtin_amdgcn_rcpf(y);
    }
    c[i] = x + y;
}
/* Global memory: neighbouring lanes step words apart. */
GLOBAL(256) void strided(const float *a, const float *b, float *c, int step)
{
    const unsigned i = __builtin_amdgcn_workitem_id_x();
    c[i] = a[i * (unsigned)step] + b[i];
}
/* LDS: neighbouring lanes step words apart. */
GLOBAL(64) void banks(const float *a, const float *b, float *c, int step)
{
    __attribute__((shared)) static float t[2048];
    const unsigned i = __builtin_amdgcn_workitem_id_x();
    t[i * (unsigned)step % 2048] = a[i];
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    c[i] = t[i * (unsigned)step % 2048] + b[i];
}
