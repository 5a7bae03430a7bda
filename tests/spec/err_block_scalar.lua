-- expect: 8:56: error: gemm "x": a text has no 't'; of a_op, b_op and block the last argument is one, the product's name
-- There are no scalars before the epilogue.
gemm "x" {
  types    = { { a = f8e4m3, b = f8e4m3, e = bf16 } },
  layouts  = { "rcr" },
  d        = { sa = per_block("a", f32, 1, 128) },
  scalars  = { "t" },
  block    = function(acc, d, s) return acc * d.sa * s.t end,
  epilogue = function(acc, _, s) return acc + s.t end,
}
