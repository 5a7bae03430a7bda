-- expect: 7:27: error: gemm "x": mfma on gfx942 leaves nothing: 1 swept, 1 cut by its a_op gets no inputs (gfx942)
gemm "x" {
  types    = { { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr" },
  d        = { scale = per_row(f32) },
  a_op     = function(x, d) return x * d.scale end,
  tiles    = { gfx942 = { mfma { m = 128 } } },
  epilogue = function(acc) return acc end,
}
