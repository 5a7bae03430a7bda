-- SPDX-License-Identifier: MIT
-- E = epilogue(A·B, D..): the signature of every matrix product.  What each field means is in docs/families.md.
-- i32 is a type of results alone, those of 4 bits are of operands alone.
local input = { "f32", "f16", "bf16", "i8", "f8e4m3", "f8e5m2", "f8e4m3fnuz", "f8e5m2fnuz", "i4", "u4", "u8" }
local output = { "f32", "f16", "bf16", "i8", "i32", "f8e4m3", "f8e5m2", "f8e4m3fnuz", "f8e5m2fnuz", "u8" }

-- Whether `to` has every value of `from`, so that a conversion changes none.  Integers and fp8 fit every floating-point
-- type of 16 bits or more, i32 excepted.
local function holds(to, from)
  local small = from.bits <= 8
  if to == from then return true end
  if to.name == "f32" then return small or from.name == "f16" or from.name == "bf16" end
  if to.name == "i8" then return from.bits < 8 end
  if to.name == "u8" then return from.name == "u4" end
  return (to.name == "f16" or to.name == "bf16") and small
end

-- What A and B are multiplied as (abi/kiln_values.h has the same for the reference).
local function mul_types(a, b, dtypes)
  local function alike(of_float) return a.bits == 8 and b.bits == 8 and a.float == of_float and b.float == of_float end
  if a.bits < 8 then a = dtypes.i8 end
  if b.bits < 8 then b = dtypes.i8 end
  if a == b or alike(true) or alike(false) then return a, b end
  if a.bits + b.bits ~= 24 then return dtypes.f32, dtypes.f32 end
  local wide = a.bits == 16 and a or b
  return wide, wide
end

-- Whether an element operator does nothing that the conversion of `from` to `mul` would not do by itself: casts that
-- keep the value, or round to `mul` already.  Templates never see such an operator.
local function only_converts(graph, from, mul)
  for i, x in ipairs(graph) do
    if i == 1 and x.op ~= "x" or i > 1 and (x.op ~= "cast" or x.args[1] ~= i - 1) then return false end
    if i > 1 and not holds(x.type, from) then
      if x.type ~= mul then return false end
      from = mul
    end
  end
  return true
end

-- Whether E is a sum of whole numbers as it is, of which f32 would round what has more than 24 bits.
local function is_sum(op, types, graphs)
  local epilogue = graphs.epilogue and graphs.epilogue[1]
  return epilogue and #epilogue == 1 and epilogue[1].op == "acc" and not op.block
    and types.acc.name == "i32" and types.e.name == "i32"
end

-- How many functions an epilogue evaluates for an element that take a GPU more time than arithmetic does.
local function curves(graphs)
  local names = { gelu = 1, gelu_tanh = 1, silu = 1, sigmoid = 1, tanh = 1, exp = 1, log = 1, pow = 1 }
  local count = 0
  for _, x in ipairs(graphs.epilogue and graphs.epilogue[1] or {}) do count = count + (names[x.op] or 0) end
  return count
end

-- Where an element operator is (x - zero) * scale, or x * scale, of inputs, alike for all products: for each of them
-- { scale = , zero = }, the inputs' positions among the op's, from 0.
local function affine_of(graph)
  local last = graph[#graph]
  if last.op ~= "mul" then return end
  local x, scale = graph[last.args[1]], graph[last.args[2]]
  if x.op == "d" then x, scale = scale, x end
  if scale.op ~= "d" then return end
  if x.op == "x" then return { scale = scale.index } end
  local of, zero = graph[(x.args or {})[1]], graph[(x.args or {})[2]]
  if x.op == "sub" and of.op == "x" and zero.op == "d" then return { scale = scale.index, zero = zero.index } end
end

local function affine(graphs)
  local forms = {}
  for i, graph in ipairs(graphs) do
    forms[i] = affine_of(graph)
    if not forms[i] or not forms[i].zero ~= not forms[1].zero then return end
  end
  return forms[1] and forms
end

-- Are graphs the same, but for which inputs they take?
local function alike(graphs)
  for _, graph in ipairs(graphs) do
    if #graph ~= #graphs[1] then return false end
    for i, n in ipairs(graph) do
      local first = graphs[1][i]
      if n.op ~= first.op or n.value ~= first.value or n.type ~= first.type then return false end
      for k, a in ipairs(n.args or {}) do
        if a ~= first.args[k] then return false end
      end
    end
  end
  return true
end

return family {
  name = "gemm",
  title = "E = epilogue(A·B, D..)",
  sizes = { "m", "n", "k", "tokens" },
  rows = "m", cols = "n",       -- what full, per_row and per_col mean
  -- Rows of E are of groups, each with its own B; those of A are numbers of rows of a matrix of `tokens`.
  options = { { "groups", flag = true }, { "gather", flag = true } },
  ragged = { "groups", sizes = { "m" }, arrays = { "begin", "end" }, batch = "groups" },
  only = { tokens = { "gather" } },
  empty = { "m", "n" },         -- one that is 0 leaves nothing to do
  independent = { "m", "n" },   -- elements along them do not depend on each other
  summed = "k",
  types = {
    { "a", of = input, says = "a must be f32, f16, bf16, i8, u8, i4, u4 or an fp8" },
    { "b", of = input, says = "b must be f32, f16, bf16, i8, u8, i4, u4 or an fp8" },
    { "e", of = output, says = "e must be f32, f16, bf16, i8, u8, i32 or an fp8" },
    { "acc", of = { "f32", "i32" }, says = "acc must be f32 or i32",
      default = { from = { "a", "b" }, integer = "i32", real = "f32" },
      needs = "acc = i32 needs integers for a and b" },
  },
  tensors = {
    { "a", rows = "m", cols = "k", label = "A" },
    { "b", rows = "k", cols = "n", label = "B", count = 2, word = "product" },
    { "e", rows = "m", cols = "n", label = "E", out = true },
  },
  gathered = { "gather", tensor = "a", size = "tokens", rows = "index" },
  layouts = { "a", "b", "e" },  -- a letter each; full inputs lie like the last unless they say otherwise
  inputs = { most = 8, first = 3, prefix = "d.", type = "e", packed = { "per_block" },
             kinds = { "full", "per_row", "per_col", "per_tensor", "per_block" } },
  outputs = { kinds = { "full", "per_row", "per_col", "per_block" } }, -- beside E
  functions = {
    { "epilogue", required = true, args = { "acc", "d", "s" }, code = true, reduces = true },
    { "a_op", args = { "x", "d" }, of = "a" },
    { "b_op", args = { "x", "d", "product" }, of = "b" },
    { "block", args = { "acc", "d", "product" }, blocks = true }, -- acc: the sum over a block of k
  },
  present = function(op, types, _, dtypes, graphs)
    types.mul_a, types.mul_b = mul_types(types.a, types.b, dtypes)
    if is_sum(op, types, graphs) then
      local e = { kept = true } -- what from_f32 makes of the epilogue's f32: its bits
      for name, value in pairs(types.e) do e[name] = value end
      types.e = e
    end
    op.curves = curves(graphs)
    for name, of in pairs { a_op = "a", b_op = "b" } do
      local acts = false
      for _, graph in ipairs(graphs[name] or {}) do
        acts = acts or not only_converts(graph, types[of], types["mul_" .. of])
      end
      op["has_" .. name] = acts
      op[name .. "_affine"] = affine(graphs[name] or {})
      op[name .. "_alike"] = alike(graphs[name] or {})
    end
  end,
  example = "bias_relu f16,f16,f16 rcr m=4096 n=11008 k=4096",
}
