-- Every type that A, B and E can have, and both accumulators.
local rows = {}
for _, t in ipairs { f32, f16, bf16, i8, u8, f8e4m3, f8e5m2, f8e4m3fnuz, f8e5m2fnuz } do
  rows[#rows + 1] = { a = t, b = t, e = t }
  rows[#rows + 1] = { a = t, b = bf16, e = f32, acc = f32 }
end
rows[#rows + 1] = { a = i8, b = i8, e = i32 }
rows[#rows + 1] = { a = i8, b = i8, e = i32, acc = f32 }
rows[#rows + 1] = { a = f16, b = i8, e = i32 }
rows[#rows + 1] = { a = u8, b = i8, e = u8 }
rows[#rows + 1] = { a = i4, b = u8, e = i32, acc = i32 }
for _, t in ipairs { i4, u4 } do
  rows[#rows + 1] = { a = t, b = t, e = i32 }
  rows[#rows + 1] = { a = bf16, b = t, e = bf16 }
  rows[#rows + 1] = { a = t, b = i8, e = f32 }
  rows[#rows + 1] = { a = f8e4m3, b = t, e = f8e4m3, acc = f32 }
end
gemm "all_types" { types = rows, layouts = { "rcr" }, epilogue = function(acc) return acc end }
