-- expect: 5:3: error: gemm "x": entry 1 has no name: write name = value
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  "rcr",
  epilogue = function(acc) return acc end,
}
