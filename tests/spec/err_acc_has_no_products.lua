-- expect: 5:44: error: gemm "x": unknown product 'gate': the op has one product, acc itself
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return silu(acc.gate) end,
}
