-- SPDX-License-Identifier: MIT
-- What a simt kernel can be made of, each at least once: every kind of extra input in every orientation, integer and
-- float sums, operators on A and B, two products, and tiles of every width.

gemm "emul_bias" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = f32, b = f32, e = f32 } },
  layouts  = { "rcr", "rrr" },
  d        = { bias = per_col "e" },
  epilogue = function(acc, d) return relu(acc + d.bias) end,
}
gemm "emul_inputs" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "ccc", "rcr" },
  d        = { x = full(f16, "r"), y = full(i32, "c"), z = per_row(f32), w = per_tensor(bf16), v = per_col(i8) },
  scalars  = { "alpha", "beta" },
  epilogue = function(acc, d, s) return s.alpha * (acc + d.x) + d.y * d.z - s.beta * d.w + d.v end,
}
gemm "emul_tiles" {
  types    = { { a = f16, b = f32, e = f32 } },
  layouts  = { "rrc", "crr" },
  epilogue = function(acc) return acc end,
  tiles    = { gfx942 = { simt { m = 32, n = 64, k = 8, tm = 8, tn = 4, split_k = { 1, 2 } },
                          simt { m = 16, n = 32, k = 64, tm = 1, tn = 2, split_k = 1 }, simt {} } },
}
gemm "emul_int8" {
  types    = { { a = i8, b = i8, e = i8 } },
  layouts  = { "rcr", "crr" },
  d        = { bias = per_col(i8) },
  scalars  = { "alpha" },
  epilogue = function(acc, d, s) return s.alpha * acc + d.bias end,
}
gemm "emul_int8_ops" {
  types    = { { a = i8, b = i8, e = i32 } },
  layouts  = { "rcr", "crc" },
  a_op     = function(x) return x + 1 end,
  b_op     = function(x) return clamp(x * 0.5, -20, 20) end,
  epilogue = function(acc) return acc end,
}
gemm "emul_pair" {
  types    = { { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr", "rrc" },
  b        = { "gate", "up" },
  epilogue = function(acc) return silu(acc.gate) * acc.up end,
}
gemm "emul_int8_pair" {
  types    = { { a = i8, b = i8, e = f16 } },
  layouts  = { "rrr" },
  b        = { "x", "y" },
  epilogue = function(acc) return acc.x - acc.y end,
}
gemm "emul_fp8" {
  types    = { { a = f8e4m3, b = f8e5m2, e = f8e4m3fnuz }, { a = f8e5m2fnuz, b = f8e4m3fnuz, e = f32 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return acc end,
}
gemm "emul_ops" {
  types    = { { a = bf16, b = i8, e = bf16 } },
  layouts  = { "rcr", "crr" },
  d        = { scale = per_col(f32) },
  a_op     = function(x) return x + 1 end,
  b_op     = function(x) return x * 0.125 + 1 end,
  epilogue = function(acc, d) return acc * d.scale end,
}
