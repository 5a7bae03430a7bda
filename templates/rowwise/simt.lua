-- SPDX-License-Identifier: MIT
-- Row-wise operations on every GPU.  A row belongs to a few lanes of a wave, to a wave or to a block, which keeps it in
-- registers from phase to phase where it fits, or to several blocks where there are few long rows.  What does not
-- reduce is shared out by parts of rows.  docs/rowwise.md explains phases, pieces and paths.
local R = require "rows"

-- Columns that a lane takes side by side: 16 bytes of the commonest formats.  Of AMD's, where anything along the row
-- has 32 bits: two loads of 16 bytes a lane would each touch every segment of 64 that the wave's row has, half of it;
-- what NVIDIA's caches fetch, 32 bytes, is what a lane has.
local function piece_of(op, target)
  local s = R.sizes(op)
  return (target.vendor == "amd" and s.widest or s.narrow) == 4 and 4 or 8
end

return schedule {
  family = "rowwise",
  title = "rows in registers, on lanes, waves or blocks: any size, stride and alignment",
  supports = function(target, op)
    if target.vendor == "host" then return nil, "needs a GPU" end
    if R.largest_block(op) // piece_of(op, target) > target.wave then
      return nil, "a block of columns is larger than a wave holds"
    end
    return true
  end,
  tunables = {
    { "lanes", values = { 16, 32, 64, 128, 256, 512, 1024 }, doc = "threads of a row" },
    { "rows", values = { 1, 2, 4, 8, 16 }, doc = "rows of a block" },
    { "v", values = { 1, 2, 3, 4, 6, 8 }, doc = "pieces of 4 or 8 columns that a thread takes at once" },
    { "resident", values = { 0, 1 }, doc = "1: a row stays in registers, and must fit" },
    { "split", values = { 1, 2, 4, 8, 16, 32 }, doc = "blocks that share a row" },
  },
  derived = { "threads", "piece", "cols", "phases", "bytes", "again", "registers", "at_once", "slots", "online",
              "work" },
  derive = function(t, op, types, layout, target)
    local exponentials, choices = false, false
    for _, n in ipairs(op.graph) do
      exponentials = exponentials or R.along(n) and R.is_dear(n, { vendor = "any" })
      choices = choices or n.op == "select"
    end
    -- A phase less counts for more than some more exponentials where few blocks fit, or elements take registers.
    local few = t.lanes >= 512 and t.v <= 4
    t.online = target.vendor == "nvidia" and t.resident == 1 and (few or choices) and 1 or 0
    local plan, s = R.plan(op, t.online == 1), R.sizes(op)
    t.threads = t.lanes * t.rows
    t.piece = piece_of(op, target)
    t.cols = t.lanes * t.v * t.piece -- that a block takes of a row at once
    t.phases, t.slots = plan.last + 1, plan.slots
    t.bytes, t.again = s.bytes, R.read_again(plan)
    -- Registers: of a resident row the words of inputs that a phase or a later one reads, and what was kept of dear
    -- functions, whichever phase has most; of another one piece's; beside them addresses and what is being worked on.
    local held = t.resident == 1 and R.held(plan, target) or {}
    local live, words_of = 0, t.v * t.piece
    for p = 0, plan.last do
      local words_left, kept, seen = 0, 0, {}
      for q = p, t.resident == 1 and plan.last or p do
        for _, d in ipairs(R.inputs(plan, q, held)) do
          if not seen[d.name] then words_left = words_left + words_of * d.type.bytes // 4 end
          seen[d.name] = true
        end
      end
      for _, first in pairs(held) do if first < p then kept = kept + words_of end end
      for _, first in pairs(held) do if first == p then words_left = max(words_left, words_of) end end
      live = max(live, words_left + kept)
    end
    -- As ptxas takes them without spilling: what the phases share, and what functions want beside them.
    t.registers = live + (plan.last == 0 and 14 or plan.last == 1 and live >= 40 and live < 60 and 16 or 22)
    if plan.last > 0 and exponentials then t.registers = t.registers + (t.v > 4 and 22 or 6) end
    if plan.last > 0 and choices and t.online == 0 then t.registers = t.registers + 8 end
    if target.vendor == "amd" then -- what functions longer than e^x take of each element at once
      for k in pairs(held) do
        if R.is_dear(op.graph[k], { vendor = "nvidia" }) then t.registers = t.registers + 48 end
      end
    end
    -- Registers come in eights.
    local file = target.vendor == "nvidia" and 65536 or 131072
    t.at_once = max(2048 // t.threads, 1)
    while t.at_once > 1 and file // (t.threads * t.at_once) // 8 * 8 < t.registers do t.at_once = t.at_once - 1 end
    t.work = R.work(plan)
  end,
  rules = {
    { "{threads} threads > {max_threads}",
      function(t, op, types, layout, target) return t.threads <= target.max_threads end },
    { "{threads} threads do not fill a wave of {wave}",
      function(t, op, types, layout, target) return t.threads % target.wave == 0 end },
    { "a block of columns lies on more than {lanes} lanes",
      function(t, op) return R.largest_block(op) // t.piece <= t.lanes end },
    { "{registers} registers do not fit {threads} threads", function(t, op, types, layout, target)
      local file = target.vendor == "nvidia" and 65536 or 131072
      -- Compilers for AMD take some more, which matters where a block has them all.
      local more = target.vendor == "amd" and t.threads == target.max_threads and 16 or 0
      return t.threads * (t.registers + more) <= file and t.registers <= 240
    end },
    { "only rows that are reduced are kept or split",
      function(t) return t.phases > 1 or t.resident == 0 and t.split == 1 end },
    { "blocks that share a row do not keep it, and have one row",
      function(t) return t.split == 1 or t.resident == 0 and t.rows == 1 end },
    { "a split row's blocks are more than its lanes", function(t) return t.split <= t.lanes end },
    { "a split row of {phases} phases takes as many kernels, more than 4",
      function(t) return t.split == 1 or t.phases <= 4 end },
  },
  defaults = function(target, op)
    local piece, list, plan = piece_of(op, target), {}, R.plan(op)
    local function add(lanes, rows, v, resident, split)
      list[#list + 1] = { lanes = lanes, rows = rows, v = v, resident = resident, split = split }
    end
    if plan.last == 0 then
      add(target.wave, 256 // target.wave, 1, 0, 1)
      add(256, 1, 8 // piece, 0, 1)
      add(256, 1, 16 // piece, 0, 1)
      if target.vendor == "nvidia" then add(512, 1, 16 // piece, 0, 1) end
      return list
    end
    -- Conversions that the machine does not have by itself cost more than memory does: fewer elements at once will do,
    -- on NVIDIA's one tile.
    local emulated = false
    for _, o in ipairs(op.outputs) do
      local fp8 = o.type.name:find("f8") == 1
      emulated = emulated or fp8 and target.tflops[o.type.name] <= target.simt_tflops
    end
    local function keep(cols, lanes, rows)
      if emulated and cols ~= 4096 and target.vendor == "nvidia" then return end
      local v = ceil_div(cols, lanes * piece)
      if v == 5 then v = 6 elseif v == 7 then v = 8 end
      if v <= 8 then add(lanes, rows, v, 1, 1) end
    end
    if target.vendor == "nvidia" then
      keep(32 * piece, 32, 8)
      keep(1024, 128, 2)
      keep(2048, 256, 1)
      keep(4096, 128, 1) -- many rows
      keep(4096, 256, 1) -- few
      keep(6144, 256, 1)
      keep(8192, 256, 1)
      keep(12288, 512, 1)
      keep(16384, 512, 1)
    else
      keep(1024, 64, 4)
      keep(4096, 256, 1)
      keep(8192, 512, 1)
      keep(16384, 512, 1)
      keep(32768, 1024, 1)
      if target.wave == 64 then keep(65536, 1024, 1) end -- in waves of 32 compilers spill
    end
    add(512, 1, emulated and target.vendor == "amd" and 1 or 2, 0, 1)
    add(256, 1, 2, 0, 32)
    return list
  end,
  name = function(t)
    local text = ("t%dx%d_v%d"):format(t.lanes, t.rows, t.v)
    if t.resident == 1 then text = text .. "_r" end
    return t.split > 1 and text .. "_s" .. t.split or text
  end,
  problem_rules = {
    { "the row is longer than the registers of its lanes hold", function(p, t)
      return any(eq(t.resident, 0), le(p.cols, t.cols))
    end },
    { "blocks share rows where there are at most 1024", function(p, t)
      return any(eq(t.split, 1), le(p.rows * p.batch, 1024))
    end },
  },
  stages = function(t) return t.split > 1 and min(t.phases, 4) or 1 end, -- a rule cuts more
  launch = function(p, t, target)
    local x = max(min(ceil_div(p.rows, t.rows), 1048576), 1)
    local parts = select(gt(t.phases, 1), t.split, min(ceil_div(p.cols, t.cols), 65535))
    local stage = { grid = { x, max(parts, 1), max(min(p.batch, 65535), 1) }, block = { t.threads }, early = true }
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
    local parts = select(gt(t.phases, 1), t.split, ceil_div(p.cols, t.cols))
    local cols = ceil_div(p.cols, parts)                 -- of a block
    local at_once = t.lanes * t.piece * select(odd, 1, t.v)
    local steps = ceil_div(cols, at_once)
    local passes = select(all(eq(t.resident, 1), not_(odd)), 1, t.phases)
    local busiest = ceil_div(ceil_div(p.rows, t.rows) * parts * p.batch, max(p.units, 1))
    local first = min(busiest, t.at_once)
    local share = target.gbps * 0.9 / target.units       -- of a unit, KB per microsecond
    -- Read again, memory's last cache may have it: at that cache's rate, or as dear as at first where rows of all
    -- blocks do not fit.
    local again = select(gt(passes, 1), t.again, 0) * (target.again or 0.5)
    local bytes = min(t.rows, p.rows) * cols * (t.bytes + again) * select(odd, 1.5, 1)
    local memory = bytes * 0.001 / share
    local rate = target.simt_tflops * 5e5 / target.units -- of a unit, operations per microsecond
    local compute = t.rows * at_once * steps * t.work * select(odd, 3, 1) / rate
    local wait = 0.7 + (t.phases - 1) * (0.22 + 0.0003 * t.threads) + 0.4 * (passes * steps - 1) + 0.4 * t.online
    local turn = max(max(memory, compute), (wait + compute + memory) / t.at_once) + 0.015
    local stages = select(gt(t.split, 1), t.phases, 1)
    local blocks = wait + first * (compute + memory / 2) + (busiest - first) * turn
    -- Caches take what the last blocks store, but nothing is faster than memory; of two that are not, the better one
    -- is chosen.
    local least = p.rows * p.batch * p.cols * t.bytes * 0.001 / target.gbps
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
