-- SPDX-License-Identifier: MIT
-- What hopper.sh plants faults in.
gemm "emul_fault" {
  types    = { { a = bf16, b = bf16, e = f32 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma { m = 128, n = 64, depth = 3, cluster = 2, e_depth = 1 } } },
}

gemm "emul_fault_op" {
  types    = { { a = bf16, b = bf16, e = f32 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  a_op     = function(a) return 1 / a end,
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma { m = 128, n = 64, depth = 3, cluster = 2, e_depth = 1 } } },
}

-- Whose sums have few bits: bounds must be narrow enough for 128 products of 4096.
gemm "emul_fault_f8" {
  types    = { { a = f8e4m3, b = f8e4m3, e = f32 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma { m = 128, n = 64, depth = 3, cluster = { 1, 2 }, e_depth = 1, promote = { 0, 1, 4 } } } },
}
