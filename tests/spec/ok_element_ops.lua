gemm "element_ops" {
  types    = { { a = bf16, b = i8, e = bf16 } },
  layouts  = { "rcr" },
  a_op     = function(x) return relu(x) end,
  b_op     = function(x) return cast(x / 16, bf16) end,
  epilogue = function(acc) return acc end,
}
