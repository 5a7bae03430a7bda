-- SPDX-License-Identifier: MIT
-- What hopper.sh plants faults of attention's wgmma_decode in.
attention "emul_fault_pages" {
  types   = { { q = f16, k = f16, v = f16, o = f32 } }, heads = { { 128, 128 } }, mask = causal, targets = { "sm_90a" },
  lengths = ragged, kv = paged(16),
  scalars = { "scale" },
  score   = function(x, _, s) return x * s.scale end,
  sink    = function(_, d) return d.sinks end,
  d       = { sinks = per_head(f32) },
  tiles   = { sm_90a = { wgmma_decode { keys = 64, depth = 2, blocks = 1, parts = { 1, 16 } } } },
  check   = { shapes = { { 4, 2, 5, 700, 0, 0, 0, 60 } } },
}
