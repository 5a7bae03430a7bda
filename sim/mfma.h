// SPDX-License-Identifier: MIT
// Every matrix instruction of gfx90a and gfx942: one row each, from which the functions and the table of vec_mfma.c
// follow, the passes that check_wait.c waits for and the cycles that cost.c counts.  D = A * B + C of M x K and K x M
// matrices, `blocks` of them at once; SPARSE: A holds two of each four values along K (an index register says which).
// Shapes, types and cycles are those of AMD's matrix instruction calculator (CDNA2, CDNA3).
#ifndef KS_MFMA_H
#define KS_MFMA_H
#include "sim.h"

/* X(name, M = N, K, blocks, A, B, kind, cycles on gfx90a, on gfx942; 0: it has none of this name).
   LLVM up to 15 prints thirteen of gfx90a's names for gfx942 too.  Sorted by name.  ORDER MFMA */
#define KS_MFMA_FORMS(X) \
    X(v_mfma_f32_16x16x16_bf16, 16, 16, 1, BF16, BF16, DENSE, 0, 16) \
    X(v_mfma_f32_16x16x16_f16, 16, 16, 1, F16, F16, DENSE, 0, 16) \
    X(v_mfma_f32_16x16x16bf16_1k, 16, 16, 1, BF16, BF16, DENSE, 32, 0) \
    X(v_mfma_f32_16x16x16f16, 16, 16, 1, F16, F16, DENSE, 32, 16) \
    X(v_mfma_f32_16x16x1_4b_f32, 16, 1, 4, F32, F32, DENSE, 0, 32) \
    X(v_mfma_f32_16x16x1f32, 16, 1, 4, F32, F32, DENSE, 32, 32) \
    X(v_mfma_f32_16x16x2bf16, 16, 2, 4, BF16, BF16, DENSE, 32, 0) \
    X(v_mfma_f32_16x16x32_bf8_bf8, 16, 32, 1, BF8, BF8, DENSE, 0, 16) \
    X(v_mfma_f32_16x16x32_bf8_fp8, 16, 32, 1, BF8, FP8, DENSE, 0, 16) \
    X(v_mfma_f32_16x16x32_fp8_bf8, 16, 32, 1, FP8, BF8, DENSE, 0, 16) \
    X(v_mfma_f32_16x16x32_fp8_fp8, 16, 32, 1, FP8, FP8, DENSE, 0, 16) \
    X(v_mfma_f32_16x16x4_4b_bf16, 16, 4, 4, BF16, BF16, DENSE, 0, 32) \
    X(v_mfma_f32_16x16x4_4b_f16, 16, 4, 4, F16, F16, DENSE, 0, 32) \
    X(v_mfma_f32_16x16x4_f32, 16, 4, 1, F32, F32, DENSE, 0, 32) \
    X(v_mfma_f32_16x16x4bf16_1k, 16, 4, 4, BF16, BF16, DENSE, 32, 0) \
    X(v_mfma_f32_16x16x4f16, 16, 4, 4, F16, F16, DENSE, 32, 32) \
    X(v_mfma_f32_16x16x4f32, 16, 4, 1, F32, F32, DENSE, 32, 32) \
    X(v_mfma_f32_16x16x8_xf32, 16, 8, 1, XF32, XF32, DENSE, 0, 16) \
    X(v_mfma_f32_16x16x8bf16, 16, 8, 1, BF16, BF16, DENSE, 32, 0) \
    X(v_mfma_f32_32x32x16_bf8_bf8, 32, 16, 1, BF8, BF8, DENSE, 0, 32) \
    X(v_mfma_f32_32x32x16_bf8_fp8, 32, 16, 1, BF8, FP8, DENSE, 0, 32) \
    X(v_mfma_f32_32x32x16_fp8_bf8, 32, 16, 1, FP8, BF8, DENSE, 0, 32) \
    X(v_mfma_f32_32x32x16_fp8_fp8, 32, 16, 1, FP8, FP8, DENSE, 0, 32) \
    X(v_mfma_f32_32x32x1_2b_f32, 32, 1, 2, F32, F32, DENSE, 0, 64) \
    X(v_mfma_f32_32x32x1f32, 32, 1, 2, F32, F32, DENSE, 64, 64) \
    X(v_mfma_f32_32x32x2_f32, 32, 2, 1, F32, F32, DENSE, 0, 64) \
    X(v_mfma_f32_32x32x2bf16, 32, 2, 2, BF16, BF16, DENSE, 64, 0) \
    X(v_mfma_f32_32x32x2f32, 32, 2, 1, F32, F32, DENSE, 64, 64) \
    X(v_mfma_f32_32x32x4_2b_bf16, 32, 4, 2, BF16, BF16, DENSE, 0, 64) \
    X(v_mfma_f32_32x32x4_2b_f16, 32, 4, 2, F16, F16, DENSE, 0, 64) \
    X(v_mfma_f32_32x32x4_xf32, 32, 4, 1, XF32, XF32, DENSE, 0, 32) \
    X(v_mfma_f32_32x32x4bf16, 32, 4, 1, BF16, BF16, DENSE, 64, 0) \
    X(v_mfma_f32_32x32x4bf16_1k, 32, 4, 2, BF16, BF16, DENSE, 64, 0) \
    X(v_mfma_f32_32x32x4f16, 32, 4, 2, F16, F16, DENSE, 64, 64) \
    X(v_mfma_f32_32x32x8_bf16, 32, 8, 1, BF16, BF16, DENSE, 0, 32) \
    X(v_mfma_f32_32x32x8_f16, 32, 8, 1, F16, F16, DENSE, 0, 32) \
    X(v_mfma_f32_32x32x8bf16_1k, 32, 8, 1, BF16, BF16, DENSE, 64, 0) \
    X(v_mfma_f32_32x32x8f16, 32, 8, 1, F16, F16, DENSE, 64, 32) \
    X(v_mfma_f32_4x4x1_16b_f32, 4, 1, 16, F32, F32, DENSE, 0, 8) \
    X(v_mfma_f32_4x4x1f32, 4, 1, 16, F32, F32, DENSE, 8, 8) \
    X(v_mfma_f32_4x4x2bf16, 4, 2, 16, BF16, BF16, DENSE, 8, 0) \
    X(v_mfma_f32_4x4x4_16b_bf16, 4, 4, 16, BF16, BF16, DENSE, 0, 8) \
    X(v_mfma_f32_4x4x4_16b_f16, 4, 4, 16, F16, F16, DENSE, 0, 8) \
    X(v_mfma_f32_4x4x4bf16_1k, 4, 4, 16, BF16, BF16, DENSE, 8, 0) \
    X(v_mfma_f32_4x4x4f16, 4, 4, 16, F16, F16, DENSE, 8, 8) \
    X(v_mfma_f64_16x16x4_f64, 16, 4, 1, F64, F64, DENSE, 0, 32) \
    X(v_mfma_f64_16x16x4f64, 16, 4, 1, F64, F64, DENSE, 32, 0) \
    X(v_mfma_f64_4x4x4_4b_f64, 4, 4, 4, F64, F64, DENSE, 0, 16) \
    X(v_mfma_f64_4x4x4f64, 4, 4, 4, F64, F64, DENSE, 16, 0) \
    X(v_mfma_i32_16x16x16i8, 16, 16, 1, I8, I8, DENSE, 32, 0) \
    X(v_mfma_i32_16x16x32_i8, 16, 32, 1, I8, I8, DENSE, 0, 16) \
    X(v_mfma_i32_16x16x4_4b_i8, 16, 4, 4, I8, I8, DENSE, 0, 32) \
    X(v_mfma_i32_16x16x4i8, 16, 4, 4, I8, I8, DENSE, 32, 32) \
    X(v_mfma_i32_32x32x16_i8, 32, 16, 1, I8, I8, DENSE, 0, 32) \
    X(v_mfma_i32_32x32x4_2b_i8, 32, 4, 2, I8, I8, DENSE, 0, 64) \
    X(v_mfma_i32_32x32x4i8, 32, 4, 2, I8, I8, DENSE, 64, 64) \
    X(v_mfma_i32_32x32x8i8, 32, 8, 1, I8, I8, DENSE, 64, 0) \
    X(v_mfma_i32_4x4x4_16b_i8, 4, 4, 16, I8, I8, DENSE, 0, 8) \
    X(v_mfma_i32_4x4x4i8, 4, 4, 16, I8, I8, DENSE, 8, 8) \
    X(v_smfmac_f32_16x16x32_bf16, 16, 32, 1, BF16, BF16, SPARSE, 0, 16) \
    X(v_smfmac_f32_16x16x32_f16, 16, 32, 1, F16, F16, SPARSE, 0, 16) \
    X(v_smfmac_f32_16x16x64_bf8_bf8, 16, 64, 1, BF8, BF8, SPARSE, 0, 16) \
    X(v_smfmac_f32_16x16x64_bf8_fp8, 16, 64, 1, BF8, FP8, SPARSE, 0, 16) \
    X(v_smfmac_f32_16x16x64_fp8_bf8, 16, 64, 1, FP8, BF8, SPARSE, 0, 16) \
    X(v_smfmac_f32_16x16x64_fp8_fp8, 16, 64, 1, FP8, FP8, SPARSE, 0, 16) \
    X(v_smfmac_f32_32x32x16_bf16, 32, 16, 1, BF16, BF16, SPARSE, 0, 32) \
    X(v_smfmac_f32_32x32x16_f16, 32, 16, 1, F16, F16, SPARSE, 0, 32) \
    X(v_smfmac_f32_32x32x32_bf8_bf8, 32, 32, 1, BF8, BF8, SPARSE, 0, 32) \
    X(v_smfmac_f32_32x32x32_bf8_fp8, 32, 32, 1, BF8, FP8, SPARSE, 0, 32) \
    X(v_smfmac_f32_32x32x32_fp8_bf8, 32, 32, 1, FP8, BF8, SPARSE, 0, 32) \
    X(v_smfmac_f32_32x32x32_fp8_fp8, 32, 32, 1, FP8, FP8, SPARSE, 0, 32) \
    X(v_smfmac_i32_16x16x64_i8, 16, 64, 1, I8, I8, SPARSE, 0, 16) \
    X(v_smfmac_i32_32x32x32_i8, 32, 32, 1, I8, I8, SPARSE, 0, 32)

