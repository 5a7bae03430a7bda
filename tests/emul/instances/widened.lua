-- SPDX-License-Identifier: MIT
-- Weights that change on their way through wgmma's registers: of two products, a product for each warpgroup or both for
-- each; of bytes and 16 bits with inputs of b_op; of 4 bits that become bytes.
local any = { m = 32, n = 64, k = 32, tm = 4, tn = 4, split_k = 1 }
-- Of m, n, wg, cluster, slabs.
local function only(list)
  return function(t)
    for _, one in ipairs(list) do
      if one == ("%d %d %d %d %d"):format(t.m, t.n, t.wg, t.cluster, t.slabs) then return true end
    end
    return false
  end
end
local shapes = { { 16, 16, 0 }, { 136, 144, 592 }, { 72, 80, 81 } }

gemm "emul_two_bits" {
  types    = { { a = bf16, b = u4, e = bf16 }, { a = f16, b = u4, e = f32 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  b        = { "gate", "up" },
  d        = { scale = per_block("b", "a", 1, 64), zero = per_block("b", u4, 1, 64) },
  b_op     = function(w, d) return (w - d.zero) * d.scale end,
  epilogue = function(acc) return relu(acc.gate) + acc.up end,
  tiles    = { sm_90a = { wgmma { m = { 16, 32, 64, 128 }, n = { 64, 128 }, depth = 3, cluster = { 1, 2 }, wg = { 1, 2, 4 },
                                  slabs = { 1, 2 }, e_depth = { 1, 2 } }, simt(any) },
               where = function(t)
                 return t.schedule == "simt" or t.e_depth == 3 - t.slabs and only {
                   "16 128 2 2 1", "64 64 2 1 1", "128 64 2 2 1", "32 64 1 1 2", "32 128 4 2 2" } (t)
               end },
  check    = { shapes = shapes },
}

-- Values of one product alone, and of neither's own layout; functions that differ.
gemm "emul_two_bits_any" {
  types    = { { a = bf16, b = i4, e = bf16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  b        = { "gate", "up" },
  d        = { scale = per_block("b", f32, 1, 32, "r"), more = per_block("up", bf16, 1, 128), full = full "e" },
  b_op     = function(w, d, product) return product == "up" and w * d.scale + d.more or w * d.scale end,
  epilogue = function(acc, d) return acc.gate * 0.1 + acc.up + d.full end,
  tiles    = { sm_90a = { wgmma { m = 16, n = 128, depth = 3, cluster = { 1, 2 }, wg = 2 }, simt(any) } },
  check    = { shapes = shapes },
}

gemm "emul_two_bytes" {
  types    = { { a = bf16, b = f8e4m3, e = bf16 }, { a = f16, b = i8, e = f16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  b        = { "gate", "up" },
  d        = { scale = per_block("b", f32, 64, 128), more = per_block("up", f32, 1, 64), row = per_row(f32) },
  b_op     = function(w, d, product) return product == "up" and (w - d.more) * d.scale or w * d.scale end,
  epilogue = function(acc, d) return acc.gate * d.row - acc.up end,
  tiles    = { sm_90a = { wgmma { m = { 16, 64 }, n = { 64, 128 }, depth = 3, cluster = { 1, 2 }, wg = 2 }, simt(any) },
               where = function(t)
                 return t.schedule == "simt" or only { "16 128 2 2 1", "64 64 2 1 1", "64 64 2 2 1" } (t)
               end },
  check    = { shapes = shapes },
}

-- Without an operator.
gemm "emul_two_plain" {
  types    = { { a = bf16, b = i8, e = bf16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  b        = { "gate", "up" },
  epilogue = function(acc) return acc.gate * 0.1 - acc.up end,
  tiles    = { sm_90a = { wgmma { m = 64, n = 64, depth = 3, cluster = 2, wg = 2 }, simt(any) } },
  check    = { shapes = shapes },
}

-- In packed arithmetic; in f32; with a zero point that is no whole number; of 16 bits, along K and across it.
gemm "emul_valued" {
  types    = { { a = bf16, b = i8, e = bf16 }, { a = f16, b = i8, e = f32 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  d        = { scale = per_block("b", "a", 1, 32), zero = per_block("b", i8, 1, 128) },
  b_op     = function(w, d) return (w - d.zero) * d.scale end,
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma { m = 32, n = 128, depth = 3, cluster = { 1, 2 }, wg = 2 }, simt(any) } },
  check    = { shapes = shapes },
}
gemm "emul_valued_any" {
  types    = { { a = bf16, b = f8e5m2, e = bf16 }, { a = f16, b = u8, e = f16 }, { a = bf16, b = bf16, e = f32 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  d        = { scale = per_block("b", f32, 64, 64), c = per_col(f32), full = full "e" },
  b_op     = function(w, d) return (w - d.c) * d.scale end,
  epilogue = function(acc, d) return acc + d.full end,
  tiles    = { sm_90a = { wgmma { m = 32, n = 64, depth = 3, cluster = { 1, 2 }, wg = 1 }, simt(any) } },
  check    = { shapes = shapes },
}
gemm "emul_valued_across" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rrr" },
  targets  = { "sm_90a" },
  d        = { r = per_block("b", f16, 1, 64) },
  b_op     = function(w, d) return w * d.r end,
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma { m = 32, n = 128, depth = 3, cluster = 2, wg = 2 }, simt(any) } },
  check    = { shapes = shapes },
}

gemm "emul_nibbles" {
  types    = { { a = i8, b = i4, e = i32 }, { a = i8, b = u4, e = bf16 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma { m = { 16, 32 }, n = { 64, 128 }, depth = 3, cluster = { 1, 2 }, wg = { 1, 2 } }, simt(any) },
               where = function(t) return t.schedule == "simt" or t.n == 64 * t.wg and t.m == 16 * t.cluster end },
  check    = { shapes = { { 136, 144, 1168 }, { 72, 80, 162 } } },
}
gemm "emul_nibbles_two" {
  types    = { { a = i8, b = i4, e = bf16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  b        = { "gate", "up" },
  d        = { row = per_row(f32), col = per_col(f32) },
  epilogue = function(acc, d) return acc.gate * d.row - acc.up * d.col end,
  tiles    = { sm_90a = { wgmma { m = 64, n = { 64, 128 }, depth = 3, cluster = 1, wg = 2 }, simt(any) } },
  check    = { shapes = { { 136, 144, 1168 }, { 72, 80, 162 } } },
}
gemm "emul_nibbles_block" {
  types    = { { a = i8, b = i4, e = f16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  d        = { scale = per_block("b", f32, 1, 128), a_scale = per_block("a", f32, 1, 128) },
  block    = function(acc, d) return acc * d.scale * d.a_scale end,
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma { m = 32, n = 128, depth = 3, cluster = 2, wg = 2 }, simt(any) } },
  check    = { shapes = { { 136, 144, 1168 }, { 72, 80, 162 } } },
}

gemm "emul_groups_two_bits" {
  types    = { { a = bf16, b = u4, e = bf16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  groups   = true,
  gather   = true,
  b        = { "gate", "up" },
  d        = { scale = per_block("b", bf16, 1, 128), zero = per_block("b", u4, 1, 128) },
  b_op     = function(w, d) return (w - d.zero) * d.scale end,
  epilogue = function(acc) return silu(acc.gate) * acc.up end,
  tiles    = { sm_90a = { wgmma { m = { 16, 64 }, n = { 64, 128 }, wg = 2, depth = 3, cluster = { 1, 2 }, collect = 1 },
                          simt(any) },
               where = function(t) return t.schedule == "simt" or t.m * t.n == 16 * 128 or t.m * t.n == 64 * 64 end },
}
