-- What the shipped ops do not ask of the mfma schedule: E column-major, inputs of every kind, mixtures of fp8
-- kinds, xf32, the other shapes of tiles, waves and matrix instructions.
local function id(acc) return acc end

gemm "matrix_columns" {
  types = { { a = f16, b = f16, e = f16 }, { a = i8, b = i8, e = i8 } },
  layouts = { "rcc", "ccc", "rrc" },
  d = { m = full "e", g = per_row(f32), valid = per_col(f16), i = per_tensor(f32) }, -- words that kernels use, too
  epilogue = function(acc, d) return relu(acc * d.i + d.m) + d.g * d.valid end,
}
gemm "matrix_mixed" {
  types = { { a = f8e4m3fnuz, b = f8e5m2fnuz, e = bf16 }, { a = f8e5m2fnuz, b = f8e4m3fnuz, e = f16 } },
  layouts = { "rcr", "rrc" },
  epilogue = id,
  targets = { "gfx942" },
}
gemm "matrix_xf32" {
  types = { { a = f32, b = f32, e = f32 } },
  layouts = { "rcr", "crr" },
  epilogue = id,
  targets = { "gfx942" },
  tiles = { gfx942 = { mfma { xf32 = 1, m = { 128, 256 } } } },
}
gemm "matrix_tiles" {
  types = { { a = bf16, b = bf16, e = f32 } },
  layouts = { "rcr", "crr" },
  epilogue = id,
  targets = { "gfx942", "gfx90a" },
  tiles = { gfx942 = { mfma { m = { 64, 128 }, n = 64, k = 64, wm = { 1, 2 }, wn = 2, mfma = { 16, 32 },
                              ahead = { 1, 2 }, split_k = { 1, 4 }, group = 4 } },
            gfx90a = { mfma { m = 64, n = { 64, 128 }, k = 32, group = 1 } } },
}
-- 4 bits: as they are, and what no packed arithmetic does.
local bits = { { a = f16, b = u4, e = f16 }, { a = bf16, b = i4, e = bf16 } }
local small = { gfx942 = { mfma { m = 64, ahead = { 1, 2 }, split_k = 1, stream = 0 } } }
gemm "matrix_bits" {
  types = bits,
  layouts = { "rcr" },
  epilogue = id,
  targets = { "gfx942" },
  tiles = small,
}
gemm "matrix_bits_scaled" {
  types = bits,
  layouts = { "rcr" },
  d = { scale = per_block("b", f32, 1, 32), zero = per_block("b", "a", 1, 64) },
  b_op = function(w, d) return (w - d.zero) * d.scale end,
  epilogue = id,
  targets = { "gfx942" },
  tiles = small,
}
-- 1-byte elements that become 2-byte ones on their way, in rows and columns.
gemm "matrix_widened" {
  types = { { a = bf16, b = i8, e = bf16 }, { a = f8e5m2, b = f16, e = f16 } },
  layouts = { "rcr", "crr", "ccr" },
  b_op = function(x) return cast(x, bf16) end,
  epilogue = id,
  targets = { "gfx942", "gfx90a" },
  tiles = { gfx942 = { mfma { m = 128 } }, gfx90a = { mfma { m = 128 } } },
}
-- Conditions near their jumps, as AMD's compiler spells them.
gemm "matrix_conditions" {
  types = { { a = f16, b = f16, e = bf16 } },
  layouts = { "rcr" },
  d = { limit = per_row(f32), other = full "e" },
  epilogue = function(acc, d)
    local inside = and_(ge(acc, -d.limit), not_(gt(acc, d.limit)))
    local whole = eq(acc, floor(acc))
    return select(or_(inside, ne(d.other, d.other)), select(whole, acc, -acc), floor(acc * 0.25) + d.other)
  end,
  targets = { "gfx942", "gfx90a" },
  tiles = { gfx942 = { mfma { m = 128, n = 128 } }, gfx90a = { mfma { m = 128, n = 128 } } },
}
