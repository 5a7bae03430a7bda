-- Outputs beside E on matrix cores: every kind, both layouts, in tiles of many shapes; K in parts of all sorts.
local function tiles(...)
  return { gfx942 = { mfma { m = 128, n = 128, k = { 32, 64 }, wm = 2, wn = 2, wk = 1, mfma = 32, ahead = 2,
                             split_k = 8, stream = 1 }, ... } }
end
local parts = mfma { m = 64, n = 128, k = { 64, 128 }, wm = 1, wn = 2, wk = 2, mfma = 32, ahead = 1, split_k = 4,
                     stream = 0 }
local whole = mfma { m = 64, n = 128, k = { 64, 128 }, wm = 2, wn = 4, wk = 1, mfma = 16, ahead = 1, split_k = 1,
                     stream = 0 }
gemm "forms_beside" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = i8, b = i8, e = f32 } },
  layouts  = { "rcc", "crr" },
  d        = { w = per_row(f32), r = full(bf16, "c"), t = per_tensor(f32) },
  outputs  = { two = per_block("e", bf16, 1, 2), four = per_block("e", f32, 1, 4, "c"),
               most = per_block("e", f32, 1, 128, "c"), copy = full(f16), turned = full(u8, "c") },
  epilogue = function(acc, d)
    local y = acc * d.t + d.r
    local mean, spread = block_mean(y, 32), block_max(abs(y), 128)
    return { e = y - mean, copy = y / (spread + 1), turned = y * d.w, two = block_sum(y, 2), most = spread,
             four = block_min(y, 4) }
  end,
  tiles    = tiles(parts, whole),
}
gemm "forms_beside_reduced" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = i8, b = i8, e = f32 } },
  layouts  = { "rcc" },
  d        = { w = per_row(f32), v = per_col(f16), q = full(f32), t = per_tensor(f32) },
  scalars  = { "s" },
  outputs  = { sums = per_row(f32), top = per_row(f16), columns = per_col(f32), least = per_col(bf16) },
  epilogue = function(acc, d, s)
    local y = acc * d.t + d.q
    return { e = y, sums = row_sum(y * y) * s.s + d.w, top = max(row_max(y), row_min(-y)),
             columns = col_mean(y) + d.v, least = col_min(y * 2) }
  end,
  tiles    = tiles(parts, whole),
}
-- Small tiles, whose waves are more than a strip has rows for.
gemm "forms_beside_small" {
  types    = { { a = f16, b = f16, e = f16 }, { a = f32, b = f32, e = f32 } },
  layouts  = { "rcr" },
  d        = { r = full "e" },
  outputs  = { most = per_block("e", f32, 1, 16), rows = per_row(f32), columns = per_col(f32) },
  epilogue = function(acc, d)
    local y = acc + d.r
    return { e = y, most = block_max(y, 16), rows = row_sum(y), columns = col_sum(y) }
  end,
  tiles    = tiles(mfma { m = 16, n = 16, k = { 128, 256 }, wm = 1, wn = 1, wk = 4, mfma = 16, ahead = 4, split_k = 1,
                          stream = 0 },
                   mfma { m = 32, n = 32, k = { 64, 128 }, wm = 2, wn = 1, wk = 2, mfma = 16, ahead = 4, split_k = 16,
                          stream = 1 },
                   mfma { m = 64, n = 16, k = { 32, 64 }, wm = 4, wn = 1, wk = 1, mfma = 16, ahead = 2, split_k = 1,
                          stream = 0 }),
}
-- Two products, of blocks of K, as they are by default.
gemm "forms_beside_scaled" {
  types    = { { a = f8e4m3fnuz, b = f8e4m3fnuz, e = f8e4m3fnuz } },
  layouts  = { "rcr", "rrc" },
  b        = { "gate", "up" },
  d        = { a_scale = per_block("a", f32, 1, 128), b_scale = per_block("b", f32, 128, 128) },
  block    = function(acc, d) return acc * d.a_scale * d.b_scale end,
  outputs  = { scale = per_block("e", f32, 1, 64) },
  epilogue = function(acc)
    local y = silu(acc.gate) * acc.up
    local scale = max(block_max(abs(y), 64), 1e-10) / 240
    return { e = y / scale, scale = scale }
  end,
}
-- Weights of 4 bits; an operator.
gemm "forms_beside_halves" {
  types    = { { a = bf16, b = u4, e = bf16 } },
  layouts  = { "rcr" },
  d        = { scale = per_block("b", bf16, 1, 32), zero = per_block("b", u4, 1, 32), c = per_row(f32) },
  b_op     = function(w, d) return (w - d.zero) * d.scale end,
  outputs  = { amax = per_row(f32), all = per_col(f32) },
  epilogue = function(acc, d)
    return { e = acc, amax = row_max(abs(acc)) * d.c, all = col_sum(acc) }
  end,
}
