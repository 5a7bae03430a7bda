-- SPDX-License-Identifier: MIT
-- AMD RDNA 4: Radeon RX 9070 XT.
return target {
  name = "gfx1201", vendor = "amd",
  wave = 32, lds = 65536, static_lds = 65536, max_threads = 1024, vgprs = 256, units = 64,
  tflops = { f32 = 48.7, f16 = 194.6, bf16 = 194.6, i8 = 389, i32 = 24.3,
             f8e4m3 = 389, f8e5m2 = 389, f8e4m3fnuz = 48.7, f8e5m2fnuz = 48.7 },
  simt_tflops = 48.7, simt_i8_tops = 97.3,
  gbps = 640,
  launch_us = 5,
  source = "hip", ext = ".hip", arch = "gfx1201",
  clang = 19,  -- the oldest major version whose kernels are tested
}
