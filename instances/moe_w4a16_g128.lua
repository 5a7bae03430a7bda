-- E = A·((W - zero) * scale), rows of E with the W of their group
-- Experts with weights of 4 bits, each 128 along K with a scale and a zero point.
gemm "moe_w4a16_g128" {
  types    = { { a = bf16, b = u4, e = bf16 }, { a = f16, b = u4, e = f16 } },
  layouts  = { "rcr" },
  groups   = true,
  d        = { scale = per_block("b", "a", 1, 128), zero = per_block("b", u4, 1, 128) },
  b_op     = function(w, d) return (w - d.zero) * d.scale end,
  epilogue = function(acc) return acc end,
}
