-- expect: 5:44: error: gemm "x": unknown name 'offset'
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return max(acc, offset) end,
}
