-- expect: 4:14: error: gemm "x": types: expected a list of rows; with one row it is { { a =, b =, e = } }
gemm "x" {
  layouts  = { "rcr" },
  types    = { a = f16, b = f16, e = f16 },
  epilogue = function(acc) return acc end,
}
