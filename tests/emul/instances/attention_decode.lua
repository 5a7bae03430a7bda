-- SPDX-License-Identifier: MIT
-- For the emulation: keys that blocks share, in one piece, and in pages with lengths of their own.

attention "emul_split" {
  types   = { { q = bf16, k = bf16, v = bf16, o = bf16 } }, heads = { { 64, 64 } }, mask = causal,
  targets = { "sm_90a" },
  outputs = { lse = per_query(f32) },
  tiles   = { sm_90a = { simt_decode { q = 4, lanes = 8, deep = 2, parts = 16 } } },
}
attention "emul_paged" {
  types   = { { q = f16, k = f8e4m3, v = f8e4m3, o = f16 } }, heads = { { 32, 48 } }, mask = window,
  lengths = ragged, kv = paged(24), targets = { "sm_90a" },
  sink    = function(_, d) return d.sinks end,
  d       = { sinks = per_head(f32) },
  outputs = { lse = per_query(f32) },
  tiles   = { sm_90a = { simt_decode { q = 4, lanes = 8, deep = 1, parts = 16 } } },
}
