-- expect: 5:3: error: gemm "x": calls a traced value as if it were a function
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return acc(1) end,
}
