-- SPDX-License-Identifier: MIT
-- O = softmax(scale * Q·Kᵀ, no key after the query) · V
-- @HOW@
attention "@NAME@" {
  types   = { { q = bf16, k = bf16, v = bf16, o = bf16 },   -- element types; all is computed in f32
              { q = f16,  k = f16,  v = f16,  o = f16  } },
  heads   = { { 128, 128 } },                               -- sizes of a head: of Q and K, of V and O
  mask    = causal,                                         -- causal, window; without it every key is seen
  scalars = { "scale" },                                    -- given at run time
  score   = function(x, at, s) return x * s.scale end,      -- of a query times a key; at.q, at.k, at.head, at.batch
  outputs = { lse = per_query(f32) },                       -- log of the sum of exponentials; leave it out for O alone
  -- d = { bias = full(f32) },                              -- inputs: full, per_head, per_kv_head, per_tensor
  -- lengths = ragged, kv = paged(16),                      -- sequences of their own lengths; keys in pages of 16
}