/* Types of A and B: bits, and the type of C and D and its bits. */
#define KS_MFMA_TYPES(X)                                                                              \
    X(F32, 32, F32, 32) X(XF32, 32, F32, 32) X(F16, 16, F32, 32) X(BF16, 16, F32, 32)                 \
    X(FP8, 8, F32, 32) X(BF8, 8, F32, 32) X(I8, 8, I32, 32) X(F64, 64, F64, 64)
typedef enum ks_mfma_type {
#define X(name, bits, sum, sum_bits) KS_MFMA_##name,
    KS_MFMA_TYPES(X)
#undef X
} ks_mfma_type;
enum {
#define X(name, bits, sum, sum_bits) \
    KS_MFMA_BITS_##name = bits, KS_MFMA_SUM_##name = KS_##sum, KS_MFMA_SUM_BITS_##name = sum_bits,
    KS_MFMA_TYPES(X)
#undef X
};
enum { KS_MFMA_DENSE, KS_MFMA_SPARSE };
enum {
#define X(name, m, k, blocks, a, b, kind, c90a, c942) KS_ROW_##name,
    KS_MFMA_FORMS(X)
#undef X
    KS_MFMA_COUNT
};

typedef struct ks_mfma_form {
    uint8_t m, k, blocks; /* N = M */
    uint8_t a, b;         /* ks_mfma_type */
    bool sparse;
    uint8_t cycles[KS_ARCH_COUNT]; /* of the matrix unit, by ks_arch; a pass has four */
} ks_mfma_form;
extern const ks_mfma_form ks_mfma_forms[KS_MFMA_COUNT];

/* The form of a matrix instruction (class KS_MFMA_OP). */
static inline const ks_mfma_form *ks_mfma_form_of(const ks_op *op)
{
    return &ks_mfma_forms[op->form];
}
/* NULL, or the modifier (cbsz, abid, blgp) that this form does not have on that target: what a GPU does then is
   written nowhere. */
const char *ks_mfma_bad_modifier(const ks_inst *, ks_arch);
#endif
