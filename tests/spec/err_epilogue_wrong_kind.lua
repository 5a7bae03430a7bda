-- expect: 5:14: error: gemm "x": epilogue: expected a function or code [[...]], got the text 'relu'
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = "relu",
}
