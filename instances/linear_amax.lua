-- E = A·B + bias, and beside it amax: the largest magnitude of each row, which a scale for it is made of.
gemm "linear_amax" {
  types    = { { a = bf16, b = bf16, e = bf16 },
               { a = f16,  b = f16,  e = f16  } },
  layouts  = { "rcr" },
  d        = { bias = per_col "e" },
  outputs  = { amax = per_row(f32) },
  epilogue = function(acc, d)
    local y = acc + d.bias
    return { e = y, amax = row_max(abs(y)) }
  end,
}
