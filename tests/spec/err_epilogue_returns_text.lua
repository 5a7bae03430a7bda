-- expect: 5:28: error: gemm "x": epilogue returns the text 'acc', expected a value
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return "acc" end,
}
