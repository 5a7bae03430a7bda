-- Blocks of K and inputs of element operators that instances/ has no use for: blocks of any size, longer than what is
-- packed together and of one element; either orientation of the values; two products, alike and not; sums in i32;
-- column-major E.  tests/sim/blocks.sh verifies them for gfx942, too.
gemm "corner_scaled" {
  types    = { { a = f16, b = f16, e = f16 }, { a = i8, b = i8, e = f32 }, { a = f8e4m3fnuz, b = f8e5m2, e = bf16 } },
  layouts  = { "rcr", "crr", "rrc" },
  d        = { sa = per_block("a", f32, 1, 128), sb = per_block("b", f32, 128, 128) },
  block    = function(acc, d) return acc * d.sa * d.sb end,
  epilogue = function(acc) return acc end,
}
gemm "corner_scaled_odd" {
  types    = { { a = f16, b = i8, e = bf16 } },
  layouts  = { "rcr", "crc" },
  d        = { sa = per_block("a", bf16, 3, 37, "r"), sb = per_block("b", f16, 5, 37, "r"),
               sc = per_block("b", f32, 1, 37), bias = per_col "e", full = full "e" },
  block    = function(acc, d) return -acc / d.sa * d.sb * (d.sc + 1) end,
  epilogue = function(acc, d) return acc + d.bias + d.full end,
}
gemm "corner_scaled_long" {
  types    = { { a = f32, b = f32, e = f32 } },
  layouts  = { "rcr" },
  d        = { sa = per_block("a", f32, 64, 1100), sb = per_block("b", f32, 64, 1100) },
  block    = function(acc, d) return acc * d.sa * d.sb end,
  epilogue = function(acc) return acc end,
}
gemm "corner_scaled_single" {
  types    = { { a = i8, b = i8, e = f32 } },
  layouts  = { "rcr" },
  d        = { s = per_block("a", f32, 1, 1) },
  block    = function(acc, d) return acc * d.s end,
  epilogue = function(acc) return acc end,
}
gemm "corner_scaled_pair" {
  types    = { { a = bf16, b = i8, e = bf16 } },
  layouts  = { "rcr", "rcc" },
  b        = { "gate", "up" },
  d        = { scale = per_block("b", bf16, 1, 128), zero = per_block("b", f32, 1, 64, "r"), s = per_row(f32),
               g = per_block("gate", f32, 1, 32), both = per_block("b", f32, 1, 32) },
  a_op     = function(x, d) return x * d.s end,
  b_op     = function(w, d) return (w - d.zero) * d.scale end,
  block    = function(acc, d, product)
    if product == "gate" then return acc / d.g * d.both end
    return -acc * d.both
  end,
  epilogue = function(acc) return acc.gate + acc.up end,
}
gemm "corner_dequantised" {
  types    = { { a = f16, b = i8, e = f32 }, { a = i8, b = i8, e = i32 } },
  layouts  = { "rcr", "crc" },
  d        = { scale = per_block("b", f16, 1, 32), zero = per_block("b", i8, 1, 32), n = per_col(f32),
               t = per_tensor(f32) },
  a_op     = function(x, d) return x * d.t end,
  b_op     = function(w, d) return (w - d.zero) * d.scale * d.n end,
  epilogue = function(acc) return acc end,
}
