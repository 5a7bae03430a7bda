-- expect: 6:31: error: gemm "x": block never uses acc, the sum over a block
gemm "x" {
  types    = { { a = f8e4m3, b = f8e4m3, e = bf16 } },
  layouts  = { "rcr" },
  d        = { sa = per_block("a", f32, 1, 128), sb = per_block("b", f32, 128, 128), bias = per_col "e" },
  block    = function(acc, d) return d.sa * d.sb end,
  epilogue = function(acc, d) return acc + d.bias end,
}
