-- SPDX-License-Identifier: MIT
-- Sums over blocks of K in wgmma: their values come through the ring beside the tiles that they belong to, and the
-- matrix unit keeps a sum for no longer than a step of the ring, or a block where that is shorter.
--   unsupported(op, types, x)  why an op's blocks cannot be so, or nil; x: the operand of 64 rows, "a" or "b"
--   room(t)                    registers of a thread for sums, whole ones and those of a unit
--   places(op, t, types, x)    what tiles make of them:
--     subs    blocks of K that a step has
--     values  f32 of a slot
--     unit    columns of Y whose sums the matrix unit has at once: half of the tile's where registers want it
--     each    columns of Y that share their factors; apart: none do
--     first   a step's factors are few enough to be read ahead of its products
--   and of each per_block input: of_x, whether it is X's; each, rows of X or columns of Y to a value of the slot;
--   count, values of a tile; at, where those of the slot begin.
local wgmma_blocks = {}

local function gcd(x, y) return y == 0 and x or gcd(y, x % y) end

function wgmma_blocks.unsupported(op, types, x)
  if #op.a_inputs > 0 then return "its a_op gets no inputs" end
  if types.mul_b.bits ~= 16 then
    if #op.b_inputs > 0 then return "its b_op gets inputs only where it makes 16 bits" end
    if not op.b_op_alike then return "its b_op is one for both products where it does not make 16 bits" end
  end
  if not op.block then return end
  local bytes = op.block.deep * types.mul_a.bytes
  local widened = types.a.name ~= types.mul_a.name or types.b.name ~= types.mul_b.name or op.has_a_op or op.has_b_op
  if bytes % 128 ~= 0 and (bytes % 32 ~= 0 or 128 % bytes ~= 0 or widened) then
    return ("blocks of %d along K are no whole steps of 128 bytes"):format(op.block.deep)
  end
  for _, d in ipairs(op.d) do
    if d.kind == "per_block" then
      if d.type.name ~= "f32" then return ("the blocks' %s is %s: only f32 is copied"):format(d.name, d.type.name) end
      local most = d.of == x and 64 or 8
      if d.along ~= 1 and d.along % most ~= 0 then
        return ("%d of %s to a value of %s: 1, or multiples of %d"):format(d.along, d.of:upper(), d.name, most)
      end
    end
  end
end

function wgmma_blocks.room(t)
  return t.wg == 3 and (t.full_d == 0 and 128 or 112) or t.in_registers == 1 and 128 or 192
end

function wgmma_blocks.places(op, t, types, x)
  local p = { subs = max(128 // types.mul_a.bytes // op.block.deep, 1), values = 0, unit = t.y, apart = false }
  local sums = op.products * (t.x // (64 * t.groups)) * t.y // 2
  if t.in_registers == 0 and sums + t.y // 2 > wgmma_blocks.room(t) and t.y % 32 == 0 then p.unit = t.y // 2 end
  p.each = p.unit
  for _, d in ipairs(op.d) do
    if d.kind == "per_block" then
      d.of_x = d.of == x
      d.each = d.along == 1 and 1 or gcd(d.along, d.of_x and 64 or p.unit)
      d.count = (d.of_x and t.x or t.y) // d.each
      d.at, p.values = p.values, p.values + d.count * p.subs
      if not d.of_x then p.each, p.apart = gcd(p.each, d.each), p.apart or d.each == 1 end
    end
  end
  local units = p.subs * op.products * (t.x // (64 * t.groups)) * (t.y // p.unit)
  p.first = t.in_registers == 0 and not p.apart and units * 2 * (p.unit // p.each) <= 8
  return p
end

return wgmma_blocks
