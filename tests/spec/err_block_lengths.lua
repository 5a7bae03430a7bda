-- expect: 5:49: error: gemm "x": block: a block of 'sb' is 128 long along k, one of 'sa' 64: all that block uses must agree
gemm "x" {
  types    = { { a = f8e4m3, b = f8e4m3, e = bf16 } },
  layouts  = { "rcr" },
  d        = { sa = per_block("a", f32, 1, 64), sb = per_block("b", f32, 128, 128), bias = per_col "e" },
  block    = function(acc, d) return acc * d.sa * d.sb end,
  epilogue = function(acc, d) return acc + d.bias end,
}
