-- expect: 6:60: error: gemm "x": block: input 'bias' is per_row, which block does not take: use it in epilogue or a_op
gemm "x" {
  types    = { { a = f8e4m3, b = f8e4m3, e = bf16 } },
  layouts  = { "rcr" },
  d        = { sa = per_block("a", f32, 1, 128), sb = per_block("b", f32, 128, 128), bias = per_row "e" },
  block    = function(acc, d) return acc * d.sa * d.sb * d.bias end,
  epilogue = function(acc, d) return acc + d.bias end,
}
