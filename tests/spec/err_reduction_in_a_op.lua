-- expect: 5:37: error: gemm "x": row_sum: a_op gets one element at a time, so it has nothing to reduce
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  a_op     = function(x) return x / row_sum(x) end,
  epilogue = function(acc) return acc end,
}
