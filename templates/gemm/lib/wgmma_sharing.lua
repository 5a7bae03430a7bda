-- SPDX-License-Identifier: MIT
-- From when on wgmma shares a tile's K, and what its clusters have to do: for its schedule and its kernels.
local fitting = require "clusters"
local sharing = {
  -- Tiles of K from which on half of them takes less time than it takes two blocks to add up what they have.
  cut_from = 8,
  -- Where tiles are fewer than the units (those that come from any address: than half of them), `stream` cuts K into
  -- runs of at least half of those, as many as fill the units and at most so many.
  runs = 16,
}

-- How long clusters are busy with items and halves of items that share K, in halves of an item's time: as the kernel
-- has it (shares::busy).
local function halves_of(items, halves, units)
  local rest = items % units
  local late = ceil_div(max(halves - 2 * (units - rest), 0), units)
  return 2 * (items // units) + select(le(2 * rest + halves, units), min(rest + halves, 1), 2 + late)
end

-- What clusters share, as the kernel has it (shares): `items`, each a tile for every block of a cluster, `halved` ones,
-- halves of items of which each half of a cluster has half of K, and the `clusters` that do them: as many as there are,
-- or one for every item, half or run along K.  `at_work`: those of them that have one.  `beyond`: items of a wave that
-- is not whole.  `odd`: of `halved`, the last ones along the side of neighbours.
function sharing.work(p, t)
  local tiles_x = ceil_div(select(eq(t.x_is_a, 1), p.m, p.n), t.x)
  local tiles_y = ceil_div(select(eq(t.x_is_a, 1), p.n, p.m), t.y)
  local along = select(eq(t.share_x, 1), tiles_y, tiles_x) -- neighbours of a cluster
  local others = select(eq(t.share_x, 1), tiles_x, tiles_y) * p.batch
  local items, units = ceil_div(along, t.cluster) * others, max(fitting(p.units, t.cluster) // t.cluster, 1)
  local may_cut = all(eq(t.cut, 1), ge(ceil_div(p.k, t.k), sharing.cut_from))
  local runs = max(min(p.k // (t.k * (sharing.cut_from // 2)), sharing.runs), 1)
  local few = any(le(2 * items, units), all(eq(t.gather, 0), lt(items, units)))
  runs = select(all(eq(t.stream, 1), few), runs, 1)
  local w = { units = units }
  local halves = ceil_div(along, max(t.cluster // 2, 1))
  w.clusters = max(min(select(may_cut, halves * others, items * runs), units), 1)
  local pairs = halves // 2 * others
  local apart = all(may_cut, eq(halves % 2, 1), lt(halves_of(pairs, others, units), halves_of(items, 0, units)))
  w.odd = select(apart, others, 0)
  items = select(apart, pairs, items)
  local rest = items % units
  local rest_halved = select(all(may_cut, le(2 * rest + w.odd, units)), rest, 0)
  w.beyond = rest - rest_halved
  w.items, w.halved = items - rest_halved, w.odd + 2 * rest_halved
  w.at_work = select(may_cut, min(w.items + w.halved, w.clusters), w.clusters)
  return w
end

return sharing
