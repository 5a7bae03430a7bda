-- SPDX-License-Identifier: MIT
-- The three ways to quantise what an op computes: with a scale that is given, with one per row, with one per row and
-- 128 columns.  quantised("rmsnorm", { ... }, f) describes NAME_static, NAME_quant and NAME_quant_block for each
-- format; f(d, s) returns the value and, where the op has further outputs, a table of those.
local formats = require "formats"
local least = 1e-12 -- a row of zeros has a scale, too

local function outputs_of(op, more)
  local all = { y = full "y" }
  for name, kind in pairs(op.outputs or {}) do all[name] = kind end
  for name, kind in pairs(more) do all[name] = kind end
  return all
end

local function results(value, more)
  local all = {}
  for name, x in pairs(more or {}) do all[name] = x end
  for name, x in pairs(value) do all[name] = x end
  return all
end

return function(name, op, f)
  for _, format in ipairs(formats) do
    local types = { { x = op.x or bf16, y = format.type } }
    local static = { scale = per_tensor(f32) }
    for input, kind in pairs(op.d) do static[input] = kind end
    rowwise(name .. "_static" .. format.name) {
      types = types, d = static, scalars = op.scalars, outputs = outputs_of(op, {}),
      body = function(d, s)
        local y, more = f(d, s)
        return results({ y = y / d.scale }, more)
      end,
    }
    rowwise(name .. "_quant" .. format.name) {
      types = types, d = op.d, scalars = op.scalars, outputs = outputs_of(op, { scale = per_row(f32) }),
      body = function(d, s)
        local y, more = f(d, s)
        local scale = max(row_max(abs(y)), least) / format.most
        return results({ y = y / scale, scale = scale }, more)
      end,
    }
    rowwise(name .. "_quant_block" .. format.name) {
      types = types, d = op.d, scalars = op.scalars, outputs = outputs_of(op, { scale = per_block(f32, 1, 128) }),
      body = function(d, s)
        local y, more = f(d, s)
        local scale = max(block_max(abs(y), 128), least) / format.most
        return results({ y = y / scale, scale = scale }, more)
      end,
    }
  end
end
