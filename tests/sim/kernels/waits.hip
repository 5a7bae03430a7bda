// SPDX-License-Identifier: MIT
// One s_waitcnt or s_nop too weak a kernel (NAME_bad), and the same with what is needed
// (NAME_good), in assembler, where compilers neither add nor move anything.  Buffers and number as
// tests/sim/kernels/memory_driver.c gives them.
typedef unsigned char u8;
typedef unsigned int u32;
#define KERNEL extern "C" __attribute__((global, amdgpu_flat_work_group_size(256, 256))) void
#define ARGS   u8 *out, u8 *in, u32 n

/* %0 in, %1 out (scalar), %2 the work-item's byte offset, %3 its address in out, %4 its LDS
   address: in the first registers of each kind; the texts use v20 to v63, a0 to a31 and s40 to s43,
   of which the last are named. */
#define RUN(text)                                                                                  \
    __attribute__((shared)) static u32 lds[512];                                                   \
    const u32 item = __builtin_amdgcn_workitem_id_x() * 4;                                         \
    asm volatile(text ::"s"(in), "s"(out), "v"(item), "v"(out + item % 1024),                      \
                 "v"((u32)(unsigned long)&lds[item / 4])                                           \
                 : "memory", "vcc", "s43", "v63", "a31")
#define CASE(name, before, good, bad, after)                                                       \
    KERNEL name##_good(ARGS)                                                                       \
    {                                                                                              \
        RUN(before "\n" good "\n" after);                                                          \
    }                                                                                              \
    KERNEL name##_bad(ARGS)                                                                        \
    {                                                                                              \
        RUN(before "\n" bad "\n" after);                                                           \
    }

#ifdef __gfx942__
#define TWO(gfx90a, gfx942) gfx942
#define RETURNS             "sc0"
#else
#define TWO(gfx90a, gfx942) gfx90a
#define RETURNS             "glc"
#endif

/* ---- s_waitcnt ---- */
CASE(vmcnt, "global_load_dword v20, %2, %0\n global_load_dword v21, %2, %0 offset:4",
     "s_waitcnt vmcnt(1)", "s_waitcnt vmcnt(2)",
     "v_add_u32 v22, v20, v20\n v_mov_b32 v23, v20\n s_waitcnt vmcnt(0)\n v_mov_b32 v24, v21")
CASE(lgkmcnt, "ds_read_b32 v20, %4\n ds_read_b32 v21, %4 offset:4", "s_waitcnt lgkmcnt(1)",
     "s_waitcnt lgkmcnt(2)", "v_mov_b32 v22, v20\n s_waitcnt lgkmcnt(0)\n v_mov_b32 v24, v21")
CASE(scalar, "s_load_dword s40, %0, 0x0\n s_load_dword s41, %0, 0x4", "s_waitcnt lgkmcnt(0)",
     "s_waitcnt lgkmcnt(1)", "s_add_u32 s42, s40, s41")
CASE(flat, "flat_load_dword v20, %3", "s_waitcnt vmcnt(0) lgkmcnt(0)", "s_waitcnt vmcnt(0)",
     "v_mov_b32 v21, v20")
CASE(atomic, "v_mov_b32 v21, 1\n global_atomic_add v20, %2, v21, %1 " RETURNS, "s_waitcnt vmcnt(0)",
     "s_nop 0", "v_mov_b32 v22, v20")
CASE(stored, "global_load_dword v20, %2, %0", "s_waitcnt vmcnt(0)", "s_waitcnt lgkmcnt(0)",
     "ds_write_b32 %4, v20")
CASE(overwritten, "global_load_dword v20, %2, %0", "s_waitcnt vmcnt(0)", "s_nop 0",
     "v_mov_b32 v20, 0")
CASE(accumulator, "global_load_dword a0, %2, %0", "s_waitcnt vmcnt(0)", "s_nop 0",
     "v_accvgpr_read_b32 v20, a0")

/* ---- Wait states ---- */
CASE(scalar_address,
     "s_mov_b64 s[40:41], %0\n v_mov_b32 v20, s40\n s_nop 1\n v_readfirstlane_b32 s40, v20",
     "s_nop 4", "s_nop 3", "global_load_dword v21, %2, s[40:41]")
CASE(div_fmas, "v_cmp_eq_u32 vcc, v20, v21", "s_nop 3", "s_nop 2",
     "v_div_fmas_f32 v22, v23, v24, v25")
CASE(lane_select, "v_readfirstlane_b32 s40, v20", "s_nop 3", "s_nop 2",
     "v_readlane_b32 s41, v21, s40")
