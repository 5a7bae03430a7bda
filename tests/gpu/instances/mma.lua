-- SPDX-License-Identifier: MIT
-- Ops that take gemm's schedule `mma` through its corners: every type, orientation and kind of extra input, one
-- product and two, operators, tiles of few warps and many, K that blocks share, E at any address; copies of 4 bytes and
-- of 8, and lines of B in registers.
local function tile(m, n, wm, wn, depth, blocks, split, wk, slabs, word)
  return mma { m = m, n = n, wm = wm, wn = wn, depth = depth, blocks = blocks,
               wk = wk or 1, slabs = slabs or 1, split_k = split or 0, word = word or 1 }
end
local function words(m, n, wm, wn, depth, blocks, word, split, wk, slabs)
  return tile(m, n, wm, wn, depth, blocks, split, wk, slabs, word)
end
local function lines(m, n, slabs, depth, blocks, split)
  return mma { m = m, n = n, wm = 1, wn = 8, wk = 1, slabs = slabs, word = 1, lines = 1, depth = depth, blocks = blocks,
               split_k = split or 0 }
end
local odd = { { 1, 8, 16 }, { 17, 31, 13 }, { 64, 128, 64 }, { 70, 143, 1001 }, { 3, 300, 5001 }, { 130, 67, 81 },
              { 1, 1, 0 }, { 70, 142, 1002 }, { 132, 68, 84 }, { 4, 300, 5004 } }

gemm "mma_gemm" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = f16, b = f16, e = f32 }, { a = f16, b = f16, e = i8 } },
  layouts  = { "rcr", "rcc", "rrr", "rrc", "crr", "ccr", "crc" },
  targets  = { "sm_90a" },
  d        = { row = per_row(f32), col = per_col "e", all = full "e", o = full(f16, "c"), t = per_tensor(f32) },
  epilogue = function(acc, d) return acc * d.row + d.col + d.all * d.t - d.o end,
  tiles    = { sm_90a = { tile(64, 64, 2, 2, 4, 3), tile(16, 64, 1, 4, 6, 3), tile(128, 64, 4, 2, 3, 2),
                          tile(16, 32, 1, 2, 2, 4, 3, 2), tile(16, 32, 1, 1, 5, 4, 0, 4),
                          tile(32, 32, 1, 1, 3, 3, 0, 4, 2), words(64, 64, 2, 2, 4, 3, 4),
                          words(128, 128, 2, 4, 4, 1, 8), words(16, 32, 1, 1, 5, 3, 4, 0, 4, 2),
                          words(32, 64, 1, 2, 2, 3, 8, 3, 2) } },
  check    = { shapes = odd },
}

gemm "mma_bytes" {
  types    = { { a = i8, b = i8, e = i8 }, { a = i8, b = u8, e = i32 }, { a = u8, b = i8, e = f32 },
               { a = u8, b = u8, e = bf16 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  d        = { scale = per_col(f32) },
  epilogue = function(acc, d) return acc * d.scale end,
  tiles    = { sm_90a = { tile(64, 64, 2, 2, 4, 3), tile(16, 64, 1, 4, 6, 3), tile(32, 64, 1, 4, 3, 3, 5),
                          tile(32, 32, 1, 1, 3, 4, 0, 4, 2), words(64, 64, 2, 2, 4, 3, 4),
                          words(16, 32, 1, 1, 5, 3, 8, 0, 4) } },
  check    = { shapes = odd },
}

gemm "mma_widened" {
  types    = { { a = bf16, b = i8, e = bf16 }, { a = f16, b = i8, e = f16 }, { a = bf16, b = f8e4m3, e = bf16 },
               { a = f16, b = f8e4m3, e = f32 }, { a = bf16, b = f8e5m2, e = f32 }, { a = i8, b = bf16, e = bf16 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { tile(64, 64, 2, 2, 4, 3), tile(16, 64, 1, 4, 6, 3), words(64, 64, 2, 2, 4, 3, 4),
                          words(16, 32, 1, 1, 5, 3, 8, 0, 4) } },
  check    = { shapes = odd },
}

gemm "mma_two" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = f16, b = i8, e = f16 }, { a = i8, b = i8, e = f32 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  b        = { "gate", "up" },
  epilogue = function(acc) return silu(acc.gate) * acc.up end,
  tiles    = { sm_90a = { tile(64, 32, 2, 2, 4, 3), tile(16, 32, 1, 2, 6, 3, 8, 2), words(64, 32, 2, 2, 4, 3, 4, 2) } },
  check    = { shapes = odd },
}

-- Operators that make something of nothing, on either side.
gemm "mma_op" {
  types    = { { a = bf16, b = bf16, e = f32 }, { a = f16, b = i8, e = f16 } },
  layouts  = { "rcr", "ccr" },
  targets  = { "sm_90a" },
  a_op     = function(x) return x + 1 end,
  b_op     = function(x) return x * 0.5 + 3 end,
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { tile(64, 64, 2, 2, 4, 3), tile(16, 64, 1, 4, 6, 3, 2), words(64, 64, 2, 2, 4, 3, 4) } },
  check    = { shapes = odd },
}

-- Lines of B in registers: as many elements of B as of A in a word, more and fewer.
local function in_steps(t) return t.steps == 4 and (t.blocks == 1 or t.bits_b == 16 or t.m == 16 and t.blocks == 2) end
local of_lines = { lines(16, 64, 2, 4, 2), lines(16, 128, { 2, 4 }, 2, { 2, 3 }), lines(32, 128, { 2, 4 }, 4, { 1, 2 }),
                   lines(16, 256, { 2, 4 }, 4, 1, 5), lines(64, 128, { 2, 4 }, 2, 1) }
gemm "mma_lines" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = i8, b = bf16, e = bf16 }, { a = i8, b = u8, e = i32 },
               { a = u8, b = i8, e = i8 }, { a = bf16, b = i8, e = bf16 }, { a = f16, b = i8, e = f16 },
               { a = f16, b = f8e5m2, e = f32 }, { a = bf16, b = f8e4m3, e = bf16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  d        = { bias = per_col(f32), row = per_row "e", all = full(f16, "c") },
  epilogue = function(acc, d) return acc * 0.25 + d.bias + d.row * d.all end,
  tiles    = { sm_90a = of_lines, where = in_steps },
  check    = { shapes = odd },
}
gemm "mma_lines_columns" {
  types    = { { a = f16, b = f16, e = f32 }, { a = bf16, b = i8, e = i8 } },
  layouts  = { "rcc" },
  targets  = { "sm_90a" },
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = of_lines, where = in_steps },
  check    = { shapes = odd },
}
gemm "mma_lines_two" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = f16, b = i8, e = f16 }, { a = i8, b = i8, e = f32 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  b        = { "gate", "up" },
  epilogue = function(acc) return silu(acc.gate) * acc.up end,
  tiles    = { sm_90a = { lines(16, { 128, 256 }, { 2, 4 }, 2, 1) }, where = in_steps },
  check    = { shapes = odd },
}
gemm "mma_lines_op" {
  types    = { { a = bf16, b = bf16, e = f32 }, { a = f16, b = i8, e = f16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  a_op     = function(x) return x + 1 end,
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { lines(16, { 128, 256 }, { 2, 4 }, 2, 1) }, where = in_steps },
  check    = { shapes = odd },
}
