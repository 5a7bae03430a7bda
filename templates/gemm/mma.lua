-- SPDX-License-Identifier: MIT
-- Operands at any address on NVIDIA's matrix units: warps multiply by themselves (mma.sync), with what they read of
-- shared memory put together where lines begin within words; tiles are small and come by ordinary copies, so that a
-- kernel begins and ends in little time.  Blocks of a cluster share a tile's K and add up through each other's shared
-- memory in a fixed order.
local inputs_of_blocks = require "blocks"
local fitting, spots, spread = require "clusters", require "spots", require "spread"

-- Blocks that share a tile's K: as many as units hold at once, with at least four tiles of K each.
local function parts(p, t)
  local tiles = ceil_div(p.m, t.m) * ceil_div(p.n, t.n) * p.batch
  local units, steps = max(p.units, 1), ceil_div(p.k, t.k)
  local best = 1
  for s = 2, 8 do
    local fit = fitting(units, s) * t.blocks
    best = select(all(le(tiles * s, fit), ge(steps, 4 * s)), s, best)
  end
  return select(gt(t.split_k, 0), t.split_k, best)
end

-- Blocks from which on a unit is left as it is: lines of B in registers come through the first-level cache, a part of
-- each twice; of other tiles as many as it takes at all.
local function held(t) return select(eq(t.lines, 1), t.blocks, 32) end

local widened = { i8 = true, f8e4m3 = true, f8e5m2 = true } -- bytes that become 16 bits as fragments are read

local function along_k(layout, operand) return layout[operand] == (operand == "a" and "r" or "c") end

