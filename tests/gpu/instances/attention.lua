-- SPDX-License-Identifier: MIT
-- Attention ops that take schedules `wgmma` and `wgmma_decode` through their corners: masks, heads of every size they
-- take, types, functions, one to three warpgroups, with turns and without, rings short and long; lengths and pages of
-- every kind.  Some shapes have more tiles than units: a block of wgmma then goes from one tile to the next.
local shapes = { { 300, 100, 70, 130, 0, 0, 50 }, { 150, 1, 257, 140, 0, 0, 64 }, { 4, 2, 500, 700, 0, 0, 200 },
                 { 2, 2, 300, 100, 0, 0, 40 } }
local bf = { { q = bf16, k = bf16, v = bf16, o = bf16 } }
local function tiles(list) return { sm_90a = list } end
-- All functions at once, and what they take.
local inputs = { sinks = per_head(f32), slope = per_head(f32), v_scale = per_kv_head(f32) }
local function score(x, at, s, d) return 30 * tanh(x * s.scale / 30) - d.slope * (at.q - at.k) end
local function sink(_, d) return d.sinks end
local function scaled(x, _, d) return x * d.v_scale end

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
  score    = score, sink = sink, epilogue = scaled, d = inputs, scalars = { "scale" },
  outputs  = { lse = per_query(f32) },
  tiles    = tiles { wgmma { wg = 2, keys = 128, depth = 4, turns = { 0, 1 } } },
  check    = { shapes = shapes },
}
-- Scores that are part of the exponent, of either sign; with slopes; with sequences of different lengths.
-- Keys that the op hides by numbers, next to the query and far from it.
attention "att_hidden" {
  types   = { { q = f16, k = f16, v = f16, o = f16 }, { q = bf16, k = bf16, v = bf16, o = bf16 } },
  heads   = { { 64, 64 }, { 128, 128 } }, mask = causal, targets = { "sm_90a" },
  score   = function(x, at, s)
    local apart = at.q - at.k
    return select(lt(apart, 40), -1e9, select(gt(apart, 300), -1e30, x * s.scale))
  end,
  scalars = { "scale" },
  outputs = { lse = per_query(f32) },
  tiles   = tiles { wgmma { wg = 2, keys = 128, depth = 4, turns = { 0, 1 } },
                    wgmma_decode { keys = 64, depth = 3, blocks = 2, parts = { 1, 64 } } },
  check   = { shapes = shapes },
}
attention "att_factors" {
  types   = bf, heads = { { 128, 128 } }, mask = causal, targets = { "sm_90a" },
  score   = function(x, _, s) return -x * s.scale end, scalars = { "scale" },
  outputs = { lse = per_query(f32) },
  tiles   = tiles { wgmma { wg = 2, keys = 128, depth = 5, turns = 0 } },
  check   = { shapes = shapes },
}
-- Scores that a tanh bounds, of head 0 nearly all at an end; of all sizes, masks and lengths.
local function bounded(x, at, s) return 2 - 50 * tanh(x * s.scale / (0.0005 + 4 * at.head)) end
attention "att_bounded" {
  types   = bf, heads = { { 64, 128 }, { 128, 128 }, { 192, 128 } }, mask = causal, targets = { "sm_90a" },
  score   = bounded, scalars = { "scale" },
  outputs = { lse = per_query(f32) },
  tiles   = tiles { wgmma { wg = { 1, 2 }, keys = 64, depth = { 3, 5 }, turns = 0 } },
  check   = { shapes = shapes },
}
attention "att_bounded_ragged" {
  types   = bf, heads = { { 128, 128 }, { 64, 64 } }, mask = window, targets = { "sm_90a" }, lengths = ragged,
  score   = bounded, scalars = { "scale" },
  outputs = { lse = per_query(f32) },
  tiles   = tiles { wgmma { wg = 2, keys = { 96, 128 }, depth = 4, turns = 0 } },
  check   = { shapes = { shapes[1], shapes[2], { 3, 3, 900, 1000, 0, 0, 200 } } },
}
local sequences = {
  types   = bf, heads = { { 128, 128 }, { 64, 64 } }, lengths = ragged, targets = { "sm_90a" },
  score   = function(x, at, s, d) return x * s.scale - d.slope * (at.q - at.k) end, scalars = { "scale" },
  outputs = { lse = per_query(f32) },
  tiles   = tiles { wgmma { wg = 1, keys = 64, depth = 4, turns = 0 },
                    wgmma { wg = 2, keys = 128, depth = 4, turns = 0 } },
  check   = { shapes = { shapes[1], shapes[2], { 3, 3, 900, 1000, 0, 0, 200 } } },
}
sequences.mask, sequences.d = causal, { slope = per_head(f32) }
attention "att_ragged_causal" (sequences)
sequences.mask, sequences.d, sequences.sink, sequences.epilogue = window, inputs, sink, scaled
attention "att_ragged_window" (sequences)

