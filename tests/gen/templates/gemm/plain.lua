-- SPDX-License-Identifier: MIT
-- Takes any size: three loops.
return schedule {
  family = "gemm",
  title = "three loops",
  supports = function() return true end,
  tunables = { { "m", values = { 1, 2, 4 }, doc = "rows" } },
  defaults = function() return { { m = 1 } } end,
  name = function(t) return "m" .. t.m end,
  problem_rules = {
    { "more than 2^40 elements", function(p, t) return le(p.m * p.n, 1 << 40) end },
  },
  launch = function(p, t, target) return { { grid = { ceil_div(p.m, t.m), p.n, p.batch }, block = { 1 } } } end,
  cost = function(p, t, target) return target.launch_us + p.m * p.n * p.k * p.batch / (target.simt_tflops * 1e6) end,
}
