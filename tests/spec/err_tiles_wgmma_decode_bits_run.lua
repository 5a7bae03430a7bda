-- expect: 9:27: error: gemm "x": wgmma_decode on sm_90a leaves nothing: 1 swept, 1 cut by 48 along K to a value of scale: 16, 32, 64, 128 or multiples of 256 (sm_90a)
gemm "x" {
  types    = { { a = bf16, b = u4, e = bf16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  d        = { scale = per_block("b", "a", 1, 48) },
  b_op     = function(w, d) return w * d.scale end,
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma_decode { m = 16 } } },
}
