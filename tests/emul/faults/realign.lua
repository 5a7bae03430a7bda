-- SPDX-License-Identifier: MIT
-- What hopper.sh plants faults of the copies to where tensor maps begin in.
gemm "emul_fault_realign" {
  types    = { { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma { m = 64, n = 64, wg = 1, depth = 2, cluster = 1, e_depth = 1 },
                          simt { m = 32, n = 32, k = 32, tm = 2, tn = 2, split_k = 1 } } },
}
