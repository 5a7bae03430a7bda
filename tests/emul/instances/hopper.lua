-- SPDX-License-Identifier: MIT
-- Kernels of `wgmma` and `wgmma_decode` for their emulation: each of their ways in few and small tiles.  tests/gpu has all
-- of it, for a GPU.  The shapes are for 6 units: tiles in whole waves, in parts of one, and some of each.
local shapes = { { 16, 16, 0 }, { 136, 144, 592 }, { 1640, 64, 528 }, { 272, 144, 80 } }
local few    = { { 1, 8, 16 }, { 3, 200, 48 }, { 17, 336, 1040 }, { 64, 512, 592 }, { 100, 136, 144 } }

gemm "emul_gemm" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr", "crc", "rrr" },
  targets  = { "sm_90a" },
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma { m = 128, n = 128, cluster = { 1, 2, 4 }, depth = 3 } } },
  check    = { shapes = shapes },
}

-- Four and eight blocks that share Y, more of them than there are tiles along X, and Y's rows that end within a share.
gemm "emul_shared" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = i8, b = i8, e = i8 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  d        = { bias = per_col "e", all = full "e" },
  epilogue = function(acc, d) return relu(acc * 0.25 + d.bias) + d.all end,
  tiles    = { sm_90a = { wgmma { m = { 64, 96, 128 }, n = { 64, 96, 128 }, wg = 1, depth = 4, cluster = { 4, 8 },
                                  e_depth = 1, swap = { 0, 1 } } },
               where = function(t)
                 return t.m * t.n == 64 * (t.cluster == 8 and 128 or t.swap == 1 and 96 or 128)
               end },
  check    = { shapes = { { 16, 16, 0 }, { 136, 144, 592 }, { 400, 80, 528 }, { 80, 560, 592 } } },
}

-- Strips of 56 and 40 columns; vectors; functions; bands.
gemm "emul_strips" {
  types    = { { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  d        = { bias = per_col "e", row = per_row(f32), all = per_tensor(f32) },
  scalars  = { "k" },
  epilogue = function(acc, d, s) return gelu_tanh(acc * d.row + d.bias) * d.all + s.k end,
  tiles    = { sm_90a = { wgmma { m = { 64, 128, 40, 168 }, n = { 64, 128, 40, 168 }, depth = 3, wg = { 1, 2 },
                                  cluster = 1, group = 8 } },
               where = function(t) return (t.m + t.n == 40 + 64 * t.wg or t.m + t.n == 168 + 64 * t.wg) and t.m ~= t.n end },
  check    = { shapes = shapes },
}

-- Either operand on the side of 64 rows, whichever way E lies.
gemm "emul_swap" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = i8, b = i8, e = i8 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  d        = { bias = per_col "e", all = full "e" },
  epilogue = function(acc, d) return relu(acc * 0.25 + d.bias) + d.all end,
  tiles    = { sm_90a = { wgmma { m = { 128, 48 }, n = { 128, 48 }, depth = 3, cluster = { 1, 2 }, e_depth = 1, swap = 1 } },
               where = function(t) return t.m ~= t.n end },
  check    = { shapes = shapes },
}

-- More than 256 along Y, which two instructions multiply: on either side, beside X in registers, and of two products.
gemm "emul_broad" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = i8, b = i8, e = i8 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  d        = { bias = per_col "e", all = full "e" },
  epilogue = function(acc, d) return relu(acc * 0.25 + d.bias) + d.all end,
  tiles    = { sm_90a = { wgmma { m = { 128, 288 }, n = { 128, 288 }, depth = 3, cluster = 2, e_depth = 1, swap = { 0, 1 } } },
               where = function(t) return t.m ~= t.n end },
  check    = { shapes = { { 16, 16, 0 }, { 136, 592, 592 }, { 592, 136, 592 }, { 272, 144, 80 } } },
}

-- Clusters along Y, whose blocks share X: rows along K and across it, two blocks and four.
gemm "emul_share_x" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = i8, b = i8, e = i8 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  d        = { bias = per_col "e", all = full "e" },
  epilogue = function(acc, d) return relu(acc * 0.25 + d.bias) + d.all end,
  tiles    = { sm_90a = { wgmma { m = { 32, 64, 128 }, n = { 32, 64, 128 }, wg = { 1, 2 }, depth = 4, cluster = { 2, 4 }, e_depth = 1,
                                  share_x = 1, swap = { 0, 1 } } },
               where = function(t) return t.x == 64 * t.wg and t.y == 32 * t.wg and t.cluster * t.wg == 4 end },
  check    = { shapes = { { 16, 16, 0 }, { 136, 208, 592 }, { 400, 144, 80 } } },
}

gemm "emul_share_x_across" {
  types    = { { a = f16, b = f16, e = f32 } },
  layouts  = { "crr" },
  targets  = { "sm_90a" },
  d        = { scale = per_row(f32) },
  epilogue = function(acc, d) return acc * d.scale end,
  tiles    = { sm_90a = { wgmma { m = 64, n = 64, wg = 1, depth = 4, cluster = { 2, 4 }, e_depth = 1, share_x = 1, swap = { 0, 1 } } } },
  check    = { shapes = { { 16, 16, 0 }, { 136, 328, 592 }, { 328, 136, 80 } } },
}

