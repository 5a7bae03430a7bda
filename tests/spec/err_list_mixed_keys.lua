-- expect: 4:23: error: gemm "x": layouts: expected a list of texts like "rcr", found the key 'extra'
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr", extra = "rrr" },
  epilogue = function(acc) return acc end,
}
