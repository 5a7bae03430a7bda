-- expect: 5:14: error: gemm "x": a_op never uses its argument
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  a_op     = function(x) return 1 end,
  epilogue = function(acc) return acc end,
}
