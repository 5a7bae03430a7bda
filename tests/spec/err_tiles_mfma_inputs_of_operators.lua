-- expect: 7:27: error: gemm "x": mfma on gfx942 leaves nothing: 1 swept, 1 cut by its a_op and b_op get no inputs (gfx942)
gemm "x" {
  types    = { { a = bf16, b = i8, e = bf16 } },
  layouts  = { "rcr" },
  d        = { scale = per_block("b", f32, 1, 128) },
  b_op     = function(w, d) return w * d.scale end,
  tiles    = { gfx942 = { mfma { m = 128 } } },
  epilogue = function(acc) return acc end,
}
