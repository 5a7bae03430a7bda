-- expect: 5:35: error: gemm "x": clamp takes 3 operands, got 2
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return clamp(acc, 0) end,
}
