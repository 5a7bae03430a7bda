-- expect: 6:31: error: gemm "x": epilogue never uses acc, the product
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  d        = { bias = per_col() },
  epilogue = function(acc, d) return d.bias end,
}
