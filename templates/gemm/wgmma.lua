-- SPDX-License-Identifier: MIT
-- Matrix product on Hopper's matrix unit (wgmma): persistent blocks, of which one warpgroup brings tiles of A, B and
-- the full extra inputs by tensor map and the others multiply; blocks of a cluster share a tile's Y, or its X; E leaves
-- by tensor map.  X is the operand whose rows a warpgroup multiplies 64 at a time, Y the other: A and B where E's rows
-- are contiguous, B and A where its columns are, or the other way round (`swap`); but one with an operator, or of
-- bytes where the other has 16 bits, is X: that one can come through registers.
local sharing, wgmma_blocks = require "wgmma_sharing", require "wgmma_blocks"
local half_bytes, beside_ring = require "half_bytes", require "wgmma_beside"
local copied, written, groups = require "wgmma_copied", require "wgmma_written", require "wgmma_groups"
local outputs, one_each = require "wgmma_outputs", require "wgmma_apart"
local function every(by, lo, hi)
  local values = {}
  for x = lo, hi, by do values[#values + 1] = x end
  return values
end

-- What is multiplied is not what is in memory.
local function changed(op, types, operand)
  return op["has_" .. operand .. "_op"] or types[operand].name ~= types["mul_" .. operand].name
end

local function roles(op, types, layout, swap)
  if changed(op, types, "a") then return "a", "b" end
  if changed(op, types, "b") or (layout.e == "r") == (swap == 1) then return "b", "a" end
  return "a", "b"
end

-- What follows wgmma's shape in its name, by the types of X and Y.
local function instruction(target, op, types, layout)
  local x, y = roles(op, types, layout)
  return target.wgmma[types["mul_" .. x].name .. " " .. types["mul_" .. y].name]
end

local function along_k(layout, operand) return layout[operand] == (operand == "a" and "r" or "c") end

-- Which operand is X, where E is contiguous, bytes of a row of X along K (of Y: 128), and of X and Y in a slot of the
-- ring.
local function places(t, op, types, layout)
  local x = roles(op, types, layout, t.swap)
  t.x_is_a = x == "a" and 1 or 0
  t.in_registers = changed(op, types, x) and 1 or 0
  t.e_along_y = (layout.e == "r") == (x == "a") and 1 or 0
  t.k = 128 // types.mul_a.bytes * t.slabs
  local x_row = 128 * types[x].bits // types["mul_" .. x].bits * t.slabs -- bytes of a row of X
  if x == "a" then
    t.x, t.y = t.m, t.n
    t.slot_bytes = x_row * t.x + 128 * op.products * t.y * t.slabs
  else
    t.x, t.y = t.n, t.m
    t.slot_bytes = x_row * op.products * t.x + 128 * t.y * t.slabs
  end
end

local function full_inputs(op)
  local full = 0
  for _, d in ipairs(op.d) do full = full + (d.kind == "full" and 1 or 0) end
  return full
end

-- A default tile for operands that tensor maps cannot take and of which copies would take too long: batches of
-- products of which each reads what no other does, few rows beside many weights; of 64 columns for heads of attention.
-- Warps that load have registers that others lack, which wider tiles would want.
local function gathering(target, op, types, layout, columns)
  local t = { m = 128, n = columns // op.products, wg = 2, depth = 8, cluster = 1, e_depth = 1, group = 0, stream = 1,
              pingpong = 0, promote = 0, gather = 1, tf32 = 0, slabs = 1, collect = 0, share_x = 0, swap = 0 }
  if roles(op, types, layout) == "b" then t.m, t.n = t.n, t.m end
  local whole = { groups = t.wg }
  for name, value in pairs(t) do whole[name] = value end
  places(whole, op, types, layout)
  beside_ring(whole, op, types, layout)
  t.depth = max(min(t.depth, (target.lds - whole.beside_ring) // (whole.slot_bytes + whole.behind)), 2)
  return t
end

-- Of elements of so many bits, which 128 bytes of a step say: of bytes twice what 16 bits have, of tf32 half.
local function tflops(t, target)
  local elements, of_16 = t.k // t.slabs, target.tflops.f16
  return select(eq(elements, 128), target.tflops.i8, select(eq(elements, 64), of_16, of_16 // 2))
end

-- Microseconds that a step of the ring takes warps that copy (gather = 1): shared memory's, and no faster than memory
-- answers what the ring has asked for.
local function gathered(p, t)
  local bytes_a, bytes_b = t.m * t.k * t.bits_a // 8, t.n * t.products * t.k * t.bits_b // 8
  -- Tiles of 64 take more than their share, and lines across K that end within a tile more words.
  local few, ends = select(lt(min(t.m, t.n), 128), 1.1, 1), select(all(eq(t.turned, 1), gt(p.n % t.n, 0)), 0.4, 0)
  local copies = copied(bytes_a, p.align_a) + copied(bytes_b, p.align_b)
  return max(1.22 * few * (1 + ends / ceil_div(p.n, t.n)) * copies, 1 / (t.depth - 1.5))
end

return schedule {
  family = "gemm",
  title = "Hopper's matrix unit: warp-specialised, persistent, tiles by TMA",
  supports = function(target, op, types, layout)
    if not target.wgmma then return nil, "needs Hopper's matrix unit (sm_90a)" end
    if types.a.bits < 8 then return nil, "takes elements of 4 bits only of B" end
    local lacks = half_bytes.takes(op, types) and half_bytes.unsupported(op)
    if lacks then return nil, lacks end
    if types.b.bits < 8 and types.mul_b.bits == 8 and op.has_b_op then
      return nil, "elements of 4 bits that become bytes have no b_op"
    end
    if changed(op, types, "a") and changed(op, types, "b") then
      local text = "one of A and B goes from memory to the matrix unit as it is: "
      return nil, text .. "no operator, no other type than is multiplied"
    end
    lacks = groups.unsupported(op, layout) or wgmma_blocks.unsupported(op, types, (roles(op, types, layout)))
            or outputs.unsupported(op, types)
    if lacks then return nil, lacks end
    local f32 = types.a.name == "f32" and types.b.name == "f32"
    if not f32 and not instruction(target, op, types, layout) then
      return nil, "Hopper's matrix unit does not multiply " .. types.mul_a.name .. " by " .. types.mul_b.name
    end
    if (types.acc.name == "i32") == types.mul_a.float then
      return nil, "i8 and u8 are summed in i32 here, everything else in f32"
    end
    for _, x in ipairs { "a", "b" } do
      local mul = types["mul_" .. x]
      local becomes = types[x].bits <= 8 and mul.bits == 16 or types[x].bits < 8 and mul.name == "i8"
      if types[x].bits ~= mul.bits and not becomes then
        local text = "%s of %s cannot become %s on its way through registers: "
          .. "bytes and 4 bits can become 16 bits, 4 bits i8, nothing else its size"
        return nil, text:format(x:upper(), types[x].name, mul.name)
      end
      if types[x].bytes ~= 2 and not along_k(layout, x) then
        local text = "%s of %s must be contiguous along K: only 16-bit types may be so along the other dimension"
        return nil, text:format(x:upper(), types[x].name)
      end
    end
    return true
  end,
  tunables = {
    { "m", values = every(8, 8, 320), doc = "rows of the block's tile" },
    { "n", values = every(8, 8, 320), doc = "columns of the block's tile" },
    { "wg", values = { 1, 2, 3, 4 }, doc = "warpgroups that multiply" },
    { "depth", values = every(1, 2, 16), doc = "tiles of A and B in the ring" },
    { "cluster", values = { 1, 2, 4, 8 }, doc = "blocks that load one operand's tile together" },
    { "e_depth", values = { 0, 1, 2, 4 },
      doc = "strips of E that each warpgroup has in shared memory; 0: each warp has eight rows of its tile's" },
    { "group", values = { 0, 1, 2, 4, 8, 16, 32 },
      doc = "tiles (in clusters: clusters) along X that neighbours share Y's operand for; 0: 1 or 8, by its bytes" },
    { "stream", values = { 0, 1 },
      doc = "1: tiles beyond whole waves are cut along K into equal runs; a second kernel sums" },
    { "pingpong", values = { 0, 1 },
      doc = "1: warpgroups take tiles in turn, one multiplies while one finishes; 0: they share them" },
    { "promote", values = { 0, 1, 2, 4, 8 }, doc = "fp8: tiles of K after which sums of 14 bits go to f32; 0: never" },
    { "gather", values = { 0, 1 }, doc = "1: A and B may lie at any address: warps copy them; 0: all by tensor map" },
    { "tf32", values = { 0, 1 }, doc = "1: f32 is multiplied as tf32, of 10 bits of mantissa" },
    { "slabs", values = { 1, 2, 4 },
      doc = "steps of 128 bytes of the other operand that come together with rows of B of 4 bits" },
    { "collect", values = { 0, 1 },
      doc = "1: rows of A that are numbers are brought together in the workspace, ahead; 0: warps copy a tile's" },
    { "share_x", values = { 0, 1 },
      doc = "1: a cluster's blocks load the 64-row side's tile together, neighbours along the other; 0: the other's" },
    { "swap", values = { 0, 1 },
      doc = "1: the 64-row side is that of B where E is contiguous along N, of A where it is along M" },
  },
  derived = { "k", "x", "y", "x_is_a", "in_registers", "e_along_y", "threads", "blocks", "products", "sums",
              "groups", "strip", "slot_bytes", "d_parts", "lds_bytes", "full_d",
              "cut", "bits_a", "bits_b", "bytes_e", "bytes_d", "turned", "unit", "brought",
              "product_bits", "sum_bits", "sum_step", "sum_chain", "curves", "grouped", "late" },
  derive = function(t, op, types, layout, target)
    places(t, op, types, layout)
    t.products, t.groups = op.products, t.pingpong == 1 and 1 or t.wg -- groups: warpgroups that share a tile
    t.blocks = t.x // (64 * t.groups)       -- of 64 rows, per warpgroup
    if one_each(t, op) then t.blocks = 1 end
    t.sums = (one_each(t, op) and 1 or t.products) * t.blocks * t.y // 2
    -- Rows are of groups; and those of A are gathered tile by tile.
    t.grouped = op.gather and t.collect == 0 and 2 or op.groups and 1 or 0
    -- One warpgroup loads, or two: four in all leave 128 registers a thread.
    t.threads = 128 * (t.wg + (t.gather == 1 and t.sums <= 64 and 2 or 1))
    beside_ring(t, op, types, layout)
    t.unit = op.block and wgmma_blocks.places(op, t, types, t.x_is_a == 1 and "a" or "b").unit or 0
    t.lds_bytes = t.depth * (t.slot_bytes + t.behind) + t.beside_ring
    -- Values of weights that a lane of two warps brings for a slot.
    local few = half_bytes.takes(op, types) and half_bytes.values(op, types, t.k)
    t.brought = few and t.x // 64 * few.runs * half_bytes.loaded(few) or 0
    -- Tiles of a last wave, which their cluster cuts along K: where half of the strips are for each of two blocks, and
    -- the ring holds their sums.
    local strips, at_once = t.strip > 0 and t.blocks * t.y // t.strip or 1, t.slot_bytes // (2048 * t.groups)
    t.cut = t.cluster > 1 and t.stream + t.pingpong + t.grouped == 0 and t.e_depth > 0 and strips % 2 == 0
      and not one_each(t, op) and outputs.cut(t, op) and at_once > 0 and ceil_div(t.sums // 8, at_once) <= t.depth
      and 1 or 0
    t.late = outputs.late(t, op)
    t.bits_a, t.bits_b, t.bytes_e = types.a.bits, types.b.bits, types.e.bytes
    t.curves = 2 * op.curves + outputs.curves(t, op) -- halves of a function of the epilogue
    t.turned = along_k(layout, "a") and along_k(layout, "b") and 0 or 1
    -- tf32 has 11 bits.  Sums of fp8 products have 14: an instruction aligns its 32 products and the sum so far to the
    -- largest of them, and drops what is below 13 bits of fraction (DeepSeek-V3 technical report, arXiv 2412.19437,
    -- 3.5.2; SageAttention2, arXiv 2411.10958, 3.3).  Where a run along K may begin inside of a chain, its sums are
    -- those of two chains: a bit less.
    local fp8 = types.mul_a.bytes == 1 and types.acc.name == "f32"
    local anywhere = t.promote > 1 and (t.cut == 1 or t.stream == 1)
    t.product_bits = t.tf32 == 1 and 11 or 0
    t.sum_bits, t.sum_step = fp8 and (anywhere and 13 or 14) or 0, fp8 and 32 or 0
    t.sum_chain = op.block and min(op.block.deep, t.k) or t.promote * t.k
  end,
  rules = {
    { "the tile's side of 64-row blocks is no multiple of 64 times {groups} warpgroups", function(t, op)
      return t.blocks > 0 and (one_each(t, op) or t.blocks * 64 * t.groups == t.x)
    end },
    { "a product for each warpgroup beside full inputs, outputs, blocks of K or stream, or an odd number of strips",
      function(t, op)
        local beside = op.block or op.graph or t.full_d + t.stream > 0 or t.strip == 0
        local spills = t.e_along_y == 1 and t.bytes_e == 4 and t.y > 192
        return not one_each(t, op) or not beside and not spills and t.y // t.strip % 2 == 0
      end },
    { "no wgmma multiplies the {y} that a tile has along its other side", function(t, op, types)
      return types.acc.name ~= "i32" or t.y % 16 == 0 or t.y == 8 or t.y == 24
    end },
    { "{y} along a tile's other side make no strips of E and full extra inputs with rows of 16 bytes and more",
      function(t) return t.strip > 0 end },
    { "{y} along a tile's other side want two instructions: along K, in multiples of 16 (i8: 32), 256 to a block",
      function(t, op, types, layout)
        local all = t.x_is_a == 1 and t.blocks == 1 and op.products * t.y or t.y
        local fit = all % (types.acc.name == "i32" and 32 or 16) == 0
                    and t.y <= 256 * (t.share_x == 1 and 1 or t.cluster)
        local along = along_k(layout, t.x_is_a == 1 and "b" or "a")
        return all <= 256 or fit and along and t.e_depth > 0 and t.bits_b >= 8 and not op.block
      end },
    { "blocks of a cluster share its other side in multiples of 8 rows, {y} are not", function(t)
      return t.share_x == 1 or t.y % (8 * t.cluster) == 0
    end },
    { "outputs beside E: a tile without whole blocks of columns, or a ring of {depth} that full inputs of one fill",
      function(t, op) return outputs.fit(t, op) end },
    { "outputs beside E with stream: they come in parts of K", function(t, op)
      return not op.graph or t.stream == 0
    end },
    { "share_x without a cluster", function(t) return t.share_x == 0 or t.cluster > 1 end },
    { "e_depth = 0 is for E along 64s of Y, no full inputs, blocks of K, stream, pingpong, gather or share_x",
      function(t, op)
        local other = op.block or t.full_d + t.stream + t.pingpong + t.gather + t.share_x > 0
        return t.e_depth > 0 or t.e_along_y == 1 and t.y % 64 == 0 and not other
      end },
    { "pingpong needs two warpgroups", function(t) return t.pingpong == 0 or t.wg == 2 end },
    { "stream with clusters of more than two blocks", function(t) return t.stream == 0 or t.cluster <= 2 end },
    { "pingpong with stream", function(t) return t.pingpong == 0 or t.stream == 0 end },
    { "pingpong with full extra inputs", function(t) return t.pingpong == 0 or t.full_d == 0 end },
    { "a strip of the full extra inputs takes {d_parts} slots of the ring, more than {depth}", function(t)
      return t.d_parts <= t.depth
    end },
    { "blocks of K with promote, pingpong or gather", function(t, op)
      return not op.block or t.promote == 0 and t.pingpong == 0 and t.gather == 0
    end },
    { "{sums} sums per thread of {wg} warpgroups and those over blocks: too many registers", function(t, op, types)
      if not op.block then return true end
      local beside = t.in_registers == 1 and t.sums or t.unit // 2
      return t.sums + beside <= wgmma_blocks.room(t)
        and (types.acc.name ~= "i32" or t.unit % 16 == 0)
    end },
    { "{sums} sums per thread of {wg} warpgroups: too many registers", function(t, op)
      if op.block then return true end
      -- 224 registers of a thread, 152 where there are three warpgroups.
      local of_three = t.in_registers == 0 and 80 or t.full_d == 0 and 64 or 48
      if t.wg == 4 then return t.in_registers == 1 and t.full_d == 0 and t.bytes_e < 4 and t.sums <= 32 end -- of 104
      local wide = t.gather == 0 and t.bits_b >= 8 and (t.promote > 0 and t.in_registers == 0 or t.wg < 3)
      local most = t.wg == 3 and of_three or wide and 160 or 128
      return t.sums * (t.promote > 0 and 2 or 1) <= most
    end },
    { "gather with full extra inputs, pingpong, clusters or three warpgroups", function(t)
      return t.gather == 0 or t.full_d == 0 and t.pingpong == 0 and t.cluster == 1 and t.wg < 3
    end },
    { "slabs: {slabs} steps at once of operands that are not of 4 bits by 16 along K", function(t, op, types, layout)
      return t.slabs == 1 or t.bits_b < 8 and types.mul_b.bits == 16 and along_k(layout, "a")
    end },
    { "groups with stream, pingpong or gather", function(t)
      return t.grouped == 0 or t.stream + t.pingpong + t.gather == 0
    end },
    { "{m} rows of A that are numbers, and {wg} warpgroups: copied are 128 at most, beside two", function(t)
      return t.grouped < 2 or t.m <= 128 and t.wg < 3
    end },
    { "rows of A that are numbers want collect = 1 where they change on their way, and beside blocks of K or 4 bits",
      function(t, op)
        local as_it_is = t.in_registers == 0 or t.x_is_a == 0
        return t.grouped < 2 or not op.block and t.brought == 0 and t.slabs == 1 and as_it_is
      end },
    { "{d_parts} slots for a strip of the full inputs beside rows of A that are numbers: 2 at most", function(t)
      return t.grouped < 2 or t.d_parts <= 2
    end },
    { "collect, where rows of A are no numbers", function(t, op)
      return t.collect == 0 or op.gather ~= nil
    end },
    { "gather with elements of 4 bits, or inputs of b_op", function(t)
      return t.gather == 0 or t.bits_b >= 8 and t.brought == 0
    end },
    { "gather with a ring of {depth}", function(t) return t.gather == 0 or t.depth > 2 end },
    { "f32 is multiplied as tf32 or not at all: tf32 = 1", function(t, op, types)
      return (types.mul_a.name == "f32") == (t.tf32 == 1)
    end },
    { "swap: an operand with an operator or a conversion has its side", function(t, op, types)
      return t.swap == 0 or not (changed(op, types, "a") or changed(op, types, "b"))
    end },
    { "promote is for fp8", function(t, op, types)
      return t.promote == 0 or types.mul_a.bytes == 1 and types.acc.name == "f32"
    end },
    { "an operand that is not contiguous along K needs a tile of a multiple of 64", function(t, op, types, layout)
      return (along_k(layout, "a") or t.m % 64 == 0) and (along_k(layout, "b") or t.n % 64 == 0)
    end },
    { "{lds_bytes} bytes of shared memory > {lds}", function(t, op, types, layout, target)
      return t.lds_bytes <= target.lds
    end },
  },
  defaults = function(target, op, types, layout)
    local widened = changed(op, types, "a") or changed(op, types, "b")
    -- x by y for both products together, with as deep a ring as shared memory leaves.
    local function tile(x, y, cluster, stream, swap, more)
      local t = { m = x, n = y // op.products, wg = x == 256 and 2 or x // 64,
                  depth = (widened or op.block) and 8 or 16, cluster = cluster,
                  e_depth = 2, group = 0, stream = stream or 0, pingpong = 0, promote = 0,
                  gather = 0, slabs = 1, collect = 0, share_x = 0, swap = swap or 0,
                  tf32 = 0 } -- 1 changes numerics: only in sweeps
      for name, value in pairs(more or {}) do t[name] = value end
      local function slow() -- values of so many steps are not loaded ahead
        local v = half_bytes.takes(op, types) and half_bytes.values(op, types, 64 * t.slabs)
        return v and #v.inputs > 0 and not half_bytes.ahead(v, x)
      end
      while t.slabs > 1 and slow() do t.slabs = t.slabs // 2 end
      if roles(op, types, layout, t.swap) == "b" then t.m, t.n = t.n, t.m end
      t.groups = t.pingpong == 1 and 1 or t.wg
      places(t, op, types, layout)
      repeat
        beside_ring(t, op, types, layout)
        local fits = t.depth * t.slot_bytes + t.beside_ring <= target.lds
        -- Beside sums over blocks, a ring of 4 is worth more than a second strip of E, unless tiles have many.
        if not fits and op.block and t.depth == 4 and y == 256 and t.e_depth == 2 then t.e_depth = 1
        elseif not fits then t.depth = t.depth - 1 end
      until fits or t.depth == 2
      local set = {}
      for _, name in ipairs { "m", "n", "wg", "depth", "cluster", "e_depth", "group", "stream", "pingpong", "promote",
                            "gather", "tf32", "slabs", "collect", "share_x", "swap" } do set[name] = t[name] end
      return set
    end
    local bytes, along = types.mul_a.bytes == 1, along_k(layout, "a") and along_k(layout, "b")
    local full = full_inputs(op)
    local sizes = require "wgmma_sizes" {
      products = op.products, block = op.block, bytes = bytes, half = types.b.bits < 8 and not bytes,
      widened = widened, nibbles = types.b.bits < 8 and bytes, valued = #op.b_inputs > 0,
      along = along, a_across = layout.a == "c", b_along = along_k(layout, "b"), full = full > 0,
      e_bytes = types.e.bytes, groups = op.groups, gather = op.gather, outputs = outputs.largest(op),
    }
    local list = {}
    for _, size in ipairs(sizes) do list[#list + 1] = tile(table.unpack(size)) end
    -- Weights are X there, and 128 rows of activations Y.
    local plain_op = not op.block and not op.graph and #op.b_inputs == 0
    if op.products == 1 and widened and plain_op and (types.b.bits >= 8 or not along) then
      list[#list + 1], list[#list + 2] = tile(256, 128, 2), full == 0 and tile(192, 128, 2) or nil
    end
    -- Plain products are what batches are made of.
    if op.groups then return list end
    local plain = #op.d == 0 and op.products == 1 and types.b.bits >= 8
    for _, columns in ipairs(plain and { 128, 64 } or {}) do
      list[#list + 1] = gathering(target, op, types, layout, columns)
    end
    -- Short K and any number of columns; beside inputs of rows or columns the wider tile alone.
    local wide_e = bytes and op.products == 1 and full == 0 and types.e.bytes == 4 and not op.block
    local beside = op.products == 1 and full == 0 and types.b.bits >= 8 and not widened and not op.block
    if layout.e == "r" and (wide_e or beside and layout.a == "r") then
      local by_rows = { e_depth = 0 }
      list[#list + 1] = tile(128, 256, 1, 0, 0, by_rows)
      if wide_e or plain then list[#list + 1] = tile(128, 192, 1, 0, 0, by_rows) end
    end
    return list
  end,
  name = function(t)
    local text = ("%dx%dx%d_d%d_c%d%s"):format(t.m, t.n, t.k, t.depth, t.cluster, t.share_x == 1 and "x" or "")
    if t.wg ~= 2 then text = text .. "_w" .. t.wg end
    if t.e_depth ~= 2 then text = text .. "_e" .. t.e_depth end
    if t.group > 0 then text = text .. "_g" .. t.group end
    text = text .. (t.stream == 1 and "_stream" or "") .. (t.pingpong == 1 and "_pp" or "")
    text = text .. (t.promote > 0 and "_p" .. t.promote or "") .. (t.tf32 == 1 and "_tf32" or "")
    text = text .. (t.collect == 1 and "_collect" or "")
    return text .. (t.swap == 1 and "_swap" or "") .. (t.gather == 1 and "_any" or "")
  end,
  problem_rules = {
    { "K is 0, of which nothing comes from any address", function(p, t) return any(eq(t.gather, 0), gt(p.k, 0)) end },
    { "lines of E begin or end at no multiple of 16 bytes, by which a group's are stored", function(p, t)
      return any(eq(t.grouped, 0), eq(t.e_depth, 0), all(ge(p.align_e, 16), eq(p.n * t.bytes_e % 16, 0)))
    end },
    { "gathered rows of A begin at no multiple of 16 bytes, or 2^31 bytes apart: they are copied by 16", function(p, t)
      return any(lt(t.grouped, 2), all(ge(p.align_a, 16), lt(p.lda * t.bits_a, 17179869184)))
    end },
    { "M or N is above 2^30", function(p, t) return le(max(p.m, p.n), 1073741824) end },
    { "a leading dimension is above 2^37 elements", function(p, t)
      return le(max(max(p.lda, p.ldb), p.lde), 137438953472)
    end },
    { "more than 2^30 tiles", function(p, t)
      return le(ceil_div(p.m, t.m) * ceil_div(p.n, t.n) * p.batch, 1073741824)
    end },
  },
  flags = function(target) return { "-Xptxas=-warn-spills" } end,
  maps = function(t, op, types, layout, target)
    local x, y = roles(op, types, layout, t.swap)
    local list = {}
    local function operand(name, id, rows, share, clip)
      if along_k(layout, name) then
        local inner = name == x and t.k or t.k // t.slabs
        return { operand = id, inner = inner, outer = rows // share, swizzle = inner * types[name].bits // 8,
                 clip = clip }
      end
      return { operand = id, inner = 64, outer = t.k // t.slabs // share, swizzle = 128 }
    end
    local function add(name, rows, share, clip)
      if t.gather == 1 or name == "a" and (t.grouped == 2 or clip and op.groups) then return end
      if name == "a" then
        list[#list + 1] = operand("a", "a", rows, share, clip)
        list[#list].gathered = t.collect == 1
        return
      end
      for i = 0, op.products - 1 do list[#list + 1] = operand("b", "b" .. i, rows, share, clip) end
    end
    local share_x, share_y = t.share_x == 1 and t.cluster or 1, t.share_x == 1 and 1 or t.cluster
    add(x, t.x, share_x)
    add(y, t.y, share_y)
    -- E and full inputs, contiguous along Y or along X: rows of up to 128 bytes.
    local function strip(id, type, layout_of_it)
      local along, across = t.strip, 64
      if (layout_of_it == "r") ~= (t.x_is_a == 1) then along, across = 64, t.strip end
      local inner = min(along, 128 // type.bytes)
      local row = inner * type.bytes
      local swizzle = (row == 32 or row == 64 or row == 128) and row or 0
      list[#list + 1] = { operand = id, inner = inner, outer = across, swizzle = swizzle }
    end
    if t.e_depth == 0 then list[#list + 1] = { operand = "e", inner = t.y, outer = 8, optional = true }
    else strip("e", types.e, layout.e) end
    for _, d in ipairs(op.d) do
      if d.kind == "full" then strip(d.name, d.type, d.layout) end
    end
    -- Boxes with the rows that are left where the operand ends: those out of range take longer than others.
    if along_k(layout, x) then add(x, t.x, share_x, "rest") end
    if along_k(layout, y) then add(y, t.y, share_y, "rest") end
    return list
  end,
  realigns = function(t) return true end,
  stages = function(t) return t.stream + (t.late > 0 and 2 or 1) end,
  launch = function(p, t, target)
    local w = sharing.work(groups.bound(p, t), t)
    local late = outputs.launch(p, t)
    -- Where two blocks fit, units that have none take two of the next launch's while others are still busy with this
    -- one's (docs/wgmma-schedule.md).
    return {
      { grid = { w.clusters * t.cluster, 1, 1 }, block = { t.threads }, cluster = { t.cluster },
        lds = max(t.lds_bytes, require "room"(target, 1)), early = true },
      { grid = { select(gt(t.late, 0), late.grid[1], w.items % w.clusters * t.cluster),
                 select(gt(t.late, 0), late.grid[2], t.y // 8), 1 },
        block = { select(gt(t.late, 0), late.block[1], 128 * t.groups) }, early = true },
    }
  end,
  -- Two parts of a tile for each block.
  workspace = function(p, t, target)
    local w = sharing.work(p, t)
    local part = 4 * t.x * t.y * t.products * t.cluster
    return select(all(eq(t.stream, 1), gt(w.items % w.clusters, 0)), 2 * part * w.clusters, 0) + outputs.workspace(p, t)
  end,
  cost = function(problem, t, target)
    local p = groups.spread(problem, t)
    local w = sharing.work(p, t)
    -- Where tiles are cut into runs, as much of them as everybody has, and the sums' way through L2 and back.
    local cut = all(eq(t.stream, 1), gt(w.items % w.clusters, 0))
    local most = select(cut, w.items / w.clusters, ceil_div(w.items, w.clusters)) -- of the busiest block
    local sums = (w.items % w.clusters + w.clusters) * t.cluster * t.x * t.y * t.products * 4
    local through = select(eq(t.gather, 1), 4.7e6, 3.6e6)
    local joined = select(eq(t.stream, 1), 1.83 + select(cut, 2 * sums / through, 0), select(gt(t.late, 0), 2, 0))
    -- Where lines begin, and the step in which they end; full inputs by elements where parts are added.
    local begun = select(eq(t.gather, 1), 2.2, 0)
    local rounds, flops = ceil_div(p.k, t.k), 2 * t.x * t.y * t.k * t.products
    -- What of the rate lasts under the clock that power leaves, beside what a step has of its own: fp8, i8, 16 bits.
    local few_bits, by_block = all(lt(t.bits_b, 8), eq(t.bits_a, 16)), gt(t.unit, 0)
    local apart = any(few_bits, by_block) -- fitted by themselves
    local lasts = select(gt(t.sum_step, 0), select(by_block, 0.87, 0.927),
                         select(all(eq(t.bits_a, 8), eq(t.in_registers, 0)), 0.938, select(few_bits, 0.934, 0.92)))
    local peak = tflops(t, target)
    local rate = peak * lasts * 1e6 / target.units -- of a unit, per microsecond
    -- A step takes the matrix unit's time, or that of its tiles through shared memory: 128 bytes a cycle at 1.75 GHz,
    -- most of what is written beside what is read; X once where two products are one instruction's.
    local at_once = select(all(eq(t.x_is_a, 1), eq(t.blocks, 1)), t.products, 1)
    local read = 2 * t.x * t.slabs * t.products * (64 / at_once + t.y)
    local by_warps = select(eq(t.grouped, 2), 3 * 128 * t.m, 0) -- what they copy takes four times as long
    local lds = (0.868 * (t.slot_bytes + by_warps) + 1.051 * read) / 235e3
    -- What comes from L2, half of it where a cluster shares it, takes energy, and so clock rate: the more, the longer.
    local of_y = 128 * t.slabs * t.y * select(eq(t.x_is_a, 1), t.products, 1)
    local long = most * rounds * flops / rate
    local together = select(eq(t.share_x, 1), t.slot_bytes - of_y, of_y) -- what a cluster's blocks share
    local from_l2 = (t.slot_bytes - together * (t.cluster - 1) / t.cluster) / 600e3 * long / (long + 250)
    -- X's way through registers takes longer than products of few columns hide; a transposed operand's, and what one
    -- warpgroup waits for, too.
    local alone = all(eq(t.wg, 1), eq(t.bits_a, 16), eq(t.in_registers, 0))
    local converted = select(all(eq(t.in_registers, 1), lt(t.y, 192)), select(eq(t.wg, 1), 1.62, 1.23),
                             select(alone, 1.05, select(all(eq(t.bits_a, 8), eq(t.e_depth, 0)), 1.2, 1)))
    -- Bytes that become 16 bits, fitted by themselves: longer products hide more of it; one warpgroup alone is busy
    -- with that for 0.215 us of a step.
    local widens = all(eq(t.in_registers, 1), eq(t.bits_b, 8), eq(t.bits_a, 16), eq(t.products, 1), eq(t.gather, 0),
                       not_(by_block))
    local hidden = select(eq(t.wg, 1), 1.08 + max(240 - t.y, 0) / 750, 1.036 + max(214 - t.y, 0) / 464)
                   + select(gt(t.cluster, 1), select(eq(t.wg, 1), 0.04, 0), select(eq(t.wg, 1), 0, -0.03))
    converted = select(widens, hidden, converted) * (1 + 0.01 * t.turned)
    -- Weights of 4 bits: 64 by 64 of them take their product's time, or that of widening, which is hidden in part, and
    -- better by more warps.
    local panel = 2 * 64 * 64 * t.y / rate
    local four = select(eq(t.cluster, 2), 0.99, select(le(p.m, t.m), 0.965, 1.04))
    local pairs_of_two = select(all(gt(t.products, 1), lt(t.y, 256)), 1.05, 1.19)
    local warps = select(eq(t.wg, 4), four, select(eq(t.wg, 3), select(eq(t.cluster, 2), 1.06, 1), pairs_of_two))
    local widened = t.x * t.products / 64 * t.slabs * max(panel, (0.075 + 0.031 / t.slabs + 0.49 * panel) * warps)
    local bound = max(select(few_bits, widened, flops / rate), lds)
    -- What wgmma takes of Y at once is better a multiple of 128.
    bound = bound * select(all(eq(t.bits_a, 16), eq(t.in_registers, 0), gt(t.y * at_once % 128, 0)), 1.01, 1)
    -- Their values, which two warps bring, a slot's at a time.
    bound = max(bound, select(gt(t.brought, 0), 0.3 + 0.056 * t.brought, 0))
    -- And what a ring asks for comes after 0.9 us.
    local many, one = ge(t.cluster, 4), eq(t.wg, 1)
    -- Wide products take the clock down a little.
    local columns = min(t.products * t.blocks * t.y / 256, 1)
    local wide = select(all(eq(t.in_registers, 0), not_(apart)), 0.96 + 0.04 * columns, 1)
    local step = max(wide * bound * select(few_bits, 1, converted) + from_l2 + select(apart, 0, 0.007), 0.9 / t.depth)
    step = max(step, select(all(widens, eq(t.wg, 1)), 0.215, 0))
    -- 4 bits that become bytes: 64 rows of a step take warps so long, however few columns there are.
    step = max(step, select(all(lt(t.bits_b, 8), eq(t.bits_a, 8)), 0.145 * t.x / 64 * t.products, 0))
    -- One warpgroup waits less where four blocks and more share Y, least for two products with B across K; where two
    -- share it, for one another.
    local pair = all(eq(t.cluster, 2), one, eq(t.in_registers, 0))
    local by_fours = select(gt(t.turned * t.products, 1), 0.85, select(eq(t.bits_a, 8), 0.98, 0.95))
    local of_four = all(many, widens) -- which wait less for memory than two: each has a quarter of Y brought
    step = step * select(all(many, one), by_fours, select(pair, 0.98, select(of_four, 0.972, 1)))
    -- Sums over blocks: what adds them up is only in part beside products, three warpgroups' and large units' the most.
    local scaled = all(by_block, eq(t.in_registers, 0))
    step = step + select(by_block, 0.4 * t.x * t.y * t.products / 224e3 + select(eq(t.wg, 1), 0.16, 0.04), 0)
    step = select(scaled, 0.89 * flops / rate + 0.13 + select(eq(t.wg, 1), 0.12, 0) - select(eq(t.wg, 3), 0.02, 0)
                          - select(gt(t.unit, 128), 0.02, 0) + select(lt(t.depth, 5), 0.02, 0), step)
    step = max(step, select(eq(t.gather, 1), gathered(p, t), 0))
    -- L2's lines; copies begin at lines.
    local function touched(a, bytes)
      return require "lines"(select(eq(t.x_is_a, a), p.align_a, p.align_b), bytes, target)
    end
    local lines_x, lines_y = touched(1, t.slot_bytes - of_y), touched(0, of_y)
    local function touched_by(n) return select(eq(t.share_x, 1), lines_x / n + lines_y, lines_x + lines_y / n) end
    step = max(step, touched_by(t.cluster))
    -- Lines of E that no map takes; whole rows of them are stored by words, and slower where those are of several.
    local line = select(eq(t.e_along_y, t.x_is_a), p.n, p.m) * t.bytes_e
    local align_e = select(eq(line % 16, 0), p.align_e, 1)
    local by_words = select(all(eq(t.e_depth, 0), lt(align_e, 16), lt(t.bytes_e, 4)), 0.9 * t.blocks, 0)
    -- Functions of the epilogue, as gelu, add to what leaves.
    local out = t.x * t.y * t.products * (1 + t.full_d) / 19.4e3
                + 0.123 * t.blocks * t.y / t.strip + t.curves * t.x * t.y / 34e3
    local whole_rows = select(eq(t.e_depth, 0), 1, 0)
    local ends = select(scaled, 0.54 + 0.22 * t.blocks * t.y / t.strip * (1 + t.full_d), 0.2 + whole_rows + out)
                 + by_words
    -- Where warpgroups take tiles in turn, one finishes its own, for which it takes twice as long, beside the other's;
    -- of bytes the matrix unit waits less then.
    local in_turn = eq(t.pingpong, 1)
    step = step * select(all(in_turn, eq(t.bits_a, 8)), select(gt(w.items, w.units), 0.88, 0.94), 1)
    local tile = rounds * step + select(in_turn, max(ends - rounds * step / 2, 0), ends)
    -- Tiles that two blocks share: half of K, half as many blocks for what comes by multicast, and the sums' way to the
    -- other block.
    local mates = max(t.cluster // 2, 1)
    local own = select(few_bits, 1.08 * bound, 1.2 * (0.41 * flops / rate + 0.6 * bound))
                + (t.slot_bytes - together * (mates - 1) / mates) / 2280e3
    local of_bytes = select(eq(t.wg, 1), 0.7 + 45 / t.y, 0.75 + 30 / t.y)
    own = own * select(widens, of_bytes, select(many, 0.85, 1))
    own = max(own, touched_by(mates))
    local met = select(widens, select(eq(t.wg, 1), 2.2, 3.7), select(by_block, 1.06, select(few_bits, 2.4, 1.7)))
    local half = ceil_div(rounds, 2) * select(scaled, 1.2 * step, own) + met + select(scaled, ends, out) / 2
    -- Clusters without an item of the last wave have up to two such tiles meanwhile.
    local idle = w.units - w.beyond
    local meanwhile = select(gt(w.halved, idle), 2, min(w.halved, 1)) * half
    local whole = w.items // w.units * tile + max(min(w.beyond, 1) * tile, meanwhile)
    -- Runs begin anywhere along K: neighbours do not read what they share at the same time.
    local runs = most * tile * select(all(cut, eq(t.gather, 0)), 1.06, 1)
    local busy = select(eq(t.stream, 1), runs, whole + ceil_div(max(w.halved - 2 * idle, 0), w.units) * half)
    busy = busy + select(in_turn, 2 * ends, 0)
    -- The last tiles of an odd number come when L2 no longer has what they share with the others.
    local all_a, all_b = p.m * t.bits_a * p.batch * p.k / 8, p.n * t.bits_b * t.products * p.batch * p.k / 8
    local shared = select(eq(t.x_is_a, t.share_x), all_a, all_b)
    local again = select(all(gt(w.odd, 0), gt(w.items, 0), gt(shared, 40e6)), shared, 0)
    -- Power lets the clock run higher where there is an end to it soon, and where units have nothing to do.
    local share = min((w.items + w.halved / 2) * tile / (busy * w.units), 1)
    local left = select(apart, 0.097, 0.16 + 0.5 * long / (long + 250)) -- power that idle units leave to the others
    busy = busy * (1 - 0.214 * 25 / (busy + 25)) * (1 - left * (1 - share))
    local bytes = all_a + all_b + p.batch * p.m * p.n * (t.bytes_e + t.bytes_d)
    -- The busier memory is, the longer products wait for it.
    local gbps = require "memory"(p, target)
    -- Few blocks do not have all of it on their way; one warpgroup without a neighbour begins sooner.
    local small = all(one, eq(t.cluster, 1))
    local by_halves = select(apart, 1.02, select(all(gt(t.products, 1), eq(t.cluster, 2)), 1.9, 1.2))
    local reach = select(gt(w.halved, 0), by_halves, 1.2) * w.at_work * t.cluster / p.units
    local row = select(eq(t.e_depth, 0), t.bytes_e * t.y, min(select(eq(t.e_along_y, 1), t.strip, 64) * t.bytes_e, 128))
    local share_of = select(small, 0.8e3, select(many, select(one, 0.88e3, 0.94e3), 0.91e3))
    -- Lines of Y that blocks ask for side by side take more than their own time: blocks without a cluster, and those
    -- that share a tile's K.  A pair of single warpgroups that has all rows takes a little longer.
    local halves = w.halved / max(w.items + w.halved, 1)
    local by_pairs = select(eq(t.cluster, 2), 0.3 * halves, 0)
    local several = gt(select(eq(t.x_is_a, 1), p.m, p.n), t.x)
    local apiece = any(eq(t.cluster, 1), eq(t.share_x, 1)) -- Y is nobody else's
    local twice = select(all(eq(t.in_registers, 0), several),
                         select(apiece, 0.4, by_pairs) * select(eq(t.x_is_a, 1), all_b, all_a), 0)
    local late = select(all(one, eq(t.cluster, 2), not_(several)), 1.04, 1)
    local moved = late * (bytes + again + twice) / (gbps * share_of * min(reach, 1))
    local memory = max(moved, bytes / (gbps * 1e3) + written(p, t, row))
    local longer, ratio = max(busy, memory), min(busy, memory) / max(busy, memory)
    local waits = 0.21 * longer * ratio * ratio * ratio * ratio
    -- A tile's first step waits for memory; small tiles keep few bytes on their way.
    local by_map = eq(t.gather, 0)
    local copies = require "realigned"(p, {
      { all(by_map, lt(t.grouped, 2)), select(eq(t.collect, 1), 1, p.align_a), p.m * p.k * t.bits_a / 8 },
      { by_map, p.align_b, p.n * p.k * t.bits_b / 8 * t.products },
      { by_map, p.align_d, p.m * p.n * t.bytes_d },
      { gt(t.e_depth, 0), align_e,
        p.m * p.n * t.bytes_e + 240 * select(eq(t.e_along_y, t.x_is_a), p.m, p.n), true } }) -- lines have two ends
    local launch = target.launch_us + select(small, -0.9, select(one, select(many, -0.3, -0.2), 0.15))
    return launch + begun + joined + longer + waits + copies, {
      { "launching", launch + begun },
      { "tiles of the busiest unit", busy },
      { "moving bytes", memory },
      { "waiting for one another", waits },
      { "the second stage", joined },
      { "copies at multiples of 16 bytes", copies },
      { "tiles", w.items * t.cluster + w.halved * mates, "count" },
      { "tiles whose K two blocks share", w.halved * mates, "count" },
      { "rounds of the device", (w.items + w.halved / 2) / max(p.units // t.cluster, 1), "count" },
      { "steps along K", rounds, "count" },
      { "MB to and from memory", (bytes + again) / 1e6, "count" },
      { "arithmetic", 2 * p.batch * p.m * p.n * p.k * t.products / (peak * 1e6), "least" },
      { "memory", bytes / (gbps * 1e3), "least" },
    }
  end,
}
