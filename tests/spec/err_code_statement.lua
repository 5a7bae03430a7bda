-- expect: 5:21: error: gemm "x": code: the text must be one expression: no ; { } # \ or quotes
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = code [[ acc; system("rm") ]],
  ref      = function(acc) return acc end,
}