CASE(dpp, "v_mov_b32 v20, 1", "s_nop 1", "s_nop 0",
     "v_add_u32_dpp v21, v20, v22 row_shr:1 row_mask:0xf bank_mask:0xf")
CASE(exec_dpp, "v_cmpx_eq_u32 vcc, v20, v20", "s_nop 4", "s_nop 3",
     "v_add_u32_dpp v21, v22, v23 row_shr:1 row_mask:0xf bank_mask:0xf")
CASE(store_data, "global_store_dwordx4 %3, v[20:23], off", TWO("s_nop 0", "s_nop 1"),
     TWO("", "s_nop 0"), "v_mov_b32 v22, 0")
CASE(m0, "s_mov_b32 m0, 0", "s_nop 0", "", "s_movrels_b32 s40, s41")
CASE(mode, "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0", "s_nop 1", "s_nop 0",
     "s_getreg_b32 s40, hwreg(HW_REG_MODE)")
#define BIG   TWO("v_mfma_f32_32x32x8f16", "v_mfma_f32_32x32x8_f16")
#define SMALL TWO("v_mfma_f32_16x16x16f16", "v_mfma_f32_16x16x16_f16")
#define F64   TWO("v_mfma_f64_16x16x4f64", "v_mfma_f64_16x16x4_f64")
CASE(matrix_read, BIG " v[32:47], v[20:21], v[22:23], 0", TWO("s_nop 15\n s_nop 2", "s_nop 10"),
     TWO("s_nop 15\n s_nop 1", "s_nop 9"), "v_mov_b32 v24, v47\n v_mov_b32 v25, v46")
CASE(matrix_stored, BIG " a[0:15], v[20:21], v[22:23], 0", TWO("s_nop 15\n s_nop 2", "s_nop 10"),
     TWO("s_nop 15\n s_nop 1", "s_nop 9"), "ds_write_b32 %4, a3")
CASE(matrix_part, BIG " v[32:47], v[20:21], v[22:23], 0", TWO("s_nop 15", "s_nop 8"),
     TWO("s_nop 14", "s_nop 7"), SMALL " v[36:39], v[20:21], v[22:23], v[36:39]")
CASE(matrix_input, BIG " v[32:47], v[20:21], v[22:23], 0", TWO("s_nop 15\n s_nop 2", "s_nop 10"),
     TWO("s_nop 15\n s_nop 1", "s_nop 9"), SMALL " a[0:3], v[46:47], v[22:23], 0")
CASE(matrix_addend, BIG " v[32:47], v[20:21], v[22:23], v[48:63]", TWO("s_nop 14", "s_nop 6"),
     TWO("s_nop 13", "s_nop 5"), "v_mov_b32 v50, 0")
CASE(into_matrix, "v_mov_b32 v21, 0", "s_nop 1", "s_nop 0",
     SMALL " a[0:3], v[20:21], v[22:23], a[0:3]")
CASE(matrix_f64, F64 " v[32:39], v[20:21], v[22:23], 0", "s_nop 15\n s_nop 1", "s_nop 15\n s_nop 0",
     "ds_write_b32 %4, v39")
#ifdef __gfx942__
CASE(transcendental, "v_exp_f32 v20, v21", "s_nop 0", "", "v_add_f32 v22, v20, v20")
CASE(moved, "v_mad_i16 v20, v21, v22, v23 op_sel:[0,0,0,1]", "s_nop 0", "", "v_mov_b32 v24, v20")
CASE(scalar_constant, "v_readfirstlane_b32 s40, v20", "s_nop 1", "s_nop 0",
     "v_add_u32 v21, s40, v22")
#endif

/* What needs nothing. */
KERNEL sound(ARGS)
{
    RUN("global_load_dword v20, %2, %0\n global_load_dword v20, %2, %0 offset:4\n s_waitcnt "
        "vmcnt(0)\n v_mov_b32 v21, v20\n"
        "global_store_dword %2, v21, %1\n v_mov_b32 v21, 0\n s_mov_b32 s40, 0\n s_nop 0\n "
        "v_readlane_b32 s41, v22, s40\n"
        "v_cmp_eq_u32 vcc, v22, v23\n v_cndmask_b32 v24, v22, v23, vcc\n" BIG
        " a[0:15], v[26:27], v[28:29], 0\n" BIG " a[0:15], v[26:27], v[28:29], a[0:15]\n" BIG
        " a[0:15], v[26:27], v[28:29], a[0:15]");
}
