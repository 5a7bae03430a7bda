-- SPDX-License-Identifier: MIT
-- Ops for tests/gpu's schedule `tma`: both types, every orientation, every kind of extra input, clusters, split K.
-- A portable tile each, for what is not aligned.  The shapes are some that tma takes: multiples of 8 along K and along
-- contiguous rows.
local types  = { { a = f16, b = f16, e = f16 }, { a = bf16, b = bf16, e = bf16 } }
local any    = { m = 32, n = 32, k = 16, tm = 2, tn = 2, split_k = 1 }
local shapes = { { 1, 8, 8 }, { 8, 8, 0 }, { 136, 72, 8 }, { 128, 128, 64 }, { 120, 248, 56 }, { 264, 136, 72 },
                 { 136, 520, 1000 }, { 1000, 1000, 320 }, { 384, 256, 4096 } }

gemm "tma_gemm" {
  types    = types,
  layouts  = { "rcr", "rrr", "ccr", "crc" },
  targets  = { "sm_90a" },
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { simt(any), tma { m = 128, n = 128, depth = 4, cluster = { 1, 2 }, split_k = { 1, 4 } } } },
  check    = { shapes = shapes },
}

gemm "tma_bias_relu" {
  types    = types,
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  d        = { bias = per_col "e" },
  epilogue = function(acc, d) return relu(acc + d.bias) end,
  tiles    = { sm_90a = { simt(any),
                          tma { m = { 64, 128 }, n = { 64, 256 }, depth = { 2, 5 }, cluster = 2, split_k = 1 } },
               where = function(t) return t.m * t.n == 64 * 256 or t.m * t.n == 128 * 64 or t.m == 32 end },
  check    = { shapes = shapes },
}

-- Full inputs of 2 and 4 bytes, in both orientations, with the other kinds beside them.
gemm "tma_residual" {
  types    = { { a = bf16, b = bf16, e = f32 }, { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr", "rrc" },
  targets  = { "sm_90a" },
  d        = { residual = full("a", "r"), shift = full("acc", "c"), row = per_row(f32), all = per_tensor(f32) },
  scalars  = { "beta" },
  epilogue = function(acc, d, s) return (acc * d.row + d.shift) * d.all + s.beta * d.residual end,
  tiles    = { sm_90a = { simt(any), tma { m = 128, n = 64, depth = 3, cluster = { 1, 2 }, split_k = { 1, 2 } } } },
  check    = { shapes = shapes },
}
