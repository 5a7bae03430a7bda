gemm "checked" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return tanh(acc) end,
  check    = { rtol = 2e-3, shapes = { { 1, 4096, 4096 }, { 17, 80, 0 } } },
}
