-- SPDX-License-Identifier: MIT
-- Attention on Hopper's matrix unit: warpgroups of 64 queries each share a ring of keys and values that come by tensor
-- map; each issues the next block's scores ahead of the present one's values, and does its softmax meanwhile.
local takes = require "wgmma_takes"

local function bytes_of_heads(t) return t.keys * max(t.dim, t.dimv) * 2 end
-- Beside the ring and Q: Q's barriers, two places for what the loader takes.
local beside = 128
-- Tiles of all heads, at most; of sequences of different lengths each may have one more.
local function tiles_of(p, t)
  return select(eq(t.ragged, 1), p.q // t.rows + p.batch, ceil_div(p.q, t.rows) * p.batch) * p.heads
end

return schedule {
  family = "attention",
  title = "Hopper's matrix unit: scores of the next keys while values of these are summed",
  supports = takes.prefill,
  tunables = {
    { "wg", values = { 1, 2, 3 }, doc = "warpgroups of 64 queries each that share keys and values" },
    { "keys", values = { 64, 96, 128, 160, 176, 192 }, doc = "keys of a block" },
    { "depth", values = { 3, 4, 5, 6, 7, 8, 9, 10 }, doc = "blocks of keys or values in the ring" },
    { "turns", values = { 0, 1 }, doc = "1: warpgroups issue their products in turn" },
  },
  derived = { "rows", "dim", "dimv", "threads", "slot_bytes", "lds_bytes", "sums", "most", "bytes", "masked",
              "window", "ragged", "listers" },
  derive = function(t, op, types, layout, target)
    t.rows, t.dim, t.dimv = 64 * t.wg, layout.dim, layout.dimv
    t.threads = 128 * (t.wg + 1)
    t.slot_bytes = bytes_of_heads(t)
    t.lds_bytes = 2 * t.rows * t.dim * 2 + t.depth * (t.slot_bytes + 16) + beside
    -- Of a thread: sums of O and of scores, and P, which is half as much; what it may have beside 30 others.
    t.sums = t.dimv // 2 + t.keys // 2 + t.keys // 4
    t.most = t.wg == 3 and 130 or 200
    t.bytes = 2 * (t.dim + t.dimv)
    t.masked, t.window = op.mask and 1 or 0, op.mask == "window" and 1 or 0
    t.ragged, t.listers = op.lengths and 1 or 0, op.lengths and 256 or 32 -- threads of the first stage
  end,
  rules = {
    { "{sums} registers of sums to a thread > {most}", function(t) return t.sums <= t.most end },
    { "{lds_bytes} bytes of shared memory > {lds}", function(t, op, types, layout, target)
      return t.lds_bytes <= target.lds
    end },
    { "turns of one warpgroup", function(t) return t.turns == 0 or t.wg > 1 end },
  },
  defaults = function(target, op, types, layout)
    local size = max(layout.dim, layout.dimv)
    local wg, keys = size > 64 and 2 or 3, size > 128 and 64 or 128
    local t = { keys = keys, dim = layout.dim, dimv = layout.dimv }
    local room = target.lds - beside - 256 * wg * layout.dim
    local depth = min(room // (bytes_of_heads(t) + 16), 10)
    return { { wg = wg, keys = keys, depth = depth, turns = size > 64 and 0 or 1 } }
  end,
  name = function(t) return ("%dx%d_d%d%s"):format(t.rows, t.keys, t.depth, t.turns == 1 and "_turns" or "") end,
  problem_rules = require "aligned"({ "q", "k", "v", "o" }, {
    { "no keys, of which nothing comes from any address", function(p) return gt(p.kv, 0) end },
    { "more than 2^30 queries or keys", function(p) return le(max(p.q, p.kv), 1073741824) end },
    { "more than 2^30 tiles", function(p, t)
      return le(tiles_of(p, t), 1073741824)
    end },
  }),
  flags = function() return { "-Xptxas=-warn-spills" } end,
  maps = function(t)
    return { { operand = "q", inner = 64, outer = t.rows, swizzle = 128 },
             { operand = "k", inner = 64, outer = t.keys, swizzle = 128 },
             { operand = "v", inner = 64, outer = t.keys, swizzle = 128 } }
  end,
  stages = function() return 2 end,
  -- Tiles that were given out; of sequences of different lengths where each one's begin.
  workspace = function(p, t) return select(eq(t.ragged, 1), 8 + 4 * p.batch, 4) end,
  launch = function(p, t)
    return { { grid = { 1 }, block = { t.listers }, early = true },
             { grid = { max(min(tiles_of(p, t), p.units), 1) }, block = { t.threads }, lds = t.lds_bytes,
               early = true } }
  end,
  cost = function(p, t, target)
    -- Cycles of an H200, fitted: a block of keys, a tile's beginning and end, at the clock that power leaves.
    local work = 2 * t.rows * t.keys * (t.dim + t.dimv)
    local block, ends, clock = work * 147.6e-6 + t.rows * t.keys * 0.027 + 846, 2900, 1750
    -- Sequences of different lengths count as if all had the mean, and half of them a tile that is not full.
    local ragged, masked, units = eq(t.ragged, 1), eq(t.masked, 1), max(p.units, 1)
    local sequences = select(ragged, max(p.batch, 1), 1)
    local q, kv = p.q / sequences, p.kv / sequences
    local full = ceil_div(p.q, t.rows) * p.batch
    local tiles = select(ragged, max(p.q / t.rows + p.batch / 2, min(p.q, p.batch)), full) * p.heads
    -- Of keys, to a tile: all, or up to the diagonal; long and short tiles fill the last wave.
    local seen = max(kv - (q - t.rows) / 2, t.keys) / t.keys + 0.5
    seen = select(eq(t.window, 1), min(seen, (p.window + t.rows) / t.keys + 1), seen)
    local blocks = select(masked, seen, ceil_div(max(kv, 1), t.keys))
    local waves = select(any(masked, ragged), max(tiles / units, 1), ceil_div(tiles, units))
    local busy, apart = waves * blocks * block / clock, waves * ends / clock
    local keys = p.kv * select(ragged, 1, p.batch)
    local memory = p.kv_heads * keys * t.bytes / (require "memory"(p, target) * 0.88e3)
    return target.launch_us + max(busy, memory) + apart, {
      { "launching", target.launch_us },
      { "multiplying", busy },
      { "beginning and ending tiles", apart },
      { "moving bytes", memory },
      { "tiles", tiles, "count" },
    }
  end,
}
