-- SPDX-License-Identifier: MIT
-- Few queries, many keys, on Hopper's matrix unit: rows, which are queries of all heads that share K and V, meet keys
-- and values that come by tensor map, in one piece or in pages.  Of fp8 these become f16 or bf16 in registers, on their
-- way from shared memory to the matrix unit.  Blocks share the keys of a tile; a second stage brings their sums
-- together, in their order.
local split, takes = require "split", require "wgmma_takes"

local function tiles_of(p, t) return split.tiles(p, t, t.rows * t.cluster) end
-- Bytes of shared memory beside the ring: Q, P of fp8, what threads tell each other.
local function bytes_beside(rows, keys, size, dim, dimv)
  local p = size == 1 and rows * keys * 2 or 0
  return rows * dim * 2 + p + 16 + (size == 1 and 32 * rows + 32 or dimv > 256 and 8 * rows or 0), p
end
-- Bytes of a place in the ring, where two warpgroups' P lies behind V; and beside it of two barriers for each part,
-- and which pieces there are.
local function bytes_of_slot(rows, keys, size, dim, dimv)
  local groups = dimv > 256 and 2 or 1
  local slot = max(keys * max(dim, dimv) * size, groups == 2 and keys * (dimv * size + rows * 2) or 0)
  return slot, 16 * groups + 8
