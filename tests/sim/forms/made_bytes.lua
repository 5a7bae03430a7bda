-- Elements of 4 bits under i8, multiplied as i8; sums over blocks of K whose factors vary along E's rows.
local few = {
  gfx942 = { mfma { m = 32, n = 32, k = 256, wm = 2, wn = 1, wk = 2, mfma = 16, split_k = 2, stream = 0 } },
}
gemm "forms_made_i8" {
  types    = { { a = i8, b = i4, e = i32 }, { a = i8, b = u4, e = f32 } },
  layouts  = { "rcr" },
  targets  = { "gfx942" },
  b        = { "gate", "up" },
  epilogue = function(acc) return acc.gate - acc.up end,
  tiles    = { gfx942 = { mfma { m = 32, n = 16, k = 256, wm = 2, wn = 1, wk = 2, mfma = 16 } } },
}
gemm "forms_made_i8_zero" {
  types    = { { a = i8, b = u4, e = i32 } },
  layouts  = { "rcr" },
  targets  = { "gfx942" },
  d        = { zero = per_block("b", u4, 1, 64) },
  b_op     = function(w, d) return w - d.zero end,
  epilogue = function(acc) return acc end,
  tiles    = few,
}
gemm "forms_made_rows" {
  types    = { { a = i8, b = i4, e = bf16 }, { a = f8e4m3fnuz, b = f8e4m3fnuz, e = bf16 } },
  layouts  = { "rcr" },
  targets  = { "gfx942" },
  d        = { group = per_block("b", f32, 1, 64), row = per_row(f32) },
  block    = function(acc, d) return acc * d.group end,
  epilogue = function(acc, d) return acc * d.row end,
  tiles    = few,
}
gemm "forms_made_columns" {
  types    = { { a = i8, b = i8, e = bf16 } },
  layouts  = { "rcc" },
  targets  = { "gfx942" },
  d        = { of_a = per_block("a", f32, 1, 128), of_b = per_block("b", f32, 128, 128) },
  block    = function(acc, d) return acc * d.of_a * d.of_b end,
  epilogue = function(acc) return acc end,
  tiles    = { gfx942 = { mfma { m = 64, n = 128, k = 64, wm = 2, wn = 2, mfma = 32, ahead = 4 } } },
}
gemm "forms_made_beside" {
  types    = { { a = i8, b = u4, e = f16 } },
  layouts  = { "rcr" },
  targets  = { "gfx942" },
  d        = { group = per_block("b", f16, 1, 64, "r"), row = per_row(f32) },
  outputs  = { most = per_row(f32), scale = per_block("e", f32, 1, 16) },
  block    = function(acc, d) return acc * d.group end,
  epilogue = function(acc, d)
    local y = acc * d.row
    return { e = y, most = row_max(abs(y)), scale = block_max(abs(y), 16) }
  end,
  tiles    = few,
}
