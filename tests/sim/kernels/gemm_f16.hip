// SPDX-License-Identifier: MIT
// C = A * B', f16 to f32, M, N multiples of 128 and K of 32: 128x128 tiles by four waves of 64x64, two LDS buffers of
// 32 along K, 32x32x8 MFMA.  LDS holds planes of eight k: a lane's ds_read_b128 is its part of two MFMAs.  A and B are
// permuted along K in the same way, which their product does not see.
#define GLOBAL extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(256, 256)))
typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef _Float16 half8 __attribute__((ext_vector_type(8)));
typedef float float16 __attribute__((ext_vector_type(16)));
enum { TILE = 128, STEP = 32, PLANES = STEP / 8 };

struct tiles {
    half8 a[PLANES][TILE], b[PLANES][TILE];
};

/* What a lane brings of each matrix: two rows' 16 bytes. */
struct piece {
    half8 a[2], b[2];
};
__attribute__((device)) static piece fetch(const half8 *a, const half8 *b, unsigned row8)
{
    piece p;
    for (int i = 0; i < 2; i++) {
        p.a[i] = a[i * 64 * row8];
        p.b[i] = b[i * 64 * row8];
    }
    return p;
}
__attribute__((device)) static void keep(tiles &t, const piece &p, unsigned plane, unsigned row)
{
    for (int i = 0; i < 2; i++) {
        t.a[plane][row + 64 * i] = p.a[i];
        t.b[plane][row + 64 * i] = p.b[i];
    }
}
__attribute__((device)) static void multiply(const tiles &t, float16 (&sum)[2][2], unsigned lane, unsigned wm,
                                             unsigned wn)
{
#pragma unroll
    for (unsigned p = 0; p < PLANES; p += 2) {
        half8 a[2], b[2];
        for (unsigned i = 0; i < 2; i++) {
            a[i] = t.a[p + lane / 32][wm + 32 * i + lane % 32];
            b[i] = t.b[p + lane / 32][wn + 32 * i + lane % 32];
        }
#pragma unroll
        for (unsigned m = 0; m < 2; m++)
#pragma unroll
            for (unsigned n = 0; n < 2; n++) {
                sum[m][n] = __builtin_amdgcn_mfma_f32_32x32x8f16(a[m].lo, b[n].lo, sum[m][n], 0, 0, 0);
                sum[m][n] = __builtin_amdgcn_mfma_f32_32x32x8f16(a[m].hi, b[n].hi, sum[m][n], 0, 0, 0);
            }
    }
}

GLOBAL void gemm_f16(const half8 *a, const half8 *b, float *c, unsigned n, unsigned k)
{
    __attribute__((shared)) static tiles t[2];
    const unsigned thread = __builtin_amdgcn_workitem_id_x(), lane = thread % 64;
    const unsigned wave = __builtin_amdgcn_readfirstlane(thread / 64), wm = wave / 2 * 64, wn = wave % 2 * 64;
    const unsigned bm = __builtin_amdgcn_workgroup_id_y() * TILE, bn = __builtin_amdgcn_workgroup_id_x() * TILE;
    const unsigned plane = thread % 4, row = thread / 4, row8 = k / 8;
    float16 sum[2][2] = {};
    a += (bm + row) * row8 + plane;
    b += (bn + row) * row8 + plane;
    keep(t[0], fetch(a, b, row8), plane, row);
    for (unsigned s = 1; s <= k / STEP; s++) {
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
        __builtin_amdgcn_s_barrier();
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
        const bool more = s < k / STEP;
        piece next;
        if (more) next = fetch(a + s * PLANES, b + s * PLANES, row8);
        multiply(t[(s - 1) % 2], sum, lane, wm, wn);
        if (more) keep(t[s % 2], next, plane, row);
    }
    for (unsigned m = 0; m < 2; m++)
        for (unsigned j = 0; j < 2; j++)
            for (unsigned e = 0; e < 16; e++) {
                const unsigned i = bm + wm + 32 * m + e / 4 * 8 + lane / 32 * 4 + e % 4;
                c[i * n + bn + wn + 32 * j + lane % 32] = sum[m][j][e];
            }
}
