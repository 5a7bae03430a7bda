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

gemm "emul_fault_groups_blocks" {
  types    = { { a = f8e4m3, b = f8e4m3, e = bf16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  groups   = true,
  gather   = true,
  d        = { of_a = per_block("a", f32, 1, 128), of_b = per_block("b", f32, 64, 128) },
  block    = function(acc, d) return acc * d.of_a * d.of_b end,
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma { m = 64, n = 64, wg = 1, depth = 3, cluster = 1, e_depth = 1, collect = 1 },
                          simt(any) } },
}

gemm "emul_fault_groups_half" {
  types    = { { a = bf16, b = u4, e = bf16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  groups   = true,
  d        = { scale = per_block("b", "a", 1, 64) },
  b_op     = function(w, d) return w * d.scale end,
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma { m = 16, n = 64, wg = 1, depth = 3, cluster = 1, e_depth = 1 },
                          simt { m = 32, n = 64, k = 32, tm = 4, tn = 4, split_k = 1 } } },
}
