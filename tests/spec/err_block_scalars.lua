-- expect: 6:14: error: gemm "x": block has 4 arguments: it gets three, acc, d and product
gemm "x" {
  types    = { { a = f8e4m3, b = f8e4m3, e = bf16 } },
  layouts  = { "rcr" },
  d        = { sa = per_block("a", f32, 1, 128), sb = per_block("b", f32, 128, 128), bias = per_col "e" },
  block    = function(acc, d, product, s) return acc * d.sa * d.sb end,
  epilogue = function(acc, d) return acc + d.bias end,
}
