-- expect: 4:22: error: unknown name 'fp16' (did you mean 'f16'?)
gemm "x" {
  layouts  = { "rcr" },
  types    = { { a = fp16, b = f16, e = f16 } },
  epilogue = function(acc) return acc end,
}
