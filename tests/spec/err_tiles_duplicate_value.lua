-- expect: 5:49: error: gemm "x": simt.m: 64 is there twice
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  tiles    = { gfx942 = { simt { m = { 64, 128, 64 } } } },
  epilogue = function(acc) return acc end,
}
