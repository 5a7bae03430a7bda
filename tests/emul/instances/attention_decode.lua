-- SPDX-License-Identifier: MIT
-- For the emulation: keys that blocks share, in one piece, in pages, with lengths of their own.

attention "emul_split" {
  types   = { { q = bf16, k = bf16, v = bf16, o = bf16 } }, heads = { { 64, 64 } }, mask = causal,
  targets = { "sm_90a" },
  outputs = { lse = per_query(f32) },
  tiles   = { sm_90a = { simt_decode { q = 4, lanes = 8, deep = 2, parts = 16 },
                         wgmma_decode { keys = 64, depth = 3, blocks = 2, parts = 16 } } },
}
-- Keys that the op hides by a number, those far from the query, which come first.
attention "emul_far" {
  types   = { { q = f16, k = f16, v = f16, o = f32 }, { q = bf16, k = bf16, v = bf16, o = bf16 } },
  heads   = { { 64, 64 } }, mask = causal, targets = { "sm_90a" },
  score   = function(x, at, s) return select(gt(at.q - at.k, 20), -1e9, x * s.scale) end, scalars = { "scale" },
  outputs = { lse = per_query(f32) },
  tiles   = { sm_90a = { simt_decode {}, wgmma_decode { keys = 64, depth = 3, blocks = 2, parts = 16 } } },
}
attention "emul_paged" {
  types   = { { q = f16, k = f8e4m3, v = f8e4m3, o = f16 } }, heads = { { 32, 48 } }, mask = window,
  lengths = ragged, kv = paged(24), targets = { "sm_90a" },
  sink    = function(_, d) return d.sinks end,
  d       = { sinks = per_head(f32) },
  outputs = { lse = per_query(f32) },
  tiles   = { sm_90a = { simt_decode { q = 4, lanes = 8, deep = 1, parts = 16 } } },
}
attention "emul_pieces" {
  types    = { { q = f16, k = f16, v = f16, o = f32 } }, heads = { { 128, 64 } }, mask = window,
  lengths  = ragged, kv = paged(16), targets = { "sm_90a" },
  score    = function(x, at, s, d) return x * s.scale - d.slope * (at.q - at.k) end,
  sink     = function(_, d) return d.sinks end,
  epilogue = function(x, _, d) return x * d.v_scale end,
  d        = { sinks = per_head(f32), slope = per_head(f32), v_scale = per_kv_head(f32) },
  scalars  = { "scale" },
  outputs  = { lse = per_query(f32) },
  tiles    = { sm_90a = { wgmma_decode { keys = 64, depth = 3, blocks = 1, parts = { 1, 16 } } } },
}
-- Pages that come with all elements of their keys at once.
attention "emul_whole" {
  types   = { { q = f16, k = f16, v = f16, o = f32 } }, heads = { { 192, 128 } }, mask = causal,
  lengths = ragged, kv = paged(16), targets = { "sm_90a" },
  outputs = { lse = per_query(f32) },
  tiles   = { sm_90a = { wgmma_decode { keys = 64, depth = 2, blocks = 1, parts = 16 } } },
}
attention "emul_ragged" {
  types   = { { q = bf16, k = bf16, v = bf16, o = bf16 } }, heads = { { 64, 64 } }, mask = causal,
  lengths = ragged, targets = { "sm_90a" },
  tiles   = { sm_90a = { wgmma_decode { keys = 128, depth = 2, blocks = 2, parts = 16 } } },
}
-- K and V in fp8: few rows, with panels of 128 bytes and of 64, and as many as there may be.
attention "emul_fp8" {
  types   = { { q = bf16, k = f8e4m3, v = f8e4m3, o = bf16 } }, heads = { { 128, 128 } }, mask = causal,
  targets = { "sm_90a" },
  outputs = { lse = per_query(f32) },
  tiles   = { sm_90a = { wgmma_decode { rows = 16, keys = 128, depth = 3, blocks = 2, parts = 16 } } },
}
attention "emul_fp8_paged" {
  types    = { { q = f16, k = f8e5m2, v = f8e4m3, o = f32 } }, heads = { { 128, 64 } }, mask = window,
  lengths  = ragged, kv = paged(16), targets = { "sm_90a" },
  score    = function(x, at, s, d) return x * s.scale * d.k_scale - 0.1 * (at.q - at.k) end,
  sink     = function(_, d) return d.sinks end,
  epilogue = function(x, _, d) return x * d.v_scale end,
  d        = { sinks = per_head(f32), k_scale = per_kv_head(f32), v_scale = per_kv_head(f32) },
  scalars  = { "scale" },
  outputs  = { lse = per_query(f32) },
  tiles    = { sm_90a = { wgmma_decode { rows = 64, keys = 64, depth = 3, blocks = 1, parts = 16 } } },
}
attention "emul_fp8_ragged" {
  types   = { { q = bf16, k = f8e4m3, v = f8e4m3, o = bf16 } }, heads = { { 64, 64 } }, mask = causal,
  lengths = ragged, targets = { "sm_90a" },
  tiles   = { sm_90a = { wgmma_decode { rows = 32, keys = 128, depth = 2, blocks = 2, parts = 16 } } },
}
-- V wider than one warpgroup has sums for; as examples/mla_decode.c calls it.
attention "mla" {
  types   = { { q = bf16, k = bf16, v = bf16, o = bf16 } }, heads = { { 576, 512 } }, mask = causal,
  targets = { "sm_90a" },
  scalars = { "scale" },
  score   = function(x, _, s) return x * s.scale end,
  outputs = { lse = per_query(f32) },
  tiles   = { sm_90a = { wgmma_decode { keys = 64, depth = 2, blocks = 1, cluster = { 1, 2 }, parts = 16 } } },
}
-- The same in pages; and where a key has less than its value, and functions.
attention "emul_latent_paged" {
  types   = { { q = bf16, k = bf16, v = bf16, o = bf16 } }, heads = { { 576, 512 } }, mask = causal,
  lengths = ragged, kv = paged(16), targets = { "sm_90a" },
  scalars = { "scale" },
  score   = function(x, _, s) return x * s.scale end,
  outputs = { lse = per_query(f32) },
  tiles   = { sm_90a = { wgmma_decode { keys = 64, depth = 2, blocks = 1, cluster = { 1, 2 }, parts = 16 } } },
}
attention "emul_latent_window" {
  types    = { { q = f16, k = f16, v = f16, o = f32 } }, heads = { { 192, 512 } }, mask = window,
  targets  = { "sm_90a" },
  score    = function(x, at, s, d) return x * s.scale - d.slope * (at.q - at.k) end,
  sink     = function(_, d) return d.sinks end,
  epilogue = function(x, _, d) return x * d.v_scale end,
  d        = { sinks = per_head(f32), slope = per_head(f32), v_scale = per_kv_head(f32) },
  scalars  = { "scale" },
  tiles    = { sm_90a = { wgmma_decode { keys = 64, depth = 2, blocks = 1, parts = 16 } } },
}
