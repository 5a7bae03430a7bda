-- Conditions: every comparison, combined, kept in locals, made by helpers, decided when all is known.
local function between(x, lo, hi) return and_(ge(x, lo), le(x, hi)) end
local function with_default(x, slope)
  slope = slope or 0.25
  return x * slope
end

gemm "conditions" {
  types    = { { a = f32, b = f32, e = f32 } },
  layouts  = { "rrr" },
  d        = { r = per_row(f32) },
  epilogue = function(acc, d)
    local x = floor(acc) + floor(2.5) + with_default(acc) + with_default(acc, d.r)
    local inside = between(acc, -1, 1)
    local nan = ne(acc, acc)
    x = x + select(or_(inside, nan), 1, d.r) + select(not_(eq(acc, d.r)), x, 2) + select(eq(acc, 0), 0, 1)
    -- Of numbers alone a condition is Lua's; and_ and or_ take those, too.
    x = x + select(and_(lt(1, 2), inside), x, 1) + select(or_(eq(1, 2), inside), x, 2)
    x = x + select(and_(inside, gt(1, 2)), acc, 3) + select(or_(inside, ne(1, 2)), 4, acc)
    assert(not_(lt(2, 1)) and and_(true, le(1, 1)) and not or_(false, ge(1, 2)))
    if eq(2, 2) and ne(1, 2) then x = x * 2 end
    local known = lt(1, 2) or gt(1, 2)
    return select(known, x, acc)
  end,
}
