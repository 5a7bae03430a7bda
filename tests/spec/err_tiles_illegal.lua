-- expect: 5:27: error: gemm "x": simt on gfx942 leaves nothing: 1 swept, 1 cut by 16384 threads > 1024 (gfx942)
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  tiles    = { gfx942 = { simt { m = 128, n = 128, k = 16, tm = 1, tn = 1 } } },
  epilogue = function(acc) return acc end,
}
