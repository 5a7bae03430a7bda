-- SPDX-License-Identifier: MIT
-- cost_values.lua TEMPLATES TARGET PAIRS: what a schedule's `cost` says of tiles and problems, by numbers.  PAIRS
-- returns { problems = { of what `p` has }, tiles = { of what `t` has }, pairs = { { problem, tile }, ... } }.  For
-- each line of standard input, a schedule's file, one of as many microseconds as there are pairs is written, or
-- `error: ...`.
local templates, target_name, pairs_file = arg[1], arg[2], arg[3]

-- The language's functions, of numbers; a condition is true, or a number that is not 0.
local function holds(c) return c and c ~= 0 end
local language = {
  select = function(c, a, b) if holds(c) then return a end return b end,
  eq = function(a, b) return a == b end, ne = function(a, b) return a ~= b end,
  lt = function(a, b) return a < b end, le = function(a, b) return a <= b end,
  gt = function(a, b) return a > b end, ge = function(a, b) return a >= b end,
  not_ = function(c) return not holds(c) end,
  all = function(...) for _, c in ipairs { ... } do if not holds(c) then return false end end return true end,
  any = function(...) for _, c in ipairs { ... } do if holds(c) then return true end end return false end,
  max = math.max, min = math.min,
  ceil_div = function(a, b) return -(-a // b) end,
}

local function read(path)
  local file = io.open(path)
  if not file then return nil end
  local text = file:read "a"
  file:close()
  return text
end

-- The table that a schedule's file describes; what it requires is read anew.
local function load_schedule(path)
  local found, loaded = nil, {}
  local environment = setmetatable({}, { __index = function(_, name) return language[name] or _G[name] end })
  function environment.schedule(of) found = of return of end
  function environment.require(name)
    for _, folder in ipairs { "gemm/lib/", "lib/", "gemm/" } do
      local file = templates .. "/" .. folder .. name .. ".lua"
      local text = loaded[name] == nil and read(file)
      if text then loaded[name] = assert(load(text, "@" .. file, "t", environment))() end
    end
    return loaded[name]
  end
  assert(load(read(path) or "", "@" .. path, "t", environment))()
  return assert(found, path .. " describes no schedule")
end

local target
assert(load(read(templates .. "/targets/" .. target_name .. ".lua"), target_name, "t",
            setmetatable({ target = function(of) target = of return of end }, { __index = _G })))()
local given = dofile(pairs_file)
for path in io.lines() do
  local ok, said = pcall(function()
    local cost, costs = load_schedule(path).cost, {}
    for i, pair in ipairs(given.pairs) do
      costs[i] = ("%.6g"):format((cost(given.problems[pair[1]], given.tiles[pair[2]], target)))
    end
    return table.concat(costs, " ")
  end)
  print(ok and said or "error: " .. said:gsub("\n.*", ""))
  io.flush()
end
