-- expect: 7:27: error: gemm "x": mfma on gfx942 leaves nothing: 1 swept, 1 cut by factors of sums that vary along E's contiguous dimension within a matrix instruction (gfx942)
gemm "x" {
  types    = { { a = f8e4m3fnuz, b = f8e4m3fnuz, e = bf16 } },
  layouts  = { "rcc" },
  d        = { scale = per_block("a", f32, 1, 128), more = per_block("b", f32, 1, 128) },
  block    = function(acc, d) return acc * d.scale * d.more end,
  tiles    = { gfx942 = { mfma { m = 128 } } },
  epilogue = function(acc) return acc end,
}
