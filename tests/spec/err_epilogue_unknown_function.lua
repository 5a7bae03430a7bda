-- expect: 5:35: error: gemm "x": unknown name 'reul' (did you mean 'relu'?)
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return reul(acc) end,
}
