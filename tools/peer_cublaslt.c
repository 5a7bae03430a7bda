// SPDX-License-Identifier: MIT
// cuBLASLt's names and numbers (interface of CUDA 12 and 13).
#include "peer_blaslt.h"
#include <dlfcn.h>

static const kt_dialect cublaslt = {
    .name = "cublaslt",
    .prefix = "cublasLt",
    .soname = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"},
    .trans_none = 0,
    .trans = 1,
    .compute_f32 = 68,
    .compute_i32 = 72,
    .type = {[KILN_DTYPE_NONE] = NO_TYPE,
             [KILN_F32] = 0,
             [KILN_F16] = 2,
             [KILN_BF16] = 14,
             [KILN_I8] = 3,
             [KILN_I32] = 10,
             [KILN_F8E4M3] = 28,
             [KILN_F8E5M2] = 29,
             [KILN_F8E4M3FNUZ] = NO_TYPE,
             [KILN_F8E5M2FNUZ] = NO_TYPE,
             [KILN_I4] = NO_TYPE,
             [KILN_U4] = NO_TYPE,
             [KILN_U8] = NO_TYPE},
    .desc_trans_a = 3,
    .desc_trans_b = 4,
    .desc_epilogue = 7,
    .desc_bias = 8,
    .desc_bias_type = 26,
    .desc_a_scale = 17,
    .desc_b_scale = 18,
    .desc_a_mode = 31,
    .desc_b_mode = 32,
    .mode_outer = 3,
    .desc_fast = 25,
    .layout_batch = 5,
    .layout_stride = 6,
    .pref_workspace = 1,
    .pref_align_a = 5,
    .result_size = 96,
    .result_workspace = 64,
    .result_state = 72,
};

enum { POINTER_CONTEXT = 1 }; /* CU_POINTER_ATTRIBUTE_CONTEXT */

/* cuBLASLt works in the thread's current context; libkiln leaves none behind.  Take that of the
 * inputs. */
static void enter_context(const kh_sets *sets)
{
    int (*attribute)(void *, int, uint64_t), (*make_current)(void *);
    void *context = NULL, *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!driver) return; /* then cuBLASLt says itself what is missing */
    *(void **)(&attribute) = dlsym(driver, "cuPointerGetAttribute");
    *(void **)(&make_current) = dlsym(driver, "cuCtxSetCurrent");
    if (attribute && make_current &&
        !attribute(&context, POINTER_CONTEXT, (uint64_t)(uintptr_t)kh_sets_args(sets, 0)->e))
        make_current(context);
}

int kt_cublaslt(kh_sets *sets, const kt_peer_options *o, kt_entry *entry, char *why, size_t size)
{
    enter_context(sets);
    return kt_path_open(&cublaslt, sets, o, entry, why, size);
}
