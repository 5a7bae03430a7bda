gemm "dequantised" {
  types    = { { a = bf16, b = i8, e = bf16 } },
  layouts  = { "rcr", "ccr" },
  d        = { scale = per_block("b", bf16, 1, 128), zero = per_block("b", i8, 1, 32, "r"), row = per_row(f32),
               col = per_col(f32), one = per_tensor(f32) },
  a_op     = function(x, d) return x * d.row end,
  b_op     = function(w, d) return (w - d.zero) * d.scale * d.col * d.one end,
  epilogue = function(acc) return acc end,
}
gemm "two" {
  types    = { { a = bf16, b = i8, e = bf16 } },
  layouts  = { "rcr" },
  b        = { "gate", "up" },
  d        = { scale = per_block("b", bf16, 1, 128), extra = per_block("up", f32, 65535, 1) },
  b_op     = function(w, d, product) return product == "up" and w * d.scale * d.extra or w * d.scale end,
  epilogue = function(acc) return acc.gate + acc.up end,
}
