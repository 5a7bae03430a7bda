-- SPDX-License-Identifier: MIT
-- AMD RDNA 3: Radeon RX 7900 XTX.
return target {
  name = "gfx1100", vendor = "amd",
  wave = 32, lds = 65536, static_lds = 65536, max_threads = 1024, vgprs = 256, units = 96,
  tflops = { f32 = 61.4, f16 = 122.8, bf16 = 122.8, i8 = 122.8, i32 = 30.7,
             f8e4m3 = 61.4, f8e5m2 = 61.4, f8e4m3fnuz = 61.4, f8e5m2fnuz = 61.4 },
  simt_tflops = 61.4, simt_i8_tops = 122.8,
  gbps = 960,
  launch_us = 5,
  source = "hip", ext = ".hip", arch = "gfx1100",
  clang = 19,  -- the oldest major version whose kernels are tested
}
