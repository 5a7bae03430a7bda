-- SPDX-License-Identifier: MIT
-- How much there is to do where rows of E are of groups, which the host does not know: groups' rows are numbers in the
-- device's memory.  is: a condition; where it does not hold each gives what a problem without groups has.
--   some(p)            groups that can have rows
--   batches(p, is)     batches: rows of groups are all in one
--   down(p, m, is)     tiles of m rows, of groups that have as many rows each; of all batches, where they are groups
--   most_down(p, m, is) the same, as many as there can be
--   spread(p, is)      the problem as a batch of as many products as groups can have rows, each of as many rows
--   with(p, m, batch)  the problem with other rows and batches
local grouped = {}

function grouped.some(p) return max(min(p.batch, p.m), 1) end

function grouped.batches(p, is) return select(is, 1, p.batch) end

function grouped.down(p, m, is)
  local some = grouped.some(p)
  return select(is, some * ceil_div(ceil_div(p.m, some), m), ceil_div(p.m, m))
end

function grouped.most_down(p, m, is)
  return select(is, (p.m + grouped.some(p) * (m - 1)) // m, ceil_div(p.m, m))
end

function grouped.with(p, m, batch)
  local q = { m = m, batch = batch }
  for _, name in ipairs { "n", "k", "lda", "ldb", "lde", "align_a", "align_b", "align_e", "align_d", "vector", "units",
                          "gflops", "gops", "gbps" } do
    q[name] = p[name]
  end
  return q
end

function grouped.spread(p, is)
  local some = grouped.some(p)
  return grouped.with(p, select(is, ceil_div(p.m, some), p.m), select(is, some, p.batch))
end

return grouped
