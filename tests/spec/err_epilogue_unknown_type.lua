-- expect: 5:45: error: gemm "x": unknown name 'half'; types are f32, f16, bf16, i8, i32, f8e4m3, f8e5m2, f8e4m3fnuz, f8e5m2fnuz, i4, u4, u8
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return cast(acc, half) end,
}
