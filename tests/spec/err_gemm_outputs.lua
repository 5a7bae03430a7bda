-- expect: 6:20: error: gemm "x": d.m: expected full(t), per_row(t), per_col(t), per_tensor(t) or per_block(operand, t, along, k), got per_block without an operand
-- expect: 7:3: error: gemm "x": unknown field 'outputs'
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  d        = { m = per_block(f32, 1, 64) },
  outputs  = { m = per_row(f32) },
  epilogue = function(acc) return acc end,
}
