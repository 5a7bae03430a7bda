-- expect: 5:23: error: full: expected the layout "r" or "c", got the text 'x'
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  d        = { bias = full("e", "x") },
  epilogue = function(acc) return acc end,
}
