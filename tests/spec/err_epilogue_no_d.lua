-- expect: 5:46: error: gemm "x": undeclared input 'bias': the op has no d
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc, d) return acc + d.bias end,
}
