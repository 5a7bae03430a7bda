-- SPDX-License-Identifier: MIT
-- Ops that take schedule `wgmma_decode` through its corners: every type, E row- and column-major, one and two
-- products, every kind of extra input, K split over several numbers of blocks, several warpgroups, weights of one
-- byte under 16-bit rows.  A portable tile each, for what is not aligned.  The shapes: few rows and many, columns
-- and K that end inside a tile, no K.
local any    = { m = 128, n = 32, k = 32, tm = 8, tn = 2, split_k = 1 } -- the only tile of 128 rows here
local shapes = { { 1, 1, 0 }, { 1, 8, 16 }, { 3, 200, 48 }, { 8, 128, 128 }, { 17, 333, 1040 }, { 64, 512, 4096 },
                 { 100, 136, 592 }, { 130, 67, 80 } }

-- A few tiles out of all: m, n, wg, slabs, blocks, split_k, across. Of 88 and 224 columns the last panel of 64 is a
-- part.
local few = { ["8 64 1 2 2 0 0"] = true, ["16 128 2 2 2 1 0"] = true, ["32 192 1 1 2 3 0"] = true,
              ["64 256 2 1 1 8 0"] = true,
              ["16 88 1 1 2 0 0"] = true, ["64 224 2 1 1 3 0"] = true, ["64 88 1 1 2 0 1"] = true,
              ["64 224 1 1 1 1 1"] = true,
              ["64 192 2 2 1 3 1"] = true }
gemm "decode_gemm" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = f16, b = f16, e = f32 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { simt(any),
                          wgmma_decode { m = { 8, 16, 32, 64 }, n = { 64, 88, 128, 192, 224, 256 }, wg = { 1, 2 },
                                         slabs = { 1, 2 }, blocks = { 1, 2 }, split_k = { 0, 1, 3, 8 },
                                         across = { 0, 1 }, l2 = 1 } },
               where = function(t)
                 if t.m == 128 then return true end
                 return few[("%d %d %d %d %d %d %d"):format(t.m, t.n, t.wg, t.slabs, t.blocks, t.split_k,
                     t.across)] == true
               end },
  check    = { shapes = shapes },
}

