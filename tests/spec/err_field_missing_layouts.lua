-- expect: 2:1: error: gemm "x": missing field 'layouts': a list of texts like "rcr"
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  epilogue = function(acc) return acc end,
}
