-- E = A·(W * scale): 16-bit activations; weights -8 .. 7, each 64 along K with a scale.
gemm "w4a16_sym_g64" {
  types    = { { a = bf16, b = i4, e = bf16 },
               { a = f16,  b = i4, e = f16  } },
  layouts  = { "rcr" },
  d        = { scale = per_block("b", "a", 1, 64) },
  b_op     = function(w, d) return w * d.scale end,
  epilogue = function(acc) return acc end,
}
