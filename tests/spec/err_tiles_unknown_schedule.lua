-- expect: 5:27: error: unknown name 'smit' (did you mean 'simt'?); schedules are host, mfma, mma, simt, simt_decode, wgmma, wgmma_decode
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  tiles    = { gfx942 = { smit { m = 64 } } },
  epilogue = function(acc) return acc end,
}
