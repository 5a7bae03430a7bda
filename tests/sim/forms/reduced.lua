-- Every reduction of rows and columns, and what is made of them.
gemm "forms_reduced" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = i8, b = i8, e = f32 } },
  layouts  = { "rcr", "crc" },
  d        = { w = per_row(f32), v = per_col(f16), t = per_tensor(f32) },
  scalars  = { "s" },
  outputs  = { sums = per_row(f32), most = per_row(f16), columns = per_col(f32), plain = per_col(bf16) },
  epilogue = function(acc, d, s)
    local y = acc * d.t
    local mean = block_mean(y, 32)
    return { e = y, sums = row_sum(y * y) * s.s + row_mean(y) * d.w, most = max(row_max(y), row_min(-y)),
             columns = col_sum(y) + col_mean(y) * d.v, plain = select(lt(d.v, 0), col_max(y - mean), col_min(y)) }
  end,
}
