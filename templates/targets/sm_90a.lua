-- SPDX-License-Identifier: MIT
-- NVIDIA Hopper: H200 (SXM), through HIP's NVIDIA platform.  lds is the most that one block can have, static_lds what
-- it can have without asking the driver at load time.
return target {
  name = "sm_90a", vendor = "nvidia",
  wave = 32, lds = 232448, static_lds = 49152, max_threads = 1024, vgprs = 255, units = 132,
  cluster = 8, -- blocks of one, at most
  tflops = { f32 = 67, f16 = 989, bf16 = 989, i8 = 1979, u8 = 1979, i32 = 33.5,
             f8e4m3 = 1979, f8e5m2 = 1979, f8e4m3fnuz = 67, f8e5m2fnuz = 67 },
  simt_tflops = 67, simt_i8_tops = 134,
  -- wgmma by the types of its two operands: what follows its shape in the instruction's name; K of one is 32 bytes.
  wgmma = {
    ["f16 f16"] = "f32.f16.f16", ["bf16 bf16"] = "f32.bf16.bf16", ["i8 i8"] = "s32.s8.s8",
    ["u8 u8"] = "s32.u8.u8", ["u8 i8"] = "s32.u8.s8", ["i8 u8"] = "s32.s8.u8",
    ["tf32 tf32"] = "f32.tf32.tf32",
    ["f8e4m3 f8e4m3"] = "f32.e4m3.e4m3", ["f8e4m3 f8e5m2"] = "f32.e4m3.e5m2",
    ["f8e5m2 f8e4m3"] = "f32.e5m2.e4m3", ["f8e5m2 f8e5m2"] = "f32.e5m2.e5m2",
  },
  gbps = 4916, -- where the driver does not say: of an H200's memory clock and width
  launch_us = 3,
  source = "hip", ext = ".cpp", arch = "sm_90a",
}
