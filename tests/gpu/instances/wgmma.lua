-- SPDX-License-Identifier: MIT
-- Ops that take schedule `wgmma` through its corners: every type and orientation of A, B and E, one and two products,
-- every kind of extra input in either orientation, tiles whose strips are narrow, one warpgroup and two, promotion,
-- tf32.  A portable tile where the default ones would be too many.  The shapes are some that wgmma takes: rows of
-- multiples of 16 bytes.
local any    = { m = 32, n = 32, k = 16, tm = 2, tn = 2, split_k = 1 }
local any8   = { m = 32, n = 32, k = 64, tm = 2, tn = 2, split_k = 1 }
local shapes = { { 16, 16, 0 }, { 16, 16, 16 }, { 128, 128, 64 }, { 112, 240, 48 }, { 272, 144, 80 },
                 { 144, 528, 1008 }, { 1008, 1008, 320 }, { 384, 256, 4096 } }

gemm "wgmma_gemm" {
  types    = { { a = f16, b = f16, e = f16 }, { a = bf16, b = bf16, e = bf16 }, { a = bf16, b = bf16, e = f32 } },
  layouts  = { "rcr", "rrr", "ccr", "crr", "rcc", "rrc", "ccc", "crc" },
  targets  = { "sm_90a" },
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma { m = { 128, 64 }, n = { 128, 64 }, wg = { 1, 2 }, cluster = { 1, 2 }, depth = 3 } },
               where = function(t) return t.m * t.n == 128 * 64 and t.cluster == t.wg end },
  check    = { shapes = shapes },
}

-- Four and eight blocks that share Y, all of them or halves that have half of K each.
gemm "wgmma_clusters" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = i8, b = i8, e = i8 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  d        = { bias = per_col "e", all = full "e" },
  epilogue = function(acc, d) return relu(acc * 0.25 + d.bias) + d.all end,
  tiles    = { sm_90a = { wgmma { m = { 64, 96, 128 }, n = { 64, 96, 128 }, wg = { 1, 2 }, depth = 4,
                                  cluster = { 4, 8 }, swap = { 0, 1 } } },
               where = function(t)
                 return t.m * t.n == 64 * (t.cluster == 8 and 128 or t.swap == 1 and 96 or 128) and t.wg == 1
                     or t.m * t.n == 128 * 128 and t.cluster == 4 and t.wg == 2
               end },
  check    = { shapes = { { 16, 16, 0 }, { 144, 528, 1008 }, { 400, 80, 2064 }, { 80, 3344, 4096 }, { 1008, 1008, 320 },
                          { 384, 2560, 4096 } } },
}

-- Clusters along Y, whose blocks share X: two, four and eight; across K, in turn, runs along K; X through registers, of
-- two products, scaled by blocks, of 4 bits.
gemm "wgmma_share_x" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = i8, b = i8, e = i8 }, { a = f8e4m3, b = f8e4m3, e = f32 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  d        = { bias = per_col "e", all = full "e" },
  epilogue = function(acc, d) return relu(acc * 0.25 + d.bias) + d.all end,
  tiles    = { sm_90a = { wgmma { m = { 48, 64, 128, 192 }, n = { 48, 64, 128, 192 }, wg = { 1, 2, 3 }, depth = 4,
                                  cluster = { 2, 4, 8 }, e_depth = 1, share_x = 1, swap = { 0, 1 } } },
               where = function(t) return t.x == 64 * t.wg and t.y == 48 and t.cluster == 2 ^ (4 - t.wg) end },
  check    = { shapes = { { 16, 16, 0 }, { 144, 528, 1008 }, { 400, 80, 2064 }, { 80, 3344, 4096 }, { 1008, 1008, 320 },
                          { 384, 2560, 4096 } } },
}

gemm "wgmma_share_x_across" {
  types    = { { a = f16, b = f16, e = f32 } },
  layouts  = { "rrr", "ccr", "crr", "crc" },
  targets  = { "sm_90a" },
  d        = { scale = per_row(f32) },
  epilogue = function(acc, d) return acc * d.scale end,
  tiles    = { sm_90a = { wgmma { m = { 64, 128 }, n = { 64, 128 }, depth = 3, cluster = { 2, 4 }, e_depth = 1,
                                  pingpong = { 0, 1 }, stream = { 0, 1 }, share_x = 1 } },
               where = function(t)
                 return t.x == 128 and t.y == 64 and t.stream + t.pingpong < 2 and t.cluster == 4 - 2 * t.stream
               end },
  check    = { shapes = shapes },
}

