-- E = (A·B) * weight, rows of E with the B of their group
-- The second half of a mixture of experts: weight is what a row counts in its token.
gemm "moe_down" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  groups   = true,
  d        = { weight = per_row(f32) },
  epilogue = function(acc, d) return acc * d.weight end,
}
