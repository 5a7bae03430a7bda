#!/bin/bash
# SPDX-License-Identifier: MIT
# Which traced scores attention's kernel for Hopper makes part of the exponent (templates/attention/lib/affine.lua), and by
# what it multiplies a product (factor) and a key's distance (slope) then, or a product, its tanh (factor), and what it
# adds (constant), and whether a tanh bounds all heads alike (bounded); what is anything else is computed as it is written,
# and a tanh in it by its absolute error where that is what counts (absolute.lua).
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
cat >"$tmp/scores.lua" <<'END'
local h, t, row = { h = per_head(f32) }, { t = per_tensor(f32) }, { h = per_head(f32), t = per_tensor(f32) }
local function op(name, d, scalars, score)
  attention(name) { types = { { q = bf16, k = bf16, v = bf16, o = bf16 } }, heads = { { 64, 64 } }, targets = { "sm_90a" },
                    d = d, scalars = scalars, score = score, tiles = { sm_90a = { wgmma {} } } }
end
op("scaled", nil, { "a" }, function(x, _, s) return x * s.a end)
op("negative", nil, { "a" }, function(x, _, s) return -(s.a * 2 * x) end)
op("over", nil, { "a", "b" }, function(x, _, s) return x / (s.a * s.b) end)
op("twice", nil, { "a" }, function(x, _, s) return x + x * s.a end)
op("of_head", row, nil, function(x, at, s, d) return x * sqrt(d.h) * d.t / (at.head + 1) end)
op("slope", h, { "a" }, function(x, at, s, d) return x * s.a + d.h * (at.k - at.q) end)
op("away", h, nil, function(x, at, s, d) return x - (at.q - at.k) / d.h end)
op("parts", h, nil, function(x, at, s, d) return at.k * d.h + x - d.h * at.q end)
op("nothing", h, nil, function(x, at, s, d) return x + (at.k - at.q) * d.h + (at.q - at.k) * d.h end)
op("constant", t, nil, function(x, at, s, d) return x + d.t end)
op("place", h, nil, function(x, at, s, d) return x + at.k * d.h end)
op("unlike", h, nil, function(x, at, s, d) return x + at.k * d.h - at.q * (d.h + 1) end)
op("square", nil, { "a" }, function(x, _, s) return x * x * s.a end)
op("by_place", nil, nil, function(x, at) return x * at.k end)
op("capped", nil, { "a" }, function(x, _, s) return s.a * tanh(x / s.a) end)
op("capped_by_head", h, nil, function(x, at, s, d) return d.h * tanh(x / 30) end)
op("halves", nil, { "a" }, function(x, _, s) return 7 - sigmoid(x * s.a) / s.a end)
op("twice_capped", nil, nil, function(x) local y = tanh(x / 2) return y + 3 * y end)
op("capped_slope", h, nil, function(x, at, s, d) return 30 * tanh(x / 30) + (at.k - at.q) * d.h end)
op("two_caps", nil, nil, function(x) return tanh(x) - tanh(x * 2) end)
op("beside", nil, nil, function(x) return x + tanh(x) end)
op("within", nil, nil, function(x) return 5 * tanh(tanh(x)) end)
op("gated", nil, nil, function(x) return x * tanh(x) end)
op("moved", t, nil, function(x, _, s, d) return tanh(x + d.t) end)
op("far", nil, nil, function(x, at) return select(lt(at.q - at.k, 9), x, x / 2) end)
END
sed 's/^ *//' >"$tmp/want" <<'END'
    away: factor 1.0f, slope (1.0f / d0)
    beside: as it is, absolute
    by_place: as it is
    capped: factor g.s[0], tanh of (1.0f / g.s[0]), constant 0.0f, bounded
    capped_by_head: factor d0, tanh of (1.0f / 3e+01f), constant 0.0f
    capped_slope: as it is, absolute
    constant: as it is
    far: as it is
    gated: as it is
    halves: factor (-(0.5f / g.s[0])), tanh of (0.5f * g.s[0]), constant (7.0f + (-(0.5f / g.s[0]))), bounded
    moved: as it is, absolute
    negative: factor (-(2.0f * g.s[0]))
    nothing: as it is
    of_head: factor ((kiln_sqrt(d0) * d1) / ((float)head + 1.0f))
    over: factor (1.0f / (g.s[1] * g.s[0]))
    parts: factor 1.0f, slope d0
    place: as it is
    scaled: factor g.s[0]
    slope: factor g.s[0], slope d0
    square: as it is
    twice: factor (1.0f + g.s[0])
    twice_capped: factor (1.0f + 3.0f), tanh of (1.0f / 2.0f), constant 0.0f, bounded
    two_caps: as it is, absolute
    unlike: as it is
    within: as it is
END
check "scores are compiled" "$gen" --out "$tmp/out" "$tmp/scores.lua"
for file in "$tmp"/out/sm_90a/*/*-wgmma_[0-9]*.cpp; do
    # An input's place among batches and heads is not of interest.
    name=$(basename "$(dirname "$file")")
    sed -nE "s/^ *x->factor = (.*) \* LOG2_E;/$name: factor \1/p; s/^ *x->slope = (.*) \* LOG2_E;/$name: slope \1/p
        s/^ *x->factor = (.*) \* \(2.0f \* LOG2_E\);/$name: factor \1/p
        s/^ *const float rate = (.*) \* \(2.0f \* LOG2_E\);/$name: tanh of \1/p
        s/^ *x->shift = (.*) \* LOG2_E - 0.5f.*/$name: constant \1/p
        s/^ *attend<true>\(g.*/$name: bounded/p
        s/^static KILN_DEVICE float kiln_score\(.*/$name: as it is/p; s/.* kiln_tanh_absolute\(.*/$name: absolute/p" "$file" | uniq |
        sed -E 's/\(\(const kiln_f32_t \*\)g\.d\[([0-9])\]\)\[[^]]*\[[^]]*\][^]]*(\[[^]]*\][^]]*)?\]/d\1/g'
done | LC_ALL=C sort -s -t: -k1,1 | awk -F': ' '$1 == last { printf ", %s", $2; next } { printf "%s%s", (NR > 1 ? "\n" : ""), $0; last = $1 } END { print "" }' >"$tmp/got"
check "what becomes of each" diff "$tmp/want" "$tmp/got"
finish
