-- Bytes without a sign on vector units, which have no instruction for one of each kind on some machines.
gemm "forms_unsigned" {
  types    = { { a = u8, b = i8, e = u8 }, { a = i8, b = u8, e = f32 }, { a = u8, b = u8, e = i32 } },
  layouts  = { "rcr", "crr" },
  targets  = { "gfx942" },
  d        = { bias = per_col(u8), scale = per_row(f32) },
  epilogue = function(acc, d) return acc * d.scale + d.bias end,
}
rowwise "forms_unsigned_rows" {
  types   = { { x = f32, y = u8 } },
  d       = { x = full "x", add = full "y" },
  outputs = { y = full "y", moved = full(u8) },
  scalars = { "zero" },
  body    = function(d, s)
    return { y = d.x * 64 + s.zero + d.add, moved = cast(d.add * 2 - 100, u8) }
  end,
}
