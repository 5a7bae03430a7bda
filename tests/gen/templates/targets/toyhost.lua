-- SPDX-License-Identifier: MIT
-- A host for tests of the generator.
return target {
  name = "toyhost", vendor = "host",
  wave = 1, lds = 0, max_threads = 1, vgprs = 16, units = 1,
  tflops = { f32 = 0.05 }, simt_tflops = 0.05, gbps = 10, launch_us = 1,
  source = "c", ext = ".c", arch = "host",
}
