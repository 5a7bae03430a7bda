-- expect: 6:14: error: gemm "x": block: expected a function, got the text 'acc * d.sa'
gemm "x" {
  types    = { { a = f8e4m3, b = f8e4m3, e = bf16 } },
  layouts  = { "rcr" },
  d        = { sa = per_block("a", f32, 1, 128), sb = per_block("b", f32, 128, 128), bias = per_col "e" },
  block    = "acc * d.sa",
  epilogue = function(acc, d) return acc + d.bias end,
}
