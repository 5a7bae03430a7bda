-- expect: 5:35: error: gemm "x": max: operand 2 is a string
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return max(acc, "0") end,
}
