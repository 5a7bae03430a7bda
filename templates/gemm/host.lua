-- SPDX-License-Identifier: MIT
-- Blocked, packed matrix product for CPUs; docs/host-schedule.md explains loops and blocks.
-- Words: columns run along E's contiguous dimension (N of a row-major E), rows along the other one.
local MIN_ROWS = 192  -- of a slab, however long k is
local SLAB = 8388608  -- units of 4 bytes that a packed slab may have before it is cut
local MIN_PANEL, MAX_PANEL = 4, 12 -- rows of a panel, over all instruction sets
local MAX_COLUMNS = 32             -- columns of a tile
local FEW = 16                     -- rows that are worth no packing of the other operand

local function columns(p, t) return select(eq(t.e_row, 1), p.n, p.m) end
local function rows(p, t) return select(eq(t.e_row, 1), p.m, p.n) end

-- Units that cover k, in blocks that are each rounded up to 16 elements; at least 2 i8 make a unit.
local function units(k, t) return ceil_div(k, t.per_unit) + 16 * ceil_div(max(k, 1), t.kc) end

return schedule {
  family = "gemm",
  title = "packed, register-blocked kernel for CPUs: any size, stride and alignment",
  supports = function(target, op, types, layout)
    return target.vendor == "host", "runs on the host only"
  end,
  tunables = {
    { "mc", values = { 256, 512, 1024, 2048 }, doc = "most rows that a thread takes at a time" },
    { "nc", values = { 64, 128, 256, 512 }, doc = "columns that a thread packs at a time" },
    { "kc", values = { 128, 256, 512, 1024, 2048 }, doc = "length along k of a packed panel" },
  },
  derived = { "e_row", "per_unit", "x_count", "y_count", "x_bytes", "min_rows", "slab", "few" },
  derive = function(t, op, types, layout, target)
    local i8 = types.acc.name == "i32"
    t.e_row = layout.e == "r" and 1 or 0
    t.per_unit = i8 and 2 or 1
    t.x_count = t.e_row == 1 and op.products or 1 -- matrices along columns, along rows
    t.y_count = t.e_row == 1 and 1 or op.products
    t.x_bytes = t.x_count * t.nc * t.kc * 4 // t.per_unit
    t.min_rows, t.slab, t.few = MIN_ROWS, SLAB, FEW
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
    local few = le(rows(p, t), t.few)
    local slab = min(rows(p, t), max(t.min_rows, t.slab // max(p.k, 256)))
    local m = min(slab, t.mc) + 2 * MAX_PANEL
    local n = min(columns(p, t), t.nc) + MAX_COLUMNS
    local blocks = ceil_div(max(p.k, 1), t.kc)
    local panels = 48 * ceil_div(slab, MIN_PANEL) * blocks
    local y = t.y_count * (units(p.k, t) * (slab + MAX_PANEL) + panels)
    local row = ceil_div(p.k, t.per_unit) + 32 -- of few rows, which are a little apart; elements of a strided one
    local rows_y = (t.y_count * slab + 1) * (row + select(gt(row, 1024), 1024, 0)) + p.k + 16
    local x = t.x_count * n * units(min(p.k, t.kc), t)
    local sums = select(gt(p.k, t.kc), (t.x_count * t.y_count) * n * m, 0)
    local own = any(few, all(gt(p.batch, 1), le(slab * p.k, t.slab // 4)))
    local slabs = select(own, p.units, 1) -- a thread packs for itself: few rows, batches
    return 128 + 4 * (slabs * max(y, select(few, rows_y, 0)) + p.units * (x + sums + 16))
  end,
  cost = function(p, t, target)
    local threads = max(p.units, 1)
    local products = t.x_count * t.y_count * p.batch
    local work = p.m * p.n * p.k * products
    local tflops = select(eq(t.per_unit, 2), target.tflops.i8, target.tflops.f32)
    local blocks = ceil_div(max(p.k, 1), t.kc)
    local elements = p.m * ceil_div(max(p.n, 1), t.nc * 4) + p.n * ceil_div(max(p.m, 1), t.mc)
    local sums = p.m * p.n * (blocks - 1) * products
    local bytes = 4 * (elements * p.k * p.batch + sums) + 2 * p.m * p.n * p.batch
    local us = 2 * work / (tflops * 1e6) + bytes / (target.gbps * 1e3)
    return target.launch_us + us / threads
  end,
}
