// SPDX-License-Identifier: MIT
// What a compiler must put waits and wait states into by itself: matrix instructions of every size
// mixed with each other and with all that may follow, dot products, DPP, lane moves, divisions,
// conversions, wide stores, spills, atomics.
#define INLINE static __attribute__((device, always_inline)) inline
#define KERNEL extern "C" __attribute__((global, amdgpu_flat_work_group_size(256, 256))) void
typedef _Float16 half2 __attribute__((ext_vector_type(2)));
typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef float float4 __attribute__((ext_vector_type(4)));
typedef float float16 __attribute__((ext_vector_type(16)));
typedef double double4 __attribute__((ext_vector_type(4)));
typedef unsigned u4 __attribute__((ext_vector_type(4)));
INLINE unsigned item()
{
    return __builtin_amdgcn_workitem_id_x();
}

/* Chains, then sums read, mixed and written again. */
#define CHAIN(name, sum, input, multiply)                                                          \
    KERNEL name(const input *a, const input *b, sum *c, int n)                                     \
    {                                                                                              \
        const unsigned i = item();                                                                 \
        sum x = c[i], y = c[i + 64];                                                               \
        for (int k = 0; k < n; k++) {                                                              \
            const input p = a[i + k * 64], q = b[i + k * 64];                                      \
            x = multiply(p, q, x, 0, 0, 0);                                                        \
            y = multiply(p, q, x, 0, 0, 0);                                                        \
            x += y;                                                                                \
            x = multiply(p, q, x, 0, 0, 0);                                                        \
        }                                                                                          \
        c[i] = x;                                                                                  \
        c[i + 64] = y * x;                                                                         \
    }
CHAIN(f16_32, float16, half4, __builtin_amdgcn_mfma_f32_32x32x8f16)
CHAIN(f16_16, float4, half4, __builtin_amdgcn_mfma_f32_16x16x16f16)
CHAIN(f16_4, float4, half4, __builtin_amdgcn_mfma_f32_4x4x4f16)
CHAIN(f32_32, float16, float, __builtin_amdgcn_mfma_f32_32x32x2f32)
CHAIN(f32_16, float4, float, __builtin_amdgcn_mfma_f32_16x16x4f32)
CHAIN(f32_4, float4, float, __builtin_amdgcn_mfma_f32_4x4x1f32)
CHAIN(f64_16, double4, double, __builtin_amdgcn_mfma_f64_16x16x4f64)
CHAIN(f64_4, double, double, __builtin_amdgcn_mfma_f64_4x4x4f64)

