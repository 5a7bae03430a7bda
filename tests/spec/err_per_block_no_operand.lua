-- expect: 5:21: error: gemm "x": d.sa: expected full(t), per_row(t), per_col(t), per_tensor(t) or per_block(operand, t, along, k), got per_block without an operand
gemm "x" {
  types    = { { a = f8e4m3, b = f8e4m3, e = bf16 } },
  layouts  = { "rcr" },
  d        = { sa = per_block(f32, 1, 128), sb = per_block("b", f32, 128, 128), bias = per_col "e" },
  block    = function(acc, d) return acc * d.sa * d.sb end,
  epilogue = function(acc, d) return acc + d.bias end,
}
