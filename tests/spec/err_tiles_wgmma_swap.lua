-- expect: 6:27: error: gemm "x": wgmma on sm_90a leaves nothing: 1 swept, 1 cut by swap: an operand with an operator or a conversion has its side (sm_90a)
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  b_op     = function(x) return x * 2 end,
  tiles    = { sm_90a = { wgmma { m = 128, n = 128, swap = 1 } } },
  epilogue = function(acc) return acc end,
}