KERNEL mixture(half4 *a, half4 *b, float16 *c, float4 *d, double4 *e, double *f, float *g, int n)
{
    const unsigned i = item();
    float16 x = c[i];
    float4 y = d[i];
    double4 z = e[i];
    double w = f[i];
    float s = g[i];
    for (int k = 0; k < n; k++) {
        half4 p = a[i + k * 64], q = b[i + k * 64];
        x = __builtin_amdgcn_mfma_f32_32x32x8f16(p, q, x, 0, 0, 0);
        y = __builtin_amdgcn_mfma_f32_4x4x4f16(p, q, y, 0, 0, 0);
        y = __builtin_amdgcn_mfma_f32_16x16x16f16(q, p, y, 0, 0, 0);
        z = __builtin_amdgcn_mfma_f64_16x16x4f64(w, f[k], z, 0, 0, 0);
        w = __builtin_fma(w, z[1], w);
        w = __builtin_amdgcn_mfma_f64_4x4x4f64(w, f[k], w, 0, 0, 0);
        s = s * y[0] + x[3];
        y = __builtin_amdgcn_mfma_f32_16x16x4f32(s, y[1], y, 0, 0, 0);
        p[0] = (_Float16)x[5];
        x = __builtin_amdgcn_mfma_f32_32x32x8f16(p, q, x, 0, 0, 0);
        y[2] = s;
        f[k + i] = w;
    }
    c[i] = x, d[i] = y, e[i] = z, f[i] = w, g[i] = s;
}
KERNEL parts(half4 *a, float16 *c, float4 *d)
{
    const unsigned i = item();
    const half4 p = a[i], q = a[i + 64];
    float16 x = __builtin_amdgcn_mfma_f32_32x32x8f16(p, q, c[i], 0, 0, 0);
    float4 y = {x[4], x[5], x[6], x[7]};
    y = __builtin_amdgcn_mfma_f32_16x16x16f16(p, q, y, 0, 0, 0);
    d[i] = y;
    const half4 r = {(_Float16)x[0], (_Float16)y[1], (_Float16)x[2], (_Float16)y[3]};
    y = __builtin_amdgcn_mfma_f32_4x4x4f16(r, q, y, 0, 0, 0);
    c[i] = x, d[i + 64] = y;
}
KERNEL dots(half2 *a, half2 *b, float *c, int *d, unsigned *e, int n)
{
    const unsigned i = item();
    float s = c[i];
    int t = d[i];
    for (int k = 0; k < n; k++) {
        s = __builtin_amdgcn_fdot2(a[k + i], b[k + i], s, false);
        t = __builtin_amdgcn_sdot4(d[k], d[k + i], t, false);
        t = __builtin_amdgcn_sdot8(d[k], t, t, false);
        e[k] = __builtin_amdgcn_udot4(e[k], (unsigned)t, (unsigned)t, false);
        s = __builtin_amdgcn_fdot2(__builtin_bit_cast(half2, s), b[k], s, true) + s * 2;
    }
    c[i] = s, d[i] = t;
}
#ifdef __gfx942__
KERNEL narrow(float *a, int *b, float *c)
{
    const unsigned i = item();
    int r = __builtin_amdgcn_cvt_pk_fp8_f32(a[i], a[i + 1], b[i], false);
    r = __builtin_amdgcn_cvt_pk_bf8_f32(a[i + 2], a[i + 1], r, true);
    b[i] = r;
    c[i] = __builtin_amdgcn_cvt_f32_fp8(r, 1) + __builtin_amdgcn_cvt_f32_bf8(b[i + 5], 3);
    r = __builtin_amdgcn_cvt_sr_fp8_f32(a[i], (unsigned)b[1], r, 2);
    b[i + 9] = r;
    const auto z = __builtin_amdgcn_cvt_pk_f32_fp8(r, true);
    c[i + 64] = z[0] * z[1] + __builtin_amdgcn_exp2f(c[i]) * __builtin_amdgcn_rcpf(z[0]);
}
#endif
KERNEL lanes(float *p, int *q, unsigned long long *b, int n)
{
    __attribute__((shared)) static float s[256];
    const unsigned i = item();
    int v = q[i];
    v += __builtin_amdgcn_update_dpp(0, v, 0x111, 0xf, 0xf, true);
    v += __builtin_amdgcn_mov_dpp(v, 0x142, 0xa, 0xf, false);
    v += __builtin_amdgcn_ds_swizzle(v, 0x401f);
    v += __builtin_amdgcn_ds_bpermute((int)i * 4 ^ 8, v);
    const unsigned long long m = __builtin_amdgcn_uicmp((unsigned)v, 3u, 34);
    b[i] = m;
    q[i] = __builtin_popcountll(m) + __builtin_amdgcn_readlane(v, n);
    q[i + 1] = __builtin_amdgcn_readlane(q[i + 3], __builtin_amdgcn_readfirstlane(q[i]));
    s[i] = (float)v;
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
    __builtin_amdgcn_s_barrier();
    for (unsigned o = 128; o; o >>= 1) {
        if (i < o) s[i] += s[i + o];
        __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
        __builtin_amdgcn_s_barrier();
    }
    p[i] = s[0] / p[i + 1];
    q[i + 2] = __atomic_fetch_add(&q[n], v, __ATOMIC_RELAXED);
}
KERNEL divisions(float *p, double *q, int *a, long long *b, unsigned char *c, _Float16 *h)
{
    const unsigned i = item();
    p[i] = p[i] / p[i + 1];
    q[i] = q[i] / q[i + 1];
    a[i] = a[i] / a[i + 1] + a[i] % a[i + 2];
    b[i] = b[i] / b[i + 1] - b[i] % b[i + 2];
    c[i] = (unsigned char)(c[i] / c[i + 1]);
    h[i] = h[i] / h[i + 1] + (_Float16)p[i] * (_Float16)q[i];
}
KERNEL spills(const float *p, float *r, int n)
{
    float a[160];
    const unsigned i = item();
#pragma unroll
    for (int k = 0; k < 160; k++) a[k] = p[i * 160 + (unsigned)k];
    for (int j = 0; j < n; j++) {
#pragma unroll
        for (int k = 0; k < 160; k++) a[k] = a[k] * a[k * 7 % 160] + p[j + k];
    }
    u4 *to = (u4 *)(r + i * 160);
#pragma unroll
    for (int k = 0; k < 160; k += 4) {
        const float4 v = {a[k], a[k + 1], a[k + 2], a[k + 3]};
        to[k / 4] = __builtin_bit_cast(u4, v);
    }
}
struct record {
    double x[5];
    int k;
};
KERNEL records(record *p, const record *q, int n)
{
    const unsigned i = item();
    record b = q[i];
    for (int k = 0; k < n; k++) {
        b.x[k % 5] += q[k].x[(k + 1) % 5] * b.k;
        b.k ^= q[i + (unsigned)k].k;
    }
    p[i] = b;
}
