-- expect: 8:23: error: gemm "x": undeclared input 'bais' (did you mean 'bias'?)
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  d        = { bias = per_col "e" },
  epilogue = function(acc, d)
    local y = acc * 2
    return relu(y + d.bais)
  end,
}