gemm "wgmma_share_x_widened" {
  types    = { { a = bf16, b = i8, e = bf16 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  d        = { scale = per_col(f32) },
  epilogue = function(acc, d) return acc * d.scale end,
  tiles    = { sm_90a = { wgmma { m = 40, n = 128, depth = 4, cluster = { 2, 4 }, share_x = 1 } } },
  check    = { shapes = shapes },
}

gemm "wgmma_share_x_two" {
  types    = { { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr", "rrr" },
  targets  = { "sm_90a" },
  b        = { "gate", "up" },
  epilogue = function(acc) return silu(acc.gate) * acc.up end,
  tiles    = { sm_90a = { wgmma { m = { 128, 152 }, n = { 64, 128 }, depth = 3, cluster = { 2, 4 }, e_depth = 1,
                                  share_x = 1, swap = { 0, 1 } } },
               where = function(t) return t.x == 128 and (t.swap == 1) == (t.y == 152) end },
  check    = { shapes = shapes },
}

gemm "wgmma_share_x_blocks" {
  types    = { { a = f8e4m3, b = f8e4m3, e = bf16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  d        = { a_scale = per_block("a", f32, 1, 128, "c"), b_scale = per_block("b", f32, 128, 128) },
  block    = function(acc, d) return acc * d.a_scale * d.b_scale end,
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma { m = 128, n = 64, depth = 3, cluster = { 2, 4 }, share_x = 1 } } },
  check    = { shapes = shapes },
}

gemm "wgmma_share_x_bits" {
  types    = { { a = bf16, b = u4, e = bf16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  d        = { scale = per_block("b", "a", 1, 128) },
  b_op     = function(w, d) return w * d.scale end,
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma { m = 64, n = 192, wg = 3, depth = 4, cluster = 2, slabs = { 1, 2 }, share_x = 1 } } },
  check    = { shapes = { { 16, 32, 0 }, { 112, 256, 64 }, { 144, 528, 1024 }, { 48, 1008, 4096 } } },
}

gemm "wgmma_bytes" {
  types    = { { a = i8, b = i8, e = i8 }, { a = i8, b = i8, e = i32 }, { a = i8, b = i8, e = f16 },
               { a = u8, b = i8, e = u8 }, { a = u8, b = u8, e = i32 },
               { a = f8e4m3, b = f8e5m2, e = bf16 }, { a = f8e5m2, b = f8e4m3, e = f8e4m3 },
                 { a = f8e4m3, b = f8e4m3, e = f32 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  d        = { scale = per_row(f32), shift = per_col(f32) },
  epilogue = function(acc, d) return acc * d.scale + d.shift end,
  tiles    = { sm_90a = { simt(any8), wgmma { m = 128, n = 128, depth = 3, promote = { 0, 2 } } } },
  check    = { shapes = shapes },
}

gemm "wgmma_tf32" {
  types    = { { a = f32, b = f32, e = f32 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { simt(any), wgmma { m = 128, n = 128, depth = 3, tf32 = 1 } } },
  check    = { shapes = shapes },
}

-- Tiles whose strips are 64, 56, 40, 32 and 16 columns; bands; several blocks of 64 rows; names that the kernel might
-- use.
gemm "wgmma_tiles" {
  types    = { { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  d        = { g = per_col "e", m = per_row "e", t = per_tensor(f32) },
  scalars  = { "k" },
  epilogue = function(acc, d, s) return relu(acc * d.m + d.g) * d.t + s.k end,
  tiles    = { sm_90a = { wgmma { m = { 64, 128, 256 }, n = { 16, 40, 96, 168, 256 }, depth = 3, wg = { 1, 2 },
               group = { 0, 8 } } },
               where = function(t) return t.m * t.n <= 128 * 256 and (t.n == 168) == (t.group == 0) end },
  check    = { shapes = shapes },
}

-- More than 256 along Y, which two instructions multiply: on either side, beside X in registers, and of two products.
gemm "wgmma_wide" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = i8, b = i8, e = i8 }, { a = f8e4m3, b = f8e4m3, e = f32 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  d        = { bias = per_col "e", scale = per_row(f32) },
  epilogue = function(acc, d) return relu(acc * d.scale + d.bias) end,
  tiles    = { sm_90a = { wgmma { m = { 128, 64, 288, 320 }, n = { 128, 64, 288, 320 }, wg = { 1, 2 }, depth = 3,
                                  cluster = 2, e_depth = 1, swap = { 0, 1 } } },
               where = function(t) return t.x == 64 * t.wg and t.y > 256 end },
  check    = { shapes = { { 16, 16, 0 }, { 112, 240, 48 }, { 656, 528, 1008 }, { 1008, 1008, 320 }, { 8208, 304, 8192 },
                          { 304, 8208, 8192 } } },
}

gemm "wgmma_wide_widened" {
  types    = { { a = bf16, b = i8, e = bf16 }, { a = f16, b = f8e5m2, e = f32 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  b_op     = function(w) return w end,
  d        = { scale = per_col(f32) },
  epilogue = function(acc, d) return acc * d.scale end,
  tiles    = { sm_90a = { wgmma { m = { 272, 320 }, n = { 64, 128 }, depth = 3, wg = { 1, 2 }, cluster = 2,
                                  e_depth = 1 } },
               where = function(t) return t.x == 64 * t.wg end },
  check    = { shapes = shapes },
}

gemm "wgmma_wide_two" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  b        = { "gate", "up" },
  d        = { all = full "e" },
  epilogue = function(acc, d) return silu(acc.gate) * acc.up + d.all end,
  tiles    = { sm_90a = { wgmma { m = 128, n = { 144, 160 }, depth = 3, cluster = { 1, 2 }, e_depth = 1 } } },
  check    = { shapes = shapes },
}

-- E that leaves by whole rows of tiles: of x, y, wg, cluster.
local rows   = { ["64 64 1 1"] = true, ["256 64 2 1"] = true, ["128 128 2 2"] = true, ["128 256 2 2"] = true,
                 ["64 192 1 1"] = true }
gemm "wgmma_rows" {
  types    = { { a = bf16, b = bf16, e = f32 }, { a = i8, b = i8, e = i32 }, { a = f16, b = f16, e = f16 },
               { a = f8e4m3, b = f8e4m3, e = bf16 }, { a = i8, b = i8, e = u8 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  d        = { row = per_row(f32), col = per_col(f32), one = per_tensor(f32) },
  epilogue = function(acc, d) return (acc + d.col) * d.row - d.one end,
  tiles    = { sm_90a = { wgmma { m = { 64, 128, 256 }, n = { 64, 128, 192, 256 }, wg = { 1, 2 }, depth = 3,
                                  cluster = { 1, 2 }, e_depth = 0 } },
               where = function(t) return rows[("%d %d %d %d"):format(t.x, t.y, t.wg, t.cluster)] == true end },
  check    = { shapes = shapes },
}

gemm "wgmma_full" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = f16, b = f16, e = f32 } },
  layouts  = { "rcr", "rrc" },
  targets  = { "sm_90a" },
  d        = { p = full "e", q = full(f32), o = full(f16, "c"), z = full(i8), r = per_row(f32), c = per_col "e",
               t = per_tensor(f32) },
  scalars  = { "alpha" },
  epilogue = function(acc, d, s) return (acc + d.p) * s.alpha * d.q + d.r * d.c + d.t + d.o * d.z end,
  tiles    = { sm_90a = { simt(any), wgmma { m = 128, n = 128, depth = 2, e_depth = 1 } } },
  check    = { shapes = shapes },
}

gemm "wgmma_bytes_full" {
  types    = { { a = i8, b = i8, e = i8 }, { a = f8e4m3, b = f8e4m3, e = f8e5m2 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  d        = { p = full "e", q = full(f32), w = full(bf16, "c") },
  epilogue = function(acc, d) return acc * 0.01 + d.p + d.q + d.w end,
  tiles    = { sm_90a = { simt(any8), wgmma { m = 128, n = 128, depth = 2, e_depth = { 1, 4 } } } },
  check    = { shapes = shapes },
}

gemm "wgmma_two" {
  types    = { { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr", "rrr", "rcc", "crc" },
  targets  = { "sm_90a" },
  b        = { "gate", "up" },
  d        = { r = full "e" },
  epilogue = function(acc, d) return silu(acc.gate) * acc.up + d.r end,
  tiles    = { sm_90a = { wgmma { m = { 64, 128 }, n = { 64, 128 }, wg = { 1, 2 }, depth = 3, e_depth = 1,
               cluster = 2, swap = { 0, 1 } } },
               where = function(t) return t.m * t.n == 128 * 64 end },
  check    = { shapes = shapes },
}

-- Warpgroups that take tiles in turn.
gemm "wgmma_turns" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = f16, b = f16, e = f32 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  d        = { bias = per_col "e", row = per_row(f32) },
  epilogue = function(acc, d) return gelu_tanh(acc + d.bias) + d.row end,
  tiles    = { sm_90a = { wgmma { m = { 64, 128 }, n = { 64, 128 }, depth = { 3, 4 }, pingpong = 1, cluster = { 1, 2 },
               e_depth = 1 } },
               where = function(t) return (t.depth == 3) == (t.cluster == 1) end },
  check    = { shapes = { { 16, 16, 0 }, { 16, 16, 16 }, { 144, 528, 1008 }, { 2048, 2064, 80 },
               { 4096, 4096, 1024 } } },
}

-- Functions whose code on NVIDIA is its own, over the whole range of their arguments.
gemm "wgmma_functions" {
  types    = { { a = f16, b = f16, e = f32 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  d        = { x = full(f32), way = per_col(f32) },
  epilogue = function(acc, d)
    local x = acc + 30 * d.x
    return select(lt(d.way, -1), gelu(x), select(lt(d.way, -0.5), gelu_tanh(x), select(lt(d.way, 0), silu(x),
           select(lt(d.way, 0.5), sigmoid(x), select(lt(d.way, 1), tanh(x), exp(x))))))
  end,
  tiles    = { sm_90a = { wgmma { m = 128, n = 64, depth = 3 } } },
  check    = { shapes = shapes },
}

-- Rows and columns in multiples of 8 where E's strips are no power of two; bytes of E, rows of f32 of it.
gemm "wgmma_strips" {
  types    = { { a = f16, b = f16, e = f32 }, { a = f8e4m3, b = f8e4m3, e = bf16 }, { a = i8, b = i8, e = i8 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  d        = { bias = per_col "e", row = per_row(f32) },
  epilogue = function(acc, d) return (acc + d.bias) * d.row end,
  tiles    = { sm_90a = { wgmma { m = { 24, 80, 104, 128, 160 }, n = { 24, 80, 104, 128, 160 }, depth = 3 } },
               where = function(t) return t.m ~= t.n and (t.m == 128 or t.n == 128) end },
  check    = { shapes = shapes },
}

-- Tiles of a last wave that a cluster cuts along K: all of them, some, none; an odd number of steps, and of tiles.
gemm "wgmma_cut" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = i8, b = i8, e = i8 }, { a = f8e4m3, b = f8e5m2, e = f32 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  d        = { bias = per_col "e", row = per_row(f32), all = full "e" },
  epilogue = function(acc, d) return (acc + d.bias) * d.row + d.all end,
  tiles    = { sm_90a = { wgmma { m = { 128, 256 }, n = { 128, 256 }, depth = 3, cluster = 2, e_depth = 1,
               promote = { 0, 2 } } },
               where = function(t) return t.m * t.n == (t.promote > 0 and 128 * 128 or 128 * 256) end },
  check    = { shapes = { { 256, 512, 1040 }, { 2112, 528, 1040 }, { 2304, 2304, 1168 }, { 2048, 4096, 1024 },
               { 144, 4112, 4000 } } },
}

-- Fewer tiles than blocks, more, and some; batches by way of shapes are kiln verify's own.
gemm "wgmma_stream" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = i8, b = i8, e = i8 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  d        = { bias = per_col "e", row = per_row(f32), all = full "e" },
  epilogue = function(acc, d) return (acc + d.bias) * d.row + d.all end,
  tiles    = { sm_90a = { wgmma { m = 128, n = { 64, 128 }, depth = 3, stream = 1, cluster = { 1, 2 } } },
               where = function(t) return (t.n == 64) == (t.cluster == 1) end },
  check    = { shapes = { { 16, 16, 0 }, { 16, 16, 16 }, { 144, 528, 1008 }, { 2048, 2064, 80 }, { 2304, 2304, 1040 },
               { 256, 11008, 512 } } },
}

gemm "wgmma_stream_two" {
  types    = { { a = f16, b = f16, e = f32 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  b        = { "gate", "up" },
  epilogue = function(acc) return silu(acc.gate) * acc.up end,
  tiles    = { sm_90a = { wgmma { m = 128, n = 128, depth = 3, stream = 1 } } },
  check    = { shapes = { { 144, 528, 1008 }, { 2304, 2304, 1040 } } },
}

-- An operand that comes through registers: bytes that become 16 bits, with an operator and without; rows of E along it
-- and across it; every kind of extra input in either orientation.
gemm "wgmma_widened" {
  types    = { { a = bf16, b = i8, e = bf16 }, { a = f16, b = i8, e = i8 }, { a = bf16, b = f8e4m3, e = f32 },
               { a = f16, b = f8e5m2, e = f16 }, { a = i8, b = f16, e = f16 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  d        = { scale = per_col(f32), row = per_row "e", all = per_tensor(f32) },
  epilogue = function(acc, d) return acc * d.scale + d.row * d.all end,
  tiles    = { sm_90a = { wgmma { m = { 40, 128, 256 }, n = { 40, 128, 256 }, depth = { 3, 4 },
               cluster = { 1, 2 } } },
               where = function(t)
                 return t.x ~= 40 and t.y ~= 256 and (t.x == 256 or t.y == 40) and (t.depth == 3) == (t.x == 256) and
                        (t.cluster == 1) == (t.y == 40)
               end },
  check    = { shapes = shapes },
}

gemm "wgmma_widened_op" {
  types    = { { a = bf16, b = i8, e = bf16 }, { a = f16, b = f8e4m3, e = f32 } },
  layouts  = { "rcr", "rcc", "ccr" },
  targets  = { "sm_90a" },
  d        = { p = full "e", q = full(f32), o = full(f16, "c"), z = full(i8), r = per_row(f32) },
  b_op     = function(w) return exp(w * 0.01) end,
  epilogue = function(acc, d) return acc + d.p * d.r + d.q - d.o * d.z end,
  tiles    = { sm_90a = { wgmma { m = { 128, 256 }, n = 128, depth = 3, e_depth = 1, cluster = 2 } } },
  check    = { shapes = shapes },
}

gemm "wgmma_a_op" {
  types    = { { a = f16, b = f16, e = f16 }, { a = bf16, b = bf16, e = f32 } },
  layouts  = { "rcr", "crr", "rrc", "ccc" },
  targets  = { "sm_90a" },
  d        = { bias = per_col "e", row = per_row(f32), all = full "e" },
  a_op     = function(a) return silu(a) - 0.5 end,
  epilogue = function(acc, d) return (acc + d.bias) * d.row + d.all end,
  tiles    = { sm_90a = { wgmma { m = { 64, 128 }, n = { 64, 128 }, wg = { 1, 2 }, depth = 3, cluster = 2,
               stream = { 0, 1 }, e_depth = 1 } },
               where = function(t) return t.m * t.n == 128 * 64 and (t.stream == 0 or t.wg == 2) end },
  check    = { shapes = shapes },
}

gemm "wgmma_op_bytes" {
  types    = { { a = i8, b = i8, e = i32 }, { a = f8e4m3, b = f8e5m2, e = bf16 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  d        = { row = per_row(f32) },
  b_op     = function(b) return select(lt(b, 0), b * 0.5, b) end,
  epilogue = function(acc, d) return acc * d.row end,
  tiles    = { sm_90a = { wgmma { m = 128, n = 128, depth = 3, promote = { 0, 2 }, cluster = 2 } } },
  check    = { shapes = shapes },
}

gemm "wgmma_op_tf32" {
  types    = { { a = f32, b = f32, e = f32 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  a_op     = function(a) return a + 1 end,
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { simt(any), wgmma { m = 128, n = 64, depth = 3, tf32 = 1 } } },
  check    = { shapes = shapes },
}

gemm "wgmma_op_two" {
  types    = { { a = bf16, b = i8, e = bf16 }, { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  b        = { "gate", "up" },
  b_op     = function(w) return w * 0.5 end,
  epilogue = function(acc) return silu(acc.gate) * acc.up end,
  tiles    = { sm_90a = { wgmma { m = 64, n = 128, depth = 3, wg = 2, pingpong = { 0, 1 }, e_depth = 1,
               cluster = 2 } } },
  check    = { shapes = shapes },
}

-- Both products with the same registers.
gemm "wgmma_op_once" {
  types    = { { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  b        = { "gate", "up" },
  a_op     = function(a) return relu(a) end,
  epilogue = function(acc) return silu(acc.gate) * acc.up end,
  tiles    = { sm_90a = { wgmma { m = 128, n = 128, depth = 3, e_depth = 1, cluster = 2 } } },
  check    = { shapes = shapes },
}

-- Three warpgroups.
gemm "wgmma_three" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = bf16, b = i8, e = bf16 }, { a = f8e4m3, b = f8e4m3, e = f32 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  d        = { bias = per_col "e", row = per_row(f32), all = full "e", one = full(f32) },
  epilogue = function(acc, d) return (acc + d.bias) * d.row + d.all - d.one end,
  tiles    = { sm_90a = { wgmma { m = { 96, 128, 160, 192 }, n = { 96, 128, 160, 192 }, wg = 3, depth = 3, e_depth = 1,
               cluster = { 1, 2 } } },
               where = function(t)
                 return t.x == 192 and (t.y == 96 or t.in_registers == 0 and t.y < 192) and
                        (t.y == 160) == (t.cluster == 1)
               end },
  check    = { shapes = shapes },
}

gemm "wgmma_three_vectors" {
  types    = { { a = bf16, b = i8, e = bf16 }, { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  d        = { bias = per_col "e", row = per_row(f32), one = per_tensor(f32) },
  b_op     = function(w) return w * 2 end,
  epilogue = function(acc, d) return gelu_tanh(acc + d.bias) * d.row + d.one end,
  tiles    = { sm_90a = { wgmma { m = 128, n = 192, wg = 3, depth = 3, cluster = 2 } } },
  check    = { shapes = shapes },
}

-- Operands at any address: every type and orientation, one product and two, every kind of extra input but full ones.
local odd = { { 17, 31, 13 }, { 128, 128, 64 }, { 135, 143, 1001 }, { 1007, 1009, 321 }, { 70, 300, 5001 },
              { 500, 4100, 514 } }

gemm "wgmma_gather" {
  types    = { { a = f16, b = f16, e = f16 }, { a = bf16, b = bf16, e = f32 } },
  layouts  = { "rcr", "rrr", "ccr", "crr", "rcc", "rrc", "ccc", "crc" },
  targets  = { "sm_90a" },
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma { m = { 64, 128, 256 }, n = { 64, 128, 256 }, wg = { 1, 2 }, depth = 3, e_depth = 1,
               cluster = 1, gather = 1, stream = { 0, 1 } } },
               where = function(t) return t.x == 64 * t.wg and t.y == 128 * t.wg and t.stream == 2 - t.wg end },
  check    = { shapes = odd },
}

gemm "wgmma_gather_bytes" {
  types    = { { a = i8, b = i8, e = i8 }, { a = i8, b = i8, e = i32 }, { a = f8e4m3, b = f8e5m2, e = bf16 },
               { a = f8e5m2, b = f8e4m3, e = f8e4m3 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  d        = { scale = per_row(f32) },
  epilogue = function(acc, d) return acc * d.scale end,
  tiles    = { sm_90a = { wgmma { m = { 64, 128 }, n = { 64, 128 }, wg = { 1, 2 }, depth = 4, e_depth = 1,
               cluster = 1, gather = 1, stream = { 0, 1 }, promote = { 0, 2 } } },
               where = function(t)
                 return t.x == 64 * t.wg and t.y == 128 and t.stream == 2 - t.wg and
                        (t.promote == 0 or t.wg == 1) and (t.bytes_e < 4 or t.wg == 1)
               end },
  check    = { shapes = odd },
}

gemm "wgmma_gather_two" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = bf16, b = i8, e = bf16 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  b        = { "gate", "up" },
  d        = { c = per_col "e", t = per_tensor(f32) },
  epilogue = function(acc, d) return silu(acc.gate) * acc.up * d.c + d.t end,
  tiles    = { sm_90a = { wgmma { m = { 64, 128 }, n = { 64, 128 }, wg = { 1, 2 }, depth = 4, e_depth = 1, cluster = 1,
               gather = 1, stream = { 0, 1 } } },
               where = function(t) return t.x == 64 * t.wg and t.y == 64 and t.stream == 2 - t.wg end },
  check    = { shapes = odd },
}

gemm "wgmma_gather_op" {
  types    = { { a = f16, b = f16, e = f16 }, { a = bf16, b = i8, e = f32 }, { a = i8, b = i8, e = i8 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  b_op     = function(b) return b * 0.5 end,
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma { m = 128, n = 128, depth = 4, e_depth = 1, cluster = 1, gather = 1 } } },
  check    = { shapes = odd },
}

gemm "wgmma_gather_tf32" {
  types    = { { a = f32, b = f32, e = f32 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { simt(any), wgmma { m = 128, n = 128, depth = 4, tf32 = 1, cluster = 1, gather = 1 } } },
  check    = { shapes = odd },
}

-- Sums over blocks of K: every length along K and each way of a value, both orientations of the values, full inputs in
-- strips, halves and runs of K, units of half a tile.
gemm "wgmma_blocks" {
  types    = { { a = f8e4m3, b = f8e4m3, e = bf16 }, { a = bf16, b = bf16, e = f32 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  d        = { a_scale = per_block("a", f32, 1, 128, "c"), b_scale = per_block("b", f32, 128, 128), res = full "e" },
  block    = function(acc, d) return acc * d.a_scale * d.b_scale end,
  epilogue = function(acc, d) return acc + d.res end,
  tiles    = { sm_90a = { wgmma { m = { 128, 192, 256 }, n = { 128, 192, 256 }, depth = 3, cluster = { 1, 2 },
                                  e_depth = 1, stream = { 0, 1 } } },
               where = function(t)
                 return (t.x == 128 or t.x == 256 and t.y == 128) and (t.y == 256) == (t.cluster == 1)
                   and t.stream == t.cluster % 2
               end },
  check    = { shapes = shapes },
}

gemm "wgmma_blocks_fine" {
  types    = { { a = f8e4m3, b = f8e5m2, e = f32 }, { a = i8, b = i8, e = bf16 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  b        = { "gate", "up" },
  d        = { x = per_block("a", f32, 1, 32), y = per_block("b", f32, 1, 32) },
  block    = function(acc, d) return acc * d.x * d.y end,
  epilogue = function(acc) return acc.gate - acc.up end,
  tiles    = { sm_90a = { wgmma { m = 64, n = 64, wg = 1, depth = 3, cluster = { 1, 2 } } } },
  check    = { shapes = shapes },
}

gemm "wgmma_blocks_square" {
  types    = { { a = f8e4m3, b = f8e4m3, e = bf16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  d        = { x = per_block("a", f32, 64, 64), y = per_block("b", f32, 64, 64) },
  block    = function(acc, d) return acc * d.x * d.y end,
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma { m = { 128, 192 }, n = { 96, 128 }, wg = { 2, 3 }, depth = 3, cluster = 2 } },
               where = function(t) return (t.n == 96) == (t.wg == 2) and t.m == 64 * t.wg end },
  check    = { shapes = shapes },
}

gemm "wgmma_blocks_widened" {
  types    = { { a = bf16, b = f8e4m3, e = bf16 }, { a = f16, b = i8, e = f16 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  d        = { scale = per_block("b", f32, 128, 128), bias = per_col "e" },
  block    = function(acc, d) return acc * d.scale end,
  epilogue = function(acc, d) return acc + d.bias end,
  tiles    = { sm_90a = { wgmma { m = 128, n = 128, depth = 3, cluster = { 1, 2 } } } },
  check    = { shapes = shapes },
}

-- Weights of 4 bits, whose values come with the tiles: groups shorter than a step, as long and longer, zero points and
-- none, matrices that lie either way, any operator; blocks of 64 columns alone and two to a warpgroup, up to four of
-- these; K that clusters cut, runs along K; one step, two and four at once. Of m, n, wg, cluster, stream, slabs.
local halves = { ["64 128 1 1 0 1"] = true, ["64 256 2 2 0 1"] = true, ["128 192 3 2 0 2"] = true,
                 ["64 256 4 2 0 2"] = true, ["256 128 2 2 0 1"] = true, ["64 128 2 1 1 4"] = true }
local function in_halves(t)
  return halves[("%d %d %d %d %d %d"):format(t.m, t.n, t.wg, t.cluster, t.stream, t.slabs)] == true
end
local of_4   = wgmma { m = { 64, 128, 256 }, n = { 128, 192, 256 }, wg = { 1, 2, 3, 4 }, cluster = { 1, 2 },
                       depth = 3, e_depth = 1, stream = { 0, 1 }, slabs = { 1, 2, 4 } }
local in_4   = { { 16, 16, 0 }, { 16, 16, 32 }, { 64, 256, 64 }, { 112, 240, 608 }, { 60, 504, 1056 }, { 72, 80, 161 },
                 { 384, 256, 4096 }, { 304, 2048, 1184 } }
for _, g in ipairs { 32, 64, 128 } do
  gemm("wgmma_half_" .. g) {
    types    = { { a = bf16, b = u4, e = bf16 }, { a = f16, b = i4, e = f32 } },
    layouts  = { "rcr", "rcc" },
    targets  = { "sm_90a" },
    d        = { scale = per_block("b", "a", 1, g), zero = per_block("b", u4, 1, g), bias = per_col "e" },
    b_op     = function(w, d) return (w - d.zero) * d.scale end,
    epilogue = function(acc, d) return acc + d.bias end,
    tiles    = { sm_90a = { of_4 }, where = in_halves },
    check    = { shapes = in_4 },
  }
end
gemm "wgmma_half_turned" {
  types    = { { a = bf16, b = i4, e = bf16 }, { a = f16, b = u4, e = f16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  d        = { scale = per_block("b", "a", 1, 256, "r"), zero = per_block("b", i4, 4, 128, "r"), r = full "e" },
  b_op     = function(w, d) return (w - d.zero) * d.scale end,
  epilogue = function(acc, d) return acc + d.r end,
  tiles    = { sm_90a = { of_4 }, where = in_halves },
  check    = { shapes = in_4 },
}
gemm "wgmma_half_scaled" {
  types    = { { a = bf16, b = i4, e = bf16 }, { a = f16, b = u4, e = f16 }, { a = bf16, b = u4, e = bf16 } },
  layouts  = { "rcr", "ccr" },
  targets  = { "sm_90a" },
  d        = { scale = per_block("b", "a", 1, 128) },
  b_op     = function(w, d) return w * d.scale end,
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { of_4 }, where = in_halves },
  check    = { shapes = in_4 },
}
gemm "wgmma_half_any" {
  types    = { { a = bf16, b = u4, e = bf16 }, { a = f16, b = i4, e = f16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  d        = { scale = per_block("b", f32, 1, 16), zero = per_block("b", u4, 8, 256), col = per_col(f16),
               all = per_tensor(f32) },
  b_op     = function(w, d) return (w - d.zero) * d.scale + d.col * d.all + 1 end,
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { of_4 }, where = in_halves },
  check    = { shapes = in_4 },
}
gemm "wgmma_half" {
  types    = { { a = bf16, b = u4, e = bf16 }, { a = f16, b = i4, e = f16 } },
  layouts  = { "rcr", "ccr", "ccc" },
  targets  = { "sm_90a" },
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { of_4 }, where = in_halves },
  check    = { shapes = in_4 },
}
