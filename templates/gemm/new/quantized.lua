-- SPDX-License-Identifier: MIT
-- E = scale * (A·B) * channel[n], rounded and saturated
-- @HOW@
gemm "@NAME@" {
  types    = { { a = i8, b = i8, e = i8 } },           -- sums are in i32, the epilogue is in f32
  layouts  = { "rcr", "rrr" },                         -- A, B, E: r = row-major, c = column-major
  d        = { channel = per_col(f32) },               -- one scale per column
  scalars  = { "scale" },                              -- given at run time
  epilogue = function(acc, d, s) return s.scale * acc * d.channel end,
  -- tiles = { gfx942 = { simt { m = { 64, 128 }, n = 64 } } },   -- other tile sizes than the schedule's own
  -- check = { shapes = { { 512, 4096, 4096 } } },              -- further m, n, k for `kiln verify --all`
}
