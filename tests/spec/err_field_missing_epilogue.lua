-- expect: 2:1: error: gemm "x": missing field 'epilogue': a function or code [[...]]
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
}
