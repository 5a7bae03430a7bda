-- SPDX-License-Identifier: MIT
-- What hopper.sh plants faults of attention's wgmma_decode of fp8 in.
attention "emul_fault_fp8" {
  types   = { { q = f16, k = f8e4m3, v = f8e4m3, o = f32 } }, heads = { { 64, 64 } }, mask = causal,
  targets = { "sm_90a" }, lengths = ragged, kv = paged(16),
  d       = { k_scale = per_kv_head(f32) },
  score   = function(x, _, _, d) return x * d.k_scale end,
  tiles   = { sm_90a = { wgmma_decode { rows = 16, keys = 64, depth = 2, blocks = 2, parts = 16 } } },
  check   = { shapes = { { 4, 2, 5, 300, 0, 0, 0, 40 } } },
}
