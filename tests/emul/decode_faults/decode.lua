-- SPDX-License-Identifier: MIT
-- What hopper.sh plants faults of wgmma_decode in.
gemm "emul_fault_decode" {
  types    = { { a = bf16, b = bf16, e = f32 } },
  layouts  = { "rrr" },
  targets  = { "sm_90a" },
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma_decode { m = { 16, 64 }, n = { 64, 128 }, across = { 0, 1 } } },
               where = function(t) return (t.n == 128) == (t.across == 1) and (t.m == 64) == (t.across == 1) end },
}
