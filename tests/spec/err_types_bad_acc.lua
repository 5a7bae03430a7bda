-- expect: 5:16: error: gemm "x": types: row 1: acc must be f32 or i32
-- expect: 6:16: error: gemm "x": types: row 2: acc = i32 needs integers for a and b
gemm "x" {
  layouts  = { "rcr" },
  types    = { { a = f16, b = f16, e = f16, acc = f16 },
               { a = i8, b = f16, e = f16, acc = i32 } },
  epilogue = function(acc) return acc end,
}
