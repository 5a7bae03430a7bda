-- expect: 5:27: error: gemm "x": host on gfx942 leaves nothing: 1 swept, 1 cut by runs on the host only (gfx942)
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  tiles    = { gfx942 = { host { mc = 256 } } },
  epilogue = function(acc) return acc end,
}