-- Keys that blocks share.
local few = { { 8, 2, 1, 3000, 0, 0, 900, 400 }, { 32, 1, 3, 1500, 0, 0, 64, 300 }, { 4, 4, 70, 400, 0, 0, 200, 90 },
              { 6, 2, 2, 60, 0, 0, 9, 30 } }
attention "att_few" {
  types   = bf, heads = { { 64, 64 }, { 128, 128 }, { 192, 128 }, { 256, 256 } }, mask = causal, targets = { "sm_90a" },
  outputs = { lse = per_query(f32) },
  tiles   = { sm_90a = { wgmma_decode { keys = { 32, 64, 128 }, depth = { 2, 3 }, blocks = { 1, 2 },
                                        parts = { 1, 64 } } },
              where = function(t) return (t.depth == 3) == (t.parts == 64) and (t.blocks == 2) == (t.keys == 32) end },
  check   = { shapes = few },
}
attention "att_few_window" {
  types    = { { q = f16, k = f16, v = f16, o = f32 } }, heads = { { 128, 64 } }, mask = window, targets = { "sm_90a" },
  score    = score, sink = sink, epilogue = scaled, d = inputs, scalars = { "scale" },
  outputs  = { lse = per_query(f32) },
  tiles    = tiles { wgmma_decode { keys = 64, depth = 6, blocks = 2, parts = { 1, 64 } } },
  check    = { shapes = few },
}
for _, page in ipairs { 16, 32, 64, 128 } do
  attention("att_few_paged" .. page) {
    types   = bf, heads = { { 64, 64 }, { 128, 128 } }, mask = causal, targets = { "sm_90a" },
    lengths = page ~= 32 and ragged or nil, kv = paged(page),
    outputs = { lse = per_query(f32) },
    tiles   = tiles { wgmma_decode { keys = 64, depth = 3, blocks = 2, parts = { 1, 64 } } },
    check   = { shapes = few },
  }
