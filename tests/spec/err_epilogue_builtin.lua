-- expect: 5:14: error: gemm "x": epilogue: write function(...) return f(...) end around a function of the language
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = relu,
}
