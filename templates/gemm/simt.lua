-- SPDX-License-Identifier: MIT
-- Portable matrix product on vector units: tiles of A and B in LDS, a small tile of sums per thread, any size, stride
-- and alignment, every type and layout.  With split_k > 1 several blocks share one tile's K; a second kernel adds up.
local blocks, grouped = require "blocks", require "grouped"
local dot4 = require "dot4"
local outputs = require "outputs"

local function pow2(lo, hi)
  local values = {}
  while lo <= hi do
    values[#values + 1] = lo
    lo = lo * 2
  end
  return values
end

-- Consecutive elements that a thread loads at once: up to 16 bytes, as far as the tile's shape lets all threads take
-- part.
local function chunk(elements, contiguous, threads, bits)
  local n = 128 // bits
  while n * bits > 32 and (elements % (threads * n) ~= 0 or contiguous % n ~= 0) do n = n // 2 end
  return n
end

return schedule {
  family = "gemm",
  title = "portable vector-unit kernel: any size, stride and alignment",
  supports = function(target, op, types, layout)
    if target.vendor == "host" then return nil, "needs a GPU" end
    if types.acc.name == "i32" and not dot4(types) then
      return nil, "products of floating-point numbers cannot be summed in i32"
    end
    if op.block and op.block.deep % 2 == 1 and (types.a.bits < 8 or types.b.bits < 8) then
      return nil, "blocks of an odd length along K end within a byte of elements of 4 bits"
    end
    if op.groups and types.a.bits < 8 and layout.a == "c" then
      return nil, "a group's rows begin within a byte of A's columns of 4 bits"
    end
    return true
  end,
  tunables = {
    { "m", values = pow2(16, 128), doc = "rows of the block's tile" },
    { "n", values = pow2(16, 128), doc = "columns of the block's tile" },
    { "k", values = pow2(8, 64), doc = "length along K of the tiles in LDS" },
    { "tm", values = pow2(1, 8), doc = "rows of a thread's tile" },
    { "tn", values = pow2(1, 8), doc = "columns of a thread's tile" },
    { "split_k", values = pow2(1, 32),
      doc = "blocks that share a tile, each a part of K; above 1 a second kernel sums" },
  },
  derived = { "threads", "pack", "chunk_a", "chunk_b", "loads_a", "loads_b", "strips", "lds_bytes", "sums", "products",
              "together", "unroll", "bits_a", "bits_b", "bytes_e", "e_row", "of_rows", "of_cols", "late", "block",
              "groups" },
  derive = function(t, op, types, layout, target)
    t.products = op.products
    t.threads = max((t.m // t.tm) * (t.n // t.tn), 1)
    t.pack = dot4(types) and 4 or 1 -- elements along K in a word of LDS
    t.chunk_a = chunk(t.m * t.k, layout.a == "r" and t.k or t.m, t.threads, types.a.bits)
    t.chunk_b = chunk(t.n * t.k, layout.b == "c" and t.k or t.n, t.threads, types.b.bits)
    t.loads_a = t.m * t.k // (t.threads * t.chunk_a)
    t.loads_b = t.n * t.k // (t.threads * t.chunk_b)
    t.e_row = (layout.e == "r" or op.graph) and 1 or 0
    t.strips = max((t.e_row == 1 and t.tm or t.tn) // 4, 1) -- parts of the tile that pass through LDS on the way out
    local buffers = 2 * (t.m + t.products * t.n) * (t.k // t.pack)
    local staging = t.products * t.m * t.n // t.strips
    t.lds_bytes = 4 * max(buffers, staging)
    t.sums = t.products * t.tm * t.tn * (op.block and 2 or 1) -- with a block's beside the whole ones
    local most = target.vendor == "nvidia" and 63 or 64
    t.together = op.block and t.sums > most and 256 or 512 -- threads whose registers fit on a unit
    t.unroll = target.vendor == "nvidia" and t.sums >= 64 and 1 or 4 -- ptxas stays within two blocks' registers so
    t.bits_a, t.bits_b, t.bytes_e = types.a.bits, types.b.bits, types.e.bytes
    -- Outputs beside E: reductions of rows and of columns, whether any output is made of such, the largest block.
    local O = op.graph and outputs(op) or { rows = {}, cols = {}, late = {}, largest = 1 }
    t.of_rows, t.of_cols, t.late, t.block = #O.rows, #O.cols, min(#O.late, 1), O.largest
    t.groups = op.groups and 1 or 0
    if t.of_cols > 0 then t.lds_bytes = max(t.lds_bytes, 16 * t.threads) end
  end,
  rules = {
    { "{threads} threads > {max_threads}", function(t, op, types, layout, target)
      return t.threads <= target.max_threads
    end },
    { "{threads} threads do not fill a wave of {wave}", function(t, op, types, layout, target)
      return t.threads % target.wave == 0
    end },
    { "the tile of A does not divide into {threads} threads", function(t, op, types)
      return t.m * t.k == t.threads * t.chunk_a * t.loads_a and t.loads_a > 0
    end },
    { "the tile of B does not divide into {threads} threads", function(t, op, types)
      return t.n * t.k == t.threads * t.chunk_b * t.loads_b and t.loads_b > 0
    end },
    { "LDS > {static_lds} bytes", function(t, op, types, layout, target) return t.lds_bytes <= target.static_lds end },
    { "{sums} sums per thread > 128", function(t) return t.sums <= 128 end },
    { "blocks of {block} columns do not divide {n}, or are more than a wave has at once",
      function(t, op, types, layout, target)
        return t.block == 1 or t.n % t.block == 0 and t.block // 4 <= target.wave
      end },
    { "rows of {n} columns are not neighbouring lanes of a wave", function(t, op, types, layout, target)
      if not op.graph then return true end
      local lanes = t.n // 4
      return lanes <= target.wave and t.threads % lanes == 0 and t.m * lanes // t.strips % target.wave == 0
    end },
    { "more registers loaded ahead than fit", function(t)
      return t.loads_a * t.chunk_a * t.bits_a + t.products * t.loads_b * t.chunk_b * t.bits_b <= 2048
    end },
  },
  defaults = function(target, op, types, layout)
    local bytes = dot4(types)
    local n = op.block and 2 or op.products -- parts of a tile's registers
    local large = { m = 128, n = 128 // n, k = bytes and 64 or 16, tm = 8, tn = 8 // n, split_k = 1 }
    -- Where matrix units multiply these types, this schedule is for what they cannot take, at any speed; and for few
    -- rows NVIDIA's GPUs have simt_decode, of two products, which `large` may not fit, beside mma alone: bytes may lie
    -- across K.
    local both = types.mul_a.name .. " " .. types.mul_b.name
    local packed = types.a.bits < 8 or types.b.bits < 8
    -- Fewer threads with more sums each, where a tile of 4 bits has no word for each of so many.
    local function fit(tile)
      local function words(of, x)
        local threads = tile.m // tile.tm * (tile.n // tile.tn)
        return x.bits >= 8 or tile[of] * tile.k * x.bits >= 32 * threads
      end
      while not (words("m", types.a) and words("n", types.b)) and tile.tm * tile.tn < 64 do
        local wider = tile.tn < tile.tm and "tn" or "tm"
        tile[wider] = tile[wider] * 2
      end
      return tile
    end
    -- A tile of 64 columns must have a word of 4 bits for each thread.
    if packed and op.products == 2 then
      large = { m = 64, n = 64, k = bytes and 64 or 32, tm = 8, tn = 4, split_k = 1 }
    end
    local wide = op.graph and outputs(op).largest > large.n -- a block of 128 columns
    if wide or op.graph and op.products == 2 and not op.block then
      large = { m = 64, n = 128, k = bytes and 64 or 16, tm = 8, tn = 4, split_k = 1 }
      -- A's bytes that are not four to a word of LDS: one for each thread.
      local tn = not bytes and types.a.bits == 8 and 8 or 4
      return { fit(large), fit { m = 16, n = 128, k = bytes and 64 or 16, tm = 4, tn = tn, split_k = 8 } }
    end
    if op.graph and not op.block then
      return { fit(large), fit { m = 16, n = 128, k = bytes and 64 or 32, tm = 2, tn = 8, split_k = 8 } }
    end
    local alone = packed or op.graph or blocks.unsupported(op) -- no matrix unit's schedule computes it
    local unit = target.mma or not op.groups and types.a.bits + types.b.bits == 32 and target.wgmma
    local few_elsewhere = target.vendor == "nvidia" and op.products == 1 or unit and unit[both]
    if not alone and few_elsewhere then return { large } end
    -- Few rows: K keeps the machine busy.
    return { fit(large), fit { m = 16, n = 64 // n, k = bytes and 64 or 32, tm = 2, tn = 4 // n, split_k = 8 } }
  end,
  name = function(t)
    local text = ("%dx%dx%d_t%dx%d"):format(t.m, t.n, t.k, t.tm, t.tn)
    return t.split_k > 1 and text .. "_s" .. t.split_k or text
  end,
  stages = function(t) return (t.split_k > 1 and 2 or 1) + t.late end,
  launch = function(p, t, target)
    -- Blocks walk over tiles and batches in steps of the grid, so any grid will do; this one stays inside every
    -- driver's limits.
    local is = gt(t.groups, 0)
    local x = max(min(grouped.most_down(p, t.m, is) * ceil_div(p.n, t.n), 1048576), 1)
    local y = max(min(grouped.batches(p, is), 65535), 1)
    local late = require "late"(p, y, gt(t.of_rows, 0), gt(t.of_cols, 0))
    return {
      { grid = { x, y, t.split_k }, block = { t.threads } },
      { grid = { select(gt(t.split_k, 1), x, late.grid[1]), y, 1 },
        block = { select(gt(t.split_k, 1), t.threads, late.block[1]) } },
      late,
    }
  end,
  -- Sums of every part of K, product and batch: E's shape, its rows padded to 4 elements.
  workspace = function(p, t, target)
    local row = select(eq(t.e_row, 1), p.n, p.m)
    local rows = select(eq(t.e_row, 1), p.m, p.n)
    local planes = grouped.batches(p, gt(t.groups, 0)) -- no row of E is two groups'
    return select(gt(t.split_k, 1), 4 * t.split_k * t.products * planes * rows * (4 * ceil_div(row, 4)), 0)
           + 4 * p.batch * (t.of_rows * p.m * ceil_div(p.n, t.n) + t.of_cols * p.n * ceil_div(p.m, t.m))
  end,
  cost = function(p, t, target)
    local is = gt(t.groups, 0)
    local each, down = grouped.batches(p, is), grouped.down(p, t.m, is)
    local tiles = down * ceil_div(p.n, t.n) * each * t.split_k
    local most = ceil_div(tiles, max(p.units, 1))  -- blocks of the busiest unit
    local together = max(t.together // t.threads, 1) -- that it runs at once: 512 threads keep it busy, fewer in part
    local steps = ceil_div(ceil_div(max(p.k, 1), t.k), t.split_k)
    -- Of a unit, per microsecond.
    local rate = select(eq(t.pack, 4), target.simt_i8_tops, target.simt_tflops) * 1e6 / target.units
    -- A word read from LDS serves tm or tn products; reading one takes about as long as four multiplications.
    local reuse = 4 * t.tm * t.tn / (4 * (t.tm + t.products * t.tn) + t.tm * t.tn * t.products)
    local work = 2 * t.m * t.n * t.k * steps * t.products
    local busy = max(most, 0.7 * together) * work / (rate * min(reuse, 1))
    local latency = ceil_div(most, together) * steps * 1.2 -- a step waits for memory once
    local read = each * (ceil_div(p.n, t.n) * p.m * p.k * t.bits_a / 32
                 + down * p.n * p.k * t.bits_b * t.products / 32
                 + p.m * p.k * t.bits_a / 8)
                 + select(is, grouped.some(p), p.batch) * p.n * p.k * t.bits_b * t.products / 8
    local write = each * p.m * p.n * (t.bytes_e + select(gt(t.split_k, 1), 8 * t.split_k * t.products, 0))
    local memory = (read + write) / (require "memory"(p, target) * 1e3)
    -- On AMD's the way out of a tile counts, and steps take half as long again: docs/benchmarks/mfma.md.
    local ends = 0
    -- On NVIDIA's both take longer, by docs/benchmarks/tiles.csv, and where K is short the ends of tiles count.
    if target.vendor == "nvidia" then
      busy, latency, ends = 1.6 * busy, 1.6 * latency, ceil_div(most, together) * t.m * t.n / 3640
    end
    if target.vendor == "amd" then
      busy, ends = 1.5 * busy, ceil_div(most, together) * (2 + 0.16 * t.sums)
    end
    local launches = target.launch_us * (select(gt(t.split_k, 1), 2, 1) + t.late)
    return launches + max(busy + ends, max(latency + ends, memory)), {
      { "launching", launches },
      { "multiplying", busy },
      { "trips to memory", latency },
      { "moving bytes", memory },
      { "tiles' beginnings and ends", ends },
      { "blocks", tiles, "count" },
      { "rounds of the device", tiles / (max(p.units, 1) * together), "count" },
      { "arithmetic", 2 * each * p.m * p.n * p.k * t.products / (rate * max(p.units, 1)), "least" },
    }
  end,
}
