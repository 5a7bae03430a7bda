-- SPDX-License-Identifier: MIT
-- Attention on vector units: a block takes rows, which are queries of all heads that share K and V, and goes through
-- the keys that they see by tiles.  Any size, stride and alignment, every type, every GPU.
return schedule {
  family = "attention",
  title = "portable vector-unit kernel: any size, stride and alignment",
  supports = function(target) return target.vendor ~= "host", "needs a GPU" end,
  tunables = {
    { "q", values = { 4, 8, 16 }, doc = "queries of a block, of one head or of several that share K and V" },
    { "kv", values = { 32, 64, 128 }, doc = "keys of a tile" },
  },
  derived = { "threads", "lanes", "depth", "dim", "dimv", "lds_bytes", "bytes", "ragged" },
  derive = function(t, op, types, layout)
    t.threads = 256
    t.lanes = t.threads // t.q -- threads of a row
    t.depth = 16                  -- elements of a head of Q and K that stand in LDS at a time
    t.dim, t.dimv = layout.dim, layout.dimv
    t.lds_bytes = 4 * (t.depth * (t.q + t.kv + 1) + t.q * (t.kv + t.lanes + 1))
    if op.page then t.lds_bytes = t.lds_bytes + 4 * t.kv end
    if op.lengths then t.lds_bytes = t.lds_bytes + 4 end
    t.ragged = op.lengths and 1 or 0
    t.bytes = layout.dim * types.k.bytes + layout.dimv * types.v.bytes -- of a key and its value
  end,
  rules = {
    { "LDS > {static_lds} bytes", function(t, op, types, layout, target) return t.lds_bytes <= target.static_lds end },
    { "more than 64 elements of O to a thread", function(t) return ceil_div(t.dimv, t.lanes) <= 64 end },
    { "a tile's keys do not divide into a row's {lanes} threads", function(t) return t.kv % t.lanes == 0 end },
  },
  defaults = function() return { { q = 8, kv = 64 } } end,
  name = function(t) return ("%dx%d"):format(t.q, t.kv) end,
  launch = function(p, t)
    -- Blocks walk over the work in steps of the grid, so any grid will do.
    local tiles = ceil_div(p.q * (p.heads // max(p.kv_heads, 1)), t.q)
    return { { grid = { max(min(tiles * p.kv_heads * p.batch, 1048576), 1) }, block = { t.threads } } }
  end,
  cost = function(p, t, target)
    local rows = p.q * (p.heads // max(p.kv_heads, 1))
    local tiles = ceil_div(rows, t.q) * p.kv_heads * p.batch
    local rounds = ceil_div(tiles, max(p.units, 1) * 4)
    local work = 2 * t.q * max(p.kv, 1) * (t.dim + t.dimv)
    local busy = tiles * work / (target.simt_tflops * 1e6) * 4
    local steps = rounds * ceil_div(max(p.kv, 1), t.kv) * (4 + t.dim / t.depth)
    local memory = p.kv_heads * p.batch * p.kv * t.bytes / (require "memory"(p, target) * 1e3)
    return target.launch_us + max(busy, max(steps, memory)), {
      { "launching", target.launch_us },
      { "multiplying", busy },
      { "trips to memory", steps },
      { "moving bytes", memory },
      { "blocks", tiles, "count" },
    }
  end,
}
