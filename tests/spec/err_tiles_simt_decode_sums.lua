-- expect: 6:27: error: gemm "x": simt_decode on sm_90a leaves nothing: 1 swept, 1 cut by 64 sums per thread > 32 (sm_90a)
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  b        = { "gate", "up" },
  tiles    = { sm_90a = { simt_decode { m = 8, n = 4 } } },
  epilogue = function(acc) return acc.gate * acc.up end,
}
