-- SPDX-License-Identifier: MIT
-- For the emulation: masks, both sizes of a head, functions, one warpgroup and three, turns.

attention "emul_causal" {
  types   = { { q = bf16, k = bf16, v = bf16, o = bf16 } }, heads = { { 64, 64 } }, mask = causal,
  targets = { "sm_90a" },
  outputs = { lse = per_query(f32) },
  tiles   = { sm_90a = { wgmma { wg = { 1, 3 }, keys = 64, depth = { 3, 4 }, turns = { 0, 1 } } },
              where = function(t) return t.turns == (t.wg == 3 and 1 or 0) end },
}
attention "emul_attention" {
  types    = { { q = f16, k = f16, v = f16, o = f32 } }, heads = { { 128, 64 } }, mask = window, targets = { "sm_90a" },
  score    = function(x, at, s, d) return 30 * tanh(x * s.scale / 30) - d.slope * (at.q - at.k) end,
  sink     = function(_, d) return d.sinks end,
  epilogue = function(x, _, d) return x * d.v_scale end,
  d        = { sinks = per_head(f32), slope = per_head(f32), v_scale = per_kv_head(f32) },
  scalars  = { "scale" },
  outputs  = { lse = per_query(f32) },
  tiles    = { sm_90a = { wgmma { wg = 2, keys = 96, depth = 4, turns = 0 } } },
}
-- Keys that the op hides by a number, those next to the query, which come first.
attention "emul_hidden" {
  types   = { { q = f16, k = f16, v = f16, o = f32 }, { q = bf16, k = bf16, v = bf16, o = bf16 } },
  heads   = { { 64, 64 } }, mask = causal, targets = { "sm_90a" },
  score   = function(x, at, s) return select(lt(at.q - at.k, 20), -1e9, x * s.scale) end,
  scalars = { "scale" },
  outputs = { lse = per_query(f32) },
  tiles   = { sm_90a = { wgmma { wg = 2, keys = 64, depth = 4, turns = 0 } } },
}
-- Scores that are part of the exponent: of a negative factor; of slopes, with sequences of different lengths.
attention "emul_negative" {
  types   = { { q = bf16, k = bf16, v = bf16, o = bf16 } }, heads = { { 64, 64 } }, mask = causal, targets = { "sm_90a" },
  score   = function(x, _, s) return x / -s.scale end, scalars = { "scale" },
  outputs = { lse = per_query(f32) },
  tiles   = { sm_90a = { wgmma { wg = 2, keys = 64, depth = 4, turns = 0 } } },
}
attention "emul_sequences" {
  types   = { { q = f16, k = f16, v = f16, o = f16 } }, heads = { { 64, 128 } }, mask = window, targets = { "sm_90a" },
  lengths = ragged,
  score   = function(x, at, s, d) return d.slope * (at.k - at.q) / 2 - x * (1 - s.scale) end,
  sink    = function(_, d) return d.sinks end,
  d       = { sinks = per_head(f32), slope = per_head(f32) }, scalars = { "scale" },
  outputs = { lse = per_query(f32) },
  tiles   = { sm_90a = { wgmma { wg = { 1, 2 }, keys = 64, depth = 4, turns = 0 } } },
}
-- Scores within a cap: of head 0 far from where tanh is nearly its argument, of others near; of a negative factor, and
-- of sequences of different lengths.
attention "emul_capped" {
  types   = { { q = f16, k = f16, v = f16, o = f32 } }, heads = { { 64, 64 } }, mask = window, targets = { "sm_90a" },
  lengths = ragged,
  score   = function(x, at, s) return 3 - 20 * tanh(x * s.scale / (1 + 40 * at.head)) end,
  sink    = function(_, d) return d.sinks end,
  d       = { sinks = per_head(f32) }, scalars = { "scale" },
  outputs = { lse = per_query(f32) },
  tiles   = { sm_90a = { wgmma { wg = 2, keys = 64, depth = 4, turns = 0 } } },
}
attention "emul_sigmoid" {
  types   = { { q = f16, k = f16, v = f16, o = f32 } }, heads = { { 64, 64 } }, mask = causal, targets = { "sm_90a" },
  score   = function(x, at, s) return 40 * sigmoid(x * s.scale / (1 + 40 * at.head)) end, scalars = { "scale" },
  outputs = { lse = per_query(f32) },
  tiles   = { sm_90a = { wgmma { wg = 2, keys = 128, depth = 4, turns = 0 } } },
}
-- Scores that a tanh bounds, so that no row's largest one is looked for, of head 0 nearly all at an end; with sequences of
-- different lengths; and a cap too wide for that.
attention "emul_bounded" {
  types   = { { q = bf16, k = bf16, v = bf16, o = f32 } }, heads = { { 64, 128 } }, mask = window, targets = { "sm_90a" },
  lengths = ragged,
  score   = function(x, at, s) return 3 - 50 * tanh(x * s.scale / (0.0005 + 4 * at.head)) end, scalars = { "scale" },
  outputs = { lse = per_query(f32) },
  tiles   = { sm_90a = { wgmma { wg = 2, keys = 64, depth = 4, turns = 0 } } },
}
attention "emul_wide" {
  types   = { { q = bf16, k = bf16, v = bf16, o = f32 } }, heads = { { 64, 64 } }, mask = causal, targets = { "sm_90a" },
  score   = function(x, _, s) return 70 * tanh(x * s.scale / 70) end, scalars = { "scale" },
  outputs = { lse = per_query(f32) },
  tiles   = { sm_90a = { wgmma { wg = 3, keys = 96, depth = 4, turns = 1 } } },
}
