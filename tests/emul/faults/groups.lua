-- SPDX-License-Identifier: MIT
-- What hopper.sh plants faults of groups of rows in: strips of which some are cut, rows of A by numbers; whole rows.
local any = { m = 32, n = 32, k = 32, tm = 2, tn = 2, split_k = 1 }

gemm "emul_fault_groups" {
  types    = { { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  groups   = true,
  gather   = true,
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma { m = 128, n = 64, wg = 1, depth = 4, cluster = 1, swap = 1 }, simt(any) } },
}

gemm "emul_fault_groups_rows" {
  types    = { { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  groups   = true,
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma { m = 64, n = 64, wg = 1, depth = 3, cluster = 2, e_depth = 0 }, simt(any) } },
}
