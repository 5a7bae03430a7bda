-- SPDX-License-Identifier: MIT
-- An epilogue with outputs beside E, from op.graph: what is computed when, as statements in C.
--   levels        how often elements are gone through: behind each but the last, reductions of blocks take what it made
--   nodes(l)      of a level, in order: { i, text }; text(name) spells it, name(i) its operands
--   arrays        of a node whether it stands in an array of elements: a later level, a reduction or an output takes it
--   blocks(l)     reductions of blocks behind level l: { i, of, op, columns }
--   rows, cols    reductions of rows and of columns, all of E's: { i, of, op }
--   early, late   outputs with a value for each element or block; for each row or column: those know all of E
--   inputs()      those that elements are made of
--   finish(o)     of a late output: nodes in order, as above; reductions are leaves
--   OF            by what a reduction is, the struct of kiln_reduce.h with its steps
-- i: the node, of: that of the operand, op: "sum", "mean", "max", "min".
local fill = require "fill"

local function reduction(node)
  for _, kind in ipairs { "row", "col", "block" } do
    if node.op:sub(1, #kind + 1) == kind .. "_" then return kind, node.op:sub(#kind + 2) end
  end
end

return function(op)
  local graph = op.graph
  local O = { rows = {}, cols = {}, early = {}, late = {}, arrays = {}, levels = 0,
              OF = { sum = "kiln_sum_of", mean = "kiln_sum_of", max = "kiln_max_of", min = "kiln_min_of" } }
  local wanted, level, known = {}, {}, {}

  -- What is spelled where it is used.
  local function is_plain(i) return graph[i].op == "const" or graph[i].op == "scalar" end

  local function want(i)
    if wanted[i] then return end
    wanted[i] = true
    for _, a in ipairs(graph[i].args) do want(a) end
  end

  -- Rows' and columns' reductions below a node.
  local function visit(i, seen)
    if seen[i] then return end
    seen[i] = true
    local kind, how = reduction(graph[i])
    if kind == "row" or kind == "col" then
      local list = kind == "row" and O.rows or O.cols
      if not known[i] then list[#list + 1] = { i = i, of = graph[i].args[1], op = how } end
      known[i] = true
      want(graph[i].args[1])
      O.arrays[graph[i].args[1]] = true
      return
    end
    for _, a in ipairs(graph[i].args) do visit(a, seen) end
  end

  for _, o in ipairs(op.outputs) do
    if o.kind == "per_row" or o.kind == "per_col" then
      O.late[#O.late + 1] = o
      visit(o.node, {})
    else
      O.early[#O.early + 1] = o
      want(o.node)
      O.arrays[o.node] = true
    end
  end
  for i, n in ipairs(graph) do
    level[i] = 1
    for _, a in ipairs(n.args) do level[i] = max(level[i], level[a]) end
    if reduction(n) == "block" then level[i] = level[i] + 1 end
    if wanted[i] then O.levels = max(O.levels, level[i]) end
  end
  for i, n in ipairs(graph) do
    local block = reduction(n) == "block"
    if wanted[i] and block then O.arrays[i] = true end
    for _, a in ipairs(n.args) do
      if wanted[i] and (block or level[a] < level[i]) then O.arrays[a] = true end
    end
  end
  for i in ipairs(graph) do if is_plain(i) then O.arrays[i] = nil end end

  local function node_of(i)
    local n = graph[i]
    return { i = i, node = n, T = n.cond and "int" or "float",
             text = function(name) return fill(n.text, function(k) return name(n.args[k]) end) end }
  end

  -- A node's text where it is used: leaf(node) spells inputs, sums and scalars; a constant is its digits.
  function O.spell(i, leaf, name)
    local n = graph[i]
    if n.op == "const" then return n.text end
    if n.op == "scalar" then return leaf(n) end
    return name(i)
  end

  function O.nodes(l)
    local list = {}
    for i, n in ipairs(graph) do
      local here = wanted[i] and level[i] == l and not is_plain(i)
      if here and reduction(n) ~= "block" then list[#list + 1] = node_of(i) end
    end
    return list
  end

  function O.blocks(l)
    local list = {}
    for i, n in ipairs(graph) do
      local kind, how = reduction(n)
      if wanted[i] and kind == "block" and level[i] == l + 1 then
        list[#list + 1] = { i = i, of = n.args[1], op = how, columns = math.tointeger(n.value) }
      end
    end
    return list
  end

  function O.in_level(i, l) return level[i] == l and reduction(graph[i]) ~= "block" end

  function O.finish(o)
    local needed, list = {}, {}
    local function mark(i)
      needed[i] = true
      local kind = reduction(graph[i])
      if kind ~= "row" and kind ~= "col" then
        for _, a in ipairs(graph[i].args) do mark(a) end
      end
    end
    mark(o.node)
    for i, n in ipairs(graph) do
      if needed[i] and not is_plain(i) and not known[i] then list[#list + 1] = node_of(i) end
      if needed[i] and known[i] then list[#list + 1] = { i = i, reduces = true, node = n } end
    end
    return list
  end

  -- The inputs that elements are made of; late outputs may take others.
  function O.inputs()
    local used, list = {}, {}
    for i, n in ipairs(graph) do
      if wanted[i] and n.op == "d" then used[n.index] = true end
    end
    for _, d in ipairs(op.d) do if used[d.index] then list[#list + 1] = d end end
    return list
  end

  -- Columns of the largest block; 1: there is none.
  O.largest = 1
  for i, n in ipairs(graph) do
    if wanted[i] and reduction(n) == "block" then O.largest = max(O.largest, math.tointeger(n.value)) end
  end
  for _, o in ipairs(O.early) do O.largest = max(O.largest, o.block or 1) end
  return O
end