gemm "decode_bytes" {
  types    = { { a = i8, b = i8, e = i8 }, { a = i8, b = i8, e = i32 }, { a = u8, b = i8, e = u8 },
               { a = f8e4m3, b = f8e5m2, e = bf16 }, { a = f8e5m2, b = f8e4m3, e = f8e4m3 },
               { a = f8e4m3, b = f8e4m3, e = f32 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  d        = { scale = per_row(f32), shift = per_col(f32) },
  epilogue = function(acc, d) return acc * d.scale + d.shift end,
  tiles    = { sm_90a = { simt(any), wgmma_decode { m = { 16, 64 }, n = { 88, 128 }, across = { 0, 1 } } },
               where = function(t)
                 local eights = t.k == 64 or t.sum_bits > 0 -- columns of the instruction, which of i8 are 16s
                 return t.m == 128 or (t.n == 128 and (t.m == 16 or t.across == 0 or not eights)) or
                        (t.n == 88 and t.across == 1 and eights)
               end },
  check    = { shapes = shapes },
}

gemm "decode_mixed" {
  types    = { { a = bf16, b = i8, e = bf16 }, { a = f16, b = i8, e = f16 }, { a = bf16, b = f8e4m3, e = bf16 },
               { a = f16, b = f8e4m3, e = f16 }, { a = bf16, b = f8e5m2, e = f32 }, { a = f16, b = f8e5m2, e = f32 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  d        = { scale = per_col(f32) },
  epilogue = function(acc, d) return acc * d.scale end,
  tiles    = { sm_90a = { simt(any),
                 wgmma_decode { m = { 8, 64 }, n = { 112, 192, 256, 448 }, wg = { 1, 2, 3, 4 }, blocks = { 1, 2 },
                                                split_k = { 0, 5 }, sets = { 1, 2 } } },
               where = function(t)
                 if t.m == 128 then return true end
                 if t.sets ~= (t.wg % 2 == 0 and 1 or 2) then return false end
                 if t.wg >= 3 or t.n ~= 112 then
                   return t.m == 64 and (t.wg == 4 and t.n >= 256 or t.wg == 3 and t.n == 192) and t.blocks == 1 and
                          t.split_k == 0
                 end
                 return (t.m == 8) == (t.wg == 1) and (t.m == 8) == (t.split_k == 5) and t.blocks == 3 - t.wg
               end },
  check    = { shapes = shapes },
}

-- What makes something of nothing past the end of K.
gemm "decode_mixed_op" {
  types    = { { a = bf16, b = i8, e = f32 }, { a = f16, b = f8e4m3, e = f32 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  b_op     = function(w) return 1 / (abs(w) + 0.25) end,
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { simt(any), wgmma_decode { m = 16, n = 128, sets = { 1, 2 } } } },
  check    = { shapes = shapes },
}

gemm "decode_two" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = bf16, b = i8, e = bf16 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  b        = { "gate", "up" },
  d        = { r = full "e" },
  epilogue = function(acc, d) return silu(acc.gate) * acc.up + d.r end,
  tiles    = { sm_90a = { simt(any), wgmma_decode { m = { 8, 64 }, n = { 64, 128 }, blocks = { 1, 2 },
                                                       across = { 0, 1 }, l2 = 1 } },
               where = function(t)
                 return t.m == 128 or (t.m == 8) == (t.n == 128) and (t.m == 8) == (t.blocks == 1)
               end },
  check    = { shapes = shapes },
}

-- Names that the kernel itself uses.
local named  = { g = per_col "e", m = per_row "e", t = per_tensor(f32), i = full "e", n = full(f32), c = full(f16, "c"),
                 at = full(i8, "r") }
local function of_named(acc, d, s) return (acc * 0.01 + d.i) * s.k * d.n + d.m * d.g + d.t + d.c * d.at end
gemm "decode_inputs" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = i8, b = i8, e = i8 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  d        = named,
  scalars  = { "k" },
  epilogue = of_named,
  tiles    = { sm_90a = { simt(any), wgmma_decode { m = { 8, 32, 64 }, n = 128, blocks = { 1, 2 }, turn = { 0, 1 },
                                                    release = { 0, 1 }, across = { 0, 1 } } },
               where = function(t)
                 if t.m == 128 then return true end
                 return (t.m == 32) == (t.blocks == 1) and (t.m == 8) == (t.turn == 1) and t.turn == t.release
               end },
  check    = { shapes = shapes },
}

-- More rows than 64, the widest instructions, K over two, four and eight blocks of a cluster. Of m, n, wg, blocks,
-- split_k.
local rows   = { ["96 64 1 1 0"] = true, ["96 160 3 1 4"] = true, ["160 56 1 2 0"] = true, ["192 128 2 1 2"] = true,
                 ["256 64 1 1 8"] = true, ["224 128 2 1 0"] = true, ["112 256 4 1 2"] = true,
                 ["128 112 2 1 1"] = true, ["144 64 1 1 2"] = true }
local tall   = { { 1, 1, 0 }, { 65, 200, 48 }, { 97, 67, 80 }, { 139, 128, 2304 }, { 300, 136, 592 },
                 { 256, 333, 1040 } }
local function some(t)
  if t.n == 32 then return true end -- the portable one
  return rows[("%d %d %d %d %d"):format(t.m, t.n, t.wg, t.blocks, t.split_k)] == true
end
local of     = { m = { 96, 112, 128, 144, 160, 192, 224, 256 }, n = { 56, 64, 112, 128, 160, 256 }, wg = { 1, 2, 3, 4 },
                 blocks = { 1, 2 }, split_k = { 0, 1, 2, 4, 8 }, across = 0, l2 = 0 }
gemm "decode_rows" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = f16, b = f16, e = f32 }, { a = i8, b = i8, e = i8 },
               { a = f8e4m3, b = f8e5m2, e = bf16 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  d        = { scale = per_row(f32), r = full(f16) },
  epilogue = function(acc, d) return acc * d.scale + d.r end,
  tiles    = { sm_90a = { simt(any), wgmma_decode(of) }, where = some },
  check    = { shapes = tall },
}

gemm "decode_rows_two" {
  types    = { { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  b        = { "gate", "up" },
  epilogue = function(acc) return silu(acc.gate) * acc.up end,
  tiles    = { sm_90a = { simt(any), wgmma_decode(of) }, where = some },
  check    = { shapes = tall },
}

-- Each warpgroup has one product.
local shared = { ["144 64 2 0 0"] = true, ["256 64 2 2 0"] = true, ["96 56 2 3 1"] = true, ["192 128 2 1 0"] = true }
gemm "decode_apart" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = i8, b = i8, e = f32 }, { a = f8e4m3, b = f8e4m3, e = bf16 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  b        = { "gate", "up" },
  d        = { r = full(f16), scale = per_col(f32) },
  epilogue = function(acc, d) return max(acc.gate, 0) * d.scale + acc.up - d.r end,
  tiles    = { sm_90a = { simt(any), wgmma_decode { m = { 96, 144, 192, 256 }, n = { 56, 64, 128 }, wg = 2,
                                                    blocks = 1, split_k = { 0, 1, 2, 3 }, turn = { 0, 1 }, l2 = 0,
                                                    apart = 1 } },
               where = function(t)
                 if t.n == 32 then return true end -- the portable one
                 return shared[("%d %d %d %d %d"):format(t.m, t.n, t.wg, t.split_k, t.turn)] == true
               end },
  check    = { shapes = tall },
}

gemm "decode_rows_mixed" {
  types    = { { a = bf16, b = i8, e = bf16 }, { a = f16, b = f8e4m3, e = f32 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  d        = { scale = per_col(f32) },
  epilogue = function(acc, d) return acc * d.scale end,
  tiles    = { sm_90a = { simt(any), wgmma_decode { m = { 96, 144 }, n = { 64, 160 }, wg = { 1, 3 }, blocks = 1,
                                                    split_k = { 0, 4 }, sets = 1 } },
               where = function(t) return t.n == 32 or (t.wg == 1) == (t.n == 64) end },
  check    = { shapes = tall },
}

-- B contiguous along N: boxes of 64 columns, of which a warpgroup has one panel, several or, as wgmma's other side, up
-- to four at once; K and columns that end inside a box. Of m, n, wg, slabs, blocks, split_k, across.
local wide   = { { 1, 1, 0 }, { 1, 8, 17 }, { 3, 200, 49 }, { 8, 128, 128 }, { 17, 333, 1041 }, { 64, 512, 4096 },
                 { 100, 136, 591 }, { 130, 67, 80 } }
local boxes  = { ["8 64 1 2 2 0 0"] = true, ["16 128 2 2 2 1 0"] = true, ["16 128 1 4 1 4 0"] = true,
                 ["16 128 1 1 2 0 0"] = true,
                 ["32 192 1 1 2 3 0"] = true, ["64 192 2 1 1 0 0"] = true, ["64 256 2 1 1 8 0"] = true,
                 ["64 64 1 1 2 0 1"] = true, ["64 192 1 2 1 1 1"] = true, ["64 256 1 1 1 3 1"] = true,
                 ["64 256 2 2 1 1 1"] = true, ["64 256 4 1 1 0 1"] = true, ["64 192 3 1 1 4 1"] = true,
                 ["96 64 1 1 1 0 0"] = true, ["96 192 3 1 1 4 0"] = true, ["112 256 4 1 1 8 0"] = true,
                 ["144 64 1 1 1 4 0"] = true, ["192 128 2 1 1 0 0"] = true, ["256 64 1 1 1 8 0"] = true,
                 ["224 64 1 2 1 1 0"] = true }
local of_n   = { m = { 8, 16, 32, 64, 96, 112, 144, 192, 224, 256 }, n = { 64, 128, 192, 256 }, wg = { 1, 2, 3, 4 },
                 slabs = { 1, 2, 4 }, blocks = { 1, 2 }, split_k = { 0, 1, 3, 4, 8 }, across = { 0, 1 }, l2 = 1 }
local function in_boxes(t)
  if t.n == 32 then return true end -- the portable one
  return boxes[("%d %d %d %d %d %d %d"):format(t.m, t.n, t.wg, t.slabs, t.blocks, t.split_k, t.across)] == true
end
gemm "decode_n" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = f16, b = f16, e = f32 } },
  layouts  = { "rrr", "rrc" },
  targets  = { "sm_90a" },
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { simt(any), wgmma_decode(of_n) }, where = in_boxes },
  check    = { shapes = wide },
}

gemm "decode_n_two" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = f16, b = f16, e = f32 } },
  layouts  = { "rrr", "rrc" },
  targets  = { "sm_90a" },
  b        = { "gate", "up" },
  d        = { r = full "e" },
  epilogue = function(acc, d) return silu(acc.gate) * acc.up + d.r end,
  tiles    = { sm_90a = { simt(any), wgmma_decode(of_n) },
               where = function(t) return in_boxes(t) and (t.n <= 128 or t.wg > 1) end },
  check    = { shapes = wide },
}

