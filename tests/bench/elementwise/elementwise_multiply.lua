-- E = product * gate: what is left of add_fastgelu_multiply when a library has computed the rest.  For `kiln bench`, with K = 0.
gemm "elementwise_multiply" {
  types    = { { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr" },
  d        = { product = full "e", gate = full "e" },
  -- Full inputs come through the ring of A and B: deep, it keeps memory busy.
  tiles    = {
    sm_90a = { wgmma { m = 128, n = { 64, 128, 256 }, depth = { 4, 6 }, cluster = 1, e_depth = { 2, 4 } } },
  },
  epilogue = function(acc, d) return acc + d.product * d.gate end,
}
