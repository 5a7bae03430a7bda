-- SPDX-License-Identifier: MIT
-- Every pair of types, every layout of operands and E, one product and two, each output beside E, sums scaled by blocks
-- of K; blocks of rows of each length; heads of attention from one element to the longest: all have a kernel on every
-- target.  Only generated.
local a_types = { bf16, f16, f32, i8, u8, f8e4m3, f8e5m2, f8e4m3fnuz, i4, u4 }
local b_types = { bf16, f16, f32, i8, u8, f8e4m3, f8e5m2, f8e4m3fnuz, i4, u4 }
local results = {
  function(v) return v end,
  function(v) return { e = v, o = row_sum(v) } end,
  function(v) return { e = v, o = col_max(v) } end,
  function(v) return { e = v, o = block_max(v, 128) } end,
}
local kinds = { false, per_row(f32), per_col(f32), per_block("e", f32, 1, 128) }

local n = 0
local function all_of(op)
  for i, result in ipairs(results) do
    for _, products in ipairs { 1, 2 } do
      n = n + 1
      gemm("every_" .. n) {
        types    = op.types,
        layouts  = op.layouts,
        b        = products == 2 and { "x", "y" } or nil,
        d        = op.d,
        b_op     = op.b_op,
        block    = op.block,
        outputs  = kinds[i] and { o = kinds[i] } or nil,
        epilogue = function(acc) return result(products == 2 and acc.x * acc.y or acc) end,
      }
    end
  end
end

for _, a in ipairs(a_types) do
  for _, b in ipairs(b_types) do
    all_of {
      types   = { { a = a, b = b, e = f16 } },
      layouts = { "rcr", "rrr", "crr", "ccr", "rcc", "rrc", "crc", "ccc" },
    }
  end
end

local scaled = { { bf16, bf16 }, { f32, f32 }, { i8, i8 }, { f8e4m3, f8e4m3 }, { bf16, i8 }, { bf16, u4 },
                 { f8e4m3, i4 }, { i4, i4 }, { u4, i8 } }
for _, types in ipairs(scaled) do
  for _, deep in ipairs { 32, 128 } do
    all_of {
      types   = { { a = types[1], b = types[2], e = f16 } },
      layouts = { "rcr", "ccr", "rcc", "rrc" },
      d       = { s = per_block("a", f32, 1, deep), z = per_block("b", f32, 1, 32) },
      b_op    = function(w, d) return w * d.z end,
      block   = function(acc, d) return acc * d.s end,
    }
  end
end

for _, x in ipairs { bf16, f32, i8 } do
  for _, y in ipairs { bf16, f32, f8e4m3 } do
    for columns = 1, 8 do
      n = n + 1
      rowwise("every_" .. n) {
        types   = { { x = x, y = y } },
        d       = { x = full "x" },
        outputs = { y = full "y", s = per_block(f32, 1, 2 ^ columns) },
        body    = function(d) return { y = d.x, s = block_max(d.x, 2 ^ columns) } end,
      }
    end
  end
end

for _, q in ipairs { bf16, f32 } do
  for _, k in ipairs { bf16, f32, f8e4m3 } do
    for _, v in ipairs { f16, f32, f8e5m2 } do
      n = n + 1
      attention("every_" .. n) {
        types = { { q = q, k = k, v = v, o = bf16 } },
        heads = { { 1, 1 }, { 33, 17 }, { 128, 128 }, { 24, 512 }, { 576, 512 }, { 1024, 16 }, { 1024, 1024 } },
      }
    end
  end
end

-- Long expressions take no longer than kiln-gen gives them.
rowwise "every_long" {
  types   = { { x = f32 } },
  d       = { x = full "x" },
  outputs = { y = full "x" },
  body    = function(d)
    local y = d.x
    for i = 1, 350 do y = y * 0.5 + i end
    return y / row_sum(y)
  end,
}