end
attention "att_few_ragged" {
  types   = bf, heads = { { 64, 64 }, { 128, 128 } }, mask = causal, lengths = ragged, targets = { "sm_90a" },
  tiles   = tiles { wgmma_decode { keys = { 64, 128 }, depth = 3, blocks = { 1, 2 }, parts = 64 } },
  check   = { shapes = few },
}
-- K and V in fp8: all rows of a tile, panels of 64 and of 128 bytes, one to nine of a head.
local fp8 = { { q = bf16, k = f8e4m3, v = f8e4m3, o = bf16 } }
attention "att_fp8" {
  types   = fp8, heads = { { 64, 64 }, { 128, 128 }, { 192, 128 } }, mask = causal, targets = { "sm_90a" },
  outputs = { lse = per_query(f32) },
  tiles   = { sm_90a = { wgmma_decode { rows = { 16, 32, 64 }, keys = { 64, 128 }, depth = 3, blocks = { 1, 2 },
                                        parts = 64 } },
              where = function(t) return t.blocks == (t.rows < 64 and 2 or 1) and (t.rows < 64 or t.keys == 64) end },
  check   = { shapes = few },
}
attention "att_fp8_wide" {
  types   = { { q = f16, k = f8e4m3, v = f8e4m3, o = f16 } }, heads = { { 256, 256 }, { 576, 192 }, { 128, 64 } },
  targets = { "sm_90a" },
  tiles   = tiles { wgmma_decode { rows = 16, keys = 64, depth = 3, blocks = 1, parts = { 1, 64 } } },
  check   = { shapes = few },
}
attention "att_fp8_window" {
  types    = { { q = f16, k = f8e5m2, v = f8e4m3, o = f32 } }, heads = { { 128, 128 } }, mask = window,
  targets  = { "sm_90a" },
  score    = score, sink = sink, epilogue = scaled, d = inputs, scalars = { "scale" },
  outputs  = { lse = per_query(f32) },
  tiles    = tiles { wgmma_decode { rows = { 16, 64 }, keys = 64, depth = 4, blocks = 1, parts = { 1, 64 } } },
  check    = { shapes = few },
}
for _, page in ipairs { 16, 64, 192 } do
  attention("att_fp8_paged" .. page) {
    types   = fp8, heads = { { 64, 64 }, { 128, 128 } }, mask = causal, targets = { "sm_90a" },
    lengths = page ~= 64 and ragged or nil, kv = paged(page),
    outputs = { lse = per_query(f32) },
    tiles   = tiles { wgmma_decode { rows = 16, keys = 64, depth = 3, blocks = 1, parts = 64 } },
    check   = { shapes = few },
  }
end
attention "att_fp8_ragged" {
  types   = fp8, heads = { { 128, 128 } }, mask = causal, lengths = ragged, targets = { "sm_90a" },
  tiles   = tiles { wgmma_decode { rows = 16, keys = 128, depth = 3, blocks = 2, parts = 64 } },
  check   = { shapes = few },
}
-- V wider than one warpgroup has sums for, which keys may have less or more than.
attention "att_few_latent" {
  types   = bf, heads = { { 576, 512 }, { 512, 512 } }, mask = causal, targets = { "sm_90a" },
  outputs = { lse = per_query(f32) },
  tiles   = tiles { wgmma_decode { keys = 64, depth = 2, blocks = 1, cluster = { 1, 2 }, parts = { 1, 64 } } },
  check   = { shapes = few },
}
attention "att_few_latent_window" {
  types    = { { q = f16, k = f16, v = f16, o = f32 } }, heads = { { 192, 512 } }, mask = window,
  targets  = { "sm_90a" },
  score    = score, sink = sink, epilogue = scaled, d = inputs, scalars = { "scale" },
  outputs  = { lse = per_query(f32) },
  tiles    = tiles { wgmma_decode { keys = 64, depth = 2, blocks = 1, cluster = { 1, 2 }, parts = { 1, 64 } } },
  check    = { shapes = few },
}
for _, page in ipairs { 16, 64, 192 } do
  attention("att_few_latent_paged" .. page) {
    types   = bf, heads = { { 576, 512 } }, mask = causal, targets = { "sm_90a" },
    lengths = page ~= 16 and ragged or nil, kv = paged(page),
    outputs = { lse = per_query(f32) },
    tiles   = tiles { wgmma_decode { keys = 64, depth = 2, blocks = 1, cluster = { 1, 2 }, parts = { 1, 64 } } },
    check   = { shapes = few },
  }
end
attention "att_few_latent_ragged" {
  types   = bf, heads = { { 576, 512 } }, mask = causal, lengths = ragged, targets = { "sm_90a" },
  tiles   = tiles { wgmma_decode { keys = 64, depth = 2, blocks = 1, cluster = { 1, 2 }, parts = 64 } },
  check   = { shapes = few },
}
