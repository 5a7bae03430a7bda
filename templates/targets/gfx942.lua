-- SPDX-License-Identifier: MIT
-- AMD CDNA 3: Instinct MI300X.
return target {
  name = "gfx942", vendor = "amd",
  wave = 64, lds = 65536, static_lds = 65536, max_threads = 1024, vgprs = 512, units = 304,
  tflops = { f32 = 163.4, f16 = 1307, bf16 = 1307, i8 = 2615, i32 = 163.4,
             f8e4m3 = 163.4, f8e5m2 = 163.4, f8e4m3fnuz = 2615, f8e5m2fnuz = 2615 },
  simt_tflops = 163.4, simt_i8_tops = 327,
  gbps = 5300,
  again = 0.3, -- 17200 GB/s of the last-level cache, whose 256 MB hold what all units have in work
  launch_us = 5,
  xcds = 8,  -- dies that consecutive blocks go to in turn
  -- Matrix instructions by the multiplied types: builtins by tile, what a lane gives of each operand (32-bit words).
  mma = {
    ["f16 f16"] = { [32] = "mfma_f32_32x32x8f16", [16] = "mfma_f32_16x16x16f16", operand = "kiln_half4", words = 2 },
    ["bf16 bf16"] = { [32] = "mfma_f32_32x32x8bf16_1k", [16] = "mfma_f32_16x16x16bf16_1k",
      operand = "kiln_short4", words = 2 },
    ["f32 f32"] = { [32] = "mfma_f32_32x32x2f32", [16] = "mfma_f32_16x16x4f32", operand = "float", words = 1 },
    ["xf32 xf32"] = { [32] = "mfma_f32_32x32x4_xf32", [16] = "mfma_f32_16x16x8_xf32",
      operand = "kiln_float2", words = 2 },
    ["i8 i8"] = { [32] = "mfma_i32_32x32x16_i8", [16] = "mfma_i32_16x16x32_i8", operand = "long", words = 2 },
    ["f8e4m3fnuz f8e4m3fnuz"] = { [32] = "mfma_f32_32x32x16_fp8_fp8", [16] = "mfma_f32_16x16x32_fp8_fp8",
      operand = "long", words = 2 },
    ["f8e4m3fnuz f8e5m2fnuz"] = { [32] = "mfma_f32_32x32x16_fp8_bf8", [16] = "mfma_f32_16x16x32_fp8_bf8",
      operand = "long", words = 2 },
    ["f8e5m2fnuz f8e4m3fnuz"] = { [32] = "mfma_f32_32x32x16_bf8_fp8", [16] = "mfma_f32_16x16x32_bf8_fp8",
      operand = "long", words = 2 },
    ["f8e5m2fnuz f8e5m2fnuz"] = { [32] = "mfma_f32_32x32x16_bf8_bf8", [16] = "mfma_f32_16x16x32_bf8_bf8",
      operand = "long", words = 2 },
  },
  source = "hip", ext = ".hip", arch = "gfx942",
  clang = 19,  -- the oldest major version whose kernels are tested
}
