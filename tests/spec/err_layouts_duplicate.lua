-- expect: 4:30: error: gemm "x": layouts: "rcr" is there twice
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr", "rrr", "rcr" },
  epilogue = function(acc) return acc end,
}
