-- SPDX-License-Identifier: MIT
-- Kernels of `wgmma` for groups of rows, for their emulation: either operand on the side of 64 rows, E by strips and by
-- whole rows, clusters on both sides, rows of A that are numbers, extra inputs of each kind.
local any = { m = 32, n = 32, k = 32, tm = 2, tn = 2, split_k = 1 }
local half = { m = 32, n = 64, k = 32, tm = 4, tn = 4, split_k = 1 }

gemm "emul_groups" {
  types    = { { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr", "rrr" },
  targets  = { "sm_90a" },
  groups   = true,
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma { m = 128, n = 64, depth = 3, cluster = { 1, 2 } },
                          wgmma { m = 128, n = 64, depth = 3, cluster = 1, e_depth = 0 },
                          wgmma { m = 16, n = 128, depth = 4, cluster = { 1, 2 }, swap = 1 },
                          wgmma { m = 64, n = 64, wg = 1, depth = 3, cluster = 2, e_depth = 1, share_x = 1,
                                  swap = { 0, 1 } },
                          simt(any) } },
}

-- Two products, that of rows by numbers; strips of 40 and 64 rows and columns.
gemm "emul_groups_gathered" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = f16, b = f16, e = f32 } },
  layouts  = { "rcr", "rrr" },
  targets  = { "sm_90a" },
  groups   = true,
  gather   = true,
  b        = { "gate", "up" },
  epilogue = function(acc) return silu(acc.gate) * acc.up end,
  tiles    = { sm_90a = { wgmma { m = 64, n = 64, wg = 1, depth = 4, cluster = { 1, 2 }, e_depth = { 0, 1 } },
                          wgmma { m = 128, n = 64, depth = 3, cluster = 1 },
                          wgmma { m = { 8, 40 }, n = 128, depth = 3, cluster = { 1, 2 }, e_depth = 1, swap = 1 },
                          wgmma { m = 64, n = 64, wg = 1, depth = 3, cluster = 2, e_depth = 1, share_x = 1,
                                  swap = { 0, 1 } },
                          wgmma { m = 64, n = 64, wg = 1, depth = 3, cluster = { 1, 2 }, collect = 1 },
                          simt(any) } },
}

