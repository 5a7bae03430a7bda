-- SPDX-License-Identifier: MIT
-- E = silu(A·B_gate) * (A·B_up)
-- @HOW@
gemm "@NAME@" {
  types    = { { a = f16,  b = f16,  e = f16  },       -- element types; sums are in f32, of integers in i32
               { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr", "rrr" },                         -- A, B, E: r = row-major, c = column-major
  b        = { "gate", "up" },                         -- two products that share A
  epilogue = function(acc) return silu(acc.gate) * acc.up end,
  -- tiles = { gfx942 = { simt { m = { 64, 128 }, n = 64 } } },   -- other tile sizes than the schedule's own
  -- check = { shapes = { { 512, 4096, 4096 } } },              -- further m, n, k for `kiln verify --all`
}
