-- expect: 9:1: error: gemm "x" is described twice
-- expect: 3:1: note: gemm "x" is first described here
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return acc end,
}

gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return acc end,
}
