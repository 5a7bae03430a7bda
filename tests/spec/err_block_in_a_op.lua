-- expect: 8:42: error: gemm "x": a_op: input 'sb' is per_block "b", which a_op does not take: use it in b_op or block
gemm "x" {
  types    = { { a = f8e4m3, b = f8e4m3, e = bf16 } },
  layouts  = { "rcr" },
  d        = { sa = per_block("a", f32, 1, 128), sb = per_block("b", f32, 128, 128), bias = per_col "e" },
  block    = function(acc, d) return acc * d.sa * d.sb end,
  epilogue = function(acc, d) return acc + d.bias end,
  a_op     = function(x, d) return x * d.sb end,
}
