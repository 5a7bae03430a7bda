-- E = hardswish(A·B + bias) + D, hardswish(x) = x * clamp(x + 3, 0, 6) / 6.
gemm "add_hardswish_add" {
  types    = { { a = f16,  b = f16,  e = f16  },
               { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr", "rrr" },
  d        = { bias = per_col "e", residual = full "e" },
  epilogue = function(acc, d)
    local x = acc + d.bias
    return x * clamp(x + 3, 0, 6) * (1 / 6) + d.residual
  end,
}
