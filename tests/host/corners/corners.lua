-- What instances/ has no use for, and the host schedule must still take: every kind of D in either layout,
-- column-major E, element operations, mixed types, int8 summed in f32, blocks so small that every edge is met.
gemm "corner_inputs" {
  types    = { { a = bf16, b = i8,         e = f16 },
               { a = f32,  b = f8e5m2fnuz, e = i8 },
               { a = i8,   b = i8,         e = f8e4m3fnuz } },
  layouts  = { "rrc", "ccr" },
  d        = { bias = per_col "e", f = full(i8), g = full(f32, "r"), h = full("a", "c"), row = per_row(f8e4m3),
               one = per_tensor(f32) },
  scalars  = { "alpha", "beta" },
  epilogue = function(acc, d, s)
    return silu(acc * s.alpha + d.bias) + d.f * d.row + s.beta * d.g + d.h - d.one
  end,
}
gemm "corner_element_ops" {
  types    = { { a = i8,         b = i8,     e = i32 },
               { a = f16,        b = f8e4m3, e = f32 },
               { a = f8e4m3fnuz, b = f8e5m2, e = bf16 },
               { a = f32,        b = bf16,   e = f32 },
               { a = u8,         b = i8,     e = u8 } },
  layouts  = { "rcr", "crc" },
  a_op     = function(x) return clamp(x * 0.5 + 1, -100, 100) end,
  b_op     = function(x) return relu(x) - 2 end,
  epilogue = function(acc) return acc end,
}
-- Beside infinities, elements that are zero where the quotient by another infinity is, but known within bounds.
gemm "corner_quotients" {
  types    = { { a = bf16, b = i8, e = f32 } },
  layouts  = { "rcr" },
  d        = { s = per_block("b", f32, 1, 20) },
  b_op     = function(w, d) return w / (abs(d.s) + 0.5) end,
  epilogue = function(acc) return acc end,
}
gemm "corner_pair" {
  types    = { { a = i8, b = i8, e = i8 }, { a = bf16, b = f16, e = f8e5m2 } },
  layouts  = { "rrc", "crr" },
  b        = { "left", "right" },
  d        = { scale = per_row(f32) },
  epilogue = function(acc, d) return (acc.left - acc.right) * d.scale end,
}
-- Bytes with a sign and without, on either side, and what is made of them.
gemm "corner_unsigned" {
  types    = { { a = u8, b = i8, e = u8 }, { a = u8, b = u8, e = f32 } },
  layouts  = { "rcr", "crc" },
  d        = { bias = per_col(u8), f = full(u8), scale = per_row(f32) },
  scalars  = { "zero" },
  epilogue = function(acc, d, s) return acc * d.scale - cast(d.f * 2 - 100, u8) + d.bias + s.zero end,
}
gemm "corner_sums" {
  types    = { { a = i8, b = i8, acc = f32, e = f32 } },
  layouts  = { "crr" },
  epilogue = function(acc) return acc end,
}
gemm "corner_blocks" {
  types    = { { a = f32, b = f32, e = f32 }, { a = i8, b = i8, e = i32 } },
  layouts  = { "rcr", "rrr" },
  tiles    = { host = { host { mc = 256, nc = 64, kc = 128 } } },
  epilogue = function(acc) return acc end,
}
-- Conditions near their jumps: integers meet each other and halves, NaN is told apart.
gemm "corner_conditions" {
  types    = { { a = i8, b = i8, acc = f32, e = f32 }, { a = f16, b = f16, e = bf16 } },
  layouts  = { "rcr" },
  d        = { limit = per_row(f32), other = full "e" },
  epilogue = function(acc, d)
    local inside = and_(ge(acc, -d.limit), not_(gt(acc, d.limit)))
    local even = eq(acc, 2 * floor(acc / 2))
    return select(or_(inside, ne(d.other, d.other)), select(even, acc, -acc), floor(acc * 0.25) + d.other)
  end,
}
-- Heads of one element, whose scores are scaled by 1, and of odd numbers.
attention "corner_heads" {
  types   = { { q = f16, k = f8e5m2, v = bf16, o = f32 } },
  heads   = { { 1, 1 }, { 33, 17 } },
  outputs = { lse = per_query(f32) },
}
-- Scores of all that a place has: the batch's number, too, which counts from the first.
attention "corner_places" {
  types   = { { q = bf16, k = bf16, v = bf16, o = f32 } },
  heads   = { { 24, 8 } },
  mask    = causal,
  outputs = { lse = per_query(f32) },
  score   = function(x, at) return x * 0.25 + 0.125 * at.batch - (at.head + 1) * 0.0625 * (at.q - at.k) end,
}
-- Quotients that whole numbers and conditions come of are exact: of a value of the row, of a block, of an element.
rowwise "corner_remainders" {
  types   = { { x = f32, y = i32 } },
  d       = { x = full "x", r = per_row(f32) },
  outputs = { y = full "y", z = full "y", w = full(i8), b = per_block(i32, 1, 8) },
  body    = function(d, _, at)
    local function whole(x) return floor(abs(x) * 90) + 1 end
    local by_row, by_block, by_row_too, by = whole(d.r), whole(block_max(d.x, 8)), whole(row_max(d.x)), whole(d.x)
    return {
      y = at.col - by_row * floor(at.col / by_row),
      z = floor(at.col / by_row_too) - floor(-(at.col / by)),
      w = select(eq(at.col / by_block, floor(at.col / by_block)), 1, select(ge(d.x / row_max(abs(d.x)), 1), 2, 0)),
      b = floor(block_max(at.col + 0 * d.r, 8) / by_block),
    }
  end,
}

-- Keys that are hidden by a number: nothing of their values is in O.
attention "corner_hidden" {
  types = { { q = f32, k = f32, v = f32, o = f32 } },
  heads = { { 16, 16 } },
  score = function(x, at) return select(le(abs(at.q - at.k), 7), x, -1e30) end,
}
gemm "corner_operators" {
  types    = { { a = bf16, b = i8, e = bf16 }, { a = f32, b = f32, e = f32 } },
  layouts  = { "rcr", "rrc" },
  b        = { "gate", "up" },
  b_op     = function(w, _, product) return product == "up" and w / 8 or relu(w - 1) end,
  epilogue = function(acc) return acc.gate + acc.up end,
}
