-- expect: 7:85: error: gemm "x": d.t_up: an input has this name, too
-- expect: 8:20: error: gemm "x": d.u: per_block: unknown operand 'down'; there are a, b, gate and up
gemm "x" {
  types    = { { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr" },
  b        = { "gate", "up" },
  d        = { s = per_block("gate", f32, 1, 128), t = per_block("b", f32, 1, 128), t_up = per_tensor(f32),
               u = per_block("down", f32, 1, 128) },
  block    = function(acc, d) return acc * d.t end,
  epilogue = function(acc, d) return acc.gate + acc.up + d.t_up end,
}
