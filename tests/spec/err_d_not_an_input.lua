-- expect: 7:23: error: gemm "x": d.bias: expected full(t), per_row(t), per_col(t), per_tensor(t) or per_block(operand, t, along, k), got the dtype f16
-- expect: 7:36: error: gemm "x": d.scale: expected full(t), per_row(t), per_col(t), per_tensor(t) or per_block(operand, t, along, k), got a function
-- expect: 7:45: error: gemm "x": d: entry 1 has no name: write name = value
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  d        = { bias = f16, scale = per_row, "full" },
  epilogue = function(acc, d) return acc + d.bias * d.scale end,
}
