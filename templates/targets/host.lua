-- SPDX-License-Identifier: MIT
-- The machine that runs the process.  Rates are of one thread of a plain server core, for costs where
-- the machine's own are not known (`gflops`, `gops`: docs/schedules.md).
return target {
  name = "host", vendor = "host",
  wave = 1, max_threads = 1, vgprs = 32, units = 1,
  lds = 1048576, -- a core's second-level cache
  tflops = { f32 = 0.05, f16 = 0.05, bf16 = 0.05, i32 = 0.02, i8 = 0.15,
             f8e4m3 = 0.05, f8e5m2 = 0.05, f8e4m3fnuz = 0.05, f8e5m2fnuz = 0.05 },
  simt_tflops = 0.05,
  gbps = 17,
  launch_us = 1,
  source = "c", ext = ".c", arch = "host",
}
