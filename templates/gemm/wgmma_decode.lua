-- SPDX-License-Identifier: MIT
-- Matrix product of few rows (decoding) on Hopper: the weights B stream once from memory through a deep ring and
-- everything else stays out of their way.  B gives wgmma its 64-row side and A the other, so that few rows of A cost
-- little; blocks of a cluster share a tile's K and add up through each other's shared memory in a fixed order.
-- Weights of a byte or of 4 bits under a 16-bit A, and of 4 bits under bytes, are widened in registers; those of 16
-- bits may be contiguous along N.
local of_blocks = require "blocks"
local half_bytes = require "half_bytes"
local decode_outputs = require "wgmma_decode_outputs"
local copied, written = require "wgmma_copied", require "wgmma_written"
local fitting, spots, spread = require "clusters", require "spots", require "spread"
-- Elements of B that are widened: to 16 bits, or 4 bits to bytes.
local function to_bytes(types) return types.a.bits == 8 and not types.a.float and types.b.bits < 8 end
local function mixed(types) return types.a.bytes == 2 and types.b.bits <= 8 or to_bytes(types) end

-- `gather`: of A alone, whose rows are next to each other; of A and B.
local A_ALONE = 3
local function copies(t) return all(gt(t.gather, 0), lt(t.gather, A_ALONE)) end

-- What follows wgmma's shape in its name: B first.
local function instruction(target, types) return target.wgmma[types.mul_b.name .. " " .. types.mul_a.name] end

