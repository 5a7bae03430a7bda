-- expect: 7:27: error: gemm "x": mfma on gfx942 leaves nothing: 1 swept, 1 cut by the tile of B does not divide into 256 threads (gfx942)
-- A thread's 24 elements of B would be turned round as little tiles of 6 by 4, of which pieces of 8 along K are no multiple.
gemm "x" {
  types    = { { a = bf16, b = i8, e = bf16 } },
  layouts  = { "rrr" },
  epilogue = function(acc) return acc end,
  tiles    = { gfx942 = { mfma { m = 128, n = 192, k = 32, wm = 2, wn = 2, wk = 1, mfma = 32 } } },
}
