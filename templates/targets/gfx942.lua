-- SPDX-License-Identifier: MIT
-- AMD CDNA 3: Instinct MI300X.
return target {
  name = "gfx942", vendor = "amd",
  wave = 64, lds = 65536, static_lds = 65536, max_threads = 1024, vgprs = 512, units = 304,
  tflops = { f32 = 163.4, f16 = 1307, bf16 = 1307, i8 = 2615, i32 = 163.4,
             f8e4m3 = 163.4, f8e5m2 = 163.4, f8e4m3fnuz = 2615, f8e5m2fnuz = 2615 },
  simt_tflops = 163.4, simt_i8_tops = 327,
  gbps = 5300,
  launch_us = 5,
  source = "hip", ext = ".hip", arch = "gfx942",
}
