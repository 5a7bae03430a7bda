-- expect: 5:14: error: gemm "x": a_op returns nothing: write 'return ...'
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  a_op     = function(x) end,
  epilogue = function(acc) return acc end,
}
