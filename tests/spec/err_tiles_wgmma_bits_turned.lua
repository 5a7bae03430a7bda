-- expect: 7:27: error: gemm "x": wgmma on sm_90a leaves nothing: 1 swept, 1 cut by A under B of 4 bits must be contiguous along K (sm_90a)
gemm "x" {
  types    = { { a = bf16, b = u4, e = bf16 } },
  layouts  = { "ccr" },
  targets  = { "sm_90a" },
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma { m = 128, n = 64 } } },
}
