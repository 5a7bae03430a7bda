-- expect: 5:35: error: gemm "x": makes text of a traced value: its value is not known here
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return tostring(acc) end,
}
