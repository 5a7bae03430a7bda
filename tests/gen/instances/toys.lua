-- SPDX-License-Identifier: MIT
-- Ops for tests of the generator: each kind of input, both kinds of product, a sweep.
gemm "toy_bias" {
  types    = { { a = f16, b = f16, e = f16 }, { a = f32, b = f32, e = f32 } },
  layouts  = { "rcr", "rrr" },
  d        = { bias = per_col "e", rest = full("e", "r") },
  scalars  = { "alpha" },
  epilogue = function(acc, d, s) return relu(s.alpha * acc + d.bias) + d.rest end,
  check    = { rtol = 0.01, shapes = { { 17, 33, 65 }, { 1, 1, 1 } } },
}

gemm "toy_gated" {
  types    = { { a = f16, b = f16, e = bf16 } },
  layouts  = { "rcr" },
  b        = { "gate", "up" },
  epilogue = function(acc) return silu(acc.gate) * acc.up end,
  tiles    = {
    toygpu = { toy { m = { 64, 128, 256 }, n = { 64, 128 }, split = { 1, 4 } } },
    where  = function(t) return t.m * t.n <= 128 * 128 end,
  },
}

gemm "toy_scaled" {
  types    = { { a = f16, b = i8, e = f16 } },
  layouts  = { "rcr" },
  b_op     = function(x) return x / 127 end,
  d        = { scale = per_tensor(f32), offset = per_row(f32) },
  epilogue = function(acc, d) return acc * d.scale + d.offset end,
}
