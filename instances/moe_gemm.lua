-- E = A·B, rows of E with the B of their group
gemm "moe_gemm" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr", "rrr" },
  groups   = true,
  epilogue = function(acc) return acc end,
}
