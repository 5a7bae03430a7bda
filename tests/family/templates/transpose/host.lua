-- SPDX-License-Identifier: MIT
-- Transposes tile by tile, on the caller's thread.
return schedule {
  family = "transpose",
  title = "a tile at a time",
  supports = function(target) return target.vendor == "host", "is for the host" end,
  tunables = { { "tile", values = { 8, 16, 32 }, doc = "rows and columns of a tile" } },
  defaults = function() return { { tile = 16 } } end,
  name = function(t) return tostring(t.tile) end,
  launch = function(p, t)
    return { { grid = { ceil_div(p.rows, t.tile), ceil_div(p.cols, t.tile), p.batch }, block = { 1 } } }
  end,
  cost = function(p, t, target) return target.launch_us + p.rows * p.cols * p.batch * 8 / (target.gbps * 1e3) end,
}
