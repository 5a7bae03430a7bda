-- expect: 9:27: error: gemm "x": wgmma_decode on sm_90a leaves nothing: 1 swept, 1 cut by turn: a b_op of elements of 4 bits has the tile in which K ends last (sm_90a)
gemm "x" {
  types    = { { a = bf16, b = u4, e = bf16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  d        = { scale = per_col(bf16) },
  b_op     = function(w, d) return w * d.scale end,
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma_decode { m = 16, n = 64, wg = 1, turn = 1 } } },
}
