-- SPDX-License-Identifier: MIT
-- A GPU for tests of the generator: its sources are read, not compiled.
return target {
  name = "toygpu", vendor = "amd",
  wave = 64, lds = 65536, max_threads = 1024, vgprs = 512, units = 100,
  tflops = { f32 = 100, f16 = 1000, bf16 = 1000, i8 = 2000 }, simt_tflops = 100, gbps = 5000, launch_us = 4,
  mma = { f16 = { 32, 32, 8 } },
  source = "hip", ext = ".hip", arch = "toy1",
}
