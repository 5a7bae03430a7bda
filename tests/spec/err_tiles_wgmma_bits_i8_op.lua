-- expect: 8:27: error: gemm "x": wgmma on sm_90a leaves nothing: 1 swept, 1 cut by elements of 4 bits become i8 as they are: no b_op (sm_90a)
gemm "x" {
  types    = { { a = i8, b = i4, e = bf16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  b_op     = function(w) return w - 1 end,
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma { m = 128, n = 64 } } },
}
