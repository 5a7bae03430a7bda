-- expect: 5:21: error: per_block takes an operand, a type and the two lengths of a block: per_block("a", f32, 1, 128)
gemm "x" {
  types    = { { a = f8e4m3, b = f8e4m3, e = bf16 } },
  layouts  = { "rcr" },
  d        = { sa = per_block("a", f32, 1, 128, "c", 1), sb = per_block("b", f32, 128, 128), bias = per_col "e" },
  block    = function(acc, d) return acc * d.sa * d.sb end,
  epilogue = function(acc, d) return acc + d.bias end,
}
