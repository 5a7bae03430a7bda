-- SPDX-License-Identifier: MIT
-- What llama_fp8.py needs beside instances/: decoding behind keys and values in fp8.

-- paged_attention, its pages in f8e4m3, with a scale for each head of K and V.
attention "paged_attention_fp8" {
  types    = { { q = bf16, k = f8e4m3, v = f8e4m3, o = bf16 } },
  heads    = { { 128, 128 } },
  mask     = causal,
  lengths  = ragged,
  kv       = paged(16),
  d        = { k_scale = per_kv_head(f32), v_scale = per_kv_head(f32) },
  scalars  = { "scale" },
  score    = function(x, _, s, d) return x * d.k_scale * s.scale end,
  epilogue = function(x, _, d) return x * d.v_scale end,
  outputs  = { lse = per_query(f32) },
}
