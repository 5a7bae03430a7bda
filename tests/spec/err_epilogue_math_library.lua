-- expect: 5:40: error: gemm "x": 'exp' of Lua's library takes numbers; for traced values use the language's own functions
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return math.exp(acc) end,
}
