-- expect: 6:27: error: rowwise "x": types: row 2: unknown field 'yy'; a row has x and y
-- expect: 7:16: error: rowwise "x": types: row 3: missing 'y'
-- expect: 8:16: error: rowwise "x": types: row 4 is the same as row 1
rowwise "x" {
  types    = { { x = bf16, y = f8e4m3 },
               { x = f16, yy = f8e4m3 },
               { x = f16 },
               { y = f8e4m3, x = bf16 } },
  d        = { x = full "x", weight = per_col "x" },
  scalars  = { "eps" },
  outputs  = { y = full "y", scale = per_row(f32) },
  body     = function(d, s)
    local y = d.x * rsqrt(row_mean(d.x * d.x) + s.eps) * d.weight
    local scale = row_max(abs(y)) / 448
    return { y = y / scale, scale = scale }
  end,
}
