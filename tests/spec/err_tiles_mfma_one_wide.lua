-- expect: 7:27: error: gemm "x": mfma on gfx90a leaves nothing: 1 swept, 1 cut by the tile of B does not divide into 512 threads (gfx90a)
-- A thread's one element of B would be a little tile of 1 by 1.
gemm "x" {
  types    = { { a = f32, b = f32, e = f16 } },
  layouts  = { "rrr" },
  epilogue = function(acc) return acc end,
  tiles    = { gfx90a = { mfma { m = 256, n = 32, k = 16, wm = 8, wn = 1, wk = 1, mfma = 32 } } },
}
