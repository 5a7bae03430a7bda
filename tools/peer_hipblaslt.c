// SPDX-License-Identifier: MIT
// hipBLASLt's names and numbers (interface of ROCm 6 and 7).
#include "peer_blaslt.h"

static const kt_dialect hipblaslt = {
    .name = "hipblaslt",
    .prefix = "hipblasLt",
    .soname = {"libhipblaslt.so.1", "libhipblaslt.so.0", "libhipblaslt.so"},
    .trans_none = 111,
    .trans = 112,
    .compute_f32 = 2,
    .compute_i32 = 9,
    .type = {[KILN_DTYPE_NONE] = NO_TYPE,
             [KILN_F32] = 0,
             [KILN_F16] = 2,
             [KILN_BF16] = 14,
             [KILN_I8] = 3,
             [KILN_I32] = 10,
             [KILN_F8E4M3] = 28,
             [KILN_F8E5M2] = 29,
             [KILN_F8E4M3FNUZ] = 1000,
             [KILN_F8E5M2FNUZ] = 1001,
             [KILN_I4] = NO_TYPE,
             [KILN_U4] = NO_TYPE,
             [KILN_U8] = NO_TYPE},
    .desc_trans_a = 0,
    .desc_trans_b = 1,
    .desc_epilogue = 2,
    .desc_bias = 3,
    .desc_bias_type = 4,
    .desc_a_scale = NO_ATTRIBUTE,
    .desc_fast = NO_ATTRIBUTE,
    .layout_batch = 0,
    .layout_stride = 1,
    .pref_workspace = 1,
    .pref_align_a = NO_ATTRIBUTE,
    .result_size = 56,
    .result_workspace = 24,
    .result_state = 32,
};

int kt_hipblaslt(kh_sets *sets, const kt_peer_options *o, kt_entry *entry, char *why, size_t size)
{
    return kt_path_open(&hipblaslt, sets, o, entry, why, size);
}
