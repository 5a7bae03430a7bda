-- SPDX-License-Identifier: MIT
-- E = A·B
-- @HOW@
gemm "@NAME@" {
  types    = { { a = f16,  b = f16,  e = f16  } },     -- element types; sums are in f32, of integers in i32
  layouts  = { "rcr", "rrr" },                         -- A, B, E: r = row-major, c = column-major
  epilogue = function(acc) return acc end,
  -- tiles = { gfx942 = { simt { m = { 64, 128 }, n = 64 } } },   -- other tile sizes than the schedule's own
  -- check = { shapes = { { 512, 4096, 4096 } } },              -- further m, n, k for `kiln verify --all`
}
