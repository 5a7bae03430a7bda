-- expect: 5:23: error: per_row takes a type alone
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  d        = { bias = per_row("e", "r") },
  epilogue = function(acc) return acc end,
}
