-- expect: 6:16: error: gemm "x": types: row 1: e must be f32, f16, bf16, i8, u8, i32 or an fp8
-- expect: 11:61: error: gemm "y": d.bias: of u4, whose elements share bytes, an input must be per_block(operand, t, along, k)
-- expect: 17:38: error: gemm "z": d.bias: of i4, whose elements share bytes, an input must be per_block(operand, t, along, k)
-- Elements that share bytes are A's and B's.
gemm "x" {
  types    = { { a = f16, b = f16, e = i4 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return acc end,
}
gemm "y" {
  types    = { { a = f16, b = u4, e = f16 } }, d = { bias = per_col "b" },
  layouts  = { "rcr" },
  epilogue = function(acc, d) return acc + d.bias end,
}
gemm "z" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" }, d = { bias = full(i4) },
  epilogue = function(acc, d) return acc + d.bias end,
}
