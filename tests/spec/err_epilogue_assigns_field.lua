-- expect: 7:5: error: gemm "x": assigns to a field of 'd'
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  d        = { bias = per_col() },
  epilogue = function(acc, d)
    d.bias = acc
    return d.bias
  end,
}
