-- SPDX-License-Identifier: MIT
-- Row-wise operations on CPUs: each thread takes some rows, and of each row a piece of columns at a time, by vectors.
-- What does not reduce is shared out by parts of rows, too.
local R = require "rows"

return schedule {
  family = "rowwise",
  title = "rows by vectors, shared out among threads: any size, stride and alignment",
  supports = function(target) return target.vendor == "host", "runs on the host only" end,
  tunables = {
    { "piece", values = { 64, 128, 256 }, doc = "columns that are computed at once" },
    { "step", values = { 65536, 262144 }, doc = "bytes of rows that a thread takes at a time" },
  },
  derived = { "bytes", "phases", "stream", "cut", "work" },
  derive = function(t, op)
    t.bytes, t.phases = max(R.sizes(op).bytes, 1), R.plan(op).last + 1
    t.stream = 4194304 -- bytes of all rows from which outputs go past the caches
    t.cut = 256        -- columns that parts of a row are multiples of
    t.work = R.work(R.plan(op), t.piece)
  end,
  rules = {
    { "blocks of columns are larger than a piece of {piece}",
      function(t, op) return R.largest_block(op) <= t.piece end },
  },
  defaults = function(target, op)
    return { { piece = R.largest_block(op) < 64 and 64 or 256, step = 262144 } }
  end,
  name = function(t) return ("p%d_s%d"):format(t.piece, t.step // 1024) end,
  launch = function(p, t, target) return { { grid = { 1 }, block = { 1 } } } end,
  cost = function(p, t, target)
    local elements = p.rows * p.cols * p.batch
    local memory = elements * t.bytes / (target.gbps * 1e3) / max(p.units, 1)
    local compute = elements * t.phases * t.work * 2e-5 / max(p.units, 1)
    return target.launch_us + memory + compute, {
      { "launching", target.launch_us },
      { "moving bytes", memory },
      { "computing", compute },
      { "threads", max(p.units, 1), "count" },
    }
  end,
}
