-- E = A·B, with A and B in either orientation.
gemm "gemm" {
  types    = { { a = f32,        b = f32,        e = f32  },
               { a = f16,        b = f16,        e = f16  },
               { a = bf16,       b = bf16,       e = bf16 },
               { a = i8,         b = i8,         e = i32  },
               { a = f8e4m3,     b = f8e4m3,     e = bf16 },
               { a = f8e5m2,     b = f8e5m2,     e = f16  },
               { a = f8e4m3fnuz, b = f8e4m3fnuz, e = bf16 },
               { a = f8e5m2fnuz, b = f8e5m2fnuz, e = f16  } },
  layouts  = { "rcr", "rrr", "crr", "ccr" },
  epilogue = function(acc) return acc end,
}
