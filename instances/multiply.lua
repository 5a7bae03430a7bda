-- E = (A·B) * D, element by element: a gate computed elsewhere.
gemm "multiply" {
  types    = { { a = f16,  b = f16,  e = f16  },
               { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr", "rrr" },
  d        = { gate = full "e" },
  epilogue = function(acc, d) return acc * d.gate end,
}
