-- SPDX-License-Identifier: MIT
-- What shipped ops do not ask of attention's mfma schedule: sizes of a head that differ or no tile of theirs fits, O of
-- four bytes, all functions at once, eight waves.

attention "sim_attention" {
  types    = { { q = f16, k = f16, v = f16, o = f32 } }, heads = { { 96, 64 } }, mask = window,
  targets  = { "gfx942", "gfx90a" },
  score    = function(x, at, s, d) return 30 * tanh(x * s.scale / 30) - d.slope * (at.q - at.k) end,
  sink     = function(_, d) return d.sinks end,
  epilogue = function(x, _, d) return x * d.v_scale end,
  d        = { sinks = per_head(f32), slope = per_head(f32), v_scale = per_kv_head(f32) },
  scalars  = { "scale" },
  outputs  = { lse = per_query(f32) },
  tiles    = { gfx942 = { mfma { q = 256, kv = 128 } }, gfx90a = { mfma {} } },
}
-- Sinks so far below every score that they are none, as some have it, and yet a number.
attention "sim_sinks" {
  types    = { { q = f16, k = f16, v = f16, o = f16 }, { q = bf16, k = bf16, v = bf16, o = bf16 } },
  heads    = { { 64, 64 } }, mask = causal, targets = { "gfx942", "gfx90a" },
  sink     = function(_, d) return d.sinks - 1e30 end,
  d        = { sinks = per_head(f32) },
  outputs  = { lse = per_query(f32) },
  tiles    = { gfx942 = { mfma {} }, gfx90a = { mfma {} } },
}
-- Sizes whose tile of keys is larger than others': V has room for O on its way out; threads have whole loads of K.
attention "sim_heads" {
  types   = { { q = bf16, k = bf16, v = bf16, o = bf16 } }, heads = { { 32, 32 }, { 160, 160 } }, mask = causal,
  targets = { "gfx942", "gfx90a" },
  tiles   = { gfx942 = { mfma {} }, gfx90a = { mfma {} } },
}
attention "sim_full" {
  types   = { { q = f16, k = f16, v = f16, o = f16 } }, heads = { { 128, 128 } }, targets = { "gfx942", "gfx90a" },
  outputs = { lse = per_query(f32) },
  tiles   = { gfx942 = { mfma {} }, gfx90a = { mfma {} } },
}
