-- expect: 4:16: error: gemm "x": types: row 1: missing 'e'
gemm "x" {
  layouts  = { "rcr" },
  types    = { { a = f16, b = f16 } },
  epilogue = function(acc) return acc end,
}
