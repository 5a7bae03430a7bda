-- SPDX-License-Identifier: MIT
-- Blocked, packed matrix product for CPUs; docs/host-schedule.md explains loops and blocks.
-- Words: columns run along E's contiguous dimension (N of a row-major E), rows along the other one.
local outputs, grouped = require "outputs", require "grouped"

local MIN_ROWS = 192  -- of a slab, however long k is
local SLAB = 8388608  -- units of 4 bytes that a packed slab may have before it is cut
local MIN_PANEL, MAX_PANEL = 4, 12 -- rows of a panel, over all instruction sets
local MAX_COLUMNS = 32             -- columns of a tile
local FEW = 16                     -- rows that are worth no packing of the other operand

-- Of the cost: shares of the rate of products that few rows and tiles reach; how much of the shorter one of reading and
-- products isn't hidden behind the other; microseconds before all that; picoseconds of an element of E, and of one that
-- a_op or b_op is for, is converted for few rows, or packed, by the bits of its type and whether it is fp8.
local FEW_SHARE, PACKED_SHARE, OVERLAP, START, EPILOGUE, OP = 0.75, 0.98, 0.3, 5, 300, 200
local CONVERT = { [32] = 0, [16] = 40, [8] = 20, [4] = 30, f8 = 80 }
local PACK = { [32] = 120, [16] = 150, [8] = 60, [4] = 80, f8 = 350 }
local function f8(type) return type.name:sub(1, 2) == "f8" end
local function picoseconds(of, type, op) return of[f8(type) and "f8" or type.bits] + (op and OP or 0) end

local function columns(p, t) return select(eq(t.e_row, 1), p.n, p.m) end
local function rows(p, t) return select(eq(t.e_row, 1), p.m, p.n) end

-- Parts of k that are packed together: of kc elements, or where sums over blocks are scaled, of those.
local function parts(k, t)
  local scaled = ceil_div(max(k, 1), max(t.deep, 1)) * ceil_div(min(t.deep, max(k, 1)), t.kc)
  return select(eq(t.deep, 0), ceil_div(max(k, 1), t.kc), scaled)
end

-- Units that cover k, in parts that are each rounded up to 16 elements; at least 2 i8 make a unit.  The last block that
-- is scaled has room for a whole one.
local function units(k, t) return ceil_div(k + min(t.deep, k), t.per_unit) + 16 * parts(k, t) end

