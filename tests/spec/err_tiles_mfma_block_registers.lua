-- expect: 7:27: error: gemm "x": mfma on gfx942 leaves nothing: 1 swept, 1 cut by sums of blocks of K with 416 registers, of which vector instructions have 256 (gfx942)
gemm "x" {
  types    = { { a = f8e4m3fnuz, b = f8e4m3fnuz, e = bf16 } },
  layouts  = { "rcr" },
  d        = { scale = per_block("a", f32, 1, 128) },
  block    = function(acc, d) return acc * d.scale end,
  tiles    = { gfx942 = { mfma { m = 256 } } },
  epilogue = function(acc) return acc end,
}
