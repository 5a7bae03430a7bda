-- SPDX-License-Identifier: MIT
-- Attention as models have it: plain, causal, over a window, with K and V in fp8 and a scale for each of their heads;
-- with scores capped (Gemma 2), slopes (MPT), sinks (gpt-oss); with one latent vector for K and V (MLA); and for
-- sequences of different lengths, with K and V in one piece or in pages.
local plain = {
  { q = bf16, k = bf16, v = bf16, o = bf16 }, { q = f16, k = f16, v = f16, o = f16 },
}
local sizes = { { 64, 64 }, { 96, 96 }, { 128, 128 }, { 192, 128 }, { 256, 256 } }

-- O = softmax(Q·K'/√dim)·V
attention "attention" {
  types   = { plain[1], plain[2], { q = f32, k = f32, v = f32, o = f32 } },
  heads   = sizes,
  outputs = { lse = per_query(f32) },
}

attention "causal_attention" {
  types   = plain,
  heads   = sizes,
  mask    = causal,
  scalars = { "scale" },
  score   = function(x, _, s) return x * s.scale end,
  outputs = { lse = per_query(f32) },
}

attention "window_attention" {
  types   = { plain[1] },
  heads   = { { 64, 64 }, { 128, 128 } },
  mask    = window,
  scalars = { "scale" },
  score   = function(x, _, s) return x * s.scale end,
}

-- K and V as f8e4m3 times a scale for each of their heads.
attention "causal_attention_fp8" {
  types    = { { q = bf16, k = f8e4m3, v = f8e4m3, o = bf16 } },
  heads    = { { 64, 64 }, { 128, 128 } },
  mask     = causal,
  d        = { k_scale = per_kv_head(f32), v_scale = per_kv_head(f32) },
  scalars  = { "scale" },
  score    = function(x, _, s, d) return x * d.k_scale * s.scale end,
  epilogue = function(x, _, d) return x * d.v_scale end,
}

-- Gemma 2: no score above `cap` in magnitude.  Scalars are divided, not scores.
attention "capped_attention" {
  types   = { plain[1] },
  heads   = { { 128, 128 }, { 256, 256 } },
  mask    = causal,
  scalars = { "scale", "cap" },
  score   = function(x, _, s) return s.cap * tanh(x * (s.scale / s.cap)) end,
}

-- MPT: ALiBi, the distance times the head's slope.
attention "alibi_attention" {
  types   = { plain[1] },
  heads   = { { 64, 64 }, { 128, 128 } },
  mask    = causal,
  d       = { slope = per_head(f32) },
  scalars = { "scale" },
  score   = function(x, at, s, d) return x * s.scale + d.slope * (at.k - at.q) end,
}

-- gpt-oss: one more score in each head's sum.
attention "sink_attention" {
  types   = { plain[1] },
  heads   = { { 64, 64 } },
  mask    = window,
  d       = { sinks = per_head(bf16) },
  scalars = { "scale" },
  score   = function(x, _, s) return x * s.scale end,
  sink    = function(_, d) return d.sinks end,
}

-- Scores of one's own: a matrix of them, or one that heads, queries or batches share.
attention "bias_attention" {
  types   = { plain[1] },
  heads   = { { 64, 64 }, { 128, 128 } },
  d       = { bias = full "q" },
  scalars = { "scale" },
  score   = function(x, _, s, d) return x * s.scale + d.bias end,
}

-- DeepSeek's latent attention, absorbed: V is the first 512 elements of K, in the same memory.
attention "mla" {
  types   = { plain[1] },
  heads   = { { 576, 512 } },
  mask    = causal,
  scalars = { "scale" },
  score   = function(x, _, s) return x * s.scale end,
  outputs = { lse = per_query(f32) },
}

-- Sequences of different lengths, one behind the other in one matrix: prefill.
attention "ragged_attention" {
  types   = plain,
  heads   = { { 128, 128 } },
  mask    = causal,
  lengths = ragged,
  scalars = { "scale" },
  score   = function(x, _, s) return x * s.scale end,
  outputs = { lse = per_query(f32) },
}

-- K and V in pages of 16 keys: decode, and prefill behind what is there already.
attention "paged_attention" {
  types   = plain,
  heads   = { { 128, 128 } },
  mask    = causal,
  lengths = ragged,
  kv      = paged(16),
  scalars = { "scale" },
  score   = function(x, _, s) return x * s.scale end,
  outputs = { lse = per_query(f32) },
}

-- The latent cache in pages of 64: V is the first 512 elements of K, in the same memory.
attention "paged_mla" {
  types   = { plain[1] },
  heads   = { { 576, 512 } },
  mask    = causal,
  lengths = ragged,
  kv      = paged(64),
  scalars = { "scale" },
  score   = function(x, _, s) return x * s.scale end,
  outputs = { lse = per_query(f32) },
}
