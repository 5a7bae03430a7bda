-- expect: 5:23: error: per_col: expected a dtype or "a", "b", "acc", "e", got the text 'f'
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  d        = { bias = per_col "f" },
  epilogue = function(acc) return acc end,
}
