-- expect: 5:21: error: per_block: expected the name of an operand first, got the number 1
gemm "x" {
  types    = { { a = f8e4m3, b = f8e4m3, e = bf16 } },
  layouts  = { "rcr" },
  d        = { sa = per_block(1, f32, 1, 128), sb = per_block("b", f32, 128, 128), bias = per_col "e" },
  block    = function(acc, d) return acc * d.sa * d.sb end,
  epilogue = function(acc, d) return acc + d.bias end,
}
