-- expect: 4:14: error: gemm "x": layouts: the list is empty
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = {},
  epilogue = function(acc) return acc end,
}
