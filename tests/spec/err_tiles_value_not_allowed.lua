-- expect: 5:34: error: gemm "x": simt: m = 60 is not one of 16, 32, 64, 128
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  tiles    = { gfx942 = { simt { m = 60 } } },
  epilogue = function(acc) return acc end,
}
