-- SPDX-License-Identifier: MIT
-- y = x / scale, scale = the largest magnitude of each row, or of each 128 columns of it, over what the format holds.
-- quantise_u8: y = round(x / scale) + zero, both given, as requantise takes A.
local formats = require "formats"
local least = 1e-12

for _, format in ipairs(formats) do
  rowwise("quantise_row" .. format.name) {
    types   = { { x = bf16, y = format.type }, { x = f16, y = format.type } },
    d       = { x = full "x" },
    outputs = { y = full "y", scale = per_row(f32) },
    body    = function(d)
      local scale = max(row_max(abs(d.x)), least) / format.most
      return { y = d.x / scale, scale = scale }
    end,
  }
  rowwise("quantise_block" .. format.name) {
    types   = { { x = bf16, y = format.type }, { x = f16, y = format.type } },
    d       = { x = full "x" },
    outputs = { y = full "y", scale = per_block(f32, 1, 128) },
    body    = function(d)
      local scale = max(block_max(abs(d.x), 128), least) / format.most
      return { y = d.x / scale, scale = scale }
    end,
  }
end

rowwise "quantise_u8" {
  types   = { { x = f32, y = u8 } },
  d       = { x = full "x" },
  outputs = { y = full "y" },
  scalars = { "scale", "zero" },
  body    = function(d, s) return { y = round(d.x / s.scale) + s.zero } end,
}
