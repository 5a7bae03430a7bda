-- Scales and zero points of 4 bits, their blocks of odd shapes.
gemm "forms_halves_blocks" {
  types    = { { a = bf16, b = u4, e = bf16 } },
  layouts  = { "rcr", "rrr" },
  d        = { scale = per_block("b", bf16, 2, 30, "r"), zero = per_block("b", u4, 3, 30) },
  b_op     = function(w, d) return (w - d.zero) * d.scale end,
  epilogue = function(acc) return acc end,
}
