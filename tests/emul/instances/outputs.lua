-- SPDX-License-Identifier: MIT
-- Kernels of `wgmma` with outputs beside E, for their emulation: of elements, of blocks of 2 to 64 columns, every way out,
-- with groups and sums over blocks of K.
local any = { m = 32, n = 64, k = 16, tm = 2, tn = 4, split_k = 1 }
local bytes = { m = 64, n = 64, k = 64, tm = 4, tn = 4, split_k = 1 }
gemm "emul_outputs" {
  types    = { { a = bf16, b = bf16, e = f8e4m3 }, { a = f16, b = f16, e = f32 } },
  layouts  = { "rcr", "rrr" },
  targets  = { "sm_90a" },
  b        = { "gate", "up" },
  outputs  = { scale = per_block("e", f32, 1, 64) },
  epilogue = function(acc)
    local y = silu(acc.gate) * acc.up
    local scale = max(block_max(abs(y), 64), 1e-10) / 448
    return { e = y / scale, scale = scale }
  end,
  tiles    = { sm_90a = { wgmma { m = 64, n = 64, wg = 1, depth = 3, cluster = { 1, 2 }, e_depth = { 0, 1 } },
                          wgmma { m = 128, n = 128, depth = 2, cluster = 2, e_depth = 1 }, simt(any) } },
}
gemm "emul_outputs_inputs" {
  types    = { { a = i8, b = i8, e = f16 }, { a = f8e4m3, b = f8e4m3, e = bf16 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  d        = { bias = per_col(f32), weight = per_row(f32), tensor = per_tensor(f32) },
  scalars  = { "alpha" },
  outputs  = { small = per_block("e", f32, 1, 4, "c"), two = per_block("e", bf16, 1, 2), pre = full(f16),
               across = full(f32, "c"), mean = per_block("e", f32, 1, 32) },
  epilogue = function(acc, d, s)
    local y = (acc * d.tensor + d.bias) * d.weight
    local mean = block_mean(y, 32)
    return { e = y - mean + s.alpha, small = block_sum(y - mean, 4), two = block_min(y, 2), pre = y, across = y * 2,
             mean = mean }
  end,
  tiles    = { sm_90a = { wgmma { m = 64, n = 64, wg = 1, depth = 3, cluster = { 1, 2 } },
                          wgmma { m = 64, n = 32, depth = 3, cluster = 1, pingpong = 1 },
                          simt(bytes) } },
}
gemm "emul_outputs_groups" {
  types    = { { a = f8e4m3, b = f8e4m3, e = f8e4m3 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  groups   = true, gather = true,
  b        = { "gate", "up" },
  d        = { of_a = per_block("a", f32, 1, 128), of_b = per_block("b", f32, 64, 128), weight = per_row(f32) },
  block    = function(acc, d) return acc * d.of_a * d.of_b end,
  outputs  = { scale = per_block("e", f32, 1, 64) },
  epilogue = function(acc, d)
    local y = silu(acc.gate) * acc.up * d.weight
    local scale = max(block_max(abs(y), 64), 1e-10) / 448
    return { e = y / scale, scale = scale }
  end,
  tiles    = { sm_90a = { wgmma { m = 64, n = 64, wg = 1, depth = 3, cluster = 1, e_depth = 1, collect = 1 },
                          wgmma { m = 128, n = 64, depth = 3, cluster = 2, e_depth = 1, collect = 1 },
                          simt { m = 32, n = 64, k = 32, tm = 2, tn = 4, split_k = 1 } } },
}
-- Of whole rows and columns, with full inputs in strips, each side of 64s.
gemm "emul_outputs_rows" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = i8, b = i8, e = f32 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  d        = { residual = full "e", other = full(f16, "c"), w = per_row(f32), v = per_col(f16) },
  scalars  = { "s" },
  outputs  = { sums = per_row(f32), most = per_row(f16), columns = per_col(f32), least = per_col(bf16) },
  epilogue = function(acc, d, s)
    local y = acc + d.residual * d.v
    return { e = y, sums = row_sum(y * y) * s.s + d.w, most = max(row_max(y), row_mean(d.other - y)),
             columns = col_sum(y * d.w) + d.v, least = min(col_min(y), col_mean(y)) }
  end,
  tiles    = { sm_90a = { wgmma { m = 64, n = 64, wg = 1, depth = 4, cluster = { 1, 2 }, swap = { 0, 1 } },
                          wgmma { m = 128, n = 128, wg = 1, depth = 4, cluster = 1, e_depth = 1 },
                          simt(bytes) } },
}
-- The same without full inputs: other ways out, B that is widened, more than one batch of it.
gemm "emul_outputs_late" {
  types    = { { a = bf16, b = f8e4m3, e = f32 }, { a = f16, b = f16, e = f8e5m2 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  b        = { "gate", "up" },
  d        = { bias = per_col(f32), w = per_row(f32) },
  outputs  = { amax = per_row(f32), sums = per_col(f32) },
  epilogue = function(acc, d)
    local y = (acc.gate + d.bias) * (acc.up + d.w)
    return { e = y, amax = row_max(abs(y)), sums = col_sum(y) }
  end,
  tiles    = { sm_90a = { wgmma { m = 64, n = 64, wg = 1, depth = 3, cluster = 1, e_depth = { 0, 1 }, swap = { 0, 1 } },
                          wgmma { m = 64, n = 64, depth = 3, cluster = 1, pingpong = 1 },
                          simt { m = 64, n = 64, k = 32, tm = 4, tn = 4, split_k = 1 } } },
}
-- Blocks that are wider than a strip of full inputs, and as wide.
gemm "emul_outputs_strips" {
  types    = { { a = bf16, b = bf16, e = f32 }, { a = bf16, b = bf16, e = f8e4m3 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  d        = { residual = full(bf16), other = full "e" },
  outputs  = { scale = per_block("e", f32, 1, 64), ssq = per_row(f32), next = full "e" },
  epilogue = function(acc, d)
    local y = acc + d.residual
    local scale = max(block_max(abs(y), 64), 1e-10) / 448
    return { e = y / scale, scale = scale, ssq = row_sum(y * y), next = y + d.other }
  end,
  tiles    = { sm_90a = { wgmma { m = 64, n = 64, wg = 1, depth = 7, cluster = { 1, 2 }, e_depth = 1 },
                          wgmma { m = 128, n = 128, depth = 6, cluster = 1, e_depth = 1 },
                          simt(any) } },
}
