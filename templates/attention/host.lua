-- SPDX-License-Identifier: MIT
-- Attention on CPUs: rows, which are queries of all heads that share K and V, go through keys by tiles that stand in
-- the first caches as f32; what a tile of keys is for several rows is converted once.
return schedule {
  family = "attention",
  title = "tiles of keys by vectors, rows shared out among threads: any size, stride and alignment",
  supports = function(target) return target.vendor == "host", "runs on the host only" end,
  tunables = {
    { "q", values = { 4, 8, 16, 32 }, doc = "queries that share a tile of keys" },
    { "kv", values = { 16, 32, 64 }, doc = "keys of a tile" },
  },
  derived = { "dim", "dimv", "room" },
  derive = function(t, op, types, layout)
    t.dim, t.dimv = layout.dim, layout.dimv
    t.room = 4 * (t.q * (t.dim + t.dimv + t.kv + 3) + t.kv * (t.dim + t.dimv)) -- bytes of the stack
  end,
  rules = {
    { "{room} bytes of tiles > 1 MiB", function(t) return t.room <= 1048576 end },
  },
  defaults = function() return { { q = 16, kv = 32 } } end,
  name = function(t) return ("%dx%d"):format(t.q, t.kv) end,
  launch = function(p, t) return { { grid = { 1 }, block = { 1 } } } end,
  cost = function(p, t, target)
    local rows = p.q * (p.heads // max(p.kv_heads, 1))
    local steps = ceil_div(rows, t.q) * p.kv_heads * p.batch
    local work = steps * t.q * p.kv * (2 * (t.dim + t.dimv) + 40)
    local busy = work / (target.simt_tflops * 1e6) / max(min(p.units, steps), 1)
    return target.launch_us + busy, {
      { "launching", target.launch_us },
      { "multiplying", busy },
      { "threads", max(p.units, 1), "count" },
    }
  end,
}
