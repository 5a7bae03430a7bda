-- expect: 5:14: error: gemm "x": gather = true: rows are gathered for groups: it goes with groups = true
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  gather   = true,
  epilogue = function(acc) return acc end,
}
