-- E = silu(gate) * up: what is left of swiglu when a library has computed both products.  For `kiln bench`, with K = 0.
gemm "elementwise_swiglu" {
  types    = { { a = f16, b = f16, e = f16 }, { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr" },
  d        = { gate = full "e", up = full "e" },
  epilogue = function(acc, d) return acc + silu(d.gate) * d.up end,
}
