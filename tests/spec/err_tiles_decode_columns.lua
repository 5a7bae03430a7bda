-- expect: 5:27: error: gemm "x": wgmma_decode on sm_90a leaves nothing: 1 swept, 1 cut by B is contiguous along N: 112 columns are no multiple of 64 (sm_90a)
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rrr" },
  tiles    = { sm_90a = { wgmma_decode { m = 16, n = 112 } } },
  epilogue = function(acc) return acc end,
}
