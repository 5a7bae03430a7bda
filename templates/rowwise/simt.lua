-- SPDX-License-Identifier: MIT
-- Row-wise operations on every GPU.  A row belongs to a few lanes of a wave, to a wave or to a block, which keeps it in
-- registers from phase to phase where it fits, or to several blocks where there are few long rows.  What does not
-- reduce is shared out by parts of rows.  docs/rowwise.md explains phases, pieces and paths.
local R = require "rows"

-- Columns that a lane takes side by side: 16 bytes of the commonest formats.  Of AMD's, where anything along the row
-- has 32 bits: two loads of 16 bytes a lane would each touch every segment of 64 that the wave's row has, half of it;
-- what NVIDIA's caches fetch, 32 bytes, is what a lane has.  A block of columns is within a wave: of 256, each of 32
-- lanes has 8.
local function piece_of(op, target)
  local s = R.sizes(op)
  local four = (target.vendor == "amd" and s.widest or s.narrow) == 4 and R.largest_block(op) <= 4 * target.wave
  return four and 4 or 8
end

return schedule {
  family = "rowwise",
  title = "rows in registers, on lanes, waves or blocks: any size, stride and alignment",
  supports = function(target, op)
    if target.vendor == "host" then return nil, "needs a GPU" end
    return true
  end,
  tunables = {
    { "lanes", values = { 16, 32, 64, 128, 256, 512, 1024 }, doc = "threads of a row" },
    { "rows", values = { 1, 2, 4, 8, 16 }, doc = "rows of a block" },
    { "v", values = { 1, 2, 3, 4, 6, 8 }, doc = "pieces of 4 or 8 columns that a thread takes at once" },
    { "resident", values = { 0, 1 }, doc = "1: a row stays in registers, and must fit" },
    { "split", values = { 1, 2, 4, 8, 16, 32 }, doc = "blocks that share a row, a kernel for each phase" },
    { "cluster", values = { 1, 2, 4, 8 }, doc = "blocks of a cluster that share a row" },
    { "narrow", values = { 0, 1, 2 }, doc = "columns of a piece, where rows are aligned to no more; 0: 4 or 8" },
  },
  derived = { "threads", "piece", "cols", "phases", "bytes", "again", "registers", "at_once", "slots", "online", "work",
              "lds", "deferred", "flat" },
  derive = function(t, op, types, layout, target)
    local exponentials, choices = false, false
    for _, n in ipairs(op.graph) do
      exponentials = exponentials or R.along(n) and R.is_dear(n, { vendor = "any" })
      choices = choices or n.op == "select"
    end
    -- A phase less counts for more than some more exponentials where few blocks fit, or elements take registers.
    local few = t.lanes >= 512 and t.v <= 4
    -- A sum that is rounded as the largest grows is no compensated one.
    local may = target.vendor == "nvidia" and t.resident == 1 and not op.sums
    t.online = may and (few or choices) and 1 or 0
    local plan, s = R.plan(op, t.online == 1), R.sizes(op)
    t.threads = t.lanes * t.rows
    t.piece = t.narrow > 0 and t.narrow or piece_of(op, target)
    t.cols = t.lanes * t.v * t.piece -- that a block takes of a row at once
    t.phases, t.slots = plan.last + 1, plan.slots
    t.bytes, t.again = s.bytes, R.read_again(plan)
    R.keeping(plan, t, target)
    local function registers(deferred)
      local words = R.live(plan, t, target, deferred)
      -- As ptxas takes them without spilling: what the phases share, and what functions want beside them.
      local n = words + (plan.last == 0 and 14 or plan.last == 1 and words >= 40 and words < 60 and 16 or 22)
      if deferred then n = n + words // 4 end
      if plan.last > 0 and exponentials then n = n + (t.v > 4 and 22 or 6) end
      if plan.last > 0 and choices and t.online == 0 then n = n + 8 end
      if op.sums then n = n + 8 end
      if target.vendor == "amd" then -- what functions longer than e^x take of each element at once
        for k in pairs(R.held(plan, target)) do
          if t.resident == 1 and R.is_dear(op.graph[k], { vendor = "nvidia" }) then n = n + 48 end
        end
      end
      return n
    end
    -- Registers come in eights.
    local file = target.vendor == "nvidia" and 65536 or 131072
    local function blocks(n)
      local at_once = max(min(2048 // t.threads, 32), 1) -- a unit has no more blocks, however small
      while at_once > 1 and file // (t.threads * at_once) // 8 * 8 < n do at_once = at_once - 1 end
      return at_once
    end
    -- Inputs that all rows share are read when a phase wants them where that makes room for another block beside few.
    t.registers, t.deferred = registers(false), 0
    if plan.packs and blocks(t.registers) < 4 and blocks(registers(true)) > blocks(t.registers) then
      t.registers, t.deferred = registers(true), 1
    end
    t.at_once = blocks(t.registers)
    t.work = R.work(plan, t.piece, t.resident == 1 and R.held(plan, target) or nil)
    -- Where no column is told from another, rows that lie one behind the other are one, of which each block has a part.
    t.flat = plan.last == 0 and R.alike(op) and 1 or 0
    -- Of a cluster's block: what its waves and others' have of each reduction, and a barrier for each phase.
    t.lds = t.cluster > 1 and 4 * t.slots * t.cluster * t.lanes // target.wave + 8 * plan.last or 0
  end,
  rules = {
    { "{threads} threads > {max_threads}",
      function(t, op, types, layout, target) return t.threads <= target.max_threads end },
    { "{threads} threads do not fill a wave of {wave}",
      function(t, op, types, layout, target) return t.threads % target.wave == 0 end },
    { "a block of columns is larger than a wave holds in pieces of {piece}",
      function(t, op, types, layout, target) return R.largest_block(op) // t.piece <= target.wave end },
    { "a block of columns lies on more than {lanes} lanes",
      function(t, op) return R.largest_block(op) // t.piece <= t.lanes end },
    { "{registers} registers do not fit {threads} threads", function(t, op, types, layout, target)
      local file = target.vendor == "nvidia" and 65536 or 131072
      -- Compilers for AMD take some more, which matters where a block has them all.
      local more = target.vendor == "amd" and t.threads == target.max_threads and 16 or 0
      return t.threads * (t.registers + more) <= file and t.registers <= 240
    end },
    { "only rows that are reduced are kept or split",
      function(t) return t.phases > 1 or t.resident == 0 and t.split == 1 and t.cluster == 1 end },
    { "blocks that share a row do not keep it, and have one row",
      function(t) return t.split == 1 or t.resident == 0 and t.rows == 1 and t.cluster == 1 end },
    { "blocks of a cluster have one row, of whole waves",
      function(t, op, types, layout, target)
        return t.cluster == 1 or t.rows == 1 and t.lanes >= target.wave
      end },
    { "{target} has no clusters", function(t, op, types, layout, target)
      return t.cluster == 1 or (target.cluster or 1) >= t.cluster
    end },
    { "a reduction's parts of {cluster} blocks are more than a wave has lanes", function(t, op, types, layout, target)
      return t.cluster * t.lanes // target.wave <= target.wave or t.cluster == 1
    end },
    { "a split row's blocks are more than its lanes", function(t) return t.split <= t.lanes end },
    { "a split row of {phases} phases takes as many kernels, more than 4",
      function(t) return t.split == 1 or t.phases <= 4 end },
  },
  defaults = function(target, op)
    local piece, list, plan = piece_of(op, target), {}, R.plan(op)
    local function add(lanes, rows, v, resident, split, cluster, narrow)
      list[#list + 1] = { lanes = lanes, rows = rows, v = v, resident = resident, split = split,
                          cluster = cluster or 1, narrow = narrow or 0 }
    end
    if plan.last == 0 then
      add(target.wave, 256 // target.wave, 1, 0, 1)
      add(256, 1, 16 // piece, 0, 1)
      return list
    end
    -- Conversions that the machine does not have by itself cost more than memory does: fewer elements at once will do,
    -- on NVIDIA's one tile.
    local emulated = false
    for _, o in ipairs(op.outputs) do
      local fp8 = o.type.name:find("f8") == 1
      emulated = emulated or fp8 and target.tflops[o.type.name] <= target.simt_tflops
    end
    local function keep(cols, lanes, rows, cluster, narrow)
      if emulated and (cols ~= 4096 or narrow) and target.vendor == "nvidia" then return end
      local v = ceil_div(cols, lanes * (narrow or piece) * (cluster or 1))
      if v == 5 then v = 6 elseif v == 7 then v = 8 end
      if v <= 8 then add(lanes, rows, v, 1, 1, cluster, narrow) end
    end
    -- What rows of any length miss most: docs/benchmarks/shapes.md.
    if target.vendor == "nvidia" then
      keep(32 * piece, 32, 8)
      keep(1024, 128, 2)
      keep(4096, 128, 1)
      keep(8192, 256, 1)
      if piece == 4 then keep(12288, 512, 1) end -- 8 neighbours: what has 16384 does as well
      keep(16384, 512, 1)
      keep(8192, 256, 1, 4) -- few rows
      keep(16384, 128, 1, 8)
      keep(32768, 256, 1, 2)
      keep(65536, 256, 1, 4)
      keep(1024, 128, 2, 1, 1) -- rows at any address
      keep(4096, 512, 1, 1, 1)
      keep(1024, 128, 2, 1, 2)
      keep(4096, 256, 1, 1, 2)
    else
      keep(1024, 64, 4)
      keep(4096, 256, 1)
      keep(8192, 512, 1)
      keep(16384, 512, 1)
      keep(32768, 1024, 1)
    end
    add(512, 1, emulated and target.vendor == "amd" and 1 or 2, 0, 1)
    add(256, 1, 2, 0, 32)
    return list
  end,
  name = function(t)
    local text = ("t%dx%d_v%d"):format(t.lanes, t.rows, t.v)
    if t.resident == 1 then text = text .. "_r" end
    if t.cluster > 1 then text = text .. "_c" .. t.cluster end
    if t.narrow > 0 then text = text .. "_p" .. t.narrow end
    return t.split > 1 and text .. "_s" .. t.split or text
  end,
  problem_rules = {
    { "the row is longer than the registers of its lanes hold", function(p, t)
      return any(eq(t.resident, 0), le(p.cols, t.cols * t.cluster))
    end },
    { "blocks share rows where there are at most 1024", function(p, t)
      return any(eq(t.split, 1), le(p.rows * p.batch, 1024))
    end },
  },
  stages = function(t) return t.split > 1 and min(t.phases, 4) or 1 end, -- a rule cuts more
  launch = function(p, t, target)
    local x, one = max(min(ceil_div(p.rows, t.rows), 1048576), 1), eq(t.phases, 1)
    local grid = { select(one, min(ceil_div(p.cols, t.cols), 65535), x * t.cluster), -- parts of a row side by side
                   select(one, min(x, 65535), t.split), max(min(p.batch, 65535), 1) }
    local stage = { grid = grid, block = { t.threads },
                    cluster = { t.cluster, 1, 1 }, lds = t.lds, early = true }
    return { stage, stage, stage, stage }
  end,
  -- What each block of a split row has of every reduction over it.
  workspace = function(p, t, target)
    return select(gt(t.split, 1), 4 * p.batch * p.rows * t.slots * t.split, 0)
  end,
  -- Blocks of a unit as customers of its share of memory: each waits (latency, reductions) and computes, and as many as
  -- fit do so side by side.  A turn of the busiest unit takes as long as its dearest part, the first block all of them.
  cost = function(p, t, target)
    local odd = lt(p.vector, t.piece)                    -- rows that are gone through element by element
    local parts = select(gt(t.phases, 1), t.split * t.cluster, ceil_div(p.cols, t.cols))
    local cols = ceil_div(p.cols, parts)                 -- of a block
    local at_once = t.lanes * t.piece * select(odd, 1, t.v)
    local steps = ceil_div(cols, at_once)
    local passes = select(all(eq(t.resident, 1), not_(odd)), 1, t.phases)
    local units, launched = max(p.units, 1), ceil_div(p.rows, t.rows) * parts * p.batch
    -- One row of all, where they lie one behind the other: blocks that find nothing left of it end at once.
    local one_row, all_of_it = eq(t.flat, 1), p.rows * p.cols * p.batch
    local busy = select(one_row, ceil_div(all_of_it, t.threads * t.v * t.piece), launched)
    local busiest = ceil_div(busy, units)
    local first = min(busiest, t.at_once)
    local gbps = require "memory"(p, target)
    local share = gbps * 0.9 / target.units              -- of a unit, KB per microsecond
    -- Read again, memory's last cache may have it: at that cache's rate, or as dear as at first where rows of all
    -- blocks do not fit.
    local again = select(gt(passes, 1), t.again, 0) * (target.again or 0.5)
    local elements = select(one_row, min(all_of_it, t.threads * t.v * t.piece), min(t.rows, p.rows) * cols)
    local bytes = elements * (t.bytes + again) * select(odd, 1.5, 1)
    local memory = bytes * 0.001 / share
    -- Its parts side by side are the quicker the smaller they are.
    memory = memory * select(one_row, 1 + 0.1 * (t.v * t.piece // 8 - 1) + select(gt(t.rows, 1), 0.005, 0), 1)
    local rate = target.simt_tflops * 5e5 / target.units -- of a unit, operations per microsecond
    local compute = t.rows * at_once * steps * t.work * select(odd, 3, 1) / rate
    local wait = 0.7 + (t.phases - 1) * (0.22 + 0.0003 * t.threads) + 0.4 * (passes * steps - 1) + 0.4 * t.online
    -- Blocks of a cluster begin together, and wait for each other.
    local together = select(gt(t.cluster, 1), 0.1 * t.phases + 0.1 * first, 0)
    wait = wait + together
    local turn = max(max(memory, compute), (wait + compute + memory) / t.at_once) +
      select(gt(t.cluster, 1), 0.15, 0.015)
    local stages = select(gt(t.split, 1), t.phases, 1)
    local blocks = wait + first * (compute + memory / 2) + (busiest - first) * turn +
      0.02 * max(launched - busy, 0) / units
    -- Caches take what the last blocks store, but nothing is faster than memory; of two that are not, the better one
    -- is chosen.
    local least = p.rows * p.batch * p.cols * t.bytes * 0.001 / gbps
    return target.launch_us + 1.2 * (stages - 1) + max(blocks, least + 0.05 * blocks), {
      { "launching", target.launch_us + 1.2 * (stages - 1) },
      { "blocks of the busiest unit", blocks },
      { "moving bytes", least + 0.05 * blocks },
      { "of a block: its bytes", memory },
      { "of a block: computing", compute },
      { "of a block: waiting", wait },
      { "blocks of a unit", busiest, "count" },
      { "blocks that share a row", parts, "count" },
      { "times that a row is read", passes, "count" },
      { "memory", least, "least" },
    }
  end,
}
