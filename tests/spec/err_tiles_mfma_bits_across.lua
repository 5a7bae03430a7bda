-- expect: 7:27: error: gemm "x": mfma on gfx942 leaves nothing: 1 swept, 1 cut by takes elements of 4 bits only of B, along K, under A of 16 bits or i8 (gfx942)
gemm "x" {
  types    = { { a = bf16, b = u4, e = bf16 } },
  layouts  = { "rrr" },
  targets  = { "gfx942" },
  epilogue = function(acc) return acc end,
  tiles    = { gfx942 = { mfma { split_k = 1, stream = 0 } } },
}
