-- SPDX-License-Identifier: MIT
-- AMD CDNA 2: one die (GCD) of an Instinct MI250X, which is one device to HIP.
return target {
  name = "gfx90a", vendor = "amd",
  wave = 64, lds = 65536, static_lds = 65536, max_threads = 1024, vgprs = 512, units = 110,
  tflops = { f32 = 47.9, f16 = 191.5, bf16 = 191.5, i8 = 191.5, i32 = 23.9,
             f8e4m3 = 23.9, f8e5m2 = 23.9, f8e4m3fnuz = 23.9, f8e5m2fnuz = 23.9 },
  simt_tflops = 23.9, simt_i8_tops = 95.7,
  gbps = 1638,
  again = 1, -- the last-level cache has 8 MB, less than rows that all units have in work
  launch_us = 5,
  xcds = 1,  -- dies that consecutive blocks go to in turn
  -- Matrix instructions by the multiplied types: builtins by tile, what a lane gives of each operand (32-bit words).
  mma = {
    ["f16 f16"] = { [32] = "mfma_f32_32x32x8f16", [16] = "mfma_f32_16x16x16f16", operand = "kiln_half4", words = 2 },
    ["bf16 bf16"] = { [32] = "mfma_f32_32x32x8bf16_1k", [16] = "mfma_f32_16x16x16bf16_1k",
      operand = "kiln_short4", words = 2 },
    ["f32 f32"] = { [32] = "mfma_f32_32x32x2f32", [16] = "mfma_f32_16x16x4f32", operand = "float", words = 1 },
    ["i8 i8"] = { [32] = "mfma_i32_32x32x8i8", [16] = "mfma_i32_16x16x16i8", operand = "int", words = 1 },
  },
  source = "hip", ext = ".hip", arch = "gfx90a",
  clang = 19,  -- the oldest major version whose kernels are tested
}
