-- expect: 5:16: error: gemm "x": types: row 1: a must be f32, f16, bf16, i8, u8, i4, u4 or an fp8
-- expect: 6:16: error: gemm "x": types: row 2: b must be f32, f16, bf16, i8, u8, i4, u4 or an fp8
gemm "x" {
  layouts  = { "rcr" },
  types    = { { a = i32, b = i8, e = i32 },
               { a = i8, b = i32, e = i32 } },
  epilogue = function(acc) return acc end,
}
