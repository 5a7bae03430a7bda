-- SPDX-License-Identifier: MIT
-- Ops of a family that only these tests have.
transpose "flip" {
  types   = { { x = f32, y = f32 }, { x = bf16, y = f32 } },
  targets = { "host" },
  d       = { offset = per_row(f32) },
  scalars = { "alpha" },
  body    = function(x, d, s) return s.alpha * x + d.offset end,
  tiles   = { host = { host { tile = { 8, 32 } } } },
}

transpose "turn" {
  types   = { { x = i8, y = f32 } },
  targets = { "host" },
  body    = function(x) return x end,
}
