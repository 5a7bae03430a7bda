-- expect: 4:22: error: unknown name 'half'; types are f32, f16, bf16, i8, i32, f8e4m3, f8e5m2, f8e4m3fnuz, f8e5m2fnuz, i4, u4, u8
gemm "x" {
  layouts  = { "rcr" },
  types    = { { a = half, b = half, e = half } },
  epilogue = function(acc) return acc end,
}
