-- expect: 7:16: error: gemm "x": d.scale: with groups = true rows of a group begin anywhere, not where blocks of 128 rows do: a value for each row, or one for a block along k alone
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  groups   = true,
  gather   = true,
  d        = { scale = per_block("a", f32, 128, 64) },
  block    = function(acc, d) return acc * d.scale end,
  epilogue = function(acc) return acc end,
}
