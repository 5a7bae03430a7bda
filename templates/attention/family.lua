-- SPDX-License-Identifier: MIT
-- O = epilogue(softmax(mask(score(Q·K'))) · V): the signature of attention.  What each field means is in
-- docs/families.md, what its ops mean in docs/attention.md.
local whole = { "f32", "f16", "bf16" }
local input = { "f32", "f16", "bf16", "f8e4m3", "f8e5m2", "f8e4m3fnuz", "f8e5m2fnuz" }

return family {
  name = "attention",
  title = "O = epilogue(softmax(mask(score(Q·K'))) · V)",
  sizes = { "heads", "kv_heads", "q", "kv", "dim", "dimv", "window", "pages" },
  rows = "q", cols = "kv",
  planes = "heads", groups = "kv_heads",   -- as many heads of Q and O to each of K and V
  fixed = { "heads", sizes = { "dim", "dimv" } },
  options = {
    { "mask", words = { "causal", "window" } }, { "lengths", words = { "ragged" } },
    { "kv", words = { "paged" }, number = "keys of a page" },
  },
  ragged = { "lengths", sizes = { "q", "kv" } },
  paged = { "kv", size = "kv", pages = "pages" },
  only = { window = { "mask", "window" }, pages = { "kv", "paged" } },
  at = { "q", "k", "head", "batch" },
  empty = { "heads", "q" },
  types = {
    { "q", of = whole, says = "q must be f32, f16 or bf16" },
    { "k", of = input, says = "k must be f32, f16, bf16 or an fp8" },
    { "v", of = input, says = "v must be f32, f16, bf16 or an fp8" },
    { "o", of = input, says = "o must be f32, f16, bf16 or an fp8" },
  },
  tensors = {
    { "q", planes = "heads", rows = "q", cols = "dim", label = "Q" },
    { "k", planes = "kv_heads", rows = "kv", cols = "dim", label = "K" },
    { "v", planes = "kv_heads", rows = "kv", cols = "dimv", label = "V" },
    { "o", planes = "heads", rows = "q", cols = "dimv", label = "O", out = true },
  },
  inputs = { most = 7, first = 4, prefix = "d.", kinds = { "full", "per_head", "per_kv_head", "per_tensor" } },
  outputs = { kinds = { "per_query" }, computed = { "lse" } },
  functions = {
    { "score", args = { "x", "at", "s", "d" } },
    { "sink", args = { "s", "d" }, over = { "heads", "kv_heads" } },
    { "epilogue", args = { "x", "s", "d" }, over = { "heads", "kv_heads", "q" } },
  },
  present = function(op, _, _, _, graphs) op.score_graph = graphs.score and graphs.score[1] end,
  shapes = {                    -- beside common ones: heads, kv_heads, q, kv, dim, dimv, window, pages
    quick = {
      { 2, 1, 1, 1, 0, 0, 1, 1 }, { 4, 2, 1, 131, 0, 0, 40, 40 }, { 3, 3, 37, 75, 0, 0, 16, 9 },
      { 2, 1, 5, 0, 0, 0, 4, 0 }, { 2, 2, 70, 33, 0, 0, 9, 5 }, { 4, 1, 1, 1100, 0, 0, 900, 70 },
    },
    { 8, 1, 1, 700, 0, 0, 300, 99 }, { 6, 2, 64, 64, 0, 0, 0, 7 }, { 1, 1, 129, 257, 0, 0, 64, 70 },
    { 10, 2, 3, 520, 0, 0, 33, 50 }, { 1, 1, 300, 300, 0, 0, 100, 64 },
  },
  example = "causal bf16,bf16,bf16,bf16 heads=32 kv_heads=8 q=4096 kv=4096",
}
