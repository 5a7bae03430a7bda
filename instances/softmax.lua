-- SPDX-License-Identifier: MIT
-- y = exp(z - max(z)) / sum(exp(z - max(z))) of each row: z is x, x times a scale, or that where the column is not past
-- the row's place (causal: the last row sees the last column where there are as many of both).
local function softmax(z)
  local e = exp(z - row_max(z))
  return e / row_sum(e)
end

rowwise "softmax" {
  types   = { { x = bf16 }, { x = f16 }, { x = f32 } },
  d       = { x = full "x" },
  outputs = { y = full "x" },
  body    = function(d) return softmax(d.x) end,
}

rowwise "scaled_softmax" {
  types   = { { x = bf16 }, { x = f16 } },
  d       = { x = full "x" },
  scalars = { "scale" },
  outputs = { y = full "x" },
  body    = function(d, s) return softmax(d.x * s.scale) end,
}

rowwise "causal_softmax" {
  types   = { { x = bf16 }, { x = f16 } },
  d       = { x = full "x" },
  scalars = { "scale" },
  outputs = { y = full "x" },
  body    = function(d, s, at)
    return softmax(select(le(at.col, at.row), d.x * s.scale, -1e30))
  end,
}
