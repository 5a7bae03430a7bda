-- expect: 5:14: error: gemm "x": code needs ref = function(...): what the text computes, for the reference
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = code [[ acc * 2.0f ]],
}
