-- SPDX-License-Identifier: MIT
-- Sums of blocks of K in mfma: how long such a sum is, and what a lane has of the factors' inputs.  Of a schedule's `t`
-- and an op whose `block` function scales the sum of each `deep` elements along K before it is added to the others.
--
-- A lane has one place along E's other dimension in each matrix instruction ("slow"), and four neighbours at a time
-- along its contiguous one ("fast"); where it is `swapped`, the other way round.
--
--   add          length of a sum along K until it is scaled and added: a block, or an equal part of a long one
--   step         length of a step of the main loop
--   steps        steps to a sum, if that is `whole`
--   unroll       tiles of K in which the main loop does the same each time
--   exact        whether sums are whole numbers below 2^22
--   slots        sums that are added in those
--   group        matrix tiles whose multiplications take turns
--   registers    more than a tile wants without blocks
--   inputs       those of the factors, each with
--     rows         "m" or "n": the dimension that its values vary along, beside K
--     slow         whether a lane has one place along it in a matrix instruction
--     values       how many of them a lane has for a block
--   even         whether all sums that a lane has of a matrix instruction have one factor
--   swapped      whether they do so only if those lie along E's other dimension
local function gcd(x, y)
  while y > 0 do x, y = y, x % y end
  return x
end

-- What no element of whole numbers is larger than; an operator may make any of the type that is multiplied.
local function largest(type, has_op, mul)
  if has_op then type = mul end
  return (type.name == "u4" or type.name == "u8") and (1 << type.bits) - 1 or 1 << type.bits - 1
end

return function(op, t, types)
  local block = { inputs = {}, unroll = t.ahead, step = t.k // t.wk // t.steps }
  local deep = op.block.deep
  if deep % t.k == 0 then
    while block.unroll < 4 and deep // t.k % (2 * block.unroll) == 0 do block.unroll = 2 * block.unroll end
    block.add = gcd(deep, block.unroll * t.k)
    block.steps, block.slots = block.add // t.k * t.steps, block.unroll * t.k // block.add
  else
    block.add = gcd(deep, t.k // t.wk)
    block.steps, block.slots = block.add // block.step, block.unroll * (t.k // t.wk) // block.add
  end
  local most = largest(types.a, op.has_a_op, types.mul_a) * largest(types.b, op.has_b_op, types.mul_b)
  block.exact = types.acc.name == "i32" and most * block.add < 1 << 22
  block.whole = block.add % block.step == 0
  -- A second set of sums, of few tiles a third; factors.
  local matrices = t.products * t.m_tiles * t.n_tiles
  block.registers = matrices * t.mfma * t.mfma // 64 * (matrices < 4 and 2 or 1) + 4
  local used, tiles = {}, { m = t.m_tiles, n = t.n_tiles }
  for q = 0, op.products - 1 do
    for _, d in ipairs(op.block_inputs[q]) do used[d.index] = true end
  end
  local function even(row)
    for _, d in ipairs(op.d) do
      if used[d.index] and (d.of == "a") ~= row and d.along % t.mfma ~= 0 then return false end
    end
    return true
  end
  local row = t.e_row == 1
  block.swapped = not even(row) and even(not row)
  block.even = even(row) or block.swapped
  for _, d in ipairs(op.d) do
    if used[d.index] then
      d.rows = d.of == "a" and "m" or "n"
      d.slow = (d.rows == "m") == (row ~= block.swapped)
      d.values = d.along % (tiles[d.rows] * t.mfma) == 0 and 1 or tiles[d.rows]
      block.inputs[#block.inputs + 1] = d
      block.registers = block.registers + (block.slots + 2) * d.values -- and addresses
    end
  end
  block.group = t.products * t.m_tiles * t.n_tiles % 2 == 0 and 2 or 1
  return block
end