gemm "emul_groups_inputs" {
  types    = { { a = f16, b = f16, e = f16 }, { a = f8e4m3, b = f8e4m3, e = bf16 }, { a = i8, b = i8, e = i32 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  groups   = true,
  gather   = true,
  d        = { bias = per_col(f32), weight = per_row(f32), scale = per_tensor(f32), all = full "e" },
  epilogue = function(acc, d) return (acc * d.scale + d.bias) * d.weight + d.all end,
  tiles    = { sm_90a = { wgmma { m = 128, n = 64, depth = 4, cluster = 1 },
                          wgmma { m = 16, n = 128, depth = 4, cluster = 2, e_depth = 1, swap = 1 },
                          simt(any) } },
}

gemm "emul_groups_vectors" {
  types    = { { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  groups   = true,
  d        = { bias = per_col(f32), weight = per_row(f32) },
  epilogue = function(acc, d) return gelu(acc + d.bias) * d.weight end,
  tiles    = { sm_90a = { wgmma { m = 192, n = 64, wg = 3, depth = 3, cluster = { 1, 2 }, e_depth = { 0, 1 } },
                          wgmma { m = 256, n = 64, depth = 3, cluster = 1, e_depth = 1, swap = { 0, 1 }, wg = 1 },
                          simt(any) } },
}

-- Sums over blocks of K, of either operand's side; of weights that become 16 bits; two products.
gemm "emul_groups_blocks" {
  types    = { { a = f8e4m3, b = f8e4m3, e = bf16 }, { a = bf16, b = f8e4m3, e = bf16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  groups   = true,
  d        = { of_a = per_block("a", f32, 1, 128), of_b = per_block("b", f32, 128, 128), weight = per_row(f32) },
  block    = function(acc, d) return acc * d.of_a * d.of_b end,
  epilogue = function(acc, d) return acc * d.weight end,
  tiles    = { sm_90a = { wgmma { m = 128, n = 128, depth = 3, cluster = { 1, 2 } },
                          wgmma { m = 16, n = 128, depth = 4, cluster = { 1, 2 }, swap = 1 },
                          wgmma { m = 64, n = 64, wg = 1, depth = 3, cluster = 2, e_depth = 1, share_x = 1 },
                          simt(any) } },
}

gemm "emul_groups_block_gated" {
  types    = { { a = f8e4m3, b = f8e4m3, e = bf16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  groups   = true,
  gather   = true,
  b        = { "gate", "up" },
  d        = { of_a = per_block("a", f32, 1, 32, "c"), of_b = per_block("b", f32, 1, 32) },
  block    = function(acc, d) return acc * d.of_a * d.of_b end,
  epilogue = function(acc) return silu(acc.gate) * acc.up end,
  tiles    = { sm_90a = { wgmma { m = 64, n = 64, wg = 1, depth = 3, cluster = 1, collect = 1 },
                          wgmma { m = 32, n = 64, wg = 1, depth = 3, cluster = 2, collect = 1, swap = 1 },
                          simt(any) } },
}

gemm "emul_groups_block_gathered" {
  types    = { { a = f8e4m3, b = f8e4m3, e = f16 }, { a = bf16, b = i8, e = f32 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  groups   = true,
  gather   = true,
  d        = { of_a = per_block("a", f32, 1, 128), of_b = per_block("b", f32, 64, 128) },
  block    = function(acc, d) return acc * d.of_a * d.of_b end,
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma { m = 128, n = 64, depth = 3, cluster = { 1, 2 }, collect = 1 },
                          wgmma { m = 40, n = 128, depth = 3, cluster = 1, collect = 1, swap = { 0, 1 } },
                          simt(any) } },
}

-- Weights of a byte and of 4 bits, rows of A that are numbers and that are not.
gemm "emul_groups_bytes" {
  types    = { { a = bf16, b = i8, e = bf16 }, { a = f16, b = f8e4m3, e = f16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  groups   = true,
  gather   = true,
  d        = { scale = per_col(f32) },
  epilogue = function(acc, d) return acc * d.scale end,
  tiles    = { sm_90a = { wgmma { m = 16, n = 128, depth = 3, cluster = { 1, 2 } },
                          wgmma { m = 72, n = 128, depth = 3, cluster = 1, collect = 1 },
                          simt(any) } },
}

gemm "emul_groups_half" {
  types    = { { a = bf16, b = u4, e = bf16 }, { a = f16, b = u4, e = f16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  groups   = true,
  d        = { scale = per_block("b", "a", 1, 64), zero = per_block("b", u4, 1, 64) },
  b_op     = function(w, d) return (w - d.zero) * d.scale end,
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma { m = 16, n = 128, depth = 4, cluster = { 1, 2 }, slabs = { 1, 2 } },
                          wgmma { m = 32, n = 256, wg = 4, depth = 3, cluster = 1, e_depth = 1, slabs = 4 },
                          simt(half) } },
}
gemm "emul_groups_half_gathered" {
  types    = { { a = bf16, b = i4, e = bf16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  groups   = true,
  gather   = true,
  d        = { scale = per_block("b", "a", 1, 128) },
  b_op     = function(w, d) return w * d.scale end,
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma { m = 16, n = 128, depth = 4, cluster = 1, slabs = { 1, 2 }, collect = 1 },
                          simt(half) } },
}

-- A through registers, whose rows are then those of 64s: of bytes, and with an operator.
gemm "emul_groups_a" {
  types    = { { a = i8, b = bf16, e = bf16 }, { a = f8e4m3, b = f16, e = f16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  groups   = true,
  gather   = true,
  d        = { scale = per_row(f32) },
  epilogue = function(acc, d) return acc * d.scale end,
  tiles    = { sm_90a = { wgmma { m = 128, n = 64, depth = 3, cluster = { 1, 2 }, collect = 1 }, simt(half) } },
}

gemm "emul_groups_a_op" {
  types    = { { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr", "rrr" },
  targets  = { "sm_90a" },
  groups   = true,
  b        = { "gate", "up" },
  a_op     = function(x) return silu(x) + 0.25 end,
  epilogue = function(acc) return acc.gate * acc.up end,
  tiles    = { sm_90a = { wgmma { m = 64, n = 64, wg = 1, depth = 3, cluster = { 1, 2 } }, simt(any) } },
}
