-- expect: 12:20: error: gemm "x": d.m: expected full(t), per_row(t), per_col(t), per_tensor(t) or per_block(operand, t, along, k), got per_block without an operand
-- expect: 19:16: error: gemm "y": outputs.e: every gemm has this output; its type stands in `types`
-- expect: 19:31: error: gemm "y": outputs.m: an input has this name, too
-- expect: 19:53: error: gemm "y": outputs.s: per_block: an output has a value for each row, not for 2
-- expect: 19:85: error: gemm "y": outputs.t: per_block: unknown operand 'b'; there is e
-- expect: 19:117: error: gemm "y": outputs.u: expected full(t), per_row(t), per_col(t) or per_block(operand, t, along, k), got per_tensor
-- expect: 20:20: error: gemm "y": outputs.w: per_block: the columns of a block must be a power of two from 2 to 256, got 100
-- Outputs beside E: what they may be.
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  d        = { m = per_block(f32, 1, 64) },
  epilogue = function(acc) return acc end,
}
gemm "y" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  d        = { m = full "e" },
  outputs  = { e = full(f32), m = per_row(f32), s = per_block("e", f32, 2, 64), t = per_block("b", f32, 1, 64), u = per_tensor(f32),
               w = per_block("e", f32, 1, 100) },
  epilogue = function(acc) return acc end,
}
