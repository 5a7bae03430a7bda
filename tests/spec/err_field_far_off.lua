-- expect: 5:3: error: gemm "x": unknown field 'flavour'
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  flavour  = "sweet",
  epilogue = function(acc) return acc end,
}
