-- SPDX-License-Identifier: MIT
-- y = silu(gate) * up
-- @HOW@
rowwise "@NAME@" {
  types   = { { t = bf16 }, { t = f16 } },              -- element types by names of your own; all is computed in f32
  d       = { gate = full "t", up = full "t" },         -- inputs: full, per_row, per_col, per_tensor
  outputs = { y = full "t" },                           -- full, per_row, per_block
  body    = function(d) return { y = silu(d.gate) * d.up } end,
  -- check = { shapes = { { 512, 4096 } } },             -- further rows, cols for `kiln verify --all`
}
