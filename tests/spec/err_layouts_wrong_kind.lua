-- expect: 4:14: error: gemm "x": layouts: expected a list of texts like "rcr", got the text 'rcr'
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = "rcr",
  epilogue = function(acc) return acc end,
}