return schedule {
  family = "gemm",
  title = "packed, register-blocked kernel for CPUs: any size, stride and alignment",
  supports = function(target, op, types, layout)
    if target.vendor ~= "host" then return nil, "runs on the host only" end
    if op.block and op.block.deep % 2 == 1 and (types.a.bits < 8 or types.b.bits < 8) then
      return nil, "blocks of an odd length along K end within a byte of elements of 4 bits"
    end
    if op.groups and types.a.bits < 8 and layout.a == "c" then
      return nil, "a group's rows begin within a byte of A's columns of 4 bits"
    end
    for _, d in ipairs(op.groups and not op.gather and op.d or {}) do
      if d.kind == "per_block" and d.of == "a" and d.layout == "c" and d.type.bits < 8 then
        return nil, ("a group's rows begin within a byte of columns of %s, of 4 bits"):format(d.name)
      end
    end
    return true
  end,
  tunables = {
    { "mc", values = { 256, 512, 1024, 2048 }, doc = "most rows that a thread takes at a time" },
    { "nc", values = { 64, 128, 256, 512 }, doc = "columns that a thread packs at a time" },
    { "kc", values = { 128, 256, 512, 1024, 2048 }, doc = "length along k of a packed panel" },
  },
  derived = { "e_row", "per_unit", "x_count", "y_count", "x_bytes", "min_rows", "slab", "few", "deep", "x_bits",
              "of_rows", "of_cols", "block", "outputs",
              "x_convert", "x_pack", "y_pack", "groups", "gathered" },
  derive = function(t, op, types, layout, target)
    local i8 = types.acc.name == "i32"
    t.e_row = (layout.e == "r" or op.graph) and 1 or 0
    -- Outputs beside E: reductions of rows and of columns, the largest block.
    local O = op.graph and outputs(op) or { rows = {}, cols = {}, largest = 1 }
    t.of_rows, t.of_cols, t.block, t.outputs = #O.rows, #O.cols, O.largest, op.graph and 1 or 0
    t.per_unit = i8 and 2 or 1
    t.x_count = t.e_row == 1 and op.products or 1 -- matrices along columns, along rows
    t.y_count = t.e_row == 1 and 1 or op.products
    local x, y, x_op, y_op = types.b, types.a, op.has_b_op, op.has_a_op
    if t.e_row == 0 then x, y, x_op, y_op = y, x, y_op, x_op end
    t.x_bits, t.x_convert = x.bits, picoseconds(CONVERT, x, x_op)
    t.x_pack, t.y_pack = picoseconds(PACK, x, x_op), picoseconds(PACK, y, y_op)
    t.x_bytes = t.x_count * t.nc * t.kc * 4 // t.per_unit
    t.min_rows, t.slab = MIN_ROWS, SLAB
    t.deep = op.block and op.block.deep or 0 -- of blocks whose sums are scaled
    t.groups = op.groups and 1 or 0
    t.gathered = op.gather and types.a.bits or 0 -- a group's rows of A are brought together
    -- What scales, or takes inputs as it packs, packs few rows as any.
    t.few = (op.graph or op.block or #op.a_inputs + #op.b_inputs > 0 or not op.b_op_alike) and 0 or FEW
  end,
  rules = {
    { "packed columns of {x_bytes} bytes overflow a second-level cache of {lds} bytes",
      function(t, op, types, layout, target) return t.x_bytes <= target.lds end },
    { "a packed panel of kc = {kc} overflows the first-level cache",
      function(t) return t.y_count * t.kc * MAX_PANEL * 4 // t.per_unit <= 49152 end },
  },
  defaults = function(target, op, types, layout)
    local i8 = types.acc.name == "i32"
    local pair = op.products == 2
    local kc = (i8 and 2048 or 512) // (pair and layout.e == "c" and 2 or 1)
    return { { mc = 1024, nc = pair and layout.e == "r" and 128 or 256, kc = kc } }
  end,
  name = function(t) return ("%dx%dx%d"):format(t.mc, t.nc, t.kc) end,
  launch = function(p, t, target)
    return { { grid = { 1, 1, 1 }, block = { 1 } } }
  end,
  -- What host_cut in templates/device/host_gemm.h lays out, bounded over the instruction sets.
  workspace = function(p, t, target)
    local few = any(le(rows(p, t), t.few), gt(t.groups, 0)) -- any group may have few rows, or all
    local slab = min(rows(p, t), max(t.min_rows, t.slab // max(p.k, 256)))
    local m = min(slab, t.mc) + 2 * MAX_PANEL
    local n = min(columns(p, t), t.nc) + max(MAX_COLUMNS, t.block)
    local blocks = parts(p.k, t)
    local panels = 48 * ceil_div(slab, MIN_PANEL) * blocks
    local y = t.y_count * (units(p.k, t) * (slab + MAX_PANEL) + panels)
    local row = ceil_div(p.k, t.per_unit) + 32 -- of few rows, which are a little apart; elements of a strided one
    local rows_y = (t.y_count * slab + 1) * (row + select(gt(row, 1024), 1024, 0)) + p.k + 16
    local x = t.x_count * n * units(min(p.k, t.kc), t)
    local sums = select(any(gt(p.k, t.kc), gt(t.deep, 0), gt(t.outputs, 0)), (t.x_count * t.y_count) * n * m, 0)
    local own = any(few, all(gt(p.batch, 1), le(slab * p.k, t.slab // 4)))
    local slabs = select(own, p.units, 1) -- a thread packs for itself: few rows, batches
    local tasks = ceil_div(rows(p, t), max(slab, 1)) * (slab // 48 + slab // t.mc + 2)
    local reduced = p.batch * (t.of_rows * p.m * ceil_div(p.n, t.nc) + t.of_cols * p.n * tasks)
    local brought = select(gt(t.gathered, 0), p.m * p.k * t.gathered // 8 + p.m + 128, 0)
    return 128 + brought + 4 * (reduced + slabs * max(y, select(few, rows_y, 0)) + p.units * (x + sums + 16))
  end,
  -- A thread's rates are this machine's, from its clock and instruction set; the rest (loads, edges, conversions) was
  -- fitted on one machine: docs/benchmarks/host.md.
  cost = function(problem, t, target)
    local p = grouped.spread(problem, gt(t.groups, 0)) -- a product for each group
    local m, n = rows(p, t), columns(p, t)
    local products = t.x_count * t.y_count * p.batch
    local known = select(gt(p.gflops, 0), p.gflops, 1000 * target.tflops.f32)
    local rate = 1000 * select(eq(t.per_unit, 1), known, select(gt(p.gops, 0), p.gops, 1000 * target.tflops.i8))
    local gbps, ps = 1000 * target.gbps, 1e6 -- of a microsecond
    local threads = min(max(p.units, 1), 1 + m * n * p.k * products // 1048576)
    local x, y = n * p.k * t.x_count * p.batch, m * p.k * t.y_count * p.batch
    -- Few rows: X is read, or products are computed, whichever takes longer; it isn't hidden wholly.
    local sums = m * n * products
    local reading = x * t.x_bits / (8 * gbps)
    local few_work = 2 * sums * p.k / (FEW_SHARE * rate) + x * t.x_convert / ps
    local few = max(reading, few_work) + OVERLAP * min(reading, few_work) + y * threads * t.y_pack / ps
    -- Packed: whole tiles, at nearly the full rate, and both operands packed; X again for each part of the rows.
    local work = 2 * max(ceil_div(m, 4) * 4, 1) * ceil_div(n, 16) * 16 * p.k * products / (PACKED_SHARE * rate)
    local again = ceil_div(max(m, 1), t.mc)
    local packing = (x * again * t.x_pack + y * t.y_pack) / ps + x * again * t.x_bits / (8 * gbps)
    local blocks = parts(p.k, t) + min(t.deep, 1)
    local partial = 8 * sums * (blocks - 1) / (4 * gbps)
    local brought = 2 * problem.m * p.k * t.gathered / (8 * gbps)
    local us = select(le(m, t.few), few, work + packing + partial) + sums * EPILOGUE / ps + brought
    local is_few = le(m, t.few)
    return target.launch_us + START + us / threads, {
      { "launching", target.launch_us + START },
      { "reading the wider operand", select(is_few, reading, 0) / threads },
      { "multiplying", select(is_few, few_work, work) / threads },
      { "packing", (select(is_few, y * threads * t.y_pack / ps, packing + partial) + brought) / threads },
      { "the epilogue", sums * EPILOGUE / ps / threads },
      { "threads", threads, "count" },
    }
  end,
}
