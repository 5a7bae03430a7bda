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

gemm "emul_fault_late" {
  types    = { { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  d        = { residual = full "e", w = per_row(f32) },
  outputs  = { sums = per_row(f32), columns = per_col(f32) },
  epilogue = function(acc, d)
    local y = acc + d.residual
    return { e = y, sums = row_sum(y * y) * d.w, columns = col_sum(y + 3) }
  end,
  tiles    = { sm_90a = { wgmma { m = 64, n = 64, wg = 1, depth = 4, cluster = 2, swap = { 0, 1 } },
                          simt { m = 32, n = 64, k = 16, tm = 2, tn = 4, split_k = 1 } } },
}
gemm "emul_fault_across" {
  types    = { { a = bf16, b = bf16, e = f8e4m3 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  outputs  = { scale = per_block("e", f32, 1, 128) },
  epilogue = function(acc)
    local scale = max(block_max(abs(acc), 128), 1e-10) / 448
    return { e = acc / scale, scale = scale }
  end,
  tiles    = { sm_90a = { wgmma { m = 64, n = 128, depth = 3, cluster = 1, swap = 1, e_depth = 1 },
                          simt { m = 64, n = 128, k = 16, tm = 4, tn = 8, split_k = 1 } } },
}
gemm "emul_fault_few_outputs" {
  types    = { { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  d        = { bias = per_col(f32) },
  outputs  = { sums = per_row(f32), scale = per_block("e", f32, 1, 64) },
  epilogue = function(acc, d)
    local y = acc + d.bias
    local scale = max(block_max(abs(y), 64), 1e-10)
    return { e = y / scale, scale = scale, sums = row_sum(abs(y)) }
  end,
  tiles    = { sm_90a = { wgmma_decode { m = 16, n = 64, wg = 1, blocks = 2, split_k = { 1, 3 } },
                          simt { m = 32, n = 64, k = 16, tm = 2, tn = 4, split_k = 1 } } },
}
