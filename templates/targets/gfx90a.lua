-- SPDX-License-Identifier: MIT
-- AMD CDNA 2: one die (GCD) of an Instinct MI250X, which is one device to HIP.
return target {
  name = "gfx90a", vendor = "amd",
  wave = 64, lds = 65536, static_lds = 65536, max_threads = 1024, vgprs = 512, units = 110,
  tflops = { f32 = 47.9, f16 = 191.5, bf16 = 191.5, i8 = 191.5, i32 = 23.9,
             f8e4m3 = 23.9, f8e5m2 = 23.9, f8e4m3fnuz = 23.9, f8e5m2fnuz = 23.9 },
  simt_tflops = 23.9, simt_i8_tops = 95.7,
  gbps = 1638,
  launch_us = 5,
  source = "hip", ext = ".hip", arch = "gfx90a",
}
