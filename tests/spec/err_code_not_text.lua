-- expect: 5:14: error: code needs a text: code [[...]], got a table
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = code { "acc" },
  ref      = function(acc) return acc end,
}
