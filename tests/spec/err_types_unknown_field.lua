-- expect: 5:45: error: gemm "x": types: row 1: unknown field 'c'; a row has a, b, e and acc
-- expect: 6:45: error: gemm "x": types: row 2: unknown field 'ac'; a row has a, b, e and acc
gemm "x" {
  layouts  = { "rcr" },
  types    = { { a = f16, b = f16, e = f16, c = f32 },
               { a = f16, b = f16, e = f16, ac = f32 } },
  epilogue = function(acc) return acc end,
}
