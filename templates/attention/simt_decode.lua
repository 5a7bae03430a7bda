-- SPDX-License-Identifier: MIT
-- Few queries, many keys: blocks share the keys of a tile of rows, which are queries of all heads that share K and V,
-- so that K and V are read once, by 16 bytes a lane; a second stage brings the blocks' sums together, in their order.

local split, wgmma = require "split", require "wgmma_takes"

local function tiles_of(p, t) return split.tiles(p, t, t.q) end
-- Blocks that share a tile's keys: as many as keep every unit busy, of 256 keys at least.
local function parts_of(p, t)
  local _, busy = tiles_of(p, t)
  return max(min(min(ceil_div(4 * p.units, max(busy, 1)), ceil_div(split.span(p, t), 256)), t.parts), 1)
end

-- Of heads of the layout: elements of a piece, which a lane loads at once, and pieces of a lane.
local function pieces_of(types, layout, lanes)
  local each_k, each_v = 16 // types.k.bytes, 16 // types.v.bytes
  return each_k, each_v, ceil_div(layout.dim, each_k * lanes), ceil_div(layout.dimv, each_v * lanes)
end
-- Registers of a thread: its part of Q and O for each row, keys and values in flight.
local most_held = 180
local function held_of(types, layout, q, lanes, deep)
  local each_k, each_v, pieces_k, pieces_v = pieces_of(types, layout, lanes)
  return q * (pieces_k * each_k + pieces_v * each_v) + 4 * deep * (pieces_k + pieces_v)
end

return schedule {
  family = "attention",
  title = "few queries: blocks share the keys, each key and value is read once",
  supports = function(target, op, types, layout)
    if target.vendor == "host" then return nil, "needs a GPU" end
    local k, v = 16 // types.k.bytes, 16 // types.v.bytes
    if layout.dim % k ~= 0 or layout.dimv % v ~= 0 then
      return nil, ("heads of %d and %d elements: no multiples of 16 bytes"):format(layout.dim, layout.dimv)
    end
    return true
  end,
  tunables = {
    { "q", values = { 1, 2, 4, 8 }, doc = "queries of a block, of one head or of several that share K and V" },
    { "lanes", values = { 8, 16, 32 }, doc = "lanes that share a key" },
    { "deep", values = { 1, 2, 4 }, doc = "keys that a lane has in flight" },
    { "parts", values = { 1, 16, 64, 128 }, doc = "most blocks that share a tile's keys" },
  },
  derived = { "threads", "dim", "dimv", "each_k", "each_v", "pieces_k", "pieces_v", "held", "blocks", "kv", "ragged",
              "window", "bytes", "packed" },
  derive = function(t, op, types, layout, target)
    t.threads = 256
    t.dim, t.dimv = layout.dim, layout.dimv
    t.each_k, t.each_v, t.pieces_k, t.pieces_v = pieces_of(types, layout, t.lanes)
    t.held = held_of(types, layout, t.q, t.lanes, t.deep)
    t.blocks = t.held <= 84 and 2 or 1 -- that a unit runs at once
    t.kv = t.threads // t.lanes * t.deep -- keys of a block at once
    t.ragged, t.window = op.lengths and 1 or 0, op.mask == "window" and 1 or 0
    t.packed = op.lengths and not op.page and 1 or 0 -- keys of all sequences are counted together
    t.bytes = layout.dim * types.k.bytes + layout.dimv * types.v.bytes -- of a key and its value
  end,
  rules = {
    { ("{held} registers for Q, O, keys and values > %d"):format(most_held),
      function(t) return t.held <= most_held end },
    { "{q} rows > {lanes} lanes of a key", function(t) return t.q <= t.lanes end },
    { "{lanes} lanes of a key > a wave", function(t, op, types, layout, target) return t.lanes <= target.wave end },
    { "lanes without a piece of a key", function(t)
      return t.lanes == 8 or (t.lanes // 2) * max(t.each_k, t.each_v) < max(t.dim, t.dimv)
    end },
  },
  defaults = function(target, op, types, layout)
    local all = {}
    local pieces = max(ceil_div(layout.dim * types.k.bytes, 16), ceil_div(layout.dimv * types.v.bytes, 16))
    local lanes = pieces <= 8 and 8 or pieces <= 16 and 16 or 32
    local sizes = { 1, 4, 8 }
    -- What matrix cores compute from some more rows on needs no third one: 8 rows where memory, which is read once for
    -- all of them, takes as long as their products (as `cost` has both), else 4.
    if require "mfma_ops"(target, op, types, layout) then
      local bytes = layout.dim * types.k.bytes + layout.dimv * types.v.bytes
      local work, memory = 8 * (2 * (layout.dim + layout.dimv) + 60), bytes / (target.gbps * 0.93)
      sizes = { 1, work / (target.simt_tflops * 350) <= memory and 8 or 4 }
    end
    for _, q in ipairs(sizes) do
      local deep = q == 1 and 4 or 2
      while q == 1 and held_of(types, layout, q, lanes, deep) > most_held do deep = deep // 2 end -- long heads
      if held_of(types, layout, q, lanes, deep) <= most_held then
        all[#all + 1] = { q = q, lanes = lanes, deep = deep, parts = 64 }
      end
    end
    -- Beside wgmma_decode, one for what that cannot take: Q or O at any address.
    return wgmma.decode(target, op, types, layout) and { all[min(#all, 2)] } or all
  end,
  name = function(t) return ("%dx%d_k%d_p%d"):format(t.q, t.lanes, t.deep, t.parts) end,
  problem_rules = require "aligned"({ "k", "v" }, {
    { "more than 2^30 tiles", function(p, t) return le(tiles_of(p, t) * t.parts, 1073741824) end },
  }),
  stages = function() return 2 end,
  launch = function(p, t)
    local tiles = tiles_of(p, t)
    local parts = parts_of(p, t)
    return {
      { grid = { max(tiles * parts, 1) }, block = { t.threads } },
      split.second(p, t, tiles, parts, t.q),
    }
  end,
  workspace = function(p, t) return split.workspace((tiles_of(p, t)), parts_of(p, t), t.q, t.dimv) end,
  cost = function(p, t, target)
    local _, tiles = tiles_of(p, t)
    local parts, keys = parts_of(p, t), split.span(p, t)
    local blocks = tiles * parts
    local rounds = ceil_div(blocks, max(p.units, 1) * t.blocks)
    local read = tiles * keys * t.bytes / select(eq(t.packed, 1), p.batch, 1)
    local rate = require "memory"(p, target) * 1e3
    local memory = read / (rate * 0.92)
    -- As far as blocks come out even; each begins and ends.
    local share = min(blocks / (rounds * t.blocks * max(p.units, 1)), 1)
    local ends = 2 + 0.7 * rounds + select(gt(parts, 1), 4 + 0.05 * parts, 0)
    local work = tiles * t.q * keys * (2 * (t.dim + t.dimv) + 60) / select(eq(t.packed, 1), p.batch, 1)
    local busy = work / (target.simt_tflops * 1e6 * 0.35) / max(share, 0.01)
    memory = memory / max(share, 0.01)
    return target.launch_us + ends + max(memory, busy), {
      { "launching", target.launch_us },
      { "blocks' begins and ends", ends },
      { "moving bytes", memory },
      { "multiplying", busy },
      { "blocks", blocks, "count" },
      { "parts of the keys", parts, "count" },
      { "memory", read / rate, "least" },
    }
  end,
}
