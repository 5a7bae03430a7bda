-- SPDX-License-Identifier: MIT
-- Sums of few bits, for a fault of hopper.sh: bounds must be narrow enough for 128 products of 4096.
gemm "emul_fault_f8" {
  types    = { { a = f8e4m3, b = f8e4m3, e = f32 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma { m = 128, n = 64, depth = 3, cluster = 2, e_depth = 1, promote = { 0, 4 } },
                          simt { m = 32, n = 32, k = 32, tm = 2, tn = 2, split_k = 1 } } },
}
