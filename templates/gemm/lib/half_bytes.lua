-- SPDX-License-Identifier: MIT
-- Weights B of 4 bits that become 16 bits in the registers of wgmma, and what b_op has for them, or for wider ones.
-- The four lanes that share a column of B hold its values between them.
--   takes(op, types)        whether B is so: 16 bits are made of 4, or by a b_op that has inputs or is another for each
--                           product
--   unsupported(op)         why values cannot be so, or nil
--   values(op, types, span, any) of `span` elements along K; any: a schedule makes 16 bits of bytes of every type:
--     inputs   b_op's
--     fast     b_op is (w - zero) * scale, or w * scale, of values whose 16-bit arithmetic is exact but for the last
--              rounding; scale, zero: those inputs, of the first product
--     of       by product, from 1: { inputs = , scale = , zero = }
--     run      elements along K that share all values, and so many runs
--     runs
--     each     values of a lane, of two columns
--     words    registers of these, of those that are on their way, and of where they come from
--     brought  words of a column and run where others bring them to shared memory as they are used: what two elements
--              are multiplied by and, before that, get added; or f32
--     straight b_op has no branch: it is (w - zero) * scale, or w * scale
--     guarded  four times a scale is multiplied by, too: not where that is beyond the largest number
--     plus_low, plus_high    what is added without a zero point
--   loaded(v)               what is loaded for a column and run: each product's inputs
--   ahead(v, x)             whether two warps that bring the values of x columns of each product have registers for
--                           loading them a step ahead
--   of_lanes(op, types, span) where a lane has what belongs to its own K of two columns, and a warp's come to shared
--                           memory by eights of a column's values; nil where it can't. As values, with
--     deep     elements along K to a value
--     each     values of a lane, of one column, for span / 4 elements along K, of which it holds one
--     tiles    of `span` that eight values are for
--     pitch    bytes of a column's eights in shared memory
local half_bytes = {}

function half_bytes.takes(op, types)
  return types.mul_b.bits == 16 and (types.b.bits < 8 or op.has_b_op and (#op.b_inputs > 0 or not op.b_op_alike))
end

function half_bytes.unsupported(op)
  if op.block then return "sums over blocks of elements of 4 bits, or by b_op's inputs, are not scaled here" end
  for _, d in ipairs(op.b_inputs) do
    if d.kind == "per_block" and (d.deep % 16 ~= 0 or 256 % d.deep ~= 0 and d.deep % 256 ~= 0) then
      return ("%d along K to a value of %s: 16, 32, 64, 128 or multiples of 256"):format(d.deep, d.name)
    end
  end
end

function half_bytes.values(op, types, span, any)
  local v = { inputs = op.has_b_op and op.b_inputs or {}, run = span }
  for _, d in ipairs(v.inputs) do
    if d.kind == "per_block" then v.run = min(v.run, d.deep) end
  end
  v.runs = span // v.run
  v.each = max(v.runs // 2, 1)
  local forms = op.has_b_op and op.b_op_affine
  -- What is exact in 16 bits: differences of whole numbers of at most 8 bits.
  local small, alike = types.b.bits < 8, types.b == types.mul_b
  local widens = any or small or alike or types.b.name == "i8" or types.b.name == "f8e4m3" or types.b.name == "f8e5m2"
  local function exact(zero)
    return not zero or not alike and not types.b.float and (zero.type.bits == 4 or not small and zero.type == types.b)
  end
  v.straight = forms ~= nil and forms ~= false
  v.of, v.fast = {}, v.straight and widens
  for q = 1, op.products do
    local mine = { inputs = {} }
    for _, d in ipairs(v.inputs) do
      if (d.product or q - 1) == q - 1 then mine.inputs[#mine.inputs + 1] = d end
    end
    local form = forms and forms[q]
    if form then
      mine.scale, mine.zero = op.d[form.scale + 1], form.zero and op.d[form.zero + 1]
      v.fast = v.fast and mine.scale.type == types.mul_b and exact(mine.zero)
    end
    v.of[q] = mine
  end
  v.scale, v.zero = v.of[1].scale, v.of[1].zero
  -- Minus what elements askew are too large by: the first, and the second, as bits (kiln_wgmma.h).
  local i4, f16 = types.b.name == "i4", types.mul_b.name == "f16"
  v.plus_low = (f16 and 0xe400 or 0xc300) + (i4 and 8 or 0)
  v.plus_high = f16 and (i4 and 0xd480 or 0xd400) or i4 and 0xc000 or 0x8000
  v.brought = v.fast and (v.zero and 2 or 1) or 0
  for _, mine in ipairs(v.fast and {} or v.of) do v.brought = max(v.brought, #mine.inputs) end
  v.guarded = v.fast and not f16 and small
  local places = 2 * min(v.each, 2) * #v.inputs
  v.words = #v.inputs == 0 and 0 or v.each * ((v.fast and op.products or #v.inputs) + 2 * #v.inputs) + places
  return v
end

function half_bytes.loaded(v)
  local count = 0
  for _, mine in ipairs(v.of) do count = count + #mine.inputs end
  return count
end

function half_bytes.ahead(v, x)
  local each = half_bytes.loaded(v)
  return v.fast and x // 64 * v.runs * each + 4 * max(each - 2, 0) <= 24 -- of those there are, and where they come from
end

function half_bytes.of_lanes(op, types, span)
  local v = half_bytes.values(op, types, span)
  if op.has_b_op and not v.fast then return end
  for _, d in ipairs(v.inputs) do
    v.deep = v.deep or d.deep
    if d.kind ~= "per_block" or d.layout ~= "c" or d.along ~= 1 or d.deep ~= v.deep or d.deep % 32 ~= 0 then return end
  end
  for _, mine in ipairs(v.of) do
    if mine.zero and mine.zero.type ~= v.zero.type then return end
  end
  v.each = max(span // 4 // v.run, 1)
  v.tiles = v.deep and 8 * v.deep // span
  -- Words: as many as eight values may begin and end within, of two bytes and of half a byte, and one for the fourth
  -- lane to fill with zeros.
  v.pitch = #v.inputs == 0 and 0 or v.zero and 4 * (5 + 3) or 4 * 5
  v.words = #v.inputs == 0 and 0 or 2 * (v.zero and 2 or 1)
  return v
end

return half_bytes
