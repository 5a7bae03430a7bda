-- E = product * gate: what is left of add_fastgelu_multiply when a library has computed the rest.  For `kiln bench`, with K = 0.
gemm "elementwise_multiply" {
  types    = { { a = f16, b = f16, e = f16 }, { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr" },
  d        = { product = full "e", gate = full "e" },
  epilogue = function(acc, d) return acc + d.product * d.gate end,
}
