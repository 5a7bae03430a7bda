-- expect: 6:16: error: gemm "x": check: unknown field 'rtoll' (did you mean 'rtol'?)
-- expect: 6:30: error: gemm "x": check: unknown field 'tolerance'; fields are rtol and shapes
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  check    = { rtoll = 1e-3, tolerance = 1 },
  epilogue = function(acc) return acc end,
}
