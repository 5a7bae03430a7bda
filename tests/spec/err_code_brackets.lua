-- expect: 5:21: error: gemm "x": code: the text has brackets that do not match
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = code [[ (acc + 1 ]],
  ref      = function(acc) return acc end,
}
