-- Elements of 4 bits in every operand and layout.
gemm "forms_halves" {
  types    = { { a = i4, b = u4, e = i32 }, { a = f8e4m3, b = u4, e = f32 }, { a = u4, b = f16, e = f16 },
               { a = bf16, b = i4, e = bf16 } },
  layouts  = { "rcr", "rrr", "crc", "ccr" },
  epilogue = function(acc) return acc end,
}
