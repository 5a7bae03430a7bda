-- SPDX-License-Identifier: MIT
-- A and B as templates go through them: alike but for names.
--   rows, ROWS   what their tile has beside K: M of A, N of B
--   count        how many there are: a gated op multiplies A by two B
--   T            the type of an element in memory, in C; elements of 4 bits share one
--   place(text)  how many of these come before the element at a (whole, where they share) offset
--   along_k      neighbours in memory are neighbours along K
--   has_op       an operator changes elements on their way
return function(op, types, layout)
  local function place_of(type)
    if type.bits >= 8 then return function(text) return text end end
    return function(text) return ("(%s) / %d"):format(text, 8 // type.bits) end
  end
  return {
    { name = "a", NAME = "A", rows = "m", ROWS = "M", count = 1, type = types.a, mul = types.mul_a,
      T = "kiln_" .. types.a.name .. "_t", place = place_of(types.a), along_k = layout.a == "r", has_op = op.has_a_op },
    { name = "b", NAME = "B", rows = "n", ROWS = "N", count = op.products, type = types.b, mul = types.mul_b,
      T = "kiln_" .. types.b.name .. "_t", place = place_of(types.b), along_k = layout.b == "c", has_op = op.has_b_op },
  }
end
