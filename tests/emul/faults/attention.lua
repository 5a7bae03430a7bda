-- SPDX-License-Identifier: MIT
-- Few instances, for faults that tests/emul/hopper.sh plants in them.
attention "emul_fault_attention" {
  types   = { { q = f16, k = f16, v = f16, o = f32 } }, heads = { { 64, 64 } }, mask = causal, targets = { "sm_90a" },
  scalars = { "scale" },
  score   = function(x, _, s) return x * s.scale end,
  tiles   = { sm_90a = { wgmma { wg = 1, keys = 64, depth = 3, turns = 0 } } },
  check   = { shapes = { { 4, 2, 200, 300, 0, 0, 0 } } },
}
attention "emul_fault_ragged" {
  types   = { { q = f16, k = f16, v = f16, o = f32 } }, heads = { { 64, 64 } }, mask = causal, targets = { "sm_90a" },
  lengths = ragged,
  score   = function(x, at, s, d) return x * s.scale - d.slope * (at.q - at.k) end,
  sink    = function(_, d) return d.slope end,
  d       = { slope = per_head(f32) }, scalars = { "scale" },
  outputs = { lse = per_query(f32) },
  tiles   = { sm_90a = { wgmma { wg = 1, keys = 64, depth = 3, turns = 0 } } },
  check   = { shapes = { { 4, 2, 300, 300, 0, 0, 0 } } },
}
attention "emul_fault_negative" {
  types   = { { q = f16, k = f16, v = f16, o = f32 } }, heads = { { 64, 64 } }, targets = { "sm_90a" },
  score   = function(x, _, s) return x * -s.scale end, scalars = { "scale" },
  tiles   = { sm_90a = { wgmma { wg = 1, keys = 64, depth = 3, turns = 0 } } },
  check   = { shapes = { { 2, 2, 70, 200, 0, 0, 0 } } },
}
-- Queries ahead of the first key: all of their scores are far below 0.
attention "emul_fault_low" {
  types   = { { q = f16, k = f16, v = f16, o = f32 } }, heads = { { 64, 64 } }, targets = { "sm_90a" },
  score   = function(x, at, s) return x * s.scale - 500 * (at.k - at.q) end, scalars = { "scale" },
  tiles   = { sm_90a = { wgmma { wg = 1, keys = 64, depth = 3, turns = 0 } } },
  check   = { shapes = { { 2, 2, 300, 40, 0, 0, 0 } } },
}
-- Within a small cap and a large one, negative and positive, far from where tanh is nearly its argument and near; keys
-- of no sequence are NaN.
attention "emul_fault_capped" {
  types   = { { q = f16, k = f16, v = f16, o = f32 } }, heads = { { 64, 64 } }, mask = causal, targets = { "sm_90a" },
  lengths = ragged,
  score   = function(x, at, s)
    local half = floor(at.head / 2)
    return (30 * half - 2) * tanh(x * s.scale / (1 + 40 * (at.head - 2 * half)))
  end,
  scalars = { "scale" },
  outputs = { lse = per_query(f32) },
  tiles   = { sm_90a = { wgmma { wg = 1, keys = 64, depth = 3, turns = 0 } } },
  check   = { shapes = { { 4, 2, 100, 200, 0, 0, 0 } } },
}
-- Within a cap that bounds them, of head 0 nearly all at an end.
attention "emul_fault_bounded" {
  types   = { { q = bf16, k = bf16, v = bf16, o = f32 } }, heads = { { 64, 64 } }, mask = causal, targets = { "sm_90a" },
  lengths = ragged,
  score   = function(x, at, s) return 50 * tanh(x * s.scale / (0.0005 + 4 * at.head)) end, scalars = { "scale" },
  outputs = { lse = per_query(f32) },
  tiles   = { sm_90a = { wgmma { wg = 1, keys = 64, depth = 4, turns = 0 } } },
  check   = { shapes = { { 4, 2, 200, 300, 0, 0, 0 } } },
}
