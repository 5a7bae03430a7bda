-- expect: 8:38: error: rowwise "x": outputs.scale: expected full(t), per_row(t) or per_block(t, 1, n), got per_col
-- expect: 8:56: error: rowwise "x": outputs.z: expected full(t), per_row(t) or per_block(t, 1, n), got the dtype f32
-- expect: 8:66: error: rowwise "x": outputs.zz: expected full(t), per_row(t) or per_block(t, 1, n), got per_tensor
rowwise "x" {
  types    = { { x = bf16, y = f8e4m3 } },
  d        = { x = full "x", weight = per_col "x" },
  scalars  = { "eps" },
  outputs  = { y = full "y", scale = per_col(f32), z = f32, zz = per_tensor(f32) },
  body     = function(d, s)
    local y = d.x * rsqrt(row_mean(d.x * d.x) + s.eps) * d.weight
    local scale = row_max(abs(y)) / 448
    return { y = y / scale, scale = scale }
  end,
}
