-- SPDX-License-Identifier: MIT
-- How an operand x of mfma gets from memory to LDS: what of it is made on its way, and in how many moves.  Adds to what
-- operands.lua has:
--   tile, loads, deep, wide, tiles   of the schedule's tunables
--   chunk, subs    the words of a load; parts of a piece that little tiles have, where rows are contiguous
--   small          two elements in a byte, along K
--   plain          elements as they are
--   widens         small ones become larger, a word at a time, without an operator
--   made           a piece is made in moves of its own, by `way`:
--     widen          kiln_widen.h
--     packed         f16 in packed arithmetic
--     scaled         bf16, whole numbers or fp8 times a scale
--     each           two elements at a time (four of bytes), as f32
--   fast           `packed` or `scaled` with the operator; less: what is subtracted there is not zero
--   values         by product, from 1: what comes with each load, { d = the input, field = of in_flight }
--   inputs, of     those inputs, of all products; by product scale and zero (half_bytes.lua)
--   make           by product, from 1: the name of what makes a piece
--   per_load       pieces of a load
--   parts          moves that put a piece into LDS, a row of a little tile; begin: the first ones, of a load's first
--                  piece
--   cost           of move i of a load: about how many instructions; fetch: of a load of an input
--   work           of all that is made of a tile, for a thread: likewise, loads included; nil of bytes that are widened
--   extent(n)      bytes of n elements, in C
local half_bytes = require "half_bytes"

-- Moves of pieces that are made, each with about so many instructions: those that a load begins with, those of all
-- pieces.
local function moves_of(x, target)
  -- An fp8 that the machine does not convert takes more.
  local soft = x.type.float and x.type.bits == 8 and not target.mma[x.type.name .. " " .. x.type.name]
  local bf16, four = x.mul.name == "bf16", { 0, 0, 0, 0 }
  local function all(cost)
    for i = 1, #four do four[i] = cost end
    return {}, four
  end
  if x.way == "packed" then
    if x.small then return x.fast and { 6 } or {}, { 4, 4, 4, 4 } end
    local out = x.type.name == "i8" and 3 or soft and 26 or x.type.float and 10 or 2
    return { 6 }, { out, x.less and 4 or 2, out, x.less and 4 or 2 }
  elseif x.way == "scaled" then
    if x.small then return { 5, 4 }, { 3, 6, 4, 4, 6, 4, 4 } end
    local out = x.type.name == "i8" and 7 or soft and 38 or x.type.float and 8 or x.less and 6 or 4
    return { 5, 4 }, { out, 4, 4, out, 4, 4 }
  elseif x.small and not x.has_op then
    return all(3)
  elseif x.small then
    return all(20)
  end
  local as_f32 = soft and 11 or x.type.float and 4 or x.type.bytes == 1 and 3 or 1
  return all(as_f32 + (bf16 and 9 or 2) + 1.5 * #x.inputs)
end

local function work_of(x)
  local work = 0
  for q = 1, x.count do
    local load = 4 + (x.fetch or 0) * #x.values[q]
    for i = 0, x.per_load * x.parts - 1 do load = load + x.cost(i) end
    work = work + x.loads * load
  end
  return work
end

return function(x, op, types, t, target)
  local b = x.name == "b"
  x.tile, x.loads, x.deep, x.wide = b and t.n or t.m, t["loads_" .. x.name], t["deep_" .. x.name], t["wide_" .. x.name]
  x.tiles = b and t.n_tiles or t.m_tiles
  x.small = x.type.bits < 8
  x.plain = not x.has_op and x.type.name == x.mul.name
  x.widens = not x.has_op and 2 * x.type.bits == 8 * x.mul.bytes and x.mul.bytes <= 2
  x.chunk = "kiln_words" .. words(x.type, x.wide)
  x.subs = t.piece // x.deep
  x.per_load, x.parts = x.along_k and x.wide // t.piece or 1, 1
  x.extent = function(n) return x.small and "((" .. n .. ") >> 1)" or "(" .. n .. ") * " .. x.type.bytes end
  local each = x.along_k and t.piece or x.deep
  local turning = not x.along_k and x.mul.bytes < 4 and 0.5 or 0
  local widening = x.type.name ~= "i8" and 2.5 or x.mul.name == "bf16" and 1.5 or 1.25
  if x.small then widening = x.type.name == "i4" and 1.2 or 0.7 end
  local work = each * (x.plain and turning or x.widens and turning + widening or 8)
  if x.along_k and x.widens then x.parts = 2 end
  x.cost = function(i) return work / x.parts + (i % x.parts == x.parts - 1 and 2 or 0) end

  -- What the operator has beside elements comes with them.
  x.inputs, x.of, x.values, x.make = {}, {}, {}, {}
  local scaled = b and x.has_op and (#op.b_inputs > 0 or not op.b_op_alike)
  for q = 1, x.count do
    x.values[q], x.make[q] = {}, "make_" .. x.name .. (x.has_op and x.count > 1 and q or "")
  end
  x.made = x.along_k and (x.small or x.widens or scaled)
  if not x.made then return end
  x.way = "widen"
  if x.small then x.work = work_of(x) end
  if x.widens then return end
  local v = half_bytes.values(op, types, t.k, true)
  x.inputs, x.of, x.fetch = v.inputs, v.of, 4
  for q, of in ipairs(v.of) do
    for _, d in ipairs(of.inputs) do
      local field = "of_" .. d.name .. (x.count > 1 and not d.product and q or "")
      table.insert(x.values[q], { d = d, field = field })
    end
  end
  local name = x.mul.name
  x.fast = v.fast and x.type.bits <= 8 and (name == "f16" or name == "bf16" and x.type.name ~= "f8e5m2")
  x.way = name == "f16" and (x.fast or x.small and not x.has_op) and "packed" or x.fast and "scaled" or "each"
  x.less = v.zero ~= nil or x.type.name == "i4" or x.type.name == "i8" or x.way == "packed" and not x.type.float
  local always
  x.begin, always = moves_of(x, target)
  x.parts = #x.begin + #always
  x.cost = function(i)
    local part = i % x.parts + 1
    if part <= #x.begin then return i < x.parts and x.begin[part] or 0 end
    return always[part - #x.begin] + (part == x.parts and 2 or 0)
  end
  x.work = work_of(x)
end
