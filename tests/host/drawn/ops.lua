-- SPDX-License-Identifier: MIT
-- Ops that nobody wrote: types, layouts, kinds of inputs, operators and results drawn with a seed.  ../drawn.sh has the
-- host compute them; CONTRIBUTING.md says how other seeds are drawn, for a GPU, too.
local seed, count = 1, 16

-- Knuth's MMIX generator (TAOCP 2, 3.3.4): its upper bits.
local state = seed
local function below(n)
  state = state * 6364136223846793005 + 1442695040888963407
  return (state >> 33) % n
end
local function one_of(list) return list[1 + below(#list)] end
local function likely(percent) return below(100) < percent end

-- ---- expressions ----

local unary = {
  relu, gelu, gelu_tanh, silu, sigmoid, tanh, abs, round, floor,
  function(x) return leaky_relu(x, 0.1) end,
  function(x) return exp(min(x, 2)) end,
  function(x) return sqrt(abs(x) + 0.25) end,
  function(x) return rsqrt(abs(x) + 0.25) end,
  function(x) return clamp(x, -4, 6) end,
}
local rounded = { bf16, f16, f32 }
local binary = {
  function(x, y) return x + y end, function(x, y) return x - y end, function(x, y) return x * y end,
  function(x, y) return x / (abs(y) + 1) end, min, max,
}
local compared = { lt, le, gt, ge }

-- What is drawn must be the same however often and of whatever it is made: a function that makes it of values.
local function expression(n, depth)
  if depth == 0 or likely(15) then
    local i = 1 + below(n)
    return function(values) return values[i] end
  end
  local x, y, kind = expression(n, depth - 1), expression(n, depth - 1), below(100)
  if kind < 40 then
    local f = one_of(binary)
    return function(values) return f(x(values), y(values)) end
  elseif kind < 75 then
    local f = one_of(unary)
    return function(values) return f(x(values)) end
  elseif kind < 85 then
    local t = one_of(rounded)
    return function(values) return cast(x(values), t) end
  end
  local test, a, b = one_of(compared), expression(n, depth - 1), expression(n, depth - 1)
  return function(values) return select(test(x(values), y(values)), a(values), b(values)) end
end
-- All values count, also those that it happened to leave out.
local function of_all(values, drawn)
  local sum = drawn(values)
  for _, v in ipairs(values) do sum = sum + v end
  return sum
end

-- ---- ops ----

local floats = { bf16, f16, f32 }
local pairs_of_types = {
  { bf16, bf16 }, { f16, f16 }, { f32, f32 }, { i8, i8 }, { u8, i8 }, { f8e4m3, f8e4m3 }, { f8e4m3, f8e5m2 },
  { bf16, i8 }, { f16, f8e4m3 }, { f8e4m3, f8e4m3fnuz }, { f8e4m3fnuz, f8e4m3fnuz }, { f32, bf16 }, { f8e5m2, f16 },
  { bf16, u4 }, { f16, i4 }, { bf16, i4 }, { f16, u4 }, { f8e4m3, i4 }, { i8, i4 }, { u8, u4 }, { i4, i4 }, { f32, u4 },
}
local largest = { [i8] = 127, [u8] = 255, [f8e4m3] = 448, [f8e4m3fnuz] = 240, [f8e5m2] = 57344 }
local function gemm_inputs(most)
  local kinds = {
    function() return per_row(one_of(floats)) end, function() return per_col(one_of(floats)) end,
    function() return per_tensor(one_of { f32, bf16, i32 }) end, function() return per_col "e" end,
    function() return full "e" end, function() return per_col(one_of { i32, i8, u8 }) end,
    function() return full(one_of { bf16, f16, f32, i8, u8, i32 }) end,
    function() return full(one_of(floats), one_of { "r", "c" }) end,
  }
  local d, names = {}, {}
  for i = 1, below(most + 1) do
    names[i] = "d" .. i
    d[names[i]] = one_of(kinds)()
  end
  return d, names
end

-- What is done with elements or sums before the epilogue: inputs of blocks in d, and the op's functions.
local function before(op, d, four, two)
  local small = { [i8] = true, [u8] = true, [f8e4m3] = true, [f8e5m2] = true, [f8e4m3fnuz] = true }
  local row = op.types[1]
  local wide = one_of { f32, f32, f16, bf16 }
  if four and likely(80) then
    local along, k = one_of { 1, 1, 1, 4, 64 }, one_of { 16, 32, 64, 128 }
    d.scale = per_block("b", wide, along, k)
    if likely(50) then d.zero = per_block("b", one_of { row.b, row.b, f16 }, along, likely(90) and k or 48) end
    op.b_op = function(w, of) return (d.zero and w - of.zero or w) * of.scale end
  elseif small[row.a] and small[row.b] and likely(35) then
    local k = one_of { 32, 64, 128, 256 }
    local rows = one_of { 1, 1, 1, 16, 128 }
    op.blocks_of_rows = rows > 1
    d.sa = per_block("a", wide, rows, k, one_of { "r", "c" })
    d.sb = per_block("b", wide, one_of { 1, 64, 128 }, k)
    op.block = function(acc, of) return acc * of.sa * of.sb end
  elseif likely(25) then
    local f = one_of { relu, abs, silu, function(x) return x + 1 end }
    d.ra = likely(40) and per_row(f32) or nil
    op.a_op = function(x, of) return d.ra and f(x) * of.ra or f(x) end
    if not two and likely(40) then
      d.sb = per_block("b", wide, one_of { 1, 32 }, one_of { 32, 128 })
      op.b_op = function(w, of) return w * of.sb end
    end
  end
end

-- What is written of a result: E alone, or what the epilogue returns beside it.
local function beside(op)
  local kind, f32_or = below(100), one_of { f32, f32, bf16 }
  if kind < 15 then
    local n = one_of { 2, 16, 32, 64, 128 }
    op.outputs = { of_block = per_block("e", f32, 1, n, one_of { "r", "c" }) }
    return function(y)
      local scale = max(block_max(abs(y), n), 1e-3) / (largest[op.types[1].e] or 1)
      return { e = y / scale, of_block = scale }
    end
  elseif kind < 25 then
    local reduce = one_of { row_max, row_min, row_sum, row_mean }
    op.outputs = { r = per_row(f32) }
    return function(y) return { e = y, r = reduce(abs(y)) } end
  elseif kind < 32 then
    local reduce, again = one_of { col_max, col_min, col_sum, col_mean }, one_of { row_max, row_sum }
    op.outputs = { c = per_col(f32_or), r = per_row(f32) }
    return function(y) return { e = y, c = reduce(y), r = again(y * y) } end
  elseif kind < 40 then
    local n, reduce = one_of { 4, 32, 64 }, one_of { block_sum, block_mean, block_min }
    op.outputs = { part = per_block("e", f32, 1, n), pre = full(f32_or, one_of { "r", "c" }) }
    return function(y) return { e = relu(y), part = reduce(abs(y), n), pre = y } end
  end
  return function(y) return y end
end

local function draw_gemm(name)
  local types = one_of(pairs_of_types)
  local a, b = types[1], types[2]
  local four = b == i4 or b == u4
  local two = likely(20)
  local d, names = gemm_inputs(two and 2 or 3) -- of blocks each product may have two more
  local op = {
    types   = { { a = a, b = b, e = one_of { bf16, f16, f32, i8, f8e4m3, bf16, f16, u8, i32, f8e5m2, f8e4m3fnuz } } },
    layouts = { one_of(four and { "rcr", "rcr", "rcc", "ccr", "rrr", "ccc" } or
                       { "rcr", "rrr", "crr", "ccr", "rcc", "crc", "rrc", "ccc" }) },
    b       = two and { "x", "y" } or nil,
    scalars = likely(30) and { "s" } or nil,
  }
  before(op, d, four, two)
  local drawn = expression((two and 2 or 1) + #names + (op.scalars and 1 or 0), 1 + below(4))
  local outputs = beside(op)
  op.epilogue = function(acc, of, s)
    local values = two and { acc.x, acc.y } or { acc }
    for _, n in ipairs(names) do values[#values + 1] = of[n] end
    if op.scalars then values[#values + 1] = s.s end
    return outputs(of_all(values, drawn))
  end
  op.d = d
  -- Rows of groups, where neither whole rows and columns nor blocks of rows are anything's.
  local alone, tensors = not op.blocks_of_rows, 3 -- index arrays
  for of in pairs(op.outputs or {}) do alone, tensors = alone and of ~= "r" and of ~= "c", tensors + 1 end
  for of in pairs(d) do -- of B one for each product
    tensors = tensors + (two and (of == "scale" or of == "zero" or of == "sb") and 2 or 1)
  end
  if alone and tensors <= 8 and not (a == i4 and op.layouts[1]:sub(1, 1) == "c") and likely(30) then
    op.groups = true
    op.gather = likely(50)
  end
  op.blocks_of_rows = nil
  gemm(name)(op)
end

local function draw_rowwise(name)
  local d, names = { x = full "x" }, { "x" }
  local kinds = { full "x", per_col "x", per_row(f32), per_tensor(f32), full(f16), full(u8), per_row(i32),
                  per_col(bf16) }
  for i = 1, below(4) do
    names[#names + 1] = "d" .. i
    d["d" .. i] = one_of(kinds)
  end
  local op = { types = { { x = one_of { bf16, f16, f32, i8, u8, f8e4m3 },
                           y = one_of { bf16, f16, f32, i8, f8e4m3, u8, i32, f8e5m2, f8e4m3fnuz } } }, d = d,
               outputs = { y = full "y" } }
  local first, last = expression(#names, 2), expression(3, 2)
  local over, again = one_of { row_sum, row_mean, row_max, row_min }, one_of { row_sum, row_mean, row_max }
  local reduces, blocks = likely(70), likely(40) and one_of { block_sum, block_max, block_min, block_mean }
  local place, centred, n = likely(25), likely(30), one_of { 2, 8, 32, 128, 256 }
  if reduces then
    op.outputs.t = per_row(one_of { f32, f32, bf16 })
    if blocks then op.outputs.b = per_block(f32, 1, n) end
    local sums = { [row_sum] = true, [row_mean] = true, [block_sum] = true, [block_mean] = true }
    if (sums[over] or sums[again] or sums[blocks] or centred) and likely(40) then op.sums = compensated end
  end
  op.body = function(of, _, at)
    local values = {}
    for i, v in ipairs(names) do values[i] = of[v] end
    local v = of_all(values, first)
    if place then v = select(le(at.col, at.row + 40), v, -2) end
    if not reduces then return { y = v } end
    if centred then
      v = v - row_mean(v)
      v = v * rsqrt(row_mean(v * v) + 0.01)
    end
    local m = over(v)
    local w = of_all({ v, m, of.x }, last)
    local out = { t = again(abs(w)), y = w }
    if blocks then out.b = blocks(abs(w), n) end
    return out
  end
  rowwise(name)(op)
end

local function draw_attention(name)
  local t = one_of { bf16, f16 }
  local bytes = likely(25)
  local d = {}
  local op = {
    types = { { q = t, k = bytes and one_of { f8e4m3, f8e5m2 } or t, v = bytes and f8e4m3 or t,
                o = likely(80) and t or one_of { f32, f8e4m3 } } },
    heads = { one_of { { 64, 64 }, { 96, 96 }, { 128, 128 }, { 192, 128 }, { 256, 256 }, { 40, 72 }, { 80, 80 },
                       { 576, 512 }, { 1, 16 }, { 33, 17 } } },
    mask = one_of { causal, window }, scalars = { "scale" },
  }
  if likely(25) then op.mask = nil end
  if likely(40) then op.lengths = ragged end
  if likely(op.lengths and 60 or 25) then op.kv = paged(one_of { 16, 32, 64, 1, 24, 256 }) end
  if likely(50) then op.outputs = { lse = per_query(f32) } end
  local forms = {
    function(x) return x end,
    function(x) return 20 * tanh(x / 20) end,
    function(x, at, of) return x - of.slope * abs(at.q - at.k) end,
    function(x, _, of) return x + of.bias end,
    function(x, at) return select(gt(at.k, at.q - 3), x, x - 1) end,
    function(x, at) return 4 * sigmoid(x) - exp(-0.5 * (at.head + 1)) * (at.q - at.k) end,
    function(x, at) return select(eq(at.k - 3 * floor(at.k / 3), 1), -math.huge, x) + 0.125 * at.batch end,
  }
  local form = 1 + below(#forms)
  if form == 3 then d.slope = per_head(f32) end
  if form == 4 then d.bias = full "q" end
  op.score = function(x, at, s, of) return forms[form](x * s.scale, at, of) end
  if form == 1 and likely(50) then op.score, op.scalars = nil, nil end
  if likely(25) then
    d.sinks = per_head(f32)
    op.sink = function(_, of) return of.sinks end
  end
  if bytes then
    d.v_scale = per_kv_head(f32)
    op.epilogue = function(x, _, of) return x * of.v_scale end
  end
  if form == 3 or form == 4 or op.sink or bytes then op.d = d end
  attention(name)(op)
end

for i = 1, count do
  local kind = below(100)
  local draw = kind < 65 and draw_gemm or kind < 88 and draw_rowwise or draw_attention
  draw(("drawn_%d_%d"):format(seed, i))
end
