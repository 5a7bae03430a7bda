-- SPDX-License-Identifier: MIT
-- Matrix product on Hopper's matrix unit (wgmma): persistent blocks, of which one warpgroup brings tiles of A, B and the full extra
-- inputs by tensor map and the others multiply; blocks of a cluster share a tile; E leaves by tensor map.
-- X is the operand whose rows a warpgroup multiplies 64 at a time, Y the other: A and B where E's rows are contiguous, B and A where its columns are.
local function steps(lo, hi, by)
  local values = {}
  for x = lo, hi, by do values[#values + 1] = x end
  return values
end

local function roles(layout)
  if layout.e == "r" then return "a", "b" end
  return "b", "a"
end

-- What follows wgmma's shape in its name, by the types of X and Y.
local function instruction(target, types, layout, tf32)
  if tf32 == 1 then return target.wgmma["tf32 tf32"] end
  local x, y = roles(layout)
  return target.wgmma[types["mul_" .. x].name .. " " .. types["mul_" .. y].name]
end

local function along_k(layout, operand) return layout[operand] == (operand == "a" and "r" or "c") end

-- Shared memory other than the ring: strips of E and of full inputs, vectors of f32 (two sets), barriers.
local function beside_ring(t, op, types, layout)
  t.strip = 128 // types.e.bytes -- columns of Y that leave at once
  while t.strip > 16 and t.y % t.strip ~= 0 do t.strip = t.strip // 2 end
  t.e_strip_bytes = 64 * t.strip * types.e.bytes
  t.d_strip_bytes, t.vector, t.full_d, t.bytes_d = 0, 0, 0, 0
  for _, d in ipairs(op.d) do
    if d.kind == "full" then
      t.full_d, t.bytes_d = t.full_d + 1, t.bytes_d + d.type.bytes
      t.d_strip_bytes = t.d_strip_bytes + 64 * t.strip * d.type.bytes
    elseif d.kind == "per_tensor" then
      t.vector = t.vector + 4
    else
      t.vector = t.vector + (d.kind == (layout.e == "r" and "per_row" or "per_col") and t.x or t.y)
    end
  end
  t.beside_ring = t.wg * (t.d_depth * t.d_strip_bytes + t.e_depth * t.e_strip_bytes) + 8 * t.vector
                  + 8 * (2 * t.depth + 4 + 2 * t.wg * t.d_depth)
end

return schedule {
  family = "gemm",
  title = "Hopper's matrix unit: warp-specialised, persistent, tiles by TMA",
  supports = function(target, op, types, layout)
    if not target.wgmma then return nil, "needs Hopper's matrix unit (sm_90a)" end
    if op.has_a_op or op.has_b_op or types.a.name ~= types.mul_a.name or types.b.name ~= types.mul_b.name then
      return nil, "A and B go from memory to the matrix unit as they are: no a_op, no b_op, no conversion"
    end
    local f32 = types.a.name == "f32" and types.b.name == "f32"
    if not f32 and not instruction(target, types, layout) then
      return nil, "Hopper's matrix unit does not multiply " .. types.a.name .. " by " .. types.b.name
    end
    if (types.acc.name == "i32") ~= (types.a.name == "i8") then return nil, "i8 is summed in i32 here, everything else in f32" end
    for _, x in ipairs { "a", "b" } do
      if types[x].bytes ~= 2 and not along_k(layout, x) then
        return nil, ("%s of %s must be contiguous along K: only 16-bit types may be so along the other dimension"):format(x:upper(), types[x].name)
      end
    end
    return true
  end,
  tunables = {
    { "m", values = steps(16, 256, 16), doc = "rows of the block's tile" },
    { "n", values = steps(16, 256, 16), doc = "columns of the block's tile" },
    { "wg", values = { 1, 2 }, doc = "warpgroups that multiply" },
    { "depth", values = steps(2, 8, 1), doc = "tiles of A and B in the ring" },
    { "cluster", values = { 1, 2 }, doc = "blocks that load one operand's tile together" },
    { "d_depth", values = { 1, 2, 3, 4 }, doc = "strips of the full extra inputs that each warpgroup has in shared memory" },
    { "e_depth", values = { 1, 2, 4 }, doc = "strips of E that each warpgroup has in shared memory" },
    { "group", values = { 1, 2, 4, 8, 16, 32 }, doc = "tiles, or pairs of them in clusters, that neighbouring blocks share the other operand for" },
    { "promote", values = { 0, 1, 2, 4, 8 }, doc = "fp8: tiles of K after which sums, of 14 bits in the matrix unit, go to f32; 0: never" },
    { "tf32", values = { 0, 1 }, doc = "1: f32 is multiplied as tf32, of 10 bits of mantissa: only where a sweep asks for it" },
  },
  derived = { "k", "x", "y", "row_e", "threads", "blocks", "products", "sums", "strip", "slot_bytes", "d_strip_bytes", "e_strip_bytes",
              "vector", "beside_ring", "lds_bytes", "full_d", "bytes_a", "bytes_b", "bytes_e", "bytes_d", "rate", "sum_bits" },
  derive = function(t, op, types, layout, target)
    t.k = 128 // types.a.bytes
    t.row_e = layout.e == "r" and 1 or 0
    t.x, t.y = t.m, t.n
    if t.row_e == 0 then t.x, t.y = t.n, t.m end
    t.products = op.products
    t.threads = 128 * (t.wg + 1)
    t.blocks = t.x // (64 * t.wg)           -- of 64 rows, per warpgroup
    t.sums = t.products * t.blocks * t.y // 2
    t.slot_bytes = 128 * (t.row_e == 1 and t.x + t.products * t.y or t.products * t.x + t.y)
    beside_ring(t, op, types, layout)
    t.lds_bytes = t.depth * t.slot_bytes + t.beside_ring
    t.bytes_a, t.bytes_b, t.bytes_e = types.a.bytes, types.b.bytes, types.e.bytes
    t.rate = types.a.name == "f32" and target.tflops.f16 // 2 or target.tflops[types.a.name] // 1
    t.sum_bits = t.tf32 == 1 and 11 or types.a.bytes == 1 and types.acc.name == "f32" and 13 or 24
  end,
  rules = {
    { "the tile's side of 64-row blocks is no multiple of 64 times {wg} warpgroups", function(t) return t.blocks > 0 and t.blocks * 64 * t.wg == t.x end },
    { "{sums} sums per thread > 128", function(t) return t.sums * (t.promote > 0 and 2 or 1) <= (t.promote > 0 and 160 or 128) end },
    { "f32 is multiplied as tf32 or not at all: tf32 = 1", function(t, op, types) return (types.a.name == "f32") == (t.tf32 == 1) end },
    { "promote is for fp8", function(t, op, types) return t.promote == 0 or types.a.bytes == 1 and types.acc.name == "f32" end },
    { "an operand that is not contiguous along K needs a tile of a multiple of 64", function(t, op, types, layout)
      return (along_k(layout, "a") or t.m % 64 == 0) and (along_k(layout, "b") or t.n % 64 == 0)
    end },
    { "d_depth without a full extra input", function(t) return t.full_d > 0 or t.d_depth == 1 end },
    { "{lds_bytes} bytes of shared memory > {lds}", function(t, op, types, layout, target) return t.lds_bytes <= target.lds end },
  },
  defaults = function(target, op, types, layout)
    -- x by y for both products together, with as deep a ring as shared memory leaves.
    local function tile(x, y, depth)
      local t = { x = x, y = y, wg = 2, depth = depth, cluster = 2, d_depth = 2, e_depth = 2, group = 8, promote = 0,
                  tf32 = 0 } -- f32 needs tf32 = 1, which changes numerics: only where a sweep asks for it
      t.y = y // op.products
      t.m, t.n = t.x, t.y
      if layout.e == "c" then t.m, t.n = t.y, t.x end
      local slot = 128 * (layout.e == "r" and t.x + op.products * t.y or op.products * t.x + t.y)
      beside_ring(t, op, types, layout)
      if t.full_d == 0 then t.d_depth = 1 end
      if target.lds - t.beside_ring < 3 * slot then t.d_depth, t.e_depth = 1, 1 end
      beside_ring(t, op, types, layout)
      t.depth = max(min(depth, (target.lds - t.beside_ring) // slot), 2)
      local set = {}
      for _, name in ipairs { "m", "n", "wg", "depth", "cluster", "d_depth", "e_depth", "group", "promote", "tf32" } do set[name] = t[name] end
      return set
    end
    return { tile(128, 256, 4), tile(128, 128, 6), tile(128, 64, 8) }
  end,
  name = function(t)
    local text = ("%dx%dx%d_d%d_c%d"):format(t.m, t.n, t.k, t.depth, t.cluster)
    if t.wg ~= 2 then text = text .. "_w" .. t.wg end
    if t.full_d > 0 and t.d_depth ~= 2 then text = text .. "_x" .. t.d_depth end
    if t.e_depth ~= 2 then text = text .. "_e" .. t.e_depth end
    if t.group ~= 8 then text = text .. "_g" .. t.group end
    if t.promote > 0 then text = text .. "_p" .. t.promote end
    if t.tf32 == 1 then text = text .. "_tf32" end
    return text
  end,
  problem_rules = {
    { "A's address, pitch or batch stride is no multiple of 16 bytes", function(p, t) return ge(p.align_a, 16) end },
    { "B's address, pitch or batch stride is no multiple of 16 bytes", function(p, t) return ge(p.align_b, 16) end },
    { "E's address, pitch or batch stride is no multiple of 16 bytes", function(p, t) return ge(p.align_e, 16) end },
    { "a full extra input's address, pitch or batch stride is no multiple of 16 bytes", function(p, t) return any(eq(t.full_d, 0), ge(p.align_d, 16)) end },
    { "M or N is above 2^30", function(p, t) return le(max(p.m, p.n), 1073741824) end },
    { "a leading dimension is above 2^37 elements", function(p, t) return le(max(max(p.lda, p.ldb), p.lde), 137438953472) end },
    { "more than 2^30 tiles", function(p, t) return le(ceil_div(p.m, t.m) * ceil_div(p.n, t.n) * p.batch, 1073741824) end },
  },
  flags = function(target) return { "-Xptxas=-warn-spills" } end,
  maps = function(t, op, types, layout, target)
    local x, y = roles(layout)
    local list = {}
    local function operand(name, id, rows, share)
      if along_k(layout, name) then return { operand = id, inner = t.k, outer = rows // share, swizzle = 128 } end
      return { operand = id, inner = 64, outer = t.k // share, swizzle = 128 }
    end
    local function add(name, rows, share)
      if name == "a" then list[#list + 1] = operand("a", "a", rows, share) return end
      for i = 0, op.products - 1 do list[#list + 1] = operand("b", "b" .. i, rows, share) end
    end
    add(x, t.x, 1)
    add(y, t.y, t.cluster)
    list[#list + 1] = { operand = "e", inner = t.strip, outer = 64, swizzle = t.strip * types.e.bytes >= 32 and t.strip * types.e.bytes or 0 }
    for _, d in ipairs(op.d) do
      if d.kind == "full" then
        -- Along Y like E, or along X: rows of up to 128 bytes.
        local along, across = t.strip, 64
        if d.layout ~= layout.e then along, across = 64, t.strip end
        local inner = min(along, 128 // d.type.bytes)
        local bytes = inner * d.type.bytes
        list[#list + 1] = { operand = d.name, inner = inner, outer = across, swizzle = bytes >= 32 and bytes or 0 }
      end
    end
    return list
  end,
  launch = function(p, t, target)
    local along_x = select(eq(t.row_e, 1), p.m, p.n)
    local along_y = select(eq(t.row_e, 1), p.n, p.m)
    local items = ceil_div(along_x, t.x * t.cluster) * ceil_div(along_y, t.y) * p.batch
    local clusters = max(min(items, max(p.units // t.cluster, 1)), 1)
    return { { grid = { clusters * t.cluster, 1, 1 }, block = { t.threads }, cluster = { t.cluster }, lds = t.lds_bytes } }
  end,
  workspace = function(p, t, target) return 0 end,
  cost = function(p, t, target)
    local along_x = select(eq(t.row_e, 1), p.m, p.n)
    local along_y = select(eq(t.row_e, 1), p.n, p.m)
    local items = ceil_div(along_x, t.x * t.cluster) * ceil_div(along_y, t.y) * p.batch
    local most = ceil_div(items, max(p.units // t.cluster, 1)) -- tiles of the busiest block
    local steps = ceil_div(p.k, t.k)
    local flops = 2 * t.x * t.y * t.k * t.products
    local rate = 0.86 * t.rate * 1e6 / target.units            -- of a unit, per microsecond
    -- A step takes the matrix unit's time, or that of its tiles through shared memory: 128 bytes a cycle at 1.75 GHz.
    local lds = (t.slot_bytes + 128 * t.products * t.blocks * t.wg * (64 + t.y)) / 224e3
    local step = max(flops / rate, lds)
    local tile = steps * step + 0.6 + t.x * t.y * (1 + t.full_d) / 24e3
    local bytes = p.batch * (p.m * p.k * t.bytes_a + p.n * p.k * t.bytes_b * t.products + p.m * p.n * (t.bytes_e + t.bytes_d))
    -- A tile's first step waits for memory; small tiles keep few bytes on their way.
    return target.launch_us + 1.5 + max(most * tile, bytes / (target.gbps * 0.93e3))
  end,
}
