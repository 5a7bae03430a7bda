-- SPDX-License-Identifier: MIT
-- y = x / sqrt(mean(x²) + eps) * weight, of each row
-- @HOW@
rowwise "@NAME@" {
  types   = { { t = bf16 }, { t = f16 } },              -- element types by names of your own; all is computed in f32
  d       = { x = full "t", weight = per_col "t" },     -- inputs: full, per_row, per_col, per_tensor
  scalars = { "eps" },                                  -- given at run time
  outputs = { y = full "t" },                           -- full, per_row, per_block
  body    = function(d, s)
    return { y = d.x * rsqrt(row_mean(d.x * d.x) + s.eps) * d.weight }
  end,
  -- check = { shapes = { { 512, 4096 } } },             -- further rows, cols for `kiln verify --all`
}
