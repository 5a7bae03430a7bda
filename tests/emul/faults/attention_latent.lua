-- SPDX-License-Identifier: MIT
-- What hopper.sh plants faults of attention's wgmma_decode with two warpgroups in.
attention "emul_fault_latent" {
  types   = { { q = bf16, k = bf16, v = bf16, o = f32 } }, heads = { { 128, 512 } }, mask = causal,
  targets = { "sm_90a" },
  scalars = { "scale" },
  score   = function(x, _, s) return x * s.scale end,
  tiles   = { sm_90a = { wgmma_decode { keys = 64, depth = 2, blocks = 1, cluster = 2, parts = 1 } } },
  check   = { shapes = { { 70, 1, 1, 700, 0, 0, 0, 0 } } },
}
