-- expect: 5:27: error: gemm "x": wgmma_decode on sm_90a leaves nothing: 1 swept, 1 cut by apart: 3 warpgroups do not have one of 2 products each, none of them widened or across (sm_90a)
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  tiles    = { sm_90a = { wgmma_decode { m = 16, n = 64, wg = 3, apart = 1 } } },
  b        = { "gate", "up" },
  epilogue = function(acc) return acc.gate * acc.up end,
}