return schedule {
  family = "gemm",
  title = "matrix units by single warps: operands at any address, small tiles",
  supports = function(target, op, types, layout)
    if op.groups then return nil, "rows are of groups" end
    if not target.wgmma then return nil, "needs Hopper's matrix unit (sm_90a)" end
    if types.a.bits < 8 or types.b.bits < 8 then return nil, "takes no elements of 4 bits" end
    if op.graph then return nil, "writes no output beside E" end
    local lacks = inputs_of_blocks.unsupported(op)
    if lacks then return nil, lacks end
    if types.mul_a.float and types.mul_a.bits == 8 then return nil, "single warps have no instruction for fp8 here" end
    if types.mul_a.bits > 16 or not target.wgmma[types.mul_a.name .. " " .. types.mul_b.name] then
      return nil, "the matrix unit does not multiply " .. types.mul_a.name .. " by " .. types.mul_b.name
    end
    if (types.acc.name == "i32") == types.mul_a.float then
      return nil, "i8 and u8 are summed in i32 here, everything else in f32"
    end
    for _, x in ipairs { "a", "b" } do
      local type, mul, has_op = types[x], types["mul_" .. x], op["has_" .. x .. "_op"]
      if has_op and mul.bits < 16 then return nil, x .. "_op makes 16 bits here, no bytes" end
      if type.bits > mul.bits or type.bits == mul.bits and type.name ~= mul.name then
        return nil, ("%s of %s is no %s in memory"):format(x:upper(), type.name, mul.name)
      end
      if type.bits < mul.bits and not has_op and not widened[type.name] then
        return nil, ("%s of %s does not become %s here"):format(x:upper(), type.name, mul.name)
      end
      if type.bytes ~= 2 and not along_k(layout, x) then
        return nil, ("%s of %s must be contiguous along K: only 16-bit types may be so along the other dimension")
          :format(x:upper(), type.name)
      end
    end
    return true
  end,
  tunables = {
    { "m", values = { 16, 32, 64, 128 }, doc = "rows of the block's tile" },
    { "n", values = { 16, 32, 64, 128, 256 }, doc = "columns of the block's tile" },
    { "wm", values = { 1, 2, 4 }, doc = "warps of a block along M" },
    { "wn", values = { 1, 2, 4, 8 }, doc = "and along N" },
    { "wk", values = { 1, 2, 4 }, doc = "and along K" },
    { "slabs", values = { 1, 2, 4 }, doc = "pieces of 128 bytes along K that arrive together" },
    { "word", values = { 1, 4, 8 },
      doc = "bytes that lines of A and B begin at multiples of, and that are copied at once; 1: at any address" },
    { "lines", values = { 0, 1 },
      doc = "1: few rows of A; lines of B, along K, come from any address straight to registers" },
    { "depth", values = { 1, 2, 3, 4, 5, 6, 8 },
      doc = "tiles of A and B in shared memory; with lines: steps of B's, 64 bytes of each, in registers" },
    { "blocks", values = { 1, 2, 3, 4, 6 }, doc = "blocks that a unit holds at once" },
    { "split_k", values = { 0, 1, 2, 3, 4, 5, 6, 7, 8 },
      doc = "blocks that share a tile, each a part of K; 0: chosen at the launch" },
  },
  derived = { "k", "threads", "products", "sums", "fast", "slot_bytes", "lds_bytes", "room", "line", "copies", "bits_a",
              "bits_b", "bytes_e", "bytes_d", "a_across", "b_across", "steps", "alike", "shortest", "changed" },
  derive = function(t, op, types, layout, target)
    t.k, t.threads, t.products = 128 // types.mul_a.bytes * t.slabs, 32 * t.wm * t.wn * t.wk, op.products
    t.sums = op.products * t.m * t.n // (32 * t.wm * t.wn)
    local function bytes(x, across)
      local along = along_k(layout, x)
      local line = (along and t.k or across) * types[x].bytes
      t.line = max(t.line, min(line, 128))
      return (along and across or t.k) * (line + 16)
    end
    t.line = 0
    t.slot_bytes = bytes("a", t.m) + op.products * bytes("b", t.n)
    -- Lines of B that begin alike are `alike` apart; steps of 64 bytes of each.
    t.alike, t.shortest = 16 // types.b.bytes, t.lines * (16 // types.b.bytes)
    t.steps = t.k // (4 * t.alike)
    if t.lines > 0 then t.slot_bytes = t.m * (t.k + 4 * t.alike) * 4 end
    local stage = 4 * t.wk * op.products * (layout.e == "r" and t.m * (t.n + 8) or t.n * (t.m + 4))
    t.fast = layout.e == "r" and t.n or t.m
    -- Words behind a line's last are read, too.
    t.lds_bytes = max(t.lines > 0 and 2 * t.slot_bytes + 32 * op.products or t.depth * t.slot_bytes + 16, stage)
    t.room = min((target.lds + 1024) // t.blocks - 1024, target.lds)
    t.copies = ceil_div((t.m * types.a.bits + op.products * t.n * types.b.bits) * t.k // 8,
                        (t.word == 1 and 16 or t.word) * t.threads) -- of a thread, for each tile
    t.bits_a, t.bits_b, t.bytes_e, t.bytes_d = types.a.bits, types.b.bits, types.e.bytes, 0
    for _, d in ipairs(op.epilogue_inputs) do t.bytes_d = t.bytes_d + (d.kind == "full" and d.type.bytes or 0) end
    t.a_across, t.b_across = along_k(layout, "a") and 0 or 1, along_k(layout, "b") and 0 or 1
    t.changed = op.has_b_op and 1 or 0
  end,
  rules = {
    { "{wm} by {wn} warps do not share {m} rows and {n} columns in sixteens", function(t)
      return t.m % (16 * t.wm) == 0 and (t.lines > 0 or t.n % (16 * t.wn) == 0)
    end },
    { "{sums} sums per thread > 128", function(t) return t.sums <= 128 end },
    { "lines of {line} bytes are too long for {threads} threads", function(t)
      return t.threads * t.word >= t.line
    end },
    { "4 pieces along K are for lines of B in registers", function(t) return t.lines > 0 or t.slabs < 4 end },
    { "tiles in shared memory are at least two", function(t) return t.lines > 0 or t.depth > 1 end },
    { "lines of B in registers are for A and B along K", function(t)
      return t.lines == 0 or t.a_across + t.b_across == 0
    end },
    { "lines of B in registers go through no b_op", function(t) return t.lines == 0 or t.changed == 0 end },
    { "lines of B in registers are for 8 warps along N, and begin anywhere", function(t)
      return t.lines == 0 or t.wm == 1 and t.wn == 8 and t.wk == 1 and t.word == 1
    end },
    { "{n} columns are no eights of lines of each of the {alike} kinds that begin alike", function(t)
      return t.lines == 0 or t.n % (8 * t.alike) == 0
    end },
    { "{steps} steps of a tile are not two or more, and no multiple of {depth}", function(t)
      return t.lines == 0 or t.steps > 1 and t.steps % t.depth == 0
    end },
    { "{threads} threads finish rows of {fast} elements", function(t) return t.threads >= t.fast end },
    { "LDS: {lds_bytes} bytes of {room} that each of {blocks} blocks has", function(t)
      return t.lds_bytes <= t.room
    end },
  },
  defaults = function(target, op, types, layout)
    local function tile(m, n, wm, wn, wk, slabs, word, depth, blocks, lines)
      return { m = m, n = n, wm = wm, wn = wn, wk = wk, slabs = slabs, word = word, lines = lines or 0, depth = depth,
               blocks = blocks, split_k = 0 }
    end
    -- The first one is what sweeps begin with that leave tunables out.
    local across = layout.a == "c" or layout.b == "r"
    if op.products == 2 then
      return { tile(64, 32, 2, 2, 1, 1, 1, 4, 3), tile(32, 16, 1, 1, 4, 2, 1, 3, 3), tile(32, 16, 1, 1, 4, 2, 4, 4, 3),
               tile(32, 32, 2, 2, 1, 1, 4, 3, 3), not across and tile(32, 32, 1, 2, 2, 2, 8, 3, 2) or nil }
    end
    local full = false
    for _, d in ipairs(op.d) do full = full or d.kind == "full" end
    local list = { tile(64, 64, 2, 2, 1, 1, 1, 4, 3) }
    local function add(...) list[#list + 1] = tile(...) end
    if across then
      add(16, 32, 1, 1, 4, 1, 1, 6, 4)
      add(32, 32, 2, 2, 1, 2, 4, 3, 3)
    else
      if types.a.bits == types.b.bits then add(32, 32, 1, 1, 4, 2, 1, 4, 3) end
      add(16, 32, 1, 1, 4, 2, 1, 4, 3)
      add(32, 32, 1, 2, 2, 2, 4, 4, 3)
    end
    add(32, 16, 1, 1, 4, 2, 4, 4, 3)
    add(64, 64, 2, 2, 1, 1, 4, 3, 2)
    if full then return list end
    add(64, 64, 2, 2, 1, 2, 8, 4, 1)
    -- Few rows beside lines of B.
    if not across and not op.has_b_op and types.mul_b.bits == 16 then
      if types.b.bits == 8 then
        add(16, 128, 1, 8, 1, 4, 1, 2, 2, 1)
      else
        add(16, 128, 1, 8, 1, 2, 1, 2, 3, 1)
        add(32, 128, 1, 8, 1, 2, 1, 4, 2, 1)
      end
    end
    return list
  end,
  name = function(t)
    local text = ("%dx%dx%d_w%dx%d"):format(t.m, t.n, t.k, t.wm, t.wn)
    text = text .. (t.wk > 1 and "x" .. t.wk or "") .. (t.slabs > 1 and "_p" .. t.slabs or "")
    text = text .. ("_d%d_b%d"):format(t.depth, t.blocks) .. (t.word > 1 and "_a" .. t.word or "")
    text = text .. (t.lines > 0 and "_lines" or "")
    return t.split_k > 0 and text .. "_s" .. t.split_k or text
  end,
  problem_rules = require "limits" {
    { "A's address, pitch or batch stride is no multiple of the bytes that are copied at once", function(p, t)
      return ge(p.align_a, t.word)
    end },
    { "B's address, pitch or batch stride is no multiple of the bytes that are copied at once", function(p, t)
      return ge(p.align_b, t.word)
    end },
    { "lines of B are less than 16 bytes apart", function(p, t) return ge(p.ldb, t.shortest) end },
  },
  launch = function(p, t, target)
    local tiles = max(ceil_div(p.m, t.m) * ceil_div(p.n, t.n) * p.batch, 1)
    local s = parts(p, t)
    return {
      { grid = { tiles * s, 1, 1 }, block = { t.threads }, cluster = { s, 1, 1 }, early = true,
        lds = spread(p, t, target, tiles * s, s, held(t)) },
    }
  end,
  -- Fitted to times on an H200 (docs/mma.md).
  cost = function(p, t, target)
    local s = parts(p, t)
    local blocks = ceil_div(p.m, t.m) * ceil_div(p.n, t.n) * p.batch * s
    local units = max(p.units, 1)
    -- Of the busiest unit; clusters of eight mostly find room on more units than they are sure to.
    local room = select(gt(s, 1), spots(units, s), units)
    local most = select(gt(s, 1), ceil_div(25 * blocks, 27 * room), ceil_div(blocks, room))
    local waves = ceil_div(most, t.blocks)
    local steps = ceil_div(ceil_div(max(p.k, 1), t.k), s)
    -- What a step takes of a unit for each warp: copies, fragments of A and B, for which a lane reads words where they
    -- do not come by ldmatrix, and multiplications.
    local turns, rows, columns = 4 * t.slabs / t.wk, t.m / t.wm, t.n * t.products / t.wn
    local loose, fours = eq(t.word, 1), eq(t.word, 4)
    local copy = t.copies * select(loose, 0.011, select(fours, 0.0026, 0.0038))
    local function fragments(align, across, widens)
      local any = select(eq(across, 1), 0.0086, select(lt(align, 4), 0.0061, 0.0078))
      return select(widens, select(loose, 0.0086, 0.0018), select(loose, any, select(eq(across, 1), 0.0027, 0.00036)))
    end
    local a = fragments(p.align_a, t.a_across, lt(t.bits_a, t.bits_b))
    local b = fragments(p.align_b, t.b_across, lt(t.bits_b, t.bits_a))
    local read = turns * (rows * a + columns * b) / 16
    local multiplied = turns * rows * columns / 128
    local each = steps * (t.threads / 32 * (copy + read + 0.0009 * multiplied) + 0.0041)
    -- And of a block by itself, which waits for each of them.
    local wait = t.copies * select(loose, 0.06, select(fours, 0.0038, 0.0029))
    local step = 0.0774 + wait + 2.3 * read + 0.00965 * multiplied
    local ends = min(p.m, t.m) * min(p.n, t.n) * t.products / 4096 * (1 + 0.05 * t.bytes_d)
    local alone = waves * (0.74 + steps * step + 198 * ends / t.threads)
    local busy = most * (0.55 + each + 0.42 * ends * (1 + 0.008 * max(t.bytes_e - 2, 0)))
    local bytes = p.batch * (p.m * p.k * t.bits_a / 8 + p.n * p.k * t.products * t.bits_b / 8
                             + p.m * p.n * (t.bytes_e + t.bytes_d))
    local gbps = require "memory"(p, target) * 1e3
    local memory = bytes / (gbps * 0.59)
    local launching = target.launch_us - 2.24 + select(gt(s, 1), 0.21 + 0.24 * s, 0)
    -- Lines of B in registers: of 16 bits 32 KiB of a block, alone on its unit or beside others.
    local lines = eq(t.lines, 1)
    local portion = p.k * t.n * t.products * t.bits_b / (262144 * s) * select(lt(t.bits_b, 16), 1.6, 1)
    local out = 0.5 * most * ends
    alone = select(lines, 3.5 * (waves - 1) + waves * portion * (1.26 + 0.031 * t.m) + out, alone)
    busy = select(lines, 1.78 * (most - 1) + most * portion * (0.4 + 0.0089 * t.m) + out, busy)
    memory = select(lines, bytes / (gbps * 0.62) + out, memory)
    launching = select(lines, target.launch_us - 0.13 + select(gt(s, 1), 1.76, 0), launching)
    return launching + max(alone, max(busy, memory)), {
      { "launching", launching },
      { "a block, one after the other", alone },
      { "a unit's blocks together", busy },
      { "moving bytes", memory },
      { "blocks", blocks, "count" },
      { "blocks that share a tile's K", s, "count" },
      { "rounds of the device", blocks / (room * t.blocks), "count" },
      { "blocks on a unit at once", (target.lds + 1024) // (spread(p, t, target, blocks, s, held(t)) + 1024), "count" },
      { "memory", bytes / gbps, "least" },
    }
  end,
}
