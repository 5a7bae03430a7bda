-- expect: 5:45: error: gemm "x": indexes a traced value with 'x': it has no fields
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return relu(acc).x end,
}
