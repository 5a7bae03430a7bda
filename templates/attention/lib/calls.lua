-- SPDX-License-Identifier: MIT
-- Calls of an op's functions, the same for every schedule.  The code around them has `batch`, `head`, `kv_head`, the
-- query `i`, its place `place` and the key `j`; with lengths of their own the batch's `s` (lib/sequence.tmpl).  g: "g."
-- or "g->".  held: what is the same for all of a head's queries and keys stands in variables, of_NAME, for which
-- `loads` has the text.
return function(op, call, layout, to_f32, g, held)
  local c = { ragged = op.lengths == "ragged", page = op.page }
  local row = c.ragged and "(s.q_first + i)" or "i" -- of Q, O and what has a row for each query
  local function load(d)
    local at = ("%d] * batch"):format(d.index)
    local text = ("((const kiln_%s_t *)%sd[%d])[%sstride_d[%s"):format(d.type.name, g, d.index, g, at)
    local plane = d.kind == "per_kv_head" and "kv_head" or d.kind ~= "per_tensor" and "head"
    if plane then text = ("%s + %splane_d[%d] * %s"):format(text, g, d.index, plane) end
    if d.kind == "full" then text = ("%s + %sldd[%d] * %s + j"):format(text, g, d.index, row) end
    return to_f32(d.type, text .. "]")
  end
  local function input(_, d) return held and d.kind ~= "full" and "of_" .. d.name or load(d) end
  c.loads = {}
  for _, d in ipairs(op.d) do
    if d.kind ~= "full" then c.loads[#c.loads + 1] = ("const float of_%s = %s;"):format(d.name, load(d)) end
  end
  local function scalar(i) return ("%ss[%d]"):format(g, i) end
  -- Texts of an element's place; a schedule may have better ones.
  c.place = { "(float)place", "(float)j", "(float)head", "(float)batch" }
  local function place(i) return c.place[i + 1] end
  function c.score(x)
    if not op.has_score then -- a head of one element is scaled by 1, and 1f is no number
      return layout.dim == 1 and x or ("%s * %.9gf"):format(x, 1 / layout.dim ^ 0.5)
    end
    return call.score(function() return x end, place, scalar, input)
  end
  -- a * x + b * (key - query) = score, a and b the same for a head: their texts (affine.lua), or nil.
  function c.affine()
    return op.has_score and require "affine"(op.score_graph, function(node)
      if node.op == "scalar" then return scalar(node.index) end
      if node.op == "at" then return place(node.index), true end
      return input(0, op.d[node.index + 1]), true
    end)
  end
  -- Whether a number of the op's own or an input may take a score so far from 0 that its exponent has hardly a place
  -- behind the point, as -1e30 does, which hides a key.
  function c.far()
    for _, n in ipairs(op.has_score and op.score_graph or {}) do
      if n.op == "d" or n.op == "const" and math.abs(n.value) > 65536 then return true end
    end
    return false
  end
  -- The definition of a function; in a score a tanh by its absolute error, where it is that which counts.
  function c.definition(fn, name)
    return name == "score" and require "absolute"(op.score_graph, fn.score) or fn[name]
  end
  function c.sink() return op.has_sink and call.sink(scalar, input) or nil end
  function c.epilogue(x)
    if not op.has_epilogue then return x end
    return call.epilogue(function() return x end, scalar, input)
  end
  c.window = op.mask == "window"
  c.masked = op.mask ~= nil
  for _, o in ipairs(op.outputs) do
    if o.name == "lse" then c.lse = o end
  end
  function c.lse_at()
    local n = c.lse.index
    local at = ("[%sstride_d[%d] * batch + %splane_d[%d] * head + %s]"):format(g, n, g, n, row)
    return ("((kiln_%s_t *)%sd[%d])"):format(c.lse.type.name, g, n) .. at
  end
  return c
end
