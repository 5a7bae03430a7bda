-- SPDX-License-Identifier: MIT
-- y = x / sqrt(mean(x²) + eps) * weight, of x or of x + residual, which is rounded and stored; plain and quantised.
local quantised = require "quantised"

local function norm(x, d, s) return x * rsqrt(row_mean(x * x) + s.eps) * d.weight end

rowwise "rmsnorm" {
  types   = { { x = bf16 }, { x = f16 }, { x = f32 } },
  d       = { x = full "x", weight = per_col "x" },
  scalars = { "eps" },
  outputs = { y = full "x" },
  body    = function(d, s) return norm(d.x, d, s) end,
}

for suffix, type in pairs { [""] = bf16, _f16 = f16 } do
  rowwise("add_rmsnorm" .. suffix) {
    types   = { { x = type } },
    d       = { x = full "x", residual = full "x", weight = per_col "x" },
    scalars = { "eps" },
    outputs = { sum = full "x", y = full "x" },
    body    = function(d, s)
      local sum = cast(d.x + d.residual, type)
      return { sum = sum, y = norm(sum, d, s) }
    end,
  }
end

quantised("rmsnorm", { d = { x = full "x", weight = per_col "x" }, scalars = { "eps" } },
  function(d, s) return norm(d.x, d, s) end)

quantised("add_rmsnorm", { d = { x = full "x", residual = full "x", weight = per_col "x" }, scalars = { "eps" },
                           outputs = { sum = full "x" } },
  function(d, s)
    local sum = cast(d.x + d.residual, bf16)
    return norm(sum, d, s), { sum = sum }
  end)
