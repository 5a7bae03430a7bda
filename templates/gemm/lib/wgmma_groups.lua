-- SPDX-License-Identifier: MIT
-- Products of groups of rows in wgmma (op.groups): what it takes, and how much there is to do, which the host does not
-- know: groups' rows are numbers in the device's memory.
--   unsupported(op, layout)  why an op cannot be so, or nil; nil of an op without groups
--   bound(p, t)    a problem of one group with at least as many tiles as groups of p can have, for its grid
--   spread(p, t)   a batch of as many products as groups that can have rows, each of as many rows, for its cost
-- Either is p where t has no groups.
local grouped = require "grouped"
local wgmma_groups = {}

function wgmma_groups.unsupported(op, layout)
  if not op.groups then return end
  if layout.a ~= "r" or layout.e ~= "r" then
    return "groups: their rows begin anywhere, which lines of A and E along M cannot"
  end
  for _, d in ipairs(op.d) do
    if d.kind == "full" and d.layout ~= "r" then
      return ("groups: their rows begin anywhere, which lines of %s along M cannot"):format(d.name)
    end
  end
end

function wgmma_groups.bound(p, t)
  local is = gt(t.grouped, 0)
  return grouped.with(p, select(is, p.m + min(p.batch, p.m) * t.m * t.cluster, p.m), grouped.batches(p, is))
end

function wgmma_groups.spread(p, t) return grouped.spread(p, gt(t.grouped, 0)) end

return wgmma_groups
