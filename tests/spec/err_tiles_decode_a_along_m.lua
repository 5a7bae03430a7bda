-- expect: 5:27: error: gemm "x": wgmma_decode on sm_90a leaves nothing: 1 swept, 1 cut by A that is contiguous along M wants gather = 3, and no other does (sm_90a)
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "ccr" },
  tiles    = { sm_90a = { wgmma_decode { m = 64, n = 64 } } },
  epilogue = function(acc) return acc end,
}