end
-- Blocks that share a tile's keys: the fewest with which all blocks fill their rounds by nine tenths, or as many as
-- make eight rounds; 256 keys at least.
local function parts_of(p, t)
  local _, tiles = tiles_of(p, t)
  local slots = max(p.units, 1) * t.blocks // t.cluster
  local most = max(min(ceil_div(split.span(p, t), 256), t.parts), 1)
  local function of(rounds) return min(max(rounds * slots // tiles, 1), most) end
  local parts = of(8)
  for _, rounds in ipairs { 4, 2, 1 } do
    local some = of(rounds)
    local full = ge(10 * tiles * some, 9 * slots * ceil_div(tiles * some, slots))
    parts = select(full, some, parts)
  end
  return parts
end

return schedule {
  family = "attention",
  title = "few queries on Hopper's matrix unit: each key and value is read once, at the speed of memory",
  supports = takes.decode,
  tunables = {
    { "rows", values = { 16, 32, 64 }, doc = "queries of a tile, of all heads that share K and V; of f16 and bf16 64" },
    { "keys", values = { 32, 64, 128 }, doc = "keys of a block" },
    { "depth", values = { 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 }, doc = "blocks of keys or values in the ring" },
    { "blocks", values = { 1, 2 }, doc = "blocks that a unit holds at once; they share its memory for the ring" },
    { "cluster", values = { 1, 2 }, doc = "blocks that load keys together, each with its own rows" },
    { "parts", values = { 1, 16, 64, 128 }, doc = "most blocks that share a tile's keys" },
  },
  derived = { "threads", "gives", "takes", "groups", "dim", "dimv", "size", "panel", "inner", "slot_bytes", "p_bytes",
              "lds_bytes", "room", "sums", "most", "piece", "across", "runs", "lanes", "kv", "ragged", "window",
              "bytes", "packed", "paged" },
  derive = function(t, op, types, layout, target)
    t.dim, t.dimv = layout.dim, layout.dimv
    t.groups = t.dimv > 256 and 2 or 1 -- warpgroups that multiply
    t.size = types.k.bytes -- of an element of K and V; of a panel of them so many come together, swizzled:
    t.panel = t.size == 1 and t.dim % 128 == 0 and t.dimv % 128 == 0 and 128 or 64
    t.inner = t.panel * t.size
    local rest, p = bytes_beside(t.rows, t.keys, t.size, t.dim, t.dimv)
    local slot, barriers = bytes_of_slot(t.rows, t.keys, t.size, t.dim, t.dimv)
    t.slot_bytes, t.p_bytes, t.lds_bytes = slot, p, rest + t.depth * (slot + barriers)
    t.room = (target.lds + 1024) // t.blocks - 1024
    -- And a warp that loads; where those that multiply take its registers, a warpgroup.  Of two blocks a thread begins
    -- with 128, where ptxas wants to have one product's sums and 26 more.
    t.gives = t.groups == 2 and 40 or t.size == 2 and t.blocks == 2 and t.dimv <= 192 and 48 or 0
    t.takes = t.groups == 2 and 232 or 208 -- so all have as many as the block began with
    t.threads = t.gives > 0 and 128 * (t.groups + 1) or 160
    if t.size == 1 then
      -- Of a thread's registers: sums of O and of scores, two of each row that it has a part of, K or V for 8 products.
      t.sums = t.rows // 2 * (t.dimv // 64 + t.keys // 64 + 1) + 40
    else
      -- Sums of O and of scores, and P, which is half as much.
      t.sums = t.dimv // t.groups // 2 + t.keys // 2 + t.keys // 4
    end
    t.most = t.blocks == 2 and (t.gives > 0 and 170 or 140) or 190
    -- Keys that come together, and lanes that fetch a block of them: a panel of each piece.
    t.piece = op.page and min(op.page, t.keys) or t.keys
    t.across = (t.dimv // t.groups + max(t.dim - t.dimv, 0)) // t.panel
    -- Pages of 16 keys come with all of their panels in one piece, and their scores as so many products.
    local whole = t.piece == 16 and t.size == 2 and min(t.dim, t.dimv) > 64 and max(t.dim, t.dimv) <= 256
    t.runs = whole and t.piece // 8 or 1
    t.lanes = ceil_div(t.keys, t.piece) * (whole and 1 or t.across)
    t.kv = t.keys
    t.ragged, t.window = op.lengths and 1 or 0, op.mask == "window" and 1 or 0
    t.paged = op.page and 1 or 0
    t.packed = op.lengths and not op.page and 1 or 0 -- keys of all sequences are counted together
    t.bytes = t.size * (t.dim + t.dimv) -- of a key and its value
  end,
  rules = {
    { "{rows} rows of a tile: with K and V in f16 or bf16 it has 64", function(t)
      return t.size == 1 or t.rows == 64
    end },
    { "blocks of {keys} keys: in fp8 they are multiplied by 64", function(t)
      return t.size == 2 or t.keys % 64 == 0
    end },
    { "{sums} registers of sums to a thread > {most}", function(t) return t.sums <= t.most end },
    { "{lds_bytes} bytes of shared memory > {room}", function(t) return t.lds_bytes <= t.room end },
    { "blocks of {keys} keys do not go with pages", function(t, op)
      return t.keys % t.piece == 0 and (op.page or t.piece) % t.piece == 0
    end },
    { "{lanes} lanes that load > 32", function(t) return t.lanes <= 32 end },
    { "blocks of a cluster have two warpgroups: V of {dimv} elements needs one", function(t)
      return t.cluster == 1 or t.groups == 2
    end },
    { "V of {dimv} elements: its two warpgroups take two blocks of 64 keys", function(t)
      return t.groups == 1 or (t.keys == 64 and t.depth == 2)
    end },
  },
  -- Two blocks to a unit, with 64 KiB each on their way: one begins, or makes exponentials, while the other loads, and
  -- more on their way make memory slower (by 1 % with 192 KiB in all on an H200, by 3 % on an H100).
  -- In fp8 a tile for what few heads share, two blocks to a unit, and one for more queries.
  defaults = function(target, op, types, layout)
    local bytes, size = types.k.bytes, max(layout.dim, layout.dimv)
    local all = {}
    for _, rows in ipairs(bytes == 1 and { 16, layout.dimv > 128 and 32 or 64 } or { 64 }) do
      local keys = layout.dimv > 256 and 64 or size > 256 and 32 or size > 128 and 64 or 128
      local blocks = size > 192 and 1 or 2
      if bytes == 1 then
        keys, blocks = (rows > 16 or size > 128) and 64 or 128, rows == 16 and 2 or 1
      end
      if op.page and op.page % keys ~= 0 and keys % op.page ~= 0 then keys = 64 end -- pages of 192, say
      local room = (target.lds + 1024) // blocks - 1024 - (bytes_beside(rows, keys, bytes, layout.dim, layout.dimv))
      local slot, barriers = bytes_of_slot(rows, keys, bytes, layout.dim, layout.dimv)
      local depth, flight = min(room // (slot + barriers), 12), 131072 // (bytes == 1 and 1 or blocks)
      depth = layout.dimv > 256 and 2 or min(depth, ceil_div(flight, slot))
      for _, cluster in ipairs(layout.dimv > 256 and { 1, 2 } or { 1 }) do
        all[#all + 1] = { rows = rows, keys = keys, depth = depth, blocks = blocks, cluster = cluster, parts = 64 }
      end
    end
    return all
  end,
  name = function(t)
    return (t.size == 1 and t.rows .. "x" or "") .. ("%d_d%d_b%d_p%d"):format(t.keys, t.depth, t.blocks, t.parts)
      .. (t.cluster > 1 and "_c" .. t.cluster or "")
  end,
  problem_rules = require "aligned"({ "q", "k", "v", "o" }, {
    { "no keys, of which nothing comes from any address", function(p) return gt(p.kv, 0) end },
    { "no pages, of which nothing comes from any address", function(p, t)
      return any(eq(t.paged, 0), gt(p.pages, 0))
    end },
    { "more than 2^30 keys, or rows of queries to a head of K and V", function(p)
      return le(max(p.kv, p.q * (p.heads // max(p.kv_heads, 1))), 1073741824)
    end },
    { "more than 2^30 tiles", function(p, t) return le(tiles_of(p, t) * t.parts, 1073741824) end },
  }),
  flags = function() return { "-Xptxas=-warn-spills" } end,
  -- No more than what is asked for goes to L2: 256 bytes at a time took an H200 6 % longer.
  maps = function(t)
    local whole = t.runs > 1
    return { { operand = "k", inner = whole and t.dim or t.panel, outer = t.piece, swizzle = t.inner, promote = 128 },
             { operand = "v", inner = whole and t.dimv or t.panel, outer = t.piece, swizzle = t.inner, promote = 128 } }
  end,
  stages = function() return 2 end,
  workspace = function(p, t) return split.workspace((tiles_of(p, t)), parts_of(p, t), t.rows * t.cluster, t.dimv) end,
  launch = function(p, t)
    local tiles = tiles_of(p, t)
    local parts = parts_of(p, t)
    return {
      { grid = { max(tiles * parts * t.cluster, 1) }, block = { t.threads }, cluster = { t.cluster }, lds = t.lds_bytes,
        early = true },
      split.second(p, t, tiles, parts, t.rows * t.cluster, true),
    }
  end,
  cost = function(p, t, target)
    local _, tiles = tiles_of(p, t)
    local parts, keys, units = parts_of(p, t), split.span(p, t), max(p.units, 1)
    local items = tiles * parts * t.cluster
    local rounds = ceil_div(items, units * t.blocks)
    local narrow, two = eq(t.size, 1), eq(t.groups, 2)
    local packed = select(eq(t.packed, 1), p.batch, 1)
    -- Values within keys, as their strides say, do not come for themselves.
    local within = all(two, gt(t.dim, t.dimv), eq(p.ldk, p.ldv), eq(p.plane_k, p.plane_v))
    local read = tiles * keys * select(within, t.size * t.dim, t.bytes) / packed
    -- A block of keys: the matrix unit's cycles, which blocks of a unit share, and what a block waits for beside.  In
    -- fp8, modelled: a product takes its keys from registers in no less time than 32 rows need; widening takes issue
    -- slots, which blocks of a unit share, too.
    local products, widen = t.keys * (t.dim + t.dimv) / 32, t.keys * (t.dim + t.dimv) / 50
    products = select(narrow, max(products * max(t.rows, 32) / 64, widen), products)
    local beside = 400 + 4.5 * t.keys * t.rows / 64 + select(narrow, widen, 0)
    -- Two warpgroups by turns wait mostly for the ring: 1040 to 1170 cycles on an H100, 770 to 930 on an H200.
    beside = select(two, 950, beside)
    local each = max(products * 1.1, (products + beside) / t.blocks)
    local busy = tiles * t.cluster * ceil_div(keys, t.keys) / packed * each / (units * 1750)
    -- As far as blocks come out even; a unit's share of memory may be three times what all leave it.
    local share = min(items / (rounds * units * t.blocks), 1)
    local rate = require "memory"(p, target) * 1e3
    local memory = read / (rate * 0.93) / min(3 * share, 1)
    local ends = 4 + select(gt(parts, 1), 2 + 0.05 * parts, 0)
    return target.launch_us + ends + max(memory, busy / share), {
      { "launching", target.launch_us },
      { "blocks' begins and ends", ends },
      { "moving bytes", memory },
      { "multiplying", busy / share },
      { "blocks", items, "count" },
      { "parts of the keys", parts, "count" },
      { "memory", read / rate, "least" },
    }
  end,
}
