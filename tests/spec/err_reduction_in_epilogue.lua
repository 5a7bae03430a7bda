-- expect: 5:41: error: gemm "x": block_max: epilogue gets one element at a time, so it has nothing to reduce
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return acc / block_max(acc, 64) end,
}
