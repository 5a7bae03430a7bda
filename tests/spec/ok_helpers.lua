-- Plain Lua around the traced values: closures, loops over constants, tables of functions, optional arguments.
local activations = { none = function(x) return x end, relu = relu, square = function(x) return x * x end }

local function scaled(x, scale)
  if scale ~= nil then x = x * scale end
  local slope = scale or 0.5
  return x + slope
end

local function polynomial(x, c)
  local sum = c[#c]
  for i = #c - 1, 1, -1 do sum = sum * x + c[i] end
  return sum
end

for name, f in pairs(activations) do
  gemm("act_" .. name) {
    types    = { { a = f16, b = f16, e = f16 } },
    layouts  = { "rcr" },
    scalars  = { "alpha" },
    epilogue = function(acc, _, s)
      local y = f(scaled(acc, s.alpha)) + scaled(acc)
      if type(y) == "number" then return acc end
      return polynomial(y, { 1, 0.5, 0.25 })
    end,
  }
end
