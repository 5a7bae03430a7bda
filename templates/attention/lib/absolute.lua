-- SPDX-License-Identifier: MIT
-- A traced score's definition in C: where the score comes from each tanh in it by sums and by multiples alone, in whose
-- factors no product of Q and K is, their absolute errors are what counts in an exponent, and a shorter tanh will do.
-- absolute(graph, text).  The reference's bounds go by the same (mark_absolute in runtime/ref_attention.c).
local function linear_in(node, k, varies)
  if node.op == "add" or node.op == "sub" or node.op == "neg" then return true end
  if node.op == "mul" then return not varies[node.args[3 - k]] end
  return node.op == "div" and k == 1 and not varies[node.args[2]]
end

-- Whether all are such.
local function of_all(graph)
  local varies, absolute = {}, {}
  for i, node in ipairs(graph) do
    varies[i] = node.op == "x"
    for _, arg in ipairs(node.args) do varies[i] = varies[i] or varies[arg] end
    absolute[i] = varies[i]
  end
  for i = #graph, 1, -1 do
    local node = graph[i]
    if node.op == "tanh" and not absolute[i] then return false end
    for k, arg in ipairs(node.args) do
      if not absolute[i] or not linear_in(node, k, varies) then absolute[arg] = false end
    end
  end
  return true
end

return function(graph, text)
  local name = "kiln_tanh("
  local at = of_all(graph) and text:find(name)
  while at do
    text = text:sub(1, at - 1) .. "kiln_tanh_absolute(" .. text:sub(at + #name)
    at = text:find(name)
  end
  return text
end
