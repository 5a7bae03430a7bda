-- expect: 5:39: error: gemm "x": concatenates a traced value: it has no text
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return acc .. "f" end,
}
