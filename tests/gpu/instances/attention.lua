-- SPDX-License-Identifier: MIT
-- Attention ops that take schedule `wgmma` through its corners: masks, heads of every size it takes, types, functions,
-- one to three warpgroups, with turns and without, rings short and long.  Some shapes have more tiles than units:
-- a block then goes from one tile to the next.
local shapes = { { 300, 100, 70, 130, 0, 0, 50 }, { 150, 1, 257, 140, 0, 0, 64 }, { 4, 2, 500, 700, 0, 0, 200 },
                 { 2, 2, 300, 100, 0, 0, 40 } }
local bf = { { q = bf16, k = bf16, v = bf16, o = bf16 } }
local function tiles(list) return { sm_90a = list } end

attention "att_causal" {
  types   = bf, heads = { { 128, 128 } }, mask = causal, targets = { "sm_90a" },
  outputs = { lse = per_query(f32) },
  tiles   = tiles { wgmma { wg = { 1, 2 }, keys = 128, depth = { 3, 5 }, turns = 0 },
                    wgmma { wg = 2, keys = { 64, 96, 160 }, depth = 4, turns = { 0, 1 } } },
  check   = { shapes = shapes },
}
attention "att_small" {
  types   = bf, heads = { { 64, 64 } }, mask = causal, targets = { "sm_90a" },
  tiles   = tiles { wgmma { wg = { 2, 3 }, keys = 128, depth = { 4, 10 }, turns = { 0, 1 } } },
  check   = { shapes = shapes },
}
attention "att_full" {
  types   = { { q = f16, k = f16, v = f16, o = f32 }, { q = f16, k = f16, v = f16, o = f16 } },
  heads   = { { 64, 128 }, { 128, 128 }, { 192, 128 } }, targets = { "sm_90a" },
  outputs = { lse = per_query(f32) },
  tiles   = tiles { wgmma { wg = 2, keys = { 96, 128 }, depth = 3, turns = 0 } },
  check   = { shapes = shapes },
}
attention "att_functions" {
  types    = bf, heads = { { 128, 128 }, { 64, 64 } }, mask = window, targets = { "sm_90a" },
  score    = function(x, at, s, d) return 30 * tanh(x * s.scale / 30) - d.slope * (at.q - at.k) end,
  sink     = function(_, d) return d.sinks end,
  epilogue = function(x, _, d) return x * d.v_scale end,
  d        = { sinks = per_head(f32), slope = per_head(f32), v_scale = per_kv_head(f32) },
  scalars  = { "scale" },
  outputs  = { lse = per_query(f32) },
  tiles    = tiles { wgmma { wg = 2, keys = 128, depth = 4, turns = { 0, 1 } } },
  check    = { shapes = shapes },
}
