-- expect: 6:16: error: gemm "x": types: row 3 is the same as row 1
gemm "x" {
  layouts  = { "rcr" },
  types    = { { a = i8, b = i8, e = i8 },
               { a = i8, b = i8, e = f32 },
               { a = i8, b = i8, e = i8, acc = i32 } },
  epilogue = function(acc) return acc end,
}