gemm "decode_n_inputs" {
  types    = { { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rrr", "rrc" },
  targets  = { "sm_90a" },
  d        = named,
  scalars  = { "k" },
  epilogue = of_named,
  tiles    = { sm_90a = { simt(any), wgmma_decode { m = { 8, 32, 64, 96 }, n = 128, wg = { 1, 2 }, blocks = { 1, 2 },
                                                    turn = { 0, 1 }, release = { 0, 1 }, across = { 0, 1 },
                                                    l2 = { 0, 2 } } },
               where = function(t)
                 if t.n == 32 then return true end
                 return (t.m == 8) == (t.blocks == 2) and (t.m > 32) == (t.wg == 2) and t.turn == t.release and
                        (t.m == 8) == (t.turn == 1) and (t.m == 32) == (t.l2 == 0)
               end },
  check    = { shapes = wide },
}

-- A contiguous along M, which warps bring from any address, beside B by tensor map.  Of m, n, wg, blocks, split_k,
-- turn.
local along_m = { ["8 64 1 2 0 1"] = true, ["16 64 1 2 0 0"] = true, ["16 128 1 2 1 0"] = true,
                  ["16 128 2 1 3 0"] = true, ["32 64 1 2 8 1"] = true, ["32 128 2 1 0 0"] = true }
local of_m    = { m = { 8, 16, 32 }, n = { 64, 128 }, wg = { 1, 2 }, blocks = { 1, 2 }, split_k = { 0, 1, 3, 8 },
                  turn = { 0, 1 }, l2 = 0, gather = 3 }
for _, more in ipairs { {}, { b = { "gate", "up" } } } do
  gemm("decode_across" .. (more.b and "_two" or "")) {
    types    = { { a = bf16, b = bf16, e = bf16 }, not more.b and { a = f16, b = f16, e = f32 } or nil },
    layouts  = { "crr", "ccc" },
    targets  = { "sm_90a" },
    b        = more.b,
    epilogue = function(acc) return more.b and acc.gate - acc.up or acc end,
    tiles    = { sm_90a = { simt(any), wgmma_decode(of_m) },
                 where = function(t)
                   if t.n == 32 then return true end -- the portable one
                   return along_m[("%d %d %d %d %d %d"):format(t.m, t.n, t.wg, t.blocks, t.split_k, t.turn)] == true
                 end },
    check    = { shapes = wide },
  }
end

-- A contiguous along M by tensor map, in boxes of 64 rows, as either side of the instruction.  Of m, n, wg, slabs,
-- blocks, split_k, across.
local turned = { ["64 64 1 2 2 0 1"] = true, ["64 192 1 1 2 3 1"] = true, ["64 128 2 1 1 8 1"] = true,
                 ["64 64 1 2 2 1 0"] = true, ["128 64 1 1 2 2 0"] = true, ["192 128 2 1 1 0 0"] = true }
for _, more in ipairs { {}, { b = { "gate", "up" } } } do
  gemm("decode_turned" .. (more.b and "_two" or "")) {
    types    = { { a = f16, b = f16, e = f16 }, not more.b and { a = bf16, b = bf16, e = f32 } or nil },
    layouts  = { "crr", "ccr", "ccc" },
    targets  = { "sm_90a" },
    b        = more.b,
    epilogue = function(acc) return more.b and acc.gate * acc.up or acc end,
    tiles    = { sm_90a = { simt(any), wgmma_decode { m = { 64, 128, 192 }, n = { 64, 128, 192 }, wg = { 1, 2 },
                                                      slabs = { 1, 2 }, blocks = { 1, 2 },
                                                      split_k = { 0, 1, 2, 3, 8 },
                                                      across = { 0, 1 }, l2 = 1, gather = 0 } },
                 where = function(t)
                   if t.n == 32 then return true end -- the portable one
                   return turned[("%d %d %d %d %d %d %d"):format(t.m, t.n, t.wg, t.slabs, t.blocks, t.split_k,
                       t.across)] == true
                 end },
    check    = { shapes = wide },
  }
end

-- Sums over blocks of K, whose values lie either way.
gemm "decode_blocks" {
  types    = { { a = f8e4m3, b = f8e4m3, e = bf16 }, { a = bf16, b = f8e4m3, e = f32 }, { a = f16, b = i8, e = f16 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  d        = { a_scale = per_block("a", f32, 1, 128, "c"), b_scale = per_block("b", f32, 128, 128) },
  block    = function(acc, d) return acc * d.a_scale * d.b_scale end,
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma_decode { m = { 8, 16, 64 }, n = { 56, 64, 112 }, across = { 0, 1 },
                                         sets = { 1, 2 }, turn = { 0, 1 } } },
               where = function(t)
                 return (t.m == 64) == (t.n == 112) and (t.across == 1) == (t.m == 64 and t.sets == 2) and
                        (t.turn == 1) == (t.n == 56)
               end },
  check    = { shapes = { { 1, 8, 16 }, { 3, 200, 48 }, { 17, 336, 1040 }, { 64, 512, 592 }, { 100, 136, 144 } } },
}

-- Weights of 4 bits, K as it is and in the other order: values of every length along K, with zero points and without;
-- warps of several panels, and of K's slabs. Of m, n, wg, slabs, blocks, box, split_k, turn, order, sets.
local halves = { ["16 112 2 1 1 128 0 0 0 1"] = true, ["64 168 3 1 1 64 3 1 0 1"] = true,
                 ["8 224 2 2 1 128 0 0 1 1"] = true,
                 ["16 224 2 2 1 128 1 0 1 1"] = true, ["16 112 2 1 2 128 3 0 1 1"] = true,
                 ["8 96 1 4 1 128 0 0 1 1"] = true, ["32 176 3 1 1 64 0 0 1 1"] = true,
                 ["64 112 2 1 1 64 3 0 1 1"] = true }
local function in_halves(t)
  return halves[("%d %d %d %d %d %d %d %d %d %d"):format(t.m, t.n, t.wg, t.slabs, t.blocks, t.box, t.split_k, t.turn,
      t.order, t.sets)] == true
end
local of_4   = { m = { 8, 16, 32, 64 }, n = { 96, 112, 168, 176, 224, 448 }, wg = { 1, 2, 3, 4 }, slabs = { 1, 2, 4 },
                 blocks = { 1, 2 }, box = { 64, 128 }, split_k = { 0, 1, 3 }, turn = { 0, 1 }, order = { 0, 1 },
                 sets = 1, l2 = 0 }
local long   = { { 1, 1, 0 }, { 1, 8, 32 }, { 3, 200, 96 }, { 8, 128, 128 }, { 17, 333, 1056 }, { 64, 512, 4096 },
                 { 100, 136, 608 }, { 130, 67, 1001 }, { 300, 448, 2080 } }
for _, g in ipairs { 32, 128 } do
  gemm("decode_half_" .. g) {
    types    = { { a = bf16, b = u4, e = bf16 }, { a = f16, b = i4, e = f32 } },
    layouts  = { "rcr", "rcc" },
    targets  = { "sm_90a" },
    d        = { scale = per_block("b", "a", 1, g), zero = per_block("b", u4, 1, g), bias = per_col "e" },
    b_op     = function(w, d) return (w - d.zero) * d.scale end,
    epilogue = function(acc, d) return acc + d.bias end,
    tiles    = { sm_90a = { wgmma_decode(of_4) }, where = in_halves },
    check    = { shapes = long },
  }
end
gemm "decode_half_scaled" {
  types    = { { a = bf16, b = i4, e = bf16 }, { a = f16, b = u4, e = f16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  d        = { scale = per_block("b", "a", 1, 128), r = full "e" },
  b_op     = function(w, d) return w * d.scale end,
  epilogue = function(acc, d) return acc + d.r end,
  tiles    = { sm_90a = { wgmma_decode(of_4) }, where = in_halves },
  check    = { shapes = long },
}
gemm "decode_half" {
  types    = { { a = bf16, b = u4, e = bf16 }, { a = f16, b = i4, e = f16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma_decode(of_4) }, where = in_halves },
  check    = { shapes = long },
}

-- Operands at any address: every type and orientation, one product and two, either operand as the side of 64 rows.
local odd = { { 1, 8, 16 }, { 17, 31, 13 }, { 64, 128, 64 }, { 70, 143, 1001 }, { 3, 300, 5001 }, { 130, 67, 81 } }
gemm "decode_gather" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = f16, b = f16, e = f32 } },
  layouts  = { "rcr", "rcc", "rrr", "rrc" },
  targets  = { "sm_90a" },
  d        = { scale = per_row(f32), all = full "e" },
  epilogue = function(acc, d) return acc * d.scale + d.all end,
  tiles    = { sm_90a = { simt(any), wgmma_decode { m = { 16, 64 }, n = { 64, 128 }, wg = { 1, 2 }, blocks = { 1, 2 },
                                                    turn = { 0, 1 }, release = { 0, 1 }, across = { 0, 1 },
                                                    gather = { 1, 2 }, l2 = 0 } },
               where = function(t)
                 if t.m == 128 then return true end
                 return t.wg == t.n // 64 and t.blocks == 3 - t.wg and t.turn == t.release
                   and (t.m == 64) == (t.across == 1) and (t.turn == 1) == (t.wg == 2) and t.gather == t.wg
               end },
  check    = { shapes = odd },
}

gemm "decode_gather_bytes" {
  types    = { { a = i8, b = i8, e = i8 }, { a = i8, b = u8, e = i32 }, { a = f8e4m3, b = f8e5m2, e = bf16 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  d        = { scale = per_col(f32) },
  epilogue = function(acc, d) return acc * d.scale end,
  tiles    = { sm_90a = { simt(any), wgmma_decode { m = { 16, 64 }, n = { 64, 88 }, blocks = 2, across = { 0, 1 },
                                                    gather = { 1, 2 }, l2 = 0 } },
               where = function(t)
                 return t.m == 128 or (t.m == 64) == (t.across == 1) and (t.n == 64 or t.m == 16)
                   and t.gather == t.m // 64 + 1
               end },
  check    = { shapes = odd },
}

gemm "decode_gather_two" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = bf16, b = i8, e = bf16 } },
  layouts  = { "rcr", "rrr" },
  targets  = { "sm_90a" },
  b        = { "gate", "up" },
  epilogue = function(acc) return silu(acc.gate) * acc.up end,
  tiles    = { sm_90a = { simt(any), wgmma_decode { m = { 16, 64 }, n = 64, blocks = { 1, 2 }, sets = { 1, 2 },
                                                    gather = { 1, 2 }, l2 = 0 } },
               where = function(t)
                 return t.m == 128 or (t.blocks == 1) == (t.m == 64) and t.sets == 2 and t.gather == t.blocks
               end },
  check    = { shapes = odd },
}

gemm "decode_gather_mixed" {
  types    = { { a = bf16, b = i8, e = bf16 }, { a = f16, b = f8e4m3, e = f32 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  d        = { scale = per_col(f32) },
  epilogue = function(acc, d) return acc * d.scale end,
  tiles    = { sm_90a = { simt(any), wgmma_decode { m = { 16, 64 }, n = 64, blocks = { 1, 2 }, sets = { 1, 2 },
                                                    gather = { 1, 2 }, l2 = 0 } },
               where = function(t) return t.m == 128 or t.blocks + t.sets == 3 and t.gather == 1 end },
  check    = { shapes = odd },
}
