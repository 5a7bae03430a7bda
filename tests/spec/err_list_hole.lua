-- expect: 4:14: error: gemm "x": layouts: expected a list of texts like "rcr", found keys that are not 1, 2, 3, ...
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr", [5] = "rrr" },
  epilogue = function(acc) return acc end,
}
