-- expect: 5:27: error: gemm "x": wgmma_decode on sm_90a leaves nothing: 1 swept, 1 cut by B of i8 must be contiguous along K: only 16-bit types may be so along N (sm_90a)
gemm "x" {
  types    = { { a = bf16, b = i8, e = bf16 } },
  layouts  = { "rrr" },
  tiles    = { sm_90a = { wgmma_decode { m = 16, n = 64 } } },
  epilogue = function(acc) return acc end,
}
