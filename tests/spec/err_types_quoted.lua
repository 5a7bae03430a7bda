-- expect: 4:22: error: gemm "x": types: row 1: a must be a dtype, got the text 'f16'; dtypes are written without quotes
gemm "x" {
  layouts  = { "rcr" },
  types    = { { a = "f16", b = f16, e = f16 } },
  epilogue = function(acc) return acc end,
}
