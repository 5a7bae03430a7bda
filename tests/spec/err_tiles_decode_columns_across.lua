-- expect: 5:27: error: gemm "x": wgmma_decode on sm_90a leaves nothing: 1 swept, 1 cut by across: B is contiguous along N: 192 columns are no multiple of 64 for each of 2 warpgroups (sm_90a)
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rrr" },
  tiles    = { sm_90a = { wgmma_decode { m = 64, n = 192, wg = 2, across = 1 } } },
  epilogue = function(acc) return acc end,
}
