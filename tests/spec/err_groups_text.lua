-- expect: 5:14: error: gemm "x": groups: expected true, got the text 'yes'
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  groups   = "yes",
  epilogue = function(acc) return acc end,
}
