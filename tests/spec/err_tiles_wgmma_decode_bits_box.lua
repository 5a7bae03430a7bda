-- expect: 7:27: error: gemm "x": wgmma_decode on sm_90a leaves nothing: 1 swept, 1 cut by boxes of 32 bytes: rows of A's tile, 64 elements, are no whole 128 bytes (sm_90a)
gemm "x" {
  types    = { { a = i8, b = i4, e = bf16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma_decode { m = 16, n = 64, wg = 1, box = 32, sets = 1 } } },
}