gemm "emul_broad_widened" {
  types    = { { a = bf16, b = i8, e = bf16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  b_op     = function(w) return cast(w, bf16) end,
  d        = { scale = per_col(f32) },
  epilogue = function(acc, d) return acc * d.scale end,
  tiles    = { sm_90a = { wgmma { m = 304, n = 128, depth = 3, cluster = 2, e_depth = 1 } } },
  check    = { shapes = { { 16, 16, 0 }, { 624, 272, 592 } } },
}

gemm "emul_broad_two" {
  types    = { { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  b        = { "gate", "up" },
  epilogue = function(acc) return silu(acc.gate) * acc.up end,
  tiles    = { sm_90a = { wgmma { m = 128, n = 144, depth = 3, cluster = 1, e_depth = 1 } } },
  check    = { shapes = { { 16, 16, 0 }, { 272, 304, 592 } } },
}

gemm "emul_bytes" {
  types    = { { a = i8, b = i8, e = i8 }, { a = f8e4m3, b = f8e5m2, e = f32 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  d        = { scale = per_row(f32), full = full "e" },
  epilogue = function(acc, d) return acc * d.scale + d.full end,
  tiles    = { sm_90a = { wgmma { m = 128, n = { 128, 256 }, depth = 3, cluster = { 1, 2 }, e_depth = 1, promote = { 0, 2 } } },
               where = function(t) return (t.cluster == 2) == (t.n == 256) end },
  check    = { shapes = { { 16, 16, 0 }, { 144, 272, 1168 }, { 1648, 64, 1040 }, { 128, 256, 4096 } } },
}

-- Bytes without a sign, on either side.
gemm "emul_unsigned" {
  types    = { { a = u8, b = i8, e = u8 }, { a = i8, b = u8, e = i8 }, { a = u8, b = u8, e = f32 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  d        = { scale = per_row(f32), full = full(u8) },
  epilogue = function(acc, d) return acc * d.scale + d.full end,
  tiles    = { sm_90a = { wgmma { m = 128, n = 128, depth = 3, cluster = 1, e_depth = 1 }, wgmma_decode { m = 16, n = 64 } } },
  check    = { shapes = { { 16, 16, 0 }, { 144, 272, 1168 } } },
}

-- Inputs of every kind and orientation; two products, which a cluster may cut along K.
gemm "emul_two" {
  types    = { { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  b        = { "gate", "up" },
  d        = { r = full "e", q = full(f32), o = full(f16, "c"), t = per_tensor(f32) },
  epilogue = function(acc, d) return silu(acc.gate) * acc.up * d.q + d.r * d.o + d.t end,
  tiles    = { sm_90a = { wgmma { m = { 64, 128 }, n = { 64, 128 }, wg = 2, depth = { 2, 3 }, e_depth = 1, cluster = 2,
               swap = { 0, 1 } } },
               where = function(t) return t.m * t.n == 128 * 64 and t.depth == 3 end },
  check    = { shapes = shapes },
}

gemm "emul_ways" {
  types    = { { a = bf16, b = bf16, e = f32 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  d        = { bias = per_col "e" },
  epilogue = function(acc, d) return relu(acc + d.bias) end,
  tiles    = { sm_90a = { wgmma { m = 128, n = { 64, 128 }, depth = 3, stream = 1, cluster = { 1, 2 }, pingpong = 0 },
                          wgmma { m = 64, n = 128, depth = 4, pingpong = 1, cluster = { 1, 2 }, e_depth = 1, stream = 0 } },
               where = function(t) return t.pingpong == 1 or (t.n == 64) == (t.cluster == 1) end },
  check    = { shapes = shapes },
}

-- A full input that may be E's memory, where clusters share tiles along K by way of the workspace.
gemm "emul_place" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = bf16, b = bf16, e = f32 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  d        = { residual = full "e", scale = per_row(f32) },
  epilogue = function(acc, d) return acc * d.scale + d.residual end,
  tiles    = { sm_90a = { wgmma { m = 128, n = { 64, 128 }, depth = 3, stream = 1, cluster = { 1, 2 }, pingpong = 0 } },
               where = function(t) return (t.n == 64) == (t.cluster == 1) end },
  check    = { shapes = shapes },
}

gemm "emul_tf32" {
  types    = { { a = f32, b = f32, e = f32 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma { m = 128, n = 64, depth = 3, tf32 = 1 } } },
  check    = { shapes = shapes },
}

gemm "emul_decode" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = i8, b = i8, e = i8 },
               { a = f8e4m3, b = f8e5m2, e = bf16 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  d        = { bias = per_col "e", all = full "e", across = full(f16, "c") },
  epilogue = function(acc, d) return acc * 0.5 + d.bias + d.all - d.across end,
  tiles    = { sm_90a = { wgmma_decode { m = { 16, 64 }, n = { 88, 128 }, wg = { 1, 2 }, split_k = { 0, 3 }, across = { 0, 1 } } },
               where = function(t)
                 local eights = t.k == 64 or t.sum_bits > 0 -- columns of the instruction, which of i8 are 16s
                 return (t.m == 64) == (t.across == 1) and (t.n == 128) == (t.wg == 2) and (t.n == 128 or eights or t.m == 16) and
                        (t.split_k == 3) == (t.wg == 1)
               end },
  check    = { shapes = few },
}

-- More rows than 64.
gemm "emul_decode_rows" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = i8, b = i8, e = i8 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  d        = { bias = per_col "e" },
  epilogue = function(acc, d) return acc * 0.5 + d.bias end,
  tiles    = { sm_90a = { wgmma_decode { m = { 144, 192 }, n = { 64, 128 }, wg = { 1, 2 }, blocks = 1, split_k = { 0, 4 } } },
               where = function(t)
                 return (t.m == 144) == (t.n == 64) and (t.m == 144) == (t.wg == 1) and (t.m == 144) == (t.split_k == 4)
               end },
  check    = { shapes = { { 65, 200, 48 }, { 139, 128, 1040 }, { 300, 136, 144 } } },
}

-- Each warpgroup has one product.
gemm "emul_decode_apart" {
  types    = { { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  b        = { "gate", "up" },
  d        = { r = full "e" },
  epilogue = function(acc, d) return acc.gate * 0.5 - acc.up + d.r end,
  tiles    = { sm_90a = { wgmma_decode { m = { 16, 144 }, n = { 64, 112 }, wg = { 2, 4 }, blocks = 1,
                                         split_k = { 0, 3 }, apart = 1 } },
               where = function(t)
                 return (t.m == 144) == (t.n == 64) and (t.n == 64) == (t.wg == 2) and (t.split_k == 3) == (t.m == 16)
               end },
  check    = { shapes = { { 65, 200, 48 }, { 139, 128, 1040 } } },
}

-- B contiguous along N: boxes of 64 columns, as wgmma's side of 64, one and more for a warpgroup, and as its other.
local boxes  = { ["16 128 1 2 3 0"] = true, ["64 192 2 1 0 0"] = true, ["144 64 1 1 4 0"] = true,
                 ["64 64 1 2 3 1"] = true, ["64 256 2 1 0 1"] = true }
local function in_boxes(t)
  return boxes[("%d %d %d %d %d %d"):format(t.m, t.n, t.wg, t.slabs, t.split_k, t.across)] == true
end
local of_n   = { m = { 16, 64, 144 }, n = { 64, 128, 192, 256 }, wg = { 1, 2 }, slabs = { 1, 2 }, blocks = 1,
                 split_k = { 0, 3, 4 }, across = { 0, 1 } }
local odd_k  = { { 1, 8, 17 }, { 3, 200, 49 }, { 17, 333, 1041 }, { 64, 512, 592 }, { 150, 136, 143 } }
gemm "emul_decode_n" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = f16, b = f16, e = f32 } },
  layouts  = { "rrr", "rrc" },
  targets  = { "sm_90a" },
  d        = { bias = per_col "e", all = full "e", across = full(f16, "c") },
  epilogue = function(acc, d) return acc * 0.5 + d.bias + d.all - d.across end,
  tiles    = { sm_90a = { wgmma_decode(of_n) }, where = in_boxes },
  check    = { shapes = odd_k },
}

gemm "emul_decode_n_two" {
  types    = { { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rrr" },
  targets  = { "sm_90a" },
  b        = { "gate", "up" },
  epilogue = function(acc) return silu(acc.gate) * acc.up end,
  tiles    = { sm_90a = { wgmma_decode(of_n) }, where = in_boxes },
  check    = { shapes = odd_k },
}

-- One-byte weights: seven panels for four warpgroups, whose loader gives its registers up; halves of two sets.
gemm "emul_mixed" {
  types    = { { a = bf16, b = i8, e = bf16 }, { a = f16, b = f8e4m3, e = f16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  d        = { scale = per_col(f32) },
  epilogue = function(acc, d) return acc * d.scale end,
  tiles    = { sm_90a = { wgmma_decode { m = { 8, 64 }, n = { 112, 448 }, wg = { 1, 4 }, blocks = { 1, 2 }, sets = { 1, 2 },
                                         turn = { 0, 1 } } },
               where = function(t)
                 return t.m == 64 and t.n == 448 and t.wg == 4 and t.sets == 1 and t.blocks == 1 or
                        t.m == 8 and t.n == 112 and t.wg == 1 and t.sets == 2 and t.turn == 0 and t.blocks == 2
               end },
  check    = { shapes = few },
}

-- An operand that comes through registers, with rows of E along it and across it.
gemm "emul_widened" {
  types    = { { a = bf16, b = i8, e = bf16 }, { a = f16, b = f8e4m3, e = f32 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  d        = { scale = per_col(f32), full = full "e" },
  epilogue = function(acc, d) return acc * d.scale + d.full end,
  tiles    = { sm_90a = { wgmma { m = 64, n = 128, depth = 3, cluster = { 1, 2, 4 } } } },
  check    = { shapes = shapes },
}

gemm "emul_op" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = i8, b = i8, e = i8 }, { a = f8e4m3, b = f8e5m2, e = f32 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  d        = { row = per_row(f32) },
  a_op     = function(a) return exp(a) - 2 end,
  epilogue = function(acc, d) return acc * d.row end,
  tiles    = { sm_90a = { wgmma { m = 128, n = 64, depth = 3, cluster = 2, e_depth = 1 } } },
  check    = { shapes = shapes },
}

gemm "emul_op_two" {
  types    = { { a = bf16, b = i8, e = bf16 }, { a = f16, b = f16, e = f16 } },
  layouts  = { "rrr", "rcr" },
  targets  = { "sm_90a" },
  b        = { "gate", "up" },
  b_op     = function(w) return w + 1 end,
  epilogue = function(acc) return silu(acc.gate * 0.01) * acc.up end,
  tiles    = { sm_90a = { wgmma { m = 64, n = 64, depth = 3, wg = 1, cluster = 1 } } },
  check    = { shapes = shapes },
}

-- Three warpgroups, whose strips of full inputs lie in slots of their own.
gemm "emul_three" {
  types    = { { a = bf16, b = i8, e = bf16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  d        = { all = full "e", one = full(f32) },
  epilogue = function(acc, d) return acc + d.all - d.one end,
  tiles    = { sm_90a = { wgmma { m = 64, n = 192, wg = 3, depth = 4, e_depth = 1, cluster = 2 } } },
  check    = { shapes = shapes },
}

-- E that leaves by whole rows of tiles.
gemm "emul_whole_rows" {
  types    = { { a = bf16, b = bf16, e = f32 }, { a = f16, b = f16, e = f16 }, { a = i8, b = i8, e = i8 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  d        = { row = per_row(f32), col = per_col "e" },
  epilogue = function(acc, d) return acc * d.row + d.col end,
  tiles    = { sm_90a = { wgmma { m = { 64, 256 }, n = { 64, 256 }, wg = { 1, 2 }, depth = 3, cluster = { 1, 2 }, e_depth = 0 } },
               where = function(t) return t.m ~= t.n and t.cluster == 3 - t.wg and t.m == (t.wg == 2 and 256 or 64) end },
  check    = { shapes = shapes },
}

-- Operands at any address: one warpgroup that loads, and two; tiles whose K many share, or none.
local odd = { { 135, 143, 1001 }, { 272, 144, 80 } }
gemm "emul_gather" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = i8, b = i8, e = i8 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  d        = { row = per_row(f32) },
  epilogue = function(acc, d) return acc * d.row end,
  tiles    = { sm_90a = { wgmma { m = { 64, 128, 256 }, n = { 64, 128, 256 }, wg = { 1, 2 }, depth = 3, e_depth = 1,
                                  cluster = 1, gather = 1, stream = { 0, 1 } } },
               where = function(t) return t.x == 64 * t.wg and t.y == 128 * t.wg and t.stream == 2 - t.wg end },
  check    = { shapes = odd },
}

gemm "emul_gather_two" {
  types    = { { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rrr", "crc" },
  targets  = { "sm_90a" },
  b        = { "gate", "up" },
  d        = { bias = per_col "e" },
  epilogue = function(acc, d) return silu(acc.gate) * acc.up + d.bias end,
  tiles    = { sm_90a = { wgmma { m = 64, n = 64, wg = 1, depth = { 3, 5 }, e_depth = 1, cluster = 1, gather = 1, stream = { 0, 1 } } },
               where = function(t) return (t.depth == 5) == (t.stream == 1) end },
  check    = { shapes = odd },
}

gemm "emul_gather_op" {
  types    = { { a = bf16, b = i8, e = f32 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  b_op     = function(b) return b + 1 end,
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma { m = 128, n = 128, depth = 4, e_depth = 1, cluster = 1, gather = 1 } } },
  check    = { shapes = odd },
}

-- The same of few rows, whichever operand has the side of 64.
gemm "emul_few_gather" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = bf16, b = i8, e = bf16 }, { a = i8, b = i8, e = i32 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma_decode { m = { 16, 64 }, n = 64, blocks = 2, l2 = 0, across = { 0, 1 }, sets = { 1, 2 }, gather = { 1, 2 } } },
               where = function(t)
                 return t.sets == 2 - t.mixed and (t.m == 64) == (t.across == 1 or t.mixed == 1) and t.gather == t.m // 64 + 1
               end },
  check    = { shapes = odd },
}

gemm "emul_few_gather_n" {
  types    = { { a = bf16, b = bf16, e = f32 } },
  layouts  = { "rrr" },
  targets  = { "sm_90a" },
  d        = { row = per_row(f32) },
  epilogue = function(acc, d) return acc * d.row end,
  tiles    = { sm_90a = { wgmma_decode { m = { 16, 64 }, n = 128, wg = 2, blocks = 1, l2 = 0, across = { 0, 1 }, gather = 1 } },
               where = function(t) return (t.m == 64) == (t.across == 1) end },
  check    = { shapes = odd },
}

-- A across K by warps, B by tensor map.
gemm "emul_few_across" {
  types    = { { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "crr", "ccr" },
  targets  = { "sm_90a" },
  b        = { "gate", "up" },
  epilogue = function(acc) return acc.gate + acc.up end,
  tiles    = { sm_90a = { wgmma_decode { m = { 8, 32 }, n = 64, wg = 1, blocks = { 1, 2 }, l2 = 0, turn = { 0, 1 }, gather = 3 } },
               where = function(t) return (t.m == 8) == (t.blocks == 2) and (t.m == 8) == (t.turn == 1) end },
  check    = { shapes = { { 35, 143, 1001 }, { 272, 144, 80 } } },
}

-- A across K by tensor map, as either side of the instruction; its last rows are not a box's.
gemm "emul_few_turned" {
  types    = { { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "crr", "ccr" },
  targets  = { "sm_90a" },
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma_decode { m = { 64, 128 }, n = 64, wg = 1, l2 = 0, gather = 0, across = { 0, 1 }, split_k = { 0, 3 } } },
               where = function(t) return (t.m == 64) == (t.across == 1) and (t.m == 64) == (t.split_k == 3) end },
  check    = { shapes = { { 40, 143, 1001 }, { 272, 144, 80 } } },
}

-- Operands and E at any address in tiles of single warps: one of them, and many; tiles whose K blocks share.
local any = { { 70, 75, 200 }, { 17, 130, 61 } }
gemm "emul_any" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr", "rrc", "crr" },
  targets  = { "sm_90a" },
  d        = { bias = per_col(f32), row = per_row "e", o = full(f32, "c"), q = full(f16, "r") },
  epilogue = function(acc, d) return relu(acc * 0.25 + d.bias) + d.row * d.o - d.q end,
  tiles    = { sm_90a = { mma { m = { 16, 64 }, n = 64, wm = { 1, 2 }, wn = { 2, 4 }, depth = { 3, 5 }, blocks = 2 },
                          mma { m = 32, n = 16, wm = 2, wn = 1, wk = 2, slabs = 2, depth = 2, blocks = 4, split_k = 3 } },
               where = function(t)
                 return t.split_k == 3 or t.wm == (t.m == 64 and 2 or 1) and t.wn == 4 // t.wm and t.depth == 7 - 2 * t.wm
               end },
  check    = { shapes = any },
}

gemm "emul_any_bytes" {
  types    = { { a = u8, b = i8, e = i32 }, { a = i8, b = i8, e = i8 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { mma { m = 64, n = 64, wm = 2, wn = 2, depth = 3, blocks = 2 } } },
  check    = { shapes = any },
}

gemm "emul_any_widened" {
  types    = { { a = bf16, b = i8, e = bf16 }, { a = f8e5m2, b = f16, e = f32 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { mma { m = 32, n = 64, wm = 1, wn = 1, wk = 4, slabs = 2, depth = 3, blocks = 2 } } },
  check    = { shapes = any },
}

gemm "emul_any_op" {
  types    = { { a = f16, b = i8, e = f32 } },
  layouts  = { "rcr", "ccr" },
  targets  = { "sm_90a" },
  b        = { "gate", "up" },
  a_op     = function(x) return x + 1 end,
  b_op     = function(x) return x * 0.5 + 3 end,
  epilogue = function(acc) return acc.gate * 0.5 + acc.up end,
  tiles    = { sm_90a = { mma { m = 64, n = 32, wm = 2, wn = 1, wk = 2, depth = 3, blocks = 2, split_k = { 0, 2 } } } },
  check    = { shapes = any },
}

-- Few rows beside lines of B that come to registers: lines that begin alike 8 and 16 apart, in one tile of lines and
-- several, whole parts of K in a block and not; rows that A has and not.
local lines  = { { 70, 75, 200 }, { 17, 130, 61 }, { 3, 260, 1100 } }
local function lines_of(m, n)
  return mma { m = m, n = n, wm = 1, wn = 8, slabs = { 2, 4 }, lines = 1, depth = { 2, 4 }, blocks = 1, split_k = { 0, 3 } }
end
local function few_steps(t)
  return t.steps == 4 and (t.depth == 4) == (t.split_k == 3) and (t.m > 16) == (t.depth == 4)
end
gemm "emul_lines" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = f16, b = f16, e = f32 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  d        = { bias = per_col(f32), row = per_row "e", o = full(f32, "c") },
  epilogue = function(acc, d) return relu(acc * 0.25 + d.bias) + d.row * d.o end,
  tiles    = { sm_90a = { lines_of(16, 64), lines_of(32, 128) }, where = few_steps },
  check    = { shapes = lines },
}
gemm "emul_lines_bytes" {
  types    = { { a = u8, b = i8, e = i32 }, { a = bf16, b = i8, e = bf16 }, { a = f16, b = f8e5m2, e = f32 },
               { a = f8e4m3, b = bf16, e = f32 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { lines_of(16, 128), lines_of(32, 256) }, where = few_steps },
  check    = { shapes = lines },
}
gemm "emul_lines_two" {
  types    = { { a = f16, b = i8, e = f32 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  b        = { "gate", "up" },
  a_op     = function(x) return x + 1 end,
  epilogue = function(acc) return acc.gate * 0.5 + acc.up end,
  tiles    = { sm_90a = { lines_of(16, 128) }, where = few_steps },
  check    = { shapes = lines },
}

-- Conditions, and functions of them, as CUDA spells them.
gemm "emul_conditions" {
  types    = { { a = bf16, b = bf16, e = f32 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  d        = { limit = per_row(f32) },
  epilogue = function(acc, d)
    local inside = and_(ge(acc, -d.limit), not_(gt(acc, d.limit)))
    return select(or_(inside, ne(acc, acc)), select(eq(floor(acc), acc), 1, acc), floor(acc * 0.25))
  end,
  tiles    = { sm_90a = { wgmma { m = 128, n = 64, depth = 3, cluster = 1 },
                          wgmma_decode { m = 64, n = 64 } } },
  check    = { shapes = { { 17, 336, 80 } } },
}

-- Few rows at any address, on vector units.
gemm "emul_few_anywhere" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = i8, b = i8, e = i8 } },
  layouts  = { "rcr", "crc" },
  targets  = { "sm_90a" },
  d        = { bias = per_col(f32), row = per_row "e", o = full(f32, "c") },
  epilogue = function(acc, d) return relu(acc * 0.25 + d.bias) + d.row * d.o end,
  tiles    = { sm_90a = { simt_decode { m = { 4, 8 }, n = 4, threads = { 256, 512 } } },
               where = function(t) return (t.m == 4) == (t.threads == 512) end },
  check    = { shapes = few },
}

gemm "emul_few_gated" {
  types    = { { a = bf16, b = f8e4m3, e = bf16 } },
  layouts  = { "rcr", "rrr" },
  targets  = { "sm_90a" },
  b        = { "gate", "up" },
  a_op     = function(x) return x + 1 end,
  b_op     = function(x) return x * 2 end,
  epilogue = function(acc) return silu(acc.gate) * acc.up end,
  tiles    = { sm_90a = { simt_decode { m = { 1, 4 }, n = { 2, 4 }, threads = 256 } },
               where = function(t) return t.m == 4 or t.n == 4 end },
  check    = { shapes = few },
}

-- Sums over blocks of K: values in either orientation, K that ends within a block, strips of full inputs and halves of
-- K between tiles, runs along K; a unit that is half of the tile.
gemm "emul_blocks" {
  types    = { { a = f8e4m3, b = f8e4m3, e = bf16 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  d        = { a_scale = per_block("a", f32, 1, 128, "c"), b_scale = per_block("b", f32, 128, 128), res = full "e" },
  block    = function(acc, d) return acc * d.a_scale * d.b_scale end,
  epilogue = function(acc, d) return acc + d.res end,
  tiles    = { sm_90a = { wgmma { m = { 128, 192, 256 }, n = { 128, 192, 256 }, depth = 3, cluster = { 1, 2 },
                                  e_depth = 1, stream = { 0, 1 }, wg = 2 } },
               where = function(t) return t.x == 128 and (t.y == 192 and t.cluster == 2 and t.stream == 0
                   or t.y == 256 and t.cluster == 1 and t.stream == 1) end },
  check    = { shapes = { { 16, 16, 0 }, { 144, 208, 1168 }, { 1648, 64, 1040 } } },
}

-- More blocks than one in a step, values of columns, of whole numbers and of two products.
gemm "emul_blocks_fine" {
  types    = { { a = f8e4m3, b = f8e5m2, e = f32 }, { a = i8, b = i8, e = bf16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  b        = { "gate", "up" },
  d        = { x = per_block("a", f32, 1, 32), y = per_block("b", f32, 1, 32) },
  block    = function(acc, d) return acc * d.x * d.y end,
  epilogue = function(acc, d) return acc.gate - acc.up end,
  tiles    = { sm_90a = { wgmma { m = 64, n = 64, wg = 1, depth = 3, cluster = 1, e_depth = 1 } } },
  check    = { shapes = { { 80, 144, 208 } } },
}

-- Weights of bytes through registers, two steps to a block.
gemm "emul_blocks_widened" {
  types    = { { a = bf16, b = f8e4m3, e = bf16 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  d        = { scale = per_block("b", f32, 128, 128), bias = per_col "e" },
  block    = function(acc, d) return acc * d.scale end,
  epilogue = function(acc, d) return acc + d.bias end,
  tiles    = { sm_90a = { wgmma { m = 128, n = 128, depth = 3, cluster = 2 },
                          wgmma_decode { m = { 16, 64 }, n = 56, turn = 1, sets = 1 } } },
  check    = { shapes = { { 64, 144, 592 }, { 17, 336, 1040 } } },
}

gemm "emul_blocks_decode" {
  types    = { { a = f8e4m3, b = f8e4m3, e = bf16 }, { a = i8, b = i8, e = f32 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  d        = { a_scale = per_block("a", f32, 1, 128, "c"), b_scale = per_block("b", f32, 128, 128) },
  block    = function(acc, d) return acc * d.a_scale * d.b_scale end,
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma_decode { m = { 16, 64 }, n = 112, across = { 0, 1 }, wg = 1 } },
               where = function(t) return (t.m == 64) == (t.across == 1) end },
  check    = { shapes = few },
}

-- Weights of 4 bits: what takes off a zero point and scales in 16 bits, in runs of 16 to more than a tile, from boxes
-- of each width; any other operator in f32, of values of every kind; and none. Of m, n, wg, slabs, box, sets, order.
local of_bits = { ["8 56 1 1 128 2 0"] = true, ["64 112 2 1 64 1 0"] = true, ["16 64 1 1 32 1 0"] = true,
                  ["8 64 1 4 128 1 1"] = true, ["64 112 2 1 64 1 1"] = true, ["16 64 1 1 128 1 1"] = true,
                  ["8 112 1 2 128 1 1"] = true, ["8 192 2 2 128 1 1"] = true, ["8 176 3 2 64 1 1"] = true }
local function in_bits(t)
  return of_bits[("%d %d %d %d %d %d %d"):format(t.m, t.n, t.wg, t.slabs, t.box, t.sets, t.order)] == true
    and t.turn == (t.order == 0 and t.wg % 2 or 0)
end
local bits   = { m = { 8, 16, 64 }, n = { 56, 64, 112, 176, 192 }, wg = { 1, 2, 3 }, slabs = { 1, 2, 4 },
                 box = { 128, 64, 32 }, sets = { 1, 2 }, blocks = 1, turn = { 0, 1 }, order = { 0, 1 }, l2 = 0 }
local groups = { { 3, 200, 96 }, { 17, 133, 1056 }, { 70, 72, 1001 } }
for _, g in ipairs { 16, 128 } do
  gemm("emul_bits_" .. g) {
    types    = { { a = bf16, b = u4, e = bf16 } },
    layouts  = { "rcr" },
    targets  = { "sm_90a" },
    d        = { scale = per_block("b", "a", 1, g), zero = per_block("b", u4, 1, g) },
    b_op     = function(w, d) return (w - d.zero) * d.scale end,
    epilogue = function(acc) return acc end,
    tiles    = { sm_90a = { wgmma_decode(bits) }, where = in_bits },
    check    = { shapes = groups },
  }
end
gemm "emul_bits_signed" {
  types    = { { a = bf16, b = i4, e = f32 }, { a = f16, b = i4, e = f16 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  d        = { scale = per_block("b", "a", 1, 64, "r"), zero = per_block("b", i4, 4, 128, "r"), bias = per_col "e" },
  b_op     = function(w, d) return d.scale * (w - d.zero) end,
  epilogue = function(acc, d) return acc + d.bias end,
  tiles    = { sm_90a = { wgmma_decode(bits) }, where = in_bits },
  check    = { shapes = groups },
}
gemm "emul_bits_scaled" {
  types    = { { a = bf16, b = i4, e = bf16 }, { a = f16, b = u4, e = f16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  d        = { scale = per_block("b", "a", 1, 64) },
  b_op     = function(w, d) return w * d.scale end,
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma_decode(bits) }, where = in_bits },
  check    = { shapes = groups },
}
-- A lane has two values of a row of a box in order; matrices of an odd number of values to a column.
gemm "emul_bits_lanes" {
  types    = { { a = bf16, b = u4, e = bf16 }, { a = f16, b = i4, e = f16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  d        = { scale = per_block("b", "a", 1, 32), zero = per_block("b", i4, 1, 32) },
  b_op     = function(w, d) return (w - d.zero) * d.scale end,
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma_decode(bits) }, where = in_bits },
  check    = { shapes = groups },
}
gemm "emul_bits_any" {
  types    = { { a = bf16, b = u4, e = bf16 }, { a = f16, b = i4, e = f16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  d        = { scale = per_block("b", f32, 1, 64), zero = per_block("b", bf16, 8, 256), col = per_col(f16),
               all = per_tensor(f32) },
  b_op     = function(w, d) return (w - d.zero) * d.scale + d.col * d.all + 1 end,
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma_decode(bits) }, where = in_bits },
  check    = { shapes = groups },
}
gemm "emul_bits_plain" {
  types    = { { a = bf16, b = u4, e = bf16 }, { a = f16, b = i4, e = f16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  d        = { scale = per_col(f32) },
  epilogue = function(acc, d) return acc * d.scale end,
  tiles    = { sm_90a = { wgmma_decode(bits) }, where = in_bits },
  check    = { shapes = groups },
}
gemm "emul_bits_relu" {
  types    = { { a = bf16, b = i4, e = bf16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  b_op     = function(w) return relu(w + 1) end,
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma_decode(bits) }, where = in_bits },
  check    = { shapes = groups },
}
-- Two products: a warp's strips of either, two and four of them, and one that is alone; operators that differ.
local of_two = { ["8 112 2 2 128 1 1"] = true, ["16 64 1 1 128 1 1"] = true, ["8 128 1 2 64 1 1"] = true,
                 ["8 56 1 1 128 2 0"] = true, ["16 64 1 1 32 1 0"] = true }
local function in_two(t)
  return of_two[("%d %d %d %d %d %d %d"):format(t.m, t.n, t.wg, t.slabs, t.box, t.sets, t.order)] == true
end
local two    = { m = { 8, 16 }, n = { 56, 64, 112, 128 }, wg = { 1, 2 }, slabs = { 1, 2 }, box = { 128, 64, 32 },
                 sets = { 1, 2 }, blocks = 1, order = { 0, 1 }, l2 = 0 }
gemm "emul_bits_two" {
  types    = { { a = bf16, b = u4, e = bf16 }, { a = f16, b = i4, e = f32 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  b        = { "gate", "up" },
  d        = { scale = per_block("b", "a", 1, 64), zero = per_block("b", u4, 1, 64) },
  b_op     = function(w, d) return (w - d.zero) * d.scale end,
  epilogue = function(acc) return relu(acc.gate) + acc.up end,
  tiles    = { sm_90a = { wgmma_decode(two) }, where = in_two },
  check    = { shapes = groups },
}
gemm "emul_bits_two_any" {
  types    = { { a = bf16, b = i4, e = bf16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  b        = { "gate", "up" },
  d        = { scale = per_block("b", f32, 1, 16), zero = per_block("up", bf16, 8, 256), col = per_col(f16) },
  b_op     = function(w, d, product) return product == "up" and (w - d.zero) * d.scale or w * d.scale + d.col end,
  epilogue = function(acc) return relu(acc.gate) + acc.up end,
  tiles    = { sm_90a = { wgmma_decode(two) }, where = in_two },
  check    = { shapes = groups },
}
-- Bytes whose b_op has inputs: in 16 bits, and in f32, of values of every kind; of two products each its own.
local scaled_bytes = { m = 16, n = { 64, 112 }, wg = { 1, 2 }, slabs = { 1, 2 }, sets = { 1, 2 }, blocks = 1, l2 = 0 }
local function in_bytes(t)
  return t.n == 64 and t.wg == 1 and t.slabs == 2 and t.sets == 2 or t.n == 112 and t.wg == 2 and t.slabs == 1 and t.sets == 1
end
gemm "emul_bytes_scaled" {
  types    = { { a = f16, b = i8, e = bf16 }, { a = bf16, b = i8, e = f32 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  d        = { scale = per_block("b", "a", 1, 32), zero = per_block("b", i8, 8, 64, "r") },
  b_op     = function(w, d) return (w - d.zero) * d.scale end,
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma_decode(scaled_bytes) }, where = in_bytes },
  check    = { shapes = groups },
}
gemm "emul_bytes_any" {
  types    = { { a = bf16, b = f8e4m3, e = f32 }, { a = f16, b = f8e5m2, e = f16 }, { a = bf16, b = i8, e = bf16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  d        = { scale = per_block("b", f32, 128, 128), zero = per_block("b", f16, 1, 16), col = per_col(bf16), all = per_tensor(f32) },
  b_op     = function(w, d) return (w - d.zero) * d.scale + d.col * d.all end,
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma_decode(scaled_bytes) }, where = in_bytes },
  check    = { shapes = groups },
}
gemm "emul_bytes_two" {
  types    = { { a = bf16, b = f8e4m3, e = bf16 }, { a = f16, b = i8, e = f32 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  b        = { "gate", "up" },
  d        = { scale = per_block("b", "a", 1, 64), zero = per_col(bf16) },
  b_op     = function(w, d, product) return product == "up" and w * d.scale or w * d.scale + d.zero end,
  epilogue = function(acc) return relu(acc.gate) + acc.up end,
  tiles    = { sm_90a = { wgmma_decode(scaled_bytes) }, where = in_bytes },
  check    = { shapes = groups },
}
-- An operator for each product, without inputs.
gemm "emul_two_operators" {
  types    = { { a = bf16, b = i8, e = bf16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  b        = { "gate", "up" },
  b_op     = function(w, _, product) return product == "up" and w / 8 or relu(w - 1) end,
  epilogue = function(acc) return acc.gate + acc.up end,
  tiles    = { sm_90a = { wgmma_decode { m = 16, n = 64, wg = 1, blocks = 1, sets = { 1, 2 } },
                          simt { m = 32, n = 32, k = 32, tm = 2, tn = 2, split_k = 1 } } },
}

-- 4 bits that become bytes; whole sums, and those of blocks of K, which may be as long as a box or half of one.
local function in_w4a8(t)
  return t.box == 128 and t.n == 64 * t.wg and t.sets == 3 - t.wg or t.box == 64 and t.n == 56 and t.sets == 1
end
local w4a8   = { m = 16, n = { 56, 64, 128 }, wg = { 1, 2 }, slabs = 1, box = { 128, 64 }, sets = { 1, 2 }, blocks = 1, l2 = 0 }
gemm "emul_w4a8" {
  types    = { { a = i8, b = i4, e = i32 }, { a = u8, b = u4, e = bf16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma_decode(w4a8) }, where = in_w4a8 },
  check    = { shapes = groups },
}
gemm "emul_w4a8_two" {
  types    = { { a = u8, b = i4, e = f32 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  b        = { "gate", "up" },
  d        = { group = per_block("b", f32, 1, 128) },
  block    = function(acc, d) return acc * d.group end,
  epilogue = function(acc) return relu(acc.gate) + acc.up end,
  tiles    = { sm_90a = { wgmma_decode(w4a8) }, where = in_w4a8 },
  check    = { shapes = groups },
}
gemm "emul_w4a8_block" {
  types    = { { a = i8, b = i4, e = f32 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  d        = { row = per_block("a", f32, 1, 256), group = per_block("b", f32, 8, 256) },
  block    = function(acc, d) return acc * d.group * d.row end,
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma_decode(w4a8) }, where = in_w4a8 },
  check    = { shapes = groups },
}

-- The same as the operand of `wgmma` that comes through registers, with values of every kind that come with the tiles;
-- K of a last wave in halves; one step, two and four at once. Of m, n, wg, cluster, slabs.
local of_ring = { ["64 128 1 1 1"] = true, ["64 128 2 2 2"] = true, ["16 256 2 2 1"] = true, ["32 192 3 1 4"] = true,
                  ["64 256 4 2 2"] = true }
local through = { wgmma { m = { 16, 32, 64 }, n = { 128, 192, 256 }, depth = 3, cluster = { 1, 2 },
                          wg = { 1, 2, 3, 4 }, slabs = { 1, 2, 4 } } }
local function one_each(t)
  return of_ring[("%d %d %d %d %d"):format(t.m, t.n, t.wg, t.cluster, t.slabs)] == true
end
gemm "emul_bits_widened" {
  types    = { { a = bf16, b = u4, e = bf16 }, { a = f16, b = u4, e = f32 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  d        = { scale = per_block("b", "a", 1, 32), zero = per_block("b", u4, 1, 128), full = full "e" },
  b_op     = function(w, d) return (w - d.zero) * d.scale end,
  epilogue = function(acc, d) return acc + d.full end,
  tiles    = { sm_90a = through, where = one_each },
  check    = { shapes = { { 16, 16, 0 }, { 136, 144, 592 }, { 72, 80, 81 } } },
}
gemm "emul_bits_widened_signed" {
  types    = { { a = bf16, b = i4, e = f32 } },
  layouts  = { "rcc" },
  targets  = { "sm_90a" },
  d        = { scale = per_block("b", "a", 1, 64, "r"), zero = per_block("b", i4, 4, 128, "r"), bias = per_col "e" },
  b_op     = function(w, d) return d.scale * (w - d.zero) end,
  epilogue = function(acc, d) return acc + d.bias end,
  tiles    = { sm_90a = through, where = one_each },
  check    = { shapes = { { 136, 144, 592 }, { 72, 80, 81 } } },
}
gemm "emul_bits_widened_scaled" {
  types    = { { a = f16, b = u4, e = f16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  d        = { scale = per_block("b", "a", 1, 256) },
  b_op     = function(w, d) return w * d.scale end,
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = through, where = one_each },
  check    = { shapes = { { 60, 500, 1056 }, { 33, 328, 96 } } },
}
-- A across K: two panels of its rows, of which descriptors say how far apart they are.
gemm "emul_bits_widened_across" {
  types    = { { a = bf16, b = u4, e = bf16 } },
  layouts  = { "ccr", "ccc" },
  targets  = { "sm_90a" },
  d        = { scale = per_block("b", "a", 1, 64) },
  b_op     = function(w, d) return w * d.scale end,
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma { m = 128, n = 128, wg = 2, depth = 3, cluster = 2 } } },
  check    = { shapes = { { 136, 264, 96 }, { 72, 80, 592 } } },
}
gemm "emul_bits_widened_any" {
  types    = { { a = bf16, b = u4, e = bf16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  d        = { scale = per_block("b", f32, 1, 16), zero = per_block("b", u4, 8, 256), col = per_col(f16),
               all = per_tensor(f32) },
  b_op     = function(w, d) return (w - d.zero) * d.scale + d.col * d.all + 1 end,
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = through, where = one_each },
  check    = { shapes = { { 136, 144, 592 }, { 72, 80, 81 } } },
}
