-- expect: 5:20: error: full: expected a dtype or "a", "b", "acc", "e", got the text 'f32'; dtypes are written without quotes
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  d        = { c = full "f32" },
  epilogue = function(acc, d) return acc + d.c end,
}
