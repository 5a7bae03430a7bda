-- SPDX-License-Identifier: MIT
-- What hopper.sh plants faults of outputs beside E in.
gemm "emul_fault_outputs" {
  types    = { { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  d        = { bias = per_col(f32) },
  outputs  = { scale = per_block("e", f32, 1, 64) },
  epilogue = function(acc, d)
    local scale = max(block_max(abs(acc + d.bias + 4000), 64), 1e-10)
    return { e = acc / scale, scale = scale }
  end,
  tiles    = { sm_90a = { wgmma { m = 64, n = 64, wg = 1, depth = 3, cluster = 1, e_depth = 1 },
                          simt { m = 32, n = 64, k = 16, tm = 2, tn = 4, split_k = 1 } } },
}
