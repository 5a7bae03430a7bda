-- expect: 5:39: error: gemm "x": operator '//' on a traced value is not part of the language: write floor(x / y)
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return acc // 2 end,
}
