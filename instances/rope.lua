-- SPDX-License-Identifier: MIT
-- Rotary position embeddings of heads whose halves turn with each other (Llama, GPT-NeoX): y1 = x1 cos - x2 sin,
-- y2 = x2 cos + x1 sin.  A row is a position, a batch a head; the halves of a head are columns of one matrix, each with
-- its leading dimension; cos and sin, rows for the positions at hand, are the same for all heads.
local function turned(x1, x2, d) return x1 * d.cos - x2 * d.sin, x2 * d.cos + x1 * d.sin end

local rows = { lanes = 16, rows = 16, v = 1 } -- halves of heads are short rows
local kept = { lanes = 16, rows = 16, v = 1, resident = { 0, 1 } }
local function on_gpus(tile)
  local tiles = {}
  for _, target in ipairs { "gfx90a", "gfx942", "gfx1100", "gfx1201", "sm_90a" } do tiles[target] = { simt(tile) } end
  return tiles
end

-- In place, too: y1 where x1 is, y2 where x2 is.
rowwise "rope" {
  types   = { { x = bf16, t = f32 } },
  d       = { x1 = full "x", x2 = full "x", cos = full "t", sin = full "t" },
  outputs = { y1 = full "x", y2 = full "x" },
  tiles   = on_gpus(rows),
  body    = function(d)
    local y1, y2 = turned(d.x1, d.x2, d)
    return { y1 = y1, y2 = y2 }
  end,
}

-- K turned, and V as it is, into a cache that has neighbouring positions at one stride.
rowwise "rope_cache" {
  types   = { { x = bf16, t = f32 } },
  d       = { k1 = full "x", k2 = full "x", v1 = full "x", v2 = full "x", cos = full "t", sin = full "t" },
  outputs = { to_k1 = full "x", to_k2 = full "x", to_v1 = full "x", to_v2 = full "x" },
  tiles   = on_gpus(rows),
  body    = function(d)
    local k1, k2 = turned(d.k1, d.k2, d)
    return { to_k1 = k1, to_k2 = k2, to_v1 = d.v1, to_v2 = d.v2 }
  end,
}

-- The same into a cache of fp8, divided by each head's scales.
rowwise "rope_cache_fp8" {
  types   = { { x = bf16, t = f32, c = f8e4m3 } },
  d       = { k1 = full "x", k2 = full "x", v1 = full "x", v2 = full "x", cos = full "t", sin = full "t",
              k_scale = per_tensor(f32), v_scale = per_tensor(f32) },
  outputs = { to_k1 = full "c", to_k2 = full "c", to_v1 = full "c", to_v2 = full "c" },
  tiles   = on_gpus(rows),
  body    = function(d)
    local k1, k2 = turned(d.k1, d.k2, d)
    return { to_k1 = k1 / d.k_scale, to_k2 = k2 / d.k_scale, to_v1 = d.v1 / d.v_scale, to_v2 = d.v2 / d.v_scale }
  end,
}

-- RMSNorm of each head before it turns (Qwen 3, Gemma 3); weight1 and weight2 are halves of the head's weight.
rowwise "rmsnorm_rope" {
  types   = { { x = bf16, t = f32 } },
  d       = { x1 = full "x", x2 = full "x", weight1 = per_col "x", weight2 = per_col "x", cos = full "t",
              sin = full "t" },
  scalars = { "eps" },
  outputs = { y1 = full "x", y2 = full "x" },
  tiles   = on_gpus(kept),
  body    = function(d, s)
    local r = rsqrt(row_mean(d.x1 * d.x1 + d.x2 * d.x2) / 2 + s.eps)
    local y1, y2 = turned(d.x1 * r * d.weight1, d.x2 * r * d.weight2, d)
    return { y1 = y1, y2 = y2 }
  end,
}
