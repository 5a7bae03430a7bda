-- E = A·B + residual, and beside it ssq: the sum of squares of each row of E, all that the next RMSNorm needs of it.
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
