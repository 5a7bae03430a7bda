-- SPDX-License-Identifier: MIT
-- E = relu(A·B + bias)
-- @HOW@
gemm "@NAME@" {
  types    = { { a = f16,  b = f16,  e = f16  },       -- element types; sums are in f32, of integers in i32
               { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr", "rrr" },                         -- A, B, E: r = row-major, c = column-major
  d        = { bias = per_col "e" },                   -- extra inputs: full, per_row, per_col, per_tensor
  epilogue = function(acc, d) return relu(acc + d.bias) end,
  -- tiles = { gfx942 = { simt { m = { 64, 128 }, n = 64 } } },   -- other tile sizes than the schedule's own
  -- check = { shapes = { { 512, 4096, 4096 } } },              -- further m, n, k for `kiln verify --all`
}
