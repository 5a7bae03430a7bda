-- SPDX-License-Identifier: MIT
-- What hopper.sh plants faults of simt_decode in.
gemm "emul_fault_few" {
  types    = { { a = bf16, b = bf16, e = f32 } },
  layouts  = { "rcr", "rrr" },
  targets  = { "sm_90a" },
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { simt_decode { m = 4, n = 4, threads = 256 },
                          simt { m = 32, n = 32, k = 32, tm = 2, tn = 2, split_k = 1 } } },
}
