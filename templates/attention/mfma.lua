-- SPDX-License-Identifier: MIT
-- Attention on AMD's matrix cores (MFMA): each wave has 32 queries in registers, a block's waves share tiles of keys
-- and values in LDS, and exponentials go from one product to the next without leaving their lanes.  Two waves share a
-- SIMD: one's exponentials are made while the other multiplies.

-- Columns of V that a thread turns round at a time, beside 8 keys.
local function turned(t)
  return t.kv * t.dimv // (8 * t.threads) >= 3 and 4 or 2
end

-- A tile of keys fits its threads: each has whole loads of K, products go by whole steps, O leaves through V's place.
local function whole_loads(t) return t.kv * t.dim % (16 * t.q) == 0 end
local function whole_steps(t) return t.kv * (t.dim + t.dimv) % 2048 == 0 and t.kv * min(t.dim, t.dimv) >= 2048 end
local function room_for_o(t) return 2 * t.kv * t.dimv >= 64 * t.q end

-- Tiles of queries of all heads: as many as are counted, and those of them that there are, about.
local function tiles_of(p, t)
  local counted = select(eq(t.ragged, 1), p.q // t.q + p.batch, ceil_div(p.q, t.q) * p.batch)
  local there = select(eq(t.ragged, 1), p.q // t.q + min(p.batch, p.q) / 2, ceil_div(p.q, t.q) * p.batch)
  return counted * p.heads, max(there * p.heads, 1)
end

return schedule {
  family = "attention",
  title = "AMD matrix cores: exponentials go from product to product in registers",
  supports = require "mfma_ops",
  tunables = {
    { "q", values = { 128, 256 }, doc = "queries of a block, 32 to a wave" },
    { "kv", values = { 32, 64, 128 }, doc = "keys of a tile in LDS" },
  },
  derived = { "threads", "dim", "dimv", "wide", "loads_k", "loads_v", "across", "lds_bytes", "registers", "waves",
              "most", "resident", "bytes", "masked", "window", "ragged", "packed", "tile_ns", "alone_ns" },
  derive = function(t, op, types, layout, target)
    t.dim, t.dimv, t.threads = layout.dim, layout.dimv, t.q * 2
    t.wide = turned(t)
    t.loads_k = t.kv * t.dim // (8 * t.threads)                  -- of a thread, 16 bytes each
    t.loads_v = ceil_div(t.kv * t.dimv, 8 * t.wide * t.threads)  -- of a thread, 8 keys each
    t.across = min((t.dim // 8) & -(t.dim // 8), 16)             -- threads that load a row of K together
    -- Threads without a part of V have one all the same, of zeros.
    t.lds_bytes = 2 * t.kv * t.dim + 16 * t.loads_v * t.wide * t.threads
    -- A lane's: O, Q, scores (half of that again as weights), pieces from LDS, what is on its way.
    local coming = 4 * t.loads_k + 4 * t.wide * t.loads_v
    t.registers = t.dimv // 2 + t.dim // 4 + t.kv // 2 + t.kv // 8 + 16 + coming + 40
    t.waves = t.registers <= 256 and 2 or 1 -- of a SIMD
    t.most = 440 -- of a lone wave's 512 registers vector instructions reach half
    t.resident = max(min(target.lds // t.lds_bytes, t.waves * 256 // t.threads), 1)
    t.bytes = 2 * (t.dim + t.dimv)
    t.masked, t.window = op.mask and 1 or 0, op.mask == "window" and 1 or 0
    t.ragged = op.lengths and 1 or 0
    t.packed = op.lengths and not op.page and 1 or 0 -- keys of all sequences are counted together
    -- ns of a tile of keys, fitted to the simulator: one of two blocks on a unit, whose exponentials are made while the
    -- other one multiplies; and a block alone.
    local multiply = 2 * t.q * t.kv * (t.dim + t.dimv) * target.units / (target.tflops[types.q.name] * 1000)
    t.tile_ns = (multiply + 75 + 1.5 * t.kv) // 1
    t.alone_ns = (multiply + 300 + 8 * t.kv) // 1
    if t.resident == 1 then t.tile_ns = t.alone_ns end
  end,
  rules = {
    { "{registers} registers to a lane > {most}", function(t) return t.registers <= t.most end },
    { "{threads} threads with one wave to a SIMD", function(t) return t.threads <= 256 * t.waves end },
    { "LDS > {lds} bytes", function(t, op, types, layout, target) return t.lds_bytes <= target.lds end },
    { "a tile of K does not divide into {threads} threads", whole_loads },
    { "a load of V has keys of several pages", function(t, op)
      return not op.page or 64 % (t.dimv // t.wide) == 0 and t.dimv // t.wide >= 32
    end },
    { "a tile of V has no room for 2 KiB of each wave's O", room_for_o },
    { "an odd number of steps of four matrix instructions", whole_steps },
  },
  defaults = function(target, op, types, layout)
    local t = { q = 128, kv = max(layout.dim, layout.dimv) > 128 and 32 or 64, dim = layout.dim, dimv = layout.dimv }
    while t.kv < 128 and not (whole_loads(t) and whole_steps(t) and room_for_o(t)) do t.kv = t.kv * 2 end
    return { { q = t.q, kv = t.kv } }
  end,
  name = function(t) return ("%dx%d"):format(t.q, t.kv) end,
  problem_rules = require "aligned"({ "q", "k", "v", "o" }, {
    { "a tile of K or V spans 2 GiB or more", function(p, t)
      return lt(t.kv * max(p.ldk, p.ldv) + max(t.dim, t.dimv), 1073741824)
    end },
    { "more than 2^30 queries or keys", function(p) return le(max(p.q, p.kv), 1073741824) end },
    { "more than 4194304 blocks", function(p, t) return le(tiles_of(p, t), 4194304) end },
  }),
  launch = function(p, t)
    local tiles = tiles_of(p, t)
    return { { grid = { max(tiles, 1) }, block = { t.threads } } }
  end,
  cost = function(p, t, target)
    local _, tiles = tiles_of(p, t)
    local units, sequences = max(p.units, 1), select(eq(t.ragged, 1), max(p.batch, 1), 1)
    local q, kv = p.q / sequences, select(eq(t.packed, 1), p.kv / sequences, p.kv)
    -- Tiles of keys to one of queries: up to the diagonal where there is a mask, half of all in the middle of a square.
    local most = max(kv, 1) / t.kv + 0.5
    local length = select(eq(t.masked, 1), max(kv - (q - t.q) / 2, t.kv) / t.kv + 0.5, most)
    local window = (p.window + t.q) / t.kv + 1
    length = select(eq(t.window, 1), min(length, window), length)
    most = select(eq(t.window, 1), min(most, window), most)
    -- Blocks of a unit: two at a time, and one that is left.  Of masked ones the long begin first, short ones fill up.
    local blocks = select(eq(t.masked, 1), max(tiles / units, 1), ceil_div(tiles, units))
    local last = select(any(eq(blocks % 2, 1), lt(blocks, 2)), length * (t.alone_ns - t.tile_ns), 0)
    local busy = max(blocks * length * t.tile_ns + last, most * t.alone_ns) / 1e3
    local ends = 2.3 * ceil_div(tiles, units * t.resident)
    local memory = p.kv_heads * p.batch * p.kv * t.bytes / (target.gbps * 1e3) / select(eq(t.packed, 1), p.batch, 1)
    return target.launch_us + max(busy, memory) + ends, {
      { "launching", target.launch_us },
      { "multiplying", busy },
      { "beginning and ending tiles", ends },
      { "moving bytes", memory },
      { "tiles", tiles, "count" },
    }
  end,
  -- Registers are arrays until loops are unrolled: they must be.
  flags = function() return { "-mllvm", "-pragma-unroll-threshold=262144" } end,
}
