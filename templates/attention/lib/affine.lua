-- SPDX-License-Identifier: MIT
-- A traced score that is a * x + b * (key - query), or a * tanh(u * x) + c, where a, b, c and u are the same for all of
-- a head's queries and keys: then none is worked out for each score.  affine(graph, leaf): { x = text of a, k = text of
-- b or nil }, or { x = text of a, c = text of c, tanh = text of u, alike = whether a is the same for all heads and
-- batches }; nil where the score is anything else.  leaf(node): the text of an input, which is none per key, of a
-- scalar, a head's or a batch's number; and whether it is not the same for all heads and batches.
--   Each node is a sum of terms in x, the key's place k, the query's q, the tanh t of a multiple of x, and c of none of
-- them: coefficients, which are a text, 1 without one, a sign, and whether they are a head's or a batch's own.  A
-- sigmoid is (1 + tanh(x / 2)) / 2.
local fill = require "fill"
local longest = 2000 -- characters: what many nodes share is written out for each of them

local one, half = { sign = 1 }, { text = "0.5f", sign = 1 }
local function times(f, g)
  local text = f.text and g.text and ("(%s * %s)"):format(f.text, g.text) or f.text or g.text
  return { text = text, sign = f.sign * g.sign, own = f.own or g.own }
end
local function over(f, g)
  local text = ("(%s / %s)"):format(f.text or "1.0f", g.text or "1.0f")
  return { text = text, sign = f.sign * g.sign, own = f.own or g.own }
end
local function minus(f) return { text = f.text, sign = -f.sign, own = f.own } end
local function text_of(f) return (f.sign < 0 and "(-%s)" or "%s"):format(f.text or "1.0f") end
local function plus(f, g)
  return f and { text = ("(%s + %s)"):format(text_of(f), text_of(g)), sign = 1, own = f.own or g.own } or g
end

local function map(form, change)
  local to = {}
  for name, f in pairs(form) do to[name] = change(f) end
  return to
end
local function sum(f, g)
  local to = map(f, function(x) return x end)
  for name, x in pairs(g) do to[name] = plus(to[name], x) end
  return to
end
local function pure(form) return not (form.x or form.k or form.q or form.t) end
local function only_x(form) return form.x and not (form.k or form.q or form.t or form.c) end

-- Of a node whose operands' forms are given; nil: none.  Of more than one tanh there is none: `inner` has that one's.
local function of_node(node, args, leaf, inner)
  local f, g = args[1], args[2]
  if node.op == "x" then return { x = one } end
  if node.op == "at" and node.index < 2 then return { [node.index == 0 and "q" or "k"] = one } end
  if node.op == "add" then return sum(f, g) end
  if node.op == "sub" then return sum(f, map(g, minus)) end
  if node.op == "neg" then return map(f, minus) end
  if node.op == "mul" and f.c and pure(f) then return map(g, function(x) return times(x, f.c) end) end
  if node.op == "mul" and g.c and pure(g) then return map(f, function(x) return times(x, g.c) end) end
  if node.op == "div" and g.c and pure(g) then return map(f, function(x) return over(x, g.c) end) end
  if #args == 0 and not node.text then
    local text, own = leaf(node)
    return { c = { text = text, sign = 1, own = own } }
  end
  if (node.op == "tanh" or node.op == "sigmoid") and only_x(f) and not inner.x then
    inner.x = node.op == "tanh" and f.x or times(half, f.x)
    return node.op == "tanh" and { t = one } or { t = half, c = half }
  end
  local own = false
  for _, arg in ipairs(args) do
    if not (arg.c and pure(arg)) then return nil end
    own = own or arg.c.own
  end
  return { c = { text = fill(node.text, function(k) return text_of(args[k].c) end), sign = 1, own = own } }
end

return function(graph, leaf)
  local forms, inner = {}, {}
  for i, node in ipairs(graph) do
    local args = {}
    for k, at in ipairs(node.args) do args[k] = forms[at] end
    local form = of_node(node, args, leaf, inner)
    if not form then return nil end
    for _, f in pairs(form) do
      if #(f.text or "") > longest then return nil end
    end
    forms[i] = form
  end
  local last = forms[#forms]
  if last.t then
    if last.x or last.k or last.q then return nil end
    return { x = text_of(last.t), c = last.c and text_of(last.c) or "0.0f", tanh = text_of(inner.x),
             alike = not last.t.own }
  end
  local apart = last.k and last.q and last.k.text == last.q.text and last.k.sign ~= last.q.sign
  if not last.x or last.c or not (apart or not last.k and not last.q) then return nil end
  return { x = text_of(last.x), k = last.k and text_of(last.k) }
end
