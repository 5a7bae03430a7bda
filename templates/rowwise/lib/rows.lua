-- SPDX-License-Identifier: MIT
-- From an op's traced graph to the statements of a row-wise kernel.
--
-- A node of the graph is worth one of three things to a kernel:
--   row       it does not change along a row (varies "none" or "row"): one variable, n<k>
--   element   it does: computed for each column where it is needed, e<k>
--   block     a reduction of neighbouring columns: one variable for those that a lane has, b<k>
-- A row is gone through once per phase: phase p computes the reductions over the row of what depends on p reductions,
-- the last one the outputs.  Inside a phase, the columns that a lane has at once (a piece) are gone through in levels:
-- a block reduction is worth something only after the level of its argument.
local fill = require "fill"

local R = { fill = fill }

local OF = { sum = "kiln_sum_of", mean = "kiln_sum_of", max = "kiln_max_of", min = "kiln_min_of" }

local function starts(text, with) return text:sub(1, #with) == with end
function R.row_reduction(n) return starts(n.op, "row_") end
function R.block_reduction(n) return starts(n.op, "block_") end
local function along(n) return n.varies == "col" or n.varies == "both" end
R.along = along

-- Of a reduction: sum, mean, max or min.
function R.kind(n) return R.row_reduction(n) and n.op:sub(5) or R.block_reduction(n) and n.op:sub(7) or nil end

-- Whether a reduction is a sum that is kept as two floats: of an op with `sums = compensated`.
function R.is_compensated(op, n)
  return op.sums == "compensated" and (R.kind(n) == "sum" or R.kind(n) == "mean")
end

-- What a reduction is over none and of two: a type of kiln_rows.h; and the type of what it is meanwhile.
function R.of(op, n) return R.is_compensated(op, n) and "kiln_compensated_of" or OF[R.kind(n)] end
function R.partial(op, n) return R.is_compensated(op, n) and "kiln_compensated" or "float" end
function R.is_mean(n) return n.op == "row_mean" or n.op == "block_mean" end

-- Functions that cost much more than converting an input again: their values stay in registers for a later phase.
-- Where the machine has 2^x as an instruction, what is built on that alone is not among them.
local DEAR = { log = true, tanh = true, gelu = true, gelu_tanh = true, pow = true }
local EXPONENTIAL = { exp = true, silu = true, sigmoid = true }
function R.is_dear(n, target) return DEAR[n.op] or EXPONENTIAL[n.op] and target.vendor ~= "nvidia" end

-- What has been rounded to 16 bits is kept in them, half of the registers that two inputs of 16 bits take, where more
-- than one later phase reads it: plan.packs.
function R.is_packed(plan, n)
  return plan.packs and n.op == "cast" and n.type.float and n.type.bytes == 2
end

-- The nodes that `targets` need, as a set; `stop(k)`: what below is known already.
local function closure(graph, targets, stop)
  local need = {}
  local function visit(k)
    if need[k] then return end
    need[k] = true
    if stop(k) then return end
    for _, a in ipairs(graph[k].args) do visit(a) end
  end
  for _, k in ipairs(targets) do visit(k) end
  return need
end

-- Whether node k is row_sum(exp(x - row_max(x))) of elements x: then row_max's node.
local function softmax_sum(g, k)
  local e = g[k].op == "row_sum" and g[g[k].args[1]]
  local d = e and e.op == "exp" and g[e.args[1]]
  local m = d and d.op == "sub" and g[d.args[2]]
  return m and m.op == "row_max" and m.args[1] == d.args[1] and along(g[m.args[1]]) and d.args[2] or nil
end

-- How a tile goes through rows that it keeps.  Results that are known before the last phase are stored then, unless a
-- third phase follows, whose blocks would only end later (measured on an H200: add_rmsnorm 4 % faster, with a scale for
-- each row 8 % slower).  On AMD's, where nobody has measured it, blocks of 1024 lanes have no registers for it.
function R.keeping(plan, t, target)
  local nvidia = target.vendor == "nvidia"
  plan.early = nvidia and t.resident == 1 and plan.last == 1
  plan.packs = nvidia and t.resident == 1 and plan.last > 1
end

-- The plan of an op: its phases, what each of them reduces, which inputs it needs.
--   online: the sum of exp(x - row_max(x)) is found in the phase of the maximum: exponentials of x less the largest so
-- far are summed up, and the sum is brought along whenever that grows (M. Milakov, N. Gimelshein, "Online normalizer
-- calculation for softmax", arXiv 1805.02867).  Such a reduction has `largest`, the maximum's node, and stands behind
-- that one's.
function R.plan(op, online)
  local g, plan = op.graph, { graph = op.graph, op = op, reductions = {}, last = 0, phase = {} }
  for k, n in ipairs(g) do
    local phase, largest = 0, online and softmax_sum(g, k)
    for _, a in ipairs(n.args) do phase = max(phase, plan.phase[a]) end
    if largest then phase = plan.phase[largest] - 1 end
    if R.row_reduction(n) then
      plan.reductions[phase] = plan.reductions[phase] or {}
      local list = plan.reductions[phase]
      list[#list + 1] = { node = k, arg = largest and g[largest].args[1] or n.args[1], largest = largest }
      phase = phase + 1
      plan.last = max(plan.last, phase)
    end
    plan.phase[k] = phase
  end
  plan.slots = 0 -- of all reductions, in order of their phases: a compensated sum has two
  for p = 0, plan.last - 1 do
    for _, r in ipairs(plan.reductions[p] or {}) do
      r.slot, r.slots = plan.slots, R.is_compensated(op, g[r.node]) and 2 or 1
      plan.slots = plan.slots + r.slots
    end
  end
  plan.inputs, plan.outputs = {}, {}
  for _, d in ipairs(op.d) do plan.inputs[d.name] = d end
  for _, o in ipairs(op.outputs) do plan.outputs[#plan.outputs + 1] = o end
  return plan
end

-- The outputs along the row that phase p stores: those that are known by then, where plan.early says that nothing is
-- read again from memory, which an output may share with an input; else the last phase stores all.
function R.stored(plan, p)
  local list = {}
  for _, o in ipairs(plan.outputs) do
    if o.kind ~= "per_row" and p == (plan.early and plan.phase[o.node] or plan.last) then list[#list + 1] = o end
  end
  return list
end

-- What phase p computes along the row.
function R.targets(plan, p)
  local list = {}
  for _, r in ipairs(p < plan.last and plan.reductions[p] or {}) do list[#list + 1] = r.arg end
  for _, o in ipairs(R.stored(plan, p)) do list[#list + 1] = o.node end
  return list
end

local function element_closure(plan, p, held)
  local g = plan.graph
  return closure(g, R.targets(plan, p), function(k) return not along(g[k]) or held and held[k] and held[k] < p end)
end

-- Elements that whole blocks share, of 16 columns or more: node -> columns.  They come from reductions of such blocks
-- alone.
function R.shared(plan)
  local g, shared = plan.graph, {}
  for k, n in ipairs(g) do
    if R.block_reduction(n) then
      if n.value >= 16 then shared[k] = n.value // 1 | 0 end
    elseif along(n) and not n.cond and #n.args > 0 then
      local of
      for _, a in ipairs(n.args) do
        if along(g[a]) or g[a].cond then of = (of == nil or of == shared[a]) and shared[a] or false end
      end
      shared[k] = of or nil
    end
  end
  return shared
end

local STEP = { add = true, sub = true, mul = true, neg = true, abs = true, relu = true, min = true, max = true }

-- Whether it takes as many steps from inputs to an element as a dear function does: so many are counted.
local LONG = 12
local function is_long(g, k)
  local steps, seen = 0, {}
  local function visit(a)
    if steps >= LONG or seen[a] or not along(g[a]) or #g[a].args == 0 then return end
    seen[a], steps = true, steps + 1
    for _, x in ipairs(g[a].args) do visit(x) end
  end
  visit(k)
  return steps >= LONG and not g[k].cond
end

-- Elements that more than one phase needs and that are worth keeping: node -> the first phase, which keeps them.  Dear
-- ones where registers hold them, and of long computations the end; on the host, whose first cache does, all that is
-- not read as f32 nor one step away from what is kept, where a later phase's own elements begin.  Reductions of blocks
-- are no elements of a piece: each phase reduces what it has of theirs.
function R.held(plan, target)
  local g, first, held = plan.graph, {}, {}
  local host = target.vendor == "host"
  local shared = R.shared(plan)
  local function worth(n, k)
    if R.block_reduction(n) then return false end
    if not host then return R.is_dear(n, target) or R.is_packed(plan, n) or is_long(g, k) end
    local others = 0
    for _, a in ipairs(n.args) do if along(g[a]) then others = others + 1 end end
    if STEP[n.op] and others < 2 then return false end
    return n.op ~= "at" and not (n.op == "d" and plan.inputs[n.name].type.name == "f32")
  end
  for p = 0, plan.last do
    local function kept(k)
      return not along(g[k]) or first[k] and first[k] < p and (host or is_long(g, k))
    end
    for k in pairs(closure(g, R.targets(plan, p), kept)) do
      if along(g[k]) and not (host and shared[k]) and worth(g[k], k) then
        if first[k] then held[k] = first[k] else first[k] = p end
      end
    end
  end
  return held
end

-- Inputs that vary along the row, of phase p, in the order of their positions.
function R.inputs(plan, p, held)
  local need, list = element_closure(plan, p, held), {}
  for _, d in ipairs(plan.op.d) do
    for k in pairs(need) do
      local n = plan.graph[k]
      if n.op == "d" and n.name == d.name and along(n) and not (held and held[k] and held[k] < p) then
        list[#list + 1] = d
        break
      end
    end
  end
  return list
end

-- Words that a lane has at once of what a tile keeps, whichever phase has most: of a row that is kept, inputs that a
-- phase or a later one reads, those that all rows share only in phases that do where they are `deferred`, and elements
-- of nodes that are kept; of another one, a piece's.
function R.live(plan, t, target, deferred)
  local keeps, live, words_of = t.resident == 1, 0, t.v * t.piece
  local held = keeps and R.held(plan, target) or {}
  for p = 0, plan.last do
    local words, kept, seen = 0, 0, {}
    for q = p, keeps and plan.last or p do
      for _, d in ipairs(R.inputs(plan, q, held)) do
        if not seen[d.name] and not (deferred and d.kind == "per_col" and q > p) then
          words = words + words_of * d.type.bytes // 4
        end
        seen[d.name] = true
      end
    end
    for k, first in pairs(held) do
      local of = R.is_packed(plan, plan.graph[k]) and words_of // 2 or words_of
      if first < p then kept = kept + of elseif first == p then words = max(words, of) end
    end
    live = max(live, words + kept)
  end
  return live
end

-- Whether all columns of all rows are computed alike from what stands at their own place.
function R.alike(op)
  for _, n in ipairs(op.graph) do
    if n.op == "at" or R.row_reduction(n) or R.block_reduction(n) then return false end
  end
  for _, d in ipairs(op.d) do if d.kind ~= "full" and d.kind ~= "per_tensor" then return false end end
  for _, o in ipairs(op.outputs) do if o.kind ~= "full" then return false end end
  return true
end

-- Operations for an element, of all phases, by pieces of so many; held: what is kept, of which long computations are
-- done once.
function R.work(plan, piece, held)
  local n, once = 0, {}
  for k, p in pairs(held or {}) do once[k] = is_long(plan.graph, k) and p or nil end
  for p = 0, plan.last do
    for k in pairs(element_closure(plan, p, once)) do if along(plan.graph[k]) then n = n + 1 end end
  end
  for _, x in ipairs(plan.graph) do -- 7 for each element, 8 for a piece's sum
    if R.is_compensated(plan.op, x) then n = n + 6 + 8 // piece end
  end
  return n
end

-- Variables of a row: which have a divisor beside them, because elements are divided by them.
local function divisors(plan)
  local is = {}
  for _, n in ipairs(plan.graph) do
    if n.op == "div" and not n.exact and along(n) and not along(plan.graph[n.args[2]]) then is[n.args[2]] = true end
  end
  return is
end

-- Statements that compute what is known of a row once the reductions of phases before `phase` are: nodes that do not
-- vary along it.  from: the phase before which the others are known; -1: none are.
function R.row_lines(plan, from, phase, device)
  local g, lines = plan.graph, {}
  -- Wanted: operands of elements, arguments and results.
  local roots = {}
  for p = 0, plan.last do
    for k in pairs(element_closure(plan, p)) do
      if not along(g[k]) then roots[#roots + 1] = k end
    end
  end
  for _, o in ipairs(plan.outputs) do if o.kind == "per_row" then roots[#roots + 1] = o.node end end
  local wanted = closure(g, roots, function(k) return R.row_reduction(g[k]) end)
  local by = device and divisors(plan) or {}
  for k, n in ipairs(g) do
    if wanted[k] and not along(n) and plan.phase[k] > from and plan.phase[k] <= phase then
      if not R.row_reduction(n) then
        local text
        local function operand(i) return "n" .. n.args[i] end
        if n.op == "d" then text = plan.load_row(n)
        elseif n.op == "scalar" then text = "g->s[" .. n.index .. "]"
        elseif n.op == "at" then text = n.index == 0 and "(float)row" or nil
        elseif R.block_reduction(n) then text = plan.flat_block(n, operand(1))
        elseif n.op == "div" and device and not n.exact then
          text = ("kiln_quotient(%s, kiln_divide_by(%s))"):format(operand(1), operand(2))
        else text = fill(n.text, operand) end
        lines[#lines + 1] = ("const %s n%d = %s;"):format(n.cond and "int" or "float", k, text)
        lines[#lines + 1] = ("(void)n%d;"):format(k)
      end
      if by[k] then
        lines[#lines + 1] = ("const kiln_divisor q%d = kiln_divide_by(n%d);"):format(k, k)
        lines[#lines + 1] = ("(void)q%d;"):format(k)
      end
    end
  end
  return lines
end

-- Statements for one piece of a row in phase p.  s: how the target spells things:
--   s.decode(d, node)       element j of an input, of the piece
--   s.col                   the column of element j
--   s.held, s.kept(k, new)  phases that keep elements of some nodes for later ones; where they do, and, new, put them
--   s.reduce(r, text)       statement: reduction r takes an element
--   s.output(o, text)       statement: an output's element j
--   s.block(n, k)           statements: block reduction k of what array a<its argument> holds
--   s.softmax(r, text)      statements: reduction r takes exponentials of the elements, behind the loop
--   s.loop                  the head of a loop over j
--   s.count                 elements of a piece
-- and where an element is not one number in a variable:
--   s.let(n, k, text), s.name(k)      statements: element node k is that; how it is named thereafter
--   s.spell(n, operand)               what a node computes
--   s.get(text, n), s.put(text, e)    an array's element as a value; statement: the value goes there
--   s.blocked(k, columns)             what element j has of a block's value
--   s.shared(n, k, columns, divides)  statements: node k for each block, where blocks share it (R.shared); divides:
--                                     and a divisor
--   s.block_quotient(x, y, columns)   x by the divisor of a block's value
--   s.quotient(x, y)                  x by the divisor of the row's variable y
local NUMBERS = {
  let = function(n, k, text) return ("const %s e%d = %s;"):format(n.cond and "int" or "float", k, text) end,
  name = function(k) return "e" .. k end,
  spell = function(n, operand) return fill(n.text, operand) end,
  get = function(text) return text end,
  put = function(text, e) return ("%s = %s;"):format(text, e) end,
  quotient = function(x, y) return ("kiln_quotient(%s, q%d)"):format(x, y) end,
}
function R.piece_lines(plan, p, s)
  local g, lines = plan.graph, {}
  local spelt = {}
  for name, f in pairs(NUMBERS) do spelt[name] = f end
  for name, f in pairs(s) do spelt[name] = f end
  s = spelt
  local function known(k) return not along(g[k]) or s.held and s.held[k] and s.held[k] < p end
  local targets = R.targets(plan, p)
  local need = closure(g, targets, known)
  local shared, divides = s.shared and R.shared(plan) or {}, {}
  for k in pairs(need) do
    local n = g[k]
    if n.op == "div" and not n.exact and not shared[k] and shared[n.args[2]] then divides[n.args[2]] = true end
  end
  -- Levels.
  local level, last = {}, 0
  for k, n in ipairs(g) do
    if need[k] and along(n) then
      local l = 0
      if not known(k) then
        for _, a in ipairs(n.args) do if level[a] then l = max(l, level[a]) end end
        if R.block_reduction(n) then l = l + 1 end
      end
      level[k] = l
      last = max(last, l)
    end
  end
  local softmax = {} -- elements whose exponentials are summed, behind the loop that finds their largest
  for _, r in ipairs(p < plan.last and plan.reductions[p] or {}) do
    if r.largest and level[r.arg] then softmax[r.arg] = r end
  end
  for _, k in ipairs(targets) do if level[k] then last = max(last, level[k]) end end
  -- Elements that a later level, a block reduction or a later phase wants.
  local array = {}
  for k, n in ipairs(g) do
    if level[k] then
      for _, a in ipairs(n.args) do
        if level[a] and R.block_reduction(n) then
          array[a] = true
        elseif level[a] and level[a] < level[k] and not known(a) then
          local cheap = shared[a] or R.block_reduction(g[a]) or g[a].op == "d" or g[a].op == "at"
          if not cheap then array[a] = true end
        end
      end
    end
  end
  for k = 1, #g do
    if softmax[k] then array[k] = true end
    if array[k] then lines[#lines + 1] = ("float a%d[%s];"):format(k, s.count) end
  end
  for l = 0, last do
    local body, done = {}, {}
    local element
    local function operand_of(n) return function(i) return element(n.args[i]) end end
    -- The name of element k at this level, after the statements that it needs.
    function element(k)
      local n = g[k]
      if not along(n) then return "n" .. k end
      if s.held and s.held[k] and s.held[k] < p then return s.get(s.kept(k), n) end
      if shared[k] or R.block_reduction(n) and s.blocked then return s.blocked(k, shared[k]) end
      if R.block_reduction(n) then return n.value >= s.piece and "b" .. k or ("b%d[j / %d]"):format(k, n.value) end
      if done[k] then return s.name(k) end
      if level[k] < l and array[k] then return s.get(("a%d[j]"):format(k), n) end
      done[k] = true
      local text
      if n.op == "d" then text = s.decode(plan.inputs[n.name], n)
      elseif n.op == "at" then text = s.col
      elseif n.exact and n.op == "div" then text = ("(%s / %s)"):format(element(n.args[1]), element(n.args[2]))
      elseif n.op == "div" and s.divide then
        local x, y = element(n.args[1]), n.args[2]
        text = shared[y] and s.block_quotient(x, y, shared[y]) or along(g[y]) and s.divide(x, element(y)) or
          s.quotient(x, y)
      else text = s.spell(n, operand_of(n)) end
      body[#body + 1] = s.let(n, k, text)
      if array[k] then body[#body + 1] = s.put(("a%d[j]"):format(k), s.name(k)) end
      if s.held and s.held[k] == p then body[#body + 1] = s.put(s.kept(k, true), s.name(k)) end
      return s.name(k)
    end
    for k = 1, #g do -- arrays of this level, in order
      if level[k] == l and array[k] then
        local text = element(k)
        if not done[k] then body[#body + 1] = s.put(("a%d[j]"):format(k), text) end
      end
    end
    for _, r in ipairs(p < plan.last and plan.reductions[p] or {}) do
      if (level[r.arg] or 0) == l and not r.largest then
        local line = s.reduce(r, element(r.arg)) -- after the statements that the element takes
        body[#body + 1] = line
      end
    end
    for _, o in ipairs(R.stored(plan, p)) do
      if (level[o.node] or 0) == l then
        local line = s.output(o, element(o.node))
        body[#body + 1] = line
      end
    end
    if #body > 0 then
      for _, h in ipairs(s.loop) do lines[#lines + 1] = h end
      for _, b in ipairs(body) do lines[#lines + 1] = "    " .. b end
      lines[#lines + 1] = "}"
    end
    for k = 1, #g do
      if softmax[k] and level[k] == l then
        for _, b in ipairs(s.softmax(softmax[k], ("a%d[j]"):format(k))) do lines[#lines + 1] = b end
      end
    end
    for k, n in ipairs(g) do -- block reductions of this level's elements
      if R.block_reduction(n) and level[k] == l + 1 then
        for _, b in ipairs(s.block(n, k)) do lines[#lines + 1] = b end
      end
    end
    for k, n in ipairs(g) do
      if shared[k] and level[k] == l + 1 then
        for _, b in ipairs(s.shared(n, k, shared[k], divides[k])) do lines[#lines + 1] = b end
      end
    end
  end
  return lines
end

-- Bytes that a column of a row must move; the narrowest of those elements; the widest of all along a row.
function R.sizes(op)
  local bytes, narrow, widest = 0, 4, 1
  for _, list in ipairs { op.d, op.outputs } do
    for _, d in ipairs(list) do
      if d.kind == "full" then bytes, narrow = bytes + d.type.bytes, min(narrow, d.type.bytes) end
      if d.kind == "full" or d.kind == "per_col" then widest = max(widest, d.type.bytes) end
    end
  end
  return { bytes = bytes, narrow = narrow, widest = widest }
end

-- Bytes of a column that phases behind the first read of what an earlier one has read.
function R.read_again(plan)
  local bytes, seen = 0, {}
  for p = 0, plan.last do
    for _, d in ipairs(R.inputs(plan, p)) do
      if seen[d.name] and d.kind == "full" then bytes = bytes + d.type.bytes end
      seen[d.name] = true
    end
  end
  return bytes
end

-- The largest block that the op reduces or has an output for; 1: none.
function R.largest_block(op)
  local n = 1
  for _, x in ipairs(op.graph) do if R.block_reduction(x) then n = max(n, x.value) end end
  for _, o in ipairs(op.outputs) do if o.block then n = max(n, o.block) end end
  return n
end

function R.indented(lines, by)
  local out = {}
  for i, line in ipairs(lines) do out[i] = by .. line end
  return table.concat(out, "\n")
end

return R
