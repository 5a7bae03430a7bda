-- SPDX-License-Identifier: MIT
-- From when on wgmma shares a tile's K, for its schedule and its kernels.
return {
  -- Tiles of K from which on half of them takes less time than it takes two blocks to add up what they have.
  cut_from = 8,
  -- Where tiles that come from any address leave half of the units without one, K is cut into runs of at least half of
  -- those, as many as fill the units and at most so many.
  runs = 16,
}
