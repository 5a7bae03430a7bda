-- SPDX-License-Identifier: MIT
-- y = x / scale in 8 bits, with a scale for each row: that of its largest element
-- @HOW@
rowwise "@NAME@" {
  types   = { { x = bf16, y = f8e4m3 },                 -- element types by names of your own; all is computed in f32
              { x = f16,  y = f8e4m3 } },
  d       = { x = full "x" },                           -- inputs: full, per_row, per_col, per_tensor
  outputs = { y = full "y", scale = per_row(f32) },     -- full, per_row, per_block; each is returned by its name
  body    = function(d)
    local scale = max(row_max(abs(d.x)), 1e-10) / 448   -- 448 is the largest number of f8e4m3
    return { y = d.x / scale, scale = scale }
  end,
  -- check = { shapes = { { 512, 4096 } } },             -- further rows, cols for `kiln verify --all`
}
