-- SPDX-License-Identifier: MIT
-- A test's schedule for Hopper, there to run what the runtime and the generator have for schedules of its kind: tiles of A, B and full
-- inputs come by tensor maps, through a ring in more shared memory than a block has unasked; two blocks of a cluster may share B;
-- wgmma multiplies; K may be split over blocks, with a second kernel that sums; kernels begin early.  Kept simple: one warpgroup
-- multiplies, no persistence.
local K = 64 -- elements along K of a tile: 128 bytes, the widest swizzle

return schedule {
  family = "gemm",
  title = "test of tensor maps, clusters and large shared memory",
  supports = function(target, op, types, layout)
    if target.arch ~= "sm_90a" then return nil, "needs an sm_90a" end
    if op.products > 1 then return nil, "multiplies one B only" end
    if op.has_a_op or op.has_b_op then return nil, "cannot apply a_op or b_op: A and B go from memory to the matrix unit" end
    if types.a.name ~= types.b.name or types.a.name ~= "f16" and types.a.name ~= "bf16" then
      return nil, "needs A and B in f16 or in bf16"
    end
    if types.acc.name ~= "f32" then return nil, "sums in f32 only" end
    return true
  end,
  tunables = {
    { "m", values = { 64, 128 }, doc = "rows of the block's tile" },
    { "n", values = { 64, 128, 256 }, doc = "columns of the block's tile" },
    { "depth", values = { 2, 3, 4, 5, 6 }, doc = "tiles of A and B in the ring" },
    { "cluster", values = { 1, 2 }, doc = "blocks, neighbours along M, that load B together" },
    { "split_k", values = { 1, 2, 4, 8 }, doc = "blocks that share a tile, each a part of K; above 1 a second kernel sums" },
  },
  derived = { "threads", "k", "full_d", "d_bytes", "lds_bytes", "bytes_e" },
  derive = function(t, op, types, layout, target)
    t.threads = 128 + 32 -- a warpgroup that multiplies, a warp that loads
    t.k = K
    t.full_d, t.d_bytes = 0, 0
    for _, d in ipairs(op.d) do
      if d.kind == "full" and t.split_k == 1 then
        t.full_d = t.full_d + 1
        t.d_bytes = t.d_bytes + t.m * t.n * d.type.bytes
      end
    end
    local barriers = 8 * (2 * t.depth + 2)
    t.lds_bytes = 1024 + t.depth * (t.m + t.n) * K * 2 + t.d_bytes + barriers -- 1024: swizzled tiles start at multiples of it
    t.bytes_e = types.e.bytes
  end,
  rules = {
    { "{lds_bytes} bytes of shared memory > {lds}", function(t, op, types, layout, target) return t.lds_bytes <= target.lds end },
    { "more than 128 sums per thread", function(t) return t.m * t.n <= 128 * 128 end },
    { "a full input of one byte an element", function(t, op)
      for _, d in ipairs(op.d) do
        if d.kind == "full" and d.type.bytes == 1 then return false end
      end
      return true
    end },
  },
  defaults = function(target, op, types, layout)
    return { { m = 128, n = 128, depth = 4, cluster = 2, split_k = 1 } }
  end,
  name = function(t)
    local text = ("%dx%dx%d_d%d_c%d"):format(t.m, t.n, t.k, t.depth, t.cluster)
    return t.split_k > 1 and text .. "_s" .. t.split_k or text
  end,
  problem_rules = {
    { "A is not aligned to 16 bytes", function(p, t) return ge(p.align_a, 16) end },
    { "B is not aligned to 16 bytes", function(p, t) return ge(p.align_b, 16) end },
    { "a full extra input is not aligned to 16 bytes", function(p, t) return any(eq(t.full_d, 0), ge(p.align_d, 16)) end },
    { "M or N is above 2^30", function(p, t) return le(max(p.m, p.n), 1073741824) end },
    { "a leading dimension is above 2^38 elements", function(p, t) return le(max(p.lda, p.ldb), 274877906944) end },
  },
  flags = function(target) return { "-Xptxas=-warn-spills" } end, -- sums belong in registers
  stages = function(t) return t.split_k > 1 and 2 or 1 end,
  maps = function(t, op, types, layout, target)
    -- K contiguous: one box holds the tile.  M or N contiguous: a box holds 64 of them, and there are several.
    local function half(x) return x // t.cluster end
    local b = layout.b == "c" and { operand = "b", inner = K, outer = half(t.n), swizzle = 128 }
              or { operand = "b", inner = 64, outer = half(K), swizzle = 128 }
    local list = { { operand = "a", inner = 64, outer = layout.a == "r" and t.m or K, swizzle = 128,
                     clip = layout.a == "r" }, b }
    if t.split_k > 1 then return list end
    for _, d in ipairs(op.d) do
      if d.kind == "full" then
        list[#list + 1] = { operand = d.name, inner = 128 // d.type.bytes, outer = d.layout == "r" and t.m or t.n, swizzle = 128 }
      end
    end
    return list
  end,
  launch = function(p, t, target)
    local tiles_m = t.cluster * ceil_div(ceil_div(p.m, t.m), t.cluster)
    local y = max(min(p.batch, 65535), 1) -- blocks walk over batches in steps of the grid
    return {
      { grid = { tiles_m * ceil_div(p.n, t.n), y, t.split_k }, block = { t.threads }, cluster = { t.cluster }, lds = t.lds_bytes,
        early = true },
      { grid = { max(min(ceil_div(p.m * p.n, 256), 1048576), 1), y }, block = { 256 }, early = true },
    }
  end,
  workspace = function(p, t, target)
    return select(gt(t.split_k, 1), 4 * t.split_k * p.batch * p.m * p.n, 0)
  end,
  cost = function(p, t, target)
    local tiles = ceil_div(p.m, t.m) * ceil_div(p.n, t.n) * p.batch * t.split_k
    local steps = ceil_div(ceil_div(p.k, t.k), t.split_k)
    local rate = 0.5 * target.tflops.f16 * 1e6 / target.units -- of a unit, per microsecond
    local busy = ceil_div(tiles, max(p.units, 1)) * 2 * t.m * t.n * t.k * steps / rate
    local memory = p.batch * (2 * (p.m * p.k + p.n * p.k) + p.m * p.n * (t.bytes_e + select(gt(t.split_k, 1), 8 * t.split_k, 0)))
                   / (target.gbps * 1e3)
    return target.launch_us * select(gt(t.split_k, 1), 2, 1) + 2 + max(busy, memory)
  end,
}
