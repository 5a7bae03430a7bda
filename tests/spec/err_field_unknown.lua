-- expect: 5:3: error: gemm "x": unknown field 'epilog' (did you mean 'epilogue'?)
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilog   = function(acc) return acc end,
}
