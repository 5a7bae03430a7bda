-- SPDX-License-Identifier: MIT
-- Everything that a schedule can say, in one that is never run: clusters, tensor maps, dynamic LDS, two stages, a workspace,
-- problem rules, rules of both outcomes.
return schedule {
  family = "gemm",
  title = "exercise of the generator",
  supports = function(target, op, types, layout)
    if not target.mma then return nil, "needs matrix instructions" end
    return types.mul_a.name == "f16" and types.mul_b.name == "f16", "multiplies f16 only"
  end,
  tunables = {
    { "m", values = { 64, 128, 256 }, doc = "rows" },
    { "n", values = { 64, 128, 256 }, doc = "columns" },
    { "k", values = { 32, 64 }, doc = "length along K" },
    { "split", values = { 1, 4 }, doc = "parts of K" },
    { "depth", values = { 2, 3, 4 }, doc = "tiles in flight" },
  },
  derived = { "threads", "lds_bytes", "products" },
  derive = function(t, op, types, layout, target)
    t.products = op.products
    t.threads = (t.m // 64) * (t.n // 64) * target.wave
    t.lds_bytes = t.depth * (t.m + t.n * op.products) * t.k * types.mul_a.bytes
  end,
  rules = {
    { "LDS of {lds_bytes} bytes > {lds} bytes", function(t, op, types, layout, target) return t.lds_bytes <= target.lds end },
    { "{threads} threads > 512", function(t) return t.threads <= 512 end },
  },
  defaults = function(target, op, types, layout)
    return { { m = 128, n = 128, k = 32, split = 1, depth = 2 }, { m = 64, n = 64, k = 32, split = 4, depth = 3 } }
  end,
  name = function(t)
    return ("%dx%dx%d_d%d"):format(t.m, t.n, t.k, t.depth) .. (t.split > 1 and "_s" .. t.split or "")
  end,
  problem_rules = {
    { "K is not a multiple of 8", function(p, t) return eq(p.k % 8, 0) end },
    { "A or B is not aligned to 16 bytes", function(p, t) return all(ge(p.align_a, 16), ge(p.align_b, 16)) end },
    { "a part of K would be empty", function(p, t) return any(eq(t.split, 1), not_(lt(p.k, t.k * t.split))) end },
  },
  stages = function(t) return t.split > 1 and 2 or 1 end,
  launch = function(p, t, target)
    local tiles = ceil_div(p.m, t.m) * ceil_div(p.n, t.n)
    return {
      { grid = { min(tiles, p.units * 2), t.split, p.batch }, block = { t.threads }, cluster = { 2, 1, 1 }, lds = t.lds_bytes,
        early = gt(t.split, 1) },
      { grid = { ceil_div(p.m * p.n, 256), 1, p.batch }, block = { 256 }, early = true },
    }
  end,
  workspace = function(p, t, target)
    return select(gt(t.split, 1), t.split * t.products * p.batch * p.m * p.n * 4, 0)
  end,
  cost = function(p, t, target)
    local waves = ceil_div(ceil_div(p.m, t.m) * ceil_div(p.n, t.n) * p.batch * t.split, max(p.units, 1))
    local flops = 2 * t.m * t.n * p.k / t.split
    local busy, memory = waves * flops / (target.tflops.f16 * 1e6 / target.units), (p.m + p.n) * p.k * 2 /
      (select(gt(p.gbps, 0), p.gbps, target.gbps) * 1e3)
    return target.launch_us + busy + memory, {
      { "launching", target.launch_us }, { "multiplying", busy }, { "rounds", waves, "count" }, { "memory", memory, "least" },
    }
  end,
  maps = function(t, op, types, layout, target)
    local list = { { operand = "a", inner = t.k, outer = t.m, swizzle = 64, clip = true } }
    for i = 0, op.products - 1 do list[#list + 1] = { operand = "b" .. i, inner = t.k, outer = t.n, swizzle = 64 } end
    for _, d in ipairs(op.d) do
      if d.kind == "full" then list[#list + 1] = { operand = d.name, inner = 64, outer = t.m, promote = 128 } end
    end
    return list
  end,
}
