-- expect: 4:22: error: unknown name 'fp16' (did you mean 'f16'?); types are f32, f16, bf16, i8, i32, f8e4m3, f8e5m2, f8e4m3fnuz, f8e5m2fnuz, i4, u4, u8
gemm "x" {
  layouts  = { "rcr" },
  types    = { { a = fp16, b = f16, e = f16 } },
  epilogue = function(acc) return acc end,
}
