-- E = silu(A·((Wg - zero) * scale)) * (A·((Wu - zero) * scale)): a gated unit with weights of 4 bits, each 128 along K
-- of a column of either with a scale and a zero point: scale_gate, scale_up, zero_gate, zero_up.
gemm "swiglu_w4a16_g128" {
  types    = { { a = bf16, b = u4, e = bf16 },
               { a = f16,  b = u4, e = f16  } },
  layouts  = { "rcr" },
  b        = { "gate", "up" },
  d        = { scale = per_block("b", "a", 1, 128), zero = per_block("b", u4, 1, 128) },
  b_op     = function(w, d) return (w - d.zero) * d.scale end,
  epilogue = function(acc) return silu(acc.gate) * acc.up end,
}
