-- expect: 4:14: error: gemm "x": types: the list is empty
gemm "x" {
  layouts  = { "rcr" },
  types    = {},
  epilogue = function(acc) return acc end,
}
