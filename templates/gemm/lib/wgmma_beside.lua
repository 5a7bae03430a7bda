-- SPDX-License-Identifier: MIT
-- Shared memory of wgmma other than the ring's tiles: strips of E and of full inputs, vectors of f32, barriers.
local wgmma_blocks, half_bytes, apart = require "wgmma_blocks", require "half_bytes", require "wgmma_apart"

-- Slots of the ring that a strip of all full inputs takes, for each of the warpgroups that share the tile.
local function strip_slots(t, op)
  local slots, left = 0, 0
  for _, d in ipairs(op.d) do
    for _ = 1, d.kind == "full" and t.groups or 0 do
      local bytes = 64 * t.strip * d.type.bytes
      if bytes > left then slots, left = slots + 1, t.slot_bytes end
      left = left - bytes
    end
  end
  return slots
end

-- Where a strip of the full inputs would not fit into the ring beside a tile.
local function too_wide(t, op, widest) return 64 * t.strip * widest > t.slot_bytes or strip_slots(t, op) >= t.depth end

-- What of a tile of wgmma is known (places in wgmma.lua).
return function(t, op, types, layout)
  local widest = 0 -- of full inputs' elements
  t.full_d, t.bytes_d, t.vector = 0, 0, 0
  for _, d in ipairs(op.epilogue_inputs) do
    if d.kind == "full" then
      t.full_d, t.bytes_d, widest = t.full_d + 1, t.bytes_d + d.type.bytes, max(widest, d.type.bytes)
    elseif d.kind == "per_tensor" then
      t.vector = t.vector + 4
    else
      t.vector = t.vector + ((d.kind == "per_row") == (t.x_is_a == 1) and t.x or t.y)
    end
  end
  -- Columns of Y that leave at once: the most that rows of 128 bytes hold, of those that banks of shared memory take
  -- side by side: swizzled, or an odd number of 16 bytes.  Full inputs have the same strips, of at least 16 bytes a
  -- row, swizzled.  Where E is contiguous along X, its rows are 64 long anyway.  A cluster's strips are even in number
  -- where 16 columns and more, in rows of 48 bytes and more, can be that, for its blocks to share them; what narrower
  -- strips leave free is the ring's.
  t.strip = t.e_depth > 0 and 0 or t.y
  local half = types[t.x_is_a == 1 and "a" or "b"].bits < 8
  local function unshared(strip)
    if apart(t, op) then return t.y // strip % 2 > 0 end -- by the warpgroups of two products
    return t.cluster > 1 and t.x // (64 * t.groups) * t.y // strip % 2 > 0
  end
  for strip = t.e_depth > 0 and 128 // types.e.bytes or 0, 8, -8 do
    local row, full = strip * types.e.bytes, t.full_d > 0
    local swizzled, odd = row & (row - 1) == 0, row % 32 == 16
    if t.e_along_y == 0 then swizzled, odd, row = strip & (strip - 1) == 0, true, 128 end
    local fits = t.y % strip == 0 and row % 16 == 0 and (swizzled and (strip >= 16 or not full) or odd and not full)
    local wide = strip >= 16 and row >= 48 or op.block or half
    if fits and (t.strip == 0 or full and too_wide(t, op, widest)
                     or unshared(t.strip) and not unshared(strip) and wide) then
      t.strip = strip
    end
  end
  t.d_parts = strip_slots(t, op)
  t.beside_ring = t.wg * max(64 * t.e_depth, 32) * t.strip * types.e.bytes + 4 * t.vector
                  + 8 * (2 * t.depth + (t.gather == 1 and 18 or 2)) -- with what lies between barriers and BEHIND
  t.beside_ring = t.beside_ring + require "wgmma_outputs".beside_ring(t, op)
  if op.groups then t.beside_ring = t.beside_ring + 144 end -- pieces on their way, and their barriers
  if op.block then
    local values = wgmma_blocks.places(op, t, types, t.x_is_a == 1 and "a" or "b").values
    t.beside_ring = t.beside_ring + ceil_div(t.depth * values, 2) * 8
  end
  if half_bytes.takes(op, types) then -- what b_op has for these
    local v = half_bytes.values(op, types, t.k)
    t.beside_ring = t.beside_ring + t.depth * 4 * (op.products * t.x * v.runs * v.brought + (v.guarded and 2 or 0))
  end
  -- With lines that begin anywhere each of a tile's has 16 bytes more.
  local of_tile = t.x_is_a == 1 and t.x + op.products * t.y or op.products * t.x + t.y
  t.behind = t.gather == 1 and ceil_div(16 * of_tile, 128) * 128 or 0
end
