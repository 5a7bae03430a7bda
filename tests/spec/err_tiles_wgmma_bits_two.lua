-- expect: 8:27: error: gemm "x": wgmma on sm_90a leaves nothing: 1 swept, 1 cut by two products of elements of 4 bits go through no registers here (sm_90a)
gemm "x" {
  types    = { { a = bf16, b = u4, e = bf16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  b        = { "gate", "up" },
  epilogue = function(acc) return acc.gate * acc.up end,
  tiles    = { sm_90a = { wgmma { m = 128, n = 64 } } },
}
