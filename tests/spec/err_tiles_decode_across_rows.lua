-- expect: 5:27: error: gemm "x": wgmma_decode on sm_90a leaves nothing: 1 swept, 1 cut by gather = 3 with 64 rows, more than 32 (sm_90a)
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "ccr" },
  tiles    = { sm_90a = { wgmma_decode { m = 64, n = 64 } } },
  epilogue = function(acc) return acc end,
}
