-- E = A·B + bias, and beside it what the next step wants to know of its rows.

-- The largest magnitude of each row: what a scale for it is made of.
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

-- The sum of squares of each row of what is stored, the residual included: all that the next RMSNorm needs of it.
gemm "linear_residual_ssq" {
  types    = { { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr" },
  d        = { residual = full "e" },
  outputs  = { ssq = per_row(f32) },
  epilogue = function(acc, d)
    local y = cast(acc + d.residual, bf16)
    return { e = y, ssq = row_sum(y * y) }
  end,
}
