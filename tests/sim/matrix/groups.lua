-- Rows of groups, each with its own B: of one product and of two, gathered and not, inputs of every kind, A turned
-- round, E column-major, blocks of K, 4 bits.
gemm "matrix_groups" {
  types = { { a = f16, b = f16, e = f16 } },
  layouts = { "rcr", "crc" },
  groups = true,
  d = { full = full "e", other = full("e", "c"), row = per_row(f32), col = per_col "e", one = per_tensor(f32) },
  epilogue = function(acc, d) return (acc * d.row + d.col) * d.one + d.full - d.other end,
  targets = { "gfx942", "gfx90a" },
}
gemm "matrix_gathered" {
  types = { { a = bf16, b = bf16, e = bf16 } },
  layouts = { "rcr", "rrr" },
  groups = true, gather = true,
  b = { "gate", "up" },
  a_op = function(x) return x + 1 end, -- of a row that is nowhere, too
  d = { row = per_row "e", col = per_col "e" },
  epilogue = function(acc, d) return silu(acc.gate + d.col) * acc.up * d.row end,
  targets = { "gfx942", "gfx90a" },
  tiles = { gfx942 = { mfma { m = 64 }, mfma { m = 32, n = 32, k = 64, wm = 1, mfma = 16 } },
            gfx90a = { mfma { m = 64 } } },
}
gemm "matrix_groups_scaled" {
  types = { { a = f8e4m3fnuz, b = f8e4m3fnuz, e = bf16 } },
  layouts = { "rcr" },
  groups = true,
  d = { of_a = per_block("a", f32, 1, 128), of_b = per_block("b", f32, 128, 128) },
  block = function(acc, d) return acc * d.of_a * d.of_b end,
  epilogue = function(acc) return acc end,
  targets = { "gfx942" },
}
gemm "matrix_gathered_bits" {
  types = { { a = bf16, b = u4, e = bf16 } },
  layouts = { "rcr" },
  groups = true, gather = true,
  d = { scale = per_block("b", "a", 1, 32), zero = per_block("b", u4, 1, 32) },
  b_op = function(w, d) return (w - d.zero) * d.scale end,
  epilogue = function(acc) return acc end,
  targets = { "gfx942" },
  tiles = { gfx942 = { mfma { m = 64, ahead = 2 } } },
}
