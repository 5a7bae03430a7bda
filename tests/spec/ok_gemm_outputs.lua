-- Outputs beside E: every kind, every reduction, what they may be made of.
gemm "all_outputs" {
  types    = { { a = bf16, b = bf16, e = f8e4m3 }, { a = i8, b = i8, e = i8 } },
  layouts  = { "rcr", "rrc" },
  b        = { "gate", "up" },
  d        = { w = per_row(f32), v = per_col(f32), r = full(bf16, "c") },
  scalars  = { "s" },
  outputs  = { scale = per_block("e", f32, 1, 128), copy = full(f32, "c"), sums = per_row(f32), most = per_row(f32),
               columns = per_col(f32) },
  epilogue = function(acc, d, s)
    local y = silu(acc.gate) * acc.up + d.r
    local mean = block_mean(y, 32)
    local scale = max(block_max(abs(y - mean), 128), 1e-10) / 448
    return { e = (y - mean) / scale, scale = scale, copy = y + block_sum(y, 2) + block_min(y, 64),
             sums = row_sum(y * y) * s.s + row_mean(y) * d.w, most = max(row_max(y), row_min(-y)),
             columns = col_sum(y) + col_mean(y) + select(lt(d.v, 0), col_max(y), col_min(y)) }
  end,
}
