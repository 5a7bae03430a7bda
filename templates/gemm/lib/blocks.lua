-- SPDX-License-Identifier: MIT
-- Inputs that belong to blocks of A or B, and those that element operators get: what templates say of them in C.
--   unsupported(op)                 why a schedule that knows of no such inputs, nor of a b_op for each product, can't
--                                   compute an op, or nil
--   at(d, across, k, ld)            the place in input d, in elements, of what belongs to row `across` of A, or column
--                                   of B, and to k along K; ld: its leading dimension
--   value(d, across, k, batch)      that element as f32, read from memory
--   gathered(op, d)                 whether it belongs to rows of A that are numbers of rows of a matrix (op.gather):
--                                   then `across` is such a number, and 0 what belongs to a row that is none
--   any_gathered(op)                whether one of the op's inputs does
--   belongs(op, d, across, token, value)  value(across), what d has for row `across` of A or column of B; for gathered
--                                   rows value(token(across)), 0 where that is negative; each gives a text in C
local blocks = {}

function blocks.unsupported(op)
  if op.block then return "does not scale the sums over blocks of K" end
  if #op.a_inputs + #op.b_inputs > 0 then return "its a_op and b_op get no inputs" end
  if not op.b_op_alike then return "its b_op is one for both products" end
end

local function part(x, length) return length == 1 and x or ("(%s) / %d"):format(x, length) end

function blocks.at(d, across, k, ld)
  if d.kind == "per_tensor" then return "0" end
  if d.kind ~= "per_block" then return across end
  local by_across = d.layout == (d.of == "a" and "r" or "c") -- neighbours are neighbours along K
  local near, far = part(k, d.deep), part(across, d.along)
  if not by_across then near, far = far, near end
  return ("(%s) * %s + (%s)"):format(far, ld, near)
end

function blocks.value(d, across, k, batch)
  local i = d.index
  local from = ("((const kiln_%s_t *)g.d[%d] + %s * g.stride_d[%d])"):format(d.type.name, i, batch, i)
  local at = blocks.at(d, across, k, "g.ldd[" .. i .. "]")
  if d.type.bits == 4 then -- two to a byte
    from = ("(const unsigned char *)g.d[%d] + %s * g.stride_d[%d] / 2"):format(i, batch, i)
    return to_f32(d.type, ("kiln_half_byte(%s, %s)"):format(from, at))
  end
  return to_f32(d.type, ("%s[%s]"):format(from, at))
end

function blocks.gathered(op, d) return op.gather ~= nil and d.kind == "per_block" and d.of == "a" end

function blocks.any_gathered(op)
  for _, d in ipairs(op.d) do
    if blocks.gathered(op, d) then return true end
  end
  return false
end

function blocks.belongs(op, d, across, token, value)
  if not blocks.gathered(op, d) then return value(across) end
  local row = token(across)
  return ("(%s < 0 ? 0.0f : %s)"):format(row, value(row))
end

return blocks
