-- SPDX-License-Identifier: MIT
-- Matrix product on AMD's matrix cores (MFMA): tiles of A and B in two LDS buffers, sums in registers, and a main loop
-- whose every memory instruction is issued between two matrix instructions.  With split_k > 1 several blocks share one
-- tile's K, with stream = 1 only that of the tiles which would not fill the device.
local grouped, outputs = require "grouped", require "outputs"
local function pow2(lo, hi)
  local values = {}
  while lo <= hi do
    values[#values + 1] = lo
    lo = lo * 2
  end
  return values
end

-- How one operand gets from memory to LDS, where it lies in 16-byte pieces of K.  Per thread: loads of `wide` elements
-- each.  Where K is contiguous that is a piece; else `deep` loads make a little tile of deep x wide, which is turned
-- round in registers: the shape with the fewest loads and writes to LDS, the wider of two.
local function move(t, rows, along_k, from, to, inputs)
  local piece, each = 16 // to.bytes, rows * t.k // t.threads
  if along_k then
    -- Elements of 4 bits, and what an operator has, are loaded for two pieces at once.
    local two = (from.bits < 8 or inputs > 0 and 2 * piece * from.bytes <= 16)
      and each % (2 * piece) == 0 and t.pieces % 2 == 0 and rows % (2 * piece) == 0
    local wide = two and 2 * piece or piece
    return each // wide, 1, wide
  end
  local best, deep, wide = nil, 1, piece
  local w = 16 // from.bytes
  while w * from.bytes >= 4 do
    local d = min(piece, each // w)
    local count = d > 0 and each // (w * d) * (w + d)
    if count and (not best or count < best) then best, deep, wide = count, d, w end
    w = w // 2
  end
  return each // wide, deep, wide
end

-- Tiles along M: as many as there can be, and where groups have as many rows each; batches.
local function is_grouped(t) return gt(t.groups, 0) end
local function most_down(p, t) return grouped.most_down(p, t.m, is_grouped(t)) end
local function down(p, t) return grouped.down(p, t.m, is_grouped(t)) end
local function batches(p, t) return grouped.batches(p, is_grouped(t)) end

-- Bytes of every operand, once; and what the units read of A and B, much of it from caches.  Memory and caches work at
-- the same time: a launch takes as long as the slower of them, in ns.
local function operands(p, t)
  local rows = select(eq(t.groups, 2), min(p.tokens, p.m), p.m)
  local a, b = rows * p.k * t.bits_a // 8, p.n * p.k * t.bits_b * t.products // 8
  return batches(p, t) * (a + p.m * p.n * t.bytes_out) + select(is_grouped(t), grouped.some(p), p.batch) * b
end
local function traffic(p, t, target)
  local a, b = p.m * p.k * t.bits_a // 8, p.n * p.k * t.bits_b * t.products // 8
  local cached = batches(p, t) * (ceil_div(p.n, t.n) * a + down(p, t) * b)
  return max(operands(p, t) // target.gbps, cached // (4 * target.gbps))
end

-- So many parts of tiles do runs leave sums of: each of one tile where runs end where tiles end.
local function parts(rest, runs)
  return runs + select(eq(runs % max(rest, 1), 0), 0, rest)
end

-- What a launch is made of: `whole` tiles, one block each, then `rest` tiles (of all batches) that `runs` blocks share,
-- each an equal run of their steps along K, of `share` elements.  A second kernel adds up what the runs leave.  Grep
-- ORDER RUNS.  With stream = 1 the rest is what does not fill the device, shared where that saves more time than the
-- second kernel takes.
local function shared(p, t, target)
  local steps, each = max(ceil_div(p.k, t.share), 1), t.share // t.k
  local tiles = down(p, t) * ceil_div(p.n, t.n) * batches(p, t)
  local units = max(p.units, 1)
  local slots = units * t.resident -- blocks that the device holds at once
  local rest = select(eq(t.stream, 1), tiles % slots, select(gt(t.split_k, 1), tiles, 0))
  local runs = rest * min(t.split_k, steps)
  -- Of two tiles a run has parts, a beginning and a way out each: no run does where at most an eighth of the slots is
  -- left empty by that.
  local even = slots // max(rest, 1) * rest
  runs = select(eq(t.stream, 1), min(runs, select(ge(8 * even, 7 * slots), even, slots)), runs)
  local function time(blocks, length) -- in ns, of so many blocks at once and one after the other
    return max(ceil_div(blocks, units) * t.step_ns, ceil_div(blocks, slots) * t.chain_ns) * length * each
  end
  local memory = traffic(p, t, target)
  local cut = max(time(tiles - rest, steps) + time(runs, ceil_div(rest * steps, runs)), memory)
  local shares = 4 * parts(rest, runs) * t.products * min(p.m, t.m) * min(p.n, t.n)
  local second = 1000 * target.launch_us + (10 + 10 * (target.again or 1) // 1) * shares // (10 * target.gbps)
  local worth = lt(cut + second, max(time(tiles, steps), memory))
  rest = select(any(eq(t.stream, 0), worth), rest, 0)
  return tiles - rest, rest, select(gt(rest, 0), runs, 0), steps * each
end

-- Numbers that tiles make of their rows and columns, for outputs of whole ones.
local function reduced(p, t)
  return p.batch * (t.of_rows * p.m * ceil_div(p.n, t.n) + t.of_cols * p.n * ceil_div(p.m, t.m))
end

local function fits(t, rows, loads, deep, wide)
  return loads > 0 and loads % deep == 0 and t.piece % deep == 0 and wide > 1 and rows % wide == 0 and
         loads * wide * t.threads == rows * t.k
end

return schedule {
  family = "gemm",
  title = "AMD matrix cores: matrix instructions without a gap between them",
  supports = function(target, op, types, layout)
    if not target.mma then return nil, "needs the matrix cores of gfx90a or gfx942" end
    if op.gather and layout.a == "c" then return nil, "gathers rows of a row-major A only, simt of any" end
    local small = types.b.bits < 8
    if types.a.bits < 8 or small and (types.mul_b.bytes > 2 or layout.b ~= "c") then
      return nil, "takes elements of 4 bits only of B, along K, under A of 16 bits or i8"
    end
    if #op.a_inputs > 0 then return nil, "its a_op gets no inputs" end
    if (#op.b_inputs > 0 or not op.b_op_alike) and layout.b ~= "c" then
      return nil, "its b_op gets inputs, or is another for each product, only where B lies along K"
    end
    if not target.mma[types.mul_a.name .. " " .. types.mul_b.name] then
      return nil, "this target's matrix cores do not multiply " .. types.mul_a.name .. " by " .. types.mul_b.name
    end
    if (types.acc.name == "i32") ~= (types.mul_a.name == "i8") then
      return nil, "i8 is summed in i32 here, everything else in f32"
    end
    return true
  end,
  tunables = {
    { "m", values = { 16, 32, 48, 64, 96, 128, 192, 256 }, doc = "rows of the block's tile" },
    { "n", values = { 8, 16, 24, 32, 48, 64, 96, 128, 192, 256 }, doc = "columns of the block's tile" },
    { "k", values = pow2(8, 1024), doc = "length along K of the tiles in LDS" },
    { "wm", values = pow2(1, 8), doc = "waves along M" },
    { "wn", values = pow2(1, 8), doc = "waves along N" },
    { "wk", values = pow2(1, 4),
      doc = "waves that share a tile's K in LDS, each a part; they add up before the way out" },
    { "mfma", values = { 16, 32 }, doc = "rows and columns of a matrix instruction" },
    { "ahead", values = { 1, 2, 4 },
      doc = "tiles of K on their way from memory, in registers; the main loop is unrolled by it" },
    { "split_k", values = pow2(1, 32),
      doc = "blocks that share a tile, each a part of K; above 1 a second kernel sums" },
    { "stream", values = { 0, 1 },
      doc = "1: only the tiles past the last that fill the device are shared, and where that pays" },
    { "group", values = pow2(1, 32), doc = "tiles along M that neighbouring blocks share B for" },
    { "xf32", values = { 0, 1 },
      doc = "1: f32 is multiplied as xf32, of 10 bits of mantissa: only where a sweep asks for it" },
  },
  derived = { "threads", "pieces", "steps", "loads_a", "loads_b", "deep_a", "deep_b", "wide_a", "wide_b", "m_tiles",
              "n_tiles", "products", "lds_bytes", "stage_f", "waves_per_simd", "bits_a", "bits_b",
              "piece", "along_a", "along_b", "e_row", "step_ns", "chain_ns", "product_bits", "resident",
              "bytes_out", "out", "rate", "begin_ns", "out_ns", "rest_ns", "share", "groups", "of_rows",
              "of_cols" },
  derive = function(t, op, types, layout, target)
    -- Outputs beside E: reductions of rows and of columns, whether any output is made of such, the largest block.
    local O = op.graph and outputs(op) or { rows = {}, cols = {}, late = {}, largest = 1 }
    t.of_rows, t.of_cols, t.late, t.largest = #O.rows, #O.cols, min(#O.late, 1), O.largest
    t.bytes_out = types.e.bytes
    for _, d in ipairs(op.epilogue_inputs) do
      if d.kind == "full" then t.bytes_out = t.bytes_out + d.type.bytes end
    end
    for _, o in ipairs(O.early or {}) do
      if o.kind == "full" then t.bytes_out = t.bytes_out + o.type.bytes end
    end
    t.e_row = (layout.e == "r" or op.graph) and 1 or 0 -- outputs beside E are gone through row by row
    t.products = op.products
    t.groups = op.gather and 2 or op.groups and 1 or 0 -- of rows; 2: which are gathered
    t.threads = t.wm * t.wn * t.wk * 64
    t.piece = 16 // types.mul_a.bytes
    t.pieces = t.k // t.piece                -- 16-byte pieces of K in LDS
    t.steps = t.pieces // (64 // t.mfma) // t.wk -- in which a wave takes its part of them: one piece per lane
    t.along_a, t.along_b = layout.a == "r" and 1 or 0, layout.b == "c" and 1 or 0
    t.loads_a, t.deep_a, t.wide_a = move(t, t.m, layout.a == "r", types.a, types.mul_a, 0)
    t.loads_b, t.deep_b, t.wide_b = move(t, t.n, layout.b == "c", types.b, types.mul_b, #op.b_inputs)
    t.m_tiles, t.n_tiles = t.m // (t.wm * t.mfma), t.n // (t.wn * t.mfma) -- matrix instructions along M and N per wave
    t.sums = t.products * t.m_tiles * t.n_tiles * t.mfma * t.mfma // 64    -- registers of sums
    local buffers = 2 * 16 * t.pieces * (t.m + t.products * t.n)
    -- The epilogue's stage: `mfma` rows (or columns) of a wave's tile, stage_f elements along E's contiguous dimension.
    local wave_f = (t.e_row == 1 and t.n_tiles or t.m_tiles) * t.mfma
    local stage = t.wm * t.wn * t.mfma * 4 * t.products
    t.stage_f = max(wave_f & -wave_f, 1)  -- a power of two, as the way that it is spread over banks wants
    while t.stage_f > t.mfma and stage * t.stage_f > max(buffers, 32768) do t.stage_f = t.stage_f // 2 end
    if op.graph then t.stage_f, stage = t.n, t.wm * t.mfma * 4 * t.products end -- whole rows, of all waves' tiles
    t.lds_bytes = max(buffers, stage * t.stage_f * t.wk)
    -- Elements of E that a lane stores at once: 16 bytes, or what gives all lanes some.
    t.out = op.graph and 4 or 16 // types.e.bytes
    while t.out > 4 and t.out > t.mfma * t.stage_f // (64 * t.wk) do t.out = t.out // 2 end
    -- As many as LDS lets in and leave each the registers it wants: sums, what is on its way, two steps' pieces.
    local coming = (t.loads_a * t.wide_a * types.a.bits + t.products * t.loads_b * t.wide_b * types.b.bits) // 8
    t.registers = t.sums + t.ahead * coming // 4 + 8 * (t.m_tiles + t.products * t.n_tiles) + 48
    if types.b.bits < 8 or #op.b_inputs > 0 then -- and its operator's values, and where they come from
      t.registers = t.registers + (t.ahead + 2) * t.loads_b * #op.b_inputs + 8
    end
    t.share = t.k
    local adding = 0 -- of whole numbers as f32, about how many instructions in a tile
    if op.block and t.steps > 0 then
      local block = require "mfma_block"(op, t, types)
      t.share = max(block.add, t.k)
      t.registers = t.registers + block.registers
      adding = types.acc.name == "i32" and t.sums * (block.exact and 1 or 3.7) * t.k / t.wk / block.add or 0
    end
    local blocks = max(target.lds // t.lds_bytes, 1)
    t.waves_per_simd = max(min(blocks * t.threads // 256, 512 // t.registers, 4), ceil_div(t.threads, 256),
                           op.block and 2 or 1) -- of one alone matrix instructions sum where vector ones can't add
    t.resident = max(min(blocks, t.waves_per_simd * 256 // t.threads), 1)
    t.bits_a, t.bits_b = types.a.bits, types.b.bits
    t.product_bits = t.xf32 == 1 and 11 or 0  -- of xf32's operands; sums are f32's
    -- The matrix unit's time for a step, with what it loses where waves take turns, or that of its tiles through LDS
    -- (128 bytes a cycle at 2.1 GHz).  This and what follows is fitted to the simulator: docs/benchmarks/mfma.md.
    local rate = target.tflops[types.mul_a.name] * (t.xf32 == 1 and 4 or 1) * 1e3 / target.units -- operations per ns
    local lds = 16 * t.pieces * (t.m + t.products * t.n + t.m * t.wn + t.products * t.n * t.wm) / 268
    t.step_ns = max(2 * t.m * t.n * t.k * t.products / rate + (t.sums <= 64 and 8 or 2), lds)
    -- Bytes that are widened take vector instructions; what an operator makes of elements, many, of which a block alone
    -- has a part to itself.
    local b = require "operands"(op, types, layout)[2]
    require "mfma_made"(b, op, types, t, target)
    local issue = 4 / 2.1 * t.threads / 256 -- of an instruction of all waves, ns
    local making = (b.work or 0) * issue
    t.step_ns = b.work and (t.step_ns ^ 2.5 + making ^ 2.5) ^ 0.4 or t.step_ns + (t.bits_a ~= t.bits_b and 20 or 0)
    -- Sums of blocks are scaled and added meanwhile; waves that share K wait for each other's pieces.
    local waits = (op.block and 1.05 or 1) * (t.wk > 1 and t.mfma == 32 and 1.12 or 1)
    t.step_ns = (t.step_ns * waits + adding * issue) // 1
    t.rate = rate // 1
    -- Of one block: no more of the unit than its waves can use, then the barrier; and never less than a part of a trip
    -- to memory that nothing else covers.
    t.chain_ns = max(600 // t.ahead, t.step_ns * max(256 // t.threads, 1) + 25 + (op.block and t.sums // 2 or 0)
      + making / 4 // 1)
    -- Before a block's steps: what it is told, its addresses, a trip to memory.  Behind them: its sums through LDS, the
    -- epilogue, which takes a bias 17 ns for each of a lane's and a gelu 35, and E.  Blocks on one unit share it.
    t.begin_ns = 1150 + 4 * t.sums + t.sums * t.sums // 7 + (op.block and 250 or 0)
    -- Where rows are of groups: another trip, to see whose its tile is, and what that takes; rows of A are yet another.
    t.begin_ns = t.begin_ns + (op.gather and 1500 or op.groups and 930 or 0)
    t.out_ns = (250 + (op.graph and 30 or 18) * max(t.sums // t.wk, 4 * t.products)) * ceil_div(t.threads, 256)
    t.rest_ns = 200 + 5 * t.sums -- where K's end cuts chunks: that tile's are put right, and it is multiplied by itself
  end,
  rules = {
    { "{threads} threads > 512", function(t) return t.threads <= 512 end },
    { "{registers} registers, more than {threads} threads have", function(t)
      return t.registers * ceil_div(t.threads, 256) <= 512
    end },
    { "sums of blocks of K with {registers} registers, of which vector instructions have 256", function(t, op)
      return not op.block or t.registers <= 256
    end },
    { "blocks of K that are no multiple of a step of the main loop", function(t, op, types, layout)
      return not op.block or t.steps == 0 or require "mfma_block"(op, t, types).whole
    end },
    { "factors of sums that vary along E's contiguous dimension within a matrix instruction",
      function(t, op, types, layout)
        return not op.block or t.steps == 0 or require "mfma_block"(op, t, types).even
      end },
    { "a wave's tile is no multiple of the matrix instruction", function(t)
      return t.m_tiles * t.wm * t.mfma == t.m and t.n_tiles * t.wn * t.mfma == t.n and t.m_tiles > 0 and t.n_tiles > 0
    end },
    { "k is not an even number of steps of the main loop", function(t)
      return t.steps > 0 and t.steps % 2 == 0 and t.steps * (64 // t.mfma) * t.wk * t.piece == t.k
    end },
    { "the tile of A does not divide into {threads} threads", function(t)
      return fits(t, t.m, t.loads_a, t.deep_a, t.wide_a)
    end },
    { "the tile of B does not divide into {threads} threads", function(t)
      return fits(t, t.n, t.loads_b, t.deep_b, t.wide_b)
    end },
    { "split_k > 1, where rows are of groups: how many tiles there are to share only the kernel sees", function(t)
      return t.groups == 0 or t.split_k == 1
    end },
    { "stream = 1 shares tiles between up to split_k blocks, which is 1", function(t)
      return t.stream == 0 or t.split_k > 1
    end },
    { "xf32 needs f32 and the matrix cores of gfx942", function(t, op, types, layout, target)
      return t.xf32 == 0 or (types.mul_a.name == "f32" and types.mul_b.name == "f32" and target.mma["xf32 xf32"] ~= nil)
    end },
    { "values of b_op that change within a load of {wide_b} elements along K", function(t, op)
      for _, d in ipairs(op.b_inputs) do
        if d.kind == "per_block" and d.deep % t.wide_b ~= 0 then return false end
      end
      return true
    end },
    { "LDS > {lds} bytes", function(t, op, types, layout, target) return t.lds_bytes <= target.lds end },
    { "{sums} registers of sums > 128", function(t) return t.sums <= 128 end },
    { "outputs beside E: rows of {n} columns are not neighbouring lanes of a wave", function(t, op)
      return not op.graph or t.n >= 16 and t.n <= 256 and t.n & t.n - 1 == 0
    end },
    { "blocks of {largest} columns do not divide {n}", function(t) return t.n % t.largest == 0 end },
  },
  defaults = function(target, op, types, layout)
    local n = op.products
    local function set(m, width, bytes, wm, wn, wk, mfma, more) -- `bytes` of K
      local t = { m = m, n = width // n, k = bytes // types.mul_a.bytes, wm = wm, wn = wn, wk = wk, mfma = mfma,
                  ahead = 4, split_k = 16, stream = 1, group = 8, xf32 = 0 }
      for name, value in pairs(more or {}) do t[name] = value end
      if op.groups then t.split_k, t.stream = 1, 0 end
      return t
    end
    -- Of more ahead registers would spill; beside sums of blocks, what is turned round takes them, and short blocks do.
    local scaled, along_k = op.block ~= nil, layout.a == "r" and layout.b == "c"
    local crowded = scaled and (not along_k or op.block.deep * types.mul_a.bytes % 128 ~= 0)
    local mid = set(128, 128, 64, 2, 2, 1, 32, { ahead = crowded and 1 or 2, split_k = 8 })
    local low = set(64, 128, 64, 2, 2, 1, 32)
    -- Few tiles: more of them, and waves that share K.  The smallest are for launches that are over soon.
    local small, few = set(64, 64, 128, 2, 1, 2, 32), set(32, 32, 256, 2, 1, 2, 16)
    local least = set(16, n == 1 and 16 or 32, 512, 1, 1, 4, 16, { split_k = 1, stream = 0 })
    -- Outputs beside E: tiles of whole blocks of columns.  Of the largest there are few: waves stand side by side along
    -- N, so that a strip of rows takes little LDS.
    local function whole(tiles)
      if not op.graph then return tiles end
      local columns, fit = outputs(op).largest, {}
      if columns > mid.n then
        fit[1] = set(128, columns * n, 64, 2, 4, 1, 32, { ahead = 2, split_k = 8 })
        fit[2] = set(64, columns * n, 64, 1, 4, 1, 32)
      end
      for _, t in ipairs(tiles) do
        if t.n % columns == 0 then fit[#fit + 1] = t end
      end
      if columns > few.n then fit[#fit + 1] = set(32, 128 * n, 64, 1, 2, 1, 32) end
      return fit
    end
    if scaled then return whole { mid, low, few } end
    -- Each kernel takes half a second of compiling (docs/benchmarks/shapes.md): operands that are turned round have no
    -- 64x64, epilogues with full inputs no 64x128.
    local tiles = { mid, low, small, few, least }
    if not along_k then table.remove(tiles, 3) end
    for _, d in ipairs(op.d) do
      if d.kind == "full" then
        table.remove(tiles, 2)
        break
      end
    end
    return whole(tiles)
  end,
  name = function(t)
    local text = ("%dx%dx%d_w%dx%d"):format(t.m, t.n, t.k, t.wm, t.wn)
    if t.wk > 1 then text = text .. "x" .. t.wk end
    if t.mfma ~= 32 then text = text .. "_i" .. t.mfma end
    if t.ahead ~= 2 then text = text .. "_a" .. t.ahead end
    if t.split_k > 1 then text = text .. (t.stream == 1 and "_stream" or "_s") .. t.split_k end
    if t.group ~= 8 then text = text .. "_g" .. t.group end
    if t.xf32 == 1 then text = text .. "_xf32" end
    return text
  end,
  problem_rules = {
    { "K is shorter than a load from memory", function(p, t)
      return any(ge(p.k, max(t.piece, t.wide_b * t.along_b)), eq(t.along_a + t.along_b, 0))
    end },
    { "no tokens, of which rows are gathered", function(p, t) return any(lt(t.groups, 2), gt(p.tokens, 0)) end },
    { "A spans 2 GiB or more, and its rows are gathered", function(p, t)
      return any(lt(t.groups, 2), lt(((p.tokens + 1) * p.lda + p.k) * t.bits_a // 8, 2147483648))
    end },
    { "a tile of A spans 2 GiB or more", function(p, t)
      return lt(select(eq(t.along_a, 1), t.m * p.lda + p.k, (p.k + 4 * t.k) * p.lda + p.m) * t.bits_a // 8,
                2147483648)
    end },
    { "a tile of B spans 2 GiB or more", function(p, t)
      return lt(select(eq(t.along_b, 1), t.n * p.ldb + p.k, (p.k + 4 * t.k) * p.ldb + p.n) * t.bits_b // 8,
                2147483648)
    end },
    { "K is odd, and B's elements are two to a byte", function(p, t) return any(ge(t.bits_b, 8), eq(p.k % 2, 0)) end },
    { "more than 4194304 blocks", function(p, t)
      local tiles = most_down(p, t) * ceil_div(p.n, t.n)
      return le(select(gt(t.split_k, 1), tiles * p.batch * t.split_k, tiles), 4194304)
    end },
    { "K has too many steps to share", function(p, t)
      return any(eq(t.split_k, 1), lt(ceil_div(p.k, t.k) * max(p.units * t.resident, t.split_k), 2147483648))
    end },
  },
  stages = function(t) return (t.split_k > 1 and 2 or 1) + t.late end,
  launch = function(p, t, target)
    local whole, rest, runs = shared(p, t, target)
    local tiles, y = most_down(p, t) * ceil_div(p.n, t.n), max(min(batches(p, t), 65535), 1)
    local split = gt(t.split_k, 1)
    local late = require "late"(p, max(min(p.batch, 65535), 1), gt(t.of_rows, 0), gt(t.of_cols, 0))
    -- What columns are made of, one block of the second kernel has of all rows of its tile.
    local blocks = select(gt(t.of_cols, 0), 1, ceil_div(t.m * t.n, t.threads * t.out))
    return {
      { grid = { select(split, whole + runs, tiles), select(split, 1, y), 1 }, block = { t.threads } },
      { grid = { select(split, rest, late.grid[1]), select(split, blocks, late.grid[2]), 1 },
        block = { select(split, t.threads, late.block[1]) } },
      late,
    }
  end,
  -- Sums of every part of a shared tile, for each product: the tile's shape, without rows (columns) that E does not
  -- have.  Ahead of them what tiles make of their rows and columns, whole pieces of 16 bytes.
  workspace = function(p, t, target)
    local _, rest, runs = shared(p, t, target)
    local part = select(eq(t.e_row, 1), min(p.m, t.m) * t.n, min(p.n, t.n) * t.m)
    return 16 * ceil_div(reduced(p, t), 4) + 4 * (rest + runs) * t.products * part
  end,
  cost = function(p, t, target)
    local whole, rest, runs, length = shared(p, t, target)
    local units = max(p.units, 1)
    local most, most_runs = ceil_div(whole, units), ceil_div(runs, units) -- blocks of the busiest unit
    -- It holds some of them at once: so many rounds.
    local rounds, round_runs = ceil_div(most, t.resident), ceil_div(most_runs, t.resident)
    local run = ceil_div(rest * length, runs)  -- steps along K of each
    local busy = (most * length + most_runs * run) * t.step_ns / 1e3
    local steps = (rounds * length + round_runs * run) * t.chain_ns / 1e3
    -- A unit gets one of memory's lines of 64 bytes a cycle; rows that begin between them touch more.
    local even = all(eq(p.align_a % 64, 0), eq(p.align_b % 64, 0))
    local function lines(along, rows, bits) -- of a tile of K
      local count, bytes = select(eq(along, 1), rows, t.k), select(eq(along, 1), t.k, rows) * bits // 8
      return count * select(even, ceil_div(bytes, 64), (bytes + 63) / 64)
    end
    local touched = lines(t.along_a, t.m, t.bits_a) + t.products * lines(t.along_b, t.n, t.bits_b)
    local slow = max(touched / 2.1 - t.step_ns, 0) / 1e3
    busy, steps = busy + slow * (most * length + most_runs * run), steps + slow * (rounds * length + round_runs * run)
    -- Before a block's steps; where K's end cuts chunks, or the rows' end those of what is turned round, which then are
    -- built of single elements.
    local rows = all(any(eq(t.along_a, 1), eq(p.m % t.wide_a, 0)), any(eq(t.along_b, 1), eq(p.n % t.wide_b, 0)))
    local uncut = any(eq(p.k % t.k, 0), all(rows, any(eq(t.along_a + t.along_b, 0), eq(p.k % t.piece, 0))))
    local turned = select(eq(t.along_a + t.along_b, 2), 0, select(rows, 0.5, 1.2))
    local once = t.begin_ns / 1e3 + select(uncut, 0, t.rest_ns / 1e3 + turned)
    -- Rows of E that begin between the lines of memory touch more of them.
    local way_out = t.out_ns * select(eq(p.align_e % 16, 0), 1, 1.1) / 1e3
    local of_run = select(eq(runs % max(rest, 1), 0), 1, 2)
    local out = (most + most_runs * of_run) * way_out
    local ends = (rounds + round_runs * of_run) * (once + way_out) + select(gt(rest, 0), 0.35, 0)
    local shares = 4 * parts(rest, runs) * t.products * min(p.m, t.m) * min(p.n, t.n)
    local memory = traffic(p, t, target) / 1e3 + shares / (target.gbps * 1e3)
    -- What was just written comes from the last cache.
    local second = select(gt(rest, 0), target.launch_us + shares * (target.again or 1) / (target.gbps * 1e3), 0)
    local late = select(gt(t.kernels, select(gt(t.split_k, 1), 2, 1)),
                        target.launch_us + reduced(p, t) / (250 * target.gbps), 0)
    return target.launch_us + max(steps + ends, busy + out + once, memory + once + way_out) + second + late, {
      { "launching", target.launch_us },
      { "multiplying", busy },
      { "steps of a block, with trips to memory", steps },
      { "moving bytes", memory },
      { "tiles' beginnings and ends", ends },
      { "adding up shared tiles", second },
      { "whole rows and columns", late },
      { "blocks", whole + runs, "count" },
      { "rounds of the device", (whole + runs) / (units * t.resident), "count" },
      { "MB to and from memory", (operands(p, t) + shares) / 1e6, "count" },
      { "arithmetic", 2 * batches(p, t) * p.m * p.n * p.k * t.products / (t.rate * 1e3 * units), "least" },
      { "memory", operands(p, t) / (target.gbps * 1e3), "least" },
    }
  end,
  -- Registers are arrays until the loops over them are unrolled: they must be, however long.
  flags = function() return { "-mllvm", "-pragma-unroll-threshold=262144" } end,
}