-- Bytes of an element along K in shared memory: what is written, and read by the matrix unit or, two bytes where there
-- could be four, to be widened; and how many of them pass in a nanosecond: fitted (docs/benchmarks/tiles.md).
local function passes(p, t)
  local columns = t.columns * t.products -- with those beyond the tile
  local from_b = columns * select(all(eq(t.mixed, 1), eq(t.order, 0)), 8 * t.bytes_a, t.bits_b) // 8
  local from_a = t.m * t.bytes_a * select(eq(t.across, 1), t.wg * t.products, columns // 64)
  local rate = select(eq(t.mixed, 1), 188, select(gt(t.m, 64), 232, select(lt(t.m, 64), 308,
                                                                           select(gt(p.m, t.m), 200, 133))))
  local rows = select(eq(t.turned, 1), t.m, min(p.m, t.m)) -- that come
  return t.n * t.bits_b * t.products // 8 + rows * t.bytes_a + from_b + from_a, rate
end

-- Microseconds of a tile, s blocks to it, whose warps multiply by themselves: a quarter of a unit has so many strips of
-- 16 columns in each step.  Where warps are not alike, some have one less for quarters to have the same (derive).
-- Fitted on an H200 (docs/benchmarks/blockscale.md).
local function by_strips(p, t, s)
  local warps, strips, rows = t.threads // 32 - 2, t.products * (t.n // 16) * t.slabs, min(t.m, 16) - 8
  local each = select(eq(warps * t.panels, strips), ceil_div(warps, 4) * t.panels, ceil_div(strips, 4))
  local step = 0.3 + 0.1 * rows + (0.25 - 0.009 * rows) * each
  return ceil_div(ceil_div(max(p.k, 1), t.k), s) * step * max(t.m, 16) / 16
end

-- Where nothing but memory limits, a unit gets no more than its share while all have work.
local function streams(t) return all(eq(t.mixed, 0), eq(t.sum_chain, 0), not_(copies(t)), le(t.m, 64)) end

-- How long it then takes until the last block has its weights, s of which share each tile: in thousandths of what a
-- tile takes at a unit's share, times s; and how many rounds of blocks there are.  A block alone on its unit gets what
-- its ring holds in 1.13 us, up to 3.6 times the share, while others have none, and less where all that is about what
-- memory gives; hardly more than the share where a warpgroup has more than 128 columns, for whose products it waits.
-- Of two on a unit those that are left then get 1.5 times as much together, and where many units have two, hardly more
-- than the share.  Blocks of a later round go where there is room first.  No unit is faster than its shared memory.
local function turns(p, t, tiles, s)
  local units, fit, weights = max(p.units, 1), max(fitting(p.units, s), 1), max(t.n * t.bits_b * t.products // 8, 1)
  local blocks = tiles * s
  local rounds = max(ceil_div(blocks, fit * t.blocks), 1)
  local last = blocks - (rounds - 1) * fit * t.blocks
  local each, more = last // fit, last % fit * 1000 // fit
  local waits = gt(t.across * t.panel_n * t.products, 128)
  local alone = max(37300000 // max(t.depth * t.k * weights, 1), select(waits, 920, 280))
  local beside = select(gt(more, 0), max(680, 620 + more * 31 // 100), 0)
  local longer, shorter = max(alone, more), min(alone, more)
  local slower = shorter * shorter // (select(all(gt(t.n, 64), eq(t.boxes, 1)), 2, 8) * longer)
  local one = select(eq(each, 0), longer + slower * min(1000, 2000 - 2 * more) // 1000, each * 1000 + beside)
  -- Where a unit may have three blocks, some have while others have one.
  one = select(all(gt(t.blocks, 2), gt(100 * blocks, 163 * fit)), max(one, 2800), one)
  local several = (rounds - 1) * fit * t.blocks * 1000 // units + max(alone, last * 1000 // units)
  local passing, passed = passes(p, t)
  local inside = ceil_div(blocks, units) * passing * 33000 // (passed * weights)
  return max(max(select(gt(rounds, 1), several, one), blocks * 1010 // units), inside), rounds
end

-- Blocks that share a tile's K.  Where memory limits, and of tiles of more than 64 rows: as many as are soonest done.
-- Else the fewest that leave the busiest unit the least, and all fit at once.
local function parts(p, t, target)
  local tiles_m = ceil_div(p.m, t.m)
  local tiles = tiles_m * ceil_div(p.n, t.n) * p.batch
  local units, steps = max(p.units, 1), ceil_div(p.k, t.k)
  local function load(s) return ceil_div(tiles * s, units) * 8 // s end -- of the busiest unit, in eighths of a tile
  -- Nanoseconds of a tile's weights at a unit's share, and all blocks'; each cluster has its end, each round its start.
  local tile = steps * t.k * (t.n * t.bits_b * t.products // 8) // (33 * min(tiles_m, 2))
  local function soon(s)
    local busy, rounds = turns(p, t, tiles, s)
    local ends = (rounds - 1) * (500 + 200 * s + t.m * t.m // 2) + (s > 2 and 600 or s > 1 and 300 or 0)
    return tile * busy // (1000 * s) + ends
  end
  -- More rows, in nanoseconds: what the matrix unit takes for a step (two operations, at 1 / 0.93 of its rate), and
  -- what each round has beside them, of which sums of other blocks are the more, the more blocks there are.
  -- Fitted to 1155 times of an H200 (docs/benchmarks/tiles.md).
  local columns = t.columns * t.products
  local step = t.k * columns * t.m * target.units * select(eq(t.mixed, 1), 3290, 1860) // (t.rate * 1000000)
  local function rounds(s)
    local ends = 5000 + (s > 2 and 1500 or s > 1 and 500 or 0) + s * t.m * columns // 33
    return ceil_div(tiles * s, spots(units, s)) * (ceil_div(steps, s) * step + ends)
  end
  local many, memory = gt(t.m, 64), streams(t)
  local function done(s) return select(many, rounds(s), soon(s)) end
  local best, least, soonest = 1, load(1), done(1)
  for _, s in ipairs { 2, 3, 4, 6, 8 } do
    local fits = le(tiles * s, s > 2 and select(eq(t.order, 1), fitting(units, s), units) or units * t.blocks)
    local less = all(not_(any(many, memory)), s % 3 > 0, le(10 * load(s), 9 * least), fits)
    local sooner = all(any(many, all(memory, s ~= 6)), lt(done(s), soonest))
    local better = all(ge(steps, 4 * s), any(sooner, less))
    best, least, soonest = select(better, s, best), select(better, load(s), least), select(better, done(s), soonest)
  end
  return select(gt(t.split_k, 0), t.split_k, best)
end

-- A block's shared memory.  Where all comes by map it begins beside the kernel ahead (docs/wgmma-decode.md, "Between
-- kernels").
local function shared(p, t, target, blocks, s)
  return select(lt(min(p.align_a, p.align_b), 16), spread(p, t, target, blocks, s, t.blocks), t.lds_bytes)
end

-- Values that scale a thread's sums of a block of K, and those of a slot of the ring (wgmma_decode_block.tmpl).
local function values_of(t, op)
  local own, all = 0, 0
  for _, d in ipairs(op.block and op.d or {}) do
    if d.kind == "per_block" then
      local columns, rows = t.across == 1 and t.panel_n or t.m, t.across == 1 and 2 or 2 * t.panels
      own = own + ((d.of == "a") == (t.across == 1) and rows or columns // (d.along == 1 and 4 or 8))
      all = all + (d.of == "a" and t.m or t.columns) // (d.along == 1 and 1 or 8)
    end
  end
  return own, all
end

return schedule {
  family = "gemm",
  title = "Hopper's matrix unit for few rows: weights at the speed of memory",
  supports = function(target, op, types, layout)
    if op.groups then return nil, "rows are of groups" end
    if not target.wgmma then return nil, "needs Hopper's matrix unit (sm_90a)" end
    if types.a.bits < 8 or types.b.bits < 8 and not mixed(types) then
      return nil, "takes elements of 4 bits only of B, under 16-bit A or whole bytes"
    end
    local lacks = decode_outputs.unsupported(op, layout) or half_bytes.takes(op, types) and half_bytes.unsupported(op)
    if #op.b_inputs > 0 and op.block then lacks = lacks or "b_op has inputs beside sums over blocks of K" end
    if lacks then return nil, lacks end
    if #op.a_inputs > 0 or #op.b_inputs > 0 and not mixed(types) then return nil, of_blocks.unsupported(op) end
    if to_bytes(types) and op.has_b_op then return nil, "bytes that 4 bits become are what they were: no b_op" end
    for _, d in ipairs(op.block and op.d or {}) do
      if d.kind == "per_block" and (d.type.name ~= "f32" or d.along ~= 1 and d.along % 8 ~= 0) then
        return nil, "values of blocks must be f32, each of one row or column, or of multiples of 8: " .. d.name
      end
    end
    if layout.a ~= "r" and (mixed(types) or types.a.bytes ~= 2 or op.block) then
      return nil, "A must be contiguous along K, unless A and B have 16 bits and are summed over all of K"
    end
    if op.has_a_op or types.a.name ~= types.mul_a.name then
      return nil, "A goes from memory to the matrix unit as it is: no a_op, no conversion"
    end
    if not mixed(types) and (op.has_b_op or types.b.name ~= types.mul_b.name) then
      return nil, "b_op and conversions are for B of a byte or less under 16-bit A"
    end
    local b = types.b.name
    if mixed(types) and types.b.bits == 8 and b ~= "i8" and b ~= "f8e4m3" and b ~= "f8e5m2" then
      return nil, "one-byte B under 16-bit A must be i8, f8e4m3 or f8e5m2"
    end
    if not instruction(target, types) or types.a.bytes == 4 then
      return nil, "Hopper's matrix unit does not multiply " .. types.mul_a.name .. " by " .. types.mul_b.name
    end
    if (types.acc.name == "i32") == types.a.float then
      return nil, "i8 and u8 are summed in i32 here, everything else in f32"
    end
    if layout.b == "r" and types.b.bytes ~= 2 then
      local text = "B of %s must be contiguous along K: only 16-bit types may be so along N"
      return nil, text:format(types.b.name)
    end
    return true
  end,
  tunables = {
    { "m", values = { 8, 16, 32, 64, 80, 96, 112, 128, 144, 160, 192, 224, 240, 256 },
      doc = "rows of the block's tile" },
    { "n", values = { 32, 56, 64, 88, 96, 112, 128, 144, 160, 168, 176, 192, 224, 256, 288, 320, 384, 448 },
      doc = "columns of the block's tile" },
    { "wg", values = { 1, 2, 3, 4 }, doc = "warpgroups that multiply, each a part of the columns" },
    { "slabs", values = { 1, 2, 4 },
      doc = "boxes of 128 bytes along K of B that arrive together; order: parts of K, each with warps of its own" },
    { "box", values = { 128, 64, 32 }, doc = "bytes along K of a box of B; fewer than 128 of elements of 4 bits" },
    { "blocks", values = { 1, 2, 3, 4 }, doc = "blocks that a unit holds at once; they share its memory for the ring" },
    { "ring", values = { 0, 2, 3, 4, 5, 6, 8 }, doc = "tiles in the ring, order: in a warp's; 0: as many as fit" },
    { "l2", values = { 0, 1, 2 }, doc = "rings of B that come as far as L2 while the kernel ahead ends" },
    { "fetch", values = { 128, 256 }, doc = "bytes of B that L2 brings from memory at a time" },
    { "release", values = { 0, 1 },
      doc = "the kernel behind may begin 0: when the last load is on its way, 1: at once" },
    { "turn", values = { 0, 1 }, doc = "1: blocks begin at different places of their K" },
    { "across", values = { 0, 1 }, doc = "1: 64 rows of A are wgmma's 64, and the columns its other side" },
    { "apart", values = { 0, 1 }, doc = "two products: 1: each warpgroup multiplies one of them; 0: both" },
    { "sets", values = { 1, 2 },
      doc = "one-byte B: half slabs that a thread holds widened; 2: it widens one while it multiplies" },
    { "order", values = { 0, 1 },
      doc = "B of 4 bits: 1: K comes in an order in which lanes have whole words, and warps multiply by themselves" },
    { "gather", values = { 0, 1, 2, A_ALONE },
      doc = "warpgroups that copy A and B, which may lie at any address; 0: they come by tensor map; 3: B does" },
    { "split_k", values = { 0, 1, 2, 3, 4, 5, 6, 7, 8 },
      doc = "blocks that share a tile, each a part of K; 0: chosen at the launch" },
  },
  derived = { "panels", "last_panels", "panel_n", "columns", "boxes", "pad", "turned", "k", "threads",
              "needs", "registers", "products", "at_a", "slot_bytes", "depth", "lds_bytes", "sums",
              "stage_bytes", "mixed", "runs", "behind", "bytes_a", "bits_b", "bytes_e", "bytes_d", "rate",
              "sum_bits", "sum_step", "sum_chain", "late" },
  derive = function(t, op, types, layout, target)
    t.turned = layout.a == "c" and t.gather == 0 and 1 or 0 -- A lies across K in shared memory, too
    t.k = 8 * t.box // types.b.bits * t.slabs
    t.threads, t.registers = 128 * t.wg + 32, 0
    t.products = op.products
    t.at_a = ceil_div(t.box * t.slabs * op.products * t.n, 1024) * 1024
    t.slot_bytes = t.at_a + ceil_div(t.k * types.a.bytes // 128 * (128 * t.m), 1024) * 1024
    -- Each block takes 1024 bytes unasked; tiles begin at multiples of 1024.
    local room = min((target.lds + 1024) // t.blocks - 1024, target.lds) - 1024
    -- A panel of 64 columns that reaches beyond the tile multiplies what lies behind it, for nothing.
    t.side = t.apart == 1 and t.wg // op.products or t.wg -- warpgroups side by side
    local wide = (t.order == 1 and op.products or 1) * t.n -- strips of two products are like those of one twice as wide
    t.panels = t.across == 1 and 1 or ceil_div(wide, 64 * max(t.side, 1))
    t.last_panels = t.across == 1 and 1 or ceil_div(wide, 64) - t.panels * (t.side - 1) -- of the last warpgroup
    t.panel_n = t.across == 1 and t.n // t.wg or 64
    t.columns = t.across == 1 and t.n or ceil_div(t.n, 64) * 64
    -- Boxes of B, each at most 256 columns; 64 where those are what is contiguous.
    t.boxes = ceil_div(t.n, layout.b == "r" and 64 or 256)
    local behind = (t.columns - t.n) * t.box
    local own, values = values_of(t, op)
    local lanes = t.order == 1 and half_bytes.of_lanes(op, types, t.k // t.slabs)
    -- Lines that begin anywhere have 16 bytes more each.
    local of_b = layout.b == "c" and t.n or t.n // 64 * t.k
    local copied_rows = t.gather > 0 and t.gather < A_ALONE
    t.behind = copied_rows and ceil_div(16 * (op.products * of_b + t.k * types.a.bytes // 128 * t.m), 128) * 128 or 0
    if t.gather > 0 then t.threads = 128 * (t.wg + (copied_rows and t.gather or 1)) end
    local slot = t.slot_bytes + 4 * values + t.behind
    t.depth = max(min((room - 512 - behind) // slot, t.ring > 0 and t.ring or 32), 0)
    t.lds_bytes = 1024 + t.depth * (slot + 16) + behind + (copied_rows and 128 or 0)
    if lanes then
      -- Warps that multiply by themselves, each some columns of one slab of K, which come to a ring of its own; one
      -- that loads A, and one that puts it in order.  Lanes that read a row of A at once are in boxes of their own; 256
      -- bytes more put them into other banks.
      -- Some have a strip of 16 columns less, where the quarters of a unit would have unequal shares of them otherwise.
      local strips = wide // 16
      local alike = strips % t.panels == 0 and (strips // t.panels * t.slabs % 4 == 0 or t.m > 8)
      local warps = (alike and strips // t.panels or min(4 * t.wg, strips)) * t.slabs
      t.threads = 32 * (warps + 2)
      t.slot_bytes = ceil_div(t.k * types.a.bytes // 128 * (128 * t.m + 256), 1024) * 1024 -- of A
      local boxes = wide * t.box * t.slabs -- one of each warp
      room = room - 2048 - wide * t.slabs * (32 + lanes.pitch)
      -- Rings as deep as three tiles of A leave room for, or two; then more of A.
      local function beside(tiles) return min((room - tiles * t.slot_bytes) // boxes, 8) end
      local ring = t.ring > 0 and t.ring or max(beside(3), min(beside(2), 2))
      t.at_a = max(ring, 0) * boxes
      t.depth = ring > 1 and max(min((room - t.at_a) // t.slot_bytes, 8), 0) or 0
      t.lds_bytes = 3072 + t.at_a + t.depth * t.slot_bytes + wide * t.slabs * (32 + lanes.pitch)
    end
    local own_products = (t.apart == 1 or t.order == 1) and 1 or op.products
    t.sums = own_products * t.panels * (t.across == 1 and t.panel_n or t.m) // 2
    local e_row = layout.e == "r"
    -- Sums on their way out take the ring's place.
    t.pad = t.across == 1 and e_row and (t.n % 16 == 8 and 0 or 8) or 4
    t.stage_bytes = 4 * op.products * (e_row and t.m * (t.n + t.pad) or t.n * (t.m + t.pad))
    if t.order == 1 then t.stage_bytes = t.stage_bytes * t.slabs end
    t.mixed = mixed(types) and 1 or 0
    t.runs = half_bytes.takes(op, types) and half_bytes.values(op, types, t.k).runs or 1 -- of values along a tile's K
    t.bytes_a, t.bits_b, t.bytes_e, t.bytes_d = types.a.bytes, types.b.bits, types.e.bytes, 0
    for _, d in ipairs(op.epilogue_inputs) do t.bytes_d = t.bytes_d + (d.kind == "full" and d.type.bytes or 0) end
    t.rate = target.tflops[types.mul_a.name] * 9 // 10 -- what its clock allows
    t.late = decode_outputs.late(op)
    -- Registers that a thread needs, and has: each quarter of a unit has 512 for each lane.  Where that is too few for
    -- one block, the thread that loads gets a warpgroup around it, which gives up its registers.
    -- Sums over blocks are beside whole ones, and a thread's values.
    t.needs = t.sums + (op.block and t.sums + own or 0) + (t.mixed == 1 and 16 + 32 * t.sets or 40)
    if lanes then
      t.needs = t.sums + t.panels * (8 + lanes.words) + 52 -- as long as ptxas spills none
    elseif half_bytes.takes(op, types) then
      local v = half_bytes.values(op, types, t.k)
      t.needs = t.needs + 20 + t.panels * v.words + (v.fast and 0 or 8 * (op.products - 1))
    end
    t.has = 512 // ceil_div(t.blocks * t.threads, 128) // 8 * 8
    if t.needs > t.has and t.blocks == 1 and t.order == 0 and t.gather == 0 then
      t.threads = 128 * (t.wg + 1)
      t.has = min((512 // (t.wg + 1) // 8 * 8 * (t.wg + 1) - 32) // t.wg // 8 * 8, 232)
      t.registers = t.has
    end
    -- As in wgmma.lua; sums that begin inside of K and go on at its beginning are those of two parts: a bit less.
    local fp8 = t.mixed == 0 and types.a.bytes == 1 and types.acc.name == "f32"
    t.sum_bits, t.sum_step = fp8 and 14 - (op.block and 0 or t.turn) or 0, fp8 and 32 or 0
    t.sum_chain = op.block and t.k or 0
  end,
  rules = {
    { "apart: {wg} warpgroups do not have one of {products} products each, none of them widened or across", function(t)
      return t.apart == 0 or t.products > 1 and t.wg == t.products and t.across == 0 and t.mixed == 0
    end },
    { "blocks along K are no multiples of the {k} that arrive together, or apart", function(t, op)
      return not op.block or op.block.deep % t.k == 0 and t.apart == 0
    end },
    { "boxes of {box} bytes, or {slabs} of them at once, are not for B of {bits_b} bits", function(t)
      if t.bits_b >= 8 then return t.box == 128 end
      return (t.slabs == 1 or t.order == 1) and t.box * t.bytes_a >= 64
    end },
    { "gather with elements of 4 bits, blocks of K, several boxes of B along K or rings that come into L2 ahead",
      function(t, op)
        return t.gather == 0 or t.bits_b >= 8 and not op.block and t.slabs == 1 and t.n <= 256 and t.l2 == 0
      end },
    { "gather = 3 is for A that is contiguous along M", function(t, op, types, layout)
      return t.gather ~= A_ALONE or layout.a == "c"
    end },
    { "A that is contiguous along M wants gather = 3, or 0 and 64s of rows: here {gather} and {m}",
      function(t, op, types, layout)
        return layout.a == "r" or t.gather == A_ALONE or t.gather == 0 and t.m % 64 == 0
      end },
    { "gather = 3 with {m} rows, more than 32", function(t) return t.gather < A_ALONE or t.m <= 32 end },
    { "order: {bits_b} bits, boxes of {box} bytes, {sets} sets or {m} rows", function(t)
      return t.order == 0 or t.bits_b < 8 and t.bytes_a == 2 and t.box > 32 and t.sets == 1 and t.m <= 64
    end },
    { "order: b_op is not (w - zero) * scale of values along K, one to a column and 32 or more, as long each",
      function(t, op, types) return t.order == 0 or half_bytes.of_lanes(op, types, t.k // t.slabs) ~= nil end },
    { "order: {panels} strips of {products} products to a warp", function(t)
      local alike = t.products * (t.n // 16) * t.slabs == t.panels * (t.threads // 32 - 2)
      return t.order == 0 or t.products == 1 or t.panels == t.products or alike and t.panels % t.products == 0
    end },
    { "order: {n} columns are no multiple of 16, or blocks begin at different places of K, or in L2", function(t)
      return t.order == 0 or t.n % 16 == 0 and t.turn == 0 and t.l2 == 0
    end },
    { "{n} columns leave one of {wg} warpgroups without any", function(t) return t.last_panels > 0 end },
    { "{sets} sets where nothing is widened", function(t) return t.mixed == 1 or t.sets == 2 end },
    { "{sets} sets of 64 elements along K, or 128, of which a box has no more", function(t)
      return t.sets == 1 or t.bits_b >= 8 or t.box * t.bytes_a > 64 or t.order == 1
    end },
    { "across: {m} rows or {n} columns of {wg} warpgroups fit no shape of the instruction", function(t, op, types)
      local apart = t.wg * (types.a.float and 8 or 16) -- columns from one shape of the instruction to the next
      return t.across == 0 or t.m == 64 and t.mixed == 0 and t.n % apart == 0 and t.panel_n <= 256
    end },
    { "B is contiguous along N: {n} columns are no multiple of 64", function(t, op, types, layout)
      return layout.b == "c" or t.n % 64 == 0
    end },
    { "across: B is contiguous along N: {n} columns are no multiple of 64 for each of {wg} warpgroups",
      function(t, op, types, layout) return layout.b == "c" or t.across == 0 or t.panel_n % 64 == 0 end },
    { "{sums} sums per thread > 128", function(t) return t.sums <= 128 end },
    { "{m} rows are too many for the registers that {threads} threads begin with", function(t)
      -- ptxas wants those of one instruction to be there, and some more, whatever setmaxnreg adds.
      return t.registers == 0 or t.across == 1 or t.m // 2 + 26 <= 65536 // t.threads
    end },
    { "{needs} registers of a thread, which has fewer where {blocks} blocks of {threads} threads share them",
      function(t) return t.needs <= t.has end },
    { "a ring of {depth} tiles: fewer than 3", function(t) return t.depth >= 3 - t.order end },
    { "the sums, {stage_bytes} bytes, do not fit into the ring", function(t)
      return t.stage_bytes <= t.depth * t.slot_bytes + (t.order == 1 and t.at_a or 0)
    end },
    { "outputs beside E: {n} columns are no power of two up to 128, or no whole blocks",
      function(t, op) return decode_outputs.fit(t.n, op) end },
  },
  defaults = function(target, op, types, layout)
    -- `set`: what a tile has that most have not.
    local function tile(m, n, wg, blocks, l2, set)
      local t = { m = m, n = n, wg = wg, slabs = 1, box = 128, blocks = blocks, split_k = 0, ring = 0, l2 = l2,
                  release = 1, turn = 0, across = 0, apart = 0, sets = 2, order = 0, gather = 0 }
      for name, value in pairs(set or {}) do t[name] = value end
      t.fetch = t.across == 1 and 256 or 128
      return t
    end
    local across = { across = 1 }
    local function by_map()
      local full = false
      for _, d in ipairs(op.d) do full = full or d.kind == "full" end
      if to_bytes(types) then
        local short = op.block and op.block.deep % 256 > 0
        local one, two = { sets = short and 1 or 2, box = short and 64 or 128 }, { sets = 1, box = short and 64 or 128 }
        if op.products > 1 then
          local m = op.block and 32 or 64 -- of which there are whole sums, too
          return { tile(16, 64, 1, 2, 0, one), tile(16, 56, 1, 3, 0, two), tile(16, 128, 2, 2, 0, two),
                   tile(m, 64, 1, 2, 0, two), tile(m, 128, 2, 1, 0, two) }
        end
        return { tile(16, 128, 1, 2, 0, one), tile(16, 64, 1, 3, 0, one), tile(16, 112, 1, 2, 0, one),
                 tile(64, 64, 1, 3, 0, two), tile(64, 128, 2, 1, 0, two), tile(64, 256, 4, 1, 0, two),
                 tile(op.block and 96 or 128, 128, 2, 1, 0, two), tile(256, 128, 2, 1, 0, { sets = 1, box = 64 }) }
      end
      if types.b.bits < 8 then
        local two = op.products > 1
        local few = { two and tile(16, 224, 4, 1, 0, { sets = 1 }) or tile(16, 448, 4, 1, 0, { sets = 1 }),
                      tile(16, 64, 1, two and 2 or 3, 0, { sets = 1 }) }
        if half_bytes.of_lanes(op, types, 256) then
          few = {}
          for _, m in ipairs { 8, 16 } do
            local whole = two and op.graph and decode_outputs.columns(op) > 64 -- 128 of each
            local last = whole and { 256, 2, 16 // m } or { 128, 1, 32 // m }
            for _, size in ipairs { { 224, 2, 2 }, { 192, 2, 2 }, last } do
              local n = size[1] // op.products
              few[#few + 1] = tile(m, n, size[2], 1, 0, { sets = 1, order = 1, slabs = size[3] })
            end
          end
        end
        -- Values of short blocks take registers.
        if half_bytes.values(op, types, 256).runs > 8 then
          few[#few + 1] = tile(16, 64, 1, 1, 0, { sets = 1, box = 64 })
        end
        -- More rows are wgmma's, but for an E that no tensor map takes.
        few[#few + 1] = tile(64, two and 128 or 256, two and 2 or 4, 1, 1, { sets = 1, box = 64 })
        return few
      end
      if op.block and mixed(types) then
        return { tile(16, 64, 1, 3, 0), tile(16, 56, 1, 3, 0), tile(64, 64, 1, 2, 0, { sets = 1 }) }
      end
      if op.block then
        return { tile(16, 112, 1, 2, 0), tile(16, 64, 1, 3, 0), tile(64, 64, 1, 2, 0, across),
                 tile(64, 64, 1, 3, 0, across), tile(64, 96, 1, 2, 0, across) }
      end
      if mixed(types) and op.products == 1 then
        local list = { tile(16, 112, 1, 2, 1), tile(16, 64, 1, 3, 1), tile(16, 56, 1, 3, 0),
                 tile(8, 168, 3, 2, 1, { release = 0, sets = 1 }), tile(64, 64, 1, 3, 1, { sets = 1 }),
                 op.has_b_op and tile(64, 256, 4, 1, 1, { sets = 1 }) or tile(64, 448, 4, 1, 0, { sets = 1, turn = 1 }),
                 tile(96, 64, 1, 1, 0, { sets = 1 }) }
        if half_bytes.takes(op, types) and not half_bytes.values(op, types, 128).fast then -- f32 takes registers
          list[#list + 1] = tile(16, 64, 1, 2, 1, { sets = 1 })
        end
        return list
      end
      if half_bytes.takes(op, types) then
        return { tile(16, 64, 1, 2, 1), tile(16, 56, 1, 3, 0, { sets = 1 }), tile(64, 64, 1, 2, 1, { sets = 1 }),
                 tile(64, 128, 2, 1, 1, { sets = 1 }) }
      end
      if mixed(types) then return { tile(16, 64, 1, 2, 1), tile(64, 64, 1, 2, 1) } end
      if layout.a == "c" then
        local alone = { gather = A_ALONE }
        return { tile(16, 128, 1, 2, 0, alone), tile(32, 128, 1, 2, 0, alone), tile(64, 64, 1, 2, 0, across),
                 tile(64, 256, 2, 1, 0, across), tile(128, 64, 1, 1, 0) }
      end
      -- What each kind of op has is what problems drawn at random miss most (docs/benchmarks/shapes.md).
      if layout.b == "r" and op.products > 1 then
        return { tile(16, 64, 1, 2, 1), tile(64, 64, 1, 2, 0, across) }
      end
      if layout.b == "r" then
        local few = { tile(32, 64, 1, 2, 0), tile(16, 128, 1, 2, 0), tile(64, 64, 1, 2, 0, across),
                      tile(144, 64, 1, 1, 0) }
        if not full then few[#few + 1] = tile(128, 192, 3, 1, 0) end
        return few
      end
      if op.products > 1 then
        return { tile(16, 64, 1, 2, 1), tile(32, 56, 1, 2, 0), tile(64, 64, 1, 2, 0, across),
                 tile(64, types.a.float and 88 or 96, 1, 1, 1, { across = 1, slabs = 2 }),
                 tile(96, 168, 3, 1, 0),
                 tile(144, 64, 2, 1, 0, { apart = 1 }), tile(192, 64, 2, 1, 0, { apart = 1 }) }
      end
      if types.a.bytes == 1 then
        local whole = not types.a.float -- of which the instruction takes 16 columns at a time
        return { tile(16, 64, 1, 2, 0), tile(64, 64, 1, 2, 0, across),
                 whole and tile(64, 96, 2, 2, 0, across) or tile(64, 56, 1, 3, 0, across) }
      end
      local few = { tile(16, 64, 1, 2, 0), tile(64, 64, 1, 2, 0, across) }
      few[#few + 1] = full and tile(64, 112, 1, 2, 0, across) or tile(16, 112, 1, 2, 0)
      if not full then
        few[#few + 1] = tile(144, 64, 1, 1, 0)
        few[#few + 1] = tile(32, 64, 1, 2, 0)
        few[#few + 1] = tile(64, 56, 1, 3, 0, across)
        few[#few + 1] = tile(64, 112, 2, 2, 0, across)
        few[#few + 1] = tile(64, 128, 2, 1, 0, across)
        few[#few + 1] = tile(144, 192, 3, 1, 0)
      end
      return few
    end
    -- Outputs beside E: rows of chunks that lanes of a warp have, whole blocks of columns.
    local function of_outputs(list)
      local columns, fit = decode_outputs.columns(op), {}
      for _, t in ipairs(list) do
        if decode_outputs.fit(t.n, op) then fit[#fit + 1] = t end
      end
      local short = to_bytes(types) and op.block and op.block.deep % 256 > 0
      local widened = mixed(types) and { sets = 1, box = short and 64 or 128 }
      if types.b.bits < 8 or op.block then
        if #fit > 0 then return fit end
        return { tile(16, 128, 1, 2, 0, widened), tile(16, 128, 2, 2, 0, widened),
                 op.products > 1 and tile(32, 128, 2, 1, 0, widened) or tile(64, 128, 2, 1, 0, widened or across) }
      end
      if columns < 128 then return fit end
      return { tile(16, 128, 1, 2, 0), tile(32, 128, 1, 1, 0), tile(64, 128, 2, 1, 0, not widened and across) }
    end
    local list = op.graph and of_outputs(by_map()) or by_map()
    -- What tensor maps cannot take, and single warps cannot multiply (mma).
    if types.mul_b.float and types.mul_b.bits == 8 and not op.block then
      list[#list + 1] = tile(16, 64, 1, 2, 0, { gather = 1 })
      list[#list + 1] = tile(64, 64, 1, 2, 0, { gather = 2, across = 1 })
    end
    return list
  end,
  name = function(t)
    local text = ("%dx%dx%d"):format(t.m, t.n, t.k)
    for _, x in ipairs { { "w", t.wg, 1 }, { "b", t.blocks, 2 }, { "s", t.split_k, 0 }, { "d", t.ring, 0 },
                         { "f", t.l2, 1 }, { "r", t.release, 1 }, { "t", t.turn, 0 }, { "a", t.across, 0 },
                         { "p", t.apart, 0 }, { "o", t.sets, 2 }, { "x", t.box, 128 },
                         { "k", t.order, 0 }, { "h", t.fetch, t.across == 1 and 256 or 128 }, { "g", t.gather, 0 } } do
      if x[2] ~= x[3] then text = text .. "_" .. x[1] .. x[2] end
    end
    return text
  end,
  problem_rules = require "limits" {
    { "K is above 65536, of which sums of 16 times 4 bits by bytes may be beyond 32 bits", function(p, t)
      return any(gt(t.bytes_a * t.bits_b, 4), le(p.k, 65536))
    end },
  },
  flags = function(target) return { "-Xptxas=-warn-spills" } end,
  maps = function(t, op, types, layout, target)
    -- Rows of A that do not exist are not asked for, they would take the copy engine's time: a last tile of fewer has a
    -- map of its own.
    local list = {}
    if t.gather > 0 and t.gather < A_ALONE then return list end
    local function of_a(clip)
      return { operand = "a", inner = 128 // types.a.bytes, outer = t.m, swizzle = 128, clip = clip }
    end
    if t.turned == 1 then
      list[1] = { operand = "a", inner = 64, outer = t.k, swizzle = 128 }
    elseif t.gather == 0 then
      list[1] = of_a(t.order == 1)
    end
    -- Of warps that are alike in order, all that one has.
    local alike = t.products * (t.n // 16) * t.slabs == t.panels * (t.threads // 32 - 2)
    local together = alike and t.panels // t.products or 1
    local inner, outer = 8 * t.box // types.b.bits, t.order == 1 and 16 * together or t.n // t.boxes
    if layout.b == "r" then inner, outer = outer, t.k end
    for i = 0, op.products - 1 do
      list[#list + 1] = { operand = "b" .. i, inner = inner, outer = outer, swizzle = t.box, promote = t.fetch }
    end
    if t.gather + t.turned + t.order == 0 then list[#list + 1] = of_a("rest") end
    return list
  end,
  realigns = function(t) return t.gather == 0 or t.gather == A_ALONE end,
  launch = function(p, t, target)
    local tiles = max(ceil_div(p.m, t.m) * ceil_div(p.n, t.n) * p.batch, 1)
    local s = parts(p, t, target)
    return {
      { grid = { tiles * s, 1, 1 }, block = { t.threads }, cluster = { s, 1, 1 }, early = true,
        lds = shared(p, t, target, tiles * s, s) },
      decode_outputs.launch(p),
    }
  end,
  stages = function(t) return min(t.late, 1) + 1 end,
  workspace = function(p, t, target) return decode_outputs.workspace(p, t) end,
  cost = function(p, t, target)
    local s = parts(p, t, target)
    local tiles_m = ceil_div(p.m, t.m)
    local blocks = tiles_m * ceil_div(p.n, t.n) * p.batch * s
    local units = select(gt(t.m, 64), spots(max(p.units, 1), s), max(p.units, 1))
    local room = units * t.blocks
    local most = ceil_div(blocks, units) -- of the busiest unit
    local weights = t.n * t.bits_b / 8 * t.products
    local columns = t.columns * t.products -- with those beyond the tile
    local rows = min(p.m, t.m)
    -- Memory: the weights once; other rows' tiles find a part of them in L2.  Where they are widened, memory waits.
    local all_weights = p.n * p.k * t.bits_b / 8 * t.products
    local bytes = p.batch * (all_weights * (1 + select(gt(all_weights, 60e6), 0.35, 0.32) * (tiles_m - 1))
                             + p.m * p.k * t.bytes_a + p.m * p.n * (t.bytes_e + t.bytes_d))
    local gbps = require "memory"(p, target)
    local rate = gbps * 1e3 * select(all(eq(t.mixed, 1), eq(t.order, 0)), 0.8,
                                     select(all(lt(t.m, 64), eq(t.mixed, 0)), 0.925, 0.915))
    local memory = max(bytes / rate, bytes / (gbps * 1e3) + written(p, t, t.n * t.bytes_e))
    -- While all units have work each gets its share of that; what some have beyond it then comes to them at up to 1.46
    -- times their share.  What others read, too, comes faster, and what rings hold in 1.25 us.
    local share, here = ceil_div(max(p.k, 1), s), min(most, t.blocks)
    local fair = gbps * 1002 / target.units * min(tiles_m, 2.66)
    local rings = here * t.depth * t.k * weights / 1.25
    -- A unit that has one while others have none gets more than its share; a tile of more than 64 rows that has all
    -- rows keeps up with hardly more than that of an H200, once more than half of the units have one.
    local slowly = all(gt(t.m, 64), eq(tiles_m, 1), any(le(p.m, 64), gt(2 * blocks, units)))
    local beside = min(fair * 1.46, select(slowly, 42e3, rings))
    local all_have = blocks // units -- tiles, before some units take one more
    local arrive = share * weights * (all_have / min(fair * select(gt(tiles_m, 1), 1, 0.95), rings)
                                      + (most - all_have) / min(beside, rings))
    -- Where nothing else takes longer, as `turns` says.
    local busy, rounds = turns(p, t, tiles_m * ceil_div(p.n, t.n) * p.batch, s)
    local streaming = streams(t)
    arrive = select(streaming, max(busy * p.k * weights / (1000 * s * fair), share * weights * here / rings), arrive)
    local passing, passed = passes(p, t)
    -- More than 64 rows, fitted by themselves.
    local tall = all(gt(t.m, 64), eq(t.mixed, 0))
    local inside = most * share * passing / (1e3 * passed) * select(tall, 0.83, 1)
    -- The matrix unit; one operand in registers takes it half as long again.
    local multiply = most * share * columns * 2 * t.m * target.units / (t.rate * 1e6)
    -- And the clock is higher where there is an end to it soon, as in wgmma.lua.
    local soon = select(gt(t.m, 64), 1 - 0.15 * 25 / (multiply + 25), 1)
    multiply = multiply * select(eq(t.mixed, 1), 1.77, soon) * select(all(tall, le(most, 1)), 0.9, 1)
    -- Widening, beside which one set of registers leaves nothing to multiply; and one warpgroup alone does not fill its
    -- waits.  With whole words a warp multiplies what it has widened, with more rows for longer, of 16 columns at once.
    local widen = t.mixed * most * share * columns / 57.9e3 * select(eq(t.sets, 1), 1.42, 1) * (1 + t.bytes_a) / 3
                  * select(gt(here * t.wg, 1), 1, 1.7)
    local whole = most * by_strips(p, t, s)
    -- Each warp loads its own values, and waits where they are many.
    widen = select(eq(t.order, 1), whole, widen * select(gt(t.runs, 2), 3.5, 1))
    -- Clusters of more than two do not fill every group of units.
    local crowd = all(gt(s, 2), gt(10 * blocks, 9 * p.units), not_(streaming), le(t.m, 64))
    -- Sums of more rows take their time on the way to another block, too.
    local out = select(gt(s, 2), 0.9, select(gt(s, 1), 0.3, 0)) + 0.0041 * t.m
                + rows * t.n * t.products / (4.62e3 * s)
                + select(all(gt(s, 1), gt(t.m, 64)), s * rows * t.n * t.products / 28.8e3, 0)
    -- Chunks of rows of E that begin anywhere, where they are no power of two to a tile's row (docs/wgmma-decode.md).
    out = out + select(all(lt(p.align_e, 16), gt(t.n % 64, 0), ge(rows, 32)), 1.2, 0)
    -- Full inputs come for four chunks of a thread at a time, the first ones while sums are on their way.
    out = out + select(gt(t.bytes_d, 0), 1.6 * max(ceil_div(rows * t.n, 2048 * t.wg * s) - 2, 0)
                                         + select(gt(tiles_m, 1), 0.9, 0), 0)
    out = out * select(tall, 0.72, 1)
    -- Fetching ahead into L2 disturbs the kernel ahead where both are short.
    local ahead = select(lt(memory, 9), min(t.l2, 1) * 0.48, 0)
    -- Where blocks of K are scaled, a step ends before the next one begins; whole numbers become f32 first.
    local whole_numbers = all(eq(t.bytes_a, 1), eq(t.sum_bits, 0))
    local each = 0.27 + select(whole_numbers, 0.0031 * t.m, 0)
    local scaled = select(gt(t.sum_chain, 0), each * ceil_div(most, t.blocks) * share / t.k, 0)
    -- And its values, a part of which every column has, come before the first of them and take their time.
    local values = select(all(gt(t.sum_chain, 0), eq(t.mixed, 0)), select(eq(t.across, 1), 0.016, 0.01) * t.n, 0)
    -- Warps that copy: shared memory's time, or each block's own; where lines begin, and the step in which they end.
    local copied_too, loose = copies(t), lt(min(p.align_a, p.align_b), 16)
    local wide = select(lt(t.m, 64), rows, t.m) * t.k * t.bytes_a -- bytes of A in a step
    local one = copied(weights * t.k, p.align_b) + copied(wide, p.align_a)
    local alone = select(loose, 0.3 + 0.00375 * (weights * t.k + wide) / 128, 0.35)
    -- Those that copy A alone, element by element, wait for it: 32 rows of one tile more than memory lets them.
    local of_32 = all(gt(t.m, 16), eq(tiles_m, 1))
    local by_element = select(of_32, 0.33 + 0.0045 * rows, t.m * select(gt(tiles_m, 1), 0.018, 0.0098))
    by_element = max(ceil_div(most, t.blocks) * by_element, select(of_32, 0.39 * most, 0))
    local copying = share / t.k * select(copied_too, max(most * one, ceil_div(most, t.blocks) * alone),
                                         select(gt(t.gather, 0), by_element, 0))
    local begun = select(copied_too, select(loose, 1.9, 0.4), 0)
    local moving, working = max(memory, arrive), max(max(inside, widen), multiply)
    -- Products of many rows wait the longer for memory, the busier that is, as in wgmma.lua.
    local longer, ratio = max(moving, working), min(moving, working) / max(moving, working)
    local waits = select(tall, 0.3 * longer * ratio * ratio * ratio * ratio, 0)
    local bound = max(longer + waits, scaled) * select(crowd, 1.67, 1)
    -- Boxes across K that reach beyond A's rows keep the copy engine for 5 ns a line.
    local beyond = select(all(eq(t.turned, 1), gt(p.m % t.m, 0)), 0.005 * most * share, 0)
    local touched = require "lines"
    local lines = most * share / t.k * (touched(p.align_a, rows * t.k * t.bytes_a, target)
                                        + touched(p.align_b, weights * t.k, target))
    bound = max(bound, max(max(copying, beyond), select(copied_too, 0, lines)))
    -- Where a unit has several tiles of many rows, one after the other, products do not run at their rate for long.
    bound = bound * select(all(gt(t.m, 64), gt(most, 3)), 1.15, 1)
    -- Two products of 128 columns each, which outputs beside E want: few blocks, each with a wide way out.
    bound = bound * select(all(gt(t.products, 1), ge(t.n * t.products, 256), le(t.m, 64), eq(t.mixed, 0)), 1.19, 1)
    -- One warpgroup that has more than 128 columns waits for its products.
    bound = bound * select(all(eq(t.across, 1), gt(t.panel_n, 128)), 1.4, 1)
    begun = begun + require "realigned"(p, {
      { eq(t.gather, 0), p.align_a, p.m * p.k * t.bytes_a }, { not_(copied_too), p.align_b, all_weights } })
    local bytes_widened = all(eq(t.mixed, 1), eq(t.bits_b, 8))
    local start = target.launch_us - 1.48 + select(tall, 0.3, 0) + begun
                  + select(gt(tiles_m, 1), select(ge(t.m, 64), 0.92, select(bytes_widened, 0.96, 0.56)), 0)
                  -- Nothing is widened while the first tile comes, and nothing comes while the last one is widened.
                  + select(eq(t.order, 1), 2, 0)
                  + select(gt(t.late, 0), 2, 0) -- the last stage
    -- Each tile of the ring has its barriers; and one block alone leaves its unit idle until the next begins.
    local turning = 0.0053 * most * share / t.k + select(eq(t.blocks, 1), 0.54, 0)
    -- A block that takes another's place fills its ring anew; of two on a unit, the other works meanwhile.
    local again = (1.48 + select(eq(t.blocks, 1), 0.46 + out, out / 2)) * (ceil_div(blocks, room) - 1)
    local round = 0.5 + 0.2 * s + t.m * t.m / 2000 + min(1, 3 * t.k / max(share, 1))
    again = select(streaming, round * (rounds - 1), again) * select(all(eq(t.mixed, 1), gt(tiles_m, 8)), 2, 1)
            * select(tall, 0.65, 1)
    return start + bound + ahead + values + turning + out + again, {
      { "launching", start + ahead },
      { "moving bytes", memory },
      { "a unit's share of the weights", arrive },
      { "shared memory", inside },
      { "multiplying", multiply },
      { "widening", widen },
      { "copying", max(copying, beyond) },
      { "clusters that do not fill the device", bound - bound / select(crowd, 1.67, 1) },
      { "blocks' ends", values + turning + out },
      { "blocks' turns", again },
      { "blocks", blocks, "count" },
      { "blocks that share a tile's K", s, "count" },
      { "rounds of the device", blocks / room, "count" },
      { "MB to and from memory", bytes / 1e6, "count" },
      { "arithmetic", 1.8 * p.batch * p.m * p.n * p.k * t.products / (t.rate * 1e6), "least" }, -- rate: 0.9 of the peak
      { "memory", bytes / (gbps * 1e3), "least" },
    }
  end,
}
