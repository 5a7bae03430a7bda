rowwise "add_rmsnorm" {
  types   = { { x = bf16, y = f8e4m3 }, { y = i8, x = f32 } },
  d       = { x = full "x", residual = full("x", "r"), weight = per_col "x", by = per_row(f32), all = per_tensor(f16) },
  scalars = { "eps" },
  outputs = { sum = full "x", y = full "y", scale = per_row(f32), block = per_block(f32, 1, 128), one = full(i32) },
  body    = function(d, s, at)
    local sum = cast(d.x + d.residual, bf16)
    local y = sum * rsqrt(row_mean(sum * sum) + s.eps) * d.weight
    local scale = max(row_max(abs(y)), 1e-12) / 448
    return { sum = sum, y = select(lt(at.col, at.row), y / scale, d.by * d.all), scale = scale,
             block = block_max(block_sum(y, 32), 128) + scale, one = 1 }
  end,
  targets = { "host" },
  check   = { shapes = { { 3, 100 }, { 0, 5 } } },
}

-- a reduction of what does not vary is a value like others, and so is one of a number
rowwise "constant_rows" {
  types   = { { x = f16 } },
  d       = { x = per_row "x" },
  outputs = { y = per_row "x", n = per_row(f32) },
  body    = function(d) return { y = row_max(d.x), n = row_sum(1) } end,
  targets = { "host" },
}
