-- SPDX-License-Identifier: MIT
-- Few instances, for faults that tests/emul/hopper.sh plants in them.
attention "emul_fault_attention" {
  types   = { { q = f16, k = f16, v = f16, o = f32 } }, heads = { { 64, 64 } }, mask = causal, targets = { "sm_90a" },
  scalars = { "scale" },
  score   = function(x, _, s) return x * s.scale end,
  tiles   = { sm_90a = { wgmma { wg = 1, keys = 64, depth = 3, turns = 0 } } },
  check   = { shapes = { { 4, 2, 200, 300, 0, 0, 0 } } },
}
