-- expect: 6:53: error: gemm "x": undeclared input 'bs'
gemm "x" {
  types    = { { a = f8e4m3, b = f8e4m3, e = bf16 } },
  layouts  = { "rcr" },
  d        = { sa = per_block("a", f32, 1, 128), sb = per_block("b", f32, 128, 128), bias = per_col "e" },
  block    = function(acc, d) return acc * d.sa * d.bs end,
  epilogue = function(acc, d) return acc + d.bias end,
}
