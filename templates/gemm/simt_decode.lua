-- SPDX-License-Identifier: MIT
-- Few rows of A on vector units, at any address: waves share K, lanes neighbours in B's memory; nothing passes through
-- LDS but sums.  What the matrix units' schedules cannot take, and problems so small that a launch is most of them.
local inputs_of_blocks = require "blocks"
local dot4 = require "dot4"

-- Elements along K that a lane loads at once, 16 bytes of the wider type.
local function chunk(types) return 16 // max(types.a.bytes, types.b.bytes) end

-- Waves of a block that share K where B lies along it (waves_along_k in simt_decode.hip.tmpl): the more, the fewer
-- columns there are for the device's waves, but each has something to load.
local function along_k(p, t)
  local groups = ceil_div(p.n, t.n) * ceil_div(p.m, select(eq(p.m, 1), 1, t.m)) * p.batch
  local waves = 1
  for _, w in ipairs { 2, 4, 8, 16 } do
    waves = select(all(ge(t.waves, w), lt(groups * w, 32 * p.units), gt(p.k, w // 2 * t.step)), w, waves)
  end
  return waves
end

local columns_across = 32 -- of a block, where B lies across K

-- Blocks that the problem makes, and waves along K of each.
local function work(p, t)
  local waves = select(eq(t.b_along_k, 1), along_k(p, t), t.waves)
  local columns = select(eq(t.b_along_k, 1), t.n * (t.waves // waves), columns_across)
  return ceil_div(p.n, columns) * ceil_div(p.m, select(eq(p.m, 1), 1, t.m)) * p.batch, waves
end

return schedule {
  family = "gemm",
  title = "few rows on vector units, at any stride and alignment",
  supports = function(target, op, types, layout)
    if op.groups then return nil, "rows are of groups" end
    if target.vendor ~= "nvidia" then
      return nil, "is for NVIDIA's GPUs: on AMD's mfma and simt take few rows at any address"
    end
    if types.a.bits < 8 or types.b.bits < 8 then return nil, "takes no elements of 4 bits" end
    if op.graph then return nil, "writes no output beside E" end
    local lacks = inputs_of_blocks.unsupported(op)
    if lacks then return nil, lacks end
    if types.acc.name == "i32" and not dot4(types) then
      return nil, "products of floating-point numbers cannot be summed in i32"
    end
    return true
  end,
  tunables = {
    { "m", values = { 1, 2, 4, 8 }, doc = "rows that a block multiplies at once; one has code of its own" },
    { "n", values = { 2, 4 }, doc = "columns of a wave, where B is contiguous along K" },
    { "threads", values = { 256, 512 }, doc = "of a block" },
  },
  derived = { "lanes", "waves", "chunk", "step", "a_along_k", "b_along_k", "products", "sums", "together", "bytes_a",
              "bytes_b", "bytes_e" },
  derive = function(t, op, types, layout, target)
    t.lanes = target.wave
    t.waves = t.threads // t.lanes
    t.chunk = chunk(types)
    t.step = t.lanes * t.chunk -- of K, that a wave's lanes load at once
    t.a_along_k, t.b_along_k = layout.a == "r" and 1 or 0, layout.b == "c" and 1 or 0
    t.products = op.products
    t.sums = t.products * t.m * (t.b_along_k == 1 and t.n or 4)
    -- Blocks of a unit: a second one beside the first where their registers let it.
    t.together = (t.b_along_k == 0 and t.products == 1 and t.m <= 4 and 1024 or 512) // t.threads
    t.bytes_a, t.bytes_b, t.bytes_e = types.a.bytes, types.b.bytes, types.e.bytes
  end,
  rules = {
    { "{sums} sums per thread > 32", function(t) return t.sums <= 32 end },
  },
  defaults = function(target, op, types, layout)
    local full, unit = false, target.wgmma and target.wgmma[types.mul_b.name .. " " .. types.mul_a.name]
    -- Where a matrix unit takes few rows of B across K, what it leaves is one.
    if layout.b == "r" then return { { m = unit and 1 or 4, n = 4, threads = 512 } } end
    for _, d in ipairs(op.d) do full = full or d.kind == "full" end
    -- Eight rows where no matrix unit takes few; a narrow tile for what is so small that adding up takes most of its
    -- time.
    local list = { { m = unit and 4 or 8 // op.products, n = 4, threads = 256 } }
    if not full and op.products == 1 then list[2] = { m = 4, n = 2, threads = 256 } end
    return list
  end,
  name = function(t)
    local text = ("%dx%d"):format(t.m, t.n)
    return t.threads == 512 and text or text .. "_t" .. t.threads
  end,
  problem_rules = {
    { "M, N or K is above 2^30", function(p, t) return le(max(max(p.m, p.n), p.k), 1073741824) end },
    { "more than 2^35 multiplications: too many for vector units", function(p, t)
      return le(p.m * p.n * p.k * p.batch * t.products, 34359738368)
    end },
  },
  launch = function(p, t, target)
    local blocks = work(p, t)
    return { { grid = { max(min(blocks, 1048576), 1), 1, 1 }, block = { t.threads }, early = true } }
  end,
  cost = function(p, t, target)
    local blocks, waves = work(p, t)
    local most = ceil_div(blocks, max(p.units, 1)) -- of the busiest unit
    local one = any(eq(p.m, 1), eq(t.m, 1)) -- the code of one row
    local rows = select(one, 1, t.m)
    -- Along K a wave takes steps of a chunk, or of four elements; across it eight or sixteen lines.
    local along = eq(t.b_along_k, 1)
    local whole = select(along, min(p.align_a, p.align_b) // 16, p.align_b // (4 * t.bytes_b))
    local deep = select(along, select(ge(whole, 1), t.step, 4 * t.lanes), select(one, 16, 8))
    local trips = ceil_div(max(p.k, 1), waves * deep)
    local trip = select(along, select(ge(whole, 1), 0.9, 0.77), select(ge(whole, 1), 0.62, 1))
    -- Sums are added up by lanes and waves; of one row they are few.
    local sums = select(one, t.sums // t.m, t.sums)
    local ends = 1.32 + select(one, 0.015, 0.043) * sums
    local latency = ceil_div(most, t.together) * (ends + trips * (trip + 0.005 * sums))
    local columns = select(along, t.n, select(one, 1, 2))
    local rate = target.simt_tflops * 1e6 / target.units
    -- Elements at odd places are loaded one by one, and A across K by lanes that lie along it, each from a line of its
    -- own (128 bytes), or several from one where columns of A are short.
    local across, apart = all(along, eq(t.a_along_k, 0)), min(p.lda * t.bytes_a, 128) / 128
    local loads = select(across, 3.7 + 71.3 * apart, select(ge(whole, 1), 3.7, 20))
    local busy = loads * most * t.waves * trips * deep * columns * rows * t.products / rate
    local bytes = p.batch * (p.m * p.k * t.bytes_a + p.n * p.k * t.bytes_b * t.products + p.m * p.n * t.bytes_e)
    local gbps = require "memory"(p, target)
    local memory = bytes / (gbps * select(along, 0.78e3, 0.66e3))
    -- Across K a block's strip of B comes no faster to a unit, whatever others do.
    local strips = select(along, 0, most * columns_across * p.k * t.bytes_b * t.products / 36e3)
    return target.launch_us - 2.9 + max(max(busy, strips), max(latency, memory)), {
      { "launching", target.launch_us - 2.9 },
      { "multiplying", busy },
      { "trips to memory", latency },
      { "moving bytes", max(memory, strips) },
      { "blocks", blocks, "count" },
      { "waves along K", waves, "count" },
      { "memory", bytes / (gbps * 1e3), "least" },
    }
  end,
}
