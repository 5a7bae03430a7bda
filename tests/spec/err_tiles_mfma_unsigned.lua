-- expect: 7:27: error: gemm "x": mfma on gfx942 leaves nothing: 1 swept, 1 cut by this target's matrix cores do not multiply u8 by i8 (gfx942)
gemm "x" {
  types    = { { a = u8, b = i8, e = u8 } },
  layouts  = { "rcr" },
  targets  = { "gfx942" },
  epilogue = function(acc) return acc end,
  tiles    = { gfx942 = { mfma { split_k = 1, stream = 0 } } },
}
