-- SPDX-License-Identifier: MIT
-- Weights B of 4 bits that become 16 bits in the registers of wgmma, and what b_op has for them.  The four lanes that
-- share a column of B hold its values between them.
--   unsupported(op)         why values cannot be so, or nil
--   values(op, types, span) of `span` elements along K:
--     inputs   b_op's
--     fast     b_op is (w - zero) * scale, or w * scale, of values whose 16-bit arithmetic is exact but for the last
--              rounding; scale, zero: those inputs
--     run      elements along K that share all values, and so many runs
--     runs
--     each     values of a lane, of two columns
--     words    registers of these, of those that are on their way, and of where they come from
--   of_lanes(op, types, span) where a lane has what belongs to its own K of two columns, and a warp's come to shared
--                           memory by eights of a column's values; nil where it can't. As values, with
--     deep     elements along K to a value
--     each     values of a lane, of one column, for span / 4 elements along K, of which it holds one
--     tiles    of `span` that eight values are for
--     pitch    bytes of a column's eights in shared memory
local half_bytes = {}

function half_bytes.unsupported(op)
  if op.products > 1 then return "two products of elements of 4 bits go through no registers here" end
  if op.block then return "sums over blocks of elements of 4 bits are not scaled here" end
  for _, d in ipairs(op.b_inputs) do
    if d.kind == "per_block" and (d.deep % 16 ~= 0 or 256 % d.deep ~= 0 and d.deep % 256 ~= 0) then
      return ("%d along K to a value of %s: 16, 32, 64, 128 or multiples of 256"):format(d.deep, d.name)
    end
  end
end

function half_bytes.values(op, types, span)
  local v = { inputs = op.has_b_op and op.b_inputs or {}, run = span }
  for _, d in ipairs(v.inputs) do
    if d.kind == "per_block" then v.run = min(v.run, d.deep) end
  end
  v.runs = span // v.run
  v.each = max(v.runs // 2, 1)
  local form = op.has_b_op and op.b_op_affine
  if form then
    v.scale, v.zero = op.d[form.scale + 1], form.zero and op.d[form.zero + 1]
    v.fast = v.scale.type == types.mul_b and (not v.zero or v.zero.type.bits == 4)
  end
  local places = 2 * min(v.each, 2) * #v.inputs
  v.words = #v.inputs == 0 and 0 or v.each * ((v.fast and 1 or #v.inputs) + 2 * #v.inputs) + places
  return v
end

function half_bytes.of_lanes(op, types, span)
  local v = half_bytes.values(op, types, span)
  if op.has_b_op and not v.fast then return end
  for _, d in ipairs(v.inputs) do
    v.deep = v.deep or d.deep
    if d.kind ~= "per_block" or d.layout ~= "c" or d.along ~= 1 or d.deep ~= v.deep or d.deep % 32 ~= 0 then return end
  end
  v.each = max(span // 4 // v.run, 1)
  v.tiles = v.deep and 8 * v.deep // span
  -- Words: as many as eight values may begin and end within, of two bytes and of half a byte.
  v.pitch = #v.inputs == 0 and 0 or v.zero and 4 * (5 + 2) or 4 * 5
  v.words = #v.inputs == 0 and 0 or 2 * (v.zero and 2 or 1)
  return v
end

return half_bytes
