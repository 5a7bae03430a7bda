-- expect: 5:35: error: gemm "x": cast(x, t): t must be a dtype (f32, f16, ...), got a string
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return cast(acc, "bf16") end,
}
